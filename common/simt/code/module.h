// A PTX file that was loaded, and its kernels. device/module.c makes them.
#pragma once

#include "uop.h"

struct simt_kernel {
    const struct ptx_func *func;
    const char *name;
    const struct code *code;     // NULL if the kernel was refused
    const struct code *checked;  // the same with gaps between shared variables; NULL before it is first needed
    const char *error;           // then: why, "file:line:column: ..."
    const char *error_at;        // and where in the text
    struct simt_module *module;
};

struct simt_module {
    struct ptx_module *ptx;
    struct arena *arena;
    struct simt_kernel *kernels;  // the .entry functions, in the file's order
    uint32_t n_kernels;
    uint64_t *globals;  // by variable: its address in global or const space
    struct simt_module *next;
};
