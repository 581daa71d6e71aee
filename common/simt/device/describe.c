// What modules, kernels, variables and instructions say of themselves: simt/simt.h.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "state.h"

// --- modules and kernels ---

struct simt_module_about simt_module_about(const struct simt_module *m)
{
    struct simt_module_about a = { .file = m->ptx->file, .kernels = m->n_kernels };
    snprintf(a.version, sizeof a.version, "%.*s", (int)m->ptx->version.n, m->ptx->version.p);
    snprintf(a.target, sizeof a.target, "%.*s", (int)m->ptx->target.n, m->ptx->target.p);
    return a;
}

struct simt_kernel *simt_kernel_at(struct simt_module *m, uint32_t i)
{
    return i < m->n_kernels ? &m->kernels[i] : NULL;
}

struct simt_kernel *simt_kernel(struct simt_module *m, const char *name)
{
    for (uint32_t i = 0; i < m->n_kernels; i++)
        if (str_is(m->kernels[i].func->name, name))
            return &m->kernels[i];
    return NULL;
}

struct simt_kernel *simt_kernel_search(struct simt_module *m, const char *name, char error[DEV_ERROR_MAX])
{
    const int64_t i = names_kernel(m, name, error);
    return i < 0 ? NULL : &m->kernels[i];
}

// A kernel's error without the place at its beginning.
static const char *reason_of(const struct simt_kernel *k)
{
    const char *why = k->error, *file = k->module->ptx->file;
    if (!why || !text_begins(why, file))
        return why;
    why += strlen(file);
    while (*why && strchr(":0123456789", *why))
        why++;
    return *why == ' ' ? why + 1 : k->error;
}

static const char *dynamic_of(const struct code *c)
{
    for (uint32_t i = 0; c && i < c->n_shared_vars; i++)
        if (!c->shared_vars[i].bytes)
            return c->shared_vars[i].name;
    return NULL;
}

struct simt_kernel_about simt_kernel_about(const struct simt_kernel *k)
{
    return (struct simt_kernel_about){ .name = k->name,
                                       .error = k->code ? NULL : k->error,
                                       .reason = k->code ? NULL : reason_of(k),
                                       .read = !k->func->error,
                                       .max_threads = k->func->max_threads,
                                       .shared = k->code ? k->code->shared_bytes : 0,
                                       .local = k->code ? k->code->local_bytes : 0,
                                       .parameters = k->func->n_params,
                                       .instructions = k->func->n_insts,
                                       .dynamic = dynamic_of(k->code) };
}

void simt_kernel_caret(const struct simt_kernel *k, char *out, size_t size)
{
    ptx_caret(k->module->ptx, k->error_at, out, size);
}

// --- parameters and variables ---

struct simt_type simt_type_of(enum ptx_type t)
{
    const bool real = t >= PTX_F16 && t <= PTX_F64, whole = t >= PTX_U8 && t <= PTX_S64;
    return (struct simt_type){ ptx_type_name(t),
                               real    ? SIMT_FLOAT
                               : whole ? SIMT_INTEGER
                                       : SIMT_BITS,
                               t == PTX_PRED ? 1 : ptx_type_bytes(t) };
}

bool simt_parameter(const struct simt_kernel *k, uint32_t i, struct simt_parameter *out)
{
    if (i >= k->func->n_params)
        return false;
    const struct ptx_var *v = &k->module->ptx->vars[k->func->params[i]];
    *out = (struct simt_parameter){ .type = simt_type_of(v->type),
                                    .scalar = v->bytes == ptx_type_bytes(v->type),
                                    .bytes = v->bytes,
                                    .align = v->align,
                                    .at = param_at(k, i) };
    return true;
}

static void describe_variable(const struct simt_module *m, uint32_t i, struct simt_variable *out)
{
    const struct ptx_var *v = &m->ptx->vars[i];
    *out = (struct simt_variable){ .type = simt_type_of(v->type),
                                   .scalar = v->bytes == ptx_type_bytes(v->type),
                                   .constant = v->space == SPACE_CONST,
                                   .bytes = v->bytes,
                                   .address = m->globals[i],
                                   .initial = v->init,
                                   .initial_bytes = v->init_bytes,
                                   .n_pointers = v->n_pointers };
    snprintf(out->name, sizeof out->name, "%.*s", (int)(v->name.n < sizeof out->name ? v->name.n : 0), v->name.p);
}

bool simt_variable_at(const struct simt_module *m, uint32_t i, struct simt_variable *out)
{
    for (uint32_t k = 0; k < m->ptx->n_vars; k++) {
        if (!m->globals[k] || m->ptx->vars[k].local || i--)
            continue;
        describe_variable(m, k, out);
        return true;
    }
    return false;
}

bool simt_variable_search(struct simt_module *m, const char *name, struct simt_variable *out, char error[DEV_ERROR_MAX])
{
    const int64_t i = names_variable(m, name, error);
    if (i >= 0)
        describe_variable(m, (uint32_t)i, out);
    return i >= 0;
}

static bool names_address(const struct simt_module *m, const struct ptx_operand *o, uint64_t address)
{
    bool names = o->var >= 0 && m->globals[o->var] == address;
    for (uint32_t i = 0; i < o->count && !names; i++)
        names = names_address(m, &o->list[i], address);
    return names;
}

bool simt_kernel_uses(const struct simt_kernel *k, uint64_t address)
{
    for (uint32_t i = 0; i < k->func->n_insts; i++)
        for (uint32_t o = 0; o < k->func->insts[i].n_operands; o++)
            if (names_address(k->module, &k->func->insts[i].operand[o], address))
                return true;
    return false;
}

// --- instructions ---

bool simt_instruction(const struct simt_kernel *k, uint32_t i, struct simt_instruction *out)
{
    if (i >= k->func->n_insts)
        return false;
    const struct ptx_inst *in = &k->func->insts[i];
    *out = (struct simt_instruction){ .text = in->at,
                                      .op = in->op.p,
                                      .text_bytes = (uint32_t)strcspn(in->at, ";"),
                                      .op_bytes = in->op.n,
                                      .ptx_line = ptx_line(k->module->ptx, in->at),
                                      .target = SIMT_NO_INSTRUCTION,
                                      .guard = (uint32_t)in->guard,
                                      .unless = in->guard_negated };
    for (uint32_t operand = 0; operand < in->n_operands; operand++)
        if (in->operand[operand].kind == OPND_LABEL)
            out->target = in->operand[operand].target;
    return true;
}

bool simt_instruction_place(const struct simt_kernel *k, uint32_t i, uint32_t place, struct simt_place *out)
{
    const struct ptx_module *m = k->module->ptx;
    const struct ptx_loc *loc = i < k->func->n_insts ? ptx_loc_of(m, &k->func->insts[i]) : NULL;
    for (; loc && place; place--)
        loc = ptx_caller(m, loc);
    if (loc)
        *out = (struct simt_place){ ptx_source_name(m, loc->file), loc->line };
    return loc;
}

bool simt_register(const struct simt_kernel *k, uint32_t i, struct simt_register *out)
{
    if (i >= k->func->n_regs)
        return false;
    const struct ptx_reg *r = &k->func->regs[i];
    out->type = simt_type_of(r->type);
    if (r->ranged)
        snprintf(out->name, sizeof out->name, "%.*s%u", (int)r->name.n, r->name.p, r->number);
    else
        snprintf(out->name, sizeof out->name, "%.*s", (int)r->name.n, r->name.p);
    return true;
}

int64_t simt_register_number(const struct simt_kernel *k, const char *name)
{
    for (uint32_t i = 0; i < k->func->n_regs; i++) {
        const struct ptx_reg *r = &k->func->regs[i];
        char *end;
        const bool begins = !strncmp(name, r->name.p, r->name.n);
        const char *rest = begins ? name + r->name.n : name;
        if (begins && (r->ranged ? strtoul(rest, &end, 10) == r->number && end != rest && !*end : !*rest))
            return i;
    }
    return -1;
}
