// Elements of a matrix that a kernel took from the wrong place, and the law that they follow: a tile transposed, rows
// or columns in another order, a row's length mistaken.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// Where (y, x) belongs, (to_y, to_x) is used.
struct move {
    int y, x, to_y, to_x;
};

struct moves {
    struct move *all;  // those that are in their place too
    size_t n;
    int tile_y, tile_x;  // rows and columns of the kernel's tile; 0: there are none
    int length;          // elements of a row in global memory
    bool along_y;        // K goes down the rows
    int depth;           // K, if the matrix has it; 0: it has not
    int chunk;           // elements in 16 bytes
};

enum law {
    LAW_NONE,
    LAW_TRANSPOSED,  // pieces of by x by; 0: the whole matrix
    LAW_BOXES,       // pieces of by x by have changed places, row for column, and are right within
    LAW_QUARTERS,    // of 2 by x 2 by, those top right and bottom left are exchanged
    LAW_AHEAD,  // along K it is by elements further on, and others are right: a fragment that is replaced too early
    LAW_FIRST_TILE_Y,  // the same row of the first tile, wherever the block is
    LAW_FIRST_TILE_X,
    LAW_TILE_Y,  // the same row of another tile
    LAW_TILE_X,
    LAW_SHIFT_Y,  // by rows on
    LAW_SHIFT_X,
    LAW_SAME_Y,  // one row serves for by of them
    LAW_SAME_X,
    LAW_REST_Y,  // only the first by rows of a tile are used
    LAW_REST_X,
    LAW_XOR_Y,  // rows y and y ^ by are exchanged
    LAW_XOR_X,
    LAW_CHUNKS,        // 16 bytes at a time, in another order within a row
    LAW_STRIDE,        // rows of the matrix in global memory are taken to be by elements long
    LAW_SWAPPED,       // the same, with row and column swapped
    LAW_TILE_STRIDE,   // rows of the tile are taken to be by elements long
    LAW_TILE_SWAPPED,  // the same, with row and column swapped
    LAW_PADDED,        // rows of the tile are by elements longer than they are taken to be
    LAW_STEP,          // from one tile to the next along K it is by elements
    LAW_STARTS,        // each row goes on as it should, from a wrong place on
    LAW_ORDER_Y,       // other rows of the same tile
    LAW_ORDER_X,
    LAW_PIECES,  // 16 bytes at a time, from anywhere
    LAW_MIXED,   // bits of the row and of the column within the tile have changed places
};

// The law that nearly all of the moved elements follow, its number in *by, and one of them in *example.
enum law moves_law(const struct moves *m, int *by, struct move *example);
