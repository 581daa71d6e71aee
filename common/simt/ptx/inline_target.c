// Calls through a pointer: the pointer is compared with the address of every function that it may hold, which are those
// whose address the file takes and whose parameters have the sizes of the arguments.
#include <string.h>

#include "inline.h"
#include "simt/machine/memory.h"

static void take(struct inliner *x, struct str name)
{
    const int64_t i = ptx_find_function(x->m, name);
    if (i >= 0)
        x->taken[i] = 1;
}

static void take_operand(struct inliner *x, const struct ptx_operand *o)
{
    if (o->kind == OPND_NAME)
        take(x, o->name);
    for (uint32_t i = 0; i < o->count; i++)
        take_operand(x, &o->list[i]);
}

static bool find_taken(struct inliner *x)
{
    const struct ptx_module *m = x->m;
    x->taken = arena_alloc(x->arena, m->n_funcs + 1);
    if (!x->taken)
        return false;
    for (uint32_t i = 0; i < m->n_vars; i++)
        for (uint32_t k = 0; k < m->vars[i].n_pointers; k++)
            take(x, m->vars[i].pointers[k].name);
    for (uint32_t i = 0; i < m->n_funcs; i++)
        for (uint32_t k = 0; k < m->funcs[i].n_insts; k++)
            for (uint32_t j = 0; j < m->funcs[i].insts[k].n_operands && !inline_is_call(&m->funcs[i].insts[k]); j++)
                take_operand(x, &m->funcs[i].insts[k].operand[j]);
    return true;
}

bool inline_is_taken(struct inliner *x, uint32_t function)
{
    return (x->taken || find_taken(x)) && x->taken[function] && !x->m->funcs[function].entry &&
           x->m->funcs[function].body;
}

// call (results), %pointer, (arguments), prototype
static bool read_pointer(const struct ptx_inst *in, const struct ptx_operand **pointer, struct frame *callee)
{
    uint32_t i = 0;
    callee->arguments = callee->results = NULL;
    if (i < in->n_operands && in->operand[i].kind == OPND_GROUP)
        callee->results = &in->operand[i++];
    if (i == in->n_operands || in->operand[i].kind != OPND_REG)
        return false;
    *pointer = &in->operand[i++];
    if (i < in->n_operands && in->operand[i].kind == OPND_GROUP)
        callee->arguments = &in->operand[i++];
    return i + 1 == in->n_operands && in->operand[i].kind == OPND_LABEL;
}

static bool same_sizes(const struct ptx_module *m, const struct ptx_operand *group, const uint32_t *vars, uint32_t n)
{
    if ((group ? group->count : 0) != n)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (group->list[i].kind != OPND_VAR || m->vars[group->list[i].var].bytes != m->vars[vars[i]].bytes)
            return false;
    return true;
}

// if (pointer == address) { the call } else go on behind it
static bool one_target(struct inliner *x, struct frame *callee, const struct ptx_inst *in, int32_t pointer,
                       unsigned depth, uint32_t *jump)
{
    const uint64_t address = memory_of_function((uint64_t)(callee->f - x->m->funcs));
    const int32_t other = inline_register(x, PTX_PRED);
    const struct ptx_operand compare[] = { operand_reg(other), operand_reg(pointer), operand_int(address) };
    const struct ptx_operand nowhere = operand_label(0);
    if (other < 0 || !inline_emit(x, in, "setp.ne.b64", compare, 3) || !inline_emit(x, in, "bra", &nowhere, 1))
        return false;
    const uint32_t skip = x->out->n_insts - 1;
    x->out->insts[skip].guard = other;
    if (!inline_function(x, callee, in, depth) || !inline_emit(x, in, "bra", &nowhere, 1))
        return false;
    *jump = x->out->n_insts - 1;
    x->out->insts[skip].operand[0].target = x->out->n_insts;
    return true;
}

bool inline_pointer(struct inliner *x, struct frame *fr, const struct ptx_inst *in, unsigned depth)
{
    struct frame callee = { .caller = fr, .call = in->loc };
    const struct ptx_operand *pointer;
    const struct ptx_func *caller = fr->f;
    uint32_t n = 0, *jumps = arena_alloc(x->arena, (x->m->n_funcs + 1) * sizeof *jumps);
    if (!jumps)
        return inline_out_of_memory(x, caller);
    if (!read_pointer(in, &pointer, &callee))
        return inline_refuse(x, in->at, "this form of a call through a pointer is not supported", in->op);
    if (ptx_type_bytes(caller->regs[pointer->reg].type) != 8)
        return inline_refuse(x, pointer->at, "a function's address needs a 64-bit register", in->op);
    if (in->guard >= 0)
        return inline_refuse(x, in->at, "a call with a guard is not supported", in->op);
    const int32_t moved = pointer->reg + (int32_t)fr->first_reg;
    for (uint32_t i = 0; i < x->m->n_funcs; i++) {
        const struct ptx_func *f = &x->m->funcs[i];
        if (!inline_is_taken(x, i) || !same_sizes(x->m, callee.arguments, f->params, f->n_params) ||
            !same_sizes(x->m, callee.results, f->results, f->n_results))
            continue;
        struct frame to = callee;
        to.f = f;
        if (!one_target(x, &to, in, moved, depth, &jumps[n++]))
            return *x->error ? false : inline_out_of_memory(x, caller);
    }
    if (!n)
        return inline_refuse(x, in->at, "no function whose address is taken has such parameters", in->op);
    if (!inline_emit(x, in, OP_NO_FUNCTION, NULL, 0))
        return inline_out_of_memory(x, caller);
    for (uint32_t i = 0; i < n; i++)
        x->out->insts[jumps[i]].operand[0].target = x->out->n_insts;
    return true;
}
