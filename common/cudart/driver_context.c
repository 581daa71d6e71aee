// The driver's API: cuInit, the device, contexts. All contexts are names of the one simulated GPU: what one has,
// the others see. A thread's current ones are a stack, as in CUDA, and a call that needs one fails without.
#include <cudaProfiler.h>
#include <string.h>

#include "context.h"
#include "driver.h"

// --- Every call ---

static cudaError_t fail(CUresult e, const char *why)
{
    return cudart_failed((cudaError_t)e, cudart_driver_call(), why);
}

CUresult driver_enter(const char *name, enum driver_needs needs)
{
    context_set_call(name);
    if (!context_state.ready)
        return driver_leave(fail(CUDA_ERROR_NOT_INITIALIZED, "cuInit comes first"));
    if (needs == DRIVER_INIT)
        return CUDA_SUCCESS;
    if (!context_current())
        return driver_leave(fail(CUDA_ERROR_INVALID_CONTEXT, "no context is current in this thread: cuCtxCreate makes "
                                                             "one, cuCtxSetCurrent takes one"));
    return context_of(context_current()) ? CUDA_SUCCESS
                                         : driver_leave(fail(CUDA_ERROR_CONTEXT_IS_DESTROYED, "the current context was "
                                                                                              "destroyed"));
}

// Most errors have one number in both. Of those that the runtime alone has, the driver calls an unknown kernel an
// invalid handle, and the others an invalid value.
CUresult driver_leave(cudaError_t e)
{
    context_set_call(NULL);
    if (e == cudaErrorInvalidDeviceFunction)
        return CUDA_ERROR_INVALID_HANDLE;
    return e > cudaErrorCudartUnloading && e < cudaErrorNoDevice ? CUDA_ERROR_INVALID_VALUE : (CUresult)e;
}

CUresult cuInit(unsigned flags)
{
    context_set_call("cuInit");
    if (!flags)
        context_state.ready = true;
    return driver_leave(flags ? fail(CUDA_ERROR_INVALID_VALUE, "its flags are 0") : cudaSuccess);
}

// --- The device ---

static cudaError_t device(int d)
{
    return d ? fail(CUDA_ERROR_INVALID_DEVICE, "there is one device, number 0") : cudaSuccess;
}

static cudaError_t name_of(char *to, int size)
{
    struct cudaDeviceProp p;
    const cudaError_t e = cudaGetDeviceProperties(&p, 0);
    snprintf(to, size > 0 ? (size_t)size : 0, "%s", p.name);
    return e;
}

static cudaError_t memory_of(size_t *bytes)
{
    size_t left;
    return cudaMemGetInfo(&left, bytes);
}

static cudaError_t uuid_of(CUuuid *uuid)
{
    memset(uuid, 0, sizeof *uuid);
    return cudaSuccess;
}

static cudaError_t capability_of(int *major, int *minor)
{
    *major = cudart_card()->cc / 10;
    *minor = cudart_card()->cc % 10;
    return cudaSuccess;
}

static cudaError_t properties_of(CUdevprop *p)
{
    struct cudaDeviceProp q;
    const cudaError_t e = cudaGetDeviceProperties(&q, 0);
    *p = (CUdevprop){ .maxThreadsPerBlock = q.maxThreadsPerBlock,
                      .sharedMemPerBlock = (int)q.sharedMemPerBlock,
                      .totalConstantMemory = (int)q.totalConstMem,
                      .SIMDWidth = q.warpSize,
                      .memPitch = (int)q.memPitch,
                      .regsPerBlock = q.regsPerBlock,
                      .clockRate = (int)(cudart_card()->ghz * 1e6),
                      .textureAlign = (int)q.textureAlignment };
    memcpy(p->maxThreadsDim, q.maxThreadsDim, sizeof p->maxThreadsDim);
    memcpy(p->maxGridSize, q.maxGridSize, sizeof p->maxGridSize);
    return e;
}

CUresult cuDriverGetVersion(int *version)
{
    *version = CUDA_VERSION;
    return CUDA_SUCCESS;
}

// Of the device d.
#define OF_DEVICE(name, parameters, what)                                                                              \
    FACE_CALLED(#name, DRIVER_INIT, name, parameters, device(d) ? cudaErrorInvalidDevice : what)

// The runtime has the same attributes by the same numbers, but for this one.
static cudaError_t attribute_of(int *v, CUdevice_attribute a, CUdevice d)
{
    const bool ranges = a == CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED;
    *v = 1;
    return ranges ? cudaSuccess : cudaDeviceGetAttribute(v, (enum cudaDeviceAttr)a, d);
}

EARLY_FACE(cuDeviceGetCount, (int *n), cudaGetDeviceCount(n))
OF_DEVICE(cuDeviceGet, (CUdevice * out, int d), cudaGetDevice(out))
OF_DEVICE(cuDeviceGetName, (char *name, int size, CUdevice d), name_of(name, size))
OF_DEVICE(cuDeviceGetUuid, (CUuuid * uuid, CUdevice d), uuid_of(uuid))
OF_DEVICE(cuDeviceTotalMem, (size_t * bytes, CUdevice d), memory_of(bytes))
OF_DEVICE(cuDeviceGetAttribute, (int *v, CUdevice_attribute a, CUdevice d), attribute_of(v, a, d))
OF_DEVICE(cuDeviceComputeCapability, (int *major, int *minor, CUdevice d), capability_of(major, minor))
OF_DEVICE(cuDeviceGetProperties, (CUdevprop * p, CUdevice d), properties_of(p))
OF_DEVICE(cuDeviceGetPCIBusId, (char *id, int size, CUdevice d), cudaDeviceGetPCIBusId(id, size, d))
OF_DEVICE(cuDeviceGetDefaultMemPool, (CUmemoryPool * pool, CUdevice d), cudaDeviceGetDefaultMemPool(pool, d))
OF_DEVICE(cuDeviceGetMemPool, (CUmemoryPool * pool, CUdevice d), cudaDeviceGetMemPool(pool, d))
OF_DEVICE(cuDeviceSetMemPool, (CUdevice d, CUmemoryPool pool), cudaDeviceSetMemPool(d, pool))
EARLY_FACE(cuDeviceGetByPCIBusId, (CUdevice * d, const char *id), cudaDeviceGetByPCIBusId(d, id))
EARLY_FACE(cuDeviceCanAccessPeer, (int *can, CUdevice a, CUdevice b), cudaDeviceCanAccessPeer(can, a, b))

// --- Contexts ---

static cudaError_t no_context(void)
{
    return fail(CUDA_ERROR_INVALID_CONTEXT, "it is no context, or was destroyed");
}

static cudaError_t create(CUcontext *out, unsigned flags)
{
    cudart_lock();
    const struct context *c = context_new(flags);
    *out = c ? c->handle : NULL;
    cudart_unlock();
    return c && context_push(c->handle) ? cudaSuccess : fail(CUDA_ERROR_OUT_OF_MEMORY, "out of memory");
}

static cudaError_t destroy(CUcontext handle)
{
    cudart_print();
    cudart_lock();
    struct context *c = context_of(handle);
    if (c && c != context_primary()) {
        context_free(c);
    }
    cudart_unlock();
    if (c && context_current() == handle)
        context_pop();
    return c ? cudaSuccess : no_context();
}

static cudaError_t push_current(CUcontext c)
{
    if (!context_of(c))
        return no_context();
    return context_push(c) ? cudaSuccess : fail(CUDA_ERROR_OUT_OF_MEMORY, "too many contexts are pushed");
}

static cudaError_t pop_current(CUcontext *out)
{
    if (!context_current())
        return fail(CUDA_ERROR_INVALID_CONTEXT, "no context is current in this thread");
    if (out)
        *out = context_current();
    context_pop();
    return cudaSuccess;
}

// In place of the current one; none takes that away.
static cudaError_t set_current(CUcontext c)
{
    if (c && !context_of(c))
        return no_context();
    context_pop();
    return !c || context_push(c) ? cudaSuccess : fail(CUDA_ERROR_OUT_OF_MEMORY, "too many contexts are pushed");
}

static cudaError_t get_current(CUcontext *out)
{
    *out = context_current();
    return cudaSuccess;
}

static cudaError_t ask(CUcontext handle, unsigned *flags, unsigned long long *id, unsigned *version)
{
    const struct context *c = context_of(handle ? handle : context_current());
    if (!c)
        return no_context();
    if (flags)
        *flags = c->flags;
    if (id)
        *id = (uintptr_t)c->handle;
    if (version)
        *version = CUDA_VERSION;
    return cudaSuccess;
}

static cudaError_t retain(CUcontext *out)
{
    cudart_lock();
    context_state.active = true;
    *out = context_primary() ? context_primary()->handle : NULL;
    cudart_unlock();
    return *out ? cudaSuccess : fail(CUDA_ERROR_OUT_OF_MEMORY, "out of memory");
}

static cudaError_t release(bool keeps)
{
    context_state.active &= keeps;
    return cudaSuccess;
}

static cudaError_t state(unsigned *flags, int *active)
{
    *flags = context_primary() ? context_primary()->flags : 0;
    *active = context_state.active;
    return cudaSuccess;
}

OF_DEVICE(cuCtxCreate, (CUcontext * c, CUctxCreateParams *p, unsigned flags, CUdevice d), create(c, flags))
CUresult cuCtxCreate_v2(CUcontext *c, unsigned flags, CUdevice d);
OF_DEVICE(cuCtxCreate_v2, (CUcontext * c, unsigned flags, CUdevice d), create(c, flags))  // before CUDA 13
OF_DEVICE(cuDevicePrimaryCtxRetain, (CUcontext * c, CUdevice d), retain(c))
OF_DEVICE(cuDevicePrimaryCtxRelease, (CUdevice d), release(false))
OF_DEVICE(cuDevicePrimaryCtxReset, (CUdevice d), release(false))
OF_DEVICE(cuDevicePrimaryCtxSetFlags, (CUdevice d, unsigned flags), release(true))
OF_DEVICE(cuDevicePrimaryCtxGetState, (CUdevice d, unsigned *flags, int *active), state(flags, active))
EARLY_FACE(cuCtxDestroy, (CUcontext c), destroy(c))
EARLY_FACE(cuCtxPushCurrent, (CUcontext c), push_current(c))
EARLY_FACE(cuCtxPopCurrent, (CUcontext * c), pop_current(c))
EARLY_FACE(cuCtxSetCurrent, (CUcontext c), set_current(c))
EARLY_FACE(cuCtxGetCurrent, (CUcontext * c), get_current(c))
FACE(cuCtxGetDevice, (CUdevice * d), cudaGetDevice(d))
FACE(cuCtxGetFlags, (unsigned *flags), ask(NULL, flags, NULL, NULL))
FACE(cuCtxGetId, (CUcontext c, unsigned long long *id), ask(c, NULL, id, NULL))
FACE(cuCtxGetApiVersion, (CUcontext c, unsigned *version), ask(c, NULL, NULL, version))
FACE(cuCtxSynchronize, (void), cudaDeviceSynchronize())
FACE(cuCtxGetLimit, (size_t * n, CUlimit l), cudaDeviceGetLimit(n, (enum cudaLimit)l))
FACE(cuCtxSetLimit, (CUlimit l, size_t n), cudaDeviceSetLimit((enum cudaLimit)l, n))
FACE(cuCtxGetCacheConfig, (CUfunc_cache * c), cudaDeviceGetCacheConfig((enum cudaFuncCache *)c))
FACE(cuCtxSetCacheConfig, (CUfunc_cache c), cudaDeviceSetCacheConfig((enum cudaFuncCache)c))
FACE(cuCtxGetStreamPriorityRange, (int *least, int *greatest), cudaDeviceGetStreamPriorityRange(least, greatest))
FACE(cuCtxResetPersistingL2Cache, (void), cudaCtxResetPersistingL2Cache())
FACE(cuCtxEnablePeerAccess, (CUcontext c, unsigned flags), cudaDeviceEnablePeerAccess(0, flags))
FACE(cuCtxDisablePeerAccess, (CUcontext c), cudaDeviceDisablePeerAccess(0))
FACE(cuProfilerStart, (void), cudaSuccess)
FACE(cuProfilerStop, (void), cudaSuccess)
