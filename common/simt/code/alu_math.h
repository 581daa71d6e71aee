// The arithmetic that alu.def names: what C has no operator for, and where the GPU's rule differs from the host's.
#pragma once

#include <stdint.h>
#include <string.h>

#include "uop.h"

static inline f32 nan32(f32 x)  // PTX ISA 9.7.3: the NaN results of f32 instructions are 0x7fffffff
{
    union {
        float f;
        uint32_t u;
    } nan = { .u = 0x7fffffffu };
    return x == x ? x : nan.f;
}

// a * b + c, rounded once. Without an instruction for it: the product is exact in f64, and a sum that was rounded to
// odd there may be rounded once more, since f64 has more than two bits beyond those of f32 (Boldo and Melquiond,
// "Emulation of FMA and correctly rounded sums", 2008). A compiler makes vectors of this, and not of a call.
static inline f32 fused32(f32 a, f32 b, f32 c)
{
#if defined __FMA__ || defined __aarch64__
    return __builtin_fmaf(a, b, c);
#else
    union {
        f64 f;
        u64 u;
    } s = { .f = (f64)a * b + c };
    const f64 product = (f64)a * b, added = s.f - product, lost = (product - (s.f - added)) + (c - added);
    const u64 off = (lost > 0) | (lost < 0), outward = (lost > 0) == (s.f > 0);
    s.u += off & ~s.u & 1 ? outward * 2 - 1 : 0;
    return (f32)s.f;
#endif
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
    f32 d = fused32(a, b, c);
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
// 0xfff8000000000000. Source: an H200. Where several operands are NaN the machine code's order of operands decides
// there, which PTX does not show; here it is a, c, b.
static inline f64 nan64_of(f64 x, f64 a, f64 b, f64 c)
{
    union {
        f64 f;
        u64 u;
    } first = { .f = a != a ? a : c != c ? c : b };
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
#define CLAMPED(T, lo, hi, nan64)                                                                                      \
    static inline T to_##T(f64 x, int from_f64)                                                                        \
    {                                                                                                                  \
        return x != x ? (from_f64 ? (T)(nan64) : 0) : x <= lo ? (T)lo : x >= hi ? (T)hi : (T)x;                        \
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

// --- integer instructions with no operator in C. Source: the pseudo-code of PTX ISA 9.7.1 and 9.7.8 ---

// where: position in the low 8 bits, length in the next 8.
static inline u64 bfi(u64 a, u64 b, u32 where, u32 width)
{
    u32 pos = where & 255, length = where >> 8;
    if (pos >= width)
        return b;
    u64 mask = (length >= 64 ? ~0ull : (1ull << length) - 1) << pos;
    return (b & ~mask) | (a << pos & mask);
}

static inline u32 lop3(u32 a, u32 b, u32 c, u32 table)
{
    u32 r = 0;
    for (u32 i = 0; i < 8; i++)
        r |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c) & (0 - (table >> i & 1));
    return r;
}

static inline u32 bmsk(u32 pos, u32 length, bool clamp)
{
    if (clamp && pos > 31)
        return 0;
    u64 ones = clamp && length > 31 ? 0xffffffffu : (1u << (length & 31)) - 1;
    return (u32)(ones << (pos & 31));
}

static inline u32 szext(u32 a, u32 width, bool clamp, bool sign)
{
    if (clamp && width > 31)
        return a;
    width &= 31;
    u32 mask = (1u << width) - 1;
    return sign && width && a >> (width - 1) & 1 ? a | ~mask : a & mask;
}

// The bit of mask that is number |offset| among those set, counted from base upwards, or downwards for offset < 0.
static inline u32 fns(u32 mask, u32 base, s32 offset)
{
    s64 left = offset < 0 ? -(s64)offset : offset;
    if (!left)
        return base < 32 && mask >> base & 1 ? base : ~0u;
    for (; base < 32; base += offset < 0 ? ~0u : 1)
        if (mask >> base & 1 && --left == 0)
            return base;
    return ~0u;
}

static inline s64 mul24(u32 a, u32 b, bool sign)  // 48 bits
{
    return sign ? (s64)((s32)(a << 8) >> 8) * ((s32)(b << 8) >> 8) : (s64)((u64)(a & 0xffffffu) * (b & 0xffffffu));
}

static inline s32 field_of(u32 x, u32 bits, u32 i, bool sign)
{
    u32 top = x << (32 - bits - bits * i);
    return sign ? (s32)top >> (32 - bits) : (s32)(top >> (32 - bits));
}

// The dot product of n fields of a, of 32 / n bits, with bytes of b from number first on.
static inline u32 dot(u32 a, u32 b, u32 c, u32 n, u32 first, bool a_sign, bool b_sign)
{
    for (u32 i = 0; i < n; i++)
        c += (u32)(field_of(a, 32 / n, i, a_sign) * field_of(b, 8, first + i, b_sign));
    return c;
}

// Two 16-bit results in one register, from expressions in x and y.
#define PAIR(id, T, e)                                                                                                 \
    static inline u32 id##_half(u32 a, u32 b)                                                                          \
    {                                                                                                                  \
        const T x = (T)a, y = (T)b;                                                                                    \
        return (u32)(e)&0xffffu;                                                                                       \
    }                                                                                                                  \
    static inline u32 id(u32 a, u32 b)                                                                                 \
    {                                                                                                                  \
        return id##_half(a, b) | id##_half(a >> 16, b >> 16) << 16;                                                    \
    }
PAIR(add_x2, u16, x + y)
PAIR(min_u16x2, u16, x < y ? x : y)
PAIR(max_u16x2, u16, x > y ? x : y)
PAIR(min_s16x2, s16, x < y ? x : y)
PAIR(max_s16x2, s16, x > y ? x : y)
#undef PAIR

// The other modes of prmt: byte i of d is byte number f(i, c) of {b, a}; PTX ISA 9.7.8, prmt.
enum prmt_mode { F4E, B4E, RC8, ECL, ECR, RC16 };

static inline u32 prmt_mode(u32 a, u32 b, u32 c, enum prmt_mode mode)
{
    u64 bytes = (u64)b << 32 | a;
    u32 d = 0, n = c & 3;
    for (u32 i = 0; i < 4; i++) {
        u32 from = mode == F4E   ? n + i
                   : mode == B4E ? (n - i) & 7
                   : mode == RC8 ? n
                   : mode == ECL ? (n > i ? n : i)
                   : mode == ECR ? (n < i ? n : i)
                                 : (n & 1) * 2 + (i & 1);
        d |= (u32)(bytes >> 8 * from & 255) << 8 * i;
    }
    return d;
}

#include "alu_rounded.h"

// r is exact rounded by mode; with .ftz it is zero where exact, rounded to 24 bits whatever its exponent, is too small
// for a normal number: as in flush32().
static inline f32 flush_directed(int mode, f32 r, f64 exact)
{
    bool away = mode == (exact < 0 ? FE_DOWNWARD : FE_UPWARD);
    f64 least = away ? 0x1p-126 - 0x1p-150 : 0x1p-126, size = __builtin_fabs(exact);
    return (away ? size <= least : size < least) ? __builtin_copysignf(0, r) : r;
}

// --- approximations: the exact value, rounded; where PTX ISA 9.7.3 has tables of special cases, these give the same
// ---

static inline f32 div_approx(f32 a, f32 b)
{
    return nan32(__builtin_fabsf(b) > 0x1p126f ? a * __builtin_copysignf(0, b) : (f32)((f64)a / b));
}

static inline f64 keep_bits(f64 x, u64 mask)
{
    union {
        f64 f;
        u64 u;
    } v = { .f = x };
    v.u &= mask;
    return v.f;
}

// sin and cos multiply their operand by 1 / (2 pi), rounded to zero, and drop the whole turns: so large ones lose all
// their digits, as on an H200.
static inline f64 turns(f32 a)
{
    f64 t = keep_bits((f64)a * 0x1.45f306p-3f, ~0x1fffffffull);
    t = __builtin_fabs(t) < 0x1p-126 ? __builtin_copysign(0, t) : t;
    return (t - __builtin_rint(t)) * 6.28318530717958647692;
}

static inline f64 sin_turns(f32 a)
{
    return __builtin_sin(turns(a));
}

static inline f64 cos_turns(f32 a)
{
    return __builtin_cos(turns(a));
}

// Only the upper half of an f64 goes in and comes out; subnormals are zeros.
static inline f64 upper_half(f64 x)
{
    const f64 upper = keep_bits(x, ~0xffffffffull);
    return __builtin_fabs(upper) < 0x1p-1022 ? __builtin_copysign(0, upper) : upper;
}

#include "alu_half.h"

#include "alu_fp8.h"
#include "alu_video.h"
