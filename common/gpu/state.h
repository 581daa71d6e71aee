// What a GPU is, for the files of this room.
#pragma once

#include "base/backend.h"
#include "cublas.h"
#include "cuda.h"

struct allocation;

struct gpu {
    struct dev dev;
    struct cuda cuda;
    cu_device device;
    cu_context context;
    bool retained;  // context is the device's primary one, and held
    bool borrowed;  // opened by gpu_borrow: stream is the caller's, and the context current only while it is needed
    bool marked;    // the event stop was recorded by gpu_mark
    cu_stream stream, marked_stream;
    cu_event start, stop;
    bool timing;
    struct allocation *allocations;
    struct dev_module *modules;
    char *warnings;  // of the driver's compiler, at the last file; NULL: none
    struct cublas *cublas;
    bool cublas_tried;
    char cublas_error[DEV_ERROR_MAX];
};

static inline struct gpu *gpu_of(const struct dev *d)
{
    return (struct gpu *)d;
}

// True where r is success; else the device's error says which call failed, and what to look at next.
bool gpu_ok(struct dev *d, const char *call, cu_result r);

#define CALL(d, field, name, ...) gpu_ok(d, #name, gpu_of(d)->cuda.field(__VA_ARGS__))

// Makes the context of the device of that number current, or keeps the one that is (GPU_CURRENT); g->borrowed: until
// gpu_leave, else for good.
bool gpu_take_context(struct dev *d, int device);
