// What a handle is, and what the files of the library share. gemm-steps/gemm.h says what its functions do.
#ifndef LIBRARY_HANDLE_H
#define LIBRARY_HANDLE_H

#include <stdarg.h>
#include <stdbool.h>

#include "gemm-steps/gemm.h"
#include "base/device.h"
#include "floats.h"
#include "kernels.h"
#include "pick.h"
#include "tester/gemm.h"

enum { PLANS = 8, HANDLE_NAME = 80 };

struct room {  // device memory that grows
    dev_ptr at;
    size_t bytes;
};

// A product that is ready to run: only alpha and beta may still change. type, m, n, k, A, B and C say which it is.
struct plan {
    bool ready;
    enum dev_type type;
    int m, n, k;
    dev_ptr A, B, C;
    enum kernel_id kernel;
    struct geometry geometry;  // of the tile that was chosen
    char name[HANDLE_NAME];    // for gemm_steps_kernel
    bool works;                // it uses the workspace
    union {
        struct gemm gemm;      // a step's
        struct floats floats;  // f32.cu's
    };
};

struct gemm_steps {
    struct dev *dev;
    bool gpu;
    struct pick_card card;
    struct {
        struct dev_module *module;  // NULL until it is first needed
        struct geometries geometries;
    } loaded[KERNELS];
    struct room work, arrays;  // the workspace; copies of host arrays
    size_t limit;              // of the workspace
    int rows;                  // of C that are computed at a time, at most
    struct plan plans[PLANS];  // the latest ones; next: which is replaced
    unsigned next;
    char kernel[HANDLE_NAME];  // of the last product
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
gemm_steps_status handle_leave_dev(gemm_steps *h, bool ok);  // not ok: the device failed, which has its own line

// Device memory of at least that many bytes. What was in it is lost, and if it moves, so are all plans. False, with the
// reason in dev_error, if there is none; the old one is gone then, too.
bool handle_grow(gemm_steps *h, struct room *room, const char *name, size_t bytes);

// The module of a kernel, loaded when it is first asked for. NULL, with the reason in h's error.
struct dev_module *handle_module(gemm_steps *h, enum kernel_id id);

// A product whose arguments have been checked, between handle_enter and handle_leave.
gemm_steps_status product_queue(gemm_steps *h, enum dev_type type, int m, int n, int k, float alpha, dev_ptr A,
                                dev_ptr B, float beta, dev_ptr C);

// Checks m, n and k, and fills in the bytes of A, B and C.
gemm_steps_status product_sizes(gemm_steps *h, enum dev_type type, int m, int n, int k, size_t bytes[3]);

#endif
