// f32: sums, products, the smaller and the larger of two, rarer functions, and whether a division needs its slow path.
// A value is known to within the last bit: products and sums are rounded twice, and rarer functions as the host does
// it. That is enough for comparisons.
#include "walk_compute.h"

#include <math.h>
#include <string.h>

#define FIELD_32_ABS 62  // modifiers of the operand whose field begins at bit 24, 32 or 64 of the instruction
#define FIELD_32_NEG 63
#define FIELD_64_ABS 74
#define FIELD_64_NEG 75
#define A_NEG 72
#define A_ABS 73
#define SATURATE 77
#define FLUSH 80
#define FUNCTION 74  // of MUFU
#define FUNCTION_BITS 4

// Divisions take their slow path unless the exponents of dividend and divisor, and the difference of the two, are
// within these: all pairs of exponents were tried on an H200.
#define LEAST_DIVIDEND 25
#define MOST_DIVIDEND 254
#define LEAST_DIVISOR 2
#define MOST_DIVISOR 251
#define LEAST_QUOTIENT (-124)
#define MOST_QUOTIENT 126

static float as_float(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, 4);
    return f;
}

static uint32_t as_bits(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, 4);
    return bits;
}

static void modify(const struct compute *k, struct operand *o, unsigned abs, unsigned neg)
{
    const uint32_t keep = bit(k->s, abs) ? 0x7fffffff : ALL, flip = bit(k->s, neg) ? 0x80000000 : 0;
    EACH_LANE o->v[i] = (o->v[i] & keep) ^ flip;
}

void walk_float_operands(struct compute *k)
{
    modify(k, &k->a, A_ABS, A_NEG);
    if (sass_c_is_far(k->s))
        modify(k, &k->b, FIELD_64_ABS, FIELD_64_NEG);
    else if (k->s->b_place != PLACE_IMMEDIATE)
        modify(k, &k->b, FIELD_32_ABS, FIELD_32_NEG);
}

static void load_c(struct compute *k)
{
    walk_load_c(k, 0, &k->c);
    if (!sass_c_is_far(k->s))
        modify(k, &k->c, FIELD_64_ABS, FIELD_64_NEG);
    else if (k->s->c_place != PLACE_IMMEDIATE)
        modify(k, &k->c, FIELD_32_ABS, FIELD_32_NEG);
}

// Stores the result, as .FTZ and .SAT have it.
static void finish(struct compute *k, uint32_t known)
{
    EACH_LANE
    {
        const float f = as_float(k->out.v[i]);
        if (bit(k->s, FLUSH) && fabsf(f) < 0x1p-126f)
            k->out.v[i] &= 0x80000000;
        if (bit(k->s, SATURATE))
            k->out.v[i] = as_bits(f > 0 ? f < 1 ? f : 1 : 0);
    }
    k->out.known = known;
    walk_store(k, k->s->d, &k->out);
}

void walk_fadd(struct compute *k)
{
    const bool far = sass_c_is_far(k->s);
    walk_float_operands(k);
    if (far)
        load_c(k);
    const struct operand *b = far ? &k->c : &k->b;
    EACH_LANE k->out.v[i] = as_bits(as_float(k->a.v[i]) + as_float(b->v[i]));
    finish(k, k->a.known & b->known);
}

void walk_fmul(struct compute *k)
{
    walk_float_operands(k);
    EACH_LANE k->out.v[i] = as_bits(as_float(k->a.v[i]) * as_float(k->b.v[i]));
    finish(k, k->a.known & k->b.known);
}

void walk_ffma(struct compute *k)
{
    walk_float_operands(k);
    load_c(k);
    EACH_LANE
    {
        const double product = (double)as_float(k->a.v[i]) * as_float(k->b.v[i]);
        k->out.v[i] = as_bits((float)(product + as_float(k->c.v[i])));
    }
    finish(k, k->a.known & k->b.known & k->c.known);
}

void walk_fmnmx(struct compute *k)
{
    walk_float_operands(k);
    uint32_t known = k->a.known & k->b.known;
    const uint32_t least = walk_predicate_in(k, 87, &known);
    EACH_LANE
    {
        const float a = as_float(k->a.v[i]), b = as_float(k->b.v[i]);
        k->out.v[i] = as_bits(least >> i & 1 ? fminf(a, b) : fmaxf(a, b));
    }
    k->out.known = known;
    walk_store(k, k->s->d, &k->out);
}

void walk_mufu(struct compute *k)
{
    const unsigned function = sass_bits(k->s, FUNCTION, FUNCTION_BITS);
    walk_float_operands(k);
    EACH_LANE
    {
        const float x = as_float(k->b.v[i]);
        const float f = function == 2   ? exp2f(x)
                        : function == 3 ? log2f(x)
                        : function == 4 ? 1 / x
                        : function == 5 ? 1 / sqrtf(x)
                                        : sqrtf(x);
        k->out.v[i] = as_bits(f);
    }
    const bool computed = (function >= 2 && function <= 5) || function == 8;
    k->out.known = computed ? k->b.known : 0;
    walk_store(k, k->s->d, &k->out);
}

void walk_fchk(struct compute *k)
{
    uint32_t slow = 0;
    EACH_LANE
    {
        const int a = (int)(k->a.v[i] >> 23 & 255), b = (int)(k->b.v[i] >> 23 & 255);
        const bool fast = a >= LEAST_DIVIDEND && a <= MOST_DIVIDEND && b >= LEAST_DIVISOR && b <= MOST_DIVISOR &&
                          a - b >= LEAST_QUOTIENT && a - b <= MOST_QUOTIENT;
        slow |= (uint32_t)!fast << i;
    }
    walk_predicate_out(k, 81, slow, k->a.known & k->b.known);
}
