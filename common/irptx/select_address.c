// Addresses: getelementptr. What is constant in an index is kept apart, for the instruction that accesses it.
#include "irptx/select.h"

struct index {
    uint32_t reg;  // of the width of the pointer; 0: none
    int64_t plus;
};

static bool constant_of(const struct ir_value *v, int64_t *n)
{
    if (v->local || !v->count || v->scalars[0].kind != SCALAR_BITS)
        return false;
    *n = value_signed((int64_t)v->scalars[0].bits, v->type->bits);
    return true;
}

// --- Indices of 64 bits ---

// What defines v, if it adds a constant to its first operand so that it stays the same in 64 bits, widened as op says.
static const struct ir_inst *sum_of(const struct code *c, const struct ir_value *v, enum ir_op op, int64_t *plus)
{
    const struct ir_inst *x = v->local ? c->defs[v->local] : NULL;
    if (!x || x->arg_count < 2 || !constant_of(&x->args[1], plus))
        return NULL;
    const uint32_t exact = op == OP_sext ? F_NSW : op == OP_zext ? F_NUW : 0;
    if (x->op == OP_add && (v->type->bits == 64 || (exact && (x->flags & exact))))
        return x;
    if (x->op == OP_or && (x->flags & F_DISJOINT) && (*plus >= 0 || v->type->bits == 64))
        return x;
    return NULL;
}

static struct index split_index(struct code *c, const struct ir_value *v);

// sext or zext of a sum: the constant leaves the sum before it is widened.
static bool split_widened(struct code *c, const struct ir_inst *wide, struct index *out)
{
    const struct ir_value *from = &wide->args[0];
    int64_t plus;
    if ((wide->op != OP_sext && wide->op != OP_zext) || from->type->bits != 32)
        return false;
    const struct ir_inst *sum = sum_of(c, from, wide->op, &plus);
    if (!sum)
        return false;
    const char *name = wide->op == OP_sext ? "cvt.s64.s32" : "cvt.u64.u32";
    const uint32_t narrow = value_reg(c, value_one(c, &sum->args[0]), from->type);
    *out = (struct index){ PURE(c, 64, name, operand_reg(narrow)), plus };
    c->regs[out->reg].narrow = narrow;
    c->regs[out->reg].widened_signed = wide->op == OP_sext;
    return true;
}

static struct index split_index(struct code *c, const struct ir_value *v)
{
    struct index out = { 0 };
    int64_t plus;
    const struct ir_inst *x = v->local ? c->defs[v->local] : NULL;
    const struct ir_inst *sum = v->type->bits == 64 ? sum_of(c, v, OP_add, &plus) : NULL;
    if (sum) {
        out = split_index(c, &sum->args[0]);
        out.plus += plus;
        return out;
    }
    if (x && split_widened(c, x, &out))
        return out;
    const struct val i = value_one(c, v);
    if (i.kind != VAL_REG) {
        out.plus = i.kind == VAL_BITS ? value_signed(i.bits, v->type->bits) : 0;
        return out;
    }
    const uint32_t w = width_of(c, v->type);
    out.reg = i.reg;
    if (w < 64)
        out.reg = PURE(c, 64, code_name(c, "cvt.s64.s%u", w), value_extended(c, i, v->type, true));
    return out;
}

static uint32_t times(struct code *c, uint32_t reg, uint64_t n)
{
    const uint32_t w = c->regs[reg].width;
    if (n == 1)
        return reg;
    if (w == 64 && c->regs[reg].narrow && n <= INT32_MAX)
        return PURE(c, 64, c->regs[reg].widened_signed ? "mul.wide.s32" : "mul.wide.u32",
                    operand_reg(c->regs[reg].narrow), operand_int((int64_t)n));
    if ((n & (n - 1)) == 0)
        return PURE(c, w, code_name(c, "shl.b%u", w), operand_reg(reg), operand_int(__builtin_ctzll(n)));
    return PURE(c, w, code_name(c, "mul.lo.s%u", w), operand_reg(reg), operand_int((int64_t)n));
}

// --- Indices of 32 bits ---

// Addresses of shared memory have 32 bits, so what an index has above them is lost anyway: a constant may leave any
// sum.

enum { SUM_DEPTH = 8 };

static struct index low_index(struct code *c, const struct ir_value *v, uint32_t depth);

static struct index low_bits(struct code *c, const struct ir_value *v)
{
    const struct val i = value_one(c, v);
    if (i.kind != VAL_REG)
        return (struct index){ 0, i.kind == VAL_BITS ? value_signed(i.bits, v->type->bits) : 0 };
    const uint32_t w = width_of(c, v->type);
    if (w >= 32)
        return (struct index){ w == 64 ? value_low(c, i.reg) : i.reg, 0 };
    return (struct index){ PURE(c, 32, code_name(c, "cvt.s32.s%u", w), value_extended(c, i, v->type, true)), 0 };
}

static struct index low_sum(struct code *c, const struct ir_value *v, const struct ir_inst *x, uint32_t depth)
{
    const struct index a = low_index(c, &x->args[0], depth), b = low_index(c, &x->args[1], depth);
    const bool minus = x->op == OP_sub;
    const int64_t plus = minus ? a.plus - b.plus : a.plus + b.plus;
    if (!a.plus && !b.plus && v->type->bits == 32)
        return low_bits(c, v);
    if (!b.reg || (!a.reg && !minus))
        return (struct index){ b.reg ? b.reg : a.reg, plus };
    if (!a.reg)
        return (struct index){ PURE(c, 32, "neg.s32", operand_reg(b.reg)), plus };
    return (struct index){ PURE(c, 32, minus ? "sub.s32" : "add.s32", operand_reg(a.reg), operand_reg(b.reg)), plus };
}

static struct index low_product(struct code *c, const struct ir_value *v, const struct ir_inst *x, uint64_t by,
                                uint32_t depth)
{
    const struct index a = low_index(c, &x->args[0], depth);
    if (!a.plus && v->type->bits == 32)
        return low_bits(c, v);
    return (struct index){ a.reg ? times(c, a.reg, by) : 0, a.plus * (int64_t)by };
}

static struct index low_index(struct code *c, const struct ir_value *v, uint32_t depth)
{
    const struct ir_inst *x = v->local && v->type->bits >= 32 && depth ? c->defs[v->local] : NULL;
    int64_t by;
    if (!x)
        return low_bits(c, v);
    if (x->op == OP_add || x->op == OP_sub || (x->op == OP_or && (x->flags & F_DISJOINT)))
        return low_sum(c, v, x, depth - 1);
    if ((x->op == OP_mul || x->op == OP_shl) && constant_of(&x->args[1], &by) && by >= 0 &&
        by < (x->op == OP_shl ? 31 : INT32_MAX))
        return low_product(c, v, x, x->op == OP_shl ? 1ull << by : (uint64_t)by, depth - 1);
    if ((x->op == OP_sext || x->op == OP_zext || x->op == OP_trunc) && x->args[0].type->bits >= 32)
        return low_index(c, &x->args[0], depth - 1);
    return low_bits(c, v);
}

// --- getelementptr ---

static struct val add_index(struct code *c, struct val p, const struct ir_value *v, uint64_t size)
{
    const uint32_t w = pointer_width(p.space);
    const struct index i = w == 32 ? low_index(c, v, SUM_DEPTH) : split_index(c, v);
    p.bits = value_signed(p.bits + i.plus * (int64_t)size, w);
    if (!i.reg || !size)
        return p;
    const uint32_t scaled = times(c, i.reg, size);
    const struct val base = { .kind = VAL_PTR, .reg = p.reg, .symbol = p.symbol, .space = p.space };
    if (p.reg || p.symbol)
        p.reg = PURE(c, w, code_name(c, "add.s%u", w), operand_reg(pointer_reg(c, base)), operand_reg(scaled));
    else
        p.reg = scaled;
    p.symbol = NULL;
    return p;
}

void select_address(struct code *c, const struct ir_inst *x)
{
    if (x->type->kind != IR_PTR)
        ir_fail(c->m, "a vector of pointers is not known");
    struct val p = pointer_add(value_one(c, &x->args[0]), 0);
    if (!p.reg && !p.symbol)
        p.space = space_of(c, x);
    const struct ir_type *t = x->source;
    for (uint32_t i = 1; i < x->arg_count; i++) {
        int64_t field = 0;
        uint64_t at;
        if (i > 1 && t->kind == IR_STRUCT) {
            if (!constant_of(&x->args[i], &field))
                ir_fail(c->m, "a field of a struct by a variable index");
            t = ir_step(c->m, t, (uint64_t)field, &at);
            p.bits += (int64_t)at;
            continue;
        }
        if (i > 1)
            t = ir_step(c->m, t, 0, &at);
        p = add_index(c, p, &x->args[i], ir_size(t));
    }
    struct vals out = value_list(c, 1);
    out.items[0] = p;
    value_set(c, x, out.items, 1);
}
