// Inline assembly, in which CUDA's kernels say what C++ has no word for. Its text stays; the operands in it become
// registers. An operand that is read and written ("+f") is an output and an input of the same register, which gets the
// value before: coalescing (coalesce.c) takes that copy away where it can, and must where the tensor cores are still
// writing the register.
#include "irptx/lex.h"
#include "irptx/select.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { ASSEMBLY_MAX = 512 };  // operands

struct assembly {
    struct operand all[2 * ASSEMBLY_MAX];  // as the text counts them, then those that are only kept alive
    uint32_t count, hidden, outputs, inputs;
    struct operand tied[ASSEMBLY_MAX];
    bool memory;
};

static void add_output(struct code *c, const struct ir_inst *x, struct assembly *a)
{
    uint32_t n;
    const struct ir_leaf *leaves = ir_leaves(c->m, x->type, &n);
    if (a->outputs >= n)
        ir_fail(c->m, "inline assembly with an output in memory is not known");
    a->all[a->count++] = operand_def(code_reg(c, width_of(c, leaves[a->outputs++].type)));
}

static void add_input(struct code *c, const struct ir_inst *x, struct assembly *a, struct str constraint)
{
    if (a->inputs >= x->arg_count)
        ir_fail(c->m, "inline assembly with too few operands");
    const struct ir_value *v = &x->args[a->inputs++];
    const struct val plain = value_plain(c, value_one(c, v), v->type);
    if (isdigit((unsigned char)constraint.p[0])) {
        const uint32_t output = (uint32_t)strtoul(constraint.p, NULL, 10);
        if (output >= a->outputs)
            ir_fail(c->m, "inline assembly with an operand tied to none");
        const struct operand to = a->all[output], from = value_use(c, plain, ir_int(c->m, v->type->bits));
        struct op *copy = EMIT(c, code_name(c, "mov.b%u", c->regs[to.reg].width), to, from);
        copy->effect = EFFECT_IF_USED;
        copy->copy = from.kind == OPERAND_REG;
        a->all[a->count++] = operand_reg(to.reg);
        a->tied[a->hidden] = operand_reg(to.reg);
        a->tied[a->hidden++].hidden = true;
    } else if (constraint.p[0] == 'n' || constraint.p[0] == 'i') {
        a->all[a->count++] = value_use(c, plain, v->type);
    } else {
        a->all[a->count++] = operand_reg(value_reg(c, plain, v->type));
    }
}

static void add_operands(struct code *c, const struct ir_inst *x, struct assembly *a)
{
    const char *p = x->constraints.p, *end = p + x->constraints.n;
    while (p < end) {
        const char *comma = memchr(p, ',', (size_t)(end - p));
        struct str one = { p, (uint32_t)((comma ? comma : end) - p) };
        if (a->count == ASSEMBLY_MAX)
            ir_fail(c->m, "inline assembly of more than %d operands is not known", ASSEMBLY_MAX);
        if (*p == '~')
            a->memory |= str_is(one, "~{memory}");
        else if (*p == '=')
            add_output(c, x, a);
        else
            add_input(c, x, a, one);
        p = comma ? comma + 1 : end;
    }
}

// The text with a ; at its end, if it has neither that nor a }.
static const char *form_of(struct code *c, struct str text)
{
    uint32_t n;
    const char *form = ll_unescape(c->m, text, &n);
    uint32_t last = n;
    while (last && isspace((unsigned char)form[last - 1]))
        last--;
    return !last || form[last - 1] == ';' || form[last - 1] == '}' ? form : ir_text(c->m, "%s;", form);
}

void select_assembly(struct code *c, const struct ir_inst *x)
{
    struct assembly *a = ir_new(c->m, sizeof *a);
    add_operands(c, x, a);
    for (uint32_t i = 0; i < a->hidden; i++)
        a->all[a->count++] = a->tied[i];
    const char *form = form_of(c, x->assembly);
    struct op *op = code_emit(c, "", a->all, a->count);
    op->form = form;
    if (!x->effect && !a->memory && a->outputs)
        op->effect = EFFECT_IF_USED;
    else
        op->access.kind = ACCESS_FENCE;
    uint32_t n;
    const struct ir_leaf *leaves = ir_leaves(c->m, x->type, &n);
    struct vals out = value_list(c, n);
    for (uint32_t i = 0; i < n && i < a->outputs; i++)
        out.items[i] = leaves[i].type->kind == IR_PTR ? pointer_from(c, a->all[i].reg, leaves[i].type->space)
                                                      : val_reg(a->all[i].reg);
    value_set(c, x, out.items, n);
}
