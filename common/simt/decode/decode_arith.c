// Arithmetic: instructions that are one line of alu.def, found by name, and those with a carry.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "decode_inst.h"

static bool find_alu(struct decoder *x, const char *name, enum alu_op *op)
{
    uint32_t found;
    if (!map_get(&x->ops, (struct str){ name, (uint32_t)strlen(name) }, &found))
        return false;
    *op = (enum alu_op)found;
    return true;
}

enum alu_op decode_op(struct decoder *x, const char *format, ...)
{
    char name[128];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(name, sizeof name, format, args);
    va_end(args);
    enum alu_op op = ALU_OPS;
    if (n >= (int)sizeof name || !find_alu(x, name, &op))
        decode_unknown(x);
    return op;
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

static const struct signature {
    enum kind kind;
    uint32_t n;
    enum ptx_type d, abc[3];
} signatures[ALU_OPS] = {
#define ALU(id, name, n, D, A, B, C, effect) { KIND_ALU, n, T_##D, { T_##A, T_##B, T_##C } },
#define SETP(id, name, T, effect) { KIND_SETP, 2, PTX_PRED, { T_##T, T_##T, PTX_NONE } },
#define LOGIC(id, name, n, effect) { KIND_LOGIC, n, PTX_PRED, { PTX_PRED, PTX_PRED, PTX_NONE } },
#define SELP(id, name, T) { KIND_SELP, 3, T_##T, { T_##T, T_##T, PTX_PRED } },
#include "simt/code/alu.def"
};

uint32_t decode_unary(struct decoder *x, enum alu_op op, uint32_t a)
{
    uint32_t t = vreg_new(x, slot_for(ptx_type_bytes(signatures[op].d)));
    emit_alu(x, op, t, a, NO_VREG, NO_VREG);
    return t;
}

// d = a + b + carry, or a - b - 1 + carry. The carry flag is a register that no instruction names. It is written last:
// d may be a or b.
static void add_with_carry(struct decoder *x, bool subtract, bool in, bool out, uint32_t bytes, uint32_t a, uint32_t b)
{
    static const enum alu_op carries[2][2] = { { ALU_carry_u32, ALU_carry_u64 },
                                               { ALU_carry_of_sub_u32, ALU_carry_of_sub_u64 } };
    static const enum alu_op results[2][2] = { { ALU_addc_u32, ALU_addc_u64 }, { ALU_subc_u32, ALU_subc_u64 } };
    const bool wide = bytes == 8;
    if (!x->carry)
        x->carry = vreg_new(x, SLOT_32) + 1;
    uint32_t flag = x->carry - 1, c = in ? flag : vreg_const(x, SLOT_32, subtract), carried = vreg_new(x, SLOT_32);
    if (out)
        emit_alu(x, carries[subtract][wide], carried, a, b, c);
    emit_alu(x, results[subtract][wide], operand_destination(x, &x->in->operand[0], bytes), a, b, c);
    if (out)
        emit_alu(x, ALU_mov_b32, flag, carried, NO_VREG, NO_VREG);
}

void decode_extended(struct decoder *x, const struct parts *s)
{
    const struct ptx_operand *o = x->in->operand;
    if (s->n < 2)
        decode_unknown(x);
    bool mad = s->part[0].p[0] == 'm', in = s->part[0].n == 4, out = str_is(s->part[s->n - 2], "cc");
    enum ptx_type t = ptx_type_named(s->part[s->n - 1]);
    uint32_t bytes = ptx_type_bytes(t);
    if (s->n != 2u + mad + out || !is_integer(t) || bytes < 4)
        decode_unknown(x);
    operand_count(x, mad ? 4 : 3, mad ? 4 : 3);
    uint32_t a = operand_value(x, &o[1], t), b = operand_value(x, &o[2], t);
    if (mad) {
        uint32_t product = vreg_new(x, slot_for(bytes));
        enum alu_op op = decode_op(x, "mul.%.*s.%s", (int)s->part[1].n, s->part[1].p, ptx_type_name(t));
        emit_alu(x, op, product, a, b, NO_VREG);
        a = product;
        b = operand_value(x, &o[3], t);
    }
    add_with_carry(x, s->part[0].p[0] == 's', in, out, bytes, a, b);
}

#define NAME_MAX 128

// An instruction taken apart: its name without modifiers, and the lines of alu.def that its modifiers are.
struct plan {
    char name[NAME_MAX];
    enum ptx_type type;  // its last word
    enum alu_op op;
    enum alu_op ftz;          // flushes an operand or the result; ALU_OPS: nothing does
    bool flushes_result;      // ftz, or op does it
    enum alu_op post[PARTS];  // what is done to the result, in turn
    uint32_t n_post;
};

static void take_modifiers(struct decoder *x, const struct parts *s, struct plan *p)
{
    char line[NAME_MAX + 8];
    const struct str last = s->part[s->n - 1];
    p->type = ptx_type_named(last);
    const bool floating = is_float(p->type) || is_half(p->type);
    for (uint32_t i = 0; i < s->n; i++) {
        const struct str word = s->part[i];
        enum alu_op op;
        if (i && floating && str_is(word, "rn"))
            continue;
        snprintf(line, sizeof line, ".%.*s.%.*s", (int)word.n, word.p, (int)last.n, last.p);
        if (i && i + 1 < s->n && find_alu(x, line, &op)) {
            if (str_is(word, "ftz"))
                p->ftz = op;
            else
                p->post[p->n_post++] = op;
            continue;
        }
        snprintf(p->name + strlen(p->name), sizeof p->name - strlen(p->name), "%s%.*s", i ? "." : "", (int)word.n,
                 word.p);
    }
    if (is_float(p->type) && str_is(s->part[0], "mad"))
        memcpy(p->name, "fma", 3);
}

// Some lines flush their result themselves, since that is decided together with the rounding.
static void find_line(struct decoder *x, const struct parts *s, struct plan *p)
{
    char line[NAME_MAX + 8];
    const struct str last = s->part[s->n - 1];
    snprintf(line, sizeof line, "%.*s.ftz.%.*s", (int)(strlen(p->name) - last.n - 1), p->name, (int)last.n, last.p);
    if (p->ftz != ALU_OPS && find_alu(x, line, &p->op))
        return;
    // Approximations of halves, and tanh, have no .ftz (PTX ISA 9.7.4: ex2, tanh; ptxas refuses it).
    if (p->ftz != ALU_OPS && parts_have(s, "approx") && (is_half(p->type) || str_is(s->part[0], "tanh")))
        decode_fail(x, NULL, "'%.*s' takes no .ftz with .%s", (int)s->part[0].n, s->part[0].p, ptx_type_name(p->type));
    p->op = decode_op(x, "%s", p->name);
    p->flushes_result = p->ftz != ALU_OPS;
}

static void read_operands(struct decoder *x, const struct plan *p, uint32_t v[3])
{
    const struct signature *g = &signatures[p->op];
    for (uint32_t i = 0; i < g->n; i++) {
        const struct ptx_operand *o = &x->in->operand[i + 1];
        const enum ptx_type t = g->abc[i];
        // Where the table works on the bits of a float (neg, abs, copysign), literals are still floats.
        const bool bits_of_float = is_float(p->type) && is_integer(t) && g->kind == KIND_ALU;
        v[i] = t == PTX_PRED ? operand_predicate(x, o) : operand_value(x, o, bits_of_float ? p->type : t);
        if (p->ftz != ALU_OPS)
            v[i] = decode_unary(x, p->ftz, v[i]);
    }
}

// Flushes and modifies what is in vreg result; the last of it goes to d.
static void finish(struct decoder *x, const struct plan *p, uint32_t d, uint32_t result)
{
    enum alu_op all[PARTS + 1];
    uint32_t n = 0;
    if (p->flushes_result)
        all[n++] = p->ftz;
    for (uint32_t i = 0; i < p->n_post; i++)
        all[n++] = p->post[i];
    for (uint32_t i = 0; i + 1 < n; i++)
        result = decode_unary(x, all[i], result);
    if (n)
        emit_alu(x, all[n - 1], d, result, NO_VREG, NO_VREG);
}

void decode_arithmetic(struct decoder *x, const struct parts *s)
{
    struct plan p = { .ftz = ALU_OPS };
    uint32_t v[3] = { NO_VREG, NO_VREG, NO_VREG };
    if (x->in->op.n >= sizeof p.name)
        decode_unknown(x);
    if (parts_have(s, "cc")) {
        decode_extended(x, s);
        return;
    }
    take_modifiers(x, s, &p);
    find_line(x, s, &p);
    const struct signature *g = &signatures[p.op];
    operand_count(x, g->n + 1u, g->n + 1u);
    read_operands(x, &p, v);
    const struct ptx_operand *o = x->in->operand;
    const uint32_t d = g->d == PTX_PRED ? destination_predicate(x, o) : operand_destination(x, o, ptx_type_bytes(g->d));
    const uint32_t result = p.flushes_result || p.n_post ? vreg_new(x, x->vregs[d].slot) : d;
    emit_alu(x, p.op, result, v[0], v[1], v[2]);
    finish(x, &p, d, result);
}
