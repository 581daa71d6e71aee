// What instructions compute: integers, predicates and constants, lane by lane, with a mask of the lanes whose result is
// known. Source of the fields: listings of nvdisasm; a field that no listing showed is not read.
#include "walk.h"

#include <math.h>
#include <string.h>

#define ALL 0xffffffffu
#define EACH_LANE for (unsigned i = 0; i < WALK_LANES; i++)

struct operand {
    uint32_t v[WALK_LANES];
    uint32_t known;
};

struct compute {
    struct walk_warp *w;
    const struct sass *s;
    uint32_t mask;
    struct operand a, b, c, out;
};

static bool bit(const struct sass *s, unsigned n)
{
    return sass_bits(s, n, 1);
}

int walk_register(const struct walk_warp *w, bool uniform, unsigned r)
{
    if (!uniform)
        return r == SASS_RZ ? -1 : (int)r;
    const unsigned zero = w->launch->cubin->cc >= 100 ? 255 : 63;
    return (r & zero) == zero ? -1 : (int)(WALK_UNIFORM + (r & zero));
}

uint32_t walk_predicate(const struct walk_warp *w, unsigned p, bool negated, uint32_t *known)
{
    *known = p % 8 == 7 ? ALL : w->predicates_known[p];
    const uint32_t value = p % 8 == 7 ? ALL : w->predicates[p];
    return negated ? ~value : value;
}

void walk_forget(struct walk_warp *w, unsigned first, unsigned n, uint32_t mask)
{
    for (unsigned r = first; r < first + n && r < WALK_VALUES; r++)
        w->known[r] &= ~mask;
}

static void splat(struct operand *o, uint32_t value)
{
    EACH_LANE o->v[i] = value;
    o->known = ALL;
}

static void load_register(const struct walk_warp *w, bool uniform, unsigned r, struct operand *o)
{
    const int n = walk_register(w, uniform, r);
    if (n < 0) {
        splat(o, 0);
        return;
    }
    memcpy(o->v, &w->values[(unsigned)n * WALK_LANES], sizeof o->v);
    o->known = w->known[n];
}

// A word of constant bank 0: the launch's shape, and its parameters.
static bool constant(const struct walk_warp *w, unsigned bank, unsigned at, uint32_t *value)
{
    const struct walk_launch *l = w->launch;
    const struct cubin *c = l->cubin;
    const unsigned shape = c->cc >= 100 ? 0x360 : 0;
    *value = 0;
    if (bank || at % 4)
        return false;
    if (at >= c->param_base && at + 4 <= c->param_base + (c->param_bytes + 3) / 4 * 4) {
        const unsigned left = c->param_bytes - (at - c->param_base);
        memcpy(value, l->params + at - c->param_base, left < 4 ? left : 4);
        return true;
    }
    if (at >= shape && at < shape + 12)
        *value = l->block[(at - shape) / 4];
    else if (at >= shape + 12 + (c->cc >= 100) * 4 && at < shape + 24 + (c->cc >= 100) * 4)
        *value = l->grid[(at - shape - 12 - (c->cc >= 100) * 4) / 4];
    else if (at == 0x28 || at == 0x37c)
        *value = c->frame;  // where the stack begins
    else
        return false;
    return true;
}

static void load_place(const struct compute *k, unsigned place, unsigned from, unsigned r, unsigned high,
                       struct operand *o)
{
    const struct sass *s = k->s;
    uint32_t value;
    switch (place) {
    case PLACE_REGISTER:
        load_register(k->w, s->uniform, r == SASS_RZ && !s->uniform ? r : r + high, o);
        break;
    case PLACE_UNIFORM:
        load_register(k->w, true, sass_bits(s, from, k->w->launch->cubin->cc >= 100 ? 8 : 6) + high, o);
        break;
    case PLACE_IMMEDIATE:
        splat(o, high ? 0 : sass_bits(s, 32, 32));
        break;
    default:
        o->known = constant(k->w, sass_bits(s, 54, 5), sass_bits(s, 40, 14) * 4 + 4 * high, &value) ? ALL : 0;
        EACH_LANE o->v[i] = value;
    }
}

static void load_b(const struct compute *k, unsigned high, struct operand *o)
{
    load_place(k, k->s->b_place, 32, k->s->b, high, o);
}

static void load_c(const struct compute *k, unsigned high, struct operand *o)
{
    const bool zero = k->s->uniform && walk_register(k->w, true, k->s->c) < 0;
    if (zero && k->s->c_place == PLACE_REGISTER)
        splat(o, 0);
    else
        load_place(k, k->s->c_place, 32, k->s->c, high, o);
}

static void load_a(const struct compute *k, unsigned high, struct operand *o)
{
    const int n = walk_register(k->w, k->s->uniform, k->s->a);
    if (n < 0)
        splat(o, 0);
    else
        load_register(k->w, k->s->uniform, k->s->a + high, o);
}

static void negate(struct operand *o, bool with_carry)
{
    EACH_LANE o->v[i] = with_carry ? ~o->v[i] : 0 - o->v[i];
}

static void store(struct compute *k, unsigned d, const struct operand *o)
{
    const int n = walk_register(k->w, k->s->uniform, d);
    if (n < 0)
        return;
    uint32_t *v = &k->w->values[(unsigned)n * WALK_LANES];
    if (k->mask == ALL)
        memcpy(v, o->v, sizeof o->v);
    else
        EACH_LANE v[i] = k->mask >> i & 1 ? o->v[i] : v[i];
    k->w->known[n] = (k->w->known[n] & ~k->mask) | (o->known & k->mask);
}

static uint32_t predicate_in(const struct compute *k, unsigned from, uint32_t *known)
{
    uint32_t knows;
    const unsigned p = sass_bits(k->s, from, 3) + (k->s->uniform ? 8 : 0);
    const uint32_t value = walk_predicate(k->w, p, bit(k->s, from + 3), &knows);
    *known &= knows;
    return value;
}

static void predicate_out(struct compute *k, unsigned from, uint32_t value, uint32_t known)
{
    const unsigned p = sass_bits(k->s, from, 3) + (k->s->uniform ? 8 : 0);
    if (p % 8 == 7)
        return;
    k->w->predicates[p] = (k->w->predicates[p] & ~k->mask) | (value & k->mask);
    k->w->predicates_known[p] = (k->w->predicates_known[p] & ~k->mask) | (known & k->mask);
}

// --- sums and products ---

// d = a + b + c, with carries in and out where the instruction is a part of a wider one.
static void iadd3(struct compute *k)
{
    const struct sass *s = k->s;
    const bool extended = bit(s, 74);
    load_c(k, 0, &k->c);
    uint32_t known = k->a.known & k->b.known & k->c.known, in1 = 0, in2 = 0, out1 = 0, out2 = 0;
    if (bit(s, 72))
        negate(&k->a, extended);
    if (bit(s, 63) && k->s->b_place != PLACE_IMMEDIATE)
        negate(&k->b, extended);
    if (bit(s, 75))
        negate(&k->c, extended);
    if (extended) {
        in1 = predicate_in(k, 87, &known);
        in2 = predicate_in(k, 77, &known);
    }
    EACH_LANE
    {
        // A negated operand that is zero carries, too: ~0 + 1.
        const uint64_t na = !extended && bit(s, 72) && !k->a.v[i] ? 1ull << 32 : k->a.v[i];
        const uint64_t nb =
            !extended && bit(s, 63) && k->s->b_place != PLACE_IMMEDIATE && !k->b.v[i] ? 1ull << 32 : k->b.v[i];
        const uint64_t sum = na + nb + k->c.v[i] + (in1 >> i & 1) + (in2 >> i & 1);
        k->out.v[i] = (uint32_t)sum;
        out1 |= (uint32_t)(sum >> 32 >= 1) << i;
        out2 |= (uint32_t)(sum >> 32 >= 2) << i;
    }
    k->out.known = known;
    store(k, s->d, &k->out);
    predicate_out(k, 81, out1, known);
    predicate_out(k, 84, out2, known);
}

static void iadd(struct compute *k)
{
    if (bit(k->s, 72))
        negate(&k->a, false);
    if (bit(k->s, 63) && k->s->b_place != PLACE_IMMEDIATE)
        negate(&k->b, false);
    EACH_LANE k->out.v[i] = k->a.v[i] + k->b.v[i];
    k->out.known = k->a.known & k->b.known;
    store(k, k->s->d, &k->out);
}

static void imad(struct compute *k)
{
    const struct sass *s = k->s;
    load_c(k, 0, &k->c);
    uint32_t known = k->a.known & k->b.known & k->c.known, in = 0, carry = 0;
    const bool extended = bit(s, 74);
    if (bit(s, 63) && k->s->b_place != PLACE_IMMEDIATE)
        negate(&k->b, false);
    if (bit(s, 75))
        negate(&k->c, extended);
    if (extended)
        in = predicate_in(k, 87, &known);
    EACH_LANE
    {
        const uint32_t product = bit(s, 72) ? 0 - k->a.v[i] * k->b.v[i] : k->a.v[i] * k->b.v[i];
        const uint64_t sum = (uint64_t)product + k->c.v[i] + (in >> i & 1);
        k->out.v[i] = (uint32_t)sum;
        carry |= (uint32_t)(sum >> 32) << i;
    }
    k->out.known = known;
    store(k, s->d, &k->out);
    predicate_out(k, 81, carry, known);
}

static uint64_t product64(uint32_t a, uint32_t b, bool is_signed)
{
    return is_signed ? (uint64_t)((int64_t)(int32_t)a * (int32_t)b) : (uint64_t)a * b;
}

// The 64-bit a * b + c, or its upper half alone.
static void imad_wide(struct compute *k, bool upper)
{
    const struct sass *s = k->s;
    struct operand high, top = { .known = 0 };
    load_c(k, 0, &k->c);
    if (s->c_place == PLACE_REGISTER && walk_register(k->w, s->uniform, s->c) < 0)
        splat(&high, 0);
    else
        load_c(k, 1, &high);
    const uint32_t known = k->a.known & k->b.known & k->c.known & (upper ? ALL : high.known);
    uint32_t carry = 0;
    if (bit(s, 63) && s->b_place != PLACE_IMMEDIATE)
        negate(&k->b, false);
    EACH_LANE
    {
        const uint64_t product = product64(k->a.v[i], k->b.v[i], bit(s, 73));
        uint64_t add = (uint64_t)high.v[i] << 32 | k->c.v[i];
        add = bit(s, 75) ? 0 - add : add;
        const uint64_t sum = product + (upper ? 0 : add);
        carry |= (uint32_t)(sum < product) << i;
        k->out.v[i] = upper ? (uint32_t)(sum >> 32) + k->c.v[i] : (uint32_t)sum;
        top.v[i] = (uint32_t)(sum >> 32);
    }
    k->out.known = top.known = known;
    store(k, s->d, &k->out);
    if (!upper)
        store(k, s->d + 1u, &top);
    predicate_out(k, 81, carry, known);
}

// d = (a << n) + b, or the upper half of the same with c above a.
static void lea(struct compute *k)
{
    const struct sass *s = k->s;
    const unsigned shift = sass_bits(s, 75, 5);
    const bool high = bit(s, 80), extended = bit(s, 74);
    load_register(k->w, s->uniform, (uint8_t)(s->hi), &k->c);
    if (s->uniform && walk_register(k->w, true, (uint8_t)s->hi) < 0)
        splat(&k->c, 0);
    uint32_t known = k->a.known & k->b.known & (high && !bit(s, 73) ? k->c.known : ALL), in = 0, carry = 0;
    if (extended)
        in = predicate_in(k, 87, &known);
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
    store(k, s->d, &k->out);
    predicate_out(k, 81, carry, known);
}

// --- bits ---

static void lop3(struct compute *k)
{
    const unsigned table = sass_bits(k->s, 72, 8);
    load_c(k, 0, &k->c);
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
    store(k, k->s->d, &k->out);
    if (sass_bits(k->s, 81, 3) != 7) {
        const uint32_t in = predicate_in(k, 87, &known);
        predicate_out(k, 81, bit(k->s, 80) ? nonzero & in : nonzero | in, known);
    }
}

static void shf(struct compute *k)
{
    const struct sass *s = k->s;
    const bool right = bit(s, 76), high = bit(s, 80), wraps = bit(s, 75);
    const unsigned type = sass_bits(s, 73, 2);  // 0 s64, 1 u64, 2 s32, 3 u32
    load_c(k, 0, &k->c);
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
    store(k, s->d, &k->out);
}

static void prmt(struct compute *k)
{
    load_c(k, 0, &k->c);
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
    k->out.known = k->a.known & k->b.known & k->c.known;
    store(k, k->s->d, &k->out);
}

static void one_operand(struct compute *k)
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
            out = b ? 31u - (unsigned)__builtin_clz(b) : ALL;
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
        case EFFECT_MUFU:
            f = 1 / f;
            memcpy(&out, &f, 4);
            break;
        default:  // I2F, I2FP
            f = bit(s, 74) ? (float)(int32_t)k->b.v[i] : (float)k->b.v[i];
            memcpy(&out, &f, 4);
        }
        k->out.v[i] = out;
    }
    const bool reciprocal = s->effect != EFFECT_MUFU || sass_bits(s, 74, 4) == 4;
    k->out.known = reciprocal ? k->b.known : 0;
    store(k, s->d, &k->out);
}

// --- predicates ---

static bool compare(unsigned how, int order)  // bits: less, equal, greater
{
    return how >> (order < 0 ? 0 : order == 0 ? 1 : 2) & 1;
}

static void set_predicates(struct compute *k, uint32_t result, uint32_t known)
{
    const unsigned op = sass_bits(k->s, 74, 2);
    const uint32_t with = predicate_in(k, 87, &known);
    const uint32_t not_result = ~result;
    predicate_out(k, 81, op == 0 ? result & with : op == 1 ? result | with : result ^ with, known);
    predicate_out(k, 84, op == 0 ? not_result & with : op == 1 ? not_result | with : not_result ^ with, known);
}

static void isetp(struct compute *k)
{
    const struct sass *s = k->s;
    const bool is_signed = bit(s, 73), extended = bit(s, 72);
    uint32_t known = k->a.known & k->b.known, result = 0, low = 0;
    if (extended)
        low = predicate_in(k, 68, &known);
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

static void float_setp(struct compute *k)
{
    const struct sass *s = k->s;
    const bool wide = s->effect == EFFECT_DSETP;
    const unsigned how = sass_bits(s, 76, 4);
    struct operand a_high, b_high;
    load_a(k, 1, &a_high);
    load_b(k, 1, &b_high);
    if (wide && s->b_place == PLACE_IMMEDIATE) {
        b_high = k->b;  // the immediate is the upper half
        splat(&k->b, 0);
    }
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

static void plop3(struct compute *k)
{
    const struct sass *s = k->s;
    const unsigned table = sass_bits(s, 72, 5) << 3 | sass_bits(s, 64, 3), second = sass_bits(s, 16, 8);
    uint32_t known = ALL, out = 0, out2 = 0;
    const uint32_t a = predicate_in(k, 87, &known), b = predicate_in(k, 77, &known);
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
    predicate_out(k, 81, out, known);
    predicate_out(k, 84, out2, known);
}

// All predicates into a register, or back, in byte 0 to 3 of it.
static void p2r(struct compute *k)
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
    store(k, k->s->d, &k->out);
}

static void r2p(struct compute *k)
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

static void sel(struct compute *k)
{
    uint32_t known = k->a.known & k->b.known;
    const uint32_t p = predicate_in(k, 87, &known);
    EACH_LANE k->out.v[i] = p >> i & 1 ? k->a.v[i] : k->b.v[i];
    k->out.known = known;
    store(k, k->s->d, &k->out);
}

// The smaller or larger of a and b; where sums: of a + b and c.
static void imnmx(struct compute *k, bool sums)
{
    if (sums) {
        load_c(k, 0, &k->c);  // before the sum is stored: it may be the same register
        iadd(k);
        k->a = k->out;
        k->b = k->c;
    }
    uint32_t known = k->a.known & k->b.known;
    const uint32_t least = predicate_in(k, 87, &known);
    const bool is_signed = sass_bits(k->s, 72, 2);
    EACH_LANE
    {
        const bool less = is_signed ? (int32_t)k->a.v[i] < (int32_t)k->b.v[i] : k->a.v[i] < k->b.v[i];
        k->out.v[i] = less == (bool)(least >> i & 1) ? k->a.v[i] : k->b.v[i];
    }
    k->out.known = known;
    store(k, k->s->d, &k->out);
}

static void vote(struct compute *k)
{
    const unsigned mode = sass_bits(k->s, 72, 2);
    uint32_t known = ALL;
    const uint32_t p = predicate_in(k, 87, &known) & k->mask, knows = (known & k->mask) == k->mask ? ALL : 0;
    splat(&k->out, p);
    k->out.known = knows;
    store(k, k->s->d, &k->out);
    const bool holds = mode == 0 ? p == k->mask : mode == 1 ? p != 0 : p == 0 || p == k->mask;
    predicate_out(k, 81, holds ? ALL : 0, knows);
}

// --- what else has a value ---

static void s2r(struct compute *k)
{
    const struct walk_warp *w = k->w;
    const unsigned what = sass_bits(k->s, 72, 8), *n = w->launch->block;
    k->out.known = ALL;
    EACH_LANE
    {
        const unsigned thread = w->index * WALK_LANES + i;
        uint32_t v = 0;
        switch (what) {
        case 0x00:
            v = i;
            break;
        case 0x21:
            v = thread % n[0];
            break;
        case 0x22:
            v = thread / n[0] % n[1];
            break;
        case 0x23:
            v = thread / n[0] / n[1];
            break;
        case 0x25:
        case 0x26:
        case 0x27:
            v = w->block[what - 0x25];
            break;
        case 0x38:  // lanemask_eq and its relatives
            v = 1u << i;
            break;
        case 0x39:
            v = (1u << i) - 1;
            break;
        case 0x88:  // the block's number in its cluster
            v = 0;
            break;
        default:
            k->out.known = 0;
        }
        k->out.v[i] = v;
    }
    store(k, k->s->d, &k->out);
}

static void ldc(struct compute *k)
{
    const struct sass *s = k->s;
    const unsigned words = s->bytes < 4 ? 1 : s->bytes / 4u;
    const bool indexed = s->code == 0x182;  // LDC: a register is added; ULDC and LDCU have none
    const uint32_t plain = s->code == 0x1ac ? sass_bits(s, 37, 16) : sass_bits(s, 40, 14) * 4;
    const int32_t base = indexed ? (int32_t)(sass_bits(s, 38, 16) << 16) >> 16 : (int32_t)plain;
    for (unsigned n = 0; n < words; n++) {
        k->out.known = indexed ? k->a.known : ALL;
        EACH_LANE
        {
            const uint32_t at = (uint32_t)base + (indexed ? k->a.v[i] : 0) + 4 * n;
            if (!constant(k->w, sass_bits(s, 54, 5), at, &k->out.v[i]))
                k->out.known = 0;
        }
        store(k, s->d + n, &k->out);
    }
}

static void shfl(struct compute *k)
{
    const struct sass *s = k->s;
    const bool b_register = s->form == 1 || s->form == 3 || s->form == 6 ? s->code == 0x189 : false;
    (void)b_register;
    k->out.known = 0;  // who reads whom is in modes that no branch of the steps depends on
    store(k, s->d, &k->out);
}

static void constant_of_halves(struct compute *k)  // 0 * 0 + immediate: ptxas loads constants so
{
    const struct sass *s = k->s;
    const bool product_is_zero = s->a == SASS_RZ && s->b == SASS_RZ && s->c_place == PLACE_IMMEDIATE;
    splat(&k->out, sass_bits(s, 32, 32));
    const bool all_zero = s->a == SASS_RZ && s->c_place == PLACE_REGISTER && s->c == SASS_RZ;
    if (all_zero)
        splat(&k->out, 0);
    k->out.known = product_is_zero || all_zero ? ALL : 0;
    store(k, s->d, &k->out);
}

static void sgxt(struct compute *k)
{
    EACH_LANE
    {
        const unsigned n = k->b.v[i] > 32 ? 32 : k->b.v[i];
        const bool is_signed = bit(k->s, 73);
        const uint64_t up = (uint64_t)k->a.v[i] << (64 - n);
        k->out.v[i] = !n ? 0 : is_signed ? (uint32_t)((int64_t)up >> (64 - n)) : (uint32_t)(up >> (64 - n));
    }
    k->out.known = k->a.known & k->b.known;
    store(k, k->s->d, &k->out);
}

static void bmsk(struct compute *k)
{
    EACH_LANE
    {
        const uint32_t at = k->a.v[i], n = k->b.v[i];
        const uint64_t ones = n >= 32 ? ALL : (1ull << n) - 1;
        k->out.v[i] = at >= 32 ? 0 : (uint32_t)(ones << at);
    }
    k->out.known = k->a.known & k->b.known;
    store(k, k->s->d, &k->out);
}

static void forget_results(struct compute *k)
{
    const struct sass *s = k->s;
    const int d = walk_register(k->w, s->uniform, s->d);
    unsigned n = 2;
    if (s->pipe == PIPE_TENSOR)
        n = 4;
    else if (s->pipe <= PIPE_IMAD || s->pipe == PIPE_HALF || s->pipe == PIPE_ALU || s->pipe == PIPE_SHUFFLE)
        n = 1;
    if (d >= 0)
        walk_forget(k->w, (unsigned)d, n, k->mask);
}

static void move(struct compute *k, const struct operand *from)
{
    k->out = *from;
    const int n = k->s->effect == EFFECT_MOV_A ? walk_register(k->w, true, k->s->d) : -1;
    if (k->s->effect != EFFECT_MOV_A) {
        store(k, k->s->d, &k->out);
    } else if (n >= 0) {  // R2UR: any lane's value for all
        const unsigned lane = k->mask ? (unsigned)__builtin_ctz(k->mask) : 0;
        EACH_LANE k->w->values[(unsigned)n * WALK_LANES + i] = from->v[lane];
        k->w->known[n] = from->known >> lane & 1 ? ALL : 0;
    }
}

static void s2ur(struct compute *k)
{
    struct compute u = *k;
    struct sass s = *k->s;
    s.uniform = true;
    u.s = &s;
    u.mask = ALL;
    s2r(&u);
}

static void compute_other(struct compute *k)
{
    switch (k->s->effect) {
    case EFFECT_FSETP:
    case EFFECT_DSETP:
        float_setp(k);
        break;
    case EFFECT_SETP_NONE:
        predicate_out(k, 81, 0, 0);
        predicate_out(k, 84, 0, 0);
        break;
    case EFFECT_CS2R:
        splat(&k->out, 0);
        k->out.known = sass_bits(k->s, 72, 8) == 0xff ? ALL : 0;
        store(k, k->s->d, &k->out);
        if (sass_bits(k->s, 80, 1) == 0)
            store(k, k->s->d + 1u, &k->out);
        break;
    case EFFECT_VOTE:
        vote(k);
        break;
    case EFFECT_SHFL:
        shfl(k);
        break;
    case EFFECT_SGXT:
        sgxt(k);
        break;
    case EFFECT_BMSK:
        bmsk(k);
        break;
    case EFFECT_CONSTANT:
        constant_of_halves(k);
        break;
    case EFFECT_IABS:
    case EFFECT_FLO:
    case EFFECT_POPC:
    case EFFECT_BREV:
    case EFFECT_F2I:
    case EFFECT_I2F:
    case EFFECT_I2FP:
    case EFFECT_MUFU:
        one_operand(k);
        break;
    default:
        forget_results(k);
    }
}

void walk_compute(struct walk_warp *w, const struct sass *s, uint32_t mask)
{
    struct compute k;
    k.w = w;
    k.s = s;
    k.mask = s->uniform ? ALL : mask;
    if (s->effect == EFFECT_NONE || s->effect == EFFECT_UNKNOWN) {
        forget_results(&k);
        return;
    }
    load_a(&k, 0, &k.a);
    load_b(&k, 0, &k.b);
    switch (s->effect) {
    case EFFECT_IADD3:
        iadd3(&k);
        break;
    case EFFECT_IADD:
    case EFFECT_VIADD:
        iadd(&k);
        break;
    case EFFECT_IMAD:
        imad(&k);
        break;
    case EFFECT_IMAD_WIDE:
        imad_wide(&k, false);
        break;
    case EFFECT_IMAD_HI:
        imad_wide(&k, true);
        break;
    case EFFECT_LEA:
        lea(&k);
        break;
    case EFFECT_LOP3:
        lop3(&k);
        break;
    case EFFECT_SHF:
        shf(&k);
        break;
    case EFFECT_PRMT:
        prmt(&k);
        break;
    case EFFECT_ISETP:
        isetp(&k);
        break;
    case EFFECT_PLOP3:
        plop3(&k);
        break;
    case EFFECT_P2R:
        p2r(&k);
        break;
    case EFFECT_R2P:
        r2p(&k);
        break;
    case EFFECT_SEL:
        sel(&k);
        break;
    case EFFECT_IMNMX:
    case EFFECT_VIADDMNMX:
        imnmx(&k, s->effect == EFFECT_VIADDMNMX);
        break;
    case EFFECT_MOV:
        move(&k, &k.b);
        break;
    case EFFECT_MOV_A:
        move(&k, &k.a);
        break;
    case EFFECT_LDC:
        ldc(&k);
        break;
    case EFFECT_S2R:
        if (s->code == 0x1c3)
            s2ur(&k);
        else
            s2r(&k);
        break;
    default:
        compute_other(&k);
    }
}
