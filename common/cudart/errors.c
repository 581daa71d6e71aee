// CUDA's errors. Each failure of a call is noted for the thread that made it. A kernel's is noted for all, and every
// later call that waits for the device returns it, as on a card.
#include <stdatomic.h>

#include "cudart.h"

static _Thread_local cudaError_t last;
static _Atomic cudaError_t of_kernel;

cudaError_t cudart_failed(cudaError_t e, const char *what, const char *why)
{
    if (why) {
        const char *place = cudart_place_here(what);
        fprintf(stderr, "cudart: %s%s%s: %s\n", place, *place ? ": " : "", what, why);
    }
    return last = e;
}

cudaError_t cudart_kernel_failed(cudaError_t e, const char *kernel, const char *why)
{
    of_kernel = e;
    return cudart_failed(e, kernel, why);
}

cudaError_t cudart_wait(void)
{
    const cudaError_t e = of_kernel;
    return e ? last = e : cudaSuccess;
}

cudaError_t cudaGetLastError(void)
{
    const cudaError_t e = last;
    last = cudaSuccess;
    return e;
}

cudaError_t cudaPeekAtLastError(void)
{
    return last;
}

// Those that this runtime returns.
#define ERRORS(X)                                                                                                      \
    X(cudaSuccess, "no error")                                                                                         \
    X(cudaErrorInvalidValue, "invalid argument")                                                                       \
    X(cudaErrorMemoryAllocation, "out of memory")                                                                      \
    X(cudaErrorInvalidConfiguration, "invalid configuration argument")                                                 \
    X(cudaErrorInvalidSymbol, "invalid device symbol")                                                                 \
    X(cudaErrorInvalidDeviceFunction, "invalid device function")                                                       \
    X(cudaErrorInvalidDevice, "invalid device ordinal")                                                                \
    X(cudaErrorInvalidResourceHandle, "invalid resource handle")                                                       \
    X(cudaErrorIllegalAddress, "an illegal memory access was encountered")                                             \
    X(cudaErrorLaunchTimeout, "the launch timed out and was terminated")                                               \
    X(cudaErrorAssert, "device-side assert triggered")                                                                 \
    X(cudaErrorMisalignedAddress, "misaligned address")                                                                \
    X(cudaErrorLaunchFailure, "unspecified launch failure")                                                            \
    X(cudaErrorNotSupported, "operation not supported")

const char *cudaGetErrorString(cudaError_t e)
{
#define STRING(error, text)                                                                                            \
    case error:                                                                                                        \
        return text;
    switch ((int)e) {
        ERRORS(STRING)
    default:
        return "unrecognized error code";
    }
}

const char *cudaGetErrorName(cudaError_t e)
{
#define NAME(error, text)                                                                                              \
    case error:                                                                                                        \
        return #error;
    switch ((int)e) {
        ERRORS(NAME)
    default:
        return "unrecognized error code";
    }
}
