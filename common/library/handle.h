// What a handle is, and what the files of the library share. gemm-steps/gemm.h says what its functions do.
#ifndef LIBRARY_HANDLE_H
#define LIBRARY_HANDLE_H

#include <stdarg.h>
#include <stdbool.h>

#include "gemm-steps/gemm.h"
#include "base/device.h"
#include "kernels.h"
#include "pick.h"
#include "plan.h"

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
    struct {
        struct dev_module *module;  // NULL until it is first needed
        struct geometries geometries;
    } loaded[MODULES];
    struct room work, arrays, counters;  // the workspace; copies of host arrays; counters of parts, all 0
    size_t limit;                        // of the workspace
    bool captured;                       // a graph may use the workspace: it is not freed any more
    struct plan plans[PLANS];            // the latest ones; next: which is replaced
    unsigned next;
    char kernel[PLAN_NAME];  // of the last product
    char error[DEV_ERROR_MAX];
};

// A check or a step that failed: keeps the line for gemm_steps_error and returns the status. h may be NULL.
gemm_steps_status handle_fail(gemm_steps *h, gemm_steps_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
gemm_steps_status handle_fail_dev(gemm_steps *h, gemm_steps_status status);  // with the device's own line

// Every function that works on the device does so between these two. Enter is not OK if h is NULL;
// leave returns the status that it is given.
gemm_steps_status handle_enter(gemm_steps *h, const char *function);
gemm_steps_status handle_leave(gemm_steps *h, gemm_steps_status status);

// Device memory of at least that many bytes. What was in it is lost, and if it moves, so are all plans. False, with the
// reason in dev_error, if there is none; the old one is gone then, too.
bool handle_grow(gemm_steps *h, struct room *room, const char *name, size_t bytes);

bool handle_counters(gemm_steps *h);  // makes them, if there are none

// A module, loaded when it is first asked for. NULL, with the reason in the device's error.
struct dev_module *handle_module(gemm_steps *h, enum module_id id);

// Whether the handle's stream is being captured into a graph.
bool handle_capturing(const gemm_steps *h);

// A product, between handle_enter and handle_leave; without `queue` it is only prepared.
gemm_steps_status product_run(gemm_steps *h, const gemm_steps_problem *problem, bool queue);

#endif
