// A step's kernel on a device of its own, for the products that a teacher would try when a result is wrong. What the
// step's own run left, its profile and its findings, stays as it is.
//
// All of it ends after PROBE_SECONDS of processor time: from then on every run returns false.
#pragma once

#include <stdbool.h>

#include "geometry.h"
#include "base/matrix.h"
#include "simt/simt.h"
#include "step.h"

enum { PROBE_SECONDS = 6 };

struct probe {
    struct dev *dev;
    struct dev_module *module;
    enum dev_type type;
    struct geometry geometry;
    const char *ptx;
    int sms;                    // multiprocessors that blocks are launched for; 0: those of the device
    bool last;                  // only the last block runs
    bool eager;                 // of the launch, see launch.h
    double end;                 // seconds of processor time
    char error[DEV_ERROR_MAX];  // why the last launch failed
};

// C = alpha * A * B + beta * C0; C0 NULL: C holds the poison.
struct probe_product {
    double alpha, beta;
    const struct matrix *A, *B, *C0;
};

// simulated: on the simulated GPU with that many host threads, otherwise on the GPU. False if it cannot be done.
bool probe_open(struct probe *p, const struct step *step, const struct geometry *g, bool simulated, int jobs);
void probe_close(struct probe *p);
// The same on a device that has the module; it is not closed.
void probe_borrow(struct probe *p, struct dev *d, struct dev_module *module, enum dev_type type);

// Random matrices of a product of o's size, from its seed. False if there is no memory.
struct probe_data {
    struct matrix A, B, C0, C;
};
bool probe_fill(struct probe_data *x, enum dev_type type, const struct tester_options *o);
void probe_release(struct probe_data *x);

// C = what the kernel makes of it. False if the launch fails, or if time or memory has run out.
bool probe_run(struct probe *p, const struct probe_product *x, struct matrix *C);

// The same under the checks: what they find, until the next run. NULL if there are no checks, or on failure.
const struct simt_findings *probe_check(struct probe *p, const struct probe_product *x, struct matrix *C);

// The same while somebody looks at a block of it, on the simulated GPU. watch's block, warp and context are the
// caller's; the others are filled in before the first call. False also if the kernel fails.
struct gemm;
struct probe_watch {
    struct simt_watch watch;
    bool checked;                      // under the checks
    const struct gemm *call;           // where the matrices are
    const struct simt_kernel *kernel;  // what its instructions are
};
bool probe_look(struct probe *p, const struct probe_product *x, struct matrix *C, struct probe_watch *w);

bool probe_over(const struct probe *p);  // no time is left
