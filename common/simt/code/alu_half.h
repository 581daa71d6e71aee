// Arithmetic of the 16-bit floating-point formats, f16 and bf16, and of pairs of them in 32 bits (x2, the first value
// in the low half). Every operation goes through f32: sums and products of two 16-bit values that are rounded to 24
// bits and then to 11 or 8 are rounded correctly; the other roundings to f32 on the way are "to odd": an inexact value
// takes the neighbour whose last bit is 1, so that no later rounding takes it for exact or for a tie.
#pragma once

#include <stdint.h>
#include <string.h>

#include "uop.h"

enum rounding { RN, RZ, RM, RP };  // to nearest even, to zero, down, up

static inline f32 float_of(u32 bits)
{
    f32 x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline u32 bits_of(f32 x)
{
    u32 bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline u32 f32_of_f16(u32 h)
{
    u32 sign = (h & 0x8000u) << 16, exponent = h >> 10 & 31, fraction = h & 0x3ffu;
    if (exponent == 31)
        return fraction ? 0x7fffffffu : sign | 0x7f800000u;
    if (exponent)
        return sign | (exponent + 112) << 23 | fraction << 13;
    return sign | bits_of((float)fraction * 0x1p-24f);
}

static inline u32 f16_of_f32(u32 x)  // to nearest even
{
    u32 sign = x >> 16 & 0x8000u, magnitude = x & 0x7fffffffu;
    if (magnitude > 0x7f800000u)
        return 0x7fffu;
    if (magnitude >= 0x477ff000u)  // 65520 and above round to infinity
        return sign | 0x7c00u;
    if (magnitude >= 0x38800000u)  // normal in f16
        return sign | (magnitude - 0x38000000u + 0xfffu + (magnitude >> 13 & 1)) >> 13;
    u32 n = bits_of(float_of(magnitude) + 0.5f);  // aligns the subnormal's last bit with f32's
    return sign | (n - 0x3f000000u);
}

static inline u32 f32_of_bf16(u32 h)
{
    return h << 16;
}

static inline u32 bf16_of_f32(u32 x)
{
    return (x & 0x7fffffffu) > 0x7f800000u ? 0x7fffu : (x + 0x7fffu + (x >> 16 & 1)) >> 16;
}

// Moves y, the nearest value to x, one step where a directed rounding asks for its other neighbour: y_bits are the bits
// of y in its own format.
static inline u32 directed_step(enum rounding mode, f32 x, f32 y, u32 y_bits)
{
    bool away = mode == RM ? __builtin_signbit(x) : mode == RP && !__builtin_signbit(x);
    f32 from = __builtin_fabsf(x), to = __builtin_fabsf(y);
    return to > from && !away ? y_bits - 1 : to < from && away ? y_bits + 1 : y_bits;
}

static inline u32 f16_rounded(enum rounding mode, u32 x)
{
    u32 y = f16_of_f32(x);
    return mode == RN ? y : directed_step(mode, float_of(x), float_of(f32_of_f16(y)), y);
}

static inline u32 bf16_rounded(enum rounding mode, u32 x)
{
    u32 y = bf16_of_f32(x);
    return mode == RN ? y : directed_step(mode, float_of(x), float_of(f32_of_bf16(y)), y);
}

// x + rest rounded to odd; rest is what a rounding to x left over.
static inline f32 odd_f32(f64 x, f64 rest)
{
    f32 r = (f32)x;
    bool more = r < x || (r == x && rest > 0), less = r > x || (r == x && rest < 0);
    u32 bits = bits_of(r), outwards = bits >> 31 ? less : more;
    u32 step = bits & 1 || !(more || less) ? 0 : outwards ? 1 : ~0u;
    return float_of(bits + step);
}

static inline f32 odd_fma(f32 x, f32 y, f32 z)
{
    f64 p = (f64)x * y, s = p + z, part = s - p;
    return odd_f32(s, (p - (s - part)) + (z - part));
}

static inline f32 odd_u64(u64 x)
{
    u64 kept = x >> 53 ? (x >> 11 | !!(x & 2047)) << 11 : x;  // the f64 is exact
    return odd_f32((f64)kept, 0);
}

static inline f32 odd_s64(s64 x)
{
    return x < 0 ? -odd_u64(0 - (u64)x) : odd_u64((u64)x);
}

// tf32 is an f32 with a fraction of 10 bits. rna, to nearest with halves away from zero, cuts the payload of a NaN; its
// .satfinite steps back from what is not finite, whatever it is; the others have one NaN. Source: an H200.
static inline u32 tf32_rounded(u32 x, u32 half, u32 nan)
{
    return (x & 0x7fffffffu) > 0x7f800000u ? nan : (x + half) & 0xffffe000u;
}

static inline u32 tf32_finite(u32 x)
{
    return (x & 0x7fffffffu) >= 0x7f800000u ? x - 0x2000u : x;
}

static inline u32 tf32_relu(u32 x)
{
    return x >> 31 ? 0 : x;
}

static inline f32 min_nan(f32 a, f32 b)
{
    return a == a && b == b ? min32(a, b) : float_of(0x7fffffffu);
}

static inline f32 max_nan(f32 a, f32 b)
{
    return a == a && b == b ? max32(a, b) : float_of(0x7fffffffu);
}

// .xorsign.abs: r, made of the absolute values of two operands, gets the sign that their product would have, also
// where one of them is NaN (an H200).
static inline f32 xorsign(f32 r, u32 a, u32 b)
{
    return r == r ? float_of(bits_of(r) | ((a ^ b) & 0x80000000u)) : r;
}

static inline f32 relu(f32 x)
{
    return x != x ? float_of(0x7fffffffu) : x > 0 ? x : 0;
}

static inline f32 saturate(f32 x)
{
    return x > 0 ? (x < 1 ? x : 1) : 0;
}

static inline f32 finite_of(f32 x, f32 largest)
{
    return __builtin_fabsf(x) > largest ? __builtin_copysignf(largest, x) : x;
}

static inline u32 flush_f16(u32 h)
{
    return h & 0x7c00u ? h : h & 0x8000u;
}

// A result with .ftz, from its exact value or that rounded to odd: what is too small for a normal number when it is
// rounded to 11 bits, whatever its exponent, is zero (an H200; as for f32, flush32()).
static inline f32 flush_exact(f32 x)
{
    return __builtin_fabsf(x) < 0x1.ffep-15f ? __builtin_copysignf(0, x) : x;
}

// neg and abs give the one NaN, 0x7fff (an H200).
static inline f32 signed_or_nan(f32 x)
{
    return x == x ? x : float_of(0x7fffffffu);
}

// f64 to the 16-bit formats: a NaN keeps its sign and the upper bits of its payload, and becomes quiet (an H200).
static inline u32 f16_from_f64(enum rounding mode, f64 x)
{
    u32 nan = bits_of((f32)x) >> 13;
    return x == x ? f16_rounded(mode, bits_of(odd_f32(x, 0))) : (nan >> 3 & 0x8000u) | 0x7e00u | (nan & 0x1ffu);
}

static inline u32 bf16_from_f64(enum rounding mode, f64 x)
{
    return x == x ? bf16_rounded(mode, bits_of(odd_f32(x, 0))) : bits_of((f32)x) >> 16 | 0x7fc0u;
}

#define F16_MAX 65504.0f
#define BF16_MAX 0x1.fep127f

// One operation on both formats and on pairs of them, from its effect on f32 values x, y, z.
#define HALF(id, e) HALF_OF(f16, id, F16_MAX, e) HALF_OF(bf16, id, BF16_MAX, e)
#define HALF_OF(N, id, max, e)                                                                                         \
    static inline u32 id##_##N(u32 a, u32 b, u32 c)                                                                    \
    {                                                                                                                  \
        const f32 x = float_of(f32_of_##N(a & 0xffff)), y = float_of(f32_of_##N(b & 0xffff));                          \
        const f32 z = float_of(f32_of_##N(c & 0xffff)), largest = max;                                                 \
        const u32 sa = a << 16, sb = b << 16;                                                                          \
        (void)y, (void)z, (void)largest, (void)sa, (void)sb;                                                           \
        return N##_of_f32(bits_of(e));                                                                                 \
    }                                                                                                                  \
    static inline u32 id##_##N##x2(u32 a, u32 b, u32 c)                                                                \
    {                                                                                                                  \
        return id##_##N(a, b, c) | id##_##N(a >> 16, b >> 16, c >> 16) << 16;                                          \
    }
HALF(add, x + y)
HALF(sub, x - y)
HALF(mul, x *y)
HALF(fma, odd_fma(x, y, z))
HALF(mul_ftz, flush_exact(x *y))
HALF(fma_ftz, flush_exact(odd_fma(x, y, z)))
HALF(neg, signed_or_nan(-x))
HALF(abs, signed_or_nan(__builtin_fabsf(x)))
HALF(min, min32(x, y))
HALF(max, max32(x, y))
HALF(min_nan, min_nan(x, y))
HALF(max_nan, max_nan(x, y))
HALF(min_abs, xorsign(min32(__builtin_fabsf(x), __builtin_fabsf(y)), sa, sb))
HALF(max_abs, xorsign(max32(__builtin_fabsf(x), __builtin_fabsf(y)), sa, sb))
HALF(min_nan_abs, xorsign(min_nan(__builtin_fabsf(x), __builtin_fabsf(y)), sa, sb))
HALF(max_nan_abs, xorsign(max_nan(__builtin_fabsf(x), __builtin_fabsf(y)), sa, sb))
HALF(relu, relu(x))
HALF(sat, saturate(x))
HALF(satfinite, finite_of(x, largest))
HALF(ex2, (f32)__builtin_exp2(x))
HALF(tanh, (f32)__builtin_tanh(x))
#undef HALF
#undef HALF_OF
