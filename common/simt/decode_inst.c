// One PTX instruction to its uops. Most are one line of alu.def, found by name; the rest (moves, memory, comparisons,
// conversions, control flow) has a function of its own here, listed in the table at the end.
#include <stdio.h>
#include <string.h>

#include "decode.h"

#define PARTS 16

struct parts {  // "ld.shared::cta.v4.f32" in pieces
    struct str part[PARTS];
    uint32_t n;
};

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

_Noreturn static void unknown(struct decoder *x)
{
    struct str op = x->in->op;
    decode_fail(x, NULL, "the simulated GPU does not know the instruction '%.*s'", (int)(op.n < 60 ? op.n : 60), op.p);
}

static void need_operands(struct decoder *x, uint32_t least, uint32_t most)
{
    if (x->in->n_operands < least || x->in->n_operands > most)
        decode_fail(x, NULL, "'%.*s' takes %u operands, not %u", (int)x->in->op.n, x->in->op.p, least,
                    x->in->n_operands);
}

static enum slot_class slot_for(uint32_t bytes)
{
    return bytes == 8 ? SLOT_64 : SLOT_32;
}

static uint32_t reg_bytes(const struct decoder *x, int32_t reg)
{
    return ptx_type_bytes(x->f->regs[reg].type);
}

static bool is_float(enum ptx_type t)
{
    return t == PTX_F32 || t == PTX_F64;
}

static bool is_signed(enum ptx_type t)
{
    return t >= PTX_S8 && t <= PTX_S64;
}

static bool is_integer(enum ptx_type t)
{
    return t >= PTX_U8 && t <= PTX_S64;
}

static uint32_t special(struct decoder *x, const struct ptx_operand *o, uint32_t bytes)
{
    static const struct { const char *name; uint32_t bits; } sregs[] = {
#define SREG(id, name, bits, effect) { name, bits },
#include "sreg.def"
    };
    for (uint32_t i = 0; i < SREGS; i++) {
        if (!str_is(o->name, sregs[i].name))
            continue;
        if (sregs[i].bits != 8 * bytes)
            decode_fail(x, o->at, "%s has %u bits, '%.*s' takes %u", sregs[i].name, sregs[i].bits,
                        (int)x->in->op.n, x->in->op.p, 8 * bytes);
        struct uop *u = emit(x, UOP_SREG);
        u->target = i;
        u->saves = (uint8_t)slot_for(bytes);
        uint32_t d = vreg_new(x, slot_for(bytes));
        x->code->uops[x->code->n_uops - 1].d = d;
        return d;
    }
    decode_fail(x, o->at, "'%.*s' is neither declared nor a special register that is supported", (int)o->name.n,
                o->name.p);
}

// The bits of a literal as type t.
static uint64_t literal(struct decoder *x, const struct ptx_operand *o, enum ptx_type t)
{
    double d;
    uint64_t bits = o->bits;
    memcpy(&d, &bits, sizeof d);
    if (is_float(t)) {
        if (o->kind == OPND_F32 && t == PTX_F64) {
            uint32_t low = (uint32_t)bits;
            float f;
            memcpy(&f, &low, sizeof f);
            d = f;
        } else if (o->kind == OPND_F32) {
            return bits;
        } else if (o->kind == OPND_INT) {
            decode_fail(x, o->at, "an integer where .%s is expected: write 0f or 0d and hexadecimal digits",
                        ptx_type_name(t));
        }
        float f = (float)d;
        uint32_t low;
        memcpy(&low, &f, sizeof low);
        memcpy(&bits, &d, sizeof bits);
        return t == PTX_F32 ? low : bits;
    }
    if (o->kind == OPND_DECIMAL)
        decode_fail(x, o->at, "a decimal fraction where .%s is expected", ptx_type_name(t));
    uint32_t bytes = ptx_type_bytes(t);
    if (bytes < 4 && is_signed(t))
        return (uint32_t)(int32_t)(bytes == 1 ? (int8_t)bits : (int16_t)bits);
    return bytes < 8 ? bits & ((1ull << 8 * bytes) - 1) : bits;
}

static uint64_t variable_address(struct decoder *x, const struct ptx_operand *o)
{
    return x->address[o->var] + o->bits;
}

// The vreg that holds operand o as a value of type t. Registers must have t's width.
static uint32_t value(struct decoder *x, const struct ptx_operand *o, enum ptx_type t)
{
    uint32_t bytes = ptx_type_bytes(t);
    if (o->negated || o->reg2 >= 0)
        decode_fail(x, o->at, "'%.*s' cannot take this operand", (int)x->in->op.n, x->in->op.p);
    switch (o->kind) {
    case OPND_REG:
        if (x->f->regs[o->reg].type == PTX_PRED || reg_bytes(x, o->reg) != bytes)
            decode_fail(x, o->at, "'%.*s' takes a register of %u bits here, this one is .%s", (int)x->in->op.n,
                        x->in->op.p, 8 * bytes, ptx_type_name(x->f->regs[o->reg].type));
        return (uint32_t)o->reg;
    case OPND_INT:
    case OPND_F32:
    case OPND_F64:
    case OPND_DECIMAL:
        return vreg_const(x, slot_for(bytes), literal(x, o, t));
    case OPND_SREG:
        return special(x, o, bytes);
    case OPND_VAR:
        if (bytes < 4)
            decode_fail(x, o->at, "the address of a variable does not fit in %u bits", 8 * bytes);
        return vreg_const(x, slot_for(bytes), bytes == 4 ? (uint32_t)variable_address(x, o) : variable_address(x, o));
    case OPND_NAME:
        if (str_is(o->name, "WARP_SZ"))
            return vreg_const(x, slot_for(bytes), LANES);
        decode_fail(x, o->at, "'%.*s' is not declared", (int)o->name.n, o->name.p);
    default:
        decode_fail(x, o->at, "'%.*s' cannot take this operand", (int)x->in->op.n, x->in->op.p);
    }
}

static uint32_t predicate(struct decoder *x, const struct ptx_operand *o)
{
    if (o->kind != OPND_REG || x->f->regs[o->reg].type != PTX_PRED)
        decode_fail(x, o->at, "expected a predicate register");
    if (!o->negated)
        return (uint32_t)o->reg;
    uint32_t t = vreg_new(x, SLOT_PRED);
    emit_alu(x, ALU_not_pred, t, (uint32_t)o->reg, NO_VREG, NO_VREG);
    return t;
}

static uint32_t destination(struct decoder *x, const struct ptx_operand *o, uint32_t bytes)
{
    if (o->kind == OPND_SINK)
        return vreg_new(x, slot_for(bytes));
    if (o->kind != OPND_REG || x->f->regs[o->reg].type == PTX_PRED || reg_bytes(x, o->reg) != bytes)
        decode_fail(x, o->at, "'%.*s' writes a register of %u bits", (int)x->in->op.n, x->in->op.p, 8 * bytes);
    return (uint32_t)o->reg;
}

static enum alu_op find_op(struct decoder *x, const char *name)
{
    uint32_t op;
    if (!map_get(&x->ops, (struct str){ name, (uint32_t)strlen(name) }, &op))
        unknown(x);
    return (enum alu_op)op;
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

static const struct { enum kind kind; uint32_t n; enum ptx_type d, abc[3]; } signatures[ALU_OPS] = {
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
        unknown(x);
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
            unknown(x);
        snprintf(name + 3, sizeof name - 3, ".ftz.f32");  // what these flush is decided with the rounding
        flush_result = false;
    }
    enum alu_op op = find_op(x, name);
    uint32_t v[3] = { NO_VREG, NO_VREG, NO_VREG }, n = signatures[op].n;
    need_operands(x, n + 1, n + 1);
    const struct ptx_operand *o = x->in->operand;
    for (uint32_t i = 0; i < n; i++) {
        enum ptx_type t = signatures[op].abc[i];
        // Where the table works on the bits of a float (neg, abs, copysign), literals are still floats.
        bool bits_of_float = is_float(type) && is_integer(t) && signatures[op].kind == KIND_ALU;
        v[i] = t == PTX_PRED ? predicate(x, &o[i + 1]) : value(x, &o[i + 1], bits_of_float ? type : t);
        if (ftz)
            v[i] = flushed(x, v[i]);
    }
    uint32_t d;
    if (signatures[op].d == PTX_PRED) {
        if (o[0].negated)
            decode_fail(x, o[0].at, "a destination cannot be negated");
        d = predicate(x, &o[0]);
    } else {
        d = destination(x, &o[0], ptx_type_bytes(signatures[op].d));
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
    need_operands(x, 4, 4);
    if (bytes < 2 || bytes > 8)
        unknown(x);
    const struct ptx_operand *o = x->in->operand;
    uint32_t a = value(x, &o[1], t), b = value(x, &o[2], t), p = predicate(x, &o[3]);
    emit_alu(x, bytes == 2 ? ALU_selp_b16 : bytes == 4 ? ALU_selp_b32 : ALU_selp_b64, destination(x, &o[0], bytes), a,
             b, p);
}

// setp.CmpOp[.BoolOp][.ftz].type p[|q], a, b[, c]: p = (a CmpOp b) BoolOp c, q = !(a CmpOp b) BoolOp c
static void setp(struct decoder *x, const struct parts *s)
{
    char name[64];
    bool ftz = false;
    struct str combine = { 0 };
    if (s->n < 3)
        unknown(x);
    enum ptx_type type = ptx_type_named(s->part[s->n - 1]);
    for (uint32_t i = 2; i + 1 < s->n; i++) {
        if (str_is(s->part[i], "ftz") && type == PTX_F32)
            ftz = true;
        else if (str_is(s->part[i], "and") || str_is(s->part[i], "or") || str_is(s->part[i], "xor"))
            combine = s->part[i];
        else
            unknown(x);
    }
    need_operands(x, combine.n ? 4 : 3, combine.n ? 4 : 3);
    snprintf(name, sizeof name, "setp.%.*s.%s", (int)(s->part[1].n < 8 ? s->part[1].n : 8), s->part[1].p,
             ptx_type_name(type));
    enum alu_op op = find_op(x, name);
    const struct ptx_operand *o = x->in->operand;
    uint32_t a = value(x, &o[1], type), b = value(x, &o[2], type);
    if (ftz) {
        a = flushed(x, a);
        b = flushed(x, b);
    }
    struct ptx_operand first = o[0], second = o[0];
    second.reg = o[0].reg2;
    bool plain = !combine.n && o[0].reg2 < 0 && o[0].kind == OPND_REG;
    if (plain) {
        emit_alu(x, op, predicate(x, &first), a, b, NO_VREG);
        return;
    }
    uint32_t t = vreg_new(x, SLOT_PRED), c = combine.n ? predicate(x, &o[3]) : NO_VREG;
    enum alu_op join = !combine.n ? ALU_mov_pred : str_is(combine, "and") ? ALU_and_pred
                       : str_is(combine, "or") ? ALU_or_pred : ALU_xor_pred;
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
        emit_alu(x, join, predicate(x, &second), not_t, kept_c, NO_VREG);
        emit_alu(x, join, predicate(x, &first), t, kept_c, NO_VREG);
        return;
    }
    if (o[0].kind == OPND_REG)
        emit_alu(x, join, predicate(x, &first), t, c, NO_VREG);
    if (o[0].reg2 >= 0)
        emit_alu(x, join, predicate(x, &second), not_t, kept_c, NO_VREG);
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
    need_operands(x, 2, 2);
    if (t == PTX_PRED) {
        if (a->kind == OPND_INT) {
            uint32_t zero = vreg_const(x, SLOT_32, 0), bit = vreg_const(x, SLOT_32, a->bits != 0);
            emit_alu(x, ALU_setp_ne_b32, predicate(x, d), bit, zero, NO_VREG);
            return;
        }
        emit_alu(x, ALU_mov_pred, predicate(x, d), predicate(x, a), NO_VREG, NO_VREG);
        return;
    }
    if (bytes < 2 || bytes > 8)
        unknown(x);
    if (d->kind == OPND_VEC || a->kind == OPND_VEC) {
        const struct ptx_operand *v = d->kind == OPND_VEC ? d : a;
        enum ptx_type half = bytes == 8 ? PTX_B32 : PTX_B16;
        if (v->count != 2 || bytes < 4 || d->kind == a->kind)
            unknown(x);
        if (a->kind == OPND_VEC) {
            uint32_t low = value(x, &v->list[0], half), high = value(x, &v->list[1], half);
            emit_alu(x, bytes == 8 ? ALU_pack_b64 : ALU_pack_b32, destination(x, d, bytes), low, high, NO_VREG);
            return;
        }
        uint32_t from = value(x, a, t), kept = vreg_new(x, slot_for(bytes));
        emit_alu(x, mov_op(bytes), kept, from, NO_VREG, NO_VREG);  // a half may go to the register it came from
        for (uint32_t i = 0; i < 2; i++) {
            enum alu_op op = bytes == 8 ? (i ? ALU_high_b64 : ALU_low_b64) : (i ? ALU_high_b32 : ALU_low_b32);
            emit_alu(x, op, destination(x, &v->list[i], bytes / 2), kept, NO_VREG, NO_VREG);
        }
        return;
    }
    uint32_t from = value(x, a, t);
    emit_alu(x, mov_op(bytes), destination(x, d, bytes), from, NO_VREG, NO_VREG);
}

// cvta[.to].space.u64 d, a: between an address in a space and a generic one. Global and const addresses are generic
// ones already; shared and local have windows.
static void cvta(struct decoder *x, const struct parts *s)
{
    bool to = s->n > 1 && str_is(s->part[1], "to");
    need_operands(x, 2, 2);
    if (s->n != (to ? 4u : 3u) || ptx_type_bytes(ptx_type_named(s->part[s->n - 1])) != 8)
        unknown(x);
    struct str space = s->part[s->n - 2];
    uint64_t window = 0;
    if (str_is(space, "shared") || str_is(space, "shared::cta"))
        window = WINDOW_SHARED;
    else if (str_is(space, "local"))
        window = WINDOW_LOCAL;
    else if (!str_is(space, "global") && !str_is(space, "const"))
        unknown(x);
    uint32_t a = value(x, &x->in->operand[1], PTX_U64), d = destination(x, &x->in->operand[0], 8);
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
    need_operands(x, 2, 2);
    if (s->n < 3)
        unknown(x);
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
            unknown(x);
    }
    uint32_t abytes = ptx_type_bytes(at), dbytes = ptx_type_bytes(dt), v;
    if (!abytes || !dbytes || abytes > 8 || dbytes > 8)
        unknown(x);
    if (a->kind == OPND_REG && x->f->regs[a->reg].type != PTX_PRED && reg_bytes(x, a->reg) > abytes) {
        v = (uint32_t)a->reg;  // a wider register: its low bits
        if (reg_bytes(x, a->reg) == 8) {
            v = vreg_new(x, SLOT_32);
            emit_alu(x, ALU_low_b64, v, (uint32_t)a->reg, NO_VREG, NO_VREG);
        }
    } else {
        v = value(x, a, at);
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
        unknown(x);
    if (!wider && !clamp && !flush) {
        emit_alu(x, op, destination(x, d, dbytes), v, NO_VREG, NO_VREG);
        return;
    }
    uint32_t t = vreg_new(x, slot_for(dbytes));
    emit_alu(x, op, t, v, NO_VREG, NO_VREG);
    if (clamp || flush) {
        uint32_t to = wider ? vreg_new(x, SLOT_32) : destination(x, d, dbytes);
        emit_alu(x, clamp ? ALU_sat_f32 : ALU_ftz, to, t, NO_VREG, NO_VREG);
        t = to;
    }
    if (wider)
        widen_into(x, d, dt, t);
}

// --- memory ---

static void memory(struct decoder *x, const struct parts *s)
{
    static const char *const ignored[] = { "weak", "relaxed", "acquire", "release", "volatile", "cta", "gpu", "sys",
                                           "cluster", "ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc", "L1", "L2" };
    bool load = str_is(s->part[0], "ld");
    enum ptx_space space = SPACE_GENERIC;
    enum ptx_type type = ptx_type_named(s->part[s->n - 1]);
    uint32_t n = 1;
    for (uint32_t i = 1; i + 1 < s->n; i++) {
        struct str p = s->part[i];
        bool known = false;
        for (size_t k = 0; k < sizeof ignored / sizeof *ignored; k++)
            known |= str_is(p, ignored[k]) || (p.n > 4 && !memcmp(p.p, "L1::", 4)) || (p.n > 4 && !memcmp(p.p, "L2::", 4));
        if (str_is(p, "global"))
            space = SPACE_GLOBAL;
        else if (str_is(p, "shared") || str_is(p, "shared::cta"))
            space = SPACE_SHARED;
        else if (str_is(p, "local"))
            space = SPACE_LOCAL;
        else if (str_is(p, "const"))
            space = SPACE_CONST;
        else if (str_is(p, "param") || str_is(p, "param::entry"))
            space = SPACE_PARAM;
        else if (str_is(p, "v2") || str_is(p, "v4"))
            n = (uint32_t)(p.p[1] - '0');
        else if (!known)
            unknown(x);
    }
    uint32_t bytes = ptx_type_bytes(type);
    need_operands(x, 2, 2);
    if (!bytes || bytes > 8 || bytes * n > 16 || (space == SPACE_PARAM && !load))
        unknown(x);
    const struct ptx_operand *data = &x->in->operand[load ? 0 : 1], *place = &x->in->operand[load ? 1 : 0];
    if (place->kind != OPND_MEM)
        decode_fail(x, place->at, "expected an address in brackets");
    if ((data->kind == OPND_VEC) != (n > 1) || (n > 1 && data->count != n))
        decode_fail(x, data->at, "expected %u register%s", n, n > 1 ? "s in braces" : "");
    struct memop *m = decode_alloc(x, sizeof *m);
    *m = (struct memop){ .space = space, .bytes = bytes, .n = n, .offset = place->bits,
                         .extend = is_signed(type) ? EXTEND_SIGN : EXTEND_ZERO, .index = x->code->n_memops++ };
    for (uint32_t i = 0; i < n; i++) {
        const struct ptx_operand *o = n > 1 ? &data->list[i] : data;
        if (o->kind == OPND_SINK && load) {
            m->reg_class[i] = SLOT_NONE;
        } else if (o->kind == OPND_REG) {
            uint32_t width = reg_bytes(x, o->reg);
            if (x->f->regs[o->reg].type == PTX_PRED || width < bytes)
                decode_fail(x, o->at, "a register of type .%s cannot hold .%s", ptx_type_name(x->f->regs[o->reg].type),
                            ptx_type_name(type));
            m->reg[i] = (uint32_t)o->reg;
            m->reg_class[i] = (uint8_t)slot_for(width);
        } else if (!load && (o->kind == OPND_INT || o->kind == OPND_F32 || o->kind == OPND_F64 ||
                             o->kind == OPND_DECIMAL)) {
            m->reg[i] = vreg_const(x, slot_for(bytes), literal(x, o, type));
            m->reg_class[i] = (uint8_t)slot_for(bytes);
        } else {
            decode_fail(x, o->at, "expected a register");
        }
    }
    if (place->var >= 0) {
        const struct ptx_var *v = &x->m->vars[place->var];
        if (space != SPACE_GENERIC && v->space != space)
            decode_fail(x, place->at, "'%.*s' is in another state space", (int)v->name.n, v->name.p);
        if (space == SPACE_GENERIC)
            m->space = v->space;
        m->offset += x->address[place->var];
    }
    if (m->space == SPACE_PARAM) {
        uint32_t end = (uint32_t)(m->offset + bytes * n);
        if (place->reg >= 0)
            decode_fail(x, place->at, "a parameter's address in a register is not supported");
        if (m->offset > x->code->param_bytes || end > x->code->param_bytes)
            decode_fail(x, place->at, "this reads beyond the kernel's parameters");
        struct uop *u = emit(x, UOP_PARAM);
        u->mem = m;
        return;
    }
    if (place->reg >= 0) {
        uint32_t width = reg_bytes(x, place->reg);
        bool narrow = width == 4 && (m->space == SPACE_SHARED || m->space == SPACE_LOCAL || m->space == SPACE_CONST);
        if (x->f->regs[place->reg].type == PTX_PRED || (width != 8 && !narrow))
            decode_fail(x, place->at, "this address needs a 64-bit register");
        m->base = (uint32_t)place->reg;
        m->base_class = slot_for(width);
    } else {
        m->base_class = SLOT_64;
        m->base = vreg_const(x, SLOT_64, 0);
    }
    struct uop *u = emit(x, load ? UOP_LOAD : UOP_STORE);
    u->mem = m;
}

// --- control flow ---

static void bra(struct decoder *x, const struct parts *s)
{
    need_operands(x, 1, 1);
    if (s->n > 2 || (s->n == 2 && !str_is(s->part[1], "uni")))
        unknown(x);
    const struct ptx_operand *o = &x->in->operand[0];
    if (o->kind != OPND_LABEL)
        decode_fail(x, o->at, "there is no label '%.*s'", (int)o->name.n, o->name.p);
    emit(x, UOP_BRANCH)->target = o->target;
}

static void leave(struct decoder *x, const struct parts *s)
{
    need_operands(x, 0, 0);
    if (s->n > 2 || (s->n == 2 && !str_is(s->part[1], "uni")))
        unknown(x);
    emit(x, UOP_EXIT);
}

static void trap(struct decoder *x, const struct parts *s)
{
    need_operands(x, 0, 0);
    if (s->n > 1)
        unknown(x);
    emit(x, UOP_TRAP);
}

// bar[.cta].sync a[, b]; bar.arrive a, b; barrier[.cta].sync[.aligned] a[, b]
static void barrier(struct decoder *x, const struct parts *s)
{
    bool sync = false, arrive = false;
    for (uint32_t i = 1; i < s->n; i++) {
        if (str_is(s->part[i], "sync"))
            sync = true;
        else if (str_is(s->part[i], "arrive"))
            arrive = true;
        else if (!str_is(s->part[i], "cta") && !(str_is(s->part[i], "aligned") && i == s->n - 1))
            unknown(x);
    }
    if (sync == arrive)
        unknown(x);
    need_operands(x, arrive ? 2 : 1, 2);
    uint32_t a = value(x, &x->in->operand[0], PTX_U32);
    uint32_t b = x->in->n_operands > 1 ? value(x, &x->in->operand[1], PTX_U32) : vreg_const(x, SLOT_32, 0);
    struct uop *u = emit(x, UOP_BARRIER);
    u->a = a;
    u->b = b;
    u->target = arrive;
}

void decode_instruction(struct decoder *x)
{
    static const struct { const char *name; void (*decode)(struct decoder *, const struct parts *); } table[] = {
        { "mov", mov }, { "cvta", cvta }, { "cvt", cvt }, { "setp", setp }, { "selp", selp },
        { "ld", memory }, { "st", memory }, { "bra", bra }, { "ret", leave }, { "exit", leave },
        { "trap", trap }, { "bar", barrier }, { "barrier", barrier },
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
