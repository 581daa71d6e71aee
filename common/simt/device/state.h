// What is behind simt/simt.h: a simulated GPU's state, and the functions that the files of this room and the pictures
// share.
#pragma once

#include "simt/simt.h"
#include "simt/code/module.h"
#include "simt/code/warp.h"
#include "simt/machine/limits.h"
#include "simt/machine/memory.h"

#define SIMT_GAP 1024  // bytes at least between variables in shared memory while checks are on

struct simt {
    struct memory memory;
    uint64_t memory_limit;  // bytes that may be allocated in all
    unsigned jobs;
    unsigned sm;  // whose tensor cores: 90, or 80; takes effect when a module is loaded
    uint64_t budget;
    dev_progress *progress;     // or NULL
    FILE *out;                  // or NULL
    bool checks;                // find races, uninitialised reads, ...: see check.h
    struct trace *trace;        // records accesses of the next launches: see trace.h
    struct watching *watching;  // looks at a warp of the next launches: see watch.c
    const struct exec *exec;
    struct simt_module *modules;
    struct heap *heap;       // of malloc in kernels; NULL before the first
    struct profile profile;  // of the last launch; its names are copies, so that it outlives its module
    struct arena *profile_names;
    struct simt_findings findings;  // of the last launch with checks
    struct simt_finding failure;    // what ended the last launch; SIMT_NOTHING: no error did
    struct arena *findings_arena;   // the names of both
    bool profiled;
    bool waited;  // the launches before the last one are over: it has waited for them, or did not begin early
};

// names.c: the number of a kernel or variable by what people call it; -1, with one line in error.
int64_t names_kernel(const struct simt_module *m, const char *name, char error[DEV_ERROR_MAX]);
int64_t names_variable(const struct simt_module *m, const char *name, char error[DEV_ERROR_MAX]);

// describe.c
struct simt_type simt_type_of(enum ptx_type t);
// launch.c: where parameter i of the kernel begins among its parameters.
uint32_t param_at(const struct simt_kernel *k, uint32_t i);

// launch_memory.c: what the launch itself needs in device memory; false when memory runs out. Release it in any case.
bool launch_memory_place(struct simt *s, struct grid *g);
void launch_memory_release(struct simt *s, const struct grid *g);
// module.c: k's code with gaps between its shared variables; NULL when memory runs out.
const struct code *simt_checked_code(struct simt *s, struct simt_kernel *k);
