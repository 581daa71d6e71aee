// Calls: of functions that were not inlined, by the rules of PTX (.param space), and of what the language has built in.
#include "irptx/select.h"

#include <ctype.h>
#include <string.h>

#include "irptx/print.h"

// --- Parameters ---

uint32_t param_bits(const struct ir_type *all, const struct ir_type *part)
{
    const bool scalar = all == part;
    uint32_t bits = scalar ? 32 : 8;
    while (bits < part->bits)
        bits *= 2;
    return bits;
}

uint32_t param_widened(struct code *c, struct val v, const struct ir_type *t, uint32_t bits)
{
    v = value_plain(c, v, t);
    if (t->kind != IR_INT || t->bits > 16) {
        const uint32_t reg = value_reg(c, v, t);
        return c->regs[reg].width >= bits ? reg : PURE(c, 32, "cvt.u32.u16", operand_reg(reg));
    }
    if (t->bits == 1 && v.kind == VAL_REG)
        return PURE(c, bits < 16 ? 16 : bits, code_name(c, "selp.b%u", bits < 16 ? 16 : bits), operand_int(1),
                    operand_int(0), operand_reg(v.reg));
    const struct operand o = value_extended(c, v, t, false);
    const uint32_t reg = o.kind == OPERAND_REG ? o.reg : PURE(c, 16, "mov.b16", o);
    return bits > 16 ? PURE(c, bits, code_name(c, "cvt.u%u.u16", bits), operand_reg(reg)) : reg;
}

struct val param_narrowed(struct code *c, uint32_t reg, const struct ir_type *t)
{
    const uint32_t w = c->regs[reg].width;
    if (t->kind == IR_PTR)
        return pointer_from(c, reg, t->space);
    if (t->bits == 1) {
        const uint32_t low = PURE(c, w, code_name(c, "and.b%u", w), operand_reg(reg), operand_int(1));
        return val_reg(PURE(c, 1, code_name(c, "setp.ne.s%u", w), operand_reg(low), operand_int(0)));
    }
    return val_reg(w == width_of(c, t) ? reg : PURE(c, 16, "cvt.u16.u32", operand_reg(reg)));
}

// --- Functions ---

struct call {
    struct text text;
    struct operand *args;
    uint32_t count;
};

static void add_operand(struct code *c, struct call *call, struct operand o)
{
    call->args = ir_grow(c->m, call->args, call->count, sizeof *call->args);
    call->args[call->count++] = o;
}

static void pass_argument(struct code *c, struct call *call, uint32_t number, const struct ir_value *v)
{
    const struct ir_type *type = v->byval ? v->byval : v->type;
    uint32_t n;
    const struct ir_leaf *leaves = ir_leaves(c->m, type, &n);
    struct vals from = v->byval ? value_list(c, n) : vals_of(c, v);
    if (v->byval)
        load_scalars(c, value_one(c, v), type, ir_align(type), "", from.items);
    text_put(&call->text, "\t");
    print_param(&call->text, type, v->byval_align, "arg", (int)number);
    text_put(&call->text, ";\n");
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t bits = param_bits(type, leaves[i].type);
        const uint32_t reg = param_widened(c, from.items[i], leaves[i].type, bits);
        text_put(&call->text, "\tst.param.b%u [arg%u+%llu], $%u;\n", bits, number, (unsigned long long)leaves[i].at,
                 call->count);
        add_operand(c, call, operand_reg(reg));
    }
}

static void take_result(struct code *c, struct call *call, const struct ir_inst *x, struct vals *out)
{
    const struct ir_leaf *leaves = ir_leaves(c->m, x->type, &out->count);
    *out = value_list(c, out->count);
    for (uint32_t i = 0; i < out->count; i++) {
        const uint32_t bits = param_bits(x->type, leaves[i].type), reg = code_reg(c, bits < 16 ? 16 : bits);
        text_put(&call->text, "\tld.param.b%u $%u, [ret+%llu];\n", bits, call->count, (unsigned long long)leaves[i].at);
        add_operand(c, call, operand_def(reg));
        out->items[i] = val_reg(reg);
    }
}

static void call_function(struct code *c, const struct ir_inst *x)
{
    struct call call = { .text = { .m = c->m } };
    struct vals out = { 0 };
    text_put(&call.text, "{\n");
    for (uint32_t i = 0; i < x->arg_count; i++)
        pass_argument(c, &call, i, &x->args[i]);
    const bool result = x->type->kind != IR_VOID;
    if (result) {
        text_put(&call.text, "\t");
        print_param(&call.text, x->type, 0, "ret", -1);
        text_put(&call.text, ";\n");
    }
    text_put(&call.text, "\tcall.uni %s", result ? "(ret), " : "");
    for (const char *p = x->callee->ptx; *p; p++)
        text_put(&call.text, *p == '$' ? "$$" : "%c", *p);
    text_put(&call.text, ", (");
    for (uint32_t i = 0; i < x->arg_count; i++)
        text_put(&call.text, "%sarg%u", i ? ", " : "", i);
    text_put(&call.text, ");\n");
    if (result)
        take_result(c, &call, x, &out);
    text_put(&call.text, "\t}");
    struct op *op = code_emit(c, "", call.args, call.count);
    op->form = call.text.p;
    op->access.kind = ACCESS_FENCE;
    struct ir_symbol *callee = (struct ir_symbol *)x->callee;  // it has to be declared
    callee->call = x;
    const struct ir_leaf *leaves = ir_leaves(c->m, x->type, &out.count);
    for (uint32_t i = 0; i < out.count; i++)
        out.items[i] = param_narrowed(c, out.items[i].reg, leaves[i].type);
    value_set(c, x, out.items, out.count);
}

// --- What is built in ---

// Whether a part of an intrinsic's name is one of the types that end it: i32, v2f16, p0, bf16.
static bool is_type_part(const char *p, const char *end)
{
    if (*p == 'v' && p + 1 < end && isdigit((unsigned char)p[1]))
        for (p++; p < end && isdigit((unsigned char)*p);)
            p++;
    if (end - p > 1 && *p == 'b' && p[1] == 'f')
        p++;
    if (end - p < 2 || !strchr("ifp", *p))
        return false;
    for (p++; p < end; p++)
        if (!isdigit((unsigned char)*p))
            return false;
    return true;
}

// llvm.usub.sat.i32: usub.sat
static struct str base_name(struct str name)
{
    for (;;) {
        uint32_t dot = name.n;
        while (dot && name.p[dot - 1] != '.')
            dot--;
        if (!dot || !is_type_part(name.p + dot, name.p + name.n))
            return name;
        name.n = dot - 1;
    }
}

static void each_scalar(struct code *c, const struct ir_inst *x, struct str name)
{
    uint32_t n;
    const struct ir_leaf *leaves = ir_leaves(c->m, x->type, &n);
    struct vals out = value_list(c, n), args[8];
    if (x->arg_count > 8)
        ir_fail(c->m, "llvm.%.*s is not known", (int)name.n, name.p);
    for (uint32_t k = 0; k < x->arg_count; k++)
        args[k] = vals_of(c, &x->args[k]);
    for (uint32_t i = 0; i < n; i++) {
        struct val one[8];
        for (uint32_t k = 0; k < x->arg_count; k++)
            one[k] = args[k].items[args[k].count == n ? i : 0];
        out.items[i] = select_intrinsic(c, x, name, one, leaves[i].type);
    }
    value_set(c, x, out.items, n);
}

void select_call(struct code *c, const struct ir_inst *x)
{
    static const char *const ignored[] = { "lifetime.", "dbg.",     "assume", "experimental.noalias",
                                           "prefetch",  "donothing" };
    if (!x->callee) {
        select_assembly(c, x);
        return;
    }
    if (!str_begins(x->callee->name, "llvm.")) {
        call_function(c, x);
        return;
    }
    const struct str name = { x->callee->name.p + 5, x->callee->name.n - 5 };
    for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++)
        if (str_begins(name, ignored[i]))
            return;
    if (str_begins(name, "memcpy.") || str_begins(name, "memmove.") || str_begins(name, "memset.")) {
        select_block_copy(c, x, str_begins(name, "memset.") ? "memset" : name.p[3] == 'c' ? "memcpy" : "memmove");
        return;
    }
    if (str_is(name, "trap") || str_is(name, "debugtrap")) {
        code_emit(c, str_is(name, "trap") ? "trap" : "brkpt", NULL, 0);
        return;
    }
    if (!str_begins(name, "nvvm.")) {
        each_scalar(c, x, base_name(name));
        return;
    }
    const char *nvvm = ir_text(c->m, "%.*s", (int)name.n - 5, name.p + 5);
    if (!select_nvvm(c, x, nvvm) && !select_wmma(c, x, nvvm))
        ir_fail(c->m, "llvm.nvvm.%s is not known", nvvm);
}
