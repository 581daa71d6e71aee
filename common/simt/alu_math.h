// The arithmetic that alu.def names: what C has no operator for, and where the GPU's rule differs from the host's.
#ifndef SIMT_ALU_MATH_H
#define SIMT_ALU_MATH_H

#include <stdint.h>
#include <string.h>

#include "exec.h"

static inline f32 nan32(f32 x)  // PTX ISA 9.7.3: the NaN results of f32 instructions are 0x7fffffff
{
    union { float f; uint32_t u; } nan = { .u = 0x7fffffffu };
    return x == x ? x : nan.f;
}

// .ftz: whether a result is subnormal is decided after it was rounded to 24 bits as if exponents had no end (so does an
// H200). Between TINY and 2^-126 that gives 2^-126; below it gives zero, even where rounding to a subnormal would give
// 2^-126.
#define TINY 0x1.ffffffp-127

static inline f32 flush32(f32 x, bool tiny)
{
    return __builtin_fabsf(x) < 0x1p-126f || tiny ? __builtin_copysignf(0, x) : x;
}

static inline f32 mul_ftz(f32 a, f32 b)
{
    return nan32(flush32(a * b, __builtin_fabs((f64)a * b) < TINY));
}

static inline f32 div_ftz(f32 a, f32 b)
{
    return nan32(flush32(a / b, __builtin_fabs((f64)a / b) < TINY));
}

static inline f32 fma_ftz(f32 a, f32 b, f32 c)
{
    f32 d = __builtin_fmaf(a, b, c);
    if (__builtin_fabsf(d) != 0x1p-126f)
        return nan32(flush32(d, false));
    f64 over = __builtin_fma((f64)a, (f64)b, (f64)c - (d > 0 ? TINY : -TINY));  // its sign is exact
    return flush32(d, d > 0 ? over < 0 : over > 0);
}

static inline f32 narrow_ftz(f64 a)
{
    return flush32((f32)a, __builtin_fabs(a) < TINY);
}

// What .ftz does to an operand or a result: a subnormal becomes a zero of its sign, a NaN 0x7fffffff.
static inline u32 flush_bits(u32 x)
{
    return !(x & 0x7f800000u) ? x & 0x80000000u : (x & 0x7fffffffu) > 0x7f800000u ? 0x7fffffffu : x;
}

// min and max answer the number where one side is NaN, and take -0 for less than +0.
static inline f32 min32(f32 a, f32 b)
{
    f32 ordered = a < b || (a == b && __builtin_signbit(a)) ? a : b;
    return nan32(a != a ? b : b != b ? a : ordered);
}

static inline f32 max32(f32 a, f32 b)
{
    f32 ordered = a > b || (a == b && !__builtin_signbit(a)) ? a : b;
    return nan32(a != a ? b : b != b ? a : ordered);
}

// The NaN that an f64 instruction gives where its result x is one: a NaN among its operands, made quiet, or else
// 0xfff8000000000000. Source: an H200. Where several operands are NaN the machine code's order of operands decides there,
// which PTX does not show; here it is a, c, b.
static inline f64 nan64_of(f64 x, f64 a, f64 b, f64 c)
{
    union { f64 f; u64 u; } first = { .f = a != a ? a : c != c ? c : b };
    first.u = first.f == first.f ? 0xfff8000000000000u : first.u | 1ull << 51;
    return x == x ? x : first.f;
}

static inline f64 nan64(f64 x, f64 a, f64 b)
{
    return nan64_of(x, a, b, 0);
}

static inline f64 min64(f64 a, f64 b)
{
    f64 ordered = a < b || (a == b && __builtin_signbit(a)) ? a : b;
    return a != a ? b : b != b ? a : ordered;
}

static inline f64 max64(f64 a, f64 b)
{
    f64 ordered = a > b || (a == b && !__builtin_signbit(a)) ? a : b;
    return a != a ? b : b != b ? a : ordered;
}

static inline u64 mulhi_u64(u64 a, u64 b)
{
    return (u64)(((unsigned __int128)a * b) >> 64);
}

static inline u64 mulhi_s64(s64 a, s64 b)
{
    return (u64)((unsigned __int128)((__int128)a * b) >> 64);
}

static inline s32 sat_s32(s64 x)
{
    return x < INT32_MIN ? INT32_MIN : x > INT32_MAX ? INT32_MAX : (s32)x;
}

static inline u64 clamp_s64(s64 x, s64 low, u64 high)
{
    return x < low ? (u64)low : x > 0 && (u64)x > high ? high : (u64)x;
}

static inline u64 clamp_u64(u64 x, u64 high)
{
    return x > high ? high : x;
}

// Bit field of length bits from position pos; what lies beyond the width is zero, or the sign. PTX ISA 9.7.1 bfe.
static inline u64 bfe_u64(u64 a, u32 pos, u32 length, u32 width)
{
    pos &= 255;
    length &= 255;
    if (!length || pos >= width)
        return 0;
    a >>= pos;
    return length >= 64 ? a : a & ((1ull << length) - 1);
}

static inline u64 bfe_s64(s64 a, u32 pos, u32 length, u32 width)
{
    pos &= 255;
    length &= 255;
    if (!length)
        return 0;
    u32 top = pos + length - 1 < width - 1 ? pos + length - 1 : width - 1;  // the bit that is the sign
    u64 sign = ((u64)a >> top & 1) ? ~0ull : 0;
    u64 field = pos < width ? (u64)a >> pos : sign;
    u32 kept = pos > top ? 0 : top - pos + 1;
    return kept >= 64 ? field : (field & ((1ull << kept) - 1)) | sign << kept;
}

static inline u64 brev64(u64 x)
{
    x = (x >> 1 & 0x5555555555555555u) | (x & 0x5555555555555555u) << 1;
    x = (x >> 2 & 0x3333333333333333u) | (x & 0x3333333333333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0f0f0f0f0fu) | (x & 0x0f0f0f0f0f0f0f0fu) << 4;
    return __builtin_bswap64(x);
}

// Byte i of the result is the byte of {b, a} that nibble i of c selects; with its top bit set, that byte's sign.
static inline u32 prmt(u32 a, u32 b, u32 c)
{
    u64 bytes = (u64)b << 32 | a;
    u32 d = 0;
    for (int i = 0; i < 4; i++) {
        u32 select = c >> 4 * i & 15;
        u32 byte = (u32)(bytes >> 8 * (select & 7)) & 255;
        d |= (select & 8 ? (byte & 128 ? 255u : 0) : byte) << 8 * i;
    }
    return d;
}

// Float to integer after rounding: clamps to the range of the type. NaN: PTX ISA 9.7.9, cvt: 0, but the highest bit
// of the destination alone where a 64-bit type takes part.
#define CLAMPED(T, lo, hi, nan64) \
    static inline T to_##T(f64 x, int from_f64) \
    { \
        return x != x ? (from_f64 ? (T)(nan64) : 0) : x <= lo ? (T)lo : x >= hi ? (T)hi : (T)x; \
    }
CLAMPED(u8, 0.0, 255.0, 128)
CLAMPED(s8, -128.0, 127.0, INT8_MIN)
CLAMPED(u16, 0.0, 65535.0, 32768)
CLAMPED(s16, -32768.0, 32767.0, INT16_MIN)
CLAMPED(u32, 0.0, 4294967295.0, 1u << 31)
CLAMPED(s32, -2147483648.0, 2147483647.0, INT32_MIN)
#undef CLAMPED

static inline u64 to_u64(f64 x, int from_f64)
{
    (void)from_f64;
    return x != x ? 1ull << 63 : x <= 0 ? 0 : x >= 18446744073709551616.0 ? UINT64_MAX : (u64)x;
}

static inline s64 to_s64(f64 x, int from_f64)
{
    (void)from_f64;
    return x != x || x <= -9223372036854775808.0 ? INT64_MIN : x >= 9223372036854775808.0 ? INT64_MAX : (s64)x;
}

static inline f64 widen(f32 x)  // NaN: keeps its sign and payload and becomes quiet, as on an H200
{
    return x;
}

static inline u32 f32_of_f16(u32 h)
{
    u32 sign = (h & 0x8000u) << 16, exponent = h >> 10 & 31, fraction = h & 0x3ffu;
    if (exponent == 31)
        return fraction ? 0x7fffffffu : sign | 0x7f800000u;
    if (exponent)
        return sign | (exponent + 112) << 23 | fraction << 13;
    union { float f; uint32_t u; } v = { .f = (float)fraction * 0x1p-24f };
    return sign | v.u;
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
    union { uint32_t u; float f; } v = { .u = magnitude };
    union { float f; uint32_t u; } n = { .f = v.f + 0.5f };  // aligns the subnormal's last bit with f32's
    return sign | (n.u - 0x3f000000u);
}

#endif
