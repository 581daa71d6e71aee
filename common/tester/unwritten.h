// What of C is never written: what the files share that say why (cause_unwritten.c, cause_stores.c).
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct cause;
struct look;
struct probe;

// Rows or columns of C, counted from the start of it or from the start of each of its tiles.
struct unwritten_lines {
    int n;                // of C, or of a tile
    unsigned char *some;  // of each: some of its elements are not written
    unsigned char *all;   // none of its elements is written
};

struct unwritten {
    size_t n, of;
    int row, col;  // of the first
    struct unwritten_lines rows, cols, tile_rows, tile_cols;
    int tiles;                           // block tiles of which nothing is written
    size_t in_tiles;                     // elements of those
    int warp_tiles, warp_row, warp_col;  // the same of warp tiles, and where the first begins in its block's
    size_t in_warp_tiles;
    bool misplaced;  // what is written is not all where it belongs
    bool alike;      // the same is missing in each block's tile, as far as C has it
};

// Whether what is missing are whole lines.
bool unwritten_whole(const struct unwritten_lines *x);
// "columns 4 to 7 of each 8", "column 255", "columns 64 to 127".
void unwritten_say(struct cause *c, const struct unwritten_lines *x, const char *name);

// The rows or the columns of a tile of which none is written, and what one of them is called; NULL: it is no such.
const struct unwritten_lines *unwritten_of_tile(const struct unwritten *u, const char **name);

// cause_stores.c: what the stores of the block tell that has the first such element. False: nothing.
bool unwritten_say_stores(struct cause *c, const struct unwritten *u, struct probe *p, const struct look *l);
