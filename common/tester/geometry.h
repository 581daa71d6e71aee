// The geometry of a kernel: what its blocks, warps and threads compute. The kernel's file says it, and nothing else:
//
//     __constant__ int geometry[] = { BM, BN, BK, THREADS, SHARED, TM, TN, WM, WN, BOX,
//                                    BLOCKS, CBOX, SPLIT };
//
// The numbers at the end may be left out, and stand for 0 then. nvcc puts the array into the PTX, and drivers, tester,
// tests and exercises read it there. It must be neither static nor const, or nvcc drops it.
//
// A file may have several kernels for the same product, with other tiles: then the array has a row of all 13 numbers
// for each. The first is called gemm, the others after their tile, as gemm_64x128 and gemm_64x64_split. choose.h picks
// one.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/device.h"

enum { GEOMETRY_KERNEL = 32 };
struct geometry {
    int bm, bn;   // rows and columns of C that a block computes
    int bk;       // depth of a tile of A and B; 0: there are no tiles along K
    int threads;  // of a block, along x
    int shared;   // bytes of dynamic shared memory of a block
    int tm, tn;   // rows and columns of C that a thread computes; 0: the kernel does not say
    int wm, wn;   // rows and columns of C that a warp computes; 0: the kernel does not say
    int box;      // columns of a box: A and B are tensor maps, boxes of BM x BOX and BK x BOX; 0: they are pointers
    int blocks;   // blocks for each SM, in one row, each of which computes tile after tile; 0: a block for each tile
    int cbox;     // rows of a box of C: after C comes its tensor map, with boxes of CBOX x BOX; 0: no such argument
    int split;    // 1: the blocks of a cluster share a tile, each has a part of K; 0: a tile is one block's
    // Not in the array:
    int parts;                     // how many blocks share a tile; 0 stands for 1
    char kernel[GEOMETRY_KERNEL];  // its name: "gemm", or after its tile
};

enum { GEOMETRIES_MAX = 8 };
struct geometries {
    int n;
    struct geometry all[GEOMETRIES_MAX];
};

// Reads the geometry from a PTX file, or from its text; name is what messages call it. False, with one line in error,
// if the file cannot be read, has no geometry, or has one that cannot work. Of several geometries, the first.
bool geometry_read(const char *path, struct geometry *g, char error[DEV_ERROR_MAX]);
bool geometry_parse(const char *name, const char *text, size_t bytes, struct geometry *g, char error[DEV_ERROR_MAX]);

// The same for all geometries of the file.
bool geometries_read(const char *path, struct geometries *g, char error[DEV_ERROR_MAX]);
bool geometries_parse(const char *name, const char *text, size_t bytes, struct geometries *g,
                      char error[DEV_ERROR_MAX]);

// "BM = 128, BN = 128, BK = 8, THREADS = 256": the numbers that are not 0, as a kernel's file calls them.
enum { GEOMETRY_TEXT = 160 };
const char *geometry_text(const struct geometry *g, char text[GEOMETRY_TEXT]);

struct json;
void geometry_json(struct json *j, const char *key,
                   const struct geometry *g);  // as an object, with all thirteen numbers

// --- Who computes an element? ---
// The thread of the block that computes the element (row, col) of the block's tile; -1 if the geometry does not tell.

// Patches of TM x TN, counted along the rows of the tile; 0 stands for 1.
int owner_by_patches(const struct geometry *g, int row, int col);
// Warp tiles of WM x WN, counted along the rows. In each of them a thread has TM x TN elements in pieces of 4 x 4, as
// far apart as there can be. Two lanes are side by side, then they go down the rows, then come the next two columns.
int owner_by_pieces(const struct geometry *g, int row, int col);
// Warp tiles of WM x WN, counted along the rows. In each 8 x 8 of them a lane has two neighbours in a row, as the
// results of mma are spread (PTX ISA 9.0, section 9.7.14.5, matrix fragments).
int owner_by_fragments(const struct geometry *g, int row, int col);
