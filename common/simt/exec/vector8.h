// What the tensor-core instructions share: eight numbers at a time, and how sums become results. See exec_mma.c.
#ifndef SIMT_VECTOR8_H
#define SIMT_VECTOR8_H

#include <string.h>

#include "simt/code/alu_math.h"
#include "simt/code/mma.h"

#define N 8

// Eight numbers at a time: what the compiler turns into one AVX2 register, or two of SSE.
typedef float v8f __attribute__((vector_size(32)));
typedef int32_t v8i __attribute__((vector_size(32)));
typedef uint16_t v8h __attribute__((vector_size(16)));
typedef float v4f __attribute__((vector_size(16)));
typedef int32_t v4i __attribute__((vector_size(16)));
typedef uint32_t v4u __attribute__((vector_size(16)));
typedef double v4d __attribute__((vector_size(32)));
typedef int64_t v4l __attribute__((vector_size(32)));

struct sum8 {  // eight columns of D before they are rounded: 0 to 3, and 4 to 7
    v4d part[2];
};

static inline v8i select8(v8i mask, v8i yes, v8i no)
{
    return (yes & mask) | (no & ~mask);
}

static inline bool any8(v8i x)
{
    uint64_t u[4];
    memcpy(u, &x, sizeof u);
    return u[0] | u[1] | u[2] | u[3];
}

static inline v8i max8(v8i a, v8i b)
{
    return select8(a > b, a, b);
}

#define NONE (-4096)  // the exponent of zero: below all others

static inline v8f scaled(v8f x, v8i power)  // x 2^(power - 127), 0 if power <= 0
{
    v8i bits = max8(power, (v8i){ 0 }) << 23;
    v8f factor;
    memcpy(&factor, &bits, sizeof factor);
    return x * factor;
}

// x cut toward zero to an f32. Below the normal numbers the cut is at 2^-149.
static inline float cut(double x)
{
    if (__builtin_fabs(x) < 0x1p-126)
        return (float)(__builtin_trunc(x * 0x1p149) * 0x1p-149);
    return (float)keep_bits(x, ~0x1fffffffull);
}

// The bits of four f32.
static inline v4i cut4(v4d x)
{
    const v4d kept = (v4d)((v4l)x & ~0x1fffffffll);
    v4i bits = (v4i) __builtin_convertvector(kept, v4f);
    // below twice the smallest normal number, where a result was rounded
    const v4i small = (bits & 0x7fffffff) < 0x01000000;
    uint64_t any[2];
    memcpy(any, &small, sizeof any);
    for (unsigned i = 0; any[0] | any[1] && i < 4; i++)
        if (small[i]) {
            const float f = cut(x[i]);
            int32_t of_f;
            memcpy(&of_f, &f, sizeof f);
            bits[i] = of_f;
        }
    return bits;
}

static inline v8f cut8(const struct sum8 *x)
{
    const v4i bits[2] = { cut4(x->part[0]), cut4(x->part[1]) };
    v8f result;
    memcpy(&result, bits, sizeof result);
    return result;
}

// (low + high) 2^(power - 1023)
static inline struct sum8 sum_of(v8i low, v8i high, v8i power)
{
    v4i l[2], h[2], p[2];
    struct sum8 sum;
    memcpy(l, &low, sizeof l);
    memcpy(h, &high, sizeof h);
    memcpy(p, &power, sizeof p);
    for (int i = 0; i < 2; i++)
        sum.part[i] = (__builtin_convertvector(l[i], v4d) + __builtin_convertvector(h[i], v4d)) *
                      (v4d)(__builtin_convertvector(p[i], v4l) << 52);
    return sum;
}

static inline uint16_t half_of(double x)  // to nearest even: cut to f32, the last bit odd where something was lost
{
    union {
        float f;
        uint32_t u;
    } v = { .f = cut(x) };
    if ((double)v.f != x && __builtin_fabs(x) < 65536)
        v.u |= 1;
    return (uint16_t)f16_of_f32(v.u);
}

// --- accumulators: 8 rows of 8 columns are two registers of f32, even and odd columns, or one of f16 ---

static inline v8f read_row(const unsigned char *regs, const uint32_t *slot, unsigned row, bool half)
{
    v8f c;
    if (half) {
        const u16 *p = (const u16 *)(regs + slot[row / 8]) + row % 8 * 8;
        for (unsigned i = 0; i < N; i++)
            c[i] = float_of(f32_of_f16(p[i]));
        return c;
    }
    v4u even, odd;  // bits 0 to 31, and 32 to 63, of two neighbours
    memcpy(&even, (const u32 *)(regs + slot[row / 8 * 2]) + row % 8 * 4, sizeof even);
    memcpy(&odd, (const u32 *)(regs + slot[row / 8 * 2 + 1]) + row % 8 * 4, sizeof odd);
    return (v8f)(__builtin_convertvector(even, v4l) | __builtin_convertvector(odd, v4l) << 32);
}

#define FRACTION_BITS 23  // of an f32

static inline double column(const struct sum8 *d, unsigned i)
{
    return d->part[i / 4][i % 4];
}

// fraction: how many bits of a result's fraction stay; special: some of the row are infinite or no numbers
static inline void write_row(unsigned char *regs, const uint32_t *slot, unsigned row, const struct sum8 *d,
                             bool special, bool half, unsigned fraction)
{
    if (half) {
        u16 *p = (u16 *)(regs + slot[row / 8]) + row % 8 * 8;
        for (unsigned i = 0; i < N; i++)
            p[i] = column(d, i) != column(d, i) ? 0x7fff : half_of(column(d, i));
        return;
    }
    u32 *even = (u32 *)(regs + slot[row / 8 * 2]) + row % 8 * 4;
    u32 *odd = (u32 *)(regs + slot[row / 8 * 2 + 1]) + row % 8 * 4;
    for (unsigned h = 0; h < 2; h++) {
        v4i bits = cut4(d->part[h]);
        uint64_t pair[2];
        if (fraction < FRACTION_BITS)
            bits &= ~((1 << (FRACTION_BITS - fraction)) - 1);
        for (unsigned i = 0; special && i < 4; i++)
            bits[i] = d->part[h][i] != d->part[h][i] ? 0x7fffffff : bits[i];
        memcpy(pair, &bits, sizeof pair);
        const uint64_t both[2] = { (pair[0] & 0xffffffff) | pair[1] << 32, pair[0] >> 32 | (pair[1] >> 32 << 32) };
        memcpy(even + 2 * h, &both[0], sizeof both[0]);
        memcpy(odd + 2 * h, &both[1], sizeof both[1]);
    }
}

#endif
