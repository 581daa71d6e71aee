// The CUDA runtime on the simulated GPU: what the files of this room know of each other. It stands on simt/simt.h.
//
//   gpu.c       the one device: opened at its first use, with the settings of the environment
//   child.c     processes that fork off
//   errors.c    CUDA's errors: the last one, that of a kernel, their names
//   registry.c  what a program's object files register: PTX, kernels, variables
//   fatbin.c    the PTX in them
//   memory.c    device, pinned and managed memory
//   copy.c      copies and sets, symbols
//   ipc.c       memory and events of several processes
//   array.c     arrays; array_copy.c copies of them, texture_object.c and texture_text.c how kernels read them
//   launch.c    launches
//   printed.c   what kernels print
//   checked.c   what their checks found
//   report.c    launches with their counters and times, and copies with theirs, which are printed at the end
//   predict.c   how long a launch takes on the card
//   place.c     where in the program a call stands
//   fault.c     the program's own accesses to device memory
//   device.c    properties, attributes and occupancy, which are those of a card (base/card.def)
//   work.h      what a stream is asked to do, which submit.c has done at once, or noted in a graph
//   stream.c    streams and events
//   graph.c     graphs and the capture of streams; graph_nodes.c, graph_choice.c and node.c their nodes
//   pool.c      pools of memory, and memory in the order of a stream or of a graph
//   handle.c    what a program holds for these
//   context.h   contexts, of which the driver's API has more than one
//   module.c    code that a program loads by itself
//   driver.h    the driver's API, on all this
//   note.c      what other libraries of NVIDIA's say to the runtime
//   blas.h      one of them, cuBLAS
//   curand.c    another, cuRAND
//   missing.c   what is not there, by its name
//
// Every function of the API may be called from any thread, and a struct simt belongs to one at a time: each takes
// cudart_lock, which a thread can take again.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define __CUDA_API_VERSION_INTERNAL
#include <cuda_runtime_api.h>
#undef cudaGetDeviceProperties

#include "base/card.h"
#include "base/tally.h"
#include "simt/simt.h"

// --- the device ---

struct simt *cudart_gpu(void);
struct tally *cudart_tally(void);           // of simt exec, which started the program; NULL: it did not
const struct card *cudart_card(void);       // which the program is told it has
uint64_t cudart_setting(const char *name);  // a number of the environment; 0: not given
void cudart_tell(const char *kernel);       // tells simt exec that a launch of it begins; NULL: that it has ended
bool cudart_times(void);                    // times are asked for: those of events are predicted, too
void cudart_lock(void), cudart_unlock(void);
void cudart_keep_prints(void);  // of kernels, until cudart_print prints what they have printed so far
void cudart_print(void);

// Bytes of dynamic shared memory that a launch may give the kernel.
uint64_t cudart_most_dynamic(const void *host, const struct simt_kernel_about *about);

// --- where in the program a call stands ---

enum { CUDART_FRAMES = 24 };
struct cudart_frames {  // return addresses, from the first outside of this library, and of those beside it, on
    void *at[CUDART_FRAMES];
    unsigned n;
};
void cudart_frames(struct cudart_frames *f);
bool cudart_same_frames(const struct cudart_frames *a, const struct cudart_frames *b);
// "add.cu:31", or a function's name where there are no line numbers; "": unknown. kernel: the name of the one that the
// call launches, or NULL. Valid as long as the program runs.
const char *cudart_place(const struct cudart_frames *f, const char *kernel);
const char *cudart_place_here(const char *kernel);

const char *cudart_note(void);  // of which call of another library a launch is a part; NULL: of none (note.h)

// --- errors ---

// Prints one line, unless why is NULL, and notes the error for cudaGetLastError. what: the function, or the kernel.
cudaError_t cudart_failed(cudaError_t e, const char *what, const char *why);
cudaError_t cudart_kernel_failed(cudaError_t e, const char *kernel, const char *why);  // all later waits fail by it
cudaError_t cudart_null(const char *function);                   // a pointer is NULL that may not be
cudaError_t cudart_flags(const char *function, unsigned flags);  // some of them are none that CUDA has

// From now on CUDA is not there in a process that forks off.
void cudart_not_in_children(void);
bool cudart_in_child(void);           // this is one
void cudart_at_end(void (*f)(void));  // when the program ends, but not in such a process
cudaError_t cudart_wait(void);        // cudaSuccess, or the error of a kernel
// An error if a stream is being captured in a mode that forbids the function, or a host function of a stream calls it.
cudaError_t cudart_unsafe(const char *function);

// The driver's function that is running in this thread; NULL: none. Messages then have its name.
const char *cudart_driver_call(void);
void cudart_use_context(void);  // a call of the runtime: the primary context is current, if no other is

// --- PTX in the program ---

struct cudart_ptx {
    char *text;  // of several object files if they were linked with -rdc=true: each begins with its .version
    size_t bytes;
    unsigned arch;  // 80 for compute_80
};
// Makes instructions of textures and surfaces calls (texture_text.c). False if memory runs out.
bool cudart_textures(struct cudart_ptx *ptx);
// Reads what __cudaRegisterFatBinary is given: the PTX for the newest architecture that the card can run.
bool cudart_read_ptx(const void *wrapper, struct cudart_ptx *out, char error[DEV_ERROR_MAX]);
// The same of what a program loads by itself: such a wrapper, a fat binary, or PTX that ends with a NUL.
cudaError_t cudart_read_image(const void *image, struct cudart_ptx *out, char error[DEV_ERROR_MAX]);

// --- what the program registered; host is the address by which it calls a kernel or a variable ---

struct simt_kernel *cudart_kernel(const void *host, const char **name);  // NULL after cudart_failed
const char *cudart_kernel_device_name(const void *host);                 // in its PTX
unsigned cudart_kernel_arch(const void *host);                           // of its PTX: 80 for compute_80
const char *cudart_kernel_ptx(const void *host, const char **device);    // the PTX's file and its name there; or NULL
uint64_t cudart_kernel_dynamic(const void *host);  // bytes that cudaFuncSetAttribute asked for; 0: none
void cudart_kernel_set_dynamic(const void *host, uint64_t bytes);
bool cudart_variable(const void *host, uint64_t *address, uint64_t *bytes);
cudaError_t cudart_place_managed(void);  // gives __managed__ variables their addresses in the program

// What the program loads by itself: takes the text over. NULL, with one line in error.
struct fat;
struct fat *cudart_fat_load(struct cudart_ptx *ptx, const char *name, char error[DEV_ERROR_MAX]);
void cudart_fat_unload(struct fat *f);
const char *cudart_fat_name(struct fat *f, unsigned i);          // of its kernel i; NULL after the last
const void *cudart_fat_kernel(struct fat *f, const char *name);  // what stands for its host address; NULL: none
const void *cudart_fat_variable(struct fat *f, const char *name);

// --- memory ---

struct cudart_memory {
    uint64_t address, bytes;
    void *host;       // where it is in the program: pinned, managed and registered memory; NULL: nowhere
    bool given;       // a call of the program allocated it
    bool registered;  // it is the program's, and has another address on the device
    bool of_graph;    // each launch of a graph allocates it, at this address
    bool given_back;  // the program has freed it since
    void (*freed)(uint64_t address);  // called when it does; or NULL
    enum cudaMemoryType type;
};
const struct cudart_memory *cudart_memory_at(const void *address);        // that holds it; NULL: it is the host's alone
bool cudart_on_host(const struct cudart_memory *m, const void *address);  // the program can use the address
bool cudart_memory_note(uint64_t address, uint64_t bytes);                // of a variable, or of another process
void cudart_memory_forget(uint64_t address);
// For the function of the API; hosts: only memory that is the host's (pinned), else only other.
cudaError_t cudart_allocate(void **p, const char *function, size_t bytes, enum cudaMemoryType type);
cudaError_t cudart_release(const char *function, void *p, bool hosts);
void cudart_memory_of_graph(void *p);  // which cudart_allocate has given; again in each launch of the graph
extern uint64_t cudart_of_graphs[4];   // bytes, by enum cudaGraphMemAttributeType
void cudart_graph_memory(uint64_t more, uint64_t less);  // of it is in use
cudaError_t cudart_memory_map(uint64_t address, size_t bytes, enum cudaMemoryType type);
void cudart_memory_when_freed(uint64_t address, void (*freed)(uint64_t address));
// What all memory holds now, which cudart_memory_free frees. Nothing if that is too much.
size_t cudart_memory_copy(struct simt_array **out);
void cudart_memory_free(struct simt_array *all, size_t n);

// An array's memory: rows of bytes, of which *bytes are an element. False: it is none.
bool cudart_array_box(cudaArray_const_t array, struct cudaPitchedPtr *at, size_t *bytes);

// --- launches that are reported ---

struct cudart_launch {
    const void *host;
    const char *name;  // of the kernel in the source
    struct cudart_frames frames;
    const struct dev_launch *how;
};
// For a launch that is about to run; NULL if memory runs out. When it has run: milliseconds that the card takes, and
// one sentence that lives as long as the program in *bound. Negative if nothing can be predicted; *bound says why then.
struct cudart_prediction *cudart_prediction_begin(const struct cudart_launch *l);
double cudart_predicted(struct cudart_prediction *p, const struct cudart_launch *l, const char **bound);
// Prints what the checks found in the launch, which has ended; NULL: nothing is known.
void cudart_checked(const struct cudart_launch *l, const struct simt_findings *f);
void cudart_report(const struct cudart_launch *l, const struct profile *p, double ms, const char *bound);
// A copy or a set has been done. If times are asked for, it takes as long as the card's bus or its memory needs for the
// bytes at the speed that its vendor states.
enum cudart_way { CUDART_TO_DEVICE, CUDART_FROM_DEVICE, CUDART_IN_DEVICE, CUDART_SET };
void cudart_moved(enum cudart_way way, uint64_t bytes);
double cudart_time(void);  // milliseconds of all launches and copies so far, if times are asked for; else the host's
