// What a texture unit does, in a kernel: PTX's tex, suld and sust become calls of these (texture_text.c). Source:
// CUDA's programming guide, "Texture Fetching".
#include <cuda_fp16.h>

#include "texture.h"

enum { WRAP, CLAMP, MIRROR, BORDER };  // enum cudaTextureAddressMode
enum { SIGNED, UNSIGNED, FLOAT };      // enum cudaChannelFormatKind

struct texel {
    unsigned c[4];
};

// Where an element outside of the texture is; -1: it is of the border.
static __device__ int inside(int i, int n, int mode)
{
    if (i >= 0 && i < n)
        return i;
    if (mode == BORDER)
        return -1;
    if (mode == CLAMP)
        return i < 0 ? 0 : n - 1;
    const int period = mode == MIRROR ? 2 * n : n, at = (i % period + period) % period;
    return at < n ? at : period - 1 - at;
}

static __device__ unsigned channel(const struct texture *t, const unsigned char *at)
{
    if (t->bits == 32)
        return *(const unsigned *)at;
    const unsigned raw = t->bits == 16 ? *(const unsigned short *)at : *at;
    const int value = t->kind != SIGNED ? (int)raw : t->bits == 16 ? (short)raw : (signed char)raw;
    if (t->kind == FLOAT)
        return __float_as_uint(__half2float(__ushort_as_half((unsigned short)raw)));
    if (!t->to_float)
        return (unsigned)value;
    const float most = t->kind == SIGNED ? (1 << (t->bits - 1)) - 1 : (1 << t->bits) - 1;
    return __float_as_uint(fmaxf(__fdiv_rn((float)value, most), -1.f));
}

static __device__ struct texel element(const struct texture *t, const int i[3], int layer)
{
    struct texel v = { { 0, 0, 0, 0 } };
    int at[3];
    bool border = false;
    for (int d = 0; d < 3; d++) {
        at[d] = inside(i[d], t->extent[d], t->address[d]);
        border |= at[d] < 0;
    }
    const unsigned char *p =
        t->data + (at[2] + layer) * t->slice + at[1] * t->pitch + (long long)at[0] * t->channels * t->bits / 8;
#pragma unroll
    for (int c = 0; c < 4; c++)
        if (c < t->channels)
            v.c[c] = border ? t->border[c] : channel(t, p + c * t->bits / 8);
    return v;
}

// Of up to eight neighbours. The places have eight bits behind the point.
static __device__ struct texel between(const struct texture *t, const float x[3], int dimensions, int layer)
{
    float sum[4] = { 0, 0, 0, 0 };
    int first[3] = { 0, 0, 0 }, part[3] = { 0, 0, 0 };
#pragma unroll
    for (int d = 0; d < 3; d++) {
        if (d >= dimensions)
            continue;
        const int fixed = __float2int_rn((x[d] - 0.5f) * 256);
        first[d] = fixed >> 8;
        part[d] = fixed & 255;
    }
    for (int corner = 0; corner < 1 << dimensions; corner++) {
        int i[3];
        float weight = 1;
#pragma unroll
        for (int d = 0; d < 3; d++) {
            const int far = corner >> d & 1;
            i[d] = first[d] + far;
            weight *= d < dimensions ? (far ? part[d] : 256 - part[d]) / 256.f : 1;
        }
        if (weight == 0)
            continue;
        const struct texel v = element(t, i, layer);
        for (int c = 0; c < 4; c++)
            sum[c] += weight * __uint_as_float(v.c[c]);
    }
    struct texel all;
    for (int c = 0; c < 4; c++)
        all.c[c] = __float_as_uint(sum[c]);
    return all;
}

static __device__ int limited(int i, int n)
{
    return i < 0 ? 0 : i < n ? i : n - 1;
}

extern "C" __device__ __noinline__ uint4 simt_texture(const struct texture *t, int form, unsigned a, unsigned b,
                                                      unsigned c, unsigned d)
{
    const int dimensions = form & TEXTURE_DIMENSIONS;
    const bool layered = form & TEXTURE_LAYERED;
    const unsigned given[3] = { layered ? b : a, layered ? c : b, layered ? d : c };
    const int layer = layered ? limited((int)a, t->layers) : 0;
    float x[3] = { 0, 0, 0 };
    int i[3] = { 0, 0, 0 };
    struct texel v;
#pragma unroll
    for (int k = 0; k < 3; k++) {
        const unsigned raw = given[k];
        if (k >= dimensions)
            continue;
        x[k] = __uint_as_float(raw) * (t->normalized ? t->extent[k] : 1);
        i[k] = form & TEXTURE_WHOLE ? (int)raw : (int)floorf(x[k]);
    }
    if (t->linear && !(form & TEXTURE_WHOLE))
        v = between(t, x, dimensions, layer);
    else
        v = element(t, i, layer);
    return make_uint4(v.c[0], v.c[1], v.c[2], v.c[3]);
}

// The address of bytes of a surface, x in bytes; 0: they are outside, and the instruction does nothing.
extern "C" __device__ __noinline__ const unsigned char *simt_surface(const struct texture *t, int form, int bytes,
                                                                     int x, int y, int z)
{
    enum { NOWHERE = 16 };  // where an access fails
    const bool layered = form & TEXTURE_LAYERED;
    const int row = t->extent[0] * t->channels * t->bits / 8;
    int at[3] = { layered ? y : x, layered && (form & TEXTURE_DIMENSIONS) == 2 ? z : layered ? 0 : y, layered ? x : z };
    const int most[3] = { row - bytes, t->extent[1] - 1, (layered ? t->layers : t->extent[2]) - 1 };
    for (int d = 0; d < 3; d++) {
        const bool out = at[d] < 0 || at[d] > most[d];
        if (out && form & SURFACE_ZERO)
            return 0;
        if (out && !(form & SURFACE_CLAMP))
            return (const unsigned char *)NOWHERE;
        at[d] = limited(at[d], most[d] + 1);
    }
    return t->data + at[2] * t->slice + at[1] * t->pitch + at[0];
}
