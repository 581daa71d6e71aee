// Textures and surfaces: an object is the address of its description in device memory (texture.h), and texture_text.c
// has kernels read by that.
#include <math.h>
#include <string.h>

#include "array.h"

static cudaError_t make_object(const char *function, const struct texture *t, unsigned long long *out)
{
    void *at = NULL;
    cudaError_t e = cudart_allocate(&at, function, sizeof *t, cudaMemoryTypeDevice);
    if (!e)
        e = cudaMemcpyAsync(at, t, sizeof *t, cudaMemcpyHostToDevice, cudaStreamPerThread);
    *out = (unsigned long long)(uintptr_t)at;
    return e;
}

static cudaError_t refuse(const char *function, const char *why)
{
    return cudart_failed(cudaErrorNotSupported, function, why);
}

static cudaError_t read_resource(const char *function, const struct cudaResourceDesc *r, struct texture *t)
{
    const struct array *a = r->resType == cudaResourceTypeArray ? array_of(r->res.array.array) : NULL;
    *t = (struct texture){ .extent = { 1, 1, 1 }, .layers = 1 };
    if (r->resType == cudaResourceTypeMipmappedArray)
        return refuse(function, "mipmaps are not there yet");
    if (a) {
        *t = a->t;
        return cudaSuccess;
    }
    const bool linear = r->resType == cudaResourceTypeLinear;
    if ((!linear && r->resType != cudaResourceTypePitch2D) ||
        !array_channels(linear ? &r->res.linear.desc : &r->res.pitch2D.desc, t))
        return cudart_failed(cudaErrorInvalidValue, function, "it names no array, or channels that are not alike");
    t->data = linear ? r->res.linear.devPtr : r->res.pitch2D.devPtr;
    t->extent[0] = (int)(linear ? r->res.linear.sizeInBytes / array_element(t) : r->res.pitch2D.width);
    t->extent[1] = (int)(linear ? 1 : r->res.pitch2D.height);
    t->pitch = linear ? 0 : r->res.pitch2D.pitchInBytes;
    return cudart_memory_at(t->data) ? cudaSuccess
                                     : cudart_failed(cudaErrorInvalidValue, function, "its memory is not the device's");
}

// Addresses repeat where coordinates are normalized, and nowhere else; what a fetch of linear memory misses is 0.
static int address_mode(const struct cudaResourceDesc *r, const struct cudaTextureDesc *d, int i)
{
    const enum cudaTextureAddressMode m = d->addressMode[i];
    if (r->resType == cudaResourceTypeLinear)
        return cudaAddressModeBorder;
    return (int)(!d->normalizedCoords && m != cudaAddressModeBorder ? cudaAddressModeClamp : m);
}

// The border has the elements' precision, cut off.
static void set_border(struct texture *t, const float color[4])
{
    const long long most = (1LL << (t->bits - (t->kind == (int)cudaChannelFormatKindSigned))) - 1;
    for (int c = 0; c < 4; c++) {
        const float least = t->kind == (int)cudaChannelFormatKindSigned ? -1 : 0;
        const float in = fminf(fmaxf(color[c], least), 1), cut = truncf(in * (float)most) / (float)most;
        memcpy(&t->border[c], t->to_float ? &cut : &color[c], sizeof t->border[c]);
    }
}

cudaError_t cudaCreateTextureObject(cudaTextureObject_t *out, const struct cudaResourceDesc *r,
                                    const struct cudaTextureDesc *d, const struct cudaResourceViewDesc *view)
{
    struct texture t;
    if (!out || !r || !d)
        return cudart_null(__func__);
    if (view)
        return refuse(__func__, "views are not there yet");
    const cudaError_t e = read_resource(__func__, r, &t);
    if (e)
        return e;
    t.to_float = d->readMode == cudaReadModeNormalizedFloat && t.kind != (int)cudaChannelFormatKindFloat;
    t.linear = d->filterMode == cudaFilterModeLinear && r->resType != cudaResourceTypeLinear;
    t.normalized = d->normalizedCoords && r->resType != cudaResourceTypeLinear;
    if (t.to_float && t.bits == 32)
        return cudart_failed(cudaErrorInvalidNormSetting, __func__, "integers of 32 bits are not read as floats");
    if (t.linear && !t.to_float && t.kind != (int)cudaChannelFormatKindFloat)
        return cudart_failed(cudaErrorInvalidFilterSetting, __func__, "only what is read as floats is filtered");
    for (int i = 0; i < 3; i++)
        t.address[i] = address_mode(r, d, i);
    if (r->resType != cudaResourceTypeLinear)
        set_border(&t, d->borderColor);
    return make_object(__func__, &t, out);
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object)
{
    return object ? cudart_release(__func__, (void *)(uintptr_t)object, false) : cudaSuccess;
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *out, const struct cudaResourceDesc *r)
{
    struct texture t;
    if (!out || !r)
        return cudart_null(__func__);
    const struct array *a = r->resType == cudaResourceTypeArray ? array_of(r->res.array.array) : NULL;
    if (!a || !(a->flags & cudaArraySurfaceLoadStore))
        return cudart_failed(cudaErrorInvalidValue, __func__, "it names no array that has cudaArraySurfaceLoadStore");
    t = a->t;
    return make_object(__func__, &t, out);
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object)
{
    return object ? cudart_release(__func__, (void *)(uintptr_t)object, false) : cudaSuccess;
}
