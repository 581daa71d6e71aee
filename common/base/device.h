// One interface to a device that runs PTX kernels: a CUDA GPU, or the built-in simulated GPU.
//
// Interface:
//   dev_close, dev_about         what dev_open gave (device/open.h)
//   dev_alloc, dev_upload, ...   device memory, addressed by 64-bit device pointers
//   dev_load, dev_kernel         PTX text -> module -> kernel
//   dev_launch, dev_sync         run a kernel; errors of the kernel itself appear at dev_sync at the latest
//   dev_tensor_map               a tensor map for the tensor memory accelerator (TMA, sm_90)
//   dev_timer_start .. _stop     milliseconds between two points of the device's queue
//   dev_baseline_gemm            the vendor's matrix multiply (cuBLAS), where there is one
//   dev_profile, dev_findings    counters of the last launch, and what its checks found (simulated GPU only)
//
// The functions here validate their arguments; the backends (backend.h) trust them. Every function that returns
// bool or a pointer returns false or NULL on failure and leaves one line about it in dev_error(). Nothing here
// prints or exits. A struct dev belongs to the thread that opened it.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "launch.h"

struct dev;
struct dev_module;
struct dev_kernel;
struct profile;
struct simt_findings;
struct simt_finding;

enum dev_kind { DEV_AUTO, DEV_GPU, DEV_SIM };  // auto: the GPU if one answers, else the simulated one

enum dev_type { DEV_F32, DEV_F64, DEV_F16 };  // element types of a baseline product

struct dev_about {
    char name[128];    // "NVIDIA H200", "simulated GPU"
    char detail[256];  // driver and runtime versions; number of host threads
    bool simulated;
    int cc_major, cc_minor;   // compute capability
    int sm_count;             // streaming multiprocessors; 0 on the simulated GPU
    size_t memory;            // bytes of device memory that can be allocated in all
    double memory_gbs;        // GB/s of it, by its clock and its width; 0 on the simulated GPU
    size_t l2;                // bytes of its L2 cache; 0 on the simulated GPU
    size_t shared_per_block;  // bytes of shared memory a block may have, opt-in included
    unsigned max_threads;     // threads a block may have
};

// Makes the map of a tensor. Fails if the rules above are broken, and on a GPU before sm_90.
// Source: CUDA Driver API, cuTensorMapEncodeTiled.
bool dev_tensor_map(struct dev *d, const struct dev_tensor *tensor, struct dev_tensor_map *map);

void dev_close(struct dev *d);  // frees everything that the device still holds; NULL is allowed

// What answered. Valid until dev_close.
const struct dev_about *dev_about(const struct dev *d);

// The GPU that the PTX file at path needs, if the device is an older one: 80 for an sm_80. 0: the device can run it, or
// there is no telling. dev_load refuses what a device cannot run; the simulated GPU runs all.
unsigned dev_needs(const struct dev *d, const char *path);
const char *dev_error(const struct dev *d);  // the last failure, "" before the first

// Number of host threads the simulated GPU spreads a launch's blocks over, at most 256; 0 means one a processor. The
// results and counters do not depend on it. Does nothing on a GPU.
void dev_set_jobs(struct dev *d, unsigned jobs);

// Warp instructions after which the simulated GPU gives up on a block that never ends. 0 restores the default.
void dev_set_budget(struct dev *d, uint64_t warp_instructions);

// What is called while the simulated GPU runs a launch; NULL: nothing. Does nothing on a GPU.
void dev_set_progress(struct dev *d, dev_progress *show);

// Whose tensor cores the simulated GPU has from the next dev_load on: those of sm_90 (the default) or of sm_80, which
// keep fewer bits of a sum. sm below 90 stands for sm_80.
void dev_set_tensor_cores(struct dev *d, unsigned sm);

// Whether launches on the simulated GPU are checked for what compute-sanitizer looks for: dev_findings. Off at first;
// a kernel's error then fails its launch. With checks on, errors are findings, and the launch succeeds. Does nothing on
// a GPU.
void dev_set_checks(struct dev *d, bool on);

// Allocates bytes (> 0) of uninitialised memory, aligned to 256 bytes; name (copied) is what messages call it. On the
// simulated GPU with its checks on, each byte is DEV_UNWRITTEN until it is written.
bool dev_alloc(struct dev *d, const char *name, size_t bytes, dev_ptr *out);
bool dev_free(struct dev *d, dev_ptr p);  // p as dev_alloc gave it
bool dev_upload(struct dev *d, dev_ptr to, const void *from, size_t bytes);
bool dev_download(struct dev *d, void *to, dev_ptr from, size_t bytes);
bool dev_clear(struct dev *d, dev_ptr p, size_t bytes);  // sets them to 0; queued like a launch

// Loads PTX from a file, or from memory (text need not end in NUL; name is what messages call it).
struct dev_module *dev_load(struct dev *d, const char *path);
struct dev_module *dev_load_text(struct dev *d, const char *name, const char *text, size_t bytes);
void dev_unload(struct dev *d, struct dev_module *m);  // its kernels go with it

// The kernel (.entry) of that name. Lives as long as its module.
struct dev_kernel *dev_kernel(struct dev *d, struct dev_module *m, const char *name);

// Queues one run of the kernel. Argument count and sizes are checked against the kernel's parameters.
bool dev_launch(struct dev *d, struct dev_kernel *k, const struct dev_launch *launch);
bool dev_sync(struct dev *d);  // waits for everything queued

// The time between two points of the device's queue; on the simulated GPU, the host's time.
bool dev_timer_start(struct dev *d);
bool dev_timer_stop(struct dev *d, double *ms);  // waits; milliseconds since dev_timer_start

// C (M x N) = alpha * A (M x K) * B (K x N) + beta * C, all row-major; queued like a launch. F16 accumulates in float;
// alpha and beta are passed as doubles and rounded to the accumulator's type. Fails if there is no such library.
bool dev_baseline_gemm(struct dev *d, enum dev_type type, int M, int N, int K, double alpha, dev_ptr A, dev_ptr B,
                       double beta, dev_ptr C);
const char *dev_baseline_name(struct dev *d);  // "cuBLAS 13.1.0", or NULL if there is none

// Counters of the last launch that ended, or NULL on a GPU. Valid until the next launch or dev_close.
const struct profile *dev_profile(const struct dev *d);

// What the checks found in the last launch that ended; NULL on a GPU, and where checks are off. Valid until the next
// launch or dev_close.
const struct simt_findings *dev_findings(const struct dev *d);

// What the compiler in NVIDIA's driver warned of when a file was loaded last, a line each (ptxas.h); NULL if there was
// nothing, on the simulated GPU, and where the driver has kept what it made of the file another time. Valid until the
// next dev_load or dev_close.
const char *dev_warnings(const struct dev *d);

// The kernel's error that ended the last launch, which has failed by it; NULL on a GPU, and where there was none. Valid
// as dev_findings.
const struct simt_finding *dev_failure(const struct dev *d);
