// Floating-point instructions, one by one, against plain C on every device. PTX ISA 9.7.3: f32 and f64 arithmetic is
// IEEE 754's with one rounding an instruction; a NaN that an f32 instruction makes is 0x7fffffff; .ftz flushes
// subnormal operands and results to zeros of their sign; .sat clamps to [0, 1], NaN to 0. An f64
// instruction hands on its operand's NaN, made quiet; one that it makes is 0xfff8000000000000 (read off an H200).
#include <criterion/criterion.h>

#include <math.h>

#include "ptx_case.h"

#define WANT(name, value)                                                                                              \
    static uint64_t name(uint64_t a, uint64_t b, uint64_t c, unsigned bits)                                            \
    {                                                                                                                  \
        (void)a, (void)b, (void)c, (void)bits;                                                                         \
        return value;                                                                                                  \
    }
#define F(x) ptx_float(x)
#define D(x) ptx_double(x)
enum { FTZ = 1, SAT = 2 };  // what a case of f32 tells its expectation: the modifiers of the instruction
#define WANT32(name, value)                                                                                            \
    static float name##_of(float a, float b, float c)                                                                  \
    {                                                                                                                  \
        (void)a, (void)b, (void)c;                                                                                     \
        return value;                                                                                                  \
    }                                                                                                                  \
    WANT(name, (a = before(a, bits), b = before(b, bits), c = before(c, bits),                                         \
                after(ptx_of_float(name##_of(F(a), F(b), F(c))), bits)))
static uint64_t of_double(double x, uint64_t a, uint64_t b, uint64_t c)
{
    const uint64_t operands[] = { a, b, c };  // one that the instruction does not have is 0
    uint64_t nan = 0;
    if (!isnan(x))
        return ptx_of_double(x);
    for (size_t i = 0; i < 3; i++) {
        if (isnan(ptx_double(operands[i])) && nan)
            return ptx_some_nan();  // of several NaNs any may come out
        if (isnan(ptx_double(operands[i])))
            nan = operands[i] | 1ull << 51;
    }
    return nan ? nan : 0xfff8000000000000u;
}

#define WANT64(name, value)                                                                                            \
    static double name##_of(double a, double b, double c)                                                              \
    {                                                                                                                  \
        (void)a, (void)b, (void)c;                                                                                     \
        return value;                                                                                                  \
    }                                                                                                                  \
    WANT(name, of_double(name##_of(D(a), D(b), D(c)), a, b, c))

#define OP1(text, want, n, mode)                                                                                       \
    {                                                                                                                  \
        text " %d, %a;", want, mode, n, n, 0, 0                                                                        \
    }
#define OP2(text, want, n, mode)                                                                                       \
    {                                                                                                                  \
        text " %d, %a, %b;", want, mode, n, n, n, 0                                                                    \
    }
#define OP3(text, want, n, mode)                                                                                       \
    {                                                                                                                  \
        text " %d, %a, %b, %c;", want, mode, n, n, n, n                                                                \
    }

static const struct ptx_operands f32s = { PTX_F32S, PTX_F32S, PTX_F32S };
static const struct ptx_operands f64s = { PTX_F64S, PTX_F64S, PTX_F64S };

#define CHECK(cases, from) ptx_cases_check(cases, PTX_COUNTOF(cases), from)

static uint64_t flushed(uint64_t x)
{
    return (x >> 23 & 255) == 0 ? x & 0x80000000 : x;
}

static uint64_t before(uint64_t x, unsigned mode)
{
    return mode & FTZ ? flushed(x) : x;
}

static uint64_t after(uint64_t x, unsigned mode)
{
    float v = ptx_float(before(x, mode));
    return ptx_of_float(!(mode & SAT) ? v : isnan(v) || v <= 0 ? 0.0f : v > 1 ? 1.0f : v);
}

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

Test(exec_float, f32_sums_and_products_round_to_nearest_even)
{
    static const struct ptx_case cases[] = {
        OP2("add.f32", sum, 32, 0),
        OP2("add.rn.f32", sum, 32, 0),
        OP2("add.ftz.f32", sum, 32, FTZ),
        OP2("add.sat.f32", sum, 32, SAT),
        OP2("add.rn.ftz.sat.f32", sum, 32, FTZ | SAT),
        OP2("sub.f32", difference, 32, 0),
        OP2("sub.rn.f32", difference, 32, 0),
        OP2("sub.ftz.f32", difference, 32, FTZ),
        OP2("sub.sat.f32", difference, 32, SAT),
        OP2("sub.rn.ftz.sat.f32", difference, 32, FTZ | SAT),
        OP2("mul.f32", product, 32, 0),
        OP2("mul.rn.f32", product, 32, 0),
        OP2("mul.ftz.f32", product, 32, FTZ),
        OP2("mul.sat.f32", product, 32, SAT),
        OP2("mul.rn.ftz.sat.f32", product, 32, FTZ | SAT),
    };
    CHECK(cases, f32s);
}

Test(exec_float, f32_fma_rounds_once)
{
    static const struct ptx_case cases[] = {
        OP3("fma.rn.f32", fused, 32, 0),
        OP3("fma.rn.ftz.f32", fused, 32, FTZ),
        OP3("fma.rn.sat.f32", fused, 32, SAT),
        OP3("fma.rn.ftz.sat.f32", fused, 32, FTZ | SAT),
        { "fma.rn.ftz.f32 %d, %a, %b, 0f80000000;", fused_zero, FTZ, 32, 32, 32, 0 },
        { "fma.rn.ftz.f32 %d, %a, %b, 0f00800000;", fused_smallest, FTZ, 32, 32, 32, 0 },
        OP3("mad.rn.f32", fused, 32, 0),
        OP3("mad.rn.ftz.f32", fused, 32, FTZ),
    };
    CHECK(cases, f32s);
}

Test(exec_float, f32_division_and_roots_are_rounded_correctly)
{
    static const struct ptx_case cases[] = {
        { "div.rn.f32 %d, %a, 0f7E800000;", minute_quotient, 0, 32, 32, 0, 0 },
        { "div.rn.ftz.f32 %d, %a, 0f7E800000;", minute_quotient, FTZ, 32, 32, 0, 0 },
        OP2("div.rn.f32", quotient, 32, 0),
        OP2("div.rn.ftz.f32", quotient, 32, FTZ),
        OP1("rcp.rn.f32", reciprocal, 32, 0),
        OP1("rcp.rn.ftz.f32", reciprocal, 32, FTZ),
        OP1("sqrt.rn.f32", root, 32, 0),
        OP1("sqrt.rn.ftz.f32", root, 32, FTZ),
    };
    CHECK(cases, f32s);
}

// The number where one side is NaN; -0 counts as less than +0.
static float lesser(float a, float b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) ? b : a;
    if (a == 0 && b == 0)
        return signbit(a) ? a : b;
    return a < b ? a : b;
}

WANT32(least, lesser(a, b))
WANT32(most, -lesser(-a, -b))

Test(exec_float, f32_minimum_and_maximum_prefer_numbers_and_order_the_zeros)
{
    static const struct ptx_case cases[] = {
        OP2("min.f32", least, 32, 0),
        OP2("min.ftz.f32", least, 32, FTZ),
        OP2("max.f32", most, 32, 0),
        OP2("max.ftz.f32", most, 32, FTZ),
    };
    CHECK(cases, f32s);
}

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

static double lesser64(double a, double b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) ? b : a;
    if (a == 0 && b == 0)
        return signbit(a) ? a : b;
    return a < b ? a : b;
}

WANT64(least64, lesser64(a, b))
WANT64(most64, -lesser64(-a, -b))

Test(exec_float, f64_arithmetic_rounds_once_to_nearest_even)
{
    static const struct ptx_case cases[] = {
        OP2("add.f64", sum64, 64, 0),           OP2("add.rn.f64", sum64, 64, 0),   OP2("sub.f64", difference64, 64, 0),
        OP2("sub.rn.f64", difference64, 64, 0), OP2("mul.f64", product64, 64, 0),  OP2("mul.rn.f64", product64, 64, 0),
        OP3("fma.rn.f64", fused64, 64, 0),      OP3("mad.rn.f64", fused64, 64, 0), OP2("div.rn.f64", quotient64, 64, 0),
        OP1("rcp.rn.f64", reciprocal64, 64, 0), OP1("sqrt.rn.f64", root64, 64, 0), OP2("min.f64", least64, 64, 0),
        OP2("max.f64", most64, 64, 0),
    };
    CHECK(cases, f64s);
}

// --- comparisons ---

enum relation { LESS = 1, EQUAL = 2, GREATER = 4, UNORDERED = 8 };

static enum relation relation_of(double a, double b)
{
    return isnan(a) || isnan(b) ? UNORDERED : a < b ? LESS : a > b ? GREATER : EQUAL;
}

// A comparison is the set of relations that it answers true to.
#define RELATIONS(X)                                                                                                   \
    X(eq, EQUAL)                                                                                                       \
    X(ne, LESS | GREATER)                                                                                              \
    X(lt, LESS) X(le, LESS | EQUAL) X(gt, GREATER) X(ge, GREATER | EQUAL) X(equ, EQUAL | UNORDERED)                    \
        X(neu, LESS | GREATER | UNORDERED) X(ltu, LESS | UNORDERED) X(leu, LESS | EQUAL | UNORDERED)                   \
            X(gtu, GREATER | UNORDERED) X(geu, GREATER | EQUAL | UNORDERED) X(num, LESS | EQUAL | GREATER)             \
                X(nan, UNORDERED)
#define X(op, set)                                                                                                     \
    WANT(op##_32, !!(relation_of(F(a), F(b)) & (set)))                                                                 \
    WANT(op##_ftz, !!(relation_of(F(flushed(a)), F(flushed(b))) & (set)))                                              \
    WANT(op##_64, !!(relation_of(D(a), D(b)) & (set)))
RELATIONS(X)
#undef X

Test(exec_float, comparisons_know_four_relations)
{
    static const struct ptx_case narrow[] = {
#define X(op, set)                                                                                                     \
    { "setp." #op ".f32 %p, %a, %b; selp.u32 %d, 1, 0, %p;", op##_32, 32, 32, 32, 32, 0 },                             \
        { "setp." #op ".ftz.f32 %p, %a, %b; selp.u32 %d, 1, 0, %p;", op##_ftz, 32, 32, 32, 32, 0 },
        RELATIONS(X)
#undef X
    };
    static const struct ptx_case full[] = {
#define X(op, set) { "setp." #op ".f64 %p, %a, %b; selp.u32 %d, 1, 0, %p;", op##_64, 64, 32, 64, 64, 0 },
        RELATIONS(X)
#undef X
    };
    CHECK(narrow, f32s);
    CHECK(full, f64s);
}

// q is the complement of the comparison, also where it is unordered: lt|q, not ge.
WANT(less_pair, relation_of(F(a), F(b)) & LESS ? 1 : 2)
WANT(less_or_nan, relation_of(F(a), F(b)) == LESS || isnan(F(c)))
WANT(less_xor_nan, (relation_of(F(a), F(b)) == LESS) != !!isnan(F(c)))

Test(exec_float, comparisons_join_predicates)
{
    static const struct ptx_case cases[] = {
        { "setp.lt.f32 %p|%q, %a, %b; selp.u32 %r0, 1, 0, %p; selp.u32 %r1, 2, 0, %q; or.b32 %d, %r0, %r1;", less_pair,
          32, 32, 32, 32, 0 },
        { "setp.nan.f32 %q, %c, %c; setp.lt.or.f32 %p, %a, %b, %q; selp.u32 %d, 1, 0, %p;", less_or_nan, 32, 32, 32, 32,
          32 },
        { "setp.nan.f32 %q, %c, %c; setp.lt.xor.f32 %p, %a, %b, %q; selp.u32 %d, 1, 0, %p;", less_xor_nan, 32, 32, 32,
          32, 32 },
    };
    CHECK(cases, f32s);
}

// --- literals ---

WANT32(half_more, a + 0.5f)
WANT32(third, a *(1.0f / 3.0f))
WANT64(tenth64, a * 0.1)
WANT64(minus_two64, a - 2.0)
WANT(minus_inf32, 0xff800000)

Test(exec_float, literals_are_read_as_their_type)
{
    static const struct ptx_case narrow[] = {
        { "add.f32 %d, %a, 0f3F000000;", half_more, 32, 32, 32, 0, 0 },
        { "add.f32 %d, %a, 0.5;", half_more, 32, 32, 32, 0, 0 },
        { "mul.f32 %d, %a, 0f3eaaaaab;", third, 32, 32, 32, 0, 0 },
        { "mov.f32 %d, 0fFF800000;", minus_inf32, 32, 32, 32, 0, 0 },
    };
    static const struct ptx_case full[] = {
        { "mul.f64 %d, %a, 0d3FB999999999999A;", tenth64, 64, 64, 64, 0, 0 },
        { "mul.f64 %d, %a, 0.1;", tenth64, 64, 64, 64, 0, 0 },
        { "add.f64 %d, %a, 0dC000000000000000;", minus_two64, 64, 64, 64, 0, 0 },
        { "add.f64 %d, %a, -2.0;", minus_two64, 64, 64, 64, 0, 0 },
    };
    CHECK(narrow, f32s);
    CHECK(full, f64s);
}
