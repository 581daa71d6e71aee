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

// Of 256, how much of a neighbour counts: the rest of each dimension is shared by the next, and rounded. So it was read
// from an H200, bit by bit in one and two dimensions, and up to 1/256 in three.
static __device__ int weight(const int part[3], int dimensions, int corner)
{
    int w = 256;
#pragma unroll
    for (int d = 2; d >= 0; d--) {
        const int far = (w * part[d] + 128) >> 8;
        if (d < dimensions)
            w = corner >> d & 1 ? far : w - far;
    }
    return w;
}

// Of up to eight neighbours. The places have eight bits behind the point, and the sum is rounded once.
static __device__ struct texel between(const struct texture *t, const float x[3], int dimensions, int layer)
{
    double sum[4] = { 0, 0, 0, 0 };
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
        const int w = weight(part, dimensions, corner);
        int i[3];
#pragma unroll
        for (int d = 0; d < 3; d++)
            i[d] = first[d] + (corner >> d & 1);
        if (w == 0)
            continue;
        const struct texel v = element(t, i, layer);
#pragma unroll
        for (int c = 0; c < 4; c++)
            sum[c] += w * (double)__uint_as_float(v.c[c]);
    }
    // A line is a plane of one row, read at its edge: half of what is read is the border.
    if (dimensions == 1 && t->address[1] == BORDER)
        for (int c = 0; c < 4; c++)
            sum[c] = (sum[c] + 256 * (double)__uint_as_float(t->border[c])) / 2;
    struct texel all;
#pragma unroll
    for (int c = 0; c < 4; c++)
        all.c[c] = __float_as_uint((float)(sum[c] / 256));
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
