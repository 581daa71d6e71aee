// What the tensor-core instructions share: eight numbers at a time, and how sums become results. See exec_mma.c.
#ifndef SIMT_VECTOR8_H
#define SIMT_VECTOR8_H

#include <string.h>

#include "simt/code/alu_math.h"
#include "simt/code/mma.h"

#define N 8

// Eight numbers at a time: what the compiler turns into one AVX2 register, or two of SSE. A cast from one type to
// another of the same size keeps the bits.
typedef float v8f __attribute__((vector_size(32)));
typedef int32_t v8i __attribute__((vector_size(32)));
typedef uint16_t v8h __attribute__((vector_size(16)));
typedef double v8d __attribute__((vector_size(64)));
typedef int64_t v8l __attribute__((vector_size(64)));

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
    return select8(a > b, a, b);  // one instruction, where there is one
}

#define NONE (-4096)  // the exponent of zero: below all others

static inline v8f scaled(v8f x, v8i power)  // x 2^(power - 127), 0 if power <= 0
{
    v8i bits = max8(power, (v8i){ 0 }) << 23;
    return x * (v8f)bits;
}

// x cut toward zero to an f32. Below the normal numbers the cut is at 2^-149.
static inline float cut(double x)
{
    if (__builtin_fabs(x) < 0x1p-126)
        return (float)(__builtin_trunc(x * 0x1p149) * 0x1p-149);
    return (float)keep_bits(x, ~0x1fffffffull);
}

static inline v8f cut8(v8d x)
{
    const v8l bits = (v8l)x & ~0x1fffffffll;
    v8f result = __builtin_convertvector((v8d)bits, v8f);
    const v8i small =
        ((v8i)result & 0x7fffffff) < 0x01000000;  // below twice the smallest normal number, where a result was rounded
    for (unsigned i = 0; any8(small) && i < N; i++)
        if (small[i])
            result[i] = cut(x[i]);
    return result;
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
    const f32 *even = (const f32 *)(regs + slot[row / 8 * 2]) + row % 8 * 4;
    const f32 *odd = (const f32 *)(regs + slot[row / 8 * 2 + 1]) + row % 8 * 4;
    return (v8f){ even[0], odd[0], even[1], odd[1], even[2], odd[2], even[3], odd[3] };
}

#define FRACTION_BITS 23  // of an f32

// fraction: how many bits of a result's fraction stay; special: some of the row are infinite or no numbers
static inline void write_row(unsigned char *regs, const uint32_t *slot, unsigned row, v8d d, bool special, bool half,
                             unsigned fraction)
{
    if (half) {
        u16 *p = (u16 *)(regs + slot[row / 8]) + row % 8 * 8;
        for (unsigned i = 0; i < N; i++)
            p[i] = d[i] != d[i] ? 0x7fff : half_of(d[i]);
        return;
    }
    u32 *even = (u32 *)(regs + slot[row / 8 * 2]) + row % 8 * 4;
    u32 *odd = (u32 *)(regs + slot[row / 8 * 2 + 1]) + row % 8 * 4;
    v8i bits = (v8i)cut8(d);
    if (fraction < FRACTION_BITS)
        bits &= ~((1 << (FRACTION_BITS - fraction)) - 1);
    for (unsigned i = 0; special && i < N; i++)
        bits[i] = d[i] != d[i] ? 0x7fffffff : bits[i];
    for (unsigned p = 0; p < 4; p++) {
        even[p] = (u32)bits[2 * p];
        odd[p] = (u32)bits[2 * p + 1];
    }
}

#endif
