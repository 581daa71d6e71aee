// Arrays: memory of elements with channels, which textures and surfaces read (texture_object.c). One lies in device
// memory row by row, so that copies are copies of boxes.
#include "array.h"

#include <stdlib.h>

#include "handle.h"

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
