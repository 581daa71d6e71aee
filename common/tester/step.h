// What a step is, and what its tester is asked to do.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/device.h"
#include "base/matrix.h"
#include "geometry.h"

struct card;

#define TYPE_OF(T) _Generic((T)0, float : DEV_F32, double : DEV_F64)

struct step {
    const char *name;    // "04_thread_tile_2d"
    enum dev_type type;  // of A, B and C
    const char *ptx;     // path of the kernel's PTX, which says the geometry too; the build defines KERNEL_PTX
    const char *built;  // its PTX as the build made it, of the step's own kernel.cu, if ptx is another; NULL: not known
    // The thread that computes an element of the block's tile, for messages; geometry.h has some. NULL: not known.
    int (*owner)(const struct geometry *g, int row, int col);
};

struct tester_options {
    int m, n, k;  // 0 stands for the device's default: 256 simulated, 4096 on a GPU
    double alpha, beta;
    uint64_t seed;
    enum dev_kind device;
    int jobs;                // host threads of the simulated GPU; 0: one a processor
    int warmup, iterations;  // runs before timing (-1: the device's default), timed runs (0: the device's default)
    double pause_ms;         // milliseconds to rest before each timed run
    bool check, profile, by_line;
    bool warm;  // leave the L2 cache as the run before left it, in place of emptying it before each timed run
    const struct card *card;  // whose occupancy a profile works out, and whose time is predicted; NULL: an H200's
    int predict;              // say how long the kernel takes on the card (see predict.h): 1 yes, -1 no, 0 not said
    int predict_size;     // M, N and K that are predicted, which also asks for it; 0: those of the run, and what the
                          // ladder thinks best
    const char *ptx;      // file to run in place of the step's own, or NULL
    const char *course;   // the course's text of the kernel; NULL: found by git (changed.h)
    bool eager;           // of a launch on the simulated GPU (launch.h); no option says it
    int sms;              // multiprocessors that blocks are launched for; 0: those of the device; no option says it
    bool once;            // do not run a right step again at other shapes (again.h)
    bool describe;        // print what would be run, and end
    bool sanitize;        // with the simulated GPU's checks; see dev_findings
    bool watch;           // in the debugger, in place of a run
    const char *command;  // that watches this, for messages; NULL: none
    int finding;          // open it at this finding, from 1 on, which also asks for it; 0: not given
    bool list;            // print the names of the steps, and end
    const char *csv;      // file to append a table to, or NULL
    const char *json;     // file for the report ("-": stdout), or NULL
};

extern const struct tester_options tester_defaults;

// Lines of a kernel that a message names at most: those of a cause, and places where it differs from the course's.
enum { TESTER_LINES = 4, TESTER_PLACES = 4, TESTER_LOOK = TESTER_LINES + TESTER_PLACES };
