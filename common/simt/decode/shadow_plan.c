// See shadow_plan.h.
#include "shadow_plan.h"

#include <string.h>

#include "merge.h"
#include "shadow_rules.h"

#define MOVE_PASSES 16  // over the code, until nothing changes

static void give(struct plan *p, uint32_t v)
{
    if (v == NO_VREG || p->has[v] || p->x->vregs[v].constant)
        return;
    p->has[v] = true;
    p->stack[p->n_stack++] = v;
}

static void give_if_def(void *context, uint32_t *vreg, bool is_def)
{
    if (is_def)
        give(context, *vreg);
}

bool shadow_plan_may_find(const struct plan *p, enum ptx_space space)
{
    return (p->local && (space == SPACE_LOCAL || space == SPACE_GENERIC)) ||
           (p->shared && (space == SPACE_SHARED || space == SPACE_GENERIC)) ||
           (p->global && (space == SPACE_GLOBAL || space == SPACE_GENERIC));
}

static void give_to_loads(struct plan *p)
{
    for (uint32_t i = 0; i < p->n_uops; i++)
        if (p->uops[i].kind == UOP_LOAD && shadow_plan_may_find(p, p->uops[i].mem->space))
            visit_operands(&p->uops[i], give_if_def, p);
}

// A store of a register with shadows.
static void taint(struct plan *p, enum ptx_space space)
{
    const bool shared = space == SPACE_SHARED || space == SPACE_GENERIC;
    const bool global = space == SPACE_GLOBAL || space == SPACE_GENERIC;
    if ((p->shared || !shared) && (p->global || !global))
        return;
    p->shared |= shared;
    p->global |= global;
    give_to_loads(p);
}

static bool stores(const struct memop *m, uint32_t v)
{
    for (uint32_t i = 0; i < m->n; i++)
        if (m->reg_class[i] != SLOT_NONE && m->reg[i] == v)
            return true;
    return false;
}

bool shadow_plan_exchanges(const struct warpop *op)
{
    return op->kind == WARP_shuffle || op->kind == WARP_vote;
}

// Where the undefined bits of v can go by u, which reads it.
static void flow(struct plan *p, struct uop *u, uint32_t v)
{
    if (u->kind == UOP_ALU || u->kind == UOP_SREG || u->kind == UOP_PARAM)
        visit_operands(u, give_if_def, p);
    else if (u->kind == UOP_STORE && stores(u->mem, v))
        taint(p, u->mem->space);
    else if (u->kind == UOP_WARP && shadow_plan_exchanges(u->warp) && u->warp->in[0] == v)
        give(p, u->warp->out[0]);
}

struct users {
    struct plan *p;
    uint32_t uop, *fill;  // fill: NULL while they are counted
};

static void note_user(void *context, uint32_t *vreg, bool is_def)
{
    struct users *u = context;
    if (is_def)
        return;
    if (u->fill)
        u->p->users[u->p->start[*vreg] + u->fill[*vreg]++] = u->uop;
    else
        u->p->start[*vreg + 1]++;
}

static void find_users(struct plan *p)
{
    struct users u = { .p = p };
    p->start = decode_scratch(p->x, (p->n_vregs + 2) * sizeof *p->start);
    for (uint32_t i = 0; i < p->n_uops; i++)
        visit_operands(&p->uops[i], note_user, &u);
    for (uint32_t v = 0; v < p->n_vregs; v++)
        p->start[v + 1] += p->start[v];
    p->users = decode_scratch(p->x, (p->start[p->n_vregs] + 1) * sizeof *p->users);
    u.fill = decode_scratch(p->x, (p->n_vregs + 1) * sizeof *u.fill);
    for (u.uop = 0; u.uop < p->n_uops; u.uop++)
        visit_operands(&p->uops[u.uop], note_user, &u);
}

static bool loads_local(const struct plan *p)
{
    for (uint32_t i = 0; i < p->n_uops; i++)
        if (p->uops[i].kind == UOP_LOAD &&
            (p->uops[i].mem->space == SPACE_LOCAL || p->uops[i].mem->space == SPACE_GENERIC))
            return p->x->code->local_bytes > 0;
    return false;
}

static bool chooses(const struct uop *u)
{
    const char *name = u->kind == UOP_ALU ? shadow_name((enum alu_op)u->op) : "";
    return !strncmp(name, "setp", 4) || !strncmp(name, "selp", 4);
}

// Which registers hold what gets to a comparison or a selection by moves: backwards from there.
static bool *find_chosen(struct plan *p)
{
    bool *chosen = decode_scratch(p->x, p->n_vregs + 1), more = true;
    for (int pass = 0; more && pass < MOVE_PASSES; pass++) {
        more = false;
        for (uint32_t i = p->n_uops; i-- > 0;) {
            const struct uop *u = &p->uops[i];
            const uint32_t operand[] = { u->a, u->b };
            if (!chooses(u) && !(is_move(u) && chosen[u->d]))
                continue;
            for (uint32_t k = 0; k < (is_move(u) ? 1 : 2); k++) {
                more |= operand[k] != NO_VREG && !chosen[operand[k]];
                if (operand[k] != NO_VREG)
                    chosen[operand[k]] = true;
            }
        }
    }
    return chosen;
}

// Loads from shared memory that are followed: see code/shadow.h.
static void give_to_chosen(struct plan *p)
{
    const bool *chosen = find_chosen(p);
    for (uint32_t i = 0; i < p->n_uops; i++) {
        struct memop *m = p->uops[i].kind == UOP_LOAD ? p->uops[i].mem : NULL;
        bool any = false;
        if (!m || (m->space != SPACE_SHARED && m->space != SPACE_GENERIC) || m->order != ORDER_WEAK)
            continue;
        for (uint32_t e = 0; e < m->n; e++)
            any |= m->reg_class[e] != SLOT_NONE && chosen[m->reg[e]];
        if (!any)
            continue;
        m->ahead_of_use = p->ahead = true;
        visit_operands(&p->uops[i], give_if_def, p);
    }
}

// From the registers in roots, local memory, and loads from shared memory that are ahead of their use.
static void find_shadows(struct plan *p, const bool *roots)
{
    p->local = loads_local(p);
    if (p->local)
        give_to_loads(p);
    give_to_chosen(p);
    for (uint32_t v = 0; v < p->n_vregs; v++)
        if (roots[v])
            give(p, v);
    if (!p->n_stack)
        return;
    find_users(p);
    while (p->n_stack) {
        const uint32_t v = p->stack[--p->n_stack];
        for (uint32_t i = p->start[v]; i < p->start[v + 1]; i++)
            flow(p, &p->uops[p->users[i]], v);
    }
}

static void make_shadows(struct plan *p)
{
    p->bits = decode_scratch(p->x, (p->n_vregs + 1) * sizeof *p->bits);
    p->origin = decode_scratch(p->x, (p->n_vregs + 1) * sizeof *p->origin);
    for (uint32_t v = 0; v < p->n_vregs; v++) {
        const enum slot_class class = p->x->vregs[v].slot;
        p->bits[v] = p->has[v] ? vreg_new(p->x, class) : vreg_const(p->x, class, 0);
        p->origin[v] = p->has[v] ? vreg_new(p->x, SLOT_64) : vreg_const(p->x, SLOT_64, 0);
    }
}

bool shadow_plan(struct plan *p, const bool *roots)
{
    struct decoder *x = p->x;
    bool any = false;
    p->has = decode_scratch(x, x->n_vregs + 1);
    p->stack = decode_scratch(x, (x->n_vregs + 1) * sizeof *p->stack);
    find_shadows(p, roots);
    for (uint32_t v = 0; v < p->n_vregs; v++)
        any |= p->has[v];
    for (uint32_t i = 0; i < p->n_uops; i++)
        any |= shadow_adds_nan(x, &p->uops[i]);
    if (any)
        make_shadows(p);
    return any;
}
