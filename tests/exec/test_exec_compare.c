// Comparisons of floats and literals, against plain C on every device. PTX ISA 9.7.5 (setp, set, slct), 9.7.3 (testp):
// a comparison is true for some of four relations, less, equal, greater and unordered; .ftz flushes subnormal operands.
#include <criterion/criterion.h>

#include "float_case.h"

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
    X(lt, LESS)                                                                                                        \
    X(le, LESS | EQUAL)                                                                                                \
    X(gt, GREATER)                                                                                                     \
    X(ge, GREATER | EQUAL)                                                                                             \
    X(equ, EQUAL | UNORDERED)                                                                                          \
    X(neu, LESS | GREATER | UNORDERED)                                                                                 \
    X(ltu, LESS | UNORDERED)                                                                                           \
    X(leu, LESS | EQUAL | UNORDERED)                                                                                   \
    X(gtu, GREATER | UNORDERED)                                                                                        \
    X(geu, GREATER | EQUAL | UNORDERED)                                                                                \
    X(num, LESS | EQUAL | GREATER)                                                                                     \
    X(nan, UNORDERED)
#define X(op, set)                                                                                                     \
    WANT(op##_32, !!(relation_of(F(a), F(b)) & (set)))                                                                 \
    WANT(op##_ftz, !!(relation_of(F(flushed(a)), F(flushed(b))) & (set)))                                              \
    WANT(op##_64, !!(relation_of(D(a), D(b)) & (set)))
RELATIONS(X)
#undef X

Test(exec_compare, comparisons_know_four_relations)
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

PTX_TEST(exec_compare, comparisons_join_predicates, f32s,
         { "setp.lt.f32 %p|%q, %a, %b; selp.u32 %r0, 1, 0, %p; selp.u32 %r1, 2, 0, %q; or.b32 %d, %r0, %r1;", less_pair,
           32, 32, 32, 32, 0 },
         { "setp.nan.f32 %q, %c, %c; setp.lt.or.f32 %p, %a, %b, %q; selp.u32 %d, 1, 0, %p;", less_or_nan, 32, 32, 32,
           32, 32 },
         { "setp.nan.f32 %q, %c, %c; setp.lt.xor.f32 %p, %a, %b, %q; selp.u32 %d, 1, 0, %p;", less_xor_nan, 32, 32, 32,
           32, 32 })

WANT(set_relation, relation_of(F(a), F(b)) & LESS ? 0x3f800000 : 0)
WANT(set_ltu_ftz, relation_of(F(flushed(a)), F(flushed(b))) & (LESS | UNORDERED) ? ~0ull : 0)
WANT(set_wide, relation_of(D(a), D(b)) & (GREATER | EQUAL) ? ~0ull : 0)
WANT(by_sign, F(before(c, bits)) >= 0 ? a : b)

Test(exec_compare, set_and_slct_take_floats)
{
    static const struct ptx_case narrow[] = {
        { "set.lt.f32.f32 %d, %a, %b;", set_relation, 0, 32, 32, 32, 0 },
        { "set.ltu.ftz.s32.f32 %d, %a, %b;", set_ltu_ftz, 0, 32, 32, 32, 0 },
        { "slct.b32.f32 %d, %a, %b, %c;", by_sign, 0, 32, 32, 32, 32 },
        { "slct.ftz.f32.f32 %d, %a, %b, %c;", by_sign, FTZ, 32, 32, 32, 32 },
    };
    static const struct ptx_case full[] = { { "set.ge.u32.f64 %d, %a, %b;", set_wide, 0, 32, 64, 64, 0 } };
    CHECK(narrow, f32s);
    CHECK(full, f64s);
}

#define TESTS(X)                                                                                                       \
    X(finite, isfinite(x))                                                                                             \
    X(infinite, isinf(x))                                                                                              \
    X(number, !isnan(x))                                                                                               \
    X(notanumber, isnan(x)) X(normal, isnormal(x) || x == 0) X(subnormal, fpclassify(x) == FP_SUBNORMAL)
#define X(name, e)                                                                                                     \
    static uint64_t is_##name##_32(uint64_t a, uint64_t b, uint64_t c, unsigned bits)                                  \
    {                                                                                                                  \
        float x = F(a);                                                                                                \
        (void)b, (void)c, (void)bits;                                                                                  \
        return !!(e);                                                                                                  \
    }                                                                                                                  \
    static uint64_t is_##name##_64(uint64_t a, uint64_t b, uint64_t c, unsigned bits)                                  \
    {                                                                                                                  \
        double x = D(a);                                                                                               \
        (void)b, (void)c, (void)bits;                                                                                  \
        return !!(e);                                                                                                  \
    }
TESTS(X)
#undef X

Test(exec_compare, testp_knows_the_kinds_of_numbers)
{
    static const struct ptx_case narrow[] = {
#define X(name, e) { "testp." #name ".f32 %p, %a; selp.u32 %d, 1, 0, %p;", is_##name##_32, 0, 32, 32, 0, 0 },
        TESTS(X)
#undef X
    };
    static const struct ptx_case full[] = {
#define X(name, e) { "testp." #name ".f64 %p, %a; selp.u32 %d, 1, 0, %p;", is_##name##_64, 0, 32, 64, 0, 0 },
        TESTS(X)
#undef X
    };
    CHECK(narrow, f32s);
    CHECK(full, f64s);
}

// --- literals ---

WANT32(half_more, a + 0.5f)
WANT32(third, a *(1.0f / 3.0f))
WANT64(tenth64, a * 0.1)
WANT64(minus_two64, a - 2.0)
WANT(minus_inf32, 0xff800000)

Test(exec_compare, literals_are_read_as_their_type)
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
