// Bits: logic, shifts, bytes, counts.
#include "walk_compute.h"

#include <string.h>

void walk_lop3(struct compute *k)
{
    const unsigned table = sass_bits(k->s, 72, 8);
    walk_load_c(k, 0, &k->c);
    uint32_t nonzero = 0, known = k->a.known & k->b.known & k->c.known;
    EACH_LANE
    {
        const uint32_t a = k->a.v[i], b = k->b.v[i], c = k->c.v[i];
        uint32_t out = 0;
        for (unsigned row = 0; row < 8; row++)
            if (table >> row & 1)
                out |= (row & 4 ? a : ~a) & (row & 2 ? b : ~b) & (row & 1 ? c : ~c);
        k->out.v[i] = out;
        nonzero |= (uint32_t)(out != 0) << i;
    }
    k->out.known = known;
    walk_store(k, k->s->d, &k->out);
    if (sass_bits(k->s, 81, 3) != 7) {
        const uint32_t in = walk_predicate_in(k, 87, &known);
        walk_predicate_out(k, 81, bit(k->s, 80) ? nonzero & in : nonzero | in, known);
    }
}

void walk_shf(struct compute *k)
{
    const struct sass *s = k->s;
    const bool right = bit(s, 76), high = bit(s, 80), wraps = bit(s, 75);
    const unsigned type = sass_bits(s, 73, 2);  // 0 s64, 1 u64, 2 s32, 3 u32
    walk_load_c(k, 0, &k->c);
    const unsigned width = type < 2 ? 64 : 32;
    EACH_LANE
    {
        const uint64_t wide = (uint64_t)k->c.v[i] << 32 | k->a.v[i];
        unsigned n = wraps ? k->b.v[i] & (width - 1) : k->b.v[i] > width ? width : k->b.v[i];
        uint64_t out = 0;
        if (!right)
            out = n < 64 ? wide << n : 0;
        else if (type == 0 || type == 2)
            out = (uint64_t)((int64_t)wide >> (n > 63 ? 63 : n));
        else
            out = n < 64 ? wide >> n : 0;
        if (width == 32 && high && right)
            out = (uint64_t)(type == 2 ? (uint32_t)((int32_t)k->c.v[i] >> (n > 31 ? 31 : n))
                             : n < 32  ? k->c.v[i] >> n
                                       : 0)
                  << 32;
        if (width == 32 && !high && !right)
            out = n < 32 ? k->a.v[i] << n : 0;
        k->out.v[i] = (uint32_t)(high ? out >> 32 : out);
    }
    k->out.known = k->a.known & k->b.known & k->c.known;
    walk_store(k, s->d, &k->out);
}

void walk_prmt(struct compute *k)
{
    walk_load_c(k, 0, &k->c);
    EACH_LANE
    {
        const uint64_t bytes = (uint64_t)k->c.v[i] << 32 | k->a.v[i];
        uint32_t out = 0;
        for (unsigned n = 0; n < 4; n++) {
            const unsigned pick = k->b.v[i] >> 4 * n & 15;
            const uint32_t byte = (uint32_t)(bytes >> 8 * (pick & 7)) & 255;
            out |= (pick & 8 ? (byte & 128 ? 255u : 0) : byte) << 8 * n;
        }
        k->out.v[i] = out;
    }
    // PRMT d, a, 0x7610, d gives a 16-bit variable a new value. Nothing depends on the upper half.
    const bool lower_half = k->s->b_place == PLACE_IMMEDIATE && k->b.v[0] == 0x7610 && k->s->c == k->s->d;
    k->out.known = k->a.known & k->b.known & (lower_half ? ALL : k->c.known);
    walk_store(k, k->s->d, &k->out);
}

// I2F takes a byte, a half or a word of the register, with or without a sign.
static float to_float(const struct sass *s, uint32_t value)
{
    const unsigned size = s->effect == EFFECT_I2F ? sass_bits(s, 84, 2) : 2;
    if (size == 0)
        value = value >> 8 * sass_bits(s, 60, 2) & 0xff;
    if (size == 1)
        value = value >> 8 * sass_bits(s, 60, 2) & 0xffff;
    if (!bit(s, 74))
        return (float)value;
    return (float)(size == 0 ? (int8_t)value : size == 1 ? (int16_t)value : (int32_t)value);
}

void walk_one_operand(struct compute *k)
{
    const struct sass *s = k->s;
    EACH_LANE
    {
        const uint32_t b = bit(s, 63) && s->b_place == PLACE_REGISTER ? ~k->b.v[i] : k->b.v[i];
        uint32_t out = 0;
        float f;
        memcpy(&f, &k->b.v[i], 4);
        switch (s->effect) {
        case EFFECT_IABS:
            out = (int32_t)k->b.v[i] < 0 ? 0 - k->b.v[i] : k->b.v[i];
            break;
        case EFFECT_FLO:
            out = !b ? ALL : bit(s, 74) ? (unsigned)__builtin_clz(b) : 31u - (unsigned)__builtin_clz(b);  // .SH
            break;
        case EFFECT_POPC:
            out = (unsigned)__builtin_popcount(b);
            break;
        case EFFECT_BREV:
            for (unsigned n = 0; n < 32; n++)
                out |= (b >> n & 1) << (31 - n);
            break;
        case EFFECT_F2I:  // a division of integers needs it
            out = f < 0 ? (uint32_t)(int32_t)f : f >= 4294967296.f ? ALL : (uint32_t)f;
            break;
        default:  // I2F, I2FP
            f = to_float(s, k->b.v[i]);
            memcpy(&out, &f, 4);
        }
        k->out.v[i] = out;
    }
    k->out.known = k->b.known;
    walk_store(k, s->d, &k->out);
}

void walk_sgxt(struct compute *k)
{
    EACH_LANE
    {
        const unsigned n = k->b.v[i] > 32 ? 32 : k->b.v[i];
        const bool is_signed = bit(k->s, 73);
        const uint64_t up = (uint64_t)k->a.v[i] << (64 - n);
        k->out.v[i] = !n ? 0 : is_signed ? (uint32_t)((int64_t)up >> (64 - n)) : (uint32_t)(up >> (64 - n));
    }
    k->out.known = k->a.known & k->b.known;
    walk_store(k, k->s->d, &k->out);
}

void walk_bmsk(struct compute *k)
{
    EACH_LANE
    {
        const uint32_t at = k->a.v[i], n = k->b.v[i];
        const uint64_t ones = n >= 32 ? ALL : (1ull << n) - 1;
        k->out.v[i] = at >= 32 ? 0 : (uint32_t)(ones << at);
    }
    k->out.known = k->a.known & k->b.known;
    walk_store(k, k->s->d, &k->out);
}
