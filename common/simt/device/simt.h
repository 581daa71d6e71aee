// The simulated GPU: load PTX, launch kernels, read counters. Programs use it through base/device.h, whose backend is
// backend.c. `simt inspect` and `simt draw`, the clock and some tests also look at what was decoded.
#ifndef SIMT_SIMT_H
#define SIMT_SIMT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/device.h"
#include "base/findings.h"
#include "base/profile.h"
#include "simt/code/module.h"
#include "simt/machine/limits.h"

#define SIMT_JOBS_MAX 256         // host threads
#define SIMT_GAP 1024             // bytes between variables in shared memory while checks are on
#define SIMT_BUDGET (1ull << 30)  // warp instructions of a block, unless dev_set_budget says otherwise

struct simt {
    struct memory memory;
    uint64_t memory_limit;  // bytes that may be allocated in all
    unsigned jobs;
    unsigned sm;  // whose tensor cores: 90, or 80; takes effect when a module is loaded
    uint64_t budget;
    dev_progress *progress;  // or NULL
    bool checks;             // find races, uninitialised reads, ...: see check.h
    struct trace *trace;     // records accesses of the next launches: see trace.h
    const struct exec *exec;
    struct simt_module *modules;
    struct heap *heap;       // of malloc in kernels; NULL before the first
    struct profile profile;  // of the last launch; its names are copies, so that it outlives its module
    struct arena *profile_names;
    struct findings findings;  // of the last launch with checks; its texts are in findings_arena
    struct arena *findings_arena;
    bool profiled;
    bool faulted;  // the last launch began, and its kernel made an error
    bool waited;   // the launches before the last one are over: it has waited for them, or did not begin early
};

extern const struct dev_about simt_about;  // but for its memory

struct simt *simt_new(void);  // NULL when memory runs out
void simt_free(struct simt *s);

// Loads PTX (text[bytes] == 0). A kernel that cannot be decoded is kept with its error; the others can run. NULL, with
// one line in error, if the text is not PTX at all.
struct simt_module *simt_load(struct simt *s, const char *name, const char *text, size_t bytes,
                              char error[DEV_ERROR_MAX]);
void simt_unload(struct simt *s, struct simt_module *m);
struct simt_kernel *simt_find(struct simt_module *m, const char *name);  // NULL if there is no such kernel
// The kernel that name means (demangle.h, name_find): NULL, with one line in error, if none or several do, or name is
// NULL. The line names the kernels that there are.
struct simt_kernel *simt_search(struct simt_module *m, const char *name, char error[DEV_ERROR_MAX]);
// The first of its kernels, by their names in the source, separated by ", ".
#define SIMT_LIST_MAX 512
void simt_kernel_list(const struct simt_module *m, char list[SIMT_LIST_MAX]);
// The __constant__ or __device__ variable that name means, and its address: NULL, with one line in error, if none or
// several do.
const struct ptx_var *simt_variable(struct simt_module *m, const char *name, uint64_t *address,
                                    char error[DEV_ERROR_MAX]);
const char *simt_reason(const struct simt_kernel *k);  // why it was refused, without the place

// Where parameter i of the kernel begins among its parameters.
uint32_t simt_param_at(const struct simt_kernel *k, uint32_t i);
// The arguments laid out as the kernel's parameters, for simt_launch; the caller frees them. NULL, with one line in
// error, where their number or sizes are not the kernel's.
unsigned char *simt_pack(const struct simt_kernel *k, const struct dev_arg *args, size_t n, char error[DEV_ERROR_MAX]);

// Runs the kernel to its end; of the launch, its arguments are params, which holds code->param_bytes. False, with one
// line in error, for a kernel that was refused or that faulted. With s->checks a kernel's errors are findings, and the
// launch succeeds.
bool simt_launch_clusters(struct simt *s, struct simt_kernel *k, const struct dev_launch *launch,
                          const unsigned char *params, char error[DEV_ERROR_MAX]);
// The same without clusters, unless the kernel asks for them.
bool simt_launch(struct simt *s, struct simt_kernel *k, const unsigned grid[3], const unsigned block[3], size_t shared,
                 const unsigned char *params, char error[DEV_ERROR_MAX]);

// What is behind a simulated GPU of device.h, for those who want to see what was decoded.
struct simt *simt_of(const struct dev *d);
struct simt_module *simt_module_of(struct dev_module *m);

// launch_memory.c: what the launch itself needs in device memory; false when memory runs out. Release it in any case.
bool launch_memory_place(struct simt *s, struct grid *g);
void launch_memory_release(struct simt *s, const struct grid *g);
// module.c: k's code with gaps between its shared variables; NULL when memory runs out.
const struct code *simt_checked_code(struct simt *s, struct simt_kernel *k);

#endif
