// A product that is ready to run: its launches, of which only alpha and beta may still change.
#ifndef LIBRARY_PLAN_H
#define LIBRARY_PLAN_H

#include "args.h"
#include "base/device.h"
#include "pick.h"
#include "tester/gemm.h"

enum { PLAN_COPY_ARGS = 8, PLAN_ARGS = 4, PLAN_NAME = 120 };

struct plan_copy {  // of A or B
    int rows, columns, matrices;
    dev_ptr from, to;
    int64_t ld, next, pitch;
    struct dev_arg args[PLAN_COPY_ARGS];
    struct dev_launch launch;
};

// Points into itself: it stays where it is.
struct plan {
    bool ready;
    gemm_steps_problem problem;  // settled
    struct way way;
    char name[PLAN_NAME];  // for gemm_steps_kernel
    bool works;            // it uses the workspace
    struct plan_copy copies[2];
    int n_copies;
    struct args args;
    struct dev_tensor_map maps[PROBLEM_OPERANDS];
    struct dev_arg product_args[PLAN_ARGS];
    struct dev_launch launch;
    uint64_t budget;
    struct dev_kernel *product, *pack;
    struct gemm step;  // of a step, with its geometry
    struct geometry geometry;
};

#endif
