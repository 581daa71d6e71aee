// Numbers of 8 bits, e4m3 and e5m2, for alu.def. Source: PTX ISA 5.2.3 (alternate floating-point formats), 9.7.9 (cvt).
#pragma once

#include <math.h>

struct fp8 {
    int mantissa, bias;
    f64 max;
};

#define E4M3 ((struct fp8){ 3, 7, 448 })
#define E5M2 ((struct fp8){ 2, 15, 57344 })

// To nearest even; what is too large becomes the largest number, a NaN 0x7f.
static inline u32 fp8_of(struct fp8 f, u32 bits)
{
    const f64 x = float_of(bits), size = __builtin_fabs(x);
    const u32 sign = bits >> 31 << 7;
    int e = 1 - f.bias;
    if (x != x)
        return 0x7f;
    if (size >= f.max)
        return sign | (f.mantissa == 3 ? 0x7e : 0x7b);
    if (size >= ldexp(1, e))
        e = ilogb(size);
    const u32 steps = (u32)rint(ldexp(size, f.mantissa - e));  // of the last place
    const u32 whole = 1u << f.mantissa;
    const u32 code = steps < whole ? steps : (u32)(e - 1 + f.bias + 1) * whole + steps - whole;
    const u32 largest = f.mantissa == 3 ? 0x7e : 0x7b;
    return sign | (code < largest ? code : largest);
}

// Exact, as an f16; a NaN is 0x7fff.
static inline u32 f16_of_e5m2(u32 x)
{
    return (x & 0x7f) > 0x7c ? 0x7fff : (x & 0xff) << 8;
}

static inline u32 f16_of_e4m3(u32 x)
{
    const int e = (int)(x >> 3 & 15), m = (int)(x & 7);
    const f64 size = e ? ldexp(8 + m, e - 10) : ldexp(m, -9);
    if ((x & 0x7f) == 0x7f)
        return 0x7fff;
    return f16_of_f32(bits_of((f32)(x & 0x80 ? -size : size)));
}
