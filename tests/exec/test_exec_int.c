// Integer instructions, one by one, against plain C on every device: arithmetic, packing, comparisons, selection.
// Division by zero is the only result here that PTX leaves to the machine.
#include <criterion/criterion.h>

#include "int_case.h"

// --- arithmetic ---

WANT(sum, a + b)
WANT(difference, a - b)
WANT(product, a *b)
WANT(product_sum, a *b + c)
WANT(high_unsigned, (uwide)a *b >> bits)
WANT(high_signed, (wide)S(a) * S(b) >> bits)
WANT(high_unsigned_sum, ((uwide)a * b >> bits) + c)
WANT(high_signed_sum, (uint64_t)((wide)S(a) * S(b) >> bits) + c)
static int64_t clamp32(int64_t x)
{
    return x < INT32_MIN ? INT32_MIN : x > INT32_MAX ? INT32_MAX : x;
}

WANT(high_signed_clamped, clamp32((int64_t)((wide)S(a) * S(b) >> bits) + S(c)))
WANT(wide_signed, (wide)S(a) * S(b))
WANT(wide_signed_sum, (uint64_t)((wide)S(a) * S(b)) + c)

PTX_TEST(exec_int, sums_differences_and_low_products_wrap_around, ints, UNSIGNED(TWO, "add", sum),
         SIGNED(TWO, "add", sum), UNSIGNED(TWO, "sub", difference), SIGNED(TWO, "sub", difference),
         UNSIGNED(TWO, "mul.lo", product), SIGNED(TWO, "mul.lo", product), UNSIGNED(THREE, "mad.lo", product_sum),
         SIGNED(THREE, "mad.lo", product_sum))

PTX_TEST(exec_int, high_products_keep_the_upper_half, ints, UNSIGNED(TWO, "mul.hi", high_unsigned),
         SIGNED(TWO, "mul.hi", high_signed), UNSIGNED(THREE, "mad.hi", high_unsigned_sum),
         SIGNED(THREE, "mad.hi", high_signed_sum), THREE("mad.hi.sat", s32, 32, high_signed_clamped))

PTX_TEST(exec_int, wide_products_keep_every_bit, ints, { "mul.wide.u16 %d, %a, %b;", product, 16, 32, 16, 16, 0 },
         { "mul.wide.s16 %d, %a, %b;", wide_signed, 16, 32, 16, 16, 0 },
         { "mul.wide.u32 %d, %a, %b;", product, 32, 64, 32, 32, 0 },
         { "mul.wide.s32 %d, %a, %b;", wide_signed, 32, 64, 32, 32, 0 },
         { "mad.wide.u16 %d, %a, %b, %c;", product_sum, 16, 32, 16, 16, 32 },
         { "mad.wide.s16 %d, %a, %b, %c;", wide_signed_sum, 16, 32, 16, 16, 32 },
         { "mad.wide.u32 %d, %a, %b, %c;", product_sum, 32, 64, 32, 32, 64 },
         { "mad.wide.s32 %d, %a, %b, %c;", wide_signed_sum, 32, 64, 32, 32, 64 })

WANT(quotient_u, b ? a / b : ptx_open(~0ull))
WANT(quotient_s, b ? (uint64_t)((wide)S(a) / S(b)) : ptx_open(~0ull))
WANT(rest_u, b ? a % b : ptx_open(~0ull))
WANT(rest_s, b ? (uint64_t)((wide)S(a) % S(b)) : ptx_open(~0ull))

PTX_TEST(exec_int, division_truncates_and_the_remainder_has_the_sign_of_the_dividend, ints,
         UNSIGNED(TWO, "div", quotient_u), SIGNED(TWO, "div", quotient_s), UNSIGNED(TWO, "rem", rest_u),
         SIGNED(TWO, "rem", rest_s))

WANT(least_u, a < b ? a : b)
WANT(least_s, S(a) < S(b) ? a : b)
WANT(most_u, a > b ? a : b)
WANT(most_s, S(a) > S(b) ? a : b)
WANT(negative, 0 - a)
WANT(magnitude, S(a) < 0 ? 0 - a : a)
WANT(saturated_sum, clamp32(S(a) + S(b)))
WANT(saturated_difference, clamp32(S(a) - S(b)))
WANT(distance_u, (a > b ? a - b : b - a) + c)
WANT(distance_s, (uint64_t)(S(a) > S(b) ? S(a) - S(b) : S(b) - S(a)) + c)

PTX_TEST(exec_int, minimum_maximum_absolute_value_and_saturation, ints, UNSIGNED(TWO, "min", least_u),
         SIGNED(TWO, "min", least_s), UNSIGNED(TWO, "max", most_u), SIGNED(TWO, "max", most_s),
         SIGNED(ONE, "neg", negative), SIGNED(ONE, "abs", magnitude), TWO("add.sat", s32, 32, saturated_sum),
         TWO("sub.sat", s32, 32, saturated_difference), THREE("sad", u32, 32, distance_u),
         THREE("sad", s32, 32, distance_s))

// --- 24 bits, 16 bits, bytes ---

static int64_t low24(uint64_t x, bool sign)
{
    return sign ? ptx_sign(x, 24) : (int64_t)(x & 0xffffff);
}

WANT(low_product24_u, low24(a, false) * low24(b, false) + (int64_t)c)
WANT(low_product24_s, low24(a, true) * low24(b, true) + (int64_t)c)
WANT(high_product24_u, (uint64_t)(low24(a, false) * low24(b, false)) / 65536 + c)
WANT(high_product24_s, (low24(a, true) * low24(b, true) >> 16) + (int64_t)c)
WANT(high_product24_clamped, clamp32((int32_t)(low24(a, true) * low24(b, true) >> 16) + ptx_sign(c, 32)))

PTX_TEST(exec_int, products_of_24_bits, ints, TWO("mul24.lo", u32, 32, low_product24_u),
         TWO("mul24.lo", s32, 32, low_product24_s), TWO("mul24.hi", u32, 32, high_product24_u),
         TWO("mul24.hi", s32, 32, high_product24_s), THREE("mad24.lo", u32, 32, low_product24_u),
         THREE("mad24.lo", s32, 32, low_product24_s), THREE("mad24.hi", u32, 32, high_product24_u),
         THREE("mad24.hi", s32, 32, high_product24_s), THREE("mad24.hi.sat", s32, 32, high_product24_clamped))

// bits: 1 a's fields are signed, 2 b's bytes are, 4 four fields of 8 bits in a rather than two of 16, 8 b's upper bytes
static uint64_t dot(uint64_t a, uint64_t b, uint64_t c, unsigned bits)
{
    unsigned n = bits & 4 ? 4 : 2, width = 32 / n;
    for (unsigned i = 0; i < n; i++) {
        uint64_t x = a >> width * i & ((1u << width) - 1), y = b >> 8 * (i + (bits & 8 ? 2 : 0)) & 255;
        int64_t p = (bits & 1 ? ptx_sign(x, width) : (int64_t)x) * (bits & 2 ? ptx_sign(y, 8) : (int64_t)y);
        c += (uint64_t)p;
    }
    return c;
}

Test(exec_int, dot_products_of_bytes)
{
#define DOT(op, mode)                                                                                                  \
    { op ".u32.u32 %d, %a, %b, %c;", dot, mode, 32, 32, 32, 32 },                                                      \
        { op ".s32.u32 %d, %a, %b, %c;", dot, mode | 1, 32, 32, 32, 32 },                                              \
        { op ".u32.s32 %d, %a, %b, %c;", dot, mode | 2, 32, 32, 32, 32 },                                              \
    {                                                                                                                  \
        op ".s32.s32 %d, %a, %b, %c;", dot, mode | 3, 32, 32, 32, 32                                                   \
    }
    static const struct ptx_case cases[] = { DOT("dp4a", 4), DOT("dp2a.lo", 0), DOT("dp2a.hi", 8) };
    CHECK(cases, ints);
}

#define WANT_PAIR(name, T, e)                                                                                          \
    static uint64_t name(uint64_t a, uint64_t b, uint64_t c, unsigned bits)                                            \
    {                                                                                                                  \
        uint64_t d = 0;                                                                                                \
        (void)c, (void)bits;                                                                                           \
        for (int i = 0; i < 32; i += 16) {                                                                             \
            T x = (T)(a >> i), y = (T)(b >> i);                                                                        \
            d |= ((uint64_t)(e)&0xffff) << i;                                                                          \
        }                                                                                                              \
        return d;                                                                                                      \
    }
WANT_PAIR(pair_sum, uint16_t, x + y)
WANT_PAIR(pair_least_u, uint16_t, x < y ? x : y)
WANT_PAIR(pair_most_u, uint16_t, x > y ? x : y)
WANT_PAIR(pair_least_s, int16_t, x < y ? x : y)
WANT_PAIR(pair_most_s, int16_t, x > y ? x : y)
WANT_PAIR(pair_least_relu, int16_t, x < 0 || y < 0 ? 0 : x < y ? x : y)
WANT_PAIR(pair_most_relu, int16_t, x < 0 && y < 0 ? 0 : x > y ? x : y)
WANT(least_relu, S(a) < 0 || S(b) < 0 ? 0 : a < b ? a : b)
WANT(most_relu, S(a) < 0 && S(b) < 0 ? 0 : S(a) > S(b) ? a : b)

PTX_TEST(exec_int, pairs_of_16_bits_and_results_without_negatives, ints_sm_90, TWO("add", u16x2, 32, pair_sum),
         TWO("add", s16x2, 32, pair_sum), TWO("min", u16x2, 32, pair_least_u), TWO("max", u16x2, 32, pair_most_u),
         TWO("min", s16x2, 32, pair_least_s), TWO("max", s16x2, 32, pair_most_s),
         TWO("min.relu", s16x2, 32, pair_least_relu), TWO("max.relu", s16x2, 32, pair_most_relu),
         TWO("min.relu", s32, 32, least_relu), TWO("max.relu", s32, 32, most_relu))

// --- numbers of several registers: the carry flag ---

// The answer of each of these is the upper part of a sum or difference of two words, which needs the carry of the
// lower.
WANT(carry_out, ((uwide)a + b) >> bits)
WANT(carry_through, ((((uwide)c << bits | a) + ((uwide)a << bits | b)) >> bits))
WANT(carry_third, ((uwide)a + b + (uint64_t)(((uwide)a + b) >> bits)) >> bits)
WANT(borrow_out, a < b ? ~0ull : 0)
WANT(borrow_through, (((uwide)c << bits | a) - ((uwide)a << bits | b)) >> bits)
WANT(not_borrowed, a >= b)
WANT(not_carried, ((uwide)a + b) >> bits ? 0 : ~0ull)
#define PRODUCTS(T, product)                                                                                           \
    WANT(product_carry_##T, ((uwide)(product) + c) >> bits)                                                            \
    WANT(hi_carry_##T, ((uwide)((uint64_t)((product) >> bits) & (~0ull >> (64 - bits))) + c) >> bits)
PRODUCTS(u32, (uwide)a *b)
PRODUCTS(s32, (wide)S(a) * S(b))
PRODUCTS(u64, (uwide)a *b)
PRODUCTS(s64, (wide)S(a) * S(b))

Test(exec_int, carries_and_borrows_reach_the_next_word)
{
#define CARRY(T, n)                                                                                                    \
    { "add.cc." #T " %d, %a, %b; addc." #T " %d, 0, 0;", carry_out, n, n, n, n, 0 },                                   \
        { "add.cc." #T " %d, %a, %b; addc.cc." #T " %d, %c, %a;", carry_through, n, n, n, n, n },                      \
        { "sub.cc." #T " %d, %a, %b; subc." #T " %d, 0, 0;", borrow_out, n, n, n, n, 0 },                              \
        { "sub.cc." #T " %d, %a, %b; subc.cc." #T " %d, %c, %a;", borrow_through, n, n, n, n, n },                     \
        { "mov.b" #n " %d, %a; add.cc." #T " %d, %d, %b; addc." #T " %d, 0, 0;", carry_out, n, n, n, n, 0 },           \
        { "mad.lo.cc." #T " %d, %a, %b, %c; madc.hi." #T " %d, %a, %b, 0;", product_carry_##T, n, n, n, n, n },        \
        { "mad.hi.cc." #T " %d, %a, %b, %c; addc.cc." #T " %d, 0, 0;", hi_carry_##T, n, n, n, n, n },                  \
    {                                                                                                                  \
        "add.cc." #T " %d, %a, %b; addc.cc." #T " %d, %a, %b; addc." #T " %d, 0, 0;", carry_third, n, n, n, n, 0       \
    }
    static const struct ptx_case cases[] = { CARRY(u32, 32), CARRY(s32, 32), CARRY(u64, 64), CARRY(s64, 64) };
    CHECK(cases, ints);
}

// What PTX leaves open, as an H200 has it: the carry of a difference is 1 where nothing was borrowed.
PTX_TEST(exec_int, sums_and_differences_share_a_carry, ints,
         { "sub.cc.u32 %d, %a, %b; addc.u32 %d, 0, 0;", not_borrowed, 32, 32, 32, 32, 0 },
         { "add.cc.u32 %d, %a, %b; subc.u32 %d, 0, 0;", not_carried, 32, 32, 32, 32, 0 },
         { "sub.cc.s32 %d, %a, %b; addc.cc.s32 %d, 0, 0;", not_borrowed, 32, 32, 32, 32, 0 },
         { "sub.cc.s32 %d, %a, %b; subc.s32 %d, 0, 0;", borrow_out, 32, 32, 32, 32, 0 })

// --- packing ---

WANT(swapped64, a << 32 | a >> 32)
WANT(swapped32, a << 16 | a >> 16)
WANT(packed64, a | b << 32)
WANT(packed32, a | b << 16)
WANT(turned64, a >> 48 | (a >> 16 & 0xffff0000) | (a << 16 & 0xffff00000000) | a << 48)
WANT(odd_words, (a >> 16 & 0xffff) | (a >> 32 & 0xffff0000))
WANT(low32, a & 0xffffffff)
WANT(high32, a >> 32)
WANT(high16, a >> 16)

PTX_TEST(exec_int, vectors_of_halves_pack_and_unpack, ints, { "mov.b64 %d, {%a, %b};", packed64, 0, 64, 32, 32, 0 },
         { "mov.b32 %d, {%a, %b};", packed32, 0, 32, 16, 16, 0 },
         { "mov.b64 {%r0, %r1}, %a; mov.b64 %d, {%r1, %r0};", swapped64, 0, 64, 64, 0, 0 },
         { "mov.b32 {%h0, %h1}, %a; mov.b32 %d, {%h1, %h0};", swapped32, 0, 32, 32, 0, 0 },
         { "mov.b64 {%h0, %h1, %h2, %h3}, %a; mov.b64 %d, {%h3, %h2, %h1, %h0};", turned64, 0, 64, 64, 0, 0 },
         { "mov.b64 {%r0, %r1}, %a; mov.b64 {%h0, %h1, _, %h3}, %a; cvt.u32.u16 %r2, %h3; shl.b32 %r2, %r2, 16;"
           "cvt.u32.u16 %d, %h1; or.b32 %d, %d, %r2;",
           odd_words, 0, 32, 64, 0, 0 },
         { "mov.b64 {%d, %r0}, %a;", low32, 0, 32, 64, 0, 0 }, { "mov.b64 {%r0, %d}, %a;", high32, 0, 32, 64, 0, 0 },
         { "mov.b32 {%h0, %d}, %a;", high16, 0, 16, 32, 0, 0 })

// --- comparisons and selection ---

WANT(eq, a == b)
WANT(ne, a != b)
WANT(lt_u, a < b)
WANT(le_u, a <= b)
WANT(gt_u, a > b)
WANT(ge_u, a >= b)
WANT(lt_s, S(a) < S(b))
WANT(le_s, S(a) <= S(b))
WANT(gt_s, S(a) > S(b))
WANT(ge_s, S(a) >= S(b))
#define SET(op, T, n, want)                                                                                            \
    {                                                                                                                  \
        "setp." op "." #T " %p, %a, %b; selp.u32 %d, 1, 0, %p;", want, n, 32, n, n, 0                                  \
    }

PTX_TEST(exec_int, comparisons_are_signed_or_unsigned_by_their_type, ints, BITS(SET, "eq", eq), BITS(SET, "ne", ne),
         UNSIGNED(SET, "eq", eq), UNSIGNED(SET, "ne", ne), UNSIGNED(SET, "lt", lt_u), UNSIGNED(SET, "le", le_u),
         UNSIGNED(SET, "gt", gt_u), UNSIGNED(SET, "ge", ge_u), UNSIGNED(SET, "lo", lt_u), UNSIGNED(SET, "ls", le_u),
         UNSIGNED(SET, "hi", gt_u), UNSIGNED(SET, "hs", ge_u), SIGNED(SET, "eq", eq), SIGNED(SET, "ne", ne),
         SIGNED(SET, "lt", lt_s), SIGNED(SET, "le", le_s), SIGNED(SET, "gt", gt_s), SIGNED(SET, "ge", ge_s))

// p = (a < b) joined with (c odd), q = (a >= b) joined with it; the answer is p + 2 q.
static uint64_t pair_of(bool t, bool c, char join)
{
    bool p = join == '&' ? t && c : join == '|' ? t || c : t != c;
    bool q = join == '&' ? !t && c : join == '|' ? !t || c : !t != c;
    return (uint64_t)p + 2 * (uint64_t)q;
}

WANT(pair_plain, S(a) < S(b) ? 1 : 2)
WANT(pair_and, pair_of(S(a) < S(b), c & 1, '&'))
WANT(pair_or, pair_of(S(a) < S(b), c & 1, '|'))
WANT(pair_xor, pair_of(S(a) < S(b), c & 1, '^'))
WANT(pair_and_not, pair_of(S(a) < S(b), !(c & 1), '&'))
WANT(only_q, S(a) < S(b) ? 0 : 2)
WANT(guarded_pair, c & 1 ? pair_plain(a, b, c, bits) : 0)
WANT(logic, ((a ^ b) & 1) | ((a & b) & 1) << 1 | ((a | b) & 1) << 2 | (~a & 1) << 3)
WANT(choice, c & 1 ? a : b)
WANT(guarded, c & 1 ? a + b : a)
#define PAIR "selp.u32 %r1, 1, 0, %p; selp.u32 %r2, 2, 0, %q; or.b32 %d, %r1, %r2;"

PTX_TEST(exec_int, setp_joins_a_predicate_and_writes_its_complement_too, ints,
         { "setp.lt.s32 %p|%q, %a, %b; " PAIR, pair_plain, 32, 32, 32, 32, 32 },
         { ODD "setp.lt.and.s32 %p|%q, %a, %b, %q; " PAIR, pair_and, 32, 32, 32, 32, 32 },
         { ODD "setp.lt.or.s32 %p|%q, %a, %b, %q; " PAIR, pair_or, 32, 32, 32, 32, 32 },
         { ODD "setp.lt.xor.s32 %p|%q, %a, %b, %q; " PAIR, pair_xor, 32, 32, 32, 32, 32 },
         { ODD "mov.pred %p, %q; setp.lt.and.s32 %p|%q, %a, %b, %p; " PAIR, pair_and, 32, 32, 32, 32, 32 },
         { ODD "setp.lt.and.s32 %p|%q, %a, %b, !%q; " PAIR, pair_and_not, 32, 32, 32, 32, 32 },
         { "setp.ne.u32 %p, 0, 0; setp.lt.s32 _|%q, %a, %b; " PAIR, only_q, 32, 32, 32, 32, 32 },
         { ODD "setp.ne.u32 %p, 1, 1; @!%q bra L; setp.lt.s32 %p|%q, %a, %b; L: " PAIR, guarded_pair, 32, 32, 32, 32,
           32 },
         { ODD "mov.pred %p, %q; setp.ne.u32 %q, 1, 1; @%p setp.lt.s32 %p|%q, %a, %b; " PAIR, guarded_pair, 32, 32, 32,
           32, 32 },
         { ODD "setp.ne.u32 %p, 1, 1; @%q setp.lt.s32 %p|%q, %a, %b; " PAIR, guarded_pair, 32, 32, 32, 32, 32 })

PTX_TEST(exec_int, predicates_combine_and_select, ints,
         { ".reg .pred s, t; and.b32 %r0, %a, 1; setp.ne.u32 %p, %r0, 0; and.b32 %r0, %b, 1; setp.ne.u32 %q, %r0, 0;"
           "xor.pred s, %p, %q; selp.u32 %d, 1, 0, s; and.pred s, %p, %q; selp.u32 %r1, 2, 0, s; or.b32 %d, %d, %r1;"
           "or.pred s, %p, %q; selp.u32 %r1, 4, 0, s; or.b32 %d, %d, %r1; not.pred t, %p; mov.pred s, t;"
           "selp.u32 %r1, 8, 0, s; or.b32 %d, %d, %r1;",
           logic, 0, 32, 32, 32, 0 },
         { ODD "selp.b16 %d, %a, %b, %q;", choice, 0, 16, 16, 16, 32 },
         { ODD "selp.b32 %d, %a, %b, %q;", choice, 0, 32, 32, 32, 32 },
         { ODD "selp.b64 %d, %a, %b, %q;", choice, 0, 64, 64, 64, 32 },
         { ODD "selp.f32 %d, %a, %b, %q;", choice, 0, 32, 32, 32, 32 },
         { ODD "selp.f64 %d, %a, %b, %q;", choice, 0, 64, 64, 64, 32 },
         { ODD "selp.s32 %d, %a, %b, %q;", choice, 0, 32, 32, 32, 32 },
         { ODD "mov.b32 %d, %a; @%q add.s32 %d, %d, %b;", guarded, 0, 32, 32, 32, 32 },
         { ODD "mov.b64 %d, %a; @%q add.s64 %d, %d, %b;", guarded, 0, 64, 64, 64, 32 },
         { ODD "mov.b16 %d, %a; @%q add.s16 %d, %d, %b;", guarded, 0, 16, 16, 16, 32 })

WANT(set_u32, S(a) < S(b) ? ~0ull : 0)
WANT(set_u32_low, a < b ? ~0ull : 0)
WANT(set_f32, a < b ? 0x3f800000 : 0)
WANT(set_and, S(a) < S(b) && (c & 1) ? ~0ull : 0)
WANT(set_equal, a == b ? ~0ull : 0)
WANT(by_sign, ptx_sign(c, 32) >= 0 ? a : b)

PTX_TEST(exec_int, set_answers_all_ones_or_one_and_slct_chooses_by_sign, ints,
         { "set.lt.u32.s32 %d, %a, %b;", set_u32, 32, 32, 32, 32, 0 },
         { "set.lt.u32.s16 %d, %a, %b;", set_u32, 16, 32, 16, 16, 0 },
         { "set.lo.s32.u64 %d, %a, %b;", set_u32_low, 64, 32, 64, 64, 0 },
         { "set.lt.f32.u32 %d, %a, %b;", set_f32, 32, 32, 32, 32, 0 },
         { "set.eq.u32.b32 %d, %a, %b;", set_equal, 32, 32, 32, 32, 0 },
         { ODD "set.lt.and.u32.s32 %d, %a, %b, %q;", set_and, 32, 32, 32, 32, 32 },
         { "slct.b32.s32 %d, %a, %b, %c;", by_sign, 0, 32, 32, 32, 32 },
         { "slct.u64.s32 %d, %a, %b, %c;", by_sign, 0, 64, 64, 64, 32 },
         { "slct.s16.s32 %d, %a, %b, %c;", by_sign, 0, 16, 16, 16, 32 },
         { "slct.f64.s32 %d, %a, %b, %c;", by_sign, 0, 64, 64, 64, 32 })

WANT(three, 3)

Test(exec_int, isspacep_knows_the_windows)
{
#define SPACES                                                                                                         \
    "isspacep.global %p, %l1; selp.u32 %r0, 1, 0, %p; isspacep.shared %p, %l1; selp.u32 %r1, 2, 0, %p;"                \
    "or.b32 %r0, %r0, %r1; isspacep.local %p, %l1; selp.u32 %r1, 4, 0, %p; or.b32 %r0, %r0, %r1;"
    static const struct ptx_case cases[] = {
        { ".shared .b32 s; mov.u64 %l0, s; cvta.shared.u64 %l1, %l0;" SPACES "add.u32 %d, %r0, 1;", three, 0, 32, 0, 0,
          0 },
        { ".local .b32 s; mov.u64 %l0, s; cvta.local.u64 %l1, %l0;" SPACES "sub.u32 %d, %r0, 1;", three, 0, 32, 0, 0,
          0 },
        { "mov.u64 %l1, %x0;" SPACES "add.u32 %d, %r0, 2;", three, 0, 32, 0, 0, 0 },
    };
    CHECK(cases, ints);
}

// --- immediates ---

WANT(plus_minus_three, a - 3)
WANT(times_hex, a * 0xfedcba98u)
WANT(shifted_by_33, 0 * a)
WANT(minus_one_u64, a & ~0ull)
WANT(hundred_minus, 100 - a)

PTX_TEST(exec_int, literals_stand_for_registers, ints, { "add.s16 %d, %a, -3;", plus_minus_three, 0, 16, 16, 0, 0 },
         { "add.s32 %d, %a, -3;", plus_minus_three, 0, 32, 32, 0, 0 },
         { "add.s64 %d, %a, -3;", plus_minus_three, 0, 64, 64, 0, 0 },
         { "mul.lo.u32 %d, %a, 0xFEDCBA98;", times_hex, 0, 32, 32, 0, 0 },
         { "mul.lo.u32 %d, %a, 4275878552U;", times_hex, 0, 32, 32, 0, 0 },
         { "shl.b32 %d, %a, 33;", shifted_by_33, 0, 32, 32, 0, 0 },
         { "and.b64 %d, %a, -1;", minus_one_u64, 0, 64, 64, 0, 0 },
         { "sub.s32 %d, 0144, %a;", hundred_minus, 0, 32, 32, 0, 0 },
         { "sub.s32 %d, 0b1100100, %a;", hundred_minus, 0, 32, 32, 0, 0 })
