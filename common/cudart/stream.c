// Streams and events. All is done in the order in which the program asks for it, and has ended when the call returns:
// a stream is a name, and an event a moment of the host's clock.
#include <stdlib.h>

#include "cudart.h"

// Calls that have nothing to do here.
#define NOTHING_TO_DO(name, ...)                                                                                       \
    cudaError_t name(__VA_ARGS__)                                                                                      \
    {                                                                                                                  \
        return cudaSuccess;                                                                                            \
    }

NOTHING_TO_DO(cudaDeviceReset, void)
NOTHING_TO_DO(cudaThreadExit, void)
NOTHING_TO_DO(cudaProfilerStart, void)
NOTHING_TO_DO(cudaProfilerStop, void)
NOTHING_TO_DO(cudaCtxResetPersistingL2Cache, void)
NOTHING_TO_DO(cudaSetDeviceFlags, unsigned f)
NOTHING_TO_DO(cudaInitDevice, int d, unsigned f, unsigned g)
NOTHING_TO_DO(cudaDeviceSetLimit, enum cudaLimit l, size_t n)
NOTHING_TO_DO(cudaDeviceSetCacheConfig, enum cudaFuncCache c)
NOTHING_TO_DO(cudaDeviceSetSharedMemConfig, enum cudaSharedMemConfig c)
NOTHING_TO_DO(cudaFuncSetCacheConfig, const void *f, enum cudaFuncCache c)
NOTHING_TO_DO(cudaFuncSetSharedMemConfig, const void *f, enum cudaSharedMemConfig c)
NOTHING_TO_DO(cudaMemAdvise, const void *p, size_t n, enum cudaMemoryAdvise a, struct cudaMemLocation l)
NOTHING_TO_DO(cudaMemPrefetchAsync, const void *p, size_t n, struct cudaMemLocation l, unsigned f, cudaStream_t s)
NOTHING_TO_DO(cudaStreamAttachMemAsync, cudaStream_t s, void *p, size_t n, unsigned f)
NOTHING_TO_DO(cudaStreamDestroy, cudaStream_t s)
NOTHING_TO_DO(cudaStreamWaitEvent, cudaStream_t s, cudaEvent_t e, unsigned f)

// --- Waiting ---

cudaError_t cudaDeviceSynchronize(void)
{
    return cudart_wait();
}

cudaError_t cudaStreamSynchronize(cudaStream_t s)
{
    return cudart_wait();
}

cudaError_t cudaStreamQuery(cudaStream_t s)
{
    return cudart_wait();
}

cudaError_t cudaEventSynchronize(cudaEvent_t e)
{
    return cudart_wait();
}

cudaError_t cudaEventQuery(cudaEvent_t e)
{
    return cudart_wait();
}

cudaError_t cudaStreamAddCallback(cudaStream_t s, cudaStreamCallback_t f, void *user, unsigned flags)
{
    f(s, cudart_wait(), user);
    return cudaSuccess;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t s, cudaHostFn_t f, void *user)
{
    f(user);
    return cudaSuccess;
}

// --- Streams ---

cudaError_t cudaStreamCreate(cudaStream_t *s)
{
    static char streams[4096];
    static unsigned n;
    cudart_lock();
    *s = (cudaStream_t)&streams[n++ % sizeof streams];
    cudart_unlock();
    return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned f)
{
    return cudaStreamCreate(s);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *s, unsigned f, int p)
{
    return cudaStreamCreate(s);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t s, enum cudaStreamCaptureStatus *now)
{
    *now = cudaStreamCaptureStatusNone;
    return cudaSuccess;
}

cudaError_t cudaStreamGetDevice(cudaStream_t s, int *d)
{
    return cudaGetDevice(d);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    *least = *greatest = 0;
    return cudaSuccess;
}

// --- Events: moments of cudart_time ---

struct event {
    double ms;
};

cudaError_t cudaEventCreate(cudaEvent_t *e)
{
    *e = calloc(1, sizeof(struct event));
    return *e ? cudaSuccess : cudart_failed(cudaErrorMemoryAllocation, "cudaEventCreate", "out of memory");
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned f)
{
    return cudaEventCreate(e);
}

cudaError_t cudaEventDestroy(cudaEvent_t e)
{
    free(e);
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s)
{
    if (!e)
        return cudart_failed(cudaErrorInvalidResourceHandle, "cudaEventRecord", "it is no event");
    ((struct event *)e)->ms = cudart_time();
    return cudaSuccess;
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t e, cudaStream_t s, unsigned f)
{
    return cudaEventRecord(e, s);
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to)
{
    if (!from || !to)
        return cudart_failed(cudaErrorInvalidResourceHandle, "cudaEventElapsedTime", "it is no event");
    *ms = (float)(((struct event *)to)->ms - ((struct event *)from)->ms);
    return cudaSuccess;
}

struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, enum cudaChannelFormatKind f)
{
    return (struct cudaChannelFormatDesc){ x, y, z, w, f };
}
