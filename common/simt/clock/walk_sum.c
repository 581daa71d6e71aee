// Sums and products of integers, with carries.
#include "walk_compute.h"

#include <string.h>

// d = a + b + c, with carries in and out where the instruction is a part of a wider one.
void walk_iadd3(struct compute *k)
{
    const struct sass *s = k->s;
    const bool extended = bit(s, 74);
    walk_load_c(k, 0, &k->c);
    uint32_t known = k->a.known & k->b.known & k->c.known, in1 = 0, in2 = 0, out1 = 0, out2 = 0;
    if (bit(s, 72))
        walk_negate(&k->a, extended);
    if (sass_negates_b(s))
        walk_negate(&k->b, extended);
    if (sass_negates_c(s))
        walk_negate(&k->c, extended);
    if (extended) {
        in1 = walk_predicate_in(k, 87, &known);
        in2 = walk_predicate_in(k, 77, &known);
    }
    EACH_LANE
    {
        // A negated operand that is zero carries, too: ~0 + 1.
        const uint64_t na = !extended && bit(s, 72) && !k->a.v[i] ? 1ull << 32 : k->a.v[i];
        const uint64_t nb = !extended && sass_negates_b(s) && !k->b.v[i] ? 1ull << 32 : k->b.v[i];
        const uint64_t sum = na + nb + k->c.v[i] + (in1 >> i & 1) + (in2 >> i & 1);
        k->out.v[i] = (uint32_t)sum;
        out1 |= (uint32_t)(sum >> 32 >= 1) << i;
        out2 |= (uint32_t)(sum >> 32 >= 2) << i;
    }
    k->out.known = known;
    walk_store(k, s->d, &k->out);
    walk_predicate_out(k, 81, out1, known);
    walk_predicate_out(k, 84, out2, known);
}

// The upper half of an operand of two registers, one of which may be that of zeros.
static void load_upper(const struct compute *k, unsigned r, bool in_register,
                       void (*load)(const struct compute *, unsigned, struct operand *), struct operand *o)
{
    if (!in_register || walk_register(k->w, k->s->uniform, r) < 0)
        walk_splat(o, 0);
    else
        load(k, 1, o);
}

// d = a + b + c, of two registers each. Descriptors of wgmma are added up so. Negated operands: the result is unknown.
void walk_iadd64(struct compute *k)
{
    const struct sass *s = k->s;
    struct operand a, b, c, top;
    load_upper(k, s->a, true, walk_load_a, &a);
    load_upper(k, s->b, s->b_place == PLACE_REGISTER, walk_load_b, &b);
    load_upper(k, s->c, s->c_place == PLACE_REGISTER, walk_load_c, &c);
    walk_load_c(k, 0, &k->c);
    EACH_LANE
    {
        const uint64_t low = (uint64_t)k->a.v[i] + k->b.v[i] + k->c.v[i];
        k->out.v[i] = (uint32_t)low;
        top.v[i] = (uint32_t)(low >> 32) + a.v[i] + b.v[i] + c.v[i];
    }
    const bool negated = bit(s, 72) || sass_negates_b(s) || sass_negates_c(s);
    top.known = k->a.known & k->b.known & k->c.known & a.known & b.known & c.known;
    k->out.known = top.known = negated ? 0 : top.known;
    walk_store(k, s->d, &k->out);
    walk_store(k, s->d + 1u, &top);
}

void walk_iadd(struct compute *k)
{
    if (bit(k->s, 72))
        walk_negate(&k->a, false);
    if (sass_negates_b(k->s))
        walk_negate(&k->b, false);
    EACH_LANE k->out.v[i] = k->a.v[i] + k->b.v[i];
    k->out.known = k->a.known & k->b.known;
    walk_store(k, k->s->d, &k->out);
}

void walk_imad(struct compute *k)
{
    const struct sass *s = k->s;
    walk_load_c(k, 0, &k->c);
    uint32_t known = k->a.known & k->b.known & k->c.known, in = 0, carry = 0;
    const bool extended = bit(s, 74);
    if (sass_negates_c(s))
        walk_negate(&k->c, extended);
    if (extended)
        in = walk_predicate_in(k, 87, &known);
    EACH_LANE
    {
        const uint32_t product = k->a.v[i] * k->b.v[i];
        const uint64_t sum = (uint64_t)product + k->c.v[i] + (in >> i & 1);
        k->out.v[i] = (uint32_t)sum;
        carry |= (uint32_t)(sum >> 32) << i;
    }
    k->out.known = known;
    walk_store(k, s->d, &k->out);
    walk_predicate_out(k, 81, carry, known);
}

static uint64_t product64(uint32_t a, uint32_t b, bool is_signed)
{
    return is_signed ? (uint64_t)((int64_t)(int32_t)a * (int32_t)b) : (uint64_t)a * b;
}

// The 64-bit a * b + c, or its upper half alone. c is a pair of registers in both.
void walk_imad_wide(struct compute *k, bool upper)
{
    const struct sass *s = k->s;
    struct operand high, top = { .known = 0 };
    walk_load_c(k, 0, &k->c);
    if (s->c_place == PLACE_REGISTER && walk_register(k->w, s->uniform, s->c) < 0)
        walk_splat(&high, 0);
    else
        walk_load_c(k, 1, &high);
    const uint32_t known = k->a.known & k->b.known & k->c.known & high.known;
    uint32_t carry = 0;
    EACH_LANE
    {
        const uint64_t product = product64(k->a.v[i], k->b.v[i], bit(s, 73));
        uint64_t add = (uint64_t)high.v[i] << 32 | k->c.v[i];
        add = sass_negates_c(s) ? 0 - add : add;
        const uint64_t sum = product + add;
        carry |= (uint32_t)(sum < product) << i;
        k->out.v[i] = (uint32_t)(upper ? sum >> 32 : sum);
        top.v[i] = (uint32_t)(sum >> 32);
    }
    k->out.known = top.known = known;
    walk_store(k, s->d, &k->out);
    if (!upper)
        walk_store(k, s->d + 1u, &top);
    walk_predicate_out(k, 81, carry, known);
}

// d = (a << n) + b, or the upper half of the same with c above a.
void walk_lea(struct compute *k)
{
    const struct sass *s = k->s;
    const unsigned shift = sass_bits(s, 75, 5);
    const bool high = bit(s, 80), extended = bit(s, 74);
    walk_load_register(k->w, s->uniform, (uint8_t)(s->hi), &k->c);
    if (s->uniform && walk_register(k->w, true, (uint8_t)s->hi) < 0)
        walk_splat(&k->c, 0);
    uint32_t known = k->a.known & k->b.known & (high && !bit(s, 73) ? k->c.known : ALL), in = 0, carry = 0;
    if (extended)
        in = walk_predicate_in(k, 87, &known);
    EACH_LANE
    {
        const uint32_t above = bit(s, 73) ? (uint32_t)((int32_t)k->a.v[i] >> 31) : k->c.v[i];
        uint64_t wide = (uint64_t)above << 32 | k->a.v[i];
        if (bit(s, 72))
            wide = extended ? ~wide : 0 - wide;
        const uint32_t term = high ? (uint32_t)(wide << shift >> 32) : (uint32_t)wide << shift;
        const uint64_t sum = (uint64_t)term + k->b.v[i] + (in >> i & 1);
        k->out.v[i] = (uint32_t)sum;
        carry |= (uint32_t)(sum >> 32) << i;
    }
    k->out.known = known;
    walk_store(k, s->d, &k->out);
    walk_predicate_out(k, 81, carry, known);
}
