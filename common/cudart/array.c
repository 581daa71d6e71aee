// Arrays: memory of elements with channels, which textures and surfaces read (texture.c). One lies in device memory row
// by row, so that copies are copies of boxes.
#include "array.h"

#include <stdlib.h>

#include "copy.h"
#include "handle.h"
#include "submit.h"

enum { ROW = 32 };  // bytes that rows are whole multiples of

struct array *array_of(cudaArray_const_t a)
{
    return a ? handle_object(a, HANDLE_ARRAY) : NULL;
}

bool array_channels(const struct cudaChannelFormatDesc *c, struct texture *t)
{
    const int bits[] = { c->x, c->y, c->z, c->w };
    int n = 0;
    while (n < 4 && bits[n])
        n++;
    for (int i = 0; i < 4; i++)
        if (bits[i] != (i < n ? bits[0] : 0))
            return false;
    t->channels = n, t->bits = bits[0], t->kind = (int)c->f;
    return (n == 1 || n == 2 || n == 4) && (bits[0] == 8 || bits[0] == 16 || bits[0] == 32) &&
           c->f <= cudaChannelFormatKindFloat && (c->f != cudaChannelFormatKindFloat || bits[0] > 8);
}

size_t array_element(const struct texture *t)
{
    return (size_t)t->channels * (size_t)t->bits / 8;
}

// --- Arrays ---

static cudaError_t make_array(const char *function, cudaArray_t *out, const struct cudaChannelFormatDesc *channels,
                              struct cudaExtent e, unsigned flags)
{
    if (!out || !channels)
        return cudart_null(function);
    *out = NULL;
    struct array *a = calloc(1, sizeof *a);
    if (!a || !array_channels(channels, &a->t) || !e.width ||
        flags & ~(unsigned)(cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayTextureGather)) {
        free(a);
        return cudart_failed(cudaErrorInvalidValue, function,
                             "channels have 8, 16 or 32 bits, and are 1, 2 or 4; cubes are not there yet");
    }
    const bool layered = flags & cudaArrayLayered;
    const size_t rows = e.height ? e.height : 1, slices = e.depth ? e.depth : 1;
    a->channels = *channels, a->extent = e, a->flags = flags;
    a->t.extent[0] = (int)e.width, a->t.extent[1] = (int)rows, a->t.extent[2] = layered ? 1 : (int)slices;
    a->t.layers = layered ? (int)slices : 1;
    a->t.pitch = (e.width * array_element(&a->t) + ROW - 1) / ROW * ROW;
    a->t.slice = a->t.pitch * rows;
    cudaError_t error = cudart_allocate((void **)&a->t.data, function, a->t.slice * slices, cudaMemoryTypeDevice);
    if (!error && !(*out = handle_new(HANDLE_ARRAY, a)))
        error = cudaErrorMemoryAllocation;
    if (error)
        free(a);
    return error;
}

cudaError_t cudaMallocArray(cudaArray_t *out, const struct cudaChannelFormatDesc *channels, size_t width, size_t height,
                            unsigned flags)
{
    return make_array("cudaMallocArray", out, channels, (struct cudaExtent){ width, height, 0 }, flags);
}

cudaError_t cudaMalloc3DArray(cudaArray_t *out, const struct cudaChannelFormatDesc *channels, struct cudaExtent extent,
                              unsigned flags)
{
    return make_array("cudaMalloc3DArray", out, channels, extent, flags);
}

cudaError_t cudaFreeArray(cudaArray_t handle)
{
    struct array *a = array_of(handle);
    if (!a)
        return handle ? cudart_failed(cudaErrorInvalidResourceHandle, __func__, "it is no array, or was freed")
                      : cudaSuccess;
    const cudaError_t e = cudart_release(__func__, (void *)a->t.data, false);
    handle_drop(handle);
    free(a);
    return e;
}

cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *channels, struct cudaExtent *extent, unsigned *flags,
                             cudaArray_t handle)
{
    const struct array *a = array_of(handle);
    if (!a)
        return cudart_failed(cudaErrorInvalidResourceHandle, __func__, "it is no array, or was freed");
    if (channels)
        *channels = a->channels;
    if (extent)
        *extent = a->extent;
    if (flags)
        *flags = a->flags;
    return cudaSuccess;
}

cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc *channels, cudaArray_const_t array)
{
    return cudaArrayGetInfo(channels, NULL, NULL, (cudaArray_t)array);
}

bool cudart_array_box(cudaArray_const_t array, struct cudaPitchedPtr *at, size_t *bytes)
{
    const struct array *a = array_of(array);
    if (!a)
        return false;
    *bytes = array_element(&a->t);
    *at = (struct cudaPitchedPtr){ (void *)a->t.data, a->t.pitch, a->t.extent[0] * *bytes, (size_t)a->t.extent[1] };
    return true;
}

// --- Copies ---

// The box of an array from an element on, all of it within the array. w and width are bytes.
static cudaError_t box_of(const char *function, cudaArray_const_t handle, size_t w, size_t h, size_t width,
                          size_t height, struct cudaPitchedPtr *box)
{
    size_t bytes;
    if (!cudart_array_box(handle, box, &bytes))
        return cudart_failed(cudaErrorInvalidResourceHandle, function, "it is no array, or was freed");
    if (w + width > box->xsize || h + height > box->ysize)
        return cudart_failed(cudaErrorInvalidValue, function, "the array has no room for that");
    box->ptr = (char *)box->ptr + h * box->pitch + w;
    return cudaSuccess;
}

static cudaError_t to_array(const char *function, cudaArray_t to, size_t w, size_t h, const void *from, size_t pitch,
                            size_t width, size_t height, enum cudaMemcpyKind kind, cudaStream_t s)
{
    struct cudaPitchedPtr box;
    const cudaError_t e = box_of(function, to, w, h, width, height, &box);
    const struct work copy = copy_work_2d(function, box.ptr, box.pitch, from, pitch, width, height, kind);
    return e ? e : work_submit(s, &copy);
}

static cudaError_t from_array(const char *function, void *to, size_t pitch, cudaArray_const_t from, size_t w, size_t h,
                              size_t width, size_t height, enum cudaMemcpyKind kind, cudaStream_t s)
{
    struct cudaPitchedPtr box;
    const cudaError_t e = box_of(function, from, w, h, width, height, &box);
    const struct work copy = copy_work_2d(function, to, pitch, box.ptr, box.pitch, width, height, kind);
    return e ? e : work_submit(s, &copy);
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t w, size_t h, const void *from, size_t pitch, size_t width,
                                size_t height, enum cudaMemcpyKind kind)
{
    return to_array(__func__, to, w, h, from, pitch, width, height, kind, NULL);
}

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t w, size_t h, const void *from, size_t pitch, size_t width,
                                     size_t height, enum cudaMemcpyKind kind, cudaStream_t s)
{
    return to_array(__func__, to, w, h, from, pitch, width, height, kind, s);
}

cudaError_t cudaMemcpy2DFromArray(void *to, size_t pitch, cudaArray_const_t from, size_t w, size_t h, size_t width,
                                  size_t height, enum cudaMemcpyKind kind)
{
    return from_array(__func__, to, pitch, from, w, h, width, height, kind, NULL);
}

cudaError_t cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, cudaArray_const_t from, size_t w, size_t h, size_t width,
                                       size_t height, enum cudaMemcpyKind kind, cudaStream_t s)
{
    return from_array(__func__, to, pitch, from, w, h, width, height, kind, s);
}

cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t to_w, size_t to_h, cudaArray_const_t from, size_t w,
                                     size_t h, size_t width, size_t height, enum cudaMemcpyKind kind)
{
    struct cudaPitchedPtr box;
    const cudaError_t e = box_of(__func__, from, w, h, width, height, &box);
    return e ? e : to_array(__func__, to, to_w, to_h, box.ptr, box.pitch, width, height, kind, NULL);
}

// So many bytes, from one row on into the next: whole rows, or a part of one.
static void rows_of(cudaArray_const_t array, size_t bytes, size_t *width, size_t *height)
{
    struct cudaPitchedPtr box = { .xsize = bytes };
    size_t element;
    cudart_array_box(array, &box, &element);
    *width = bytes < box.xsize ? bytes : box.xsize;
    *height = *width ? bytes / *width : 0;
}

cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t w, size_t h, const void *from, size_t bytes,
                              enum cudaMemcpyKind kind)
{
    size_t width, height;
    rows_of(to, bytes, &width, &height);
    return to_array(__func__, to, w, h, from, width, width, height, kind, NULL);
}

cudaError_t cudaMemcpyFromArray(void *to, cudaArray_const_t from, size_t w, size_t h, size_t bytes,
                                enum cudaMemcpyKind kind)
{
    size_t width, height;
    rows_of(from, bytes, &width, &height);
    return from_array(__func__, to, width, from, w, h, width, height, kind, NULL);
}
