// What the library's own kernels are told, in CUDA and in C. Sizes and distances are in elements.
//
// Every kernel computes C = activation(alpha * A * B + beta * C + bias), where A is m x k, B is k x n, C is m x n, for
// each product of a batch. A letter in a kernel's name says how an operand lies: 'n' as it is read, row by row (A: m
// rows, B: k rows), 't' transposed (A: k rows of m elements, B: n rows of k elements).
#pragma once

#include <stdint.h>

#ifdef __cplusplus
typedef void *args_ptr;
#else
typedef uint64_t args_ptr;
#endif

// Numbers as in gemm-steps/gemm.h.
enum { ARGS_F32 = 1, ARGS_F16, ARGS_BF16 };    // types
enum { ARGS_BIAS_ROW = 1, ARGS_BIAS_COLUMN };  // which bias
enum { ARGS_RELU = 1, ARGS_GELU };             // which activation
// ARGS_COUNTERS: of tiles whose parts are still to come; any.cu, mma.cu: ARGS_MEETINGS for each, of which 64 parts have
// eight and one.
enum { ARGS_COUNTERS = 1 << 14, ARGS_MEETINGS = 9 };

struct args {
    int m, n, k, batch;
    int wide_a, wide_b;                 // neighbours of A and B that can be loaded at once
    int wide_c;                         // C: four neighbours can be stored at once
    int c_type, bias_kind, activation;  // bias_kind, activation: 0 is none
    float alpha, beta;                  // beta 0: C is not read
    int parts;                          // of K, each a block's; hopper.cu: the blocks are a cluster
    int part;                           // any.cu, mma.cu, rows.cu: elements of K in a part, but the last
    int tall, broad;          // hopper.cu: blocks of a cluster below and beside each other: 1 << tall, 1 << broad
    int a_rows, a_last;       // hopper.cu: rows of a tile of A that are loaded, and of those in the last row of tiles
    int across, down, units;  // hopper.cu: clusters' tiles in a row of C, rows of them, all of them
    int stored;               // hopper.cu: C is stored by its tensor map
    int once_a, once_b;       // hopper.cu: L2 need not keep what is loaded of A, of B
    args_ptr A, B, C, bias;   // bias: n elements (row) or m (column), of C's type
    args_ptr sums;            // of parts, in the workspace
    args_ptr counters;        // ARGS_COUNTERS of them, all 0 between launches
    int64_t a_row, a_col;     // from an element of A to the next in its column, and in its row
    int64_t b_row, b_col;
    int64_t c_row, c_col;
    int64_t a_next, b_next, c_next;  // from a matrix of the batch to the next; 0: it is the same
};

// What pack.cu is told: `rows` rows of `columns` elements, `ld` apart; matrix z begins `next` elements after the one
// before. Of the copies, rows are `pitch` elements apart, and matrices follow each other.
struct copy_args {
    int rows, columns, matrices;  // rows: 0 if there is none
    args_ptr from, to;
    int64_t ld, next, pitch;
};

struct pack_args {
    struct copy_args of[2];
};
