// A CUDA driver that computes nothing and writes down what it is asked for, so that what the library does to its
// caller's contexts, streams and memory can be tested without a GPU. fake_cuda.c is a shared object whose name is
// libcuda.so.1: once a test has opened it, it is what dlopen finds.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "gpu/cuda.h"

enum { FAKE_DEVICES = 2, FAKE_DEPTH = 16, FAKE_LAUNCHES = 64 };

struct fake_launch {
    char kernel[32];
    cu_stream stream;
    cu_context context;
    bool early;  // it may begin before the one before it ends
};

struct fake_cuda {
    // What it is; set before the library is called.
    int sm;               // compute capability of both devices
    size_t most;          // bytes of an allocation that still succeed
    int launch_fails;     // what cuLaunchKernel returns
    cu_stream capturing;  // the stream that is being captured; NULL: none
    // What was done.
    cu_context stack[FAKE_DEPTH];  // contexts that are current, the last one really
    int depth;
    int retained[FAKE_DEVICES];        // of the primary contexts
    int allocations, modules, events;  // that there are now
    struct fake_launch launches[FAKE_LAUNCHES];
    int n_launches;
    cu_stream marked;              // where an event was last recorded
    int marks;                     // how often
    cu_stream waiting, waits_for;  // the last cuStreamWaitEvent
    int syncs_captured;            // calls that a stream may not make while it is captured
    int waits, outside;            // how often; calls that need a context while none was current
};

cu_context fake_primary(int device);  // the primary context of a device
