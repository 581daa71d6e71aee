// What the tests of floating-point instructions share: expectations in plain C, and their cases.
#pragma once

#include <math.h>

#include "ptx_case.h"

// The expectation `name`: the value that the operands a, b, c give, as bits; bits is what the case says.
#define WANT(name, value)                                                                                              \
    static uint64_t name(uint64_t a, uint64_t b, uint64_t c, unsigned bits)                                            \
    {                                                                                                                  \
        (void)a, (void)b, (void)c, (void)bits;                                                                         \
        return value;                                                                                                  \
    }
#define F(x) ptx_float(x)
#define D(x) ptx_double(x)
enum { FTZ = 1, SAT = 2 };  // what a case of f32 tells its expectation: the modifiers of the instruction
// Of f32, with what FTZ and SAT say done to operands and result.
#define WANT32(name, value)                                                                                            \
    static float name##_of(float a, float b, float c)                                                                  \
    {                                                                                                                  \
        (void)a, (void)b, (void)c;                                                                                     \
        return value;                                                                                                  \
    }                                                                                                                  \
    WANT(name, (a = before(a, bits), b = before(b, bits), c = before(c, bits),                                         \
                after(ptx_of_float(name##_of(F(a), F(b), F(c))), bits)))

// An f64 result: a NaN is the operand's, made quiet, or the one that the instruction makes.
static inline uint64_t of_double(double x, uint64_t a, uint64_t b, uint64_t c)
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

static const struct ptx_operands f32s = { PTX_F32S, PTX_F32S, PTX_F32S, false };
static const struct ptx_operands f32s_sm_90 = { PTX_F32S, PTX_F32S, PTX_F32S, true };
static const struct ptx_operands f64s = { PTX_F64S, PTX_F64S, PTX_F64S, false };

#define CHECK(cases, from) ptx_cases_check(cases, PTX_COUNTOF(cases), from)

static inline uint64_t flushed(uint64_t x)
{
    return (x >> 23 & 255) == 0 ? x & 0x80000000 : x;
}

static inline uint64_t before(uint64_t x, unsigned mode)
{
    return mode & FTZ ? flushed(x) : x;
}

static inline uint64_t after(uint64_t x, unsigned mode)
{
    float v = ptx_float(before(x, mode));
    return ptx_of_float(!(mode & SAT) ? v : isnan(v) || v <= 0 ? 0.0f : v > 1 ? 1.0f : v);
}
