// cvt: a chain of operations of alu.def, each on the result of the one before. Through f32 where a 16-bit format takes
// part; what is not exact on the way there is rounded to odd, so that only the last rounding shows.
#include <string.h>

#include "decode_inst.h"

#define CHAIN 10

struct chain {
    enum alu_op op[CHAIN];
    uint32_t n;
};

static void then(struct chain *c, enum alu_op op)
{
    c->op[c->n++] = op;
}

// The operand of type t, which may be the low bits of a wider register.
static uint32_t source(struct decoder *x, const struct ptx_operand *a, enum ptx_type t)
{
    if (a->kind != OPND_REG || x->f->regs[a->reg].type == PTX_PRED || reg_bytes(x, a->reg) <= ptx_type_bytes(t))
        return operand_value(x, a, t);
    return reg_bytes(x, a->reg) == 8 ? decode_unary(x, ALU_low_b64, (uint32_t)a->reg) : (uint32_t)a->reg;
}

struct conversion {
    enum ptx_type from, to;
    struct str round;
    bool ftz, sat, relu, satfinite;
};

static struct conversion conversion(struct decoder *x, const struct parts *s)
{
    if (s->n < 3)
        decode_unknown(x);
    struct conversion c = { .from = ptx_type_named(s->part[s->n - 1]), .to = ptx_type_named(s->part[s->n - 2]) };
    for (uint32_t i = 1; i + 2 < s->n; i++) {
        struct str p = s->part[i];
        bool *flag = str_is(p, "ftz")         ? &c.ftz
                     : str_is(p, "sat")       ? &c.sat
                     : str_is(p, "relu")      ? &c.relu
                     : str_is(p, "satfinite") ? &c.satfinite
                                              : NULL;
        if (flag)
            *flag = true;
        else if (!c.round.n && p.n < 8)
            c.round = p;
        else
            decode_unknown(x);
    }
    if (!ptx_type_bytes(c.from) || !ptx_type_bytes(c.to) || ptx_type_bytes(c.from) > 8 || ptx_type_bytes(c.to) > 8)
        decode_unknown(x);
    return c;
}

// To f16 or bf16, from a type that is not one of them.
static void to_half(struct decoder *x, const struct conversion *c, struct chain *chain)
{
    enum ptx_type from = c->from;
    if (is_integer(from) && from != PTX_U64 && from != PTX_S64)
        then(chain, decode_op(x, "cvt.s64.%s", ptx_type_name(from)));
    if (is_integer(from))
        then(chain, from == PTX_U64 ? ALU_odd_f32_u64 : ALU_odd_f32_s64);
    then(chain, decode_op(x, "cvt.%.*s.%s.%s", (int)c->round.n, c->round.p, ptx_type_name(c->to),
                          from == PTX_F64 ? "f64" : "f32"));
}

// Between integers, f32 and f64: one line of alu.def, but for clamping and the directed roundings, which have lines for
// 64-bit integers only.
static void plain(struct decoder *x, struct conversion c, bool *flush, struct chain *chain)
{
    bool clamps = c.sat && is_integer(c.to) && is_integer(c.from);
    bool directed = str_is(c.round, "rz") || str_is(c.round, "rm") || str_is(c.round, "rp");
    bool flushes = *flush && c.from == PTX_F64;  // decided with the rounding
    if ((clamps || directed) && is_integer(c.from) && c.from != PTX_U64 && c.from != PTX_S64) {
        then(chain, decode_op(x, "cvt.s64.%s", ptx_type_name(c.from)));
        c.from = PTX_S64;
    }
    then(chain, decode_op(x, "cvt%s%.*s%s%s.%s.%s", c.round.n ? "." : "", (int)c.round.n, c.round.p,
                          clamps ? ".sat" : "", flushes ? ".ftz" : "", ptx_type_name(c.to), ptx_type_name(c.from)));
    *flush = *flush && !flushes;
}

// Emits the chain from v to the operand d, whose register may be wider than the type: then it is filled by extension.
static void emit_chain(struct decoder *x, struct chain *chain, const struct ptx_operand *d, enum ptx_type t, uint32_t v)
{
    bool wider = d->kind == OPND_REG && x->f->regs[d->reg].type != PTX_PRED && reg_bytes(x, d->reg) > ptx_type_bytes(t);
    if (wider)
        then(chain, reg_bytes(x, d->reg) < 8 ? ALU_mov_b32 : is_signed(t) ? ALU_cvt_s64_s32 : ALU_cvt_u64_u32);
    uint32_t to = wider ? (uint32_t)d->reg : operand_destination(x, d, ptx_type_bytes(t));
    for (uint32_t i = 0; i + 1 < chain->n; i++)
        v = decode_unary(x, chain->op[i], v);
    emit_alu(x, chain->op[chain->n - 1], to, v, NO_VREG, NO_VREG);
}

// cvt.rn[.relu][.satfinite].f16x2.f32 d, a, b: a is the upper half
static void to_pair(struct decoder *x, const struct conversion *c)
{
    const struct ptx_operand *o = x->in->operand;
    const char *pair = ptx_type_name(c->to);
    enum alu_op op = decode_op(x, "cvt.%.*s.%s.f32", (int)c->round.n, c->round.p, pair);
    operand_count(x, 3, 3);
    if (c->from != PTX_F32 || c->ftz || c->sat)
        decode_unknown(x);
    uint32_t a = operand_value(x, &o[1], PTX_F32), b = operand_value(x, &o[2], PTX_F32);
    uint32_t d = operand_destination(x, &o[0], 4), t = c->relu || c->satfinite ? vreg_new(x, SLOT_32) : d;
    emit_alu(x, op, t, a, b, NO_VREG);
    if (c->relu && c->satfinite)
        t = decode_unary(x, decode_op(x, ".relu.%s", pair), t);
    if (c->relu || c->satfinite)
        emit_alu(x, decode_op(x, c->satfinite ? ".satfinite.%s" : ".relu.%s", pair), d, t, NO_VREG, NO_VREG);
}

// cvt[.round][.ftz][.sat][.relu][.satfinite].dtype.atype d, a
void decode_cvt(struct decoder *x, const struct parts *s)
{
    if (decode_cvt_other(x, s))
        return;
    struct conversion c = conversion(x, s);
    struct chain chain = { .n = 0 };
    if (c.to == PTX_F16X2 || c.to == PTX_BF16X2) {
        to_pair(x, &c);
        return;
    }
    operand_count(x, 2, 2);
    const char *to = ptx_type_name(c.to);
    bool flush = c.ftz && c.to == PTX_F32, whole = c.round.n == 3 && c.round.p[2] == 'i';
    uint32_t v = source(x, &x->in->operand[1], c.from);
    if (c.ftz && c.from == PTX_F32 && c.to != PTX_F16)  // an H200 flushes nothing on the way to f16
        then(&chain, ALU_ftz);
    if (is_half(c.from) && c.from == c.to && !c.round.n) {
        then(&chain, ALU_mov_b16);
    } else {
        if (is_half(c.from)) {  // exact
            then(&chain, decode_op(x, "cvt.f32.%s", ptx_type_name(c.from)));
            c.from = PTX_F32;
        }
        if (is_half(c.to) && whole) {
            then(&chain, decode_op(x, "cvt.%.*s.f32.f32", (int)c.round.n, c.round.p));
            c.round = (struct str){ "rn", 2 };
        }
        if (is_half(c.to))
            to_half(x, &c, &chain);
        else if (c.from == PTX_F32 && c.to == PTX_F32 && !c.round.n && chain.n)
            ;  // the value is there already
        else
            plain(x, c, &flush, &chain);
    }
    if (flush)
        then(&chain, ALU_ftz);
    if (c.sat && !is_integer(c.to))
        then(&chain, decode_op(x, ".sat.%s", to));
    if (c.relu)
        then(&chain, decode_op(x, ".relu.%s", to));
    if (c.satfinite)
        then(&chain, decode_op(x, ".satfinite.%s", to));
    emit_chain(x, &chain, &x->in->operand[0], c.to, v);
}
