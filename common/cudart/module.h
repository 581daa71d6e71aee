// Modules: code that a program loads by itself. function: of the API, for messages.
#pragma once

#include "cudart.h"

struct module_options {  // of the compiler, as enum cudaJitOption numbers them
    unsigned n;
    const int *options;
    void **values;
};

// name: what messages call it.
cudaError_t module_load(const char *function, const char *name, const void *image, const struct module_options *o,
                        cudaLibrary_t *out);
cudaError_t module_load_file(const char *function, const char *path, const struct module_options *o,
                             cudaLibrary_t *out);
cudaError_t module_unload(const char *function, cudaLibrary_t handle);
// What stands for the kernel in every call that takes one.
cudaError_t module_kernel(const char *function, cudaLibrary_t handle, const char *name, const void **out);
cudaError_t module_variable(const char *function, cudaLibrary_t handle, const char *name, void **address,
                            size_t *bytes);
// Up to room of them, and how many there are.
cudaError_t module_kernels(const char *function, cudaLibrary_t handle, const void **out, unsigned room, unsigned *n);
