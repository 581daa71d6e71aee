// What instructions compute, lane by lane, with a mask of the lanes whose result is known: the table of effects, and
// those that move values. Source of the fields: listings of nvdisasm; a field that no listing showed is not read.
#include "walk_compute.h"

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
    const bool indexed = s->code == CODE_LDC;  // a register is added; ULDC and LDCU have none
    const uint32_t plain = s->code == CODE_LDCU ? sass_bits(s, 37, 16) : sass_bits(s, 40, 14) * 4;
    const int32_t base = indexed ? (int32_t)(sass_bits(s, 38, 16) << 16) >> 16 : (int32_t)plain;
    for (unsigned n = 0; n < words; n++) {
        k->out.known = indexed ? k->a.known : ALL;
        EACH_LANE
        {
            const uint32_t at = (uint32_t)base + (indexed ? k->a.v[i] : 0) + 4 * n;
            if (!walk_constant(k->w, sass_bits(s, 54, 5), at, &k->out.v[i]))
                k->out.known = 0;
        }
        walk_store(k, s->d + n, &k->out);
    }
}

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
        n = s->code == CODE_HMMA && !sass_bits(s, 76, 1) ? 2 : 4;  // sums of f16 are two registers, of f32 four
    else if (s->pipe <= PIPE_IMAD || s->pipe == PIPE_HALF || s->pipe == PIPE_ALU || s->pipe == PIPE_SHUFFLE)
        n = 1;
    else if (s->pipe == PIPE_XU && s->code < CODE_F2F_64)  // from there on, 64 bits come or go
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
    if (k->s->code == CODE_R2UR_FAST && sass_bits(k->s, 81, 3) != 7)
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
    if (k->s->code == CODE_S2UR)
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
