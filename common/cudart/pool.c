// Pools of memory: what is allocated from one is device memory as any other. A pool counts, and keeps what it is told.
#include <stdlib.h>
#include <string.h>

#include "cudart.h"
#include "handle.h"

enum { ATTRIBUTES = 16 };

struct pool {
    cudaMemPool_t handle;
    uint64_t attributes[ATTRIBUTES];  // by enum cudaMemPoolAttr
};

static cudaError_t no_pool(const char *function)
{
    return cudart_failed(cudaErrorInvalidValue, function, "no such pool, or attribute of one");
}

static struct pool *new_pool(void)
{
    struct pool *p = calloc(1, sizeof *p);
    if (p && !(p->handle = handle_new(HANDLE_POOL, p))) {
        free(p);
        p = NULL;
    }
    return p;
}

static cudaError_t give_default(const char *function, cudaMemPool_t *out)
{
    static struct pool *always;
    cudart_lock();
    if (!always)
        always = new_pool();
    *out = always ? always->handle : NULL;
    cudart_unlock();
    return *out ? cudaSuccess : cudart_failed(cudaErrorMemoryAllocation, function, "out of memory");
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *out, int d)
{
    return give_default("cudaDeviceGetDefaultMemPool", out);
}

static cudaMemPool_t current;  // of cudaMallocAsync

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *out, int d)
{
    *out = current;
    return current ? cudaSuccess : give_default("cudaDeviceGetMemPool", out);
}

cudaError_t cudaDeviceSetMemPool(int d, cudaMemPool_t pool)
{
    if (!handle_object(pool, HANDLE_POOL))
        return no_pool("cudaDeviceSetMemPool");
    current = pool;
    return cudaSuccess;
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t *out, const struct cudaMemPoolProps *props)
{
    cudart_lock();
    const struct pool *p = new_pool();
    cudart_unlock();
    *out = p ? p->handle : NULL;
    return p ? cudaSuccess : cudart_failed(cudaErrorMemoryAllocation, "cudaMemPoolCreate", "out of memory");
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t handle)
{
    cudart_lock();
    struct pool *p = handle_object(handle, HANDLE_POOL);
    handle_drop(handle);
    free(p);
    if (current == handle)
        current = NULL;
    cudart_unlock();
    return p ? cudaSuccess : no_pool("cudaMemPoolDestroy");
}

// Reuse is said in an int, sizes in 64 bits.
static size_t bytes_of(enum cudaMemPoolAttr a)
{
    return a < cudaMemPoolAttrReleaseThreshold ? sizeof(int) : sizeof(uint64_t);
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t handle, enum cudaMemPoolAttr a, void *value)
{
    struct pool *p = handle_object(handle, HANDLE_POOL);
    if (!p || (unsigned)a >= ATTRIBUTES)
        return no_pool("cudaMemPoolSetAttribute");
    memcpy(&p->attributes[a], value, bytes_of(a));
    return cudaSuccess;
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t handle, enum cudaMemPoolAttr a, void *value)
{
    const struct pool *p = handle_object(handle, HANDLE_POOL);
    if (!p || (unsigned)a >= ATTRIBUTES)
        return no_pool("cudaMemPoolGetAttribute");
    memcpy(value, &p->attributes[a], bytes_of(a));
    return cudaSuccess;
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t handle, size_t bytes)
{
    return handle_object(handle, HANDLE_POOL) ? cudaSuccess : no_pool("cudaMemPoolTrimTo");
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t handle, const struct cudaMemAccessDesc *who, size_t n)
{
    return handle_object(handle, HANDLE_POOL) ? cudaSuccess : no_pool("cudaMemPoolSetAccess");
}

cudaError_t cudaMemPoolGetAccess(enum cudaMemAccessFlags *flags, cudaMemPool_t handle, struct cudaMemLocation *where)
{
    *flags = cudaMemAccessFlagsProtReadWrite;
    return handle_object(handle, HANDLE_POOL) ? cudaSuccess : no_pool("cudaMemPoolGetAccess");
}

cudaError_t cudaMallocFromPoolAsync(void **p, size_t bytes, cudaMemPool_t pool, cudaStream_t s)
{
    *p = NULL;
    return handle_object(pool, HANDLE_POOL) ? cudaMallocAsync(p, bytes, s) : no_pool("cudaMallocFromPoolAsync");
}
