// How the tests of integer instructions are written: a function in plain C for what is wanted, and rows of cases.
#pragma once

#include "ptx_case.h"

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 uwide;

#define WANT(name, value)                                                                                              \
    static uint64_t name(uint64_t a, uint64_t b, uint64_t c, unsigned bits)                                            \
    {                                                                                                                  \
        (void)a, (void)b, (void)c, (void)bits;                                                                         \
        return (uint64_t)(value);                                                                                      \
    }
#define S(x) ptx_sign(x, bits)

// d = f(a), f(a, b), f(a, b, c) with all registers of the type's width
#define ONE(op, T, n, want)                                                                                            \
    {                                                                                                                  \
        op "." #T " %d, %a;", want, n, n, n, 0, 0                                                                      \
    }
#define TWO(op, T, n, want)                                                                                            \
    {                                                                                                                  \
        op "." #T " %d, %a, %b;", want, n, n, n, n, 0                                                                  \
    }
#define THREE(op, T, n, want)                                                                                          \
    {                                                                                                                  \
        op "." #T " %d, %a, %b, %c;", want, n, n, n, n, n                                                              \
    }
#define UNSIGNED(G, op, want) G(op, u16, 16, want), G(op, u32, 32, want), G(op, u64, 64, want)
#define SIGNED(G, op, want) G(op, s16, 16, want), G(op, s32, 32, want), G(op, s64, 64, want)
#define BITS(G, op, want) G(op, b16, 16, want), G(op, b32, 32, want), G(op, b64, 64, want)

static const struct ptx_operands ints = { PTX_INTS, PTX_INTS, PTX_INTS, false };
static const struct ptx_operands ints_sm_90 = { PTX_INTS, PTX_INTS, PTX_INTS, true };
static const struct ptx_operands shifts = { PTX_INTS, PTX_COUNTS, PTX_COUNTS, false };

#define ODD "and.b32 %r0, %c, 1; setp.ne.u32 %q, %r0, 0; "
#define CHECK(cases, from) ptx_cases_check(cases, PTX_COUNTOF(cases), from)
