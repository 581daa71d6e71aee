// Instructions on bits, one by one, against plain C on every device: logic, shifts, bit fields, counts, bytes chosen.
#include <criterion/criterion.h>

#include "int_case.h"

WANT(both, a &b)
WANT(either, a | b)
WANT(one_of, a ^ b)
WANT(inverse, ~a)
WANT(is_zero, a ? 0 : 1)
WANT(same, a)

PTX_TEST(exec_bits, bitwise_logic_and_moves, ints, BITS(TWO, "and", both), BITS(TWO, "or", either),
         BITS(TWO, "xor", one_of), BITS(ONE, "not", inverse), BITS(ONE, "cnot", is_zero), BITS(ONE, "mov", same),
         SIGNED(ONE, "mov", same), UNSIGNED(ONE, "mov", same), ONE("mov", f32, 32, same), ONE("mov", f64, 64, same))

WANT(shifted_left, b >= bits ? 0 : a << b)
WANT(shifted_right, b >= bits ? 0 : a >> b)
WANT(shifted_signed, S(a) >> (b >= bits ? bits - 1 : b))
#define SHIFT(op, T, n, want)                                                                                          \
    {                                                                                                                  \
        op "." #T " %d, %a, %b;", want, n, n, n, 32, 0                                                                 \
    }

PTX_TEST(exec_bits, shift_amounts_clamp_at_the_width, shifts, BITS(SHIFT, "shl", shifted_left),
         BITS(SHIFT, "shr", shifted_right), UNSIGNED(SHIFT, "shr", shifted_right), SIGNED(SHIFT, "shr", shifted_signed))

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

PTX_TEST(exec_bits, funnel_shifts_wrap_or_clamp, PTX_FROM(PTX_INTS, PTX_INTS, PTX_COUNTS, false),
         THREE("shf.l.wrap", b32, 32, funnel_left_wrap), THREE("shf.r.wrap", b32, 32, funnel_right_wrap),
         THREE("shf.l.clamp", b32, 32, funnel_left_clamp), THREE("shf.r.clamp", b32, 32, funnel_right_clamp))

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

PTX_TEST(exec_bits, bit_fields_are_inserted, PTX_FROM(PTX_INTS, PTX_INTS, PTX_COUNTS, false),
         { "shr.u32 %r0, %c, 3; bfi.b32 %d, %a, %b, %c, %r0;", insertion, 32, 32, 32, 32, 32 },
         { "shr.u32 %r0, %c, 3; bfi.b64 %d, %a, %b, %c, %r0;", insertion, 64, 64, 64, 64, 32 },
         { "bfi.b32 %d, %a, %b, 13, 7;", insertion_of_7, 32, 32, 32, 32, 0 },
         { "bfi.b64 %d, %a, %b, 13, 7;", insertion_of_7, 64, 64, 64, 64, 0 },
         { "bfi.b32 %d, %a, %b, %c, 255;", insertion_at_c, 32, 32, 32, 32, 32 })

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

Test(exec_bits, masks_and_extensions_of_any_width)
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

PTX_TEST(exec_bits, lop3_looks_bits_up_in_its_table, ints_sm_90,
         { "lop3.b32 %d, %a, %b, %c, 0x00;", lookup, 0x00, 32, 32, 32, 32 },
         { "lop3.b32 %d, %a, %b, %c, 0x96;", lookup, 0x96, 32, 32, 32, 32 },
         { "lop3.b32 %d, %a, %b, %c, 0xe8;", lookup, 0xe8, 32, 32, 32, 32 },
         { "lop3.b32 %d, %a, %b, %c, 0xca;", lookup, 0xca, 32, 32, 32, 32 },
         { "lop3.b32 %d, %a, %b, %c, 0x1b;", lookup, 0x1b, 32, 32, 32, 32 },
         { "mov.b32 %d, %b; lop3.b32 %d, %a, %d, %c, 0xd2;", lookup, 0xd2, 32, 32, 32, 32 },
         { ODD "lop3.and.b32 _|%p, %a, %b, %c, 0x80, %q; selp.u32 %d, 1, 0, %p;", lookup_and, 0x80, 32, 32, 32, 32 },
         { ODD "lop3.or.b32 %r1|%q, %a, %b, %c, 0x80, %q; selp.u32 %d, 1, 0, %q;", lookup_or, 0x80, 32, 32, 32, 32 },
         { ODD "lop3.and.b32 %d|%p, %a, %b, %c, 0x80, %q; selp.u32 %r0, 1, 0, %p; add.u32 %d, %d, %r0;", lookup_both,
           0x80, 32, 32, 32, 32 })

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

PTX_TEST(exec_bits, fns_finds_the_nth_set_bit, PTX_FROM(PTX_INTS, PTX_COUNTS, PTX_COUNTS, false),
         { "and.b32 %r0, %b, 31; and.b32 %r1, %c, 63; sub.s32 %r1, %r1, 20; fns.b32 %d, %a, %r0, %r1;", found_bit, 32,
           32, 32, 32, 32 })

PTX_TEST(exec_bits, bit_fields_beyond_the_width_are_zero_or_the_sign, shifts, FIELD(u32, 32, field_u),
         FIELD(u64, 64, field_u), FIELD(s32, 32, field_s), FIELD(s64, 64, field_s))

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

PTX_TEST(exec_bits, bits_are_counted_reversed_and_found, ints, ONE("brev", b32, 32, reverse),
         ONE("brev", b64, 64, reverse), COUNT("popc", b32, 32, population), COUNT("popc", b64, 64, population),
         COUNT("clz", b32, 32, leading_zeros), COUNT("clz", b64, 64, leading_zeros), COUNT("bfind", u32, 32, top_bit),
         COUNT("bfind", s32, 32, top_bit_signed), COUNT("bfind", u64, 64, top_bit),
         COUNT("bfind", s64, 64, top_bit_signed), COUNT("bfind.shiftamt", u32, 32, shift_to_top),
         COUNT("bfind.shiftamt", s32, 32, shift_to_top_signed), COUNT("bfind.shiftamt", u64, 64, shift_to_top),
         COUNT("bfind.shiftamt", s64, 64, shift_to_top_signed))

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

PTX_TEST(exec_bits, prmt_selects_bytes_and_repeats_signs, ints, THREE("prmt", b32, 32, permutation),
         THREE("prmt.b32", f4e, 32, bytes_f4e), THREE("prmt.b32", b4e, 32, bytes_b4e),
         THREE("prmt.b32", rc8, 32, bytes_rc8), THREE("prmt.b32", ecl, 32, bytes_ecl),
         THREE("prmt.b32", ecr, 32, bytes_ecr), THREE("prmt.b32", rc16, 32, bytes_rc16))
