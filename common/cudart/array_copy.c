// Copies of parts of arrays, which are boxes of rows.
#include "copy.h"
#include "submit.h"

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
    cudart_print();
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
    cudart_print();
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
    cudart_print();
    return e ? e : to_array(__func__, to, to_w, to_h, box.ptr, box.pitch, width, height, kind, NULL);
}

// Copies this many bytes and goes on from one row to the next: whole rows, or a part of one.
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
    cudart_print();
    return to_array(__func__, to, w, h, from, width, width, height, kind, NULL);
}

cudaError_t cudaMemcpyFromArray(void *to, cudaArray_const_t from, size_t w, size_t h, size_t bytes,
                                enum cudaMemcpyKind kind)
{
    size_t width, height;
    rows_of(from, bytes, &width, &height);
    cudart_print();
    return from_array(__func__, to, width, from, w, h, width, height, kind, NULL);
}
