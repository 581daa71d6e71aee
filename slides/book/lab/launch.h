// A kernel that is no step: a launch of one warp, for the lab of chapter 00.
#pragma once

#include "base/json.h"
#include "simt/simt.h"

enum { LAUNCH_ARGS = 8 };

struct launch {
    struct simt *simt;
    struct simt_kernel *kernel;
    struct dev_launch launch;
    struct dev_arg args[LAUNCH_ARGS];
    uint64_t values[LAUNCH_ARGS];
};

// Runs a kernel of the PTX file under the checks, with 32 threads. Each of its integers is number, each of its pointers
// an array of its own, which holds 0, 1, 2 and so on as floats. False, with one line in error, if it cannot be run.
bool launch_run(struct launch *l, const char *ptx, const char *name, int number, char error[DEV_ERROR_MAX]);
void launch_json(struct json *j, const struct launch *l);  // its counters, and what the checks found
void launch_close(struct launch *l);                       // may be called twice
