// Integer and bit instructions, one by one, against plain C on every device: arithmetic, shifts, bit fields, integer
// comparisons, selection, moves. Division by zero is the only result here that PTX leaves to the machine.
#include <criterion/criterion.h>

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

static const struct ptx_operands ints = { PTX_INTS, PTX_INTS, PTX_INTS };
static const struct ptx_operands shifts = { PTX_INTS, PTX_COUNTS, PTX_COUNTS };

#define CHECK(cases, from) ptx_cases_check(cases, PTX_COUNTOF(cases), from)

// --- arithmetic ---

WANT(sum, a + b)
WANT(difference, a - b)
WANT(product, a *b)
WANT(product_sum, a *b + c)
WANT(high_unsigned, (uwide)a *b >> bits)
WANT(high_signed, (wide)S(a) * S(b) >> bits)
WANT(high_unsigned_sum, ((uwide)a * b >> bits) + c)
WANT(high_signed_sum, (uint64_t)((wide)S(a) * S(b) >> bits) + c)
WANT(wide_signed, (wide)S(a) * S(b))
WANT(wide_signed_sum, (uint64_t)((wide)S(a) * S(b)) + c)

Test(exec_int, sums_differences_and_low_products_wrap_around)
{
    static const struct ptx_case cases[] = {
        UNSIGNED(TWO, "add", sum),
        SIGNED(TWO, "add", sum),
        UNSIGNED(TWO, "sub", difference),
        SIGNED(TWO, "sub", difference),
        UNSIGNED(TWO, "mul.lo", product),
        SIGNED(TWO, "mul.lo", product),
        UNSIGNED(THREE, "mad.lo", product_sum),
        SIGNED(THREE, "mad.lo", product_sum),
    };
    CHECK(cases, ints);
}

Test(exec_int, high_products_keep_the_upper_half)
{
    static const struct ptx_case cases[] = {
        UNSIGNED(TWO, "mul.hi", high_unsigned),
        SIGNED(TWO, "mul.hi", high_signed),
        THREE("mad.hi", u32, 32, high_unsigned_sum),
        THREE("mad.hi", s32, 32, high_signed_sum),
    };
    CHECK(cases, ints);
}

Test(exec_int, wide_products_keep_every_bit)
{
    static const struct ptx_case cases[] = {
        { "mul.wide.u16 %d, %a, %b;", product, 16, 32, 16, 16, 0 },
        { "mul.wide.s16 %d, %a, %b;", wide_signed, 16, 32, 16, 16, 0 },
        { "mul.wide.u32 %d, %a, %b;", product, 32, 64, 32, 32, 0 },
        { "mul.wide.s32 %d, %a, %b;", wide_signed, 32, 64, 32, 32, 0 },
        { "mad.wide.u16 %d, %a, %b, %c;", product_sum, 16, 32, 16, 16, 32 },
        { "mad.wide.s16 %d, %a, %b, %c;", wide_signed_sum, 16, 32, 16, 16, 32 },
        { "mad.wide.u32 %d, %a, %b, %c;", product_sum, 32, 64, 32, 32, 64 },
        { "mad.wide.s32 %d, %a, %b, %c;", wide_signed_sum, 32, 64, 32, 32, 64 },
    };
    CHECK(cases, ints);
}

WANT(quotient_u, b ? a / b : ptx_open(~0ull))
WANT(quotient_s, b ? (uint64_t)((wide)S(a) / S(b)) : ptx_open(~0ull))
WANT(rest_u, b ? a % b : ptx_open(~0ull))
WANT(rest_s, b ? (uint64_t)((wide)S(a) % S(b)) : ptx_open(~0ull))

Test(exec_int, division_truncates_and_the_remainder_has_the_sign_of_the_dividend)
{
    static const struct ptx_case cases[] = {
        UNSIGNED(TWO, "div", quotient_u),
        SIGNED(TWO, "div", quotient_s),
        UNSIGNED(TWO, "rem", rest_u),
        SIGNED(TWO, "rem", rest_s),
    };
    CHECK(cases, ints);
}

static int64_t clamp32(int64_t x)
{
    return x < INT32_MIN ? INT32_MIN : x > INT32_MAX ? INT32_MAX : x;
}

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

Test(exec_int, minimum_maximum_absolute_value_and_saturation)
{
    static const struct ptx_case cases[] = {
        UNSIGNED(TWO, "min", least_u),          SIGNED(TWO, "min", least_s),
        UNSIGNED(TWO, "max", most_u),           SIGNED(TWO, "max", most_s),
        SIGNED(ONE, "neg", negative),           SIGNED(ONE, "abs", magnitude),
        TWO("add.sat", s32, 32, saturated_sum), TWO("sub.sat", s32, 32, saturated_difference),
        THREE("sad", u32, 32, distance_u),      THREE("sad", s32, 32, distance_s),
    };
    CHECK(cases, ints);
}

// --- bits ---

WANT(both, a &b)
WANT(either, a | b)
WANT(one_of, a ^ b)
WANT(inverse, ~a)
WANT(is_zero, a ? 0 : 1)
WANT(same, a)

Test(exec_int, bitwise_logic_and_moves)
{
    static const struct ptx_case cases[] = {
        BITS(TWO, "and", both),     BITS(TWO, "or", either),   BITS(TWO, "xor", one_of), BITS(ONE, "not", inverse),
        BITS(ONE, "cnot", is_zero), BITS(ONE, "mov", same),    SIGNED(ONE, "mov", same), UNSIGNED(ONE, "mov", same),
        ONE("mov", f32, 32, same),  ONE("mov", f64, 64, same),
    };
    CHECK(cases, ints);
}

WANT(shifted_left, b >= bits ? 0 : a << b)
WANT(shifted_right, b >= bits ? 0 : a >> b)
WANT(shifted_signed, S(a) >> (b >= bits ? bits - 1 : b))
#define SHIFT(op, T, n, want)                                                                                          \
    {                                                                                                                  \
        op "." #T " %d, %a, %b;", want, n, n, n, 32, 0                                                                 \
    }

Test(exec_int, shift_amounts_clamp_at_the_width)
{
    static const struct ptx_case cases[] = {
        BITS(SHIFT, "shl", shifted_left),
        BITS(SHIFT, "shr", shifted_right),
        UNSIGNED(SHIFT, "shr", shifted_right),
        SIGNED(SHIFT, "shr", shifted_signed),
    };
    CHECK(cases, shifts);
}

// The funnel: {b, a} moved by n, and the half that stays.
static uint64_t funnel(uint64_t a, uint64_t b, uint64_t n, bool left)
{
    uwide pair = (uwide)(b << 32 | a);
    return (uint64_t)(left ? pair << n >> 32 : pair >> n) & 0xffffffff;
}

WANT(funnel_left_wrap, funnel(a, b, c % 32, true))
WANT(funnel_right_wrap, funnel(a, b, c % 32, false))
WANT(funnel_left_clamp, funnel(a, b, c < 32 ? c : 32, true))
WANT(funnel_right_clamp, funnel(a, b, c < 32 ? c : 32, false))

Test(exec_int, funnel_shifts_wrap_or_clamp)
{
    static const struct ptx_case cases[] = {
        THREE("shf.l.wrap", b32, 32, funnel_left_wrap),
        THREE("shf.r.wrap", b32, 32, funnel_right_wrap),
        THREE("shf.l.clamp", b32, 32, funnel_left_clamp),
        THREE("shf.r.clamp", b32, 32, funnel_right_clamp),
    };
    ptx_cases_check(cases, PTX_COUNTOF(cases), (struct ptx_operands){ PTX_INTS, PTX_INTS, PTX_COUNTS });
}

static unsigned bit_of(uint64_t x, unsigned i)
{
    return x >> i & 1;
}

// PTX ISA, bfe: bit by bit, as its pseudo-code describes the result; position and length are the low 8 bits.
static uint64_t extracted(uint64_t a, unsigned position, unsigned length, unsigned bits, bool is_signed)
{
    unsigned last = position + length ? position + length - 1 : 0;
    unsigned top = last < bits - 1 ? last : bits - 1, sign = is_signed && length ? bit_of(a, top) : 0;
    uint64_t d = 0;
    for (unsigned i = 0; i < bits; i++)
        d |= (uint64_t)(i < length && position + i < bits ? bit_of(a, position + i) : sign) << i;
    return d;
}

// Values beyond 255 are outside PTX's range; an H200 takes the low 8 bits for 32-bit fields only.
static uint64_t in_range(uint64_t b, uint64_t c, unsigned bits, uint64_t field)
{
    return bits == 64 && (b | c) > 255 ? ptx_open(field) : field;
}

WANT(field_u, in_range(b, c, bits, extracted(a, b & 255, c & 255, bits, false)))
WANT(field_s, in_range(b, c, bits, extracted(a, b & 255, c & 255, bits, true)))
#define FIELD(T, n, want)                                                                                              \
    {                                                                                                                  \
        "bfe." #T " %d, %a, %b, %c;", want, n, n, n, 32, 32                                                            \
    }

Test(exec_int, bit_fields_beyond_the_width_are_zero_or_the_sign)
{
    static const struct ptx_case cases[] = {
        FIELD(u32, 32, field_u),
        FIELD(u64, 64, field_u),
        FIELD(s32, 32, field_s),
        FIELD(s64, 64, field_s),
    };
    CHECK(cases, shifts);
}

static uint64_t reversed(uint64_t a, unsigned bits)
{
    uint64_t d = 0;
    for (unsigned i = 0; i < bits; i++)
        d |= (uint64_t)bit_of(a, i) << (bits - 1 - i);
    return d;
}

static uint64_t ones(uint64_t a)
{
    uint64_t n = 0;
    for (; a; a &= a - 1)
        n++;
    return n;
}

// The highest bit that differs from the sign (0 for unsigned ones); all ones where there is none.
static uint64_t highest(uint64_t a, unsigned bits, unsigned sign)
{
    for (unsigned i = bits; i-- > 0;)
        if (bit_of(a, i) != sign)
            return i;
    return ~0ull;
}

WANT(reverse, reversed(a, bits))
WANT(population, ones(a))
WANT(leading_zeros, bits - 1 - highest(a, bits, 0))
WANT(top_bit, highest(a, bits, 0))
WANT(top_bit_signed, highest(a, bits, bit_of(a, bits - 1)))
#define COUNT(op, T, n, want)                                                                                          \
    {                                                                                                                  \
        op "." #T " %d, %a;", want, n, 32, n, 0, 0                                                                     \
    }

Test(exec_int, bits_are_counted_reversed_and_found)
{
    static const struct ptx_case cases[] = {
        ONE("brev", b32, 32, reverse),        ONE("brev", b64, 64, reverse),
        COUNT("popc", b32, 32, population),   COUNT("popc", b64, 64, population),
        COUNT("clz", b32, 32, leading_zeros), COUNT("clz", b64, 64, leading_zeros),
        COUNT("bfind", u32, 32, top_bit),     COUNT("bfind", s32, 32, top_bit_signed),
    };
    CHECK(cases, ints);
}

static uint64_t permuted(uint64_t a, uint64_t b, uint64_t c)
{
    uint8_t from[8], d[4];
    for (int i = 0; i < 4; i++)
        from[i] = (uint8_t)(a >> 8 * i), from[i + 4] = (uint8_t)(b >> 8 * i);
    for (int i = 0; i < 4; i++) {
        unsigned nibble = (unsigned)(c >> 4 * i) % 16;
        d[i] = nibble < 8 ? from[nibble] : from[nibble - 8] >= 128 ? 255 : 0;
    }
    return d[0] | (uint64_t)d[1] << 8 | (uint64_t)d[2] << 16 | (uint64_t)d[3] << 24;
}

WANT(permutation, permuted(a, b, c))

Test(exec_int, prmt_selects_bytes_and_repeats_signs)
{
    static const struct ptx_case cases[] = { THREE("prmt", b32, 32, permutation) };
    CHECK(cases, ints);
}

// --- packing ---

WANT(swapped64, a << 32 | a >> 32)
WANT(swapped32, a << 16 | a >> 16)
WANT(packed64, a | b << 32)
WANT(packed32, a | b << 16)
WANT(low32, a & 0xffffffff)
WANT(high32, a >> 32)
WANT(high16, a >> 16)

Test(exec_int, vectors_of_halves_pack_and_unpack)
{
    static const struct ptx_case cases[] = {
        { "mov.b64 %d, {%a, %b};", packed64, 0, 64, 32, 32, 0 },
        { "mov.b32 %d, {%a, %b};", packed32, 0, 32, 16, 16, 0 },
        { "mov.b64 {%r0, %r1}, %a; mov.b64 %d, {%r1, %r0};", swapped64, 0, 64, 64, 0, 0 },
        { "mov.b32 {%h0, %h1}, %a; mov.b32 %d, {%h1, %h0};", swapped32, 0, 32, 32, 0, 0 },
        { "mov.b64 {%d, %r0}, %a;", low32, 0, 32, 64, 0, 0 },
        { "mov.b64 {%r0, %d}, %a;", high32, 0, 32, 64, 0, 0 },
        { "mov.b32 {%h0, %d}, %a;", high16, 0, 16, 32, 0, 0 },
    };
    CHECK(cases, ints);
}

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

Test(exec_int, comparisons_are_signed_or_unsigned_by_their_type)
{
    static const struct ptx_case cases[] = {
        BITS(SET, "eq", eq),       BITS(SET, "ne", ne),       UNSIGNED(SET, "eq", eq),   UNSIGNED(SET, "ne", ne),
        UNSIGNED(SET, "lt", lt_u), UNSIGNED(SET, "le", le_u), UNSIGNED(SET, "gt", gt_u), UNSIGNED(SET, "ge", ge_u),
        UNSIGNED(SET, "lo", lt_u), UNSIGNED(SET, "ls", le_u), UNSIGNED(SET, "hi", gt_u), UNSIGNED(SET, "hs", ge_u),
        SIGNED(SET, "eq", eq),     SIGNED(SET, "ne", ne),     SIGNED(SET, "lt", lt_s),   SIGNED(SET, "le", le_s),
        SIGNED(SET, "gt", gt_s),   SIGNED(SET, "ge", ge_s),
    };
    CHECK(cases, ints);
}

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
#define ODD "and.b32 %r0, %c, 1; setp.ne.u32 %q, %r0, 0; "
#define PAIR "selp.u32 %r1, 1, 0, %p; selp.u32 %r2, 2, 0, %q; or.b32 %d, %r1, %r2;"

Test(exec_int, setp_joins_a_predicate_and_writes_its_complement_too)
{
    static const struct ptx_case cases[] = {
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
        { ODD "setp.ne.u32 %p, 1, 1; @%q setp.lt.s32 %p|%q, %a, %b; " PAIR, guarded_pair, 32, 32, 32, 32, 32 },
    };
    CHECK(cases, ints);
}

Test(exec_int, predicates_combine_and_select)
{
    static const struct ptx_case cases[] = {
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
        { ODD "mov.b16 %d, %a; @%q add.s16 %d, %d, %b;", guarded, 0, 16, 16, 16, 32 },
    };
    CHECK(cases, ints);
}

// --- immediates ---

WANT(plus_minus_three, a - 3)
WANT(times_hex, a * 0xfedcba98u)
WANT(shifted_by_33, 0 * a)
WANT(minus_one_u64, a & ~0ull)
WANT(hundred_minus, 100 - a)

Test(exec_int, literals_stand_for_registers)
{
    static const struct ptx_case cases[] = {
        { "add.s16 %d, %a, -3;", plus_minus_three, 0, 16, 16, 0, 0 },
        { "add.s32 %d, %a, -3;", plus_minus_three, 0, 32, 32, 0, 0 },
        { "add.s64 %d, %a, -3;", plus_minus_three, 0, 64, 64, 0, 0 },
        { "mul.lo.u32 %d, %a, 0xFEDCBA98;", times_hex, 0, 32, 32, 0, 0 },
        { "mul.lo.u32 %d, %a, 4275878552U;", times_hex, 0, 32, 32, 0, 0 },
        { "shl.b32 %d, %a, 33;", shifted_by_33, 0, 32, 32, 0, 0 },
        { "and.b64 %d, %a, -1;", minus_one_u64, 0, 64, 64, 0, 0 },
        { "sub.s32 %d, 0144, %a;", hundred_minus, 0, 32, 32, 0, 0 },
        { "sub.s32 %d, 0b1100100, %a;", hundred_minus, 0, 32, 32, 0, 0 },
    };
    CHECK(cases, ints);
}
