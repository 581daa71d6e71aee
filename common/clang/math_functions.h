// Powers, logarithms and angles, for device_functions.h: each by a series around the nearest place where it is known.
//
// Those with __ are an instruction, approximately, as nvcc has them; the others are right to some units in the last
// place, not to the bit as nvcc's. In double there are exp, log, sin and cos.
#pragma once

#define CLANG_APPROX(name, op)                                                                                         \
    CLANG_DEVICE float name(float x)                                                                                   \
    {                                                                                                                  \
        float y;                                                                                                       \
        asm(op " %0, %1;" : "=f"(y) : "f"(x));                                                                         \
        return y;                                                                                                      \
    }
CLANG_APPROX(exp2f, "ex2.approx.f32")
CLANG_APPROX(__log2f, "lg2.approx.f32")
CLANG_APPROX(__sinf, "sin.approx.f32")
CLANG_APPROX(__cosf, "cos.approx.f32")
#undef CLANG_APPROX
CLANG_CALL(float, __expf, (float x), exp2f(x * 1.4426950408889634f))
CLANG_CALL(float, __logf, (float x), __log2f(x) * 0.6931471805599453f)
CLANG_CALL(float, __powf, (float x, float y), exp2f(__log2f(x) * y))
CLANG_DEVICE float __fdividef(float x, float y)
{
    float z;
    asm("div.approx.f32 %0, %1, %2;" : "=f"(z) : "f"(x), "f"(y));
    return z;
}

// 2^(x * log2(e)): what the product loses when it is rounded is a factor.
CLANG_DEVICE float expf(float x)
{
    const float power = x * 1.44269502f, rest = fmaf(x, 1.44269502f, -power) + x * 1.92596303e-8f;
    const float y = exp2f(power);
    return y > 0 && isfinite(y) ? fmaf(y, rest * 0.693147182f, y) : y;
}
// x = m * 2^e, with m around 1: 2 artanh((m - 1) / (m + 1)) + e * ln(2), by its series.
CLANG_DEVICE float logf(float x)
{
    if (!(x > 0) || isinf(x))
        return x == 0 ? -__builtin_inff() : x < 0 ? __builtin_nanf("") : x;
    const bool small = x < 1.17549435e-38f;
    const int bits = __float_as_int(small ? x * 8388608.f : x), e = (bits - 0x3f3504f3) >> 23;
    const float m = __int_as_float(bits - e * 8388608), s = (m - 1) / (m + 1), t = s * s;
    const float series = t * fmaf(t, fmaf(t, fmaf(t, 2.f / 9, 2.f / 7), 2.f / 5), 2.f / 3),
                n = float(small ? e - 23 : e);
    return fmaf(n, 0.693145752f, fmaf(n, 1.42860677e-6f, fmaf(s, series, 2 * s)));
}
CLANG_CALL(float, log2f, (float x), logf(x) * 1.44269504f)
CLANG_DEVICE float tanhf(float x)
{
    const float a = fabsf(x), t = x * x;
    if (a < 0.25f)
        return x * fmaf(t, fmaf(t, fmaf(t, fmaf(t, 62.f / 2835, -17.f / 315), 2.f / 15), -1.f / 3), 1);
    return __builtin_copysignf(1 - 2 / (expf(2 * a) + 1), x);
}
CLANG_DEVICE float coshf(float x)
{
    const float y = expf(fabsf(x) - 0.693147182f);  // half of it
    return y + 0.25f / y;
}

// x - n * pi / 2, for the nearest n: pi / 2 in three floats. The series of both functions around 0 do for the rest.
// Beyond some 100,000 the rest is not right to the last place.
struct clang_turned {
    int n;
    float sine, cosine;
};
CLANG_DEVICE clang_turned clang_turn(float x)
{
    const float n = __builtin_rintf(x * 0.636619772f);
    const float r = fmaf(n, 1.71512451e-15f, fmaf(n, 4.37113883e-8f, fmaf(n, -1.57079637f, x))), t = r * r;
    const float sine = fmaf(t, fmaf(t, fmaf(t, 1.f / 362880, -1.f / 5040), 1.f / 120), -1.f / 6);
    const float cosine = fmaf(t, fmaf(t, fmaf(t, fmaf(t, -1.f / 3628800, 1.f / 40320), -1.f / 720), 1.f / 24), -0.5f);
    return { int(n), fmaf(r * t, sine, r), fmaf(t, cosine, 1) };
}
CLANG_DEVICE float sinf(float x)
{
    const clang_turned at = clang_turn(x);
    const float y = at.n & 1 ? at.cosine : at.sine;
    return at.n & 2 ? -y : y;
}
CLANG_DEVICE float cosf(float x)
{
    const clang_turned at = clang_turn(x);
    const float y = at.n & 1 ? at.sine : at.cosine;
    return (at.n + 1) & 2 ? -y : y;
}
CLANG_DEVICE void sincosf(float x, float *sine, float *cosine)
{
    *sine = sinf(x);
    *cosine = cosf(x);
}
CLANG_CALL(float, tanf, (float x), sinf(x) / cosf(x))
// Of an angle near 0, pi / 4 or pi / 2, whose tangent is z.
CLANG_DEVICE float atanf(float x)
{
    const float a = fabsf(x), near = a > 2.41421366f ? 1.57079637f : a > 0.414213562f ? 0.785398163f : 0;
    const float z = a > 2.41421366f ? -1 / a : a > 0.414213562f ? (a - 1) / (a + 1) : a;
    float y = 0;
    for (int k = 17; k > 0; k -= 2)
        y = fmaf(y, -z * z, 1.f / k);
    return __builtin_copysignf(near + y * z, x);
}

// 2^(y * log2(x)), the exponent in double, since its error counts as often as it is large; x as in logf.
CLANG_DEVICE float powf(float x, float y)
{
    const float a = __builtin_fabsf(x), whole = __builtin_truncf(y);
    const bool odd = whole == y && __builtin_truncf(y / 2) * 2 != y;
    if (y == 0 || x == 1 || (x == -1 && isinf(y)))
        return 1;
    if (x != x || y != y || (x < 0 && whole != y && isfinite(x) && isfinite(y)))
        return __builtin_nanf("");
    const bool small = a < 1.17549435e-38f;
    const int bits = __float_as_int(small ? a * 8388608.f : a), e = (bits - 0x3f3504f3) >> 23;
    const double m = __int_as_float(bits - e * 8388608), s = (m - 1) / (m + 1), t = s * s;
    const double series = 1 + t * (1. / 3 + t * (1. / 5 + t * (1. / 7 + t * (1. / 9 + t * (1. / 11 + t / 13)))));
    const double log = (small ? e - 23 : e) + 2.885390081777927 * s * series;
    const double all = a == 0 || isinf(a) ? ((a == 0) == (y < 0) ? 300 : -300) : y * log;
    const double by = all > 300 ? 300 : all < -300 ? -300 : all, n = __builtin_rint(by / 2);
    const float half = exp2f(float(n)),
                value = exp2f(float(by - 2 * n)) * half * half;  // 2^by may be too large for one
    return x < 0 && odd ? -value : value;
}
CLANG_CALL(float, pow, (float x, float y), powf(x, y))
__device__ double pow(double, double) = delete;
CLANG_CALL(float, pow, (float x, int y), powf(x, float(y)))

// The same in double. A series is summed from its end: 1 + r * (1 + r / 2 * (1 + r / 3 * ...)).
CLANG_DEVICE double clang_exp(double x)
{
    if (!(x > -746 && x < 710))
        return x > 0 ? __builtin_inf() : x < 0 ? 0 : x;
    const double n = __builtin_rint(x * 1.4426950408889634);
    const double r = fma(n, -1.9082149292705877e-10, fma(n, -0.6931471803691238, x));
    double y = 1;
    for (int k = 14; k > 0; k--)
        y = fma(y, r * (1. / k), 1);
    const long long half = (long long)n / 2;  // 2^n may be too small for one number
    return y * __builtin_bit_cast(double, (half + 1023) << 52) *
           __builtin_bit_cast(double, ((long long)n - half + 1023) << 52);
}
CLANG_DEVICE double clang_log(double x)
{
    if (!(x > 0) || x == __builtin_inf())
        return x == 0 ? -__builtin_inf() : x < 0 ? __builtin_nan("") : x;
    const bool small = x < 2.2250738585072014e-308;
    const long long bits = __builtin_bit_cast(long long, small ? x * 18014398509481984. : x),
                    e = (bits - 0x3fe6a09e667f3bcd) >> 52;
    const double m = __builtin_bit_cast(double, bits - (e << 52)), s = (m - 1) / (m + 1), t = s * s,
                 n = double(e - (small ? 54 : 0));
    double series = 0;
    for (int k = 12; k > 0; k--)
        series = fma(series, t, 1. / (2 * k + 1));
    return fma(n, 0.6931471803691238, fma(n, 1.9082149292705877e-10, 2 * fma(s * t, series, s)));
}
CLANG_DEVICE double clang_sine(double x, int quarters)
{
    const double n = __builtin_rint(x * 0.6366197723675814);
    const double r = fma(n, 1.4973849048591833e-33, fma(n, -6.123233995736766e-17, fma(n, -1.5707963267948966, x)));
    const int at = int(n) + quarters, odd = at & 1;
    double y = 1;
    for (int k = 10; k > 0; k--)
        y = fma(y, -r * r * (odd ? 1. / (2 * k * (2 * k - 1)) : 1. / (2 * k * (2 * k + 1))), 1);
    y = odd ? y : y * r;
    return at & 2 ? -y : y;
}
CLANG_CALL(double, clang_sin, (double x), clang_sine(x, 0))
CLANG_CALL(double, clang_cos, (double x), clang_sine(x, 1))

// By the name that C++ has for all types: of float, and where there is one, of double. Another is refused.
#define CLANG_OF_FLOAT(name)                                                                                           \
    CLANG_DEVICE float name(float x)                                                                                   \
    {                                                                                                                  \
        return name##f(x);                                                                                             \
    }                                                                                                                  \
    __device__ double name(double) = delete;
CLANG_OF_FLOAT(exp2)
CLANG_OF_FLOAT(log2)
CLANG_OF_FLOAT(tan)
CLANG_OF_FLOAT(atan)
CLANG_OF_FLOAT(tanh)
CLANG_OF_FLOAT(cosh)
#undef CLANG_OF_FLOAT
