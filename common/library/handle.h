// What a handle is, and what the files of the library share. gemm-steps/gemm.h says what its functions do.
#pragma once

#include "plan.h"
#include "tester/geometry.h"

enum { PLANS = 32 };

struct room {  // device memory that grows
    dev_ptr at;
    size_t bytes;
    bool lent;  // the caller's
};

struct gemm_steps {
    struct dev *dev;
    bool gpu;
    struct pick_card card;
    struct dev_module *modules[KERNELS][WORDS];  // NULL until it is first needed
    struct geometry geometries[KERNELS];         // of those that were needed
    struct room work, arrays, counters;          // the workspace; copies of host arrays; counters of parts, all 0
    size_t limit;                                // of the workspace
    bool captured;                               // a graph may use the workspace: it is not freed any more
    struct plan plans[PLANS];                    // the latest ones; next: which is replaced
    unsigned next;
    char kernel[PLAN_NAME];  // of the last product
    char error[DEV_ERROR_MAX];
};

// What failed: keeps the line for gemm_steps_error and returns the status. h may be NULL.
gemm_steps_status handle_fail(gemm_steps *h, gemm_steps_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// OK; or, if the device did not do it, that status and the device's own line.
gemm_steps_status handle_did(gemm_steps *h, bool did, gemm_steps_status failed);

// Every function that works on the device does so between these two. Enter is not OK, and leave is not to be called, if
// h is NULL or an argument is wrong: the line about it, or NULL. Leave returns the status that it is given, or that of
// handle_did, of which a failure is GEMM_STEPS_FAILED.
gemm_steps_status handle_enter(gemm_steps *h, const char *function, const char *wrong);
gemm_steps_status handle_leave(gemm_steps *h, gemm_steps_status status);
gemm_steps_status handle_leave_dev(gemm_steps *h, bool did);

// Device memory of at least that many bytes. What was in it is lost, and if it moves, so are all plans. False, with the
// reason in dev_error, if there is none; the old one is gone then, too.
bool handle_grow(gemm_steps *h, struct room *room, const char *name, size_t bytes);

// A kernel's module, loaded when it is first asked for. NULL, with the reason in the handle's error.
struct dev_module *handle_module(gemm_steps *h, enum kernel_id id, int words);
