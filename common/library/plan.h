// A product that is ready to run: its launches, of which only alpha and beta may still change.
#pragma once

#include "args.h"
#include "base/device.h"
#include "pick.h"
#include "tester/gemm.h"

enum { PLAN_MAPS = 4, PLAN_ARGS = 1 + PLAN_MAPS, PLAN_NAME = 120 };  // maps: of A, B, C, and the last rows of A

// Points into itself: it stays where it is.
struct plan {
    bool ready;
    gemm_steps_problem problem;  // settled
    struct way way;
    char name[PLAN_NAME];     // for gemm_steps_kernel
    bool works;               // it uses the workspace
    struct pack_args copies;  // of A and B, that one launch makes
    struct dev_arg pack_arg;
    struct dev_launch pack_launch;
    struct args args;
    struct dev_tensor_map maps[PLAN_MAPS];
    struct dev_arg product_args[PLAN_ARGS];
    struct dev_launch launch;
    uint64_t budget;
    struct dev_kernel *product[2], *pack;  // product: without a beta, and with one; pack: NULL if nothing is copied
    struct gemm step;                      // of a step
};
