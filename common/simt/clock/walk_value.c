// What instructions compute: integers, predicates and constants, lane by lane, with a mask of the lanes whose result is
// known. Source of the fields: listings of nvdisasm; a field that no listing showed is not read.
#include "walk_compute.h"

#include <string.h>

#define FIRST_WIDE_CONVERSION 0x110  // F2F_64: from there on, 64 bits come or go

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
        o->known = constant(k->w, sass_bits(s, 54, 5), sass_bits(s, 40, 14) * 4 + 4 * high, &value) ? ALL : 0;
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
    walk_store(k, k->s->d, &k->out);
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
        walk_store(k, s->d + n, &k->out);
    }
}

// Who reads whom depends on modes that no branch of the steps depends on.
// SHFL: the value of another lane. Which one: bits 58 and 59 say how, b which lane or how far, c how the warp is
// divided. Source: PTX ISA 9.7.9.6, shfl.sync.
static void shfl(struct compute *k)
{
    const struct sass *s = k->s;
    const bool b_register = s->form == 1 || s->form == 2, c_register = s->form == 1 || s->form == 4;
    const unsigned how = sass_bits(s, 58, 2);
    struct operand b, c;
    walk_splat(&b, sass_bits(s, 53, 5));
    walk_splat(&c, sass_bits(s, 40, 13));
    if (b_register)
        walk_load_register(k->w, false, sass_bits(s, 32, 8), &b);
    if (c_register)
        walk_load_register(k->w, false, sass_bits(s, 64, 8), &c);
    k->out.known = 0;
    EACH_LANE
    {
        const uint32_t part = c.v[i] >> 8 & 31, clamp = c.v[i] & 31, by = b.v[i] & 31;
        const uint32_t first = i & part, last = first | (clamp & ~part);
        uint32_t from = how == 0 ? (first | (by & ~part)) : how == 1 ? i - by : how == 2 ? i + by : i ^ by;
        if (how == 1 ? (int32_t)from < (int32_t)last : from > last)
            from = i;
        k->out.v[i] = k->a.v[from % WALK_LANES];
        const uint32_t known = b.known & c.known & 1u << i ? k->a.known & k->lanes : 0;
        k->out.known |= (known >> from % WALK_LANES & 1) << i;
    }
    walk_store(k, s->d, &k->out);
}

static void constant_of_halves(struct compute *k)  // 0 * 0 + immediate: ptxas loads constants so
{
    const struct sass *s = k->s;
    const bool product_is_zero = s->a == SASS_RZ && s->b == SASS_RZ && s->c_place == PLACE_IMMEDIATE;
    walk_splat(&k->out, sass_bits(s, 32, 32));
    const bool all_zero = s->a == SASS_RZ && s->c_place == PLACE_REGISTER && s->c == SASS_RZ;
    if (all_zero)
        walk_splat(&k->out, 0);
    k->out.known = product_is_zero || all_zero ? ALL : 0;
    walk_store(k, s->d, &k->out);
}

static void forget_results(struct compute *k)
{
    const struct sass *s = k->s;
    const int d = walk_register(k->w, s->uniform, s->d);
    unsigned n = 2;
    if (s->pipe == PIPE_TENSOR)
        n = s->code == 0x03c && !sass_bits(s, 76, 1) ? 2 : 4;  // HMMA: sums of f16 are two registers, of f32 four
    else if (s->pipe <= PIPE_IMAD || s->pipe == PIPE_HALF || s->pipe == PIPE_ALU || s->pipe == PIPE_SHUFFLE)
        n = 1;
    else if (s->pipe == PIPE_XU && s->code < FIRST_WIDE_CONVERSION)
        n = 1;
    if (d >= 0)
        walk_forget(k->w, (unsigned)d, n, k->mask);
}

// R2UR P: the lanes whose value is another one than the first lane's; .OR: those for which P holds, too.
static void note_others(struct compute *k, const struct operand *from)
{
    const unsigned p = sass_bits(k->s, 81, 3), lane = k->mask ? (unsigned)__builtin_ctz(k->mask) : 0;
    const bool either = bit(k->s, 84);
    uint32_t others = either ? k->w->predicates[p] : 0, known = either ? k->w->predicates_known[p] : ALL;
    EACH_LANE others |= (uint32_t)(from->v[i] != from->v[lane]) << i;
    known &= from->known >> lane & 1 ? from->known : 0;
    walk_predicate_out(k, 81, others, known);
}

static void move(struct compute *k, const struct operand *from)
{
    k->out = *from;
    const int n = k->s->effect == EFFECT_MOV_A ? walk_register(k->w, true, k->s->d) : -1;
    if (k->s->effect != EFFECT_MOV_A) {
        walk_store(k, k->s->d, &k->out);
    } else if (n >= 0) {  // R2UR: any lane's value for all
        const unsigned lane = k->mask ? (unsigned)__builtin_ctz(k->mask) : 0;
        EACH_LANE k->w->values[(unsigned)n * WALK_LANES + i] = from->v[lane];
        k->w->known[n] = from->known >> lane & 1 ? ALL : 0;
    }
    if (k->s->code == 0x0ca && sass_bits(k->s, 81, 3) != 7)
        note_others(k, from);
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

static void imad_wide(struct compute *k)
{
    walk_imad_wide(k, false);
}

static void imad_hi(struct compute *k)
{
    walk_imad_wide(k, true);
}

static void imnmx(struct compute *k)
{
    walk_imnmx(k, k->s->effect == EFFECT_VIADDMNMX);
}

static void mov(struct compute *k)
{
    move(k, &k->b);
}

static void mov_a(struct compute *k)
{
    move(k, &k->a);
}

static void special(struct compute *k)
{
    if (k->s->code == 0x1c3)
        s2ur(k);
    else
        s2r(k);
}

static void setp_none(struct compute *k)
{
    walk_predicate_out(k, 81, 0, 0);
    walk_predicate_out(k, 84, 0, 0);
}

static void cs2r(struct compute *k)
{
    walk_splat(&k->out, 0);
    k->out.known = sass_bits(k->s, 72, 8) == 0xff ? ALL : 0;
    walk_store(k, k->s->d, &k->out);
    if (sass_bits(k->s, 80, 1))  // 64 bits; CS2R.32 has 0 there
        walk_store(k, k->s->d + 1u, &k->out);
}

// What computes an effect. The results of all other effects are unknown.
static void (*const computes[EFFECT_UNKNOWN + 1])(struct compute *) = {
    [EFFECT_SETP_NONE] = setp_none,   [EFFECT_CONSTANT] = constant_of_halves,
    [EFFECT_ELECT] = walk_elect,      [EFFECT_REGISTERS] = walk_registers,
    [EFFECT_IMAD] = walk_imad,        [EFFECT_IMAD_WIDE] = imad_wide,
    [EFFECT_IMAD_HI] = imad_hi,       [EFFECT_MOV] = mov,
    [EFFECT_MOV_A] = mov_a,           [EFFECT_P2R] = walk_p2r,
    [EFFECT_R2P] = walk_r2p,          [EFFECT_CS2R] = cs2r,
    [EFFECT_VOTE] = walk_vote,        [EFFECT_SEL] = walk_sel,
    [EFFECT_FSETP] = walk_float_setp, [EFFECT_DSETP] = walk_float_setp,
    [EFFECT_ISETP] = walk_isetp,      [EFFECT_IADD] = walk_iadd,
    [EFFECT_IADD3] = walk_iadd3,      [EFFECT_IADD64] = walk_iadd64,
    [EFFECT_VIADD] = walk_iadd,       [EFFECT_LEA] = walk_lea,
    [EFFECT_LOP3] = walk_lop3,        [EFFECT_IABS] = walk_one_operand,
    [EFFECT_PRMT] = walk_prmt,        [EFFECT_IMNMX] = imnmx,
    [EFFECT_VIADDMNMX] = imnmx,       [EFFECT_SHF] = walk_shf,
    [EFFECT_SGXT] = walk_sgxt,        [EFFECT_BMSK] = walk_bmsk,
    [EFFECT_PLOP3] = walk_plop3,      [EFFECT_I2FP] = walk_one_operand,
    [EFFECT_I2F] = walk_one_operand,  [EFFECT_F2I] = walk_one_operand,
    [EFFECT_FLO] = walk_one_operand,  [EFFECT_BREV] = walk_one_operand,
    [EFFECT_POPC] = walk_one_operand, [EFFECT_LDC] = ldc,
    [EFFECT_S2R] = special,           [EFFECT_SHFL] = shfl,
    [EFFECT_FADD] = walk_fadd,        [EFFECT_FMUL] = walk_fmul,
    [EFFECT_FFMA] = walk_ffma,        [EFFECT_FMNMX] = walk_fmnmx,
    [EFFECT_MUFU] = walk_mufu,        [EFFECT_FCHK] = walk_fchk,
};

// Most of f32 depends on what is not known. Then nothing has to be computed.
static bool is_hopeless(const struct walk_warp *w, const struct sass *s, uint32_t mask)
{
    if (s->effect < EFFECT_FADD || s->effect > EFFECT_FCHK)
        return false;
    const uint32_t a = s->effect == EFFECT_MUFU || s->a == SASS_RZ ? ALL : w->known[s->a];
    const uint32_t b = s->b_place != PLACE_REGISTER || s->b == SASS_RZ ? ALL : w->known[s->b];
    return !(a & b & mask);
}

void walk_compute(struct walk_warp *w, const struct sass *s, uint32_t mask)
{
    struct compute k;
    k.w = w;
    k.s = s;
    k.mask = s->uniform ? ALL : mask;
    k.lanes = mask;
    if (s->effect == EFFECT_FCHK && is_hopeless(w, s, mask)) {
        setp_none(&k);
        return;
    }
    if (!computes[s->effect] || is_hopeless(w, s, mask)) {
        forget_results(&k);
        return;
    }
    walk_load_a(&k, 0, &k.a);
    walk_load_b(&k, 0, &k.b);
    computes[s->effect](&k);
}
