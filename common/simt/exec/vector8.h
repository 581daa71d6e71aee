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
    return select8(a > b, a, b);
}

#define NONE (-4096)  // the exponent of zero: below all others

static inline v8f scaled(v8f x, v8i power)  // x 2^(power - 127), 0 where power <= 0
{
    v8i bits = max8(power, (v8i){ 0 }) << 23;
    v8f factor;
    memcpy(&factor, &bits, sizeof factor);
    return x * factor;
}

// x cut toward zero to an f32. Below the normal numbers the cut is at 2^-149.
static inline float cut(double x)
{
    union {
        double f;
        uint64_t u;
    } v = { .f = x };
    v.u &= ~0x1fffffffull;
    if (__builtin_fabs(x) < 0x1p-126)
        v.f = __builtin_trunc(x * 0x1p149) * 0x1p-149;
    return (float)v.f;
}

static inline v8f cut8(v8d x)
{
    v8l bits;
    memcpy(&bits, &x, sizeof bits);
    bits &= ~0x1fffffffll;
    v8d kept;
    memcpy(&kept, &bits, sizeof kept);
    v8f result = __builtin_convertvector(kept, v8f);
    v8i small;
    memcpy(&small, &result, sizeof small);
    small = (small & 0x7fffffff) < 0x01000000;  // below twice the smallest normal number, where a result was rounded
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

#endif
