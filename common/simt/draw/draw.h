// Pictures of what a warp's access touches, and of how lanes share out matrix operands: `simt draw`.
#pragma once

#include "simt/device/state.h"

struct draw_launch {
    struct simt *simt;
    struct simt_kernel *kernel;
    const struct dev_launch *how;  // settled
    const struct simt_picture *place;
};

// --- accesses: banks of shared memory, sectors of global memory ---

// Runs the kernel and draws the first execution of the instruction at that place. Returns the SVG's
// text, which the caller frees; NULL, with one line in error, if that cannot be; simt_failure says whether it was
// the kernel's fault.
char *draw_line(const struct draw_launch *l, char error[DEV_ERROR_MAX]);

// --- pictures of a launch: tiles, the walk along K, a timeline, the bits of an index ---

// Draws the product's result and, one within the other, the block's, the warp's and the lane's elements of it; without
// a product, the first array that the kernel stores to. As draw_line for the result.
char *draw_tiles(const struct draw_launch *l, char error[DEV_ERROR_MAX]);
// Draws which parts of the product's factors the block reads, step by step along K.
char *draw_walk(const struct draw_launch *l, char error[DEV_ERROR_MAX]);

// Draws what each warp of the block does between barriers, in the order of its instructions. Any kernel.
char *draw_timeline(const struct draw_launch *l, char error[DEV_ERROR_MAX]);

// Draws which bits of an element's row and column make which bits of its byte in shared memory, and the banks of the
// lanes of the access at the place. Refuses a tile whose bytes are no XOR of such bits.
char *draw_bits(const struct draw_launch *l, char error[DEV_ERROR_MAX]);

// --- what they share ---

struct trace_event;

#define DRAW_LINES 3

struct draw_subject {  // what stands above the picture
    const struct trace_event *event;
    const struct code *code;       // whose shared variables
    const struct memory *memory;   // whose allocations
    char ptx[400];                 // the instruction
    char source[DRAW_LINES][400];  // its lines, and from which place it was taken
    bool large;                    // see simt_picture
};

// The picture of one event; NULL when memory runs out.
char *draw_access(const struct draw_subject *subject);
