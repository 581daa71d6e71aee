// Conversions, and the same bits as other scalars.
#include "irptx/select.h"

#include <string.h>

// --- The same bits ---

static struct vals reslice_constants(struct code *c, struct vals from, uint32_t width, uint32_t to_width,
                                     uint32_t count)
{
    struct vals out = value_list(c, count);
    for (uint32_t bit = 0; bit < count * to_width; bit++) {
        const struct val v = from.items[bit / width];
        if (v.kind == VAL_BITS && (uint64_t)v.bits >> bit % width & 1)
            out.items[bit / to_width].bits |= (int64_t)(1ull << bit % to_width);
        out.items[bit / to_width].kind = VAL_BITS;
    }
    return out;
}

// Bytes, each in a register of 16 bits, make up a register.
static uint32_t join_bytes(struct code *c, const struct val *bytes, uint32_t count, uint32_t width)
{
    const struct ir_type *byte = ir_int(c->m, 8);
    uint32_t all = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct operand b = value_extended(c, bytes[i], byte, false);
        uint32_t r = b.kind == OPERAND_REG ? b.reg : PURE(c, 16, "mov.b16", b);
        if (width > 16)
            r = PURE(c, width, code_name(c, "cvt.u%u.u16", width), operand_reg(r));
        if (i)
            r = PURE(c, width, code_name(c, "shl.b%u", width), operand_reg(r), operand_int(8 * i));
        all = i ? PURE(c, width, code_name(c, "or.b%u", width), operand_reg(all), operand_reg(r)) : r;
    }
    return all;
}

static struct vals joined(struct code *c, struct vals from, const struct ir_type *t, uint32_t to_bits, uint32_t count)
{
    const uint32_t per = to_bits / t->bits;
    struct vals out = value_list(c, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t parts[8];
        for (uint32_t k = 0; k < per && t->bits > 8; k++)
            parts[k] = value_reg(c, from.items[i * per + k], t);
        out.items[i] = val_reg(t->bits > 8 ? code_join(c, parts, per, to_bits)
                                           : join_bytes(c, from.items + i * per, per, to_bits));
    }
    return out;
}

static struct vals taken_apart(struct code *c, struct vals from, const struct ir_type *t, uint32_t to_bits,
                               uint32_t count)
{
    const uint32_t per = t->bits / to_bits;
    struct vals out = value_list(c, count);
    for (uint32_t i = 0; i < from.count; i++) {
        const uint32_t whole = value_reg(c, from.items[i], t);
        const uint32_t first = to_bits > 8 ? code_split(c, whole, to_bits, per) : 0;
        for (uint32_t k = 0; k < per; k++) {
            uint32_t r = first + k;
            if (to_bits <= 8) {
                r = k ? PURE(c, t->bits, code_name(c, "shr.u%u", t->bits), operand_reg(whole), operand_int(8 * k))
                      : whole;
                r = t->bits > 16 ? PURE(c, 16, code_name(c, "cvt.u16.u%u", t->bits), operand_reg(r)) : r;
            }
            out.items[i * per + k] = val_reg(r);
        }
    }
    return out;
}

struct vals select_reslice(struct code *c, struct vals from, const struct ir_type *t, const struct ir_type *to)
{
    uint32_t n, count;
    const struct ir_type *a = ir_leaves(c->m, t, &n)[0].type, *b = ir_leaves(c->m, to, &count)[0].type;
    if (a->bits == b->bits)
        return from;
    bool constant = true;
    for (uint32_t i = 0; i < n; i++)
        constant = constant && (from.items[i].kind == VAL_BITS || from.items[i].kind == VAL_UNDEF);
    if (constant)
        return reslice_constants(c, from, a->bits, b->bits, count);
    if (a->bits % 8 || b->bits % 8)
        ir_fail(c->m, "a bitcast from parts of %u bits to parts of %u is not known", a->bits, b->bits);
    return a->bits < b->bits ? joined(c, from, a, b->bits, count) : taken_apart(c, from, a, b->bits, count);
}

// --- Conversions ---

static struct val truncated(struct code *c, struct val v, const struct ir_type *t, const struct ir_type *to)
{
    const uint32_t w = width_of(c, t), k = width_of(c, to);
    if (v.kind == VAL_BITS)
        return val_bits(v.bits & (int64_t)((1ull << to->bits) - 1));
    if (k == 1) {
        const uint32_t low = PURE(c, w, code_name(c, "and.b%u", w), operand_reg(v.reg), operand_int(1));
        return val_reg(PURE(c, 1, code_name(c, "setp.ne.s%u", w), operand_reg(low), operand_int(0)));
    }
    if (w == 64 && k == 32)
        return val_reg(value_low(c, v.reg));
    return w == k ? v : val_reg(PURE(c, k, code_name(c, "cvt.u%u.u%u", k, w), operand_reg(v.reg)));
}

static struct val widened(struct code *c, const struct ir_inst *x, struct val v, const struct ir_type *t,
                          const struct ir_type *to)
{
    const uint32_t w = width_of(c, t), k = width_of(c, to);
    const bool is_signed = x->op == OP_sext;
    if (v.kind == VAL_BITS) {
        const uint64_t mask = to->bits < 64 ? (1ull << to->bits) - 1 : UINT64_MAX;
        return val_bits(is_signed ? (int64_t)((uint64_t)value_signed(v.bits, t->bits) & mask) : v.bits);
    }
    if (w == 1)
        return val_reg(PURE(c, k, code_name(c, "selp.b%u", k), operand_int(is_signed ? -1 : 1), operand_int(0),
                            operand_reg(v.reg)));
    const struct operand from = value_extended(c, v, t, is_signed);
    if (w == k)
        return val_reg(from.reg);
    const bool as_signed = is_signed || (x->flags & F_NNEG);
    const char *name = code_name(c, "cvt.%c%u.%c%u", as_signed ? 's' : 'u', k, as_signed ? 's' : 'u', w);
    const uint32_t r = PURE(c, k, name, from);
    if (w == 32) {
        c->regs[r].narrow = from.reg;
        c->regs[r].widened_signed = as_signed;
    }
    return val_reg(r);
}

static const char *float_word(struct code *c, const struct ir_type *t)
{
    return t->kind == IR_BFLOAT ? "bf16" : code_name(c, "f%u", t->bits);
}

static struct val to_float(struct code *c, const struct ir_inst *x, struct val v, const struct ir_type *t,
                           const struct ir_type *to)
{
    const bool is_signed = x->op == OP_sitofp;
    uint32_t w = width_of(c, t), from;
    if (w == 1 && v.kind == VAL_REG) {
        w = 32;
        from = PURE(c, 32, "selp.b32", operand_int(is_signed ? -1 : 1), operand_int(0), operand_reg(v.reg));
    } else {
        const struct operand o = value_extended(c, v, t, is_signed);
        from = o.kind == OPERAND_REG ? o.reg : PURE(c, w, code_name(c, "mov.b%u", w), o);
    }
    return val_reg(PURE(c, width_of(c, to), code_name(c, "cvt.rn.%s.%c%u", float_word(c, to), is_signed ? 's' : 'u', w),
                        operand_reg(from)));
}

static struct val float_cast(struct code *c, const struct ir_inst *x, struct val v, const struct ir_type *t,
                             const struct ir_type *to)
{
    if (x->op == OP_sitofp || x->op == OP_uitofp)
        return to_float(c, x, v, t, to);
    const struct operand from = operand_reg(value_reg(c, v, t));
    const uint32_t k = width_of(c, to);
    if (x->op == OP_fptosi || x->op == OP_fptoui)
        return val_reg(
            PURE(c, k, code_name(c, "cvt.rzi.%c%u.%s", x->op == OP_fptosi ? 's' : 'u', k, float_word(c, t)), from));
    const char *round = x->op == OP_fptrunc ? "rn." : "";
    return val_reg(PURE(c, k, code_name(c, "cvt.%s%s.%s", round, float_word(c, to), float_word(c, t)), from));
}

static struct val from_number(struct code *c, struct val v, const struct ir_type *t, const struct ir_type *to)
{
    struct operand o = value_extended(c, v, t, false);
    if (o.kind != OPERAND_REG)
        return (struct val){ .kind = VAL_PTR, .space = to->space, .bits = o.value };
    if (width_of(c, t) < 64)
        o = operand_reg(PURE(c, 64, code_name(c, "cvt.u64.u%u", width_of(c, t)), o));
    return pointer_from(c, o.reg, to->space);
}

static struct val cast_one(struct code *c, const struct ir_inst *x, struct val v, const struct ir_type *t,
                           const struct ir_type *to)
{
    if (x->op == OP_bitcast)
        return v;
    if (x->op == OP_addrspacecast)
        return pointer_to_space(c, v, to->space ? to->space : space_of(c, x));
    if (v.kind == VAL_UNDEF)
        return v;
    if (x->op == OP_ptrtoint || x->op == OP_ptrtoaddr) {
        return truncated(c, val_reg(t->space ? pointer_wide(c, v) : pointer_generic(c, v)), ir_int(c->m, 64), to);
    }
    if (x->op == OP_inttoptr)
        return from_number(c, v, t, to);
    if (x->op == OP_trunc)
        return truncated(c, v, t, to);
    if (x->op == OP_zext || x->op == OP_sext)
        return widened(c, x, v, t, to);
    return float_cast(c, x, v, t, to);
}

void select_cast(struct code *c, const struct ir_inst *x)
{
    const struct ir_type *t = x->args[0].type;
    const struct vals from = vals_of(c, &x->args[0]);
    uint32_t n, count;
    const struct ir_leaf *a = ir_leaves(c->m, t, &n), *b = ir_leaves(c->m, x->type, &count);
    if (x->op == OP_bitcast && t->kind != IR_PTR) {
        const struct vals same = select_reslice(c, from, t, x->type);
        value_set(c, x, same.items, same.count);
        return;
    }
    struct vals out = value_list(c, count);
    for (uint32_t i = 0; i < count; i++)
        out.items[i] = cast_one(c, x, from.items[i], a[i].type, b[i].type);
    value_set(c, x, out.items, count);
}
