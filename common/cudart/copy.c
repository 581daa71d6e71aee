// Copies and sets. Where a pointer leads is known by its address, so the direction that the program states is not asked
// for; a stream makes no difference, since all is done at once.
#include <stdlib.h>
#include <string.h>

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

static cudaError_t copy(const char *function, void *to, const void *from, size_t bytes)
{
    char error[DEV_ERROR_MAX];
    bool done = true;
    cudart_lock();
    const bool in = on_device(to), out = on_device(from);
    if (!bytes)
        done = true;
    else if (!to || !from)
        done = error_set(error, "a null pointer");
    else if (in && out)
        done = copy_on_device(to, from, bytes, error);
    else if (in)
        done = simt_write(cudart_gpu(), (uint64_t)to, from, bytes, error);
    else if (out)
        done = simt_read(cudart_gpu(), to, (uint64_t)from, bytes, error);
    else
        memmove(to, from, bytes);
    cudart_unlock();
    return done ? cudaSuccess : cudart_failed(cudaErrorInvalidValue, function, error);
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    return copy("cudaMemcpy", to, from, bytes);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t st)
{
    return copy("cudaMemcpyAsync", to, from, bytes);
}

cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                         enum cudaMemcpyKind kind)
{
    cudaError_t e = cudaSuccess;
    for (size_t i = 0; !e && i < height; i++)
        e = copy("cudaMemcpy2D", (char *)to + i * to_pitch, (const char *)from + i * from_pitch, width);
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
    const cudaError_t e = copy("cudaMemset", to, filled, bytes);
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
    return e ? e : copy("cudaMemcpyToSymbol", (char *)to + at, from, bytes);
}

cudaError_t cudaMemcpyFromSymbol(void *to, const void *host, size_t bytes, size_t at, enum cudaMemcpyKind kind)
{
    void *from;
    size_t size;
    const cudaError_t e = find_symbol("cudaMemcpyFromSymbol", &from, &size, host);
    return e ? e : copy("cudaMemcpyFromSymbol", to, (char *)from + at, bytes);
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
