// See print.h.
#include "irptx/print.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

// --- Instructions ---

static const char *const prefixes[] = { "%p", "%rs", "%r", "%rd" };

static void put_reg(const struct code *c, struct text *t, uint32_t reg)
{
    const uint32_t w = c->regs[reg].width;
    text_put(t, "%s%u", prefixes[w == 1 ? 0 : w == 16 ? 1 : w == 32 ? 2 : 3], c->name_of[reg]);
}

static void put_operand(const struct code *c, struct text *t, const struct operand *o)
{
    if (o->kind == OPERAND_REG)
        put_reg(c, t, o->reg);
    else if (o->kind == OPERAND_INT)
        text_put(t, "%lld", (long long)o->value);
    else if (o->kind == OPERAND_TEXT)
        text_put(t, "%s", o->text);
    if (o->kind != OPERAND_MEMORY)
        return;
    text_put(t, "[");
    if (o->reg)
        put_reg(c, t, o->reg);
    else if (o->text)
        text_put(t, "%s", o->text);
    if (o->value || (!o->reg && !o->text))
        text_put(t, o->reg || o->text ? "+%lld" : "%lld", (long long)o->value);
    text_put(t, "]");
}

// $1, ${1:x} and $$ in a form.
static void put_form(const struct code *c, struct text *t, const struct op *op)
{
    const char *p = op->form;
    while (*p) {
        const size_t plain = strcspn(p, "$");
        text_put(t, "%.*s", (int)plain, p);
        p += plain;
        if (!*p)
            break;
        const bool braces = p[1] == '{';
        if (!braces && !isdigit((unsigned char)p[1])) {
            text_put(t, "$");
            p += p[1] == '$' ? 2 : 1;
            continue;
        }
        char *end;
        const unsigned long n = strtoul(p + 1 + braces, &end, 10);
        if (n >= op->arg_count)
            ir_fail(c->m, "inline assembly names an operand that it has not");
        put_operand(c, t, &op->args[n]);
        p = braces ? end + strcspn(end, "}") + 1 : end;
    }
}

static void put_op(const struct code *c, struct text *t, const struct op *op)
{
    if (op->form && !op->form[strspn(op->form, " \t\n;")])  // asm volatile("" ::: "memory")
        return;
    text_put(t, "\t");
    if (op->form) {
        put_form(c, t, op);
        text_put(t, "\n");
        return;
    }
    text_put(t, "%s", op->name);
    for (uint32_t i = 0; i < op->arg_count; i++) {
        const struct operand *o = &op->args[i];
        text_put(t, "%s%s", i ? ", " : " \t", o->open ? "{" : "");
        put_operand(c, t, o);
        if (o->close)
            text_put(t, "}");
    }
    text_put(t, ";\n");
}

// --- Blocks ---

static void put_jump(const struct code *c, struct text *t, uint32_t to, uint32_t next)
{
    if (to != next)
        text_put(t, "\tbra.uni \t$L_%s_%u;\n", c->name, to);
}

static void put_end(const struct code *c, struct text *t, const struct code_block *b, uint32_t next)
{
    if (b->end != END_GO) {
        text_put(t, b->end == END_RETURN ? "\tret;\n" : "\ttrap;\n");
        return;
    }
    for (uint32_t i = 0; i < b->edge_count; i++) {
        const bool last = i + 1 == b->edge_count, other = last && b->edges[i].to == next;
        text_put(t, "\t@%s", other ? "!" : "");
        put_reg(c, t, b->edges[i].reg);
        text_put(t, " bra \t$L_%s_%u;\n", c->name, other ? b->to : b->edges[i].to);
        if (other)
            return;
    }
    put_jump(c, t, b->to, next);
}

static bool *find_targets(const struct code *c)
{
    bool *is_target = ir_new(c->m, c->block_count);
    for (uint32_t i = 0; i < c->order_count; i++) {
        const struct code_block *b = &c->blocks[c->order[i]];
        for (uint32_t k = 0; k < b->edge_count; k++)
            is_target[b->edges[k].to] = true;
        if (b->end == END_GO)
            is_target[b->to] = true;
    }
    return is_target;
}

static void put_blocks(const struct code *c, struct text *t, struct lines *l)
{
    const bool *is_target = find_targets(c);
    for (uint32_t i = 0; i < c->order_count; i++) {
        const struct code_block *b = &c->blocks[c->order[i]];
        if (is_target[c->order[i]])
            text_put(t, "\n$L_%s_%u:\n", c->name, c->order[i]);
        for (uint32_t k = 0; k < b->op_count; k++) {
            lines_put(l, t, b->ops[k].line);
            put_op(c, t, &b->ops[k]);
        }
        lines_put(l, t, b->line);
        put_end(c, t, b, i + 1 < c->order_count ? c->order[i + 1] : UINT32_MAX);
    }
}

// --- Functions ---

void print_param(struct text *t, const struct ir_type *type, uint32_t align, const char *name, int number)
{
    const bool scalar =
        type->kind == IR_INT || type->kind == IR_FLOAT || type->kind == IR_BFLOAT || type->kind == IR_PTR;
    if (scalar && type->bits <= 64)
        text_put(t, ".param .b%u %s", type->bits > 32 ? 64 : 32, name);
    else
        text_put(t, ".param .align %u .b8 %s", align > ir_align(type) ? align : ir_align(type), name);
    if (number >= 0)
        text_put(t, "%d", number);
    if (!scalar || type->bits > 64)
        text_put(t, "[%llu]", (unsigned long long)ir_size(type));
}

static void put_kernel_param(const struct code *c, struct text *t, uint32_t i)
{
    const struct ir_param *p = &c->f->params[i];
    const struct ir_type *type = p->byval ? p->byval : p->type;
    uint32_t bits = 8;
    while (bits < type->bits)
        bits *= 2;
    const bool scalar = type->kind <= IR_PTR && bits <= 64 && !p->byval;
    if (scalar) {
        text_put(t, "\t.param .%c%u %s_param_%u",
                 type->kind == IR_FLOAT && bits > 16  ? 'f'
                 : bits == 16 && type->kind != IR_INT ? 'b'
                                                      : 'u',
                 bits, c->name, i);
        return;
    }
    const uint32_t align = p->align > ir_align(type) ? p->align : ir_align(type);
    text_put(t, "\t.param .align %u .b8 %s_param_%u[%llu]", align, c->name, i, (unsigned long long)ir_size(type));
}

static void put_limits(const struct code *c, struct text *t)
{
    static const char *const limits[][2] = {
        { "nvvm.maxntid", ".maxntid" },
        { "nvvm.reqntid", ".reqntid" },
        { "nvvm.cluster_dim", ".reqnctapercluster" },
        { "nvvm.maxclusterrank", ".maxclusterrank" },
        { "nvvm.minctasm", ".minnctapersm" },
        { "nvvm.maxnreg", ".maxnreg" },
    };
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        const struct str value = ir_attribute(c->m, c->f, limits[i][0]);
        if (value.n)
            text_put(t, "%s %.*s\n", limits[i][1], (int)value.n, value.p);
    }
}

static void put_head(const struct code *c, struct text *t)
{
    const struct ir_function *f = c->f;
    text_put(t, "\n%s%s ", f->symbol->internal ? "" : ".visible ", f->kernel ? ".entry" : ".func");
    if (f->result->kind != IR_VOID) {
        text_put(t, "(");
        print_param(t, f->result, 0, ir_text(c->m, "%s_ret", c->name), -1);
        text_put(t, ") ");
    }
    text_put(t, "%s(\n", c->name);
    for (uint32_t i = 0; i < f->param_count; i++) {
        if (f->kernel) {
            put_kernel_param(c, t, i);
        } else {
            text_put(t, "\t");
            print_param(t, f->params[i].byval ? f->params[i].byval : f->params[i].type, f->params[i].align,
                        ir_text(c->m, "%s_param_", c->name), (int)i);
        }
        text_put(t, i + 1 < f->param_count ? ",\n" : "\n");
    }
    text_put(t, ")\n");
    put_limits(c, t);
}

void print_function(struct code *c, struct text *t, struct lines *l)
{
    static const char *const types[] = { "pred", "b16", "b32", "b64" };
    c->m->statement = NULL;
    put_head(c, t);
    text_put(t, "{\n");
    for (int i = 0; i < 4; i++)
        if (c->names[i])
            text_put(t, "\t.reg .%s \t%s<%u>;\n", types[i], prefixes[i], c->names[i] + 1);
    if (c->local_bytes)
        text_put(t, "\t.local .align %u .b8 \t%s[%llu];\n", c->local_align, c->local_name,
                 (unsigned long long)c->local_bytes);
    lines_function(l, t, c->f->line);
    put_blocks(c, t, l);
    text_put(t, "}\n");
}

// A function that is called is declared before all others, for it may be defined below, or elsewhere.
void print_declarations(struct ir_module *m, struct text *t)
{
    for (uint32_t i = 0; i < m->symbol_count; i++) {
        const struct ir_inst *call = m->symbols[i]->call;
        if (!call)
            continue;
        text_put(t, "%s.func ", m->symbols[i]->external ? ".extern " : m->symbols[i]->internal ? "" : ".visible ");
        if (call->type->kind != IR_VOID) {
            text_put(t, "(");
            print_param(t, call->type, 0, "ret", -1);
            text_put(t, ") ");
        }
        text_put(t, "%s(", m->symbols[i]->ptx);
        for (uint32_t k = 0; k < call->arg_count; k++) {
            text_put(t, k ? ", " : "");
            print_param(t, call->args[k].byval ? call->args[k].byval : call->args[k].type, call->args[k].byval_align,
                        ir_text(m, "%s_param_", m->symbols[i]->ptx), (int)k);
        }
        text_put(t, ");\n");
    }
}
