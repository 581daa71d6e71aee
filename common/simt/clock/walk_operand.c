// Operands of an instruction: registers, predicates and constants, of all lanes, with a mask of those that are known.
// Source of the fields: listings of nvdisasm.
#include "walk_compute.h"

#include <string.h>

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

void walk_splat(struct operand *o, uint32_t value)
{
    EACH_LANE o->v[i] = value;
    o->known = ALL;
}

void walk_load_register(const struct walk_warp *w, bool uniform, unsigned r, struct operand *o)
{
    const int n = walk_register(w, uniform, r);
    if (n < 0) {
        walk_splat(o, 0);
        return;
    }
    memcpy(o->v, &w->values[(unsigned)n * WALK_LANES], sizeof o->v);
    o->known = w->known[n];
}

bool walk_constant(const struct walk_warp *w, unsigned bank, unsigned at, uint32_t *value)
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
    else if (c->cc == 90 && (at == 0x198 || at == 0x19c))
        *value = (uint32_t)(WALK_PARAMETERS >> (at == 0x198 ? 0 : 32));
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
        walk_load_register(k->w, s->uniform, r == SASS_RZ && !s->uniform ? r : r + high, o);
        break;
    case PLACE_UNIFORM:
        walk_load_register(k->w, true, sass_bits(s, from, k->w->launch->cubin->cc >= 100 ? 8 : 6) + high, o);
        break;
    case PLACE_IMMEDIATE:
        walk_splat(o, high ? 0 : sass_bits(s, 32, 32));
        break;
    default:
        o->known = walk_constant(k->w, sass_bits(s, 54, 5), sass_bits(s, 40, 14) * 4 + 4 * high, &value) ? ALL : 0;
        EACH_LANE o->v[i] = value;
    }
}

void walk_load_b(const struct compute *k, unsigned high, struct operand *o)
{
    load_place(k, k->s->b_place, 32, k->s->b, high, o);
}

void walk_load_c(const struct compute *k, unsigned high, struct operand *o)
{
    const bool zero = k->s->uniform && walk_register(k->w, true, k->s->c) < 0;
    if (zero && k->s->c_place == PLACE_REGISTER)
        walk_splat(o, 0);
    else
        load_place(k, k->s->c_place, 32, k->s->c, high, o);
}

void walk_load_a(const struct compute *k, unsigned high, struct operand *o)
{
    const int n = walk_register(k->w, k->s->uniform, k->s->a);
    if (n < 0)
        walk_splat(o, 0);
    else
        walk_load_register(k->w, k->s->uniform, k->s->a + high, o);
}

void walk_negate(struct operand *o, bool with_carry)
{
    EACH_LANE o->v[i] = with_carry ? ~o->v[i] : 0 - o->v[i];
}

void walk_store(struct compute *k, unsigned d, const struct operand *o)
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

uint32_t walk_predicate_in(const struct compute *k, unsigned from, uint32_t *known)
{
    uint32_t knows;
    const unsigned p = sass_bits(k->s, from, 3) + (k->s->uniform ? 8 : 0);
    const uint32_t value = walk_predicate(k->w, p, bit(k->s, from + 3), &knows);
    *known &= knows;
    return value;
}

void walk_predicate_out(struct compute *k, unsigned from, uint32_t value, uint32_t known)
{
    const unsigned p = sass_bits(k->s, from, 3) + (k->s->uniform ? 8 : 0);
    if (p % 8 == 7)
        return;
    k->w->predicates[p] = (k->w->predicates[p] & ~k->mask) | (value & k->mask);
    k->w->predicates_known[p] = (k->w->predicates_known[p] & ~k->mask) | (known & k->mask);
}
