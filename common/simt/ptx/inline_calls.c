// Who may call whom: functions whose address is taken, which a call through a pointer may lead to, and functions that
// may call themselves.
#include "inline.h"

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

// --- functions that may call themselves ---

static bool reaches(struct inliner *x, const struct ptx_func *from, const struct ptx_func *target, uint8_t *seen,
                    unsigned depth);

static bool leads_to(struct inliner *x, const struct ptx_func *f, const struct ptx_func *target, uint8_t *seen,
                     unsigned depth)
{
    if (f == target)
        return true;
    if (seen[f - x->m->funcs] || depth > 1000)
        return false;
    seen[f - x->m->funcs] = 1;
    return reaches(x, f, target, seen, depth + 1);
}

// Does a chain of calls in from lead to target?
static bool reaches(struct inliner *x, const struct ptx_func *from, const struct ptx_func *target, uint8_t *seen,
                    unsigned depth)
{
    for (uint32_t i = 0; i < from->n_insts; i++) {
        const struct ptx_operand *results, *arguments;
        struct str name;
        if (!inline_is_call(&from->insts[i]))
            continue;
        if (inline_read_call(&from->insts[i], &name, &results, &arguments)) {
            const struct ptx_func *f = inline_find(x->m, name);
            if (f && f->body && leads_to(x, f, target, seen, depth))
                return true;
            continue;
        }
        for (uint32_t k = 0; k < x->m->n_funcs; k++)
            if (inline_is_taken(x, k) && leads_to(x, &x->m->funcs[k], target, seen, depth))
                return true;
    }
    return false;
}

bool inline_is_recursive(struct inliner *x, const struct ptx_func *f)
{
    uint8_t *known = &x->recursive[f - x->m->funcs];
    if (!*known) {
        uint8_t *seen = arena_alloc(x->arena, x->m->n_funcs + 1);
        *known = seen && reaches(x, f, f, seen, 0) ? 2 : 1;
    }
    return *known == 2;
}
