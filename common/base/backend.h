// What a device backend provides. device_front.c validates every argument and then calls through this table, so a
// backend trusts what it is given. A backend reports a failure by backend_fail() and returns false or NULL.
#pragma once

#include "device.h"

struct dev {
    const struct backend *ops;
    struct dev_about about;
    char error[DEV_ERROR_MAX];
};

struct backend {
    // Opens the device and fills about, or returns NULL with one line in error. The backend's own struct begins with
    // a struct dev, whose ops dev_open sets.
    struct dev *(*open)(char error[DEV_ERROR_MAX]);
    void (*close)(struct dev *d);
    void (*set_jobs)(struct dev *d, unsigned jobs);                 // may be NULL
    void (*set_progress)(struct dev *d, dev_progress *show);        // may be NULL
    void (*set_budget)(struct dev *d, uint64_t warp_instructions);  // may be NULL
    void (*set_tensor_cores)(struct dev *d, unsigned sm);           // may be NULL
    void (*set_checks)(struct dev *d, bool on);                     // may be NULL
    const struct simt_findings *(*findings)(const struct dev *d);   // may be NULL
    const struct simt_finding *(*failure)(const struct dev *d);     // may be NULL
    const char *(*warnings)(const struct dev *d);                   // may be NULL
    bool (*alloc)(struct dev *d, const char *name, size_t bytes, dev_ptr *out);
    bool (*free)(struct dev *d, dev_ptr p);
    bool (*upload)(struct dev *d, dev_ptr to, const void *from, size_t bytes);
    bool (*download)(struct dev *d, void *to, dev_ptr from, size_t bytes);
    bool (*clear)(struct dev *d, dev_ptr p, size_t bytes);
    struct dev_module *(*load)(struct dev *d, const char *name, const char *text, size_t bytes);  // text[bytes] == 0
    void (*unload)(struct dev *d, struct dev_module *m);
    struct dev_kernel *(*kernel)(struct dev *d, struct dev_module *m, const char *name);
    bool (*launch)(struct dev *d, struct dev_kernel *k, const struct dev_launch *launch);  // no zeros in grid, block
    bool (*tensor_map)(struct dev *d, const struct dev_tensor *t, struct dev_tensor_map *map);  // may be NULL
    bool (*sync)(struct dev *d);
    bool (*timer_start)(struct dev *d);
    bool (*timer_stop)(struct dev *d, double *ms);
    bool (*gemm)(struct dev *d, enum dev_type type, int M, int N, int K, double alpha, dev_ptr A, dev_ptr B,
                 double beta, dev_ptr C);                   // may be NULL
    const char *(*baseline_name)(struct dev *d);            // may be NULL
    const struct profile *(*profile)(const struct dev *d);  // may be NULL
};

// Sets d's error to the formatted line and returns false.
bool backend_fail(struct dev *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
