// A product that is ready to run: its launches, of which only alpha and beta may still change.
#pragma once

#include "args.h"
#include "base/device.h"
#include "pick.h"

enum { PLAN_MAPS = 4, PLAN_ARGS = 8, PLAN_NAME = 120 };  // maps: of A, B, C, and the last rows of A

// Points into itself: it stays where it is.
struct plan {
    bool ready;
    struct problem problem;
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
};

// Makes a plan of that product, or finds it among the latest ones. NULL: the handle's error says why.
struct plan *plan_of(gemm_steps *h, const struct problem *p);

// Makes room for that way: it has the counters and the workspace that it needs. False, with the reason in dev_error.
bool plan_room(gemm_steps *h, const struct problem *p, const struct way *way);

// A plan of that way, for which there is room. False: the handle's error says why.
bool plan_open(gemm_steps *h, struct plan *plan, const struct problem *p, const struct way *way);

// Queues its launches. False: the device's error says why.
bool plan_queue(gemm_steps *h, struct plan *plan, float alpha, float beta);
