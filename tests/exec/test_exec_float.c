// Floating-point instructions, one by one, against plain C on every device. PTX ISA 9.7.3: f32 and f64 arithmetic is
// IEEE 754's with one rounding an instruction; a NaN that an f32 instruction makes is 0x7fffffff; .ftz flushes
// subnormal operands and results to zeros of their sign; .sat clamps to [0, 1], NaN to 0. An f64
// instruction hands on its operand's NaN, made quiet; one that it makes is 0xfff8000000000000 (read off an H200).
#include <criterion/criterion.h>

#include <fenv.h>
#include <float.h>

#include "float_case.h"

// --- f32 ---

// With .ftz a result that is too small for a normal number when rounded to 24 bits, whatever its exponent, is zero: an
// H200 gives 0 for (1 - 2^-24) * 2^-126, which as a subnormal would round to 2^-126. A long double holds the product of
// two floats, and at the one result in question the difference from it.
static uint64_t tiny_to_zero(uint64_t result, long double a, long double b, long double c, unsigned mode)
{
    long double d = F(result), over = (a * b + (c - d)) * (d < 0 ? -1 : 1);
    return mode & FTZ && fabsl(d) == 0x1p-126L && over < -0x1p-151L ? result & 0x80000000 : result;
}

WANT32(sum, a + b)
WANT32(difference, a - b)
WANT32(nearest_product, a *b)
WANT32(nearest_fused, fmaf(a, b, c))
WANT(product, after(tiny_to_zero(nearest_product(a, b, 0, bits &FTZ), F(before(a, bits)), F(before(b, bits)), 0, bits),
                    bits &SAT))
WANT(fused, after(tiny_to_zero(nearest_fused(a, b, c, bits &FTZ), F(before(a, bits)), F(before(b, bits)),
                               F(before(c, bits)), bits),
                  bits &SAT))
WANT(fused_zero, fused(a, b, 0x80000000, bits))
WANT(fused_smallest, fused(a, b, 0x00800000, bits))
WANT32(nearest_quotient, a / b)

static uint64_t divided(uint64_t a, uint64_t b, unsigned mode)
{
    long double q = fabsl((long double)F(before(a, mode)) / F(before(b, mode)));
    uint64_t d = nearest_quotient(a, b, 0, mode);
    return mode & FTZ && q < 0x1.ffffffp-127L ? d & 0x80000000 : d;
}

WANT(quotient, divided(a, b, bits))
WANT(minute_quotient, divided(a, 0x7e800000, bits))
WANT32(reciprocal, 1.0f / a)
WANT32(root, sqrtf(a))

PTX_TEST(exec_float, f32_sums_and_products_round_to_nearest_even, f32s, OP2("add.f32", sum, 32, 0),
         OP2("add.rn.f32", sum, 32, 0), OP2("add.ftz.f32", sum, 32, FTZ), OP2("add.sat.f32", sum, 32, SAT),
         OP2("add.rn.ftz.sat.f32", sum, 32, FTZ | SAT), OP2("sub.f32", difference, 32, 0),
         OP2("sub.rn.f32", difference, 32, 0), OP2("sub.ftz.f32", difference, 32, FTZ),
         OP2("sub.sat.f32", difference, 32, SAT), OP2("sub.rn.ftz.sat.f32", difference, 32, FTZ | SAT),
         OP2("mul.f32", product, 32, 0), OP2("mul.rn.f32", product, 32, 0), OP2("mul.ftz.f32", product, 32, FTZ),
         OP2("mul.sat.f32", product, 32, SAT), OP2("mul.rn.ftz.sat.f32", product, 32, FTZ | SAT))

PTX_TEST(exec_float, f32_fma_rounds_once, f32s, OP3("fma.rn.f32", fused, 32, 0), OP3("fma.rn.ftz.f32", fused, 32, FTZ),
         OP3("fma.rn.sat.f32", fused, 32, SAT), OP3("fma.rn.ftz.sat.f32", fused, 32, FTZ | SAT),
         { "fma.rn.ftz.f32 %d, %a, %b, 0f80000000;", fused_zero, FTZ, 32, 32, 32, 0 },
         { "fma.rn.ftz.f32 %d, %a, %b, 0f00800000;", fused_smallest, FTZ, 32, 32, 32, 0 },
         OP3("mad.rn.f32", fused, 32, 0), OP3("mad.rn.ftz.f32", fused, 32, FTZ))

PTX_TEST(exec_float, f32_division_and_roots_are_rounded_correctly, f32s,
         { "div.rn.f32 %d, %a, 0f7E800000;", minute_quotient, 0, 32, 32, 0, 0 },
         { "div.rn.ftz.f32 %d, %a, 0f7E800000;", minute_quotient, FTZ, 32, 32, 0, 0 },
         OP2("div.rn.f32", quotient, 32, 0), OP2("div.rn.ftz.f32", quotient, 32, FTZ),
         OP1("rcp.rn.f32", reciprocal, 32, 0), OP1("rcp.rn.ftz.f32", reciprocal, 32, FTZ),
         OP1("sqrt.rn.f32", root, 32, 0), OP1("sqrt.rn.ftz.f32", root, 32, FTZ))

WANT32(least, ptx_lesser(a, b))
WANT32(most, -ptx_lesser(-a, -b))
WANT32(least_nan, isnan(a) || isnan(b) ? NAN : ptx_lesser(a, b))
WANT32(most_nan, isnan(a) || isnan(b) ? NAN : -ptx_lesser(-a, -b))
WANT32(least_abs, (signbit(a) != signbit(b) ? -1 : 1) * ptx_lesser(fabsf(a), fabsf(b)))
WANT32(most_abs, (signbit(a) != signbit(b) ? -1 : 1) * -ptx_lesser(-fabsf(a), -fabsf(b)))
WANT32(least_nan_abs, isnan(a) || isnan(b) ? NAN : least_abs_of(a, b, c))
WANT32(most_nan_abs, isnan(a) || isnan(b) ? NAN : most_abs_of(a, b, c))

PTX_TEST(exec_float, f32_minimum_and_maximum_hand_on_nan_or_join_the_signs_where_asked, f32s_sm_90,
         OP2("min.NaN.f32", least_nan, 32, 0), OP2("max.NaN.f32", most_nan, 32, 0),
         OP2("min.ftz.NaN.f32", least_nan, 32, FTZ), OP2("max.ftz.NaN.f32", most_nan, 32, FTZ),
         OP2("min.xorsign.abs.f32", least_abs, 32, 0), OP2("max.xorsign.abs.f32", most_abs, 32, 0),
         OP2("min.NaN.xorsign.abs.f32", least_nan_abs, 32, 0), OP2("max.NaN.xorsign.abs.f32", most_nan_abs, 32, 0),
         OP2("max.ftz.NaN.xorsign.abs.f32", most_nan_abs, 32, FTZ))

PTX_TEST(exec_float, f32_minimum_and_maximum_prefer_numbers_and_order_the_zeros, f32s, OP2("min.f32", least, 32, 0),
         OP2("min.ftz.f32", least, 32, FTZ), OP2("max.f32", most, 32, 0), OP2("max.ftz.f32", most, 32, FTZ))

// PTX promises a NaN for NaN, not which one.
static uint64_t sign_op(uint64_t x, uint64_t result, unsigned bits)
{
    return (bits == 32 ? isnan(F(x)) : isnan(D(x))) ? ptx_some_nan() : result;
}

WANT(negative32, sign_op(a, before(a, bits) ^ 0x80000000, 32))
WANT(magnitude32, sign_op(a, before(a, bits) & 0x7fffffff, 32))
WANT(signed_as32, isnan(F(b)) ? ptx_some_nan() : (a & 0x80000000) | (b & 0x7fffffff))
WANT(negative64, sign_op(a, a ^ 1ull << 63, 64))
WANT(magnitude64, sign_op(a, a & ~(1ull << 63), 64))
WANT(signed_as64, isnan(D(b)) ? ptx_some_nan() : (a & 1ull << 63) | (b & ~(1ull << 63)))

Test(exec_float, signs_change_without_rounding)
{
    static const struct ptx_case narrow[] = {
        OP1("neg.f32", negative32, 32, 0),       OP1("neg.ftz.f32", negative32, 32, FTZ),
        OP1("abs.f32", magnitude32, 32, 0),      OP1("abs.ftz.f32", magnitude32, 32, FTZ),
        OP2("copysign.f32", signed_as32, 32, 0),
    };
    static const struct ptx_case full[] = {
        OP1("neg.f64", negative64, 64, 0),
        OP1("abs.f64", magnitude64, 64, 0),
        OP2("copysign.f64", signed_as64, 64, 0),
    };
    CHECK(narrow, f32s);
    CHECK(full, f64s);
}

// --- f64 ---

WANT64(sum64, a + b)
WANT64(difference64, a - b)
WANT64(product64, a *b)
WANT64(fused64, fma(a, b, c))
WANT64(quotient64, a / b)
WANT64(reciprocal64, 1.0 / a)
WANT64(root64, sqrt(a))

WANT64(least64, ptx_lesser(a, b))
WANT64(most64, -ptx_lesser(-a, -b))

PTX_TEST(exec_float, f64_arithmetic_rounds_once_to_nearest_even, f64s, OP2("add.f64", sum64, 64, 0),
         OP2("add.rn.f64", sum64, 64, 0), OP2("sub.f64", difference64, 64, 0), OP2("sub.rn.f64", difference64, 64, 0),
         OP2("mul.f64", product64, 64, 0), OP2("mul.rn.f64", product64, 64, 0), OP3("fma.rn.f64", fused64, 64, 0),
         OP3("mad.rn.f64", fused64, 64, 0), OP2("div.rn.f64", quotient64, 64, 0),
         OP1("rcp.rn.f64", reciprocal64, 64, 0), OP1("sqrt.rn.f64", root64, 64, 0), OP2("min.f64", least64, 64, 0),
         OP2("max.f64", most64, 64, 0))

// --- directed roundings ---

// A case's bits: modifiers, and above them the rounding. The processor rounds; volatile keeps the arithmetic in place.
enum { ZERO = FE_TOWARDZERO, DOWN = FE_DOWNWARD, UP = FE_UPWARD };
#define MODE(mode, flags) ((unsigned)(mode) << 2 | (flags))
#define DIRECTED(name, T, e)                                                                                           \
    static T name##_rounded(double a, double b, double c, unsigned bits)                                               \
    {                                                                                                                  \
        const volatile T x = (T)a, y = (T)b, z = (T)c;                                                                 \
        (void)y, (void)z;                                                                                              \
        fesetround((int)(bits >> 2));                                                                                  \
        const volatile T d = e;                                                                                        \
        fesetround(FE_TONEAREST);                                                                                      \
        return d;                                                                                                      \
    }

// With .ftz the result of 24 bits decides, whatever its exponent: that of the same operation 2^60 times as large.
static uint64_t directed(float x, double as_f64, unsigned bits)
{
    const volatile double large = as_f64 * 0x1p60;
    fesetround((int)(bits >> 2));
    const volatile float normal = (float)large;
    fesetround(FE_TONEAREST);
    if (bits & FTZ && fabs(as_f64) < FLT_MIN && fabsf(normal) < FLT_MIN * 0x1p60f)
        x = copysignf(0, x);
    return after(ptx_of_float(x), bits & SAT);
}

#define WANT_DIRECTED(name, e, e64)                                                                                    \
    DIRECTED(name, float, e)                                                                                           \
    DIRECTED(name##_long, double, e64)                                                                                 \
    WANT(name, directed(name##_rounded(F(before(a, bits)), F(before(b, bits)), F(before(c, bits)), bits),              \
                        name##_long_rounded(F(before(a, bits)), F(before(b, bits)), F(before(c, bits)), bits), bits))  \
    WANT(name##_64, of_double(name##_long_rounded(D(a), D(b), D(c), bits), a, b, c))
WANT_DIRECTED(sum_to, x + y, x + y)
WANT_DIRECTED(difference_to, x - y, x - y)
WANT_DIRECTED(product_to, x *y, x *y)
WANT_DIRECTED(fused_to, fmaf(x, y, z), fma(x, y, z))
WANT_DIRECTED(quotient_to, x / y, x / y)
WANT_DIRECTED(reciprocal_to, 1 / x, 1 / x)
WANT_DIRECTED(root_to, sqrtf(x), sqrt(x))

#define BOTH(G, op, want, R, mode)                                                                                     \
    G(op "." R ".f32", want, 32, MODE(mode, 0)), G(op "." R ".ftz.f32", want, 32, MODE(mode, FTZ))
#define CLAMPED(G, op, want, R, mode)                                                                                  \
    BOTH(G, op, want, R, mode), G(op "." R ".sat.f32", want, 32, MODE(mode, SAT)),                                     \
        G(op "." R ".ftz.sat.f32", want, 32, MODE(mode, FTZ | SAT))

Test(exec_float, f32_arithmetic_rounds_to_zero_down_or_up)
{
#define ALL(R, mode)                                                                                                   \
    CLAMPED(OP2, "add", sum_to, R, mode), CLAMPED(OP2, "sub", difference_to, R, mode),                                 \
        CLAMPED(OP2, "mul", product_to, R, mode), CLAMPED(OP3, "fma", fused_to, R, mode),                              \
        BOTH(OP2, "div", quotient_to, R, mode), BOTH(OP1, "rcp", reciprocal_to, R, mode),                              \
        BOTH(OP1, "sqrt", root_to, R, mode), OP3("mad." R ".f32", fused_to, 32, MODE(mode, 0))
    static const struct ptx_case cases[] = { ALL("rz", ZERO), ALL("rm", DOWN), ALL("rp", UP) };
    CHECK(cases, f32s);
#undef ALL
}

Test(exec_float, f64_arithmetic_rounds_to_zero_down_or_up)
{
#define ALL(R, mode)                                                                                                   \
    OP2("add." R ".f64", sum_to_64, 64, MODE(mode, 0)), OP2("sub." R ".f64", difference_to_64, 64, MODE(mode, 0)),     \
        OP2("mul." R ".f64", product_to_64, 64, MODE(mode, 0)), OP3("fma." R ".f64", fused_to_64, 64, MODE(mode, 0)),  \
        OP2("div." R ".f64", quotient_to_64, 64, MODE(mode, 0)),                                                       \
        OP1("rcp." R ".f64", reciprocal_to_64, 64, MODE(mode, 0)),                                                     \
        OP1("sqrt." R ".f64", root_to_64, 64, MODE(mode, 0))
    static const struct ptx_case cases[] = { ALL("rz", ZERO), ALL("rm", DOWN), ALL("rp", UP) };
    CHECK(cases, f64s);
#undef ALL
}

// --- approximations: a GPU may differ by what PTX ISA 9.7.3 and 9.7.4 state; half a unit for the rounding of the
// exact value comes on top ---

static uint64_t approximate(uint64_t exact, uint64_t a, uint64_t b, double relative, double absolute, unsigned mode)
{
    (void)a, (void)b;
    return ptx_near(mode & FTZ ? after(exact, FTZ) : exact, PTX_F32S, relative + 0x1p-24, absolute);
}

static uint64_t divided_approximately(uint64_t a, uint64_t b, unsigned mode)
{
    float x = F(before(a, mode)), y = F(before(b, mode));
    double q = (double)x / y;
    if (fabsf(y) > 0x1p126f)  // also for infinity
        q = isinf(x) ? NAN : (double)(x * copysignf(0, y));
    // 2 ulp of a subnormal result are more than the relative error of a normal one
    return approximate(after(ptx_of_float((float)q), mode), a, b, 0x1p-22, mode & FTZ ? 0 : 0x1p-148, mode);
}

#define APPROX(name, e, relative, absolute)                                                                            \
    static double name##_of(double x)                                                                                  \
    {                                                                                                                  \
        return e;                                                                                                      \
    }                                                                                                                  \
    WANT(name, approximate(ptx_of_float((float)name##_of((double)F(before(a, bits)))), a, b, relative,                 \
                           bits &FTZ ? absolute : absolute + 0x1p-149, bits))
WANT(quotient_approx, divided_approximately(a, b, bits))
WANT(quotient_full, approximate(after(ptx_of_float((float)((double)F(before(a, bits)) / F(before(b, bits)))), bits), a,
                                b, 0x1p-22, bits &FTZ ? 0 : 0x1p-148, bits))
APPROX(rcp_approx, 1 / x, 0x1p-23, 0)
APPROX(sqrt_approx, sqrt(x), 0x1p-23, 0)
APPROX(rsqrt_approx, 1 / sqrt(x), 0x1.12p-23, 0)  // 2^-22.9
APPROX(ex2_approx, exp2(x), 0x1.7p-23, 0)         // 2^-22.5
APPROX(lg2_approx, log2(x), 0x1p-22, 0x1p-22)     // absolute near 1, relative elsewhere
APPROX(tanh_approx, tanh(x), 0x1p-11, 0)

// The operand is multiplied by 1 / (2 pi), rounded to zero: large ones lose all digits, which PTX leaves open, and an
// H200 does. What is left of the error is that of the table.
static uint64_t wave(uint64_t a, double (*f)(double), unsigned mode)
{
    const volatile float x = F(before(a, mode)), inverse = ptx_float(0x3e22f983);
    fesetround(FE_TOWARDZERO);
    const volatile float turns = x * inverse;
    fesetround(FE_TONEAREST);
    double t = fabsf(turns) < FLT_MIN ? copysign(0, (double)turns) : (double)turns;
    double d = f((t - rint(t)) * 2 * acos(-1));
    return approximate(isnan(d) ? 0x7fffffff : ptx_of_float((float)d), a, 0, 0, 0x1.6bp-21, mode);
}

WANT(sin_approx, wave(a, sin, bits))
WANT(cos_approx, wave(a, cos, bits))

Test(exec_float, approximations_of_f32_stay_within_the_stated_error)
{
#define WITH_FTZ(G, op, want) G(op ".approx.f32", want, 32, 0), G(op ".approx.ftz.f32", want, 32, FTZ)
    static const struct ptx_case cases[] = {
        WITH_FTZ(OP2, "div", quotient_approx),
        OP2("div.full.f32", quotient_full, 32, 0),
        OP2("div.full.ftz.f32", quotient_full, 32, FTZ),
        WITH_FTZ(OP1, "rcp", rcp_approx),
        WITH_FTZ(OP1, "sqrt", sqrt_approx),
        WITH_FTZ(OP1, "rsqrt", rsqrt_approx),
        WITH_FTZ(OP1, "ex2", ex2_approx),
        WITH_FTZ(OP1, "lg2", lg2_approx),
        WITH_FTZ(OP1, "sin", sin_approx),
        WITH_FTZ(OP1, "cos", cos_approx),
        OP1("tanh.approx.f32", tanh_approx, 32, 0),
    };
    CHECK(cases, f32s);
}

// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 read and write the upper half of the f64 alone.
static double upper(uint64_t bits)
{
    double y = ptx_double(bits & ~0xffffffffull);
    return fabs(y) < DBL_MIN ? copysign(0, y) : y;
}

static uint64_t upper_result(double exact)
{
    return isnan(exact) ? ptx_some_nan() : ptx_near(ptx_of_double(upper(ptx_of_double(exact))), PTX_F64S, 0x1.8p-20, 0);
}

WANT(rcp_approx64, upper_result(1 / upper(a)))
WANT(rsqrt_approx_ftz64, upper_result(1 / sqrt(upper(a))))
WANT(rsqrt_approx64,
     isnan(D(a)) || D(a) < 0 ? ptx_some_nan() : ptx_near(ptx_of_double(1 / sqrt(D(a))), PTX_F64S, 0x1p-27, 0))

PTX_TEST(exec_float, approximations_of_f64_stay_within_the_stated_error, f64s,
         OP1("rcp.approx.ftz.f64", rcp_approx64, 64, 0), OP1("rsqrt.approx.ftz.f64", rsqrt_approx_ftz64, 64, 0),
         OP1("rsqrt.approx.f64", rsqrt_approx64, 64, 0))
