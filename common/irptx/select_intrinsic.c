// LLVM's own intrinsics, scalar by scalar: arithmetic that has no instruction in the IR.
#include "irptx/select.h"

#include <stdio.h>
#include <string.h>

// Those that are one instruction of PTX of the same operands, by the kind of type. %u is its bits.
static const struct {
    const char *name, *of_int, *of_float;
} plain[] = {
    { "smin", "min.s%u", NULL },
    { "smax", "max.s%u", NULL },
    { "umin", "min.u%u", NULL },
    { "umax", "max.u%u", NULL },
    { "fma", NULL, "fma.rn.f%u" },
    { "fmuladd", NULL, "fma.rn.f%u" },
    { "minnum", NULL, "min.f%u" },
    { "maxnum", NULL, "max.f%u" },
    { "minimumnum", NULL, "min.f%u" },
    { "maximumnum", NULL, "max.f%u" },
    { "minimum", NULL, "min.NaN.f%u" },
    { "maximum", NULL, "max.NaN.f%u" },
    { "fabs", NULL, "abs.f%u" },
    { "abs", "abs.s%u", NULL },
    { "sqrt", NULL, "sqrt.rn.f%u" },
    { "bitreverse", "brev.b%u", NULL },
    { "floor", NULL, "cvt.rmi.f%u.f%u" },
    { "ceil", NULL, "cvt.rpi.f%u.f%u" },
    { "trunc", NULL, "cvt.rzi.f%u.f%u" },
    { "rint", NULL, "cvt.rni.f%u.f%u" },
    { "nearbyint", NULL, "cvt.rni.f%u.f%u" },
    { "roundeven", NULL, "cvt.rni.f%u.f%u" },
    { "sadd.sat", "add.sat.s%u", NULL },
    { "ssub.sat", "sub.sat.s%u", NULL },
    { "exp2", NULL, "ex2.approx.f%u" },
    { "log2", NULL, "lg2.approx.f%u" },
    { "sin", NULL, "sin.approx.f%u" },
    { "cos", NULL, "cos.approx.f%u" },
};

static uint32_t one(struct code *c, uint32_t width, const char *name, struct operand a)
{
    return PURE(c, width, name, a);
}

static struct val plain_instruction(struct code *c, const char *format, bool is_signed, const struct val *args,
                                    uint32_t count, const struct ir_type *t)
{
    struct operand o[3];
    const uint32_t w = width_of(c, t);
    for (uint32_t i = 0; i < count; i++)
        o[i] = t->kind == IR_INT ? value_extended(c, args[i], t, is_signed) : value_use(c, args[i], t);
    char name[64];
    const char *percent = strchr(format, '%');
    const char *type = code_name(c, "%u", w);
    // Both places of a conversion's name have the same type.
    const char *second = percent ? strchr(percent + 1, '%') : NULL;
    const int head = percent ? (int)(percent - format) : (int)strlen(format);
    if (second)
        snprintf(name, sizeof name, "%.*s%s%.*s%s", head, format, type, (int)(second - percent - 2), percent + 2, type);
    else
        snprintf(name, sizeof name, "%.*s%s", head, format, type);
    return val_reg(code_pure(c, w, code_name(c, "%s", name), o, count));
}

static struct val counted(struct code *c, uint32_t count, uint32_t width)
{
    return val_reg(width == 32 ? count : one(c, width, code_name(c, "cvt.u%u.u32", width), operand_reg(count)));
}

// popc, clz and ctz count in 32 or 64 bits.
static struct val count_bits(struct code *c, struct str name, struct val v, const struct ir_type *t)
{
    const uint32_t w = width_of(c, t), wide = w < 32 ? 32 : w;
    struct operand o = value_extended(c, v, t, false);
    if (o.kind != OPERAND_REG)
        o = operand_reg(one(c, w, code_name(c, "mov.b%u", w), o));
    if (w < 32)
        o = operand_reg(one(c, 32, "cvt.u32.u16", o));
    if (str_is(name, "ctpop"))
        return counted(c, one(c, 32, code_name(c, "popc.b%u", wide), o), w);
    if (str_is(name, "cttz")) {
        if (t->bits < 32)  // a bit above the number, so that zero has as many zeros as the number has bits
            o = operand_reg(PURE(c, 32, "or.b32", o, operand_int((int64_t)1 << t->bits)));
        o = operand_reg(one(c, wide, code_name(c, "brev.b%u", wide), o));
    } else if (t->bits < 32) {
        o = operand_reg(PURE(c, 32, "shl.b32", o, operand_int(32 - t->bits)));
        o = operand_reg(PURE(c, 32, "or.b32", o, operand_int((int64_t)1 << (31 - t->bits))));
    }
    return counted(c, one(c, 32, code_name(c, "clz.b%u", wide), o), w);
}

static struct val funnel(struct code *c, bool left, const struct val *a, const struct ir_type *t)
{
    const struct operand high = value_use(c, a[0], t), low = value_use(c, a[1], t), by = value_use(c, a[2], t);
    if (t->bits == 32)
        return val_reg(PURE(c, 32, left ? "shf.l.wrap.b32" : "shf.r.wrap.b32", low, high, by));
    if (t->bits != 64)
        ir_fail(c->m, "a funnel shift of %u bits is not known", t->bits);
    // high << n | low >> 1 >> (63 - n), and its mirror image: no shift is by 64.
    const uint32_t n = PURE(c, 32, "and.b32", by.kind == OPERAND_REG ? operand_reg(PURE(c, 32, "cvt.u32.u64", by)) : by,
                            operand_int(63));
    const uint32_t rest = PURE(c, 32, "xor.b32", operand_reg(n), operand_int(63));
    const uint32_t main = PURE(c, 64, left ? "shl.b64" : "shr.u64", left ? high : low, operand_reg(n));
    const uint32_t once = PURE(c, 64, left ? "shr.u64" : "shl.b64", left ? low : high, operand_int(1));
    const uint32_t other = PURE(c, 64, left ? "shr.u64" : "shl.b64", operand_reg(once), operand_reg(rest));
    return val_reg(PURE(c, 64, "or.b64", operand_reg(main), operand_reg(other)));
}

// -1, 0 or 1: a is less than b, equal, greater.
static struct val three_way(struct code *c, const struct ir_inst *x, bool is_signed, const struct val *a,
                            const struct ir_type *t)
{
    const struct ir_type *of = x->args[0].type;
    const uint32_t w = width_of(c, of), k = width_of(c, t);
    const struct operand p = value_extended(c, a[0], of, is_signed), q = value_extended(c, a[1], of, is_signed);
    const char letter = is_signed ? 's' : 'u';
    const uint32_t more = PURE(c, 1, code_name(c, "setp.gt.%c%u", letter, w), p, q);
    const uint32_t less = PURE(c, 1, code_name(c, "setp.lt.%c%u", letter, w), p, q);
    const char *choose = code_name(c, "selp.b%u", k);
    const uint32_t up = PURE(c, k, choose, operand_int(1), operand_int(0), operand_reg(more));
    return val_reg(PURE(c, k, choose, operand_int(-1), operand_reg(up), operand_reg(less)));
}

static struct val saturated(struct code *c, bool add, const struct val *a, const struct ir_type *t)
{
    const uint32_t w = width_of(c, t);
    if (t->bits != w)
        ir_fail(c->m, "saturation of %u bits is not known", t->bits);
    const struct operand p = value_use(c, a[0], t), q = value_use(c, a[1], t);
    if (!add) {
        const uint32_t most = PURE(c, w, code_name(c, "max.u%u", w), p, q);
        return val_reg(PURE(c, w, code_name(c, "sub.s%u", w), operand_reg(most), q));
    }
    const uint32_t sum = PURE(c, w, code_name(c, "add.s%u", w), p, q);
    const uint32_t over = PURE(c, 1, code_name(c, "setp.lt.u%u", w), operand_reg(sum), p);
    return val_reg(PURE(c, w, code_name(c, "selp.b%u", w), operand_int(-1), operand_reg(sum), operand_reg(over)));
}

static struct val swapped_bytes(struct code *c, struct val v, const struct ir_type *t)
{
    const uint32_t r = value_reg(c, v, t);
    if (t->bits == 32)
        return val_reg(PURE(c, 32, "prmt.b32", operand_reg(r), operand_int(0), operand_int(0x0123)));
    if (t->bits == 16) {
        const uint32_t wide = one(c, 32, "cvt.u32.u16", operand_reg(r));
        return val_reg(
            one(c, 16, "cvt.u16.u32",
                operand_reg(PURE(c, 32, "prmt.b32", operand_reg(wide), operand_int(0), operand_int(0x7701)))));
    }
    if (t->bits != 64)
        ir_fail(c->m, "llvm.bswap of %u bits is not known", t->bits);
    const uint32_t first = code_split(c, r, 32, 2);
    uint32_t parts[2];
    for (uint32_t i = 0; i < 2; i++)
        parts[1 - i] = PURE(c, 32, "prmt.b32", operand_reg(first + i), operand_int(0), operand_int(0x0123));
    return val_reg(code_join(c, parts, 2, 64));
}

struct val select_intrinsic(struct code *c, const struct ir_inst *x, struct str name, const struct val *args,
                            const struct ir_type *t)
{
    const uint32_t count = str_is(name, "abs") ? 1 : x->arg_count;  // what else it has says what is undefined
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
        const char *format = t->kind == IR_INT ? plain[i].of_int : t->kind == IR_FLOAT ? plain[i].of_float : NULL;
        if (str_is(name, plain[i].name) && format)
            return plain_instruction(c, format, name.p[0] != 'u', args, count, t);
    }
    if (str_is(name, "ctpop") || str_is(name, "ctlz") || str_is(name, "cttz"))
        return count_bits(c, name, args[0], t);
    if (str_is(name, "fshl") || str_is(name, "fshr"))
        return funnel(c, name.p[3] == 'l', args, t);
    if (str_is(name, "scmp") || str_is(name, "ucmp"))
        return three_way(c, x, name.p[0] == 's', args, t);
    if (str_is(name, "uadd.sat") || str_is(name, "usub.sat"))
        return saturated(c, name.p[1] == 'a', args, t);
    if (str_is(name, "bswap"))
        return swapped_bytes(c, args[0], t);
    if (str_is(name, "copysign"))
        return val_reg(PURE(c, width_of(c, t), code_name(c, "copysign.f%u", t->bits), value_use(c, args[1], t),
                            value_use(c, args[0], t)));
    if (str_is(name, "is.fpclass") && args[1].kind == VAL_BITS) {
        const struct ir_type *of = x->args[0].type;
        return select_class(c, of->kind == IR_VECTOR ? of->of : of, args[0], (uint64_t)args[1].bits);
    }
    ir_fail(c->m, "llvm.%.*s is not known", (int)name.n, name.p);
}
