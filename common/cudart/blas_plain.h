// See blas_plain.c.
#pragma once

#include "blas.h"
#include "plain.h"

// How many threads each element gets, side by side in a block; y: of the grid.
cublasStatus_t blas_plain_launch(struct cublasContext *h, const char *function, const char *kernel, int64_t elements,
                                 unsigned threads, unsigned y, void **arguments);
struct plain_steps blas_plain_steps(int64_t ld, bool turned, int64_t stride);
