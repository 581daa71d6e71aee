// Directed roundings (.rz, .rm, .rp): the processor's own, which the compiler must not move the arithmetic out of; and,
// where there are none (WebAssembly rounds to nearest alone), the nearest number moved by what it leaves of the exact
// one.
//
// ROUNDED_AS(name, T, A, e, rest, apart): of x, y, z of type A the T that e is. rest: the exact value less d, which is
// e rounded to nearest; its sign is right. apart: e is a sum of terms of different signs, so that a zero is -0 by .rm.
#pragma once

#include <fenv.h>
#include <math.h>

#include "uop.h"

#if defined __wasm__ || defined ROUND_WITHOUT_PROCESSOR

// More than twice the digits of f64, and exponents to spare: products are exact, and so are the rests of quotients.
#if __LDBL_MANT_DIG__ == 113
typedef long double wide;
#else
typedef __float128 wide;
#endif

// p + z - d. Where the sum is d in so many digits, what it lost has the sign (Knuth's two-sum).
static inline wide rest_of_sum(wide p, wide z, wide d)
{
    const wide sum = p + z, added = sum - p, lost = (p - (sum - added)) + (z - added), rest = sum - d;
    return rest != 0 ? rest : lost;
}

#define MOVED(T, next)                                                                                                 \
    static inline T moved_##T(int mode, T d, wide rest, bool apart)                                                    \
    {                                                                                                                  \
        const bool zero = mode == FE_TOWARDZERO;                                                                       \
        if (rest > 0 && (mode == FE_UPWARD || (zero && d < 0)))                                                        \
            return next(d, (T)INFINITY);                                                                               \
        if (rest < 0 && (mode == FE_DOWNWARD || (zero && d > 0)))                                                      \
            return next(d, -(T)INFINITY);                                                                              \
        return rest == 0 && d == 0 && apart && mode == FE_DOWNWARD ? -(T)0 : d;                                        \
    }
MOVED(f32, nextafterf)
MOVED(f64, nextafter)
#undef MOVED

#define ROUNDED_AS(name, T, A, e, rest, apart)                                                                         \
    static inline T name(int mode, A x, A y, A z)                                                                      \
    {                                                                                                                  \
        const T d = (T)(e);                                                                                            \
        (void)y, (void)z;                                                                                              \
        return moved_##T(mode, d, rest, apart);                                                                        \
    }

#else

#define ROUNDED_AS(name, T, A, e, rest, apart)                                                                         \
    static inline T name(int mode, A a, A b, A c)                                                                      \
    {                                                                                                                  \
        const volatile A x = a, y = b, z = c;                                                                          \
        fesetround(mode);                                                                                              \
        const volatile T d = (T)(e);                                                                                   \
        fesetround(FE_TONEAREST);                                                                                      \
        (void)y, (void)z;                                                                                              \
        return d;                                                                                                      \
    }

#endif

#define ROUNDED(...) ROUNDED_AS(__VA_ARGS__)
#define NEGATIVE(x) (__builtin_signbit(x) != 0)
#define OF_SUM(y) rest_of_sum(x, y, d), NEGATIVE(x) != NEGATIVE(y)
#define OF_FMA rest_of_sum((wide)x *y, z, d), (NEGATIVE(x) != NEGATIVE(y)) != NEGATIVE(z)
#define OF_PRODUCT (wide) x *y - d, false
#define OF_QUOTIENT(x, y) ((wide)(x) - (wide)d * (y)) * (NEGATIVE(y) ? -1 : 1), false
#define OF_ROOT (wide) x - (wide)d *d, false
#define OF_NUMBER (wide) x - d, false

ROUNDED(add32, f32, f32, x + y, OF_SUM(y))
ROUNDED(sub32, f32, f32, x - y, OF_SUM(-y))
ROUNDED(mul32, f32, f32, x *y, OF_PRODUCT)
ROUNDED(fma32, f32, f32, __builtin_fmaf(x, y, z), OF_FMA)
ROUNDED(div32, f32, f32, x / y, OF_QUOTIENT(x, y))
ROUNDED(rcp32, f32, f32, 1.0f / x, OF_QUOTIENT(1, x))
ROUNDED(sqrt32, f32, f32, __builtin_sqrtf(x), OF_ROOT)
ROUNDED(mul32_long, f64, f32, (f64)x *y, OF_PRODUCT)
ROUNDED(fma32_long, f64, f32, __builtin_fma(x, y, z), OF_FMA)
ROUNDED(div32_long, f64, f32, (f64)x / y, OF_QUOTIENT(x, y))
ROUNDED(rcp32_long, f64, f32, 1.0 / x, OF_QUOTIENT(1, x))
ROUNDED(add64, f64, f64, x + y, OF_SUM(y))
ROUNDED(sub64, f64, f64, x - y, OF_SUM(-y))
ROUNDED(mul64, f64, f64, x *y, OF_PRODUCT)
ROUNDED(fma64, f64, f64, __builtin_fma(x, y, z), OF_FMA)
ROUNDED(div64, f64, f64, x / y, OF_QUOTIENT(x, y))
ROUNDED(rcp64, f64, f64, 1.0 / x, OF_QUOTIENT(1, x))
ROUNDED(sqrt64, f64, f64, __builtin_sqrt(x), OF_ROOT)
ROUNDED(f32_of_f64, f32, f64, x, OF_NUMBER)
ROUNDED(f32_of_s64, f32, s64, x, OF_NUMBER)
// By way of s64: some compilers' code for u64 turns 0 into -0 if it rounds down.
#define SIGNED(T, x) ((x) >> 63 ? 2 * (T)(s64)((x) >> 1 | ((x)&1)) : (T)(s64)(x))
ROUNDED(f32_of_u64, f32, u64, SIGNED(f32, x), OF_NUMBER)
ROUNDED(f64_of_s64, f64, s64, x, OF_NUMBER)
ROUNDED(f64_of_u64, f64, u64, SIGNED(f64, x), OF_NUMBER)
#undef SIGNED
#undef ROUNDED
#undef ROUNDED_AS
