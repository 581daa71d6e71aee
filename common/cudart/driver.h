// The driver's API as a second face of the runtime: its functions call the runtime's own, which do the work, so that a
// program may use both. libcuda.so.1 is another name of the runtime's library.
//
//   driver_context.c  cuInit, the device, contexts
//   driver_errors.c   names and words of errors
//   driver_module.c   modules, libraries, kernels and their launches
//   driver_memory.c   memory, copies and sets
//   driver_virtual.c  virtual memory
//   driver_stream.c   streams, events, graphs
//   driver_tensor.c   tensor maps
//   entry.c           functions by their names
#pragma once

#include <cuda.h>

#include "cudart.h"

enum driver_needs { DRIVER_INIT, DRIVER_CONTEXT };

// Every function is between these two. Enter returns why it cannot be called: cuInit was not, or no context is current.
CUresult driver_enter(const char *name, enum driver_needs needs);
CUresult driver_leave(cudaError_t e);  // as the driver calls the error

// A function that is one call of the runtime. EARLY_FACE: one that needs no context.
#define FACE_CALLED(text, needs, name, parameters, call)                                                               \
    CUresult name parameters                                                                                           \
    {                                                                                                                  \
        const CUresult before = driver_enter(text, needs);                                                             \
        return before ? before : driver_leave(call);                                                                   \
    }
#define FACE(name, parameters, call) FACE_CALLED(#name, DRIVER_CONTEXT, name, parameters, call)
#define EARLY_FACE(name, parameters, call) FACE_CALLED(#name, DRIVER_INIT, name, parameters, call)

// A device address as the runtime has it.
#define AT(address) ((void *)(uintptr_t)(address))
