// One PTX instruction to its uops. Most are one line of alu.def (decode_arith.c); the rest has a function of its own,
// here or in the other decode_*.c, listed in the table at the end.
#include "decode_inst.h"
#include "simt/machine/memory.h"
#include "simt/ptx/inline.h"

// bfi.type d, a, b, position, length: the last two travel as one value
static void bfi(struct decoder *x, const struct parts *s)
{
    const struct ptx_operand *o = x->in->operand;
    enum ptx_type t = s->n == 2 ? ptx_type_named(s->part[1]) : PTX_NONE;
    if (t != PTX_B32 && t != PTX_B64)
        decode_unknown(x);
    operand_count(x, 5, 5);
    uint32_t a = operand_value(x, &o[1], t), b = operand_value(x, &o[2], t), field;
    if (o[3].kind == OPND_INT && o[4].kind == OPND_INT) {
        field = vreg_const(x, SLOT_32, (o[3].bits & 255) | (o[4].bits & 255) << 8);
    } else {
        field = vreg_new(x, SLOT_32);
        emit_alu(x, ALU_field, field, operand_value(x, &o[3], PTX_U32), operand_value(x, &o[4], PTX_U32), NO_VREG);
    }
    emit_alu(x, t == PTX_B64 ? ALU_bfi_b64 : ALU_bfi_b32, operand_destination(x, &o[0], ptx_type_bytes(t)), a, b,
             field);
}

// lop3.b32 d, a, b, c, table; lop3.BoolOp.b32 d|p, a, b, c, table, q: p = (d != 0) BoolOp q
static void lop3(struct decoder *x, const struct parts *s)
{
    const struct ptx_operand *o = x->in->operand;
    bool joins = s->n == 3 && (str_is(s->part[1], "and") || str_is(s->part[1], "or"));
    if (!str_is(s->part[s->n - 1], "b32") || s->n != (joins ? 3u : 2u))
        decode_unknown(x);
    operand_count(x, joins ? 6 : 5, joins ? 6 : 5);
    if (o[4].kind != OPND_INT || o[4].bits > 255)
        decode_fail(x, o[4].at, "the table of 'lop3' is a literal from 0 to 255");
    if (joins && o[0].reg2 < 0)
        decode_fail(x, o[0].at, "expected a register and a predicate: d|p");
    uint32_t a = operand_value(x, &o[1], PTX_B32), b = operand_value(x, &o[2], PTX_B32);
    uint32_t c = operand_value(x, &o[3], PTX_B32), t = vreg_new(x, SLOT_32);
    struct ptx_operand d = o[0], p = o[0];
    p.kind = OPND_REG;
    p.reg = o[0].reg2;
    uint32_t to = operand_destination(x, &d, 4);
    emit_alu(x, ALU_lop3, joins ? t : to, a, b, c)->target = (uint32_t)o[4].bits;
    if (!joins)
        return;
    uint32_t some = vreg_new(x, SLOT_PRED);
    emit_alu(x, ALU_setp_ne_b32, some, t, vreg_const(x, SLOT_32, 0), NO_VREG);
    emit_alu(x, ALU_mov_b32, to, t, NO_VREG, NO_VREG);
    emit_alu(x, str_is(s->part[1], "and") ? ALU_and_pred : ALU_or_pred, destination_predicate(x, &p), some,
             operand_predicate(x, &o[5]), NO_VREG);
}

static enum alu_op mov_op(uint32_t bytes)
{
    return bytes == 2 ? ALU_mov_b16 : bytes == 4 ? ALU_mov_b32 : ALU_mov_b64;
}

// d = {v0, v1} or {v0, v1, v2, v3}, the first one lowest
static void pack(struct decoder *x, const struct ptx_operand *v, uint32_t bytes)
{
    uint32_t part[4], n = v->count, each = bytes / n;
    for (uint32_t i = 0; i < n; i++)
        part[i] = operand_value(x, &v->list[i], each == 4 ? PTX_B32 : PTX_B16);
    for (; n > 2; n /= 2, each *= 2) {
        for (uint32_t i = 0; i < n / 2; i++) {
            uint32_t t = vreg_new(x, SLOT_32);
            emit_alu(x, ALU_pack_b32, t, part[2 * i], part[2 * i + 1], NO_VREG);
            part[i] = t;
        }
    }
    emit_alu(x, each == 4 ? ALU_pack_b64 : ALU_pack_b32, operand_destination(x, &x->in->operand[0], bytes), part[0],
             part[1], NO_VREG);
}

static void unpack(struct decoder *x, const struct ptx_operand *v, uint32_t bytes, uint32_t from)
{
    uint32_t kept[2], each = bytes / v->count;
    if (bytes == 8) {  // a part may go to the register that it came from
        kept[0] = decode_unary(x, ALU_low_b64, from);
        kept[1] = decode_unary(x, ALU_high_b64, from);
    } else {
        kept[0] = kept[1] = decode_unary(x, ALU_mov_b32, from);
    }
    for (uint32_t i = 0; i < v->count; i++) {
        enum alu_op op = each == 4 ? ALU_mov_b32 : i % 2 ? ALU_high_b32 : ALU_low_b32;
        emit_alu(x, op, operand_destination(x, &v->list[i], each), kept[2 * i / v->count], NO_VREG, NO_VREG);
    }
}

// mov.v2.type d, a; mov.b128 d, a: element by element, all read before one is written. False for others.
static bool mov_vector(struct decoder *x, const struct parts *s)
{
    const bool wide = s->n == 2 && ptx_type_named(s->part[1]) == PTX_B128;
    const bool vector = s->n == 3 && (str_is(s->part[1], "v2") || str_is(s->part[1], "v4"));
    const enum ptx_type t = wide ? PTX_B64 : vector ? ptx_type_named(s->part[2]) : PTX_NONE;
    const uint32_t n = wide ? 2 : vector ? (uint32_t)(s->part[1].p[1] - '0') : 0, bytes = ptx_type_bytes(t);
    const struct ptx_operand *d = &x->in->operand[0], *a = &x->in->operand[1];
    uint32_t from[4];
    if (!n)
        return false;
    operand_count(x, 2, 2);
    if (d->kind != OPND_VEC || a->kind != OPND_VEC || d->count != n || a->count != n || bytes < 2 || bytes > 8)
        decode_unknown(x);
    for (uint32_t i = 0; i < n; i++)
        from[i] = decode_unary(x, mov_op(bytes), operand_value(x, &a->list[i], t));
    for (uint32_t i = 0; i < n; i++)
        emit_alu(x, mov_op(bytes), operand_destination(x, &d->list[i], bytes), from[i], NO_VREG, NO_VREG);
    return true;
}

// mov.type d, a; mov.b64 {x, y}, a; mov.b64 d, {x, y}; the same for b32 of two halves and b64 of four
static void mov(struct decoder *x, const struct parts *s)
{
    if (mov_vector(x, s))
        return;
    enum ptx_type t = s->n == 2 ? ptx_type_named(s->part[1]) : PTX_NONE;
    uint32_t bytes = ptx_type_bytes(t);
    const struct ptx_operand *d = &x->in->operand[0], *a = &x->in->operand[1];
    operand_count(x, 2, 2);
    if (t == PTX_PRED) {
        if (a->kind == OPND_INT) {
            uint32_t zero = vreg_const(x, SLOT_32, 0), bit = vreg_const(x, SLOT_32, a->bits != 0);
            emit_alu(x, ALU_setp_ne_b32, destination_predicate(x, d), bit, zero, NO_VREG);
            return;
        }
        emit_alu(x, ALU_mov_pred, destination_predicate(x, d), operand_predicate(x, a), NO_VREG, NO_VREG);
        return;
    }
    if (bytes < 2 || bytes > 8)
        decode_unknown(x);
    if (d->kind == OPND_VEC || a->kind == OPND_VEC) {
        const struct ptx_operand *v = d->kind == OPND_VEC ? d : a;
        if (d->kind == a->kind || v->count < 2 || bytes / v->count < 2 || bytes % v->count)
            decode_unknown(x);
        if (a->kind == OPND_VEC)
            pack(x, v, bytes);
        else
            unpack(x, v, bytes, operand_value(x, a, t));
        return;
    }
    uint32_t from = operand_value(x, a, t);
    emit_alu(x, mov_op(bytes), operand_destination(x, d, bytes), from, NO_VREG, NO_VREG);
}

// cvta[.to].space.u64 d, a: between an address in a space and a generic one. Global and const addresses are generic
// ones already, and so are those of parameters; shared and local have windows.
static void cvta(struct decoder *x, const struct parts *s)
{
    bool to = s->n > 1 && str_is(s->part[1], "to");
    operand_count(x, 2, 2);
    if (s->n != (to ? 4u : 3u) || ptx_type_bytes(ptx_type_named(s->part[s->n - 1])) != 8)
        decode_unknown(x);
    struct str space = s->part[s->n - 2];
    uint64_t window = 0;
    if (str_is(space, "shared") || str_is(space, "shared::cta") || str_is(space, "shared::cluster"))
        window = WINDOW_SHARED;
    else if (str_is(space, "local"))
        window = WINDOW_LOCAL;
    else if (!str_is(space, "global") && !str_is(space, "const") && !str_is(space, "param") &&
             !str_is(space, "param::entry"))
        decode_unknown(x);
    uint32_t a = operand_value(x, &x->in->operand[1], PTX_U64), d = operand_destination(x, &x->in->operand[0], 8);
    if (window)
        emit_alu(x, to ? ALU_sub_u64 : ALU_add_u64, d, a, vreg_const(x, SLOT_64, window), NO_VREG);
    else
        emit_alu(x, ALU_mov_b64, d, a, NO_VREG, NO_VREG);
}

// By the first word of the name. What stands in no row is arithmetic.
static const struct {
    const char *name;
    void (*decode)(struct decoder *, const struct parts *);
} decoders[] = {
    { "mov", mov },
    { "cvta", cvta },
    { "cvt", decode_cvt },
    { "setp", decode_setp },
    { "set", decode_set },
    { "selp", decode_selp },
    { "slct", decode_slct },
    { "testp", decode_testp },
    { "isspacep", decode_isspacep },
    { "bfi", bfi },
    { "lop3", lop3 },
    { "addc", decode_extended },
    { "subc", decode_extended },
    { "madc", decode_extended },
    { "ld", decode_memory },
    { "st", decode_memory },
    { "bra", decode_bra },
    { "ret", decode_leave },
    { "exit", decode_leave },
    { "trap", decode_trap },
    { "bar", decode_barrier },
    { "barrier", decode_barrier },
    { "ldmatrix", decode_ldmatrix },
    { "stmatrix", decode_ldmatrix },
    { "mma", decode_mma },
    { "wmma", decode_wmma },
    { "wgmma", decode_wgmma },
    { "setmaxnreg", decode_setmaxnreg },
    { "shfl", decode_shfl },
    { "vote", decode_vote },
    { "match", decode_match },
    { "redux", decode_redux },
    { "elect", decode_elect },
    { "mapa", decode_mapa },
    { "getctarank", decode_getctarank },
    { "activemask", decode_activemask },
    { "atom", decode_atomic },
    { "red", decode_atomic },
    { "cp", decode_cp },
    { "mbarrier", decode_mbarrier },
    { "membar", decode_fence },
    { "fence", decode_fence },
    { "prefetch", decode_hint },
    { "prefetchu", decode_hint },
    { "nanosleep", decode_hint },
    { "call", decode_call },
    { "brx", decode_brx },
    { OP_STACK_FULL, decode_end },
    { OP_NO_FUNCTION, decode_end },
    { "createpolicy", decode_policy },
    { "griddepcontrol", decode_griddepcontrol },
    { "applypriority", decode_ignored },
    { "discard", decode_ignored },
    { "pmevent", decode_ignored },
    { "brkpt", decode_trap },
    { "alloca", decode_stack },
    { "stacksave", decode_stack },
    { "stackrestore", decode_stack },
    { "movmatrix", decode_movmatrix },
    { "ldu", decode_memory },
    { "vadd", decode_video },
    { "vadd2", decode_video },
    { "vadd4", decode_video },
    { "vsub", decode_video },
    { "vsub2", decode_video },
    { "vsub4", decode_video },
    { "vabsdiff", decode_video },
    { "vabsdiff2", decode_video },
    { "vabsdiff4", decode_video },
    { "vmin", decode_video },
    { "vmin2", decode_video },
    { "vmin4", decode_video },
    { "vmax", decode_video },
    { "vmax2", decode_video },
    { "vmax4", decode_video },
    { "vavrg2", decode_video },
    { "vavrg4", decode_video },
    { "vset", decode_video_set },
    { "vset2", decode_video_set },
    { "vset4", decode_video_set },
    { "", decode_hint },  // .branchtargets
};

void decode_instruction(struct decoder *x)
{
    struct parts s = parts_of(x);
    for (size_t i = 0; i < sizeof decoders / sizeof *decoders; i++) {
        if (str_is(s.part[0], decoders[i].name)) {
            decoders[i].decode(x, &s);
            return;
        }
    }
    decode_arithmetic(x, &s);
}
