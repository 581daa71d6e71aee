// What the inliner reads and makes instructions with: calls and whom they name, new registers and instructions,
// refusals.
#include <string.h>

#include "inline.h"

bool inline_refuse(struct inliner *x, const char *at, const char *why, struct str name)
{
    *x->at = at;
    ptx_error_at(x->m, at, x->error, "%.*s: %s", (int)(name.n < 80 ? name.n : 80), name.p, why);
    return false;
}

bool inline_out_of_memory(struct inliner *x, const struct ptx_func *f)
{
    return inline_refuse(x, f->name.p, "out of memory", f->name);
}

int64_t ptx_find_function(const struct ptx_module *m, struct str name)
{
    for (uint32_t i = 0; i < m->n_funcs; i++)
        if (m->funcs[i].name.n == name.n && !memcmp(m->funcs[i].name.p, name.p, name.n))
            return i;
    return -1;
}

const struct ptx_func *inline_find(const struct ptx_module *m, struct str name)
{
    const int64_t i = ptx_find_function(m, name);
    return i < 0 ? NULL : &m->funcs[i];
}

bool inline_is_call(const struct ptx_inst *in)
{
    return in->op.n >= 4 && !memcmp(in->op.p, "call", 4) && (in->op.n == 4 || in->op.p[4] == '.');
}

bool inline_read_call(const struct ptx_inst *in, struct str *name, const struct ptx_operand **results,
                      const struct ptx_operand **arguments)
{
    uint32_t i = 0;
    *results = *arguments = NULL;
    if (i < in->n_operands && in->operand[i].kind == OPND_GROUP)
        *results = &in->operand[i++];
    if (i == in->n_operands || in->operand[i].kind != OPND_NAME)
        return false;
    *name = in->operand[i++].name;
    if (i < in->n_operands && in->operand[i].kind == OPND_GROUP)
        *arguments = &in->operand[i++];
    return i == in->n_operands;
}

// What the caller of the frame passes, or receives, as this variable of the function; -1: it is neither a parameter nor
// a result.
static int32_t callers_variable(const struct frame *fr, int32_t var)
{
    for (uint32_t i = 0; i < fr->f->n_params; i++)
        if ((int32_t)fr->f->params[i] == var)
            return fr->arguments->list[i].var;
    for (uint32_t i = 0; i < fr->f->n_results; i++)
        if ((int32_t)fr->f->results[i] == var)
            return fr->results->list[i].var;
    return -1;
}

int32_t inline_variable(const struct frame *fr, int32_t var)
{
    for (; var >= 0 && fr->caller; fr = fr->caller) {
        const int32_t outer = callers_variable(fr, var);
        if (outer < 0)
            break;
        var = outer;
    }
    return var;
}

int32_t inline_register(struct inliner *x, enum ptx_type type)
{
    struct ptx_func *out = x->out;
    struct ptx_reg *regs = arena_grow(x->arena, out->regs, out->n_regs, sizeof *regs);
    if (!regs)
        return -1;
    out->regs = regs;
    regs[out->n_regs] = (struct ptx_reg){ .name = { "%call", 5 }, .type = type };
    return (int32_t)out->n_regs++;
}

bool inline_emit(struct inliner *x, const struct ptx_inst *in, const char *op, const struct ptx_operand *list,
                 uint32_t n)
{
    struct ptx_func *out = x->out;
    struct ptx_inst made = {
        .op = { op, (uint32_t)strlen(op) }, .n_operands = n, .guard = -1, .loc = in->loc, .at = in->at
    };
    struct ptx_inst *insts = arena_grow(x->arena, out->insts, out->n_insts, sizeof *insts);
    made.operand = arena_alloc(x->arena, (n + 1) * sizeof *made.operand);
    if (!insts || !made.operand || out->n_insts > INLINE_MAX)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        made.operand[i] = list[i];
        made.operand[i].at = in->at;
    }
    out->insts = insts;
    insts[out->n_insts++] = made;
    return true;
}
