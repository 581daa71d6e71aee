// What the lines of a kernel do: see kernel_lines.h and kernel_text.h.
#pragma once

enum line_role {
    LINE_LOAD_A,  // from global memory
    LINE_LOAD_B,
    LINE_WRITE_A,  // to shared memory
    LINE_WRITE_B,
    LINE_READ_A,  // from shared memory, or into the fragments that are multiplied
    LINE_READ_B,
    LINE_ASK_A,  // what calls the function that does it, if one of the kernel's own does
    LINE_ASK_B,
    LINE_COPY,     // what calls the function that loads A or B from global memory
    LINE_WRITE_C,  // results on their way through shared memory
    LINE_READ_C,
    LINE_MULTIPLY,
    LINE_SCALE,      // by alpha and beta: arithmetic of the headers
    LINE_ROUND,      // sums to half
    LINE_READ_PART,  // sums of other blocks of the cluster
    LINE_STORE_C,
    LINE_STORE_BOX,  // the same by TMA
    LINE_ZERO,       // a number is set to 0: the last such line
    // Told by the text alone:
    LINE_ROW,  // the thread's first row and column of the block's tile
    LINE_COL,
    LINE_BROW,  // the block's first row and column
    LINE_BCOL,
    LINE_BASE_A,  // where the pointer is set to the block's first element
    LINE_BASE_B,
    LINE_STEP_A,  // where it moves on along K
    LINE_STEP_B,
    LINE_TILES,     // how many tiles there are along K
    LINE_LOOP,      // the loop over them, or over all of K
    LINE_LOOP_K,    // the loop over k within a tile
    LINE_FACTORS,   // alpha or beta is set
    LINE_DEPTH,     // how many k the first tile has
    LINE_STAGE,     // the stage that is read is set
    LINE_SHARED,    // how much shared memory a block has
    LINE_GEOMETRY,  // what the launch is told
    LINE_GUARD_M,   // an index is compared with M
    LINE_GUARD_N,
    LINE_ROLES
};
