// Scalars and pointers as operands of instructions.
#include "irptx/select.h"

#include <string.h>

uint32_t width_of(struct code *c, const struct ir_type *t)
{
    if (t->kind == IR_PTR)
        return 64;
    if (t->bits > 64)
        ir_fail(c->m, "a number of %u bits is not known here", t->bits);
    return t->bits == 1 ? 1 : t->bits <= 16 ? 16 : t->bits <= 32 ? 32 : 64;
}

// --- From the IR ---

struct vals value_list(struct code *c, uint32_t count)
{
    return (struct vals){ ir_new(c->m, (count + 1) * sizeof(struct val)), count };
}

void value_set(struct code *c, const struct ir_inst *x, struct val *items, uint32_t count)
{
    if (x->result)
        c->values[x->result] = (struct vals){ items, count };
}

static struct val constant(struct code *c, const struct ir_scalar *s, const struct ir_type *t)
{
    if (s->kind == SCALAR_UNDEF)
        return (struct val){ .kind = VAL_UNDEF };
    if (s->kind == SCALAR_BITS && t->kind != IR_PTR)
        return val_bits((int64_t)s->bits);
    struct val p = { .kind = VAL_PTR, .space = t->space, .bits = (int64_t)s->bits };
    if (s->kind == SCALAR_ADDRESS) {
        if (s->symbol->function || s->symbol->alias)
            ir_fail(c->m, "the address of %.*s is not known here", (int)s->symbol->name.n, s->symbol->name.p);
        p.space = s->symbol->space ? s->symbol->space : SPACE_GLOBAL;
        p.symbol = s->symbol->ptx;
    }
    if (t->kind == IR_PTR)
        return p;
    const uint32_t reg = s->generic ? pointer_generic(c, p) : pointer_wide(c, p), w = width_of(c, t);
    return val_reg(w == 64   ? reg
                   : w == 32 ? value_low(c, reg)
                             : PURE(c, w, code_name(c, "cvt.u%u.u64", w), operand_reg(reg)));
}

struct vals vals_of(struct code *c, const struct ir_value *v)
{
    if (v->local) {
        if (!c->values[v->local].items)
            ir_fail(c->m, "the IR uses a value before it is made");
        return c->values[v->local];
    }
    uint32_t n;
    const struct ir_leaf *leaves = ir_leaves(c->m, v->type, &n);
    struct vals out = value_list(c, n);
    if (v->count < n)
        ir_fail(c->m, "a constant of the IR has too few parts");
    for (uint32_t i = 0; i < n; i++)
        out.items[i] = constant(c, &v->scalars[i], leaves[i].type);
    return out;
}

struct val value_one(struct code *c, const struct ir_value *v)
{
    const struct vals all = vals_of(c, v);
    if (!all.count)
        ir_fail(c->m, "a value without parts");
    return all.items[0];
}

// --- As operands ---

int64_t value_signed(int64_t bits, uint32_t width)
{
    const int shift = width && width < 64 ? 64 - (int)width : 0;
    return (int64_t)((uint64_t)bits << shift) >> shift;
}

static struct operand floating(struct code *c, int64_t bits, const struct ir_type *t)
{
    if (t->bits == 64)
        return operand_text(code_name(c, "0d%016llX", (unsigned long long)bits));
    if (t->bits == 32)
        return operand_text(code_name(c, "0f%08X", (unsigned)bits));
    return operand_reg(PURE(c, 16, "mov.b16", operand_text(code_name(c, "0x%04X", (unsigned)bits))));
}

struct operand value_use(struct code *c, struct val v, const struct ir_type *t)
{
    if (v.kind == VAL_REG)
        return operand_reg(v.reg);
    if (v.kind == VAL_PTR)
        return operand_reg(pointer_wide(c, v));
    const int64_t bits = v.kind == VAL_UNDEF ? 0 : v.bits;
    if (t->kind == IR_FLOAT || t->kind == IR_BFLOAT)
        return floating(c, bits, t);
    if (t->kind == IR_INT && t->bits == 1)
        return operand_reg(PURE(c, 1, "setp.ne.b32", operand_int(bits & 1), operand_int(0)));
    return operand_int(value_signed(bits, t->bits));
}

uint32_t value_reg(struct code *c, struct val v, const struct ir_type *t)
{
    const struct operand o = value_use(c, v, t);
    const uint32_t w = width_of(c, t);
    return o.kind == OPERAND_REG ? o.reg : PURE(c, w, code_name(c, "mov.b%u", w), o);
}

struct operand value_extended(struct code *c, struct val v, const struct ir_type *t, bool is_signed)
{
    const uint32_t n = t->bits, w = width_of(c, t);
    if (v.kind == VAL_BITS || v.kind == VAL_UNDEF) {
        const int64_t bits = v.kind == VAL_UNDEF ? 0 : v.bits;
        return operand_int(is_signed || n == 64 ? value_signed(bits, n) : bits);
    }
    if (v.kind == VAL_PTR || n == w)
        return value_use(c, v, t);
    if (!is_signed)
        return operand_reg(
            PURE(c, w, code_name(c, "and.b%u", w), operand_reg(v.reg), operand_int((int64_t)((1ull << n) - 1))));
    const uint32_t high = PURE(c, w, code_name(c, "shl.b%u", w), operand_reg(v.reg), operand_int(w - n));
    return operand_reg(PURE(c, w, code_name(c, "shr.s%u", w), operand_reg(high), operand_int(w - n)));
}

struct val value_plain(struct code *c, struct val v, const struct ir_type *t)
{
    if (v.kind != VAL_PTR)
        return v;
    return val_reg(t->kind == IR_PTR && t->space ? pointer_wide(c, v) : pointer_generic(c, v));
}

struct operand value_argument(struct code *c, const struct ir_value *v)
{
    return value_use(c, value_plain(c, value_one(c, v), v->type), v->type);
}

// --- Pointers ---

uint32_t value_low(struct code *c, uint32_t reg)
{
    return c->regs[reg].narrow ? c->regs[reg].narrow : PURE(c, 32, "cvt.u32.u64", operand_reg(reg));
}

struct val pointer_from(struct code *c, uint32_t reg, uint32_t space)
{
    return val_pointer(pointer_width(space) == 32 ? value_low(c, reg) : reg, space);
}

uint32_t pointer_reg(struct code *c, struct val p)
{
    if (p.kind == VAL_UNDEF)
        p = val_pointer(0, 0);
    const uint32_t w = pointer_width(p.space);
    if (!p.reg && !p.symbol)
        return PURE(c, w, code_name(c, "mov.b%u", w), operand_int(value_signed(p.bits, w)));
    const uint32_t base = p.reg ? p.reg : PURE(c, w, code_name(c, "mov.u%u", w), operand_text(p.symbol));
    return p.bits ? PURE(c, w, code_name(c, "add.s%u", w), operand_reg(base), operand_int(p.bits)) : base;
}

uint32_t pointer_wide(struct code *c, struct val p)
{
    const uint32_t reg = pointer_reg(c, p);
    if (c->regs[reg].width == 64)
        return reg;
    const uint32_t wide = PURE(c, 64, "cvt.u64.u32", operand_reg(reg));
    c->regs[wide].narrow = reg;
    return wide;
}

uint32_t pointer_generic(struct code *c, struct val p)
{
    const uint32_t reg = pointer_wide(c, p);
    if (p.kind == VAL_UNDEF || !p.space || (!p.reg && !p.symbol))
        return reg;
    return PURE(c, 64, code_name(c, "cvta%s.u64", code_space(c, p.space)), operand_reg(reg));
}

struct val pointer_to_space(struct code *c, struct val p, uint32_t space)
{
    if (p.kind == VAL_UNDEF)
        return p;
    if (p.space == space || (!p.reg && !p.symbol)) {
        p.space = space;
        return p;
    }
    const uint32_t generic = pointer_generic(c, p);
    if (space == SPACE_GENERIC)
        return val_pointer(generic, 0);
    return pointer_from(c, PURE(c, 64, code_name(c, "cvta.to%s.u64", code_space(c, space)), operand_reg(generic)),
                        space);
}

struct val pointer_add(struct val p, int64_t bytes)
{
    if (p.kind == VAL_UNDEF)
        p = val_pointer(0, 0);
    p.bits += bytes;
    return p;
}

struct operand pointer_memory(struct code *c, struct val p)
{
    if (p.kind == VAL_UNDEF)
        p = val_pointer(0, 0);
    // A variable's name is an address in its own space alone.
    if (p.symbol && p.space == SPACE_GENERIC)
        p = val_pointer(pointer_reg(c, p), 0);
    if (p.bits != (int32_t)p.bits)  // what an instruction can add
        p = val_pointer(pointer_reg(c, p), p.space);
    return (struct operand){ .kind = OPERAND_MEMORY, .reg = p.reg, .text = p.symbol, .value = p.bits };
}
