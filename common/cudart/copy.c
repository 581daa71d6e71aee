// Copies and sets. Where a pointer leads is known by its address; the direction that the program states says which of
// them must not be the host's. A stream makes no difference, since all is done at once.
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cudart.h"

static bool on_device(const void *p)
{
    const struct cudart_memory *m = cudart_memory_at(p);
    return m && !m->mapped;
}

static bool copy_on_device(void *to, const void *from, size_t bytes, char error[DEV_ERROR_MAX])
{
    void *between = malloc(bytes);
    const bool done = between ? simt_read(cudart_gpu(), between, (uint64_t)from, bytes, error) &&
                                    simt_write(cudart_gpu(), (uint64_t)to, between, bytes, error)
                              : error_set(error, "out of memory");
    free(between);
    return done;
}

// Whether the host has memory at the first and at the last of these bytes.
static bool on_host(const void *p, size_t bytes)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = (uintptr_t)p, last = first + bytes - 1;
    return last >= first && !msync((void *)(first & ~(page - 1)), 1, MS_ASYNC) &&
           !msync((void *)(last & ~(page - 1)), 1, MS_ASYNC);
}

// One end of a copy that is not in device memory: it may be the host's if the direction does not say otherwise.
static bool may_be_hosts(const void *p, size_t bytes, bool of_device, char error[DEV_ERROR_MAX])
{
    if (!p)
        return error_set(error, "a null pointer");
    if (of_device && !cudart_memory_at(p))
        return error_set(error, "%p is not in device memory: it was freed, or never allocated there", p);
    return on_host(p, bytes) || error_set(error, "neither the device nor the host has memory at %p", p);
}

static bool copy_now(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, char error[DEV_ERROR_MAX])
{
    const bool in = on_device(to), out = on_device(from);
    if (!in && !may_be_hosts(to, bytes, kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice, error))
        return false;
    if (!out && !may_be_hosts(from, bytes, kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice, error))
        return false;
    if (in && out)
        return copy_on_device(to, from, bytes, error);
    if (in)
        return simt_write(cudart_gpu(), (uint64_t)to, from, bytes, error);
    if (out)
        return simt_read(cudart_gpu(), to, (uint64_t)from, bytes, error);
    memmove(to, from, bytes);
    return true;
}

static cudaError_t copy(const char *function, void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    char error[DEV_ERROR_MAX];
    cudart_lock();
    const bool done = !bytes || copy_now(to, from, bytes, kind, error);
    cudart_unlock();
    return done ? cudaSuccess : cudart_failed(cudaErrorInvalidValue, function, error);
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    return copy("cudaMemcpy", to, from, bytes, kind);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t st)
{
    return copy("cudaMemcpyAsync", to, from, bytes, kind);
}

cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                         enum cudaMemcpyKind kind)
{
    cudaError_t e = cudaSuccess;
    for (size_t i = 0; !e && i < height; i++)
        e = copy("cudaMemcpy2D", (char *)to + i * to_pitch, (const char *)from + i * from_pitch, width, kind);
    return e;
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, enum cudaMemcpyKind kind, cudaStream_t st)
{
    return cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind);
}

cudaError_t cudaMemset(void *to, int value, size_t bytes)
{
    void *filled = malloc(bytes + !bytes);
    if (!filled)
        return cudart_failed(cudaErrorMemoryAllocation, "cudaMemset", "out of memory");
    memset(filled, value, bytes);
    const cudaError_t e = copy("cudaMemset", to, filled, bytes, cudaMemcpyHostToDevice);
    free(filled);
    return e;
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t st)
{
    return cudaMemset(to, value, bytes);
}

cudaError_t cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height)
{
    cudaError_t e = cudaSuccess;
    for (size_t i = 0; !e && i < height; i++)
        e = cudaMemset((char *)to + i * pitch, value, width);
    return e;
}

cudaError_t cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height, cudaStream_t st)
{
    return cudaMemset2D(to, pitch, value, width, height);
}

// --- Symbols: variables of the kernels' PTX ---

// A variable becomes memory that copies know when it is first asked for.
static cudaError_t find_symbol(const char *function, void **p, size_t *bytes, const void *host)
{
    uint64_t address = 0, size = 0;
    cudart_lock();
    const bool found = cudart_variable(host, &address, &size) && cudart_memory_note(address, size);
    cudart_unlock();
    *p = (void *)address;
    *bytes = size;
    return found ? cudaSuccess : cudart_failed(cudaErrorInvalidSymbol, function, "the program has no such variable");
}

cudaError_t cudaGetSymbolAddress(void **p, const void *host)
{
    size_t bytes;
    return find_symbol("cudaGetSymbolAddress", p, &bytes, host);
}

cudaError_t cudaGetSymbolSize(size_t *bytes, const void *host)
{
    void *p;
    return find_symbol("cudaGetSymbolSize", &p, bytes, host);
}

cudaError_t cudaMemcpyToSymbol(const void *host, const void *from, size_t bytes, size_t at, enum cudaMemcpyKind kind)
{
    void *to;
    size_t size;
    const cudaError_t e = find_symbol("cudaMemcpyToSymbol", &to, &size, host);
    return e ? e : copy("cudaMemcpyToSymbol", (char *)to + at, from, bytes, kind);
}

cudaError_t cudaMemcpyFromSymbol(void *to, const void *host, size_t bytes, size_t at, enum cudaMemcpyKind kind)
{
    void *from;
    size_t size;
    const cudaError_t e = find_symbol("cudaMemcpyFromSymbol", &from, &size, host);
    return e ? e : copy("cudaMemcpyFromSymbol", to, (char *)from + at, bytes, kind);
}

cudaError_t cudaMemcpyToSymbolAsync(const void *host, const void *from, size_t bytes, size_t at,
                                    enum cudaMemcpyKind kind, cudaStream_t st)
{
    return cudaMemcpyToSymbol(host, from, bytes, at, kind);
}

cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *host, size_t bytes, size_t at, enum cudaMemcpyKind kind,
                                      cudaStream_t st)
{
    return cudaMemcpyFromSymbol(to, host, bytes, at, kind);
}
