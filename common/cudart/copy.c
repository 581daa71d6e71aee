// Copies and sets. Where a pointer leads is known by its address; the direction that the program states says which of
// them must not be the host's. A stream makes no difference, since all is done at once.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "copy.h"
#include "submit.h"

static bool on_device(const void *p)
{
    const struct cudart_memory *m = cudart_memory_at(p);
    return m && !cudart_on_host(m, p);
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

// Whether the program can read, and write, its memory at p.
static bool reaches(const void *p, bool writes)
{
    char byte;
    const struct iovec here = { &byte, 1 }, there = { (void *)p, 1 };
    return (process_vm_readv(getpid(), &here, 1, &there, 1, 0) == 1 &&
            (!writes || process_vm_writev(getpid(), &here, 1, &there, 1, 0) == 1)) ||
           errno != EFAULT;  // else nothing is known
}

// At the first and at the last of these bytes.
static bool on_host(const void *p, size_t bytes, bool writes)
{
    const char *first = p, *last = first + bytes - 1;
    return last >= first && reaches(first, writes) && reaches(last, writes);
}

// One end of a copy that is not in device memory: it may be the host's if the direction does not say otherwise.
static bool may_be_hosts(const void *p, size_t bytes, bool of_device, bool writes, char error[DEV_ERROR_MAX])
{
    struct cudaPitchedPtr box;
    size_t element;
    if (!p)
        return error_set(error, "a null pointer");
    if (cudart_array_box(p, &box, &element))
        return error_set(error, "%p is an array, which cudaMemcpy2DToArray and its like copy to", p);
    if (of_device && !cudart_memory_at(p))
        return error_set(error, "%p is not in device memory: it was freed, or never allocated there", p);
    return on_host(p, bytes, writes) || error_set(error, "neither the device nor the host has memory %sat %p",
                                                  writes ? "that can be written " : "", p);
}

static bool copy_now(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, char error[DEV_ERROR_MAX])
{
    const bool in = on_device(to), out = on_device(from);
    if (!in &&
        !may_be_hosts(to, bytes, kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice, true, error))
        return false;
    if (!out &&
        !may_be_hosts(from, bytes, kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice, false, error))
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
    const cudaError_t before = cudart_wait();
    if (before)
        return before;
    cudart_lock();
    const bool done = !bytes || copy_now(to, from, bytes, kind, error);
    cudart_unlock();
    return done ? cudaSuccess : cudart_failed(cudaErrorInvalidValue, function, error);
}

// --- Boxes: rows of bytes, pitch bytes from one to the next, and slices of rows ---

static char *in_box(const struct cudaPitchedPtr *p, const struct cudaPos *from, size_t row, size_t slice)
{
    return (char *)p->ptr + ((from->z + slice) * p->ysize + from->y + row) * p->pitch + from->x;
}

static cudaError_t copy_row(const char *function, const struct cudaMemcpy3DParms *p, size_t bytes, size_t row,
                            size_t slice)
{
    return copy(function, in_box(&p->dstPtr, &p->dstPos, row, slice), in_box(&p->srcPtr, &p->srcPos, row, slice), bytes,
                p->kind);
}

// Memory of the device, for the time that a copy takes: managed memory is that, too.
static bool is_devices(const void *p)
{
    const struct cudart_memory *m = cudart_memory_at(p);
    return m && m->type != cudaMemoryTypeHost;
}

static void moved(const struct cudaMemcpy3DParms *p)
{
    const bool in = is_devices(p->dstPtr.ptr), out = is_devices(p->srcPtr.ptr);
    if (in || out)
        cudart_moved(in && out ? CUDART_IN_DEVICE
                     : in      ? CUDART_TO_DEVICE
                               : CUDART_FROM_DEVICE,
                     p->extent.width * p->extent.height * p->extent.depth);
}

// An array at one end of a copy becomes the memory that it is. Positions in it are elements.
static bool without_array(cudaArray_t *array, struct cudaPos *from, struct cudaPitchedPtr *at,
                          const struct cudaExtent *extent, size_t *element)
{
    size_t bytes = 1;
    if (!*array)
        return true;
    if (!cudart_array_box(*array, at, &bytes) || (from->x + extent->width) * bytes > at->xsize ||
        from->y + extent->height > at->ysize)
        return false;
    from->x *= bytes;
    *element = bytes;
    *array = NULL;
    return true;
}

static cudaError_t copy_box(const char *function, const struct cudaMemcpy3DParms *p);

// Where an array has a part, the box is given in its elements.
static cudaError_t copy_array(const char *function, struct cudaMemcpy3DParms p)
{
    size_t element = 1;
    if (!without_array(&p.srcArray, &p.srcPos, &p.srcPtr, &p.extent, &element) ||
        !without_array(&p.dstArray, &p.dstPos, &p.dstPtr, &p.extent, &element))
        return cudart_failed(cudaErrorInvalidValue, function, "the array was freed, or has no room for that");
    p.extent.width *= element;
    return copy_box(function, &p);
}

static cudaError_t copy_box(const char *function, const struct cudaMemcpy3DParms *p)
{
    if (p->srcArray || p->dstArray)
        return copy_array(function, *p);
    if ((unsigned)p->kind > cudaMemcpyDefault)
        return cudart_failed(cudaErrorInvalidMemcpyDirection, function, "its direction is none of enum cudaMemcpyKind");
    const size_t width = p->extent.width, height = p->extent.height;
    const bool gaps = height > 1 && (p->srcPtr.pitch != width || p->dstPtr.pitch != width);
    if (height > 1 && (p->srcPtr.pitch < width || p->dstPtr.pitch < width))
        return cudart_failed(cudaErrorInvalidPitchValue, function, "a row is longer than the pitch");
    cudaError_t e = cudaSuccess;
    for (size_t slice = 0; !e && slice < p->extent.depth; slice++)
        for (size_t row = 0; !e && row < (gaps ? height : height > 0); row++)
            e = copy_row(function, p, gaps ? width : width * height, row, slice);
    if (!e)
        moved(p);
    return e;
}

// The value again and again.
static void repeat(unsigned char *to, size_t bytes, unsigned value, size_t size)
{
    size_t n = size < bytes ? size : bytes;
    memcpy(to, &value, n);  // little-endian, as the device
    for (; n < bytes; n *= 2)
        memcpy(to + n, to, n < bytes - n ? n : bytes - n);
}

static cudaError_t set_row(const char *function, const struct cudaMemsetParams *p, unsigned char *row, size_t bytes)
{
    repeat(row, bytes, p->value, p->elementSize);
    cudaError_t e = cudaSuccess;
    for (size_t i = 0; !e && i < p->height; i++)
        e = copy(function, (char *)p->dst + i * p->pitch, row, bytes, cudaMemcpyHostToDevice);
    return e;
}

static cudaError_t set_rows(const char *function, const struct cudaMemsetParams *p)
{
    const bool gaps = p->height > 1 && p->pitch != p->width * p->elementSize;
    const size_t bytes = p->width * p->elementSize * (gaps ? 1 : p->height);
    struct cudaMemsetParams q = *p;
    q.height = gaps ? p->height : p->height > 0;
    unsigned char *row = p->elementSize == 1 || p->elementSize == 2 || p->elementSize == 4 ? malloc(bytes + 1) : NULL;
    const cudaError_t e = row ? set_row(function, &q, row, bytes)
                              : cudart_failed(cudaErrorInvalidValue, function, "not that many bytes at once");
    free(row);
    if (!e)
        cudart_moved(CUDART_SET, p->width * p->elementSize * p->height);
    return e;
}

// --- What programs call ---

static cudaError_t run_copy(const struct work *w)
{
    return copy_box(w->function, &w->copy);
}

static cudaError_t run_set(const struct work *w)
{
    return set_rows(w->function, &w->set);
}

const struct work_type work_copy = { .node = cudaGraphNodeTypeMemcpy, .run = run_copy };
const struct work_type work_set = { .node = cudaGraphNodeTypeMemset, .run = run_set };

struct work copy_work_2d(const char *function, void *to, size_t to_pitch, const void *from, size_t from_pitch,
                         size_t width, size_t height, enum cudaMemcpyKind kind)
{
    return (struct work){ .type = &work_copy,
                          .function = function,
                          .copy = { .srcPtr = { (void *)from, from_pitch, width, height },
                                    .dstPtr = { to, to_pitch, width, height },
                                    .extent = { width, height, 1 },
                                    .kind = kind } };
}

struct work copy_work(const char *function, void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    return copy_work_2d(function, to, bytes, from, bytes, bytes, 1, kind);
}

static cudaError_t do_copy(cudaStream_t st, struct work w)
{
    return work_submit(st, &w);
}

// The program waits for it.
static cudaError_t copy_and_wait(struct work w)
{
    cudart_print();
    return do_copy(NULL, w);
}

static cudaError_t copy_1d(const char *function, void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    return copy_and_wait(copy_work(function, to, from, bytes, kind));
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    return copy_1d("cudaMemcpy", to, from, bytes, kind);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t st)
{
    return do_copy(st, copy_work("cudaMemcpyAsync", to, from, bytes, kind));
}

static cudaError_t copy_peer(struct work w, int to_device, int from_device, cudaStream_t st)
{
    return to_device || from_device ? cudart_failed(cudaErrorInvalidDevice, w.function, "there is one device, number 0")
                                    : do_copy(st, w);
}

cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes)
{
    cudart_print();
    return copy_peer(copy_work("cudaMemcpyPeer", to, from, bytes, cudaMemcpyDeviceToDevice), to_device, from_device,
                     NULL);
}

cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes,
                                cudaStream_t st)
{
    return copy_peer(copy_work("cudaMemcpyPeerAsync", to, from, bytes, cudaMemcpyDeviceToDevice), to_device,
                     from_device, st);
}

cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                         enum cudaMemcpyKind kind)
{
    return copy_and_wait(copy_work_2d("cudaMemcpy2D", to, to_pitch, from, from_pitch, width, height, kind));
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, enum cudaMemcpyKind kind, cudaStream_t st)
{
    return do_copy(st, copy_work_2d("cudaMemcpy2DAsync", to, to_pitch, from, from_pitch, width, height, kind));
}

cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *p)
{
    return copy_and_wait((struct work){ .type = &work_copy, .function = "cudaMemcpy3D", .copy = *p });
}

cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t st)
{
    return do_copy(st, (struct work){ .type = &work_copy, .function = "cudaMemcpy3DAsync", .copy = *p });
}

static cudaError_t set_2d(const char *function, void *to, size_t pitch, int value, size_t width, size_t height,
                          cudaStream_t st)
{
    const struct cudaMemsetParams p = { to, pitch, (unsigned)value & 0xff, 1, width, height };
    return do_copy(st, (struct work){ .type = &work_set, .function = function, .set = p });
}

cudaError_t cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height, cudaStream_t st)
{
    return set_2d("cudaMemset2DAsync", to, pitch, value, width, height, st);
}

cudaError_t cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height)
{
    return set_2d("cudaMemset2D", to, pitch, value, width, height, NULL);
}

cudaError_t cudaMemset(void *to, int value, size_t bytes)
{
    return set_2d("cudaMemset", to, bytes, value, bytes, 1, NULL);
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t st)
{
    return set_2d("cudaMemsetAsync", to, bytes, value, bytes, 1, st);
}

cudaError_t cudaMemset3D(struct cudaPitchedPtr to, int value, struct cudaExtent extent)
{
    cudaError_t e = cudaSuccess;
    for (size_t slice = 0; !e && slice < extent.depth; slice++)
        e = set_2d("cudaMemset3D", (char *)to.ptr + slice * to.ysize * to.pitch, to.pitch, value, extent.width,
                   extent.height, NULL);
    return e;
}

cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr to, int value, struct cudaExtent extent, cudaStream_t st)
{
    cudaError_t e = cudaSuccess;
    for (size_t slice = 0; !e && slice < extent.depth; slice++)
        e = cudaMemset2DAsync((char *)to.ptr + slice * to.ysize * to.pitch, to.pitch, value, extent.width,
                              extent.height, st);
    return e;
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
    if (!p)
        return cudart_null(__func__);
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
    return e ? e : copy_1d("cudaMemcpyToSymbol", (char *)to + at, from, bytes, kind);
}

cudaError_t cudaMemcpyFromSymbol(void *to, const void *host, size_t bytes, size_t at, enum cudaMemcpyKind kind)
{
    void *from;
    size_t size;
    const cudaError_t e = find_symbol("cudaMemcpyFromSymbol", &from, &size, host);
    return e ? e : copy_1d("cudaMemcpyFromSymbol", to, (char *)from + at, bytes, kind);
}

cudaError_t cudaMemcpyToSymbolAsync(const void *host, const void *from, size_t bytes, size_t at,
                                    enum cudaMemcpyKind kind, cudaStream_t st)
{
    void *to;
    size_t size;
    const cudaError_t e = find_symbol("cudaMemcpyToSymbolAsync", &to, &size, host);
    return e ? e : do_copy(st, copy_work("cudaMemcpyToSymbolAsync", (char *)to + at, from, bytes, kind));
}

cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *host, size_t bytes, size_t at, enum cudaMemcpyKind kind,
                                      cudaStream_t st)
{
    void *from;
    size_t size;
    const cudaError_t e = find_symbol("cudaMemcpyFromSymbolAsync", &from, &size, host);
    return e ? e : do_copy(st, copy_work("cudaMemcpyFromSymbolAsync", to, (char *)from + at, bytes, kind));
}
