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

static const struct ptx_operands ints = { PTX_INTS, PTX_INTS, PTX_INTS, false };
static const struct ptx_operands ints_sm_90 = { PTX_INTS, PTX_INTS, PTX_INTS, true };
static const struct ptx_operands shifts = { PTX_INTS, PTX_COUNTS, PTX_COUNTS, false };

#define ODD "and.b32 %r0, %c, 1; setp.ne.u32 %q, %r0, 0; "
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
static int64_t clamp32(int64_t x)
{
    return x < INT32_MIN ? INT32_MIN : x > INT32_MAX ? INT32_MAX : x;
}

WANT(high_signed_clamped, clamp32((int64_t)((wide)S(a) * S(b) >> bits) + S(c)))
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
        UNSIGNED(THREE, "mad.hi", high_unsigned_sum),
        SIGNED(THREE, "mad.hi", high_signed_sum),
        THREE("mad.hi.sat", s32, 32, high_signed_clamped),
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

Test(exec_int, products_of_24_bits)
{
    static const struct ptx_case cases[] = {
        TWO("mul24.lo", u32, 32, low_product24_u),
        TWO("mul24.lo", s32, 32, low_product24_s),
        TWO("mul24.hi", u32, 32, high_product24_u),
        TWO("mul24.hi", s32, 32, high_product24_s),
        THREE("mad24.lo", u32, 32, low_product24_u),
        THREE("mad24.lo", s32, 32, low_product24_s),
        THREE("mad24.hi", u32, 32, high_product24_u),
        THREE("mad24.hi", s32, 32, high_product24_s),
        THREE("mad24.hi.sat", s32, 32, high_product24_clamped),
    };
    CHECK(cases, ints);
}

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

Test(exec_int, pairs_of_16_bits_and_results_without_negatives)
{
    static const struct ptx_case cases[] = {
        TWO("add", u16x2, 32, pair_sum),
        TWO("add", s16x2, 32, pair_sum),
        TWO("min", u16x2, 32, pair_least_u),
        TWO("max", u16x2, 32, pair_most_u),
        TWO("min", s16x2, 32, pair_least_s),
        TWO("max", s16x2, 32, pair_most_s),
        TWO("min.relu", s16x2, 32, pair_least_relu),
        TWO("max.relu", s16x2, 32, pair_most_relu),
        TWO("min.relu", s32, 32, least_relu),
        TWO("max.relu", s32, 32, most_relu),
    };
    CHECK(cases, ints_sm_90);
}

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
Test(exec_int, sums_and_differences_share_a_carry)
{
    static const struct ptx_case cases[] = {
        { "sub.cc.u32 %d, %a, %b; addc.u32 %d, 0, 0;", not_borrowed, 32, 32, 32, 32, 0 },
        { "add.cc.u32 %d, %a, %b; subc.u32 %d, 0, 0;", not_carried, 32, 32, 32, 32, 0 },
        { "sub.cc.s32 %d, %a, %b; addc.cc.s32 %d, 0, 0;", not_borrowed, 32, 32, 32, 32, 0 },
        { "sub.cc.s32 %d, %a, %b; subc.s32 %d, 0, 0;", borrow_out, 32, 32, 32, 32, 0 },
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
    ptx_cases_check(cases, PTX_COUNTOF(cases), (struct ptx_operands){ PTX_INTS, PTX_INTS, PTX_COUNTS, false });
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

// PTX ISA, bfi: a's bits go into b, as far as they have room.
static uint64_t inserted(uint64_t a, uint64_t b, unsigned position, unsigned length, unsigned bits)
{
    for (unsigned i = 0; i < length && position + i < bits; i++)
        b = (b & ~(1ull << (position + i))) | (a >> i & 1) << (position + i);
    return b;
}

WANT(insertion, in_range(c, 0, bits, inserted(a, b, c & 255, c >> 3 & 255, bits)))
WANT(insertion_of_7, inserted(a, b, 13, 7, bits))
WANT(insertion_at_c, in_range(c, 0, bits, inserted(a, b, c & 255, 255, bits)))

Test(exec_int, bit_fields_are_inserted)
{
    static const struct ptx_case cases[] = {
        { "shr.u32 %r0, %c, 3; bfi.b32 %d, %a, %b, %c, %r0;", insertion, 32, 32, 32, 32, 32 },
        { "shr.u32 %r0, %c, 3; bfi.b64 %d, %a, %b, %c, %r0;", insertion, 64, 64, 64, 64, 32 },
        { "bfi.b32 %d, %a, %b, 13, 7;", insertion_of_7, 32, 32, 32, 32, 0 },
        { "bfi.b64 %d, %a, %b, 13, 7;", insertion_of_7, 64, 64, 64, 64, 0 },
        { "bfi.b32 %d, %a, %b, %c, 255;", insertion_at_c, 32, 32, 32, 32, 32 },
    };
    ptx_cases_check(cases, PTX_COUNTOF(cases), (struct ptx_operands){ PTX_INTS, PTX_INTS, PTX_COUNTS, false });
}

static uint64_t ones_from(uint64_t position, uint64_t length, bool clamp)
{
    uint64_t p = clamp ? position : position % 32, n = clamp ? length : length % 32;
    return p > 31 ? 0 : ((1ull << (n > 32 ? 32 : n)) - 1) << p;
}

static uint64_t resized(uint64_t a, uint64_t width, bool clamp, bool sign)
{
    uint64_t n = clamp ? width : width % 32;
    return n > 31 ? a : n == 0 ? 0 : sign ? (uint64_t)ptx_sign(a, (unsigned)n) : a & ((1ull << n) - 1);
}

WANT(mask_clamp, ones_from(a, b, true))
WANT(mask_wrap, ones_from(a, b, false))
WANT(clamped_u, resized(a, b, true, false))
WANT(clamped_s, resized(a, b, true, true))
WANT(wrapped_u, resized(a, b, false, false))
WANT(wrapped_s, resized(a, b, false, true))

Test(exec_int, masks_and_extensions_of_any_width)
{
    static const struct ptx_case masks[] = { TWO("bmsk.clamp", b32, 32, mask_clamp),
                                             TWO("bmsk.wrap", b32, 32, mask_wrap) };
    static const struct ptx_case extensions[] = {
        TWO("szext.clamp", u32, 32, clamped_u),
        TWO("szext.clamp", s32, 32, clamped_s),
        TWO("szext.wrap", u32, 32, wrapped_u),
        TWO("szext.wrap", s32, 32, wrapped_s),
    };
    ptx_cases_check(masks, PTX_COUNTOF(masks), (struct ptx_operands){ PTX_COUNTS, PTX_COUNTS, PTX_INTS, true });
    ptx_cases_check(extensions, PTX_COUNTOF(extensions), (struct ptx_operands){ PTX_INTS, PTX_COUNTS, PTX_INTS, true });
}

static uint64_t lookup(uint64_t a, uint64_t b, uint64_t c, unsigned table)
{
    uint64_t d = 0;
    for (unsigned i = 0; i < 32; i++)
        d |= (uint64_t)(table >> ((a >> i & 1) * 4 + (b >> i & 1) * 2 + (c >> i & 1)) & 1) << i;
    return d;
}

WANT(lookup_and, lookup(a, b, c, bits) != 0 && (c & 1) ? 1 : 0)
WANT(lookup_or, lookup(a, b, c, bits) != 0 || (c & 1) ? 1 : 0)
WANT(lookup_both, (uint32_t)(lookup(a, b, c, bits) + (lookup(a, b, c, bits) != 0 && (c & 1) ? 1 : 0)))

Test(exec_int, lop3_looks_bits_up_in_its_table)
{
    static const struct ptx_case cases[] = {
        { "lop3.b32 %d, %a, %b, %c, 0x00;", lookup, 0x00, 32, 32, 32, 32 },
        { "lop3.b32 %d, %a, %b, %c, 0x96;", lookup, 0x96, 32, 32, 32, 32 },
        { "lop3.b32 %d, %a, %b, %c, 0xe8;", lookup, 0xe8, 32, 32, 32, 32 },
        { "lop3.b32 %d, %a, %b, %c, 0xca;", lookup, 0xca, 32, 32, 32, 32 },
        { "lop3.b32 %d, %a, %b, %c, 0x1b;", lookup, 0x1b, 32, 32, 32, 32 },
        { "mov.b32 %d, %b; lop3.b32 %d, %a, %d, %c, 0xd2;", lookup, 0xd2, 32, 32, 32, 32 },
        { ODD "lop3.and.b32 _|%p, %a, %b, %c, 0x80, %q; selp.u32 %d, 1, 0, %p;", lookup_and, 0x80, 32, 32, 32, 32 },
        { ODD "lop3.or.b32 %r1|%q, %a, %b, %c, 0x80, %q; selp.u32 %d, 1, 0, %q;", lookup_or, 0x80, 32, 32, 32, 32 },
        { ODD "lop3.and.b32 %d|%p, %a, %b, %c, 0x80, %q; selp.u32 %r0, 1, 0, %p; add.u32 %d, %d, %r0;", lookup_both,
          0x80, 32, 32, 32, 32 },
    };
    CHECK(cases, ints_sm_90);
}

static uint64_t nth_set(uint64_t mask, unsigned base, int64_t n)
{
    int step = n < 0 ? -1 : 1;
    if (n == 0)
        return mask >> base & 1 ? base : ~0ull;
    for (int i = (int)base; i >= 0 && i < 32; i += step)
        if (mask >> i & 1 && (n -= step) == 0)
            return (uint64_t)i;
    return ~0ull;
}

WANT(found_bit, nth_set(a, b % 32, (int64_t)(c % 64) - 20))

Test(exec_int, fns_finds_the_nth_set_bit)
{
    static const struct ptx_case cases[] = {
        { "and.b32 %r0, %b, 31; and.b32 %r1, %c, 63; sub.s32 %r1, %r1, 20; fns.b32 %d, %a, %r0, %r1;", found_bit, 32,
          32, 32, 32, 32 },
    };
    ptx_cases_check(cases, PTX_COUNTOF(cases), (struct ptx_operands){ PTX_INTS, PTX_COUNTS, PTX_COUNTS, false });
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
static uint64_t shift_from(uint64_t top, unsigned bits)
{
    return top == ~0ull ? top : bits - 1 - top;
}

WANT(shift_to_top, shift_from(highest(a, bits, 0), bits))
WANT(shift_to_top_signed, shift_from(highest(a, bits, bit_of(a, bits - 1)), bits))
#define COUNT(op, T, n, want)                                                                                          \
    {                                                                                                                  \
        op "." #T " %d, %a;", want, n, 32, n, 0, 0                                                                     \
    }

Test(exec_int, bits_are_counted_reversed_and_found)
{
    static const struct ptx_case cases[] = {
        ONE("brev", b32, 32, reverse),
        ONE("brev", b64, 64, reverse),
        COUNT("popc", b32, 32, population),
        COUNT("popc", b64, 64, population),
        COUNT("clz", b32, 32, leading_zeros),
        COUNT("clz", b64, 64, leading_zeros),
        COUNT("bfind", u32, 32, top_bit),
        COUNT("bfind", s32, 32, top_bit_signed),
        COUNT("bfind", u64, 64, top_bit),
        COUNT("bfind", s64, 64, top_bit_signed),
        COUNT("bfind.shiftamt", u32, 32, shift_to_top),
        COUNT("bfind.shiftamt", s32, 32, shift_to_top_signed),
        COUNT("bfind.shiftamt", u64, 64, shift_to_top),
        COUNT("bfind.shiftamt", s64, 64, shift_to_top_signed),
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
// The modes as selectors of the general form, for c % 4 = 0, 1, 2, 3: the table of PTX ISA 9.7.8, prmt.
#define MODE(name, s0, s1, s2, s3)                                                                                     \
    WANT(bytes_##name, permuted(a, b, c % 4 == 0 ? s0 : c % 4 == 1 ? s1 : c % 4 == 2 ? s2 : s3))
MODE(f4e, 0x3210, 0x4321, 0x5432, 0x6543)
MODE(b4e, 0x5670, 0x6701, 0x7012, 0x0123)
MODE(rc8, 0x0000, 0x1111, 0x2222, 0x3333)
MODE(ecl, 0x3210, 0x3211, 0x3222, 0x3333)
MODE(ecr, 0x0000, 0x1110, 0x2210, 0x3210)
MODE(rc16, 0x1010, 0x3232, 0x1010, 0x3232)

Test(exec_int, prmt_selects_bytes_and_repeats_signs)
{
    static const struct ptx_case cases[] = {
        THREE("prmt", b32, 32, permutation),     THREE("prmt.b32", f4e, 32, bytes_f4e),
        THREE("prmt.b32", b4e, 32, bytes_b4e),   THREE("prmt.b32", rc8, 32, bytes_rc8),
        THREE("prmt.b32", ecl, 32, bytes_ecl),   THREE("prmt.b32", ecr, 32, bytes_ecr),
        THREE("prmt.b32", rc16, 32, bytes_rc16),
    };
    CHECK(cases, ints);
}

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

Test(exec_int, vectors_of_halves_pack_and_unpack)
{
    static const struct ptx_case cases[] = {
        { "mov.b64 %d, {%a, %b};", packed64, 0, 64, 32, 32, 0 },
        { "mov.b32 %d, {%a, %b};", packed32, 0, 32, 16, 16, 0 },
        { "mov.b64 {%r0, %r1}, %a; mov.b64 %d, {%r1, %r0};", swapped64, 0, 64, 64, 0, 0 },
        { "mov.b32 {%h0, %h1}, %a; mov.b32 %d, {%h1, %h0};", swapped32, 0, 32, 32, 0, 0 },
        { "mov.b64 {%h0, %h1, %h2, %h3}, %a; mov.b64 %d, {%h3, %h2, %h1, %h0};", turned64, 0, 64, 64, 0, 0 },
        { "mov.b64 {%r0, %r1}, %a; mov.b64 {%h0, %h1, _, %h3}, %a; cvt.u32.u16 %r2, %h3; shl.b32 %r2, %r2, 16;"
          "cvt.u32.u16 %d, %h1; or.b32 %d, %d, %r2;",
          odd_words, 0, 32, 64, 0, 0 },
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

WANT(set_u32, S(a) < S(b) ? ~0ull : 0)
WANT(set_u32_low, a < b ? ~0ull : 0)
WANT(set_f32, a < b ? 0x3f800000 : 0)
WANT(set_and, S(a) < S(b) && (c & 1) ? ~0ull : 0)
WANT(set_equal, a == b ? ~0ull : 0)
WANT(by_sign, ptx_sign(c, 32) >= 0 ? a : b)

Test(exec_int, set_answers_all_ones_or_one_and_slct_chooses_by_sign)
{
    static const struct ptx_case cases[] = {
        { "set.lt.u32.s32 %d, %a, %b;", set_u32, 32, 32, 32, 32, 0 },
        { "set.lt.u32.s16 %d, %a, %b;", set_u32, 16, 32, 16, 16, 0 },
        { "set.lo.s32.u64 %d, %a, %b;", set_u32_low, 64, 32, 64, 64, 0 },
        { "set.lt.f32.u32 %d, %a, %b;", set_f32, 32, 32, 32, 32, 0 },
        { "set.eq.u32.b32 %d, %a, %b;", set_equal, 32, 32, 32, 32, 0 },
        { ODD "set.lt.and.u32.s32 %d, %a, %b, %q;", set_and, 32, 32, 32, 32, 32 },
        { "slct.b32.s32 %d, %a, %b, %c;", by_sign, 0, 32, 32, 32, 32 },
        { "slct.u64.s32 %d, %a, %b, %c;", by_sign, 0, 64, 64, 64, 32 },
        { "slct.s16.s32 %d, %a, %b, %c;", by_sign, 0, 16, 16, 16, 32 },
        { "slct.f64.s32 %d, %a, %b, %c;", by_sign, 0, 64, 64, 64, 32 },
    };
    CHECK(cases, ints);
}

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
