// Comparisons and what chooses by them: setp, set, selp, slct, testp, isspacep.
#include <string.h>

#include "decode_inst.h"
#include "simt/code/cluster.h"
#include "simt/machine/memory.h"

struct comparison {
    struct str relation, join;  // join.n == 0: none
    enum ptx_type type;
    bool ftz;
};

// setp.CmpOp[.BoolOp][.ftz].type, and set with the destination's type before that
static struct comparison comparison(struct decoder *x, const struct parts *s, uint32_t types)
{
    struct comparison c = { .relation = s->part[1], .type = ptx_type_named(s->part[s->n - 1]) };
    if (s->n < 2 + types || c.relation.n > 8)
        decode_unknown(x);
    for (uint32_t i = 2; i + types < s->n; i++) {
        if (str_is(s->part[i], "ftz") && (c.type == PTX_F32 || c.type == PTX_F16 || c.type == PTX_F16X2))
            c.ftz = true;
        else if (str_is(s->part[i], "and") || str_is(s->part[i], "or") || str_is(s->part[i], "xor"))
            c.join = s->part[i];
        else
            decode_unknown(x);
    }
    operand_count(x, c.join.n ? 4 : 3, c.join.n ? 4 : 3);
    return c;
}

static bool is_pair(enum ptx_type t)
{
    return t == PTX_F16X2 || t == PTX_BF16X2;
}

// Emits the comparison of a and b, of their upper halves where high says so, to d; NO_VREG: a new predicate.
static uint32_t compare(struct decoder *x, const struct comparison *c, bool high, uint32_t d, uint32_t a, uint32_t b)
{
    enum ptx_type type = c->type;
    uint32_t v[2] = { a, b };
    bool bf16 = type == PTX_BF16 || type == PTX_BF16X2;
    for (uint32_t i = 0; i < 2; i++) {
        if (c->ftz)
            v[i] = decode_unary(x, decode_op(x, ".ftz.%s", ptx_type_name(type)), v[i]);
        if (high)
            v[i] = decode_unary(x, ALU_high_b32, v[i]);
        if (is_half(type))
            v[i] = decode_unary(x, bf16 ? ALU_cvt_f32_bf16 : ALU_cvt_f32_f16, v[i]);
    }
    enum alu_op op =
        decode_op(x, "setp.%.*s.%s", (int)c->relation.n, c->relation.p, ptx_type_name(is_half(type) ? PTX_F32 : type));
    d = d == NO_VREG ? vreg_new(x, SLOT_PRED) : d;
    emit_alu(x, op, d, v[0], v[1], NO_VREG);
    return d;
}

static enum alu_op join_op(const struct comparison *c)
{
    return !c->join.n               ? ALU_mov_pred
           : str_is(c->join, "and") ? ALU_and_pred
           : str_is(c->join, "or")  ? ALU_or_pred
                                    : ALU_xor_pred;
}

// setp.CmpOp[.BoolOp][.ftz].type p[|q], a, b[, c]: p = (a CmpOp b) BoolOp c, q = !(a CmpOp b) BoolOp c. With pairs of
// halves p is about the lower ones and q about the upper ones.
void decode_setp(struct decoder *x, const struct parts *s)
{
    const struct comparison how = comparison(x, s, 1);
    const struct ptx_operand *o = x->in->operand;
    uint32_t a = operand_value(x, &o[1], how.type), b = operand_value(x, &o[2], how.type);
    struct ptx_operand first = o[0], second = o[0];
    second.reg = o[0].reg2;
    if (!how.join.n && o[0].reg2 < 0 && o[0].kind == OPND_REG) {
        compare(x, &how, false, destination_predicate(x, &first), a, b);
        return;
    }
    uint32_t t = compare(x, &how, false, NO_VREG, a, b), c = how.join.n ? operand_predicate(x, &o[3]) : NO_VREG;
    enum alu_op join = join_op(&how);
    uint32_t other = NO_VREG, kept_c = c;
    if (o[0].reg2 >= 0) {
        if (is_pair(how.type)) {
            other = compare(x, &how, true, NO_VREG, a, b);
        } else {
            other = vreg_new(x, SLOT_PRED);
            emit_alu(x, ALU_not_pred, other, t, NO_VREG, NO_VREG);
        }
        if (c != NO_VREG) {  // p may be c: q still needs the old value
            kept_c = vreg_new(x, SLOT_PRED);
            emit_alu(x, ALU_mov_pred, kept_c, c, NO_VREG, NO_VREG);
        }
    }
    bool pair = o[0].kind == OPND_REG && o[0].reg2 >= 0;
    second.kind = OPND_REG;
    if (pair && o[0].reg == x->in->guard) {  // the guard is overwritten last
        emit_alu(x, join, destination_predicate(x, &second), other, kept_c, NO_VREG);
        emit_alu(x, join, destination_predicate(x, &first), t, kept_c, NO_VREG);
        return;
    }
    if (o[0].kind == OPND_REG)
        emit_alu(x, join, destination_predicate(x, &first), t, c, NO_VREG);
    if (o[0].reg2 >= 0)
        emit_alu(x, join, destination_predicate(x, &second), other, kept_c, NO_VREG);
}

static enum alu_op selp_op(uint32_t bytes)
{
    return bytes == 2 ? ALU_selp_b16 : bytes == 4 ? ALU_selp_b32 : ALU_selp_b64;
}

// What set writes if the comparison holds: 1.0 of the type, or all ones.
static uint64_t true_of(enum ptx_type t, bool pair)
{
    if (t == PTX_BF16 || t == PTX_BF16X2)
        return 0x3f80;
    if (is_half(t))
        return 0x3c00;
    if (t == PTX_F32)
        return 0x3f800000;
    return pair ? 0xffff : 0xffffffff;
}

// set.CmpOp[.BoolOp][.ftz].dtype.type d, a, b[, c]: true is 1.0, or all ones for an integer
void decode_set(struct decoder *x, const struct parts *s)
{
    if (s->n < 4)
        decode_unknown(x);
    const struct comparison how = comparison(x, s, 2);
    const struct ptx_operand *o = x->in->operand;
    enum ptx_type dt = ptx_type_named(s->part[s->n - 2]);
    const bool pair = is_pair(how.type);
    uint32_t bytes = ptx_type_bytes(dt), half[2] = { NO_VREG, NO_VREG };
    if ((bytes != 2 && bytes != 4) || (pair && bytes != 4))
        decode_unknown(x);
    uint32_t one = vreg_const(x, SLOT_32, true_of(dt, pair)), zero = vreg_const(x, SLOT_32, 0);
    uint32_t a = operand_value(x, &o[1], how.type), b = operand_value(x, &o[2], how.type);
    uint32_t c = how.join.n ? operand_predicate(x, &o[3]) : NO_VREG, d = operand_destination(x, &o[0], bytes);
    for (uint32_t i = 0; i < (pair ? 2u : 1u); i++) {
        uint32_t p = compare(x, &how, i == 1, NO_VREG, a, b), joined = p;
        if (how.join.n) {
            joined = vreg_new(x, SLOT_PRED);
            emit_alu(x, join_op(&how), joined, p, c, NO_VREG);
        }
        half[i] = pair ? vreg_new(x, SLOT_32) : d;
        emit_alu(x, selp_op(pair ? 2 : bytes), half[i], one, zero, joined);
    }
    if (pair)
        emit_alu(x, ALU_pack_b32, d, half[0], half[1], NO_VREG);
}

// selp.f32 selects bits like selp.b32.
void decode_selp(struct decoder *x, const struct parts *s)
{
    enum ptx_type t = s->n == 2 ? ptx_type_named(s->part[1]) : PTX_NONE;
    uint32_t bytes = ptx_type_bytes(t);
    operand_count(x, 4, 4);
    if (bytes < 2 || bytes > 8)
        decode_unknown(x);
    const struct ptx_operand *o = x->in->operand;
    uint32_t a = operand_value(x, &o[1], t), b = operand_value(x, &o[2], t), p = operand_predicate(x, &o[3]);
    emit_alu(x, selp_op(bytes), operand_destination(x, &o[0], bytes), a, b, p);
}

// slct[.ftz].dtype.ctype d, a, b, c: d = c >= 0 ? a : b; a NaN chooses b
void decode_slct(struct decoder *x, const struct parts *s)
{
    bool ftz = s->n == 4 && str_is(s->part[1], "ftz");
    const struct ptx_operand *o = x->in->operand;
    operand_count(x, 4, 4);
    if (s->n != (ftz ? 4u : 3u))
        decode_unknown(x);
    enum ptx_type t = ptx_type_named(s->part[s->n - 2]), ct = ptx_type_named(s->part[s->n - 1]);
    uint32_t bytes = ptx_type_bytes(t);
    if (bytes < 2 || bytes > 8 || (ct != PTX_F32 && (ct != PTX_S32 || ftz)))
        decode_unknown(x);
    uint32_t a = operand_value(x, &o[1], t), b = operand_value(x, &o[2], t), c = operand_value(x, &o[3], ct);
    uint32_t p = vreg_new(x, SLOT_PRED);
    if (ftz)
        c = decode_unary(x, ALU_ftz, c);
    emit_alu(x, ct == PTX_F32 ? ALU_setp_ge_f32 : ALU_setp_ge_s32, p, c, vreg_const(x, SLOT_32, 0), NO_VREG);
    emit_alu(x, selp_op(bytes), operand_destination(x, &o[0], bytes), a, b, p);
}

// testp.property.type p, a
void decode_testp(struct decoder *x, const struct parts *s)
{
    operand_count(x, 2, 2);
    if (s->n != 3 || !is_float(ptx_type_named(s->part[2])))
        decode_unknown(x);
    enum alu_op op = decode_op(x, "%.*s", (int)x->in->op.n, x->in->op.p);
    uint32_t a = operand_value(x, &x->in->operand[1], ptx_type_named(s->part[2]));
    emit_alu(x, op, destination_predicate(x, &x->in->operand[0]), a, a, NO_VREG);
}

// p = the number of a's allocation is that of one of the module's constants
static void is_constant(struct decoder *x, uint32_t p, uint32_t window)
{
    uint32_t one = vreg_new(x, SLOT_PRED), none = vreg_const(x, SLOT_32, 0);
    emit_alu(x, ALU_setp_ne_b32, p, none, none, NO_VREG);
    for (uint32_t i = 0; i < x->m->n_vars; i++) {
        if (x->m->vars[i].space != SPACE_CONST || !x->globals[i])
            continue;
        emit_alu(x, ALU_setp_eq_u64, one, window, vreg_const(x, SLOT_64, x->globals[i] >> MEMORY_SHIFT), NO_VREG);
        emit_alu(x, ALU_or_pred, p, p, one, NO_VREG);
    }
}

// isspacep.space p, a: does the generic address a lie in the window of that space?
void decode_isspacep(struct decoder *x, const struct parts *s)
{
    operand_count(x, 2, 2);
    if (s->n != 2)
        decode_unknown(x);
    const bool own = str_is(s->part[1], "shared") || str_is(s->part[1], "shared::cta");
    const bool shared = own || str_is(s->part[1], "shared::cluster");
    uint32_t a = operand_value(x, &x->in->operand[1], PTX_U64), window = vreg_new(x, SLOT_64);
    uint32_t d = destination_predicate(x, &x->in->operand[0]), p = vreg_new(x, SLOT_PRED);
    emit_alu(x, ALU_shr_u64, window, a, vreg_const(x, SLOT_32, MEMORY_SHIFT), NO_VREG);
    if (shared || str_is(s->part[1], "local")) {
        uint64_t is = (shared ? WINDOW_SHARED : WINDOW_LOCAL) >> MEMORY_SHIFT;
        emit_alu(x, ALU_setp_eq_u64, p, window, vreg_const(x, SLOT_64, is), NO_VREG);
        if (own) {
            uint32_t rank = vreg_new(x, SLOT_32), mine = vreg_new(x, SLOT_PRED);
            emit_alu(x, ALU_shr_u32, rank, decode_unary(x, ALU_low_b64, a), vreg_const(x, SLOT_32, CLUSTER_SHIFT),
                     NO_VREG);
            emit_alu(x, ALU_setp_eq_u32, mine, rank, emit_special_register(x, SREG_cluster_ctarank), NO_VREG);
            emit_alu(x, ALU_and_pred, p, p, mine, NO_VREG);
        }
    } else if (str_is(s->part[1], "global")) {
        uint64_t first = (WINDOW_SHARED < WINDOW_LOCAL ? WINDOW_SHARED : WINDOW_LOCAL) >> MEMORY_SHIFT;
        uint32_t constant = vreg_new(x, SLOT_PRED);
        is_constant(x, constant, window);
        emit_alu(x, ALU_not_pred, constant, constant, NO_VREG, NO_VREG);
        emit_alu(x, ALU_setp_lt_u64, p, window, vreg_const(x, SLOT_64, first), NO_VREG);
        emit_alu(x, ALU_and_pred, p, p, constant, NO_VREG);
    } else if (str_is(s->part[1], "const")) {
        is_constant(x, p, window);
    } else {
        decode_unknown(x);
    }
    emit_alu(x, ALU_mov_pred, d, p, NO_VREG, NO_VREG);
}
