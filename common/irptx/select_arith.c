// Arithmetic, comparisons and choices, scalar by scalar.
#include "irptx/select.h"

#include <string.h>

// --- Floating point ---

static const char *float_type(struct code *c, const struct ir_type *t)
{
    return t->kind == IR_BFLOAT ? "bf16" : code_name(c, "f%u", t->bits);
}

// a * b + x where one side of the sum is a product that may be contracted; 0: neither is.
static uint32_t contracted(struct code *c, const struct ir_inst *x, struct val a, struct val b, const struct ir_type *t)
{
    const char *type = float_type(c, t), *neg = code_name(c, "neg.%s", type), *fma = code_name(c, "fma.rn.%s", type);
    const uint32_t w = width_of(c, t);
    if (a.kind == VAL_REG && c->regs[a.reg].product) {
        const struct operand *p = c->regs[a.reg].product;
        struct operand sum = value_use(c, b, t);
        if (x->op == OP_fsub)
            sum = operand_reg(PURE(c, w, neg, sum));
        return PURE(c, w, fma, p[0], p[1], sum);
    }
    if (b.kind == VAL_REG && c->regs[b.reg].product) {
        const struct operand *p = c->regs[b.reg].product;
        const struct operand first = x->op == OP_fsub ? operand_reg(PURE(c, w, neg, p[0])) : p[0];
        return PURE(c, w, fma, first, p[1], value_use(c, a, t));
    }
    return 0;
}

static uint32_t divide_half(struct code *c, struct val a, struct val b, const struct ir_type *t)
{
    const uint32_t x = PURE(c, 32, "cvt.f32.f16", operand_reg(value_reg(c, a, t)));
    const uint32_t y = PURE(c, 32, "cvt.f32.f16", operand_reg(value_reg(c, b, t)));
    const uint32_t q = PURE(c, 32, "div.rn.f32", operand_reg(x), operand_reg(y));
    return PURE(c, 16, "cvt.rn.f16.f32", operand_reg(q));
}

static struct val float_binary(struct code *c, const struct ir_inst *x, struct val a, struct val b,
                               const struct ir_type *t)
{
    const bool contract = x->flags & F_CONTRACT;
    if (x->op == OP_frem)
        ir_fail(c->m, "frem is not known");
    if (x->op == OP_fdiv && t->bits == 16)
        return val_reg(divide_half(c, a, b, t));
    const uint32_t fma = contract && (x->op == OP_fadd || x->op == OP_fsub) ? contracted(c, x, a, b, t) : 0;
    if (fma)
        return val_reg(fma);
    const char *name = x->op == OP_fadd ? "add" : x->op == OP_fsub ? "sub" : x->op == OP_fmul ? "mul" : "div";
    const char *round = x->op == OP_fdiv || (!contract && t->bits > 16) ? "rn." : "";
    struct operand *args = ir_new(c->m, 2 * sizeof *args);
    args[0] = value_use(c, a, t);
    args[1] = value_use(c, b, t);
    const uint32_t reg =
        PURE(c, width_of(c, t), code_name(c, "%s.%s%s", name, round, float_type(c, t)), args[0], args[1]);
    if (x->op == OP_fmul && contract)
        c->regs[reg].product = args;
    return val_reg(reg);
}

// --- Integers ---

static struct val predicate_binary(struct code *c, enum ir_op op, struct val a, struct val b)
{
    const bool both = op == OP_and || op == OP_mul, either = op == OP_or;
    if (!both && !either && op != OP_xor && op != OP_add && op != OP_sub)
        ir_fail(c->m, "this operation on one bit is not known");
    if (a.kind == VAL_BITS) {
        const struct val swap = a;
        a = b;
        b = swap;
    }
    if (a.kind == VAL_BITS)
        return val_bits(both ? a.bits & b.bits : either ? a.bits | b.bits : a.bits ^ b.bits);
    if (b.kind == VAL_BITS && both)
        return b.bits ? a : b;
    if (b.kind == VAL_BITS && either)
        return b.bits ? b : a;
    if (b.kind == VAL_BITS)
        return b.bits ? val_reg(PURE(c, 1, "not.pred", operand_reg(a.reg))) : a;
    const char *name = both ? "and.pred" : either ? "or.pred" : "xor.pred";
    return val_reg(PURE(c, 1, name, operand_reg(a.reg), operand_reg(b.reg)));
}

static struct val shift(struct code *c, enum ir_op op, struct val a, struct val b, const struct ir_type *t)
{
    const uint32_t w = width_of(c, t);
    struct operand by = value_extended(c, b, t, false);
    if (by.kind == OPERAND_REG && w != 32)
        by = operand_reg(PURE(c, 32, code_name(c, "cvt.u32.u%u", w), by));
    const struct operand of = op == OP_shl ? value_use(c, a, t) : value_extended(c, a, t, op == OP_ashr);
    const char *name = op == OP_shl ? "shl.b" : op == OP_lshr ? "shr.u" : "shr.s";
    return val_reg(PURE(c, w, code_name(c, "%s%u", name, w), of, by));
}

// Both factors are registers of 32 bits, widened: one instruction makes the product of 64 bits. 0: they are not.
static uint32_t wide_product(struct code *c, struct val a, struct val b)
{
    const struct reg *wide = a.kind == VAL_REG && c->regs[a.reg].narrow ? &c->regs[a.reg] : NULL;
    const struct reg *other = b.kind == VAL_REG && c->regs[b.reg].narrow ? &c->regs[b.reg] : NULL;
    const bool small = b.kind == VAL_BITS && b.bits >= 0 && b.bits <= INT32_MAX;
    if (!wide || (!small && (!other || other->widened_signed != wide->widened_signed)))
        return 0;
    const struct operand by = small ? operand_int(b.bits) : operand_reg(other->narrow);
    return PURE(c, 64, wide->widened_signed ? "mul.wide.s32" : "mul.wide.u32", operand_reg(wide->narrow), by);
}

static struct val divide(struct code *c, enum ir_op op, struct val a, struct val b, const struct ir_type *t)
{
    const bool is_signed = op == OP_sdiv || op == OP_srem;
    const uint32_t w = width_of(c, t);
    const struct operand x = value_extended(c, a, t, is_signed), y = value_extended(c, b, t, is_signed);
    const char *name =
        code_name(c, "%s.%c%u", op == OP_sdiv || op == OP_udiv ? "div" : "rem", is_signed ? 's' : 'u', w);
    return val_reg(PURE(c, w, name, x, y));
}

static struct val int_binary(struct code *c, enum ir_op op, struct val a, struct val b, const struct ir_type *t)
{
    const uint32_t w = width_of(c, t);
    a = a.kind == VAL_UNDEF ? val_bits(0) : a;
    b = b.kind == VAL_UNDEF ? val_bits(0) : b;
    if (w == 1)
        return predicate_binary(c, op, a, b);
    if (a.kind == VAL_BITS && (op == OP_add || op == OP_mul || op == OP_and || op == OP_or || op == OP_xor)) {
        const struct val swap = a;
        a = b;
        b = swap;
    }
    switch (op) {
    case OP_shl:
    case OP_lshr:
    case OP_ashr:
        return shift(c, op, a, b, t);
    case OP_and:
    case OP_or:
    case OP_xor:
        if (op == OP_xor && b.kind == VAL_BITS && value_signed(b.bits, t->bits) == -1)
            return val_reg(PURE(c, w, code_name(c, "not.b%u", w), value_use(c, a, t)));
        return val_reg(PURE(c, w,
                            code_name(c, "%s.b%u",
                                      op == OP_and  ? "and"
                                      : op == OP_or ? "or"
                                                    : "xor",
                                      w),
                            value_use(c, a, t), value_use(c, b, t)));
    case OP_mul: {
        const uint32_t wide = w == 64 ? wide_product(c, a, b) : 0;
        return val_reg(wide ? wide : PURE(c, w, code_name(c, "mul.lo.s%u", w), value_use(c, a, t), value_use(c, b, t)));
    }
    case OP_add:
    case OP_sub:
        if (op == OP_sub && a.kind == VAL_BITS && !a.bits)
            return val_reg(PURE(c, w, code_name(c, "neg.s%u", w), value_use(c, b, t)));
        return val_reg(PURE(c, w, code_name(c, "%s.s%u", op == OP_add ? "add" : "sub", w), value_use(c, a, t),
                            value_use(c, b, t)));
    default:
        return divide(c, op, a, b, t);
    }
}

void select_binary(struct code *c, const struct ir_inst *x)
{
    uint32_t n;
    const struct ir_leaf *leaves = ir_leaves(c->m, x->type, &n);
    const struct vals a = vals_of(c, &x->args[0]);
    struct vals out = value_list(c, n);
    for (uint32_t i = 0; i < n; i++) {
        const struct ir_type *t = leaves[i].type;
        if (x->op == OP_freeze)
            out.items[i] = a.items[i].kind != VAL_UNDEF ? a.items[i]
                           : t->kind == IR_PTR          ? val_pointer(0, 0)
                                                        : val_bits(0);
        else if (x->op == OP_fneg)
            out.items[i] =
                val_reg(PURE(c, width_of(c, t), code_name(c, "neg.%s", float_type(c, t)), value_use(c, a.items[i], t)));
        else if (t->kind == IR_FLOAT || t->kind == IR_BFLOAT)
            out.items[i] = float_binary(c, x, a.items[i], vals_of(c, &x->args[1]).items[i], t);
        else
            out.items[i] = int_binary(c, x->op, a.items[i], vals_of(c, &x->args[1]).items[i], t);
    }
    value_set(c, x, out.items, n);
}

// --- Comparisons ---

static const char *const int_words[][2] = { { "eq", "eq" },  { "ne", "ne" },  { "ugt", "gt" }, { "uge", "ge" },
                                            { "ult", "lt" }, { "ule", "le" }, { "sgt", "gt" }, { "sge", "ge" },
                                            { "slt", "lt" }, { "sle", "le" } };
static const char *const float_words[][2] = { { "oeq", "eq" },  { "ogt", "gt" },  { "oge", "ge" },  { "olt", "lt" },
                                              { "ole", "le" },  { "one", "ne" },  { "ord", "num" }, { "ueq", "equ" },
                                              { "ugt", "gtu" }, { "uge", "geu" }, { "ult", "ltu" }, { "ule", "leu" },
                                              { "une", "neu" }, { "uno", "nan" } };

static const char *predicate_word(struct code *c, const struct ir_inst *x)
{
    const bool ints = x->op == OP_icmp;
    const char *const(*words)[2] = ints ? int_words : float_words;
    const size_t n = ints ? sizeof int_words / sizeof *int_words : sizeof float_words / sizeof *float_words;
    for (size_t i = 0; i < n; i++)
        if (str_is(x->word, words[i][0]))
            return words[i][1];
    ir_fail(c->m, "the comparison %.*s is not known", (int)x->word.n, x->word.p);
}

static struct val compare_predicates(struct code *c, const struct ir_inst *x, struct val a, struct val b)
{
    const bool equal = str_is(x->word, "eq");
    if (!equal && !str_is(x->word, "ne"))
        ir_fail(c->m, "this comparison of single bits is not known");
    const struct val differ = predicate_binary(c, OP_xor, a, b);
    return equal ? predicate_binary(c, OP_xor, differ, val_bits(1)) : differ;
}

static struct val compare_pointers(struct code *c, const char *word, struct val a, struct val b)
{
    const bool same = a.kind == VAL_PTR && b.kind == VAL_PTR && a.space == b.space;
    const uint32_t x = same ? pointer_reg(c, a) : pointer_generic(c, a);
    const uint32_t y = same ? pointer_reg(c, b) : pointer_generic(c, b), w = c->regs[x].width;
    const bool equality = !strcmp(word, "eq") || !strcmp(word, "ne");
    return val_reg(
        PURE(c, 1, code_name(c, "setp.%s.%c%u", word, equality ? 's' : 'u', w), operand_reg(x), operand_reg(y)));
}

static struct val compare_one(struct code *c, const struct ir_inst *x, struct val a, struct val b,
                              const struct ir_type *t)
{
    const char *word = predicate_word(c, x);
    if (t->kind == IR_PTR)
        return compare_pointers(c, word, a, b);
    a = a.kind == VAL_UNDEF ? val_bits(0) : a;
    b = b.kind == VAL_UNDEF ? val_bits(0) : b;
    if (x->op == OP_fcmp)
        return val_reg(
            PURE(c, 1, code_name(c, "setp.%s.%s", word, float_type(c, t)), value_use(c, a, t), value_use(c, b, t)));
    if (t->bits == 1)
        return compare_predicates(c, x, a, b);
    const bool is_signed = x->word.p[0] == 's', equality = x->word.p[0] == 'e' || x->word.p[0] == 'n';
    const uint32_t w = width_of(c, t);
    const bool extend_signed = is_signed || (equality && t->bits == w);
    return val_reg(PURE(c, 1, code_name(c, "setp.%s.%c%u", word, is_signed || equality ? 's' : 'u', w),
                        value_extended(c, a, t, extend_signed), value_extended(c, b, t, extend_signed)));
}

void select_compare(struct code *c, const struct ir_inst *x)
{
    uint32_t n;
    const struct ir_leaf *leaves = ir_leaves(c->m, x->args[0].type, &n);
    const struct vals a = vals_of(c, &x->args[0]), b = vals_of(c, &x->args[1]);
    struct vals out = value_list(c, n);
    for (uint32_t i = 0; i < n; i++)
        out.items[i] = compare_one(c, x, a.items[i], b.items[i], leaves[i].type);
    value_set(c, x, out.items, n);
}

// --- Choices ---

static struct val choose_predicate(struct code *c, struct val if_so, struct val a, struct val b)
{
    const struct val not_so = predicate_binary(c, OP_xor, if_so, val_bits(1));
    return predicate_binary(c, OP_or, predicate_binary(c, OP_and, if_so, a), predicate_binary(c, OP_and, not_so, b));
}

static struct val choose(struct code *c, const struct ir_inst *x, struct val if_so, struct val a, struct val b,
                         const struct ir_type *t)
{
    if (if_so.kind != VAL_REG)
        return if_so.bits ? a : b;
    if (a.kind == VAL_UNDEF || b.kind == VAL_UNDEF)
        return a.kind == VAL_UNDEF ? b : a;
    if (ir_is_int(t, 1))
        return choose_predicate(c, if_so, a, b);
    const struct operand by = operand_reg(if_so.reg);
    if (t->kind == IR_PTR) {
        const uint32_t space = space_of(c, x), p = pointer_reg(c, pointer_to_space(c, a, space)),
                       q = pointer_reg(c, pointer_to_space(c, b, space));
        const uint32_t w = pointer_width(space);
        return val_pointer(PURE(c, w, code_name(c, "selp.b%u", w), operand_reg(p), operand_reg(q), by), space);
    }
    const struct ir_type *bits = ir_int(c->m, t->bits);  // a constant of any type is its bits here
    return val_reg(PURE(c, width_of(c, t), code_name(c, "selp.b%u", width_of(c, t)), value_use(c, a, bits),
                        value_use(c, b, bits), by));
}

void select_choice(struct code *c, const struct ir_inst *x)
{
    uint32_t n;
    const struct ir_leaf *leaves = ir_leaves(c->m, x->type, &n);
    const struct vals by = vals_of(c, &x->args[0]), a = vals_of(c, &x->args[1]), b = vals_of(c, &x->args[2]);
    struct vals out = value_list(c, n);
    if (a.count < n || b.count < n)
        ir_fail(c->m, "the IR chooses between values of different types");
    for (uint32_t i = 0; i < n; i++)
        out.items[i] = choose(c, x, by.items[by.count == n ? i : 0], a.items[i], b.items[i], leaves[i].type);
    value_set(c, x, out.items, n);
}
