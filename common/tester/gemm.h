// One launch of a step's kernel: gemm(M, N, K, alpha, A, B, beta, C), with the grid that its geometry asks for.
#ifndef COMMON_GEMM_H
#define COMMON_GEMM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/device.h"
#include "geometry.h"

enum { GEMM_ARGS = 8 };

struct gemm {
    int m, n, k;
    double alpha, beta;
    dev_ptr A, B, C;
    float alpha32, beta32;  // what a kernel of floats or halves gets
    struct dev_arg args[GEMM_ARGS];
    struct dev_launch launch;
    uint64_t budget;  // warp instructions after which a block counts as endless: dev_set_budget
};

// Fills in args, launch and budget from what stands before them. They point into c, which must stay where it is. False,
// with one line in error, where the grid would have too many rows of blocks.
bool gemm_prepare(struct gemm *c, enum dev_type type, const struct geometry *g, char error[DEV_ERROR_MAX]);

#endif
