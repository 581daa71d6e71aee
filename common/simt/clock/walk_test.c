// Comparisons and predicates.
#include "walk_compute.h"

#include <string.h>

static bool compare(unsigned how, int order)  // bits: less, equal, greater
{
    return how >> (order < 0 ? 0 : order == 0 ? 1 : 2) & 1;
}

static void set_predicates(struct compute *k, uint32_t result, uint32_t known)
{
    const unsigned op = sass_bits(k->s, 74, 2);
    const uint32_t with = walk_predicate_in(k, 87, &known);
    const uint32_t not_result = ~result;
    walk_predicate_out(k, 81, op == 0 ? result & with : op == 1 ? result | with : result ^ with, known);
    walk_predicate_out(k, 84, op == 0 ? not_result & with : op == 1 ? not_result | with : not_result ^ with, known);
}

void walk_isetp(struct compute *k)
{
    const struct sass *s = k->s;
    const bool is_signed = bit(s, 73), extended = bit(s, 72);
    uint32_t known = k->a.known & k->b.known, result = 0, low = 0;
    if (extended)
        low = walk_predicate_in(k, 68, &known);
    EACH_LANE
    {
        const int64_t a = is_signed ? (int32_t)k->a.v[i] : (int64_t)k->a.v[i];
        const int64_t b = is_signed ? (int32_t)k->b.v[i] : (int64_t)k->b.v[i];
        const unsigned how = sass_bits(s, 76, 3);
        // The lower halves have been compared the same way: their result decides if the upper ones are equal.
        const bool holds = extended && a == b ? low >> i & 1 : compare(how, a < b ? -1 : a > b);
        result |= (uint32_t)holds << i;
    }
    set_predicates(k, result, known);
}

static double as_double(uint32_t low, uint32_t high)
{
    const uint64_t bits = (uint64_t)high << 32 | low;
    double d;
    memcpy(&d, &bits, 8);
    return d;
}

void walk_float_setp(struct compute *k)
{
    const struct sass *s = k->s;
    const bool wide = s->effect == EFFECT_DSETP;
    const unsigned how = sass_bits(s, 76, 4);
    struct operand a_high, b_high;
    walk_load_a(k, 1, &a_high);
    walk_load_b(k, 1, &b_high);
    if (wide && s->b_place == PLACE_IMMEDIATE) {
        b_high = k->b;  // the immediate is the upper half
        walk_splat(&k->b, 0);
    }
    if (!wide)
        walk_float_operands(k);
    uint32_t result = 0;
    EACH_LANE
    {
        float fa, fb;
        memcpy(&fa, &k->a.v[i], 4);
        memcpy(&fb, &k->b.v[i], 4);
        const double a = wide ? as_double(k->a.v[i], a_high.v[i]) : fa,
                     b = wide ? as_double(k->b.v[i], b_high.v[i]) : fb;
        const bool holds = a != a || b != b ? how >> 3 & 1 : compare(how & 7, a < b ? -1 : a > b);
        result |= (uint32_t)holds << i;
    }
    set_predicates(k, result, k->a.known & k->b.known & (wide ? a_high.known & b_high.known : ALL));
}

void walk_plop3(struct compute *k)
{
    const struct sass *s = k->s;
    const unsigned table = sass_bits(s, 72, 5) << 3 | sass_bits(s, 64, 3), second = sass_bits(s, 16, 8);
    uint32_t known = ALL, out = 0, out2 = 0;
    const uint32_t a = walk_predicate_in(k, 87, &known), b = walk_predicate_in(k, 77, &known);
    uint32_t c_known,
        c = walk_predicate(k->w, sass_bits(s, 68, 3) + (bit(s, 67) || s->uniform ? 8 : 0), bit(s, 71), &c_known);
    known &= c_known;
    for (unsigned row = 0; row < 8; row++) {
        const uint32_t hit = (row & 4 ? a : ~a) & (row & 2 ? b : ~b) & (row & 1 ? c : ~c);
        out |= table >> row & 1 ? hit : 0;
        out2 |= second >> row & 1 ? hit : 0;
    }
    if (table == 0x80 || table == 0x08 || table == 0)  // a constant made of PT needs nothing to be known
        known = sass_bits(s, 87, 3) == 7 && sass_bits(s, 77, 3) == 7 && sass_bits(s, 68, 3) == 7 ? ALL : known;
    walk_predicate_out(k, 81, out, known);
    walk_predicate_out(k, 84, out2, known);
}

// All predicates into a register, or back, in byte 0 to 3 of it.
void walk_p2r(struct compute *k)
{
    const unsigned shift = 8 * sass_bits(k->s, 76, 2);
    uint32_t known = k->a.known & k->b.known;
    EACH_LANE
    {
        const uint32_t pick = k->b.v[i] & 0x7f;
        uint32_t all = 0;
        for (unsigned p = 0; p < 7; p++)
            all |= (k->w->predicates[p] >> i & 1) << p;
        k->out.v[i] = (k->a.v[i] & ~(pick << shift)) | (all & pick) << shift;
    }
    for (unsigned p = 0; p < 7; p++)
        if (k->b.v[0] >> p & 1)
            known &= k->w->predicates_known[p];
    k->out.known = known;
    walk_store(k, k->s->d, &k->out);
}

void walk_r2p(struct compute *k)
{
    const unsigned shift = 8 * sass_bits(k->s, 76, 2);
    for (unsigned p = 0; p < 7; p++) {
        uint32_t value = 0;
        if (!(k->b.v[0] >> p & 1))
            continue;
        EACH_LANE value |= (k->a.v[i] >> (shift + p) & 1) << i;
        k->w->predicates[p] = (k->w->predicates[p] & ~k->mask) | (value & k->mask);
        k->w->predicates_known[p] = (k->w->predicates_known[p] & ~k->mask) | (k->a.known & k->mask);
    }
}

void walk_sel(struct compute *k)
{
    uint32_t known = k->a.known & k->b.known;
    const uint32_t p = walk_predicate_in(k, 87, &known);
    EACH_LANE k->out.v[i] = p >> i & 1 ? k->a.v[i] : k->b.v[i];
    k->out.known = known;
    walk_store(k, k->s->d, &k->out);
}

// The smaller or larger of a and b; where sums: of a + b and c.
void walk_imnmx(struct compute *k, bool sums)
{
    if (sums) {
        walk_load_c(k, 0, &k->c);
        if (sass_negates_b(k->s))
            walk_negate(&k->b, false);
        EACH_LANE k->a.v[i] += k->b.v[i];
        k->a.known &= k->b.known;
        k->b = k->c;
    }
    uint32_t known = k->a.known & k->b.known;
    const uint32_t least = walk_predicate_in(k, 87, &known);
    const bool is_signed = sass_bits(k->s, 72, 2);
    EACH_LANE
    {
        const bool less = is_signed ? (int32_t)k->a.v[i] < (int32_t)k->b.v[i] : k->a.v[i] < k->b.v[i];
        k->out.v[i] = less == (bool)(least >> i & 1) ? k->a.v[i] : k->b.v[i];
    }
    k->out.known = known;
    walk_store(k, k->s->d, &k->out);
}

void walk_vote(struct compute *k)
{
    const unsigned mode = sass_bits(k->s, 72, 2);
    uint32_t known;
    const uint32_t all = k->lanes, p = walk_predicate(k->w, sass_bits(k->s, 87, 3), bit(k->s, 90), &known) & all;
    const uint32_t knows = (known & all) == all ? ALL : 0;
    walk_splat(&k->out, p);
    k->out.known = knows;
    walk_store(k, k->s->d, &k->out);
    const bool holds = mode == 0 ? p == all : mode == 1 ? p != 0 : p == 0 || p == all;
    walk_predicate_out(k, 81, holds ? ALL : 0, knows);
}
