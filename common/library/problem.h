// A product as its caller states it, checked and completed: what 0 stands for is filled in, and what cannot matter is
// 0.
#pragma once

#include <stdbool.h>

#include "base/device.h"
#include "gemm-steps/gemm.h"

enum { PROBLEM_OPERANDS = 3 };  // A, B, C

// A, B or C as it lies in memory; in elements.
struct operand {
    dev_ptr at;
    int rows, columns;
    int64_t ld, next;  // to the next row, and to the next matrix of the batch: 0 if all use the same
    int matrices;      // that there are: the batch, or 1
    size_t element;    // bytes
};

size_t problem_type_bytes(gemm_steps_type type);
struct operand problem_operand(const gemm_steps_problem *p, int which);  // 0 to 2: A, B, C

// Completes *p. False, with one line in error, if it cannot be computed. Pointers may be 0 if they are `later`.
bool problem_settle(gemm_steps_problem *p, bool later, char error[DEV_ERROR_MAX]);

// A product without gaps: its struct for the short calls.
gemm_steps_problem problem_of(gemm_steps_type type, int m, int n, int k, float alpha, dev_ptr A, dev_ptr B, float beta,
                              dev_ptr C);

// Bytes from the first element of an operand to behind its last.
uint64_t problem_bytes(const struct operand *x);
