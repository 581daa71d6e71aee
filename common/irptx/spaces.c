// Which memory a pointer points to. Most pointers of CUDA are generic; an access through one that is known to point to
// shared or global memory becomes one of that memory, as nvcc makes it.
//
// A pointer takes the space of what it is made of. Around loops that is assumed at first: a phi takes the space of what
// it gets from outside, and becomes generic when something else flows into it. Spaces only go from unknown to one and
// from there to generic, so this ends.
#include "irptx/select.h"

static int space_of_value(const struct code *c, const struct ir_value *v)
{
    if (v->local)
        return c->spaces[v->local];
    const struct ir_scalar *s = v->count ? &v->scalars[0] : NULL;
    if (!s || s->kind != SCALAR_ADDRESS)
        return -1;  // null points nowhere, so it fits any space
    return (int)(s->symbol->space ? s->symbol->space : SPACE_GLOBAL);
}

static int meet(int a, int b)
{
    return a < 0 ? b : b < 0 || a == b ? a : SPACE_GENERIC;
}

static int space_of_result(const struct code *c, const struct ir_inst *x)
{
    int space = -1;
    if (x->type->space)
        return (int)x->type->space;
    switch (x->op) {
    case OP_alloca:
        return SPACE_LOCAL;
    case OP_getelementptr:
    case OP_addrspacecast:
    case OP_freeze:
        return space_of_value(c, &x->args[0]);
    case OP_phi:
    case OP_select:
        for (uint32_t i = x->op == OP_select; i < x->arg_count; i++)
            space = meet(space, space_of_value(c, &x->args[i]));
        return space;
    default:
        return SPACE_GENERIC;
    }
}

static void find_params(struct code *c)
{
    for (uint32_t i = 0; i < c->f->param_count; i++) {
        const struct ir_param *p = &c->f->params[i];
        if (p->type->kind != IR_PTR)
            continue;
        const uint32_t unnamed = c->f->kernel ? (p->byval ? SPACE_PARAM : SPACE_GLOBAL)
                                 : p->byval   ? SPACE_LOCAL
                                              : SPACE_GENERIC;
        c->spaces[i + 1] = (int)(p->type->space ? p->type->space : unnamed);
    }
}

void find_spaces(struct code *c)
{
    find_params(c);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 1; i < c->f->local_count; i++) {
            const struct ir_inst *x = c->defs[i];
            if (!x || x->type->kind != IR_PTR)
                continue;
            const int space = space_of_result(c, x);
            changed |= space != c->spaces[i];
            c->spaces[i] = space;
        }
    }
}
