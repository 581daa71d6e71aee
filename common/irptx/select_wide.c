// Integers of 128 bits, which CUDA's kernels use for products of 64-bit numbers: two registers, the low one first.
#include "irptx/select.h"

#include <string.h>

struct wide {
    struct val low, high;
};

static bool is_wide(const struct ir_type *t)
{
    return ir_is_int(t, 128);
}

static struct operand use(struct code *c, struct val v)
{
    return value_use(c, v, ir_int(c->m, 64));
}

static struct operand in_register(struct code *c, struct val v)
{
    return operand_reg(value_reg(c, v, ir_int(c->m, 64)));
}

static struct wide wide_of(struct code *c, const struct ir_value *v)
{
    const struct vals both = vals_of(c, v);
    return (struct wide){ both.items[0], both.items[1] };
}

static void set(struct code *c, const struct ir_inst *x, struct wide w)
{
    struct vals out = value_list(c, 2);
    out.items[0] = w.low;
    out.items[1] = w.high;
    value_set(c, x, out.items, 2);
}

static struct val op64(struct code *c, const char *name, struct operand a, struct operand b)
{
    return val_reg(PURE(c, 64, name, a, b));
}

static struct wide multiply(struct code *c, struct wide a, struct wide b)
{
    const struct operand x = in_register(c, a.low), y = in_register(c, b.low);
    struct val high = op64(c, "mul.hi.u64", x, y);
    if (a.high.kind != VAL_BITS || a.high.bits)
        high = val_reg(PURE(c, 64, "mad.lo.s64", in_register(c, a.high), y, use(c, high)));
    if (b.high.kind != VAL_BITS || b.high.bits)
        high = val_reg(PURE(c, 64, "mad.lo.s64", in_register(c, b.high), x, use(c, high)));
    return (struct wide){ op64(c, "mul.lo.s64", x, y), high };
}

// The carry is what a comparison says: PTX's own flag would bind two instructions together.
static struct wide add(struct code *c, struct wide a, struct wide b, bool subtract)
{
    const struct operand x = in_register(c, a.low), y = in_register(c, b.low);
    const char *name = subtract ? "sub.s64" : "add.s64";
    const struct val low = op64(c, name, x, y);
    const uint32_t carry = subtract ? PURE(c, 1, "setp.lt.u64", x, y) : PURE(c, 1, "setp.lt.u64", use(c, low), x);
    const struct val one = val_reg(PURE(c, 64, "selp.b64", operand_int(1), operand_int(0), operand_reg(carry)));
    const struct val high = op64(c, name, in_register(c, a.high), in_register(c, b.high));
    return (struct wide){ low, op64(c, name, use(c, high), use(c, one)) };
}

static struct wide shift(struct code *c, enum ir_op op, struct wide a, struct wide by)
{
    if (by.low.kind != VAL_BITS || (uint64_t)by.low.bits > 127)
        ir_fail(c->m, "a shift of 128 bits by a variable is not known");
    const int64_t n = by.low.bits;
    const struct operand low = in_register(c, a.low), high = in_register(c, a.high);
    const char *right = op == OP_ashr ? "shr.s64" : "shr.u64";
    const struct val filled = op == OP_ashr ? op64(c, right, high, operand_int(63)) : val_bits(0);
    if (n == 0)
        return a;
    if (op == OP_shl && n >= 64)
        return (struct wide){ val_bits(0), n == 64 ? a.low : op64(c, "shl.b64", low, operand_int(n - 64)) };
    if (n >= 64)
        return (struct wide){ n == 64 ? a.high : op64(c, right, high, operand_int(n - 64)), filled };
    if (op == OP_shl) {
        const struct val up = op64(c, "shl.b64", high, operand_int(n)),
                         carried = op64(c, "shr.u64", low, operand_int(64 - n));
        return (struct wide){ op64(c, "shl.b64", low, operand_int(n)), op64(c, "or.b64", use(c, up), use(c, carried)) };
    }
    const struct val down = op64(c, "shr.u64", low, operand_int(n)),
                     carried = op64(c, "shl.b64", high, operand_int(64 - n));
    return (struct wide){ op64(c, "or.b64", use(c, down), use(c, carried)), op64(c, right, high, operand_int(n)) };
}

static bool binary(struct code *c, const struct ir_inst *x)
{
    const struct wide a = wide_of(c, &x->args[0]), b = wide_of(c, &x->args[1]);
    switch (x->op) {
    case OP_mul:
        set(c, x, multiply(c, a, b));
        return true;
    case OP_add:
    case OP_sub:
        set(c, x, add(c, a, b, x->op == OP_sub));
        return true;
    case OP_shl:
    case OP_lshr:
    case OP_ashr:
        set(c, x, shift(c, x->op, a, b));
        return true;
    case OP_and:
    case OP_or:
    case OP_xor:
        return false;  // each half by itself
    default:
        ir_fail(c->m, "a division of 128 bits is not known");
    }
}

// The high halves decide, and where they are equal the low ones.
static void compare(struct code *c, const struct ir_inst *x)
{
    const struct wide a = wide_of(c, &x->args[0]), b = wide_of(c, &x->args[1]);
    const bool equality = x->word.p[0] == 'e' || x->word.p[0] == 'n';
    const struct operand al = in_register(c, a.low), bl = in_register(c, b.low), ah = in_register(c, a.high),
                         bh = in_register(c, b.high);
    const uint32_t same = PURE(c, 1, "setp.eq.s64", ah, bh);
    uint32_t is;
    if (equality) {
        is = PURE(c, 1, "and.pred", operand_reg(same), operand_reg(PURE(c, 1, "setp.eq.s64", al, bl)));
        is = x->word.p[0] == 'n' ? PURE(c, 1, "not.pred", operand_reg(is)) : is;
    } else {
        const char *word = code_name(c, "%.*s", 2, x->word.p + 1);
        const uint32_t low = PURE(c, 1, code_name(c, "setp.%s.u64", word), al, bl);
        const uint32_t high = PURE(c, 1, code_name(c, "setp.%ct.%c64", word[0], x->word.p[0]), ah, bh);
        is = PURE(c, 1, "or.pred", operand_reg(high),
                  operand_reg(PURE(c, 1, "and.pred", operand_reg(same), operand_reg(low))));
    }
    struct vals out = value_list(c, 1);
    out.items[0] = val_reg(is);
    value_set(c, x, out.items, 1);
}

static void widen(struct code *c, const struct ir_inst *x)
{
    const struct ir_type *t = x->args[0].type;
    const struct val v = value_one(c, &x->args[0]);
    const bool is_signed = x->op == OP_sext;
    struct operand low = value_extended(c, v, t, is_signed);
    if (t->bits == 1 && v.kind == VAL_REG)
        low = operand_reg(PURE(c, 64, "selp.b64", operand_int(is_signed ? -1 : 1), operand_int(0), operand_reg(v.reg)));
    else if (low.kind == OPERAND_REG && width_of(c, t) < 64)
        low = operand_reg(PURE(c, 64, code_name(c, is_signed ? "cvt.s64.s%u" : "cvt.u64.u%u", width_of(c, t)), low));
    else if (low.kind != OPERAND_REG)
        low = operand_reg(PURE(c, 64, "mov.b64", low));
    const struct val high = is_signed ? op64(c, "shr.s64", low, operand_int(63)) : val_bits(0);
    set(c, x, (struct wide){ val_reg(low.reg), high });
}

static void narrow(struct code *c, const struct ir_inst *x)
{
    const struct operand low = in_register(c, wide_of(c, &x->args[0]).low);
    const uint32_t k = width_of(c, x->type);
    struct vals out = value_list(c, 1);
    out.items[0] = val_reg(low.reg);
    if (k == 1)
        out.items[0] =
            val_reg(PURE(c, 1, "setp.ne.s64", use(c, op64(c, "and.b64", low, operand_int(1))), operand_int(0)));
    else if (k < 64)
        out.items[0] = val_reg(PURE(c, k, code_name(c, "cvt.u%u.u64", k), low));
    value_set(c, x, out.items, 1);
}

bool select_wide(struct code *c, const struct ir_inst *x)
{
    const bool from = x->arg_count && is_wide(x->args[0].type), to = is_wide(x->type);
    if (!from && !to)
        return false;
    if (x->op <= OP_xor || (x->op >= OP_shl && x->op <= OP_ashr))
        return binary(c, x);
    if (x->op == OP_icmp)
        compare(c, x);
    else if (x->op == OP_zext || x->op == OP_sext)
        widen(c, x);
    else if (x->op == OP_trunc)
        narrow(c, x);
    else
        return false;  // it moves the halves, each as it is
    return true;
}
