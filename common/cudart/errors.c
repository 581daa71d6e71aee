// CUDA's errors. Each failure of a call is noted for the thread that made it. A kernel's is noted for all, and every
// later call that waits for the device returns it, as on a card.
#include <stdatomic.h>
#include <string.h>

#include "cudart.h"

static _Thread_local cudaError_t last;
static _Atomic cudaError_t of_kernel;

cudaError_t cudart_failed(cudaError_t e, const char *what, const char *why)
{
    const char *driver = cudart_driver_call();
    if (driver && !strncmp(what, "cuda", 4))
        what = driver;
    if (why) {
        const char *place = cudart_place_here(what);
        fprintf(stderr, "cudart: %s%s%s: %s\n", place, *place ? ": " : "", what, why);
        if (cudart_tally())
            cudart_tally()->failed++;
    }
    return driver ? e : (last = e);
}

// A call that is not there, told once. The driver's have no part in the runtime's last error, and end in a version.
int cudart_not_there(const char *name, bool *said);
int cudart_not_there(const char *name, bool *said)
{
    const cudaError_t before = last;
    const bool first = !*said, runtimes = !strncmp(name, "cuda", 4);
    char what[64];
    snprintf(what, sizeof what, "%.*s", (int)(runtimes ? strlen(name) : strcspn(name, "_")), name);
    *said = true;
    const cudaError_t e = cudart_failed(cudaErrorNotSupported, what, first ? "it is not there yet" : NULL);
    last = runtimes ? last : before;
    return e;
}

cudaError_t cudart_kernel_failed(cudaError_t e, const char *kernel, const char *why)
{
    of_kernel = e;
    return cudart_failed(e, kernel, why);
}

cudaError_t cudart_null(const char *function)
{
    return cudart_failed(cudaErrorInvalidValue, function, "a null pointer");
}

cudaError_t cudart_flags(const char *function, unsigned flags)
{
    char why[48];
    snprintf(why, sizeof why, "its flags are 0x%x, which it does not know", flags);
    return cudart_failed(cudaErrorInvalidValue, function, why);
}

static cudaError_t in_child(void)
{
    static bool said;
    const char *why = said ? NULL : "this process was forked after CUDA had been used, and only its parent can use it";
    said = true;
    return cudart_failed(cudaErrorInitializationError, "CUDA", why);
}

cudaError_t cudart_wait(void)
{
    const cudaError_t e = cudart_in_child() ? in_child() : of_kernel;
    cudart_use_context();
    return e && !cudart_driver_call() ? last = e : e;
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

// Those that this runtime returns, and those that programs ask for by name.
#define ERRORS(X)                                                                                                      \
    X(cudaSuccess, "no error")                                                                                         \
    X(cudaErrorInvalidValue, "invalid argument")                                                                       \
    X(cudaErrorMemoryAllocation, "out of memory")                                                                      \
    X(cudaErrorInitializationError, "initialization error")                                                            \
    X(cudaErrorCudartUnloading, "driver shutting down")                                                                \
    X(cudaErrorInvalidConfiguration, "invalid configuration argument")                                                 \
    X(cudaErrorInvalidPitchValue, "invalid pitch argument")                                                            \
    X(cudaErrorInvalidSymbol, "invalid device symbol")                                                                 \
    X(cudaErrorInvalidHostPointer, "invalid host pointer")                                                             \
    X(cudaErrorInvalidDevicePointer, "invalid device pointer")                                                         \
    X(cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy")                                            \
    X(cudaErrorInsufficientDriver, "CUDA driver version is insufficient for CUDA runtime version")                     \
    X(cudaErrorMissingConfiguration, "__global__ function call is not configured")                                     \
    X(cudaErrorInvalidDeviceFunction, "invalid device function")                                                       \
    X(cudaErrorNoDevice, "no CUDA-capable device is detected")                                                         \
    X(cudaErrorInvalidDevice, "invalid device ordinal")                                                                \
    X(cudaErrorInvalidKernelImage, "device kernel image is invalid")                                                   \
    X(cudaErrorDeviceUninitialized, "invalid device context")                                                          \
    X(cudaErrorNoKernelImageForDevice, "no kernel image is available for execution on the device")                     \
    X(cudaErrorInvalidPtx, "a PTX JIT compilation failed")                                                             \
    X(cudaErrorInvalidSource, "device kernel image is invalid")                                                        \
    X(cudaErrorFileNotFound, "file not found")                                                                         \
    X(cudaErrorContextIsDestroyed, "context is destroyed")                                                             \
    X(cudaErrorUnsupportedLimit, "limit is not supported on this architecture")                                        \
    X(cudaErrorPeerAccessUnsupported, "peer access is not supported between these two devices")                        \
    X(cudaErrorInvalidResourceHandle, "invalid resource handle")                                                       \
    X(cudaErrorIllegalState, "the operation cannot be performed in the present state")                                 \
    X(cudaErrorSymbolNotFound, "named symbol not found")                                                               \
    X(cudaErrorNotReady, "device not ready")                                                                           \
    X(cudaErrorIllegalAddress, "an illegal memory access was encountered")                                             \
    X(cudaErrorLaunchOutOfResources, "too many resources requested for launch")                                        \
    X(cudaErrorLaunchTimeout, "the launch timed out and was terminated")                                               \
    X(cudaErrorPeerAccessAlreadyEnabled, "peer access is already enabled")                                             \
    X(cudaErrorPeerAccessNotEnabled, "peer access has not been enabled")                                               \
    X(cudaErrorAssert, "device-side assert triggered")                                                                 \
    X(cudaErrorHostMemoryAlreadyRegistered, "part or all of the requested memory range is already mapped")             \
    X(cudaErrorHostMemoryNotRegistered, "pointer does not correspond to a registered memory region")                   \
    X(cudaErrorHardwareStackError, "hardware stack error")                                                             \
    X(cudaErrorIllegalInstruction, "an illegal instruction was encountered")                                           \
    X(cudaErrorMisalignedAddress, "misaligned address")                                                                \
    X(cudaErrorLaunchFailure, "unspecified launch failure")                                                            \
    X(cudaErrorInvalidFilterSetting, "linear filtering not supported for non-float type")                              \
    X(cudaErrorInvalidNormSetting, "attempt to read as normalized float not supported for 32-bit non float type")      \
    X(cudaErrorCooperativeLaunchTooLarge, "too many blocks in cooperative launch")                                     \
    X(cudaErrorNotPermitted, "operation not permitted")                                                                \
    X(cudaErrorNotSupported, "operation not supported")                                                                \
    X(cudaErrorStreamCaptureUnsupported, "operation not permitted when stream is capturing")                           \
    X(cudaErrorStreamCaptureInvalidated, "operation failed due to a previous error during capture")                    \
    X(cudaErrorStreamCaptureMerge, "operation would result in a merge of separate capture sequences")                  \
    X(cudaErrorStreamCaptureUnmatched, "capture was not ended in the same stream as it began")                         \
    X(cudaErrorStreamCaptureUnjoined, "capturing stream has unjoined work")                                            \
    X(cudaErrorStreamCaptureIsolation, "dependency created on uncaptured work in another stream")                      \
    X(cudaErrorStreamCaptureImplicit, "operation would make the legacy stream depend on a capturing blocking stream")  \
    X(cudaErrorCapturedEvent, "operation not permitted on an event last recorded in a capturing stream")               \
    X(cudaErrorGraphExecUpdateFailure,                                                                                 \
      "the graph update was not performed because it included changes which violated "                                 \
      "constraints specific to instantiated graph update")                                                             \
    X(cudaErrorUnknown, "unknown error")

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
