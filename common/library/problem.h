// A product as its caller states it, checked and completed: what 0 stands for is filled in, and what cannot matter is
// 0.
#pragma once

#include <stdbool.h>

#include "base/device.h"
#include "gemm-steps/gemm.h"

// A, B or C as it lies in memory; in elements.
struct operand {
    dev_ptr at;
    int64_t ld, next;  // to the next row, and to the next matrix of the batch: 0 if all use the same
    int rows, columns;
    int matrices;    // that there are: the batch, or 1
    int turned;      // 1: it is used transposed
    size_t element;  // bytes
};

enum { PROBLEM_OPERANDS = 3 };

// Without bytes between the fields: two are the same if all bytes are.
struct problem {
    int m, n, k, batch;
    gemm_steps_type type, type_c;
    gemm_steps_bias bias_kind;
    gemm_steps_activation activation;
    float alpha, beta;
    dev_ptr bias;
    struct operand x[PROBLEM_OPERANDS];  // A, B, C
};

size_t problem_type_bytes(gemm_steps_type type);

// A product without gaps: its struct for the short calls.
gemm_steps_problem problem_of(gemm_steps_type type, int m, int n, int k, float alpha, dev_ptr A, dev_ptr B, float beta,
                              dev_ptr C);

// False, with one line in error, if it cannot be computed. Pointers may be 0 if they are `later`; those that are 0 then
// stand for a multiple of 256.
bool problem_settle(const gemm_steps_problem *given, bool later, struct problem *p, char error[DEV_ERROR_MAX]);

// Bytes from the first element of an operand to behind its last.
uint64_t problem_bytes(const struct operand *x);
