// One PTX instruction to its uops. Most are one line of alu.def, found by name; the rest has a function of its own,
// here or in decode_mem.c, listed in the table at the end.
#include <stdio.h>
#include <string.h>

#include "decode_inst.h"

static struct parts split(struct decoder *x)
{
    struct parts s = { .n = 0 };
    struct str op = x->in->op;
    for (uint32_t i = 0, start = 0; i <= op.n; i++) {
        if (i < op.n && op.p[i] != '.')
            continue;
        if (s.n == PARTS)
            decode_fail(x, NULL, "unknown instruction '%.*s'", (int)op.n, op.p);
        s.part[s.n++] = (struct str){ op.p + start, i - start };
        start = i + 1;
    }
    return s;
}

static enum alu_op find_op(struct decoder *x, const char *name)
{
    uint32_t op;
    if (!map_get(&x->ops, (struct str){ name, (uint32_t)strlen(name) }, &op))
        decode_unknown(x);
    return (enum alu_op)op;
}

static uint32_t destination_predicate(struct decoder *x, const struct ptx_operand *o)
{
    if (o->negated)
        decode_fail(x, o->at, "a destination cannot be negated");
    return operand_predicate(x, o);
}

static uint32_t flushed(struct decoder *x, uint32_t v)
{
    uint32_t t = vreg_new(x, SLOT_32);
    emit_alu(x, ALU_ftz, t, v, NO_VREG, NO_VREG);
    return t;
}

// --- the lines of alu.def ---

enum kind { KIND_ALU, KIND_SETP, KIND_LOGIC, KIND_SELP };

#define T_u8 PTX_U8
#define T_u16 PTX_U16
#define T_u32 PTX_U32
#define T_u64 PTX_U64
#define T_s8 PTX_S8
#define T_s16 PTX_S16
#define T_s32 PTX_S32
#define T_s64 PTX_S64
#define T_f32 PTX_F32
#define T_f64 PTX_F64

static const struct {
    enum kind kind;
    uint32_t n;
    enum ptx_type d, abc[3];
} signatures[ALU_OPS] = {
#define ALU(id, name, n, D, A, B, C, effect) { KIND_ALU, n, T_##D, { T_##A, T_##B, T_##C } },
#define SETP(id, name, T, effect) { KIND_SETP, 2, PTX_PRED, { T_##T, T_##T, PTX_NONE } },
#define LOGIC(id, name, n, effect) { KIND_LOGIC, n, PTX_PRED, { PTX_PRED, PTX_PRED, PTX_NONE } },
#define SELP(id, name, T) { KIND_SELP, 3, T_##T, { T_##T, T_##T, PTX_PRED } },
#include "alu.def"
};

static void arithmetic(struct decoder *x, const struct parts *s)
{
    char name[128] = "";
    bool ftz = false, sat = false;
    enum ptx_type type = ptx_type_named(s->part[s->n - 1]);
    if (x->in->op.n >= sizeof name)
        decode_unknown(x);
    for (uint32_t i = 0; i < s->n; i++) {
        struct str p = s->part[i];
        if (i && is_float(type) && str_is(p, "rn"))
            continue;
        if (type == PTX_F32 && (str_is(p, "ftz") || str_is(p, "sat"))) {
            ftz |= str_is(p, "ftz");
            sat |= str_is(p, "sat");
            continue;
        }
        snprintf(name + strlen(name), sizeof name - strlen(name), "%s%.*s", i ? "." : "", (int)p.n, p.p);
    }
    if (is_float(type) && str_is(s->part[0], "mad"))
        memcpy(name, "fma", 3);
    bool flush_result = ftz;
    if (ftz && (str_is(s->part[0], "mul") || str_is(s->part[0], "div") || str_is(s->part[0], "fma") ||
                str_is(s->part[0], "mad"))) {
        if (strcmp(name + 3, ".f32") != 0)
            decode_unknown(x);
        snprintf(name + 3, sizeof name - 3, ".ftz.f32");  // what these flush is decided with the rounding
        flush_result = false;
    }
    enum alu_op op = find_op(x, name);
    uint32_t v[3] = { NO_VREG, NO_VREG, NO_VREG }, n = signatures[op].n;
    operand_count(x, n + 1, n + 1);
    const struct ptx_operand *o = x->in->operand;
    for (uint32_t i = 0; i < n; i++) {
        enum ptx_type t = signatures[op].abc[i];
        // Where the table works on the bits of a float (neg, abs, copysign), literals are still floats.
        bool bits_of_float = is_float(type) && is_integer(t) && signatures[op].kind == KIND_ALU;
        v[i] = t == PTX_PRED ? operand_predicate(x, &o[i + 1]) : operand_value(x, &o[i + 1], bits_of_float ? type : t);
        if (ftz)
            v[i] = flushed(x, v[i]);
    }
    uint32_t d;
    if (signatures[op].d == PTX_PRED) {
        d = destination_predicate(x, &o[0]);
    } else {
        d = operand_destination(x, &o[0], ptx_type_bytes(signatures[op].d));
    }
    uint32_t result = flush_result || sat ? vreg_new(x, SLOT_32) : d;
    emit_alu(x, op, result, v[0], v[1], v[2]);
    if (sat && flush_result) {
        uint32_t t = vreg_new(x, SLOT_32);
        emit_alu(x, ALU_ftz, t, result, NO_VREG, NO_VREG);
        result = t;
    }
    if (flush_result || sat)
        emit_alu(x, sat ? ALU_sat_f32 : ALU_ftz, d, result, NO_VREG, NO_VREG);
}

// selp.f32 selects bits like selp.b32.
static void selp(struct decoder *x, const struct parts *s)
{
    enum ptx_type t = s->n == 2 ? ptx_type_named(s->part[1]) : PTX_NONE;
    uint32_t bytes = ptx_type_bytes(t);
    operand_count(x, 4, 4);
    if (bytes < 2 || bytes > 8)
        decode_unknown(x);
    const struct ptx_operand *o = x->in->operand;
    uint32_t a = operand_value(x, &o[1], t), b = operand_value(x, &o[2], t), p = operand_predicate(x, &o[3]);
    emit_alu(x,
             bytes == 2   ? ALU_selp_b16
             : bytes == 4 ? ALU_selp_b32
                          : ALU_selp_b64,
             operand_destination(x, &o[0], bytes), a, b, p);
}

// setp.CmpOp[.BoolOp][.ftz].type p[|q], a, b[, c]: p = (a CmpOp b) BoolOp c, q = !(a CmpOp b) BoolOp c
static void setp(struct decoder *x, const struct parts *s)
{
    char name[64];
    bool ftz = false;
    struct str combine = { 0 };
    if (s->n < 3)
        decode_unknown(x);
    enum ptx_type type = ptx_type_named(s->part[s->n - 1]);
    for (uint32_t i = 2; i + 1 < s->n; i++) {
        if (str_is(s->part[i], "ftz") && type == PTX_F32)
            ftz = true;
        else if (str_is(s->part[i], "and") || str_is(s->part[i], "or") || str_is(s->part[i], "xor"))
            combine = s->part[i];
        else
            decode_unknown(x);
    }
    operand_count(x, combine.n ? 4 : 3, combine.n ? 4 : 3);
    snprintf(name, sizeof name, "setp.%.*s.%s", (int)(s->part[1].n < 8 ? s->part[1].n : 8), s->part[1].p,
             ptx_type_name(type));
    enum alu_op op = find_op(x, name);
    const struct ptx_operand *o = x->in->operand;
    uint32_t a = operand_value(x, &o[1], type), b = operand_value(x, &o[2], type);
    if (ftz) {
        a = flushed(x, a);
        b = flushed(x, b);
    }
    struct ptx_operand first = o[0], second = o[0];
    second.reg = o[0].reg2;
    bool plain = !combine.n && o[0].reg2 < 0 && o[0].kind == OPND_REG;
    if (plain) {
        emit_alu(x, op, destination_predicate(x, &first), a, b, NO_VREG);
        return;
    }
    uint32_t t = vreg_new(x, SLOT_PRED), c = combine.n ? operand_predicate(x, &o[3]) : NO_VREG;
    enum alu_op join = !combine.n               ? ALU_mov_pred
                       : str_is(combine, "and") ? ALU_and_pred
                       : str_is(combine, "or")  ? ALU_or_pred
                                                : ALU_xor_pred;
    emit_alu(x, op, t, a, b, NO_VREG);
    uint32_t not_t = vreg_new(x, SLOT_PRED), kept_c = c;
    if (o[0].reg2 >= 0) {
        emit_alu(x, ALU_not_pred, not_t, t, NO_VREG, NO_VREG);
        if (c != NO_VREG) {  // p may be c: q still needs the old value
            kept_c = vreg_new(x, SLOT_PRED);
            emit_alu(x, ALU_mov_pred, kept_c, c, NO_VREG, NO_VREG);
        }
    }
    bool pair = o[0].kind == OPND_REG && o[0].reg2 >= 0;
    second.kind = OPND_REG;
    if (pair && o[0].reg == x->in->guard) {  // the guard is overwritten last
        emit_alu(x, join, destination_predicate(x, &second), not_t, kept_c, NO_VREG);
        emit_alu(x, join, destination_predicate(x, &first), t, kept_c, NO_VREG);
        return;
    }
    if (o[0].kind == OPND_REG)
        emit_alu(x, join, destination_predicate(x, &first), t, c, NO_VREG);
    if (o[0].reg2 >= 0)
        emit_alu(x, join, destination_predicate(x, &second), not_t, kept_c, NO_VREG);
}

static enum alu_op mov_op(uint32_t bytes)
{
    return bytes == 2 ? ALU_mov_b16 : bytes == 4 ? ALU_mov_b32 : ALU_mov_b64;
}

// mov.type d, a; mov.b64 {x, y}, a; mov.b64 d, {x, y}; the same for b32 of two halves
static void mov(struct decoder *x, const struct parts *s)
{
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
        enum ptx_type half = bytes == 8 ? PTX_B32 : PTX_B16;
        if (v->count != 2 || bytes < 4 || d->kind == a->kind)
            decode_unknown(x);
        if (a->kind == OPND_VEC) {
            uint32_t low = operand_value(x, &v->list[0], half), high = operand_value(x, &v->list[1], half);
            emit_alu(x, bytes == 8 ? ALU_pack_b64 : ALU_pack_b32, operand_destination(x, d, bytes), low, high, NO_VREG);
            return;
        }
        uint32_t from = operand_value(x, a, t), kept = vreg_new(x, slot_for(bytes));
        emit_alu(x, mov_op(bytes), kept, from, NO_VREG, NO_VREG);  // a half may go to the register it came from
        for (uint32_t i = 0; i < 2; i++) {
            enum alu_op op = bytes == 8 ? (i ? ALU_high_b64 : ALU_low_b64) : (i ? ALU_high_b32 : ALU_low_b32);
            emit_alu(x, op, operand_destination(x, &v->list[i], bytes / 2), kept, NO_VREG, NO_VREG);
        }
        return;
    }
    uint32_t from = operand_value(x, a, t);
    emit_alu(x, mov_op(bytes), operand_destination(x, d, bytes), from, NO_VREG, NO_VREG);
}

// cvta[.to].space.u64 d, a: between an address in a space and a generic one. Global and const addresses are generic
// ones already; shared and local have windows.
static void cvta(struct decoder *x, const struct parts *s)
{
    bool to = s->n > 1 && str_is(s->part[1], "to");
    operand_count(x, 2, 2);
    if (s->n != (to ? 4u : 3u) || ptx_type_bytes(ptx_type_named(s->part[s->n - 1])) != 8)
        decode_unknown(x);
    struct str space = s->part[s->n - 2];
    uint64_t window = 0;
    if (str_is(space, "shared") || str_is(space, "shared::cta"))
        window = WINDOW_SHARED;
    else if (str_is(space, "local"))
        window = WINDOW_LOCAL;
    else if (!str_is(space, "global") && !str_is(space, "const"))
        decode_unknown(x);
    uint32_t a = operand_value(x, &x->in->operand[1], PTX_U64), d = operand_destination(x, &x->in->operand[0], 8);
    if (window)
        emit_alu(x, to ? ALU_sub_u64 : ALU_add_u64, d, a, vreg_const(x, SLOT_64, window), NO_VREG);
    else
        emit_alu(x, ALU_mov_b64, d, a, NO_VREG, NO_VREG);
}

// Which integer conversion brings a value of type from into a register that is wider than it.
static void widen_into(struct decoder *x, const struct ptx_operand *d, enum ptx_type from, uint32_t v)
{
    bool sign = is_signed(from);
    if (reg_bytes(x, d->reg) == 8)
        emit_alu(x, sign ? ALU_cvt_s64_s32 : ALU_cvt_u64_u32, (uint32_t)d->reg, v, NO_VREG, NO_VREG);
    else
        emit_alu(x, ALU_mov_b32, (uint32_t)d->reg, v, NO_VREG, NO_VREG);
}

// cvt[.round][.ftz][.sat].dtype.atype d, a
static void cvt(struct decoder *x, const struct parts *s)
{
    operand_count(x, 2, 2);
    if (s->n < 3)
        decode_unknown(x);
    enum ptx_type dt = ptx_type_named(s->part[s->n - 2]), at = ptx_type_named(s->part[s->n - 1]);
    const struct ptx_operand *d = &x->in->operand[0], *a = &x->in->operand[1];
    struct str round = { 0 };
    bool ftz = false, sat = false;
    for (uint32_t i = 1; i + 2 < s->n; i++) {
        if (str_is(s->part[i], "ftz"))
            ftz = true;
        else if (str_is(s->part[i], "sat"))
            sat = true;
        else if (!round.n)
            round = s->part[i];
        else
            decode_unknown(x);
    }
    uint32_t abytes = ptx_type_bytes(at), dbytes = ptx_type_bytes(dt), v;
    if (!abytes || !dbytes || abytes > 8 || dbytes > 8)
        decode_unknown(x);
    if (a->kind == OPND_REG && x->f->regs[a->reg].type != PTX_PRED && reg_bytes(x, a->reg) > abytes) {
        v = (uint32_t)a->reg;  // a wider register: its low bits
        if (reg_bytes(x, a->reg) == 8) {
            v = vreg_new(x, SLOT_32);
            emit_alu(x, ALU_low_b64, v, (uint32_t)a->reg, NO_VREG, NO_VREG);
        }
    } else {
        v = operand_value(x, a, at);
    }
    if (ftz && at == PTX_F32)
        v = flushed(x, v);
    if (sat && is_integer(dt) && is_integer(at) && at != PTX_U64 && at != PTX_S64) {  // clamping works on 64 bits
        char name[32];
        uint32_t wide = vreg_new(x, SLOT_64);
        snprintf(name, sizeof name, "cvt.s64.%s", ptx_type_name(at));
        emit_alu(x, find_op(x, name), wide, v, NO_VREG, NO_VREG);
        v = wide;
        at = PTX_S64;
    }
    bool clamp = sat && is_float(dt);
    char name[64];
    bool flush = ftz && dt == PTX_F32, narrows = dt == PTX_F32 && at == PTX_F64;
    snprintf(name, sizeof name, "cvt%s%.*s%s%s.%s.%s", round.n ? "." : "", (int)(round.n < 8 ? round.n : 8), round.p,
             sat && is_integer(dt) && is_integer(at) ? ".sat" : "", flush && narrows ? ".ftz" : "", ptx_type_name(dt),
             ptx_type_name(at));
    flush = flush && !narrows;  // that one decides what to flush with the rounding
    enum alu_op op = find_op(x, name);
    bool wider = d->kind == OPND_REG && x->f->regs[d->reg].type != PTX_PRED && reg_bytes(x, d->reg) > dbytes;
    if (clamp && dt != PTX_F32)
        decode_unknown(x);
    if (!wider && !clamp && !flush) {
        emit_alu(x, op, operand_destination(x, d, dbytes), v, NO_VREG, NO_VREG);
        return;
    }
    uint32_t t = vreg_new(x, slot_for(dbytes));
    emit_alu(x, op, t, v, NO_VREG, NO_VREG);
    if (clamp || flush) {
        uint32_t to = wider ? vreg_new(x, SLOT_32) : operand_destination(x, d, dbytes);
        emit_alu(x, clamp ? ALU_sat_f32 : ALU_ftz, to, t, NO_VREG, NO_VREG);
        t = to;
    }
    if (wider)
        widen_into(x, d, dt, t);
}

void decode_instruction(struct decoder *x)
{
    static const struct {
        const char *name;
        void (*decode)(struct decoder *, const struct parts *);
    } table[] = {
        { "mov", mov },
        { "cvta", cvta },
        { "cvt", cvt },
        { "setp", setp },
        { "selp", selp },
        { "ld", decode_memory },
        { "st", decode_memory },
        { "bra", decode_bra },
        { "ret", decode_leave },
        { "exit", decode_leave },
        { "trap", decode_trap },
        { "bar", decode_barrier },
        { "barrier", decode_barrier },
    };
    struct parts s = split(x);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (str_is(s.part[0], table[i].name)) {
            table[i].decode(x, &s);
            return;
        }
    }
    arithmetic(x, &s);
}
