// See shadow_plan.h.
#include "shadow_plan.h"

#include "base/text.h"
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

#define ALL_BYTES 0xffu
#define CHOSEN 0x100u  // it gets to a comparison, a selection or another lane

struct uses {      // of the registers, by moves: backwards from where they are used
    uint16_t *of;  // by vreg: which of its bytes are used, a bit for each, and CHOSEN
    uint16_t by;   // how the uop in hand uses what it reads
    bool more;
};

static void note_use(void *context, uint32_t *vreg, bool is_def)
{
    struct uses *u = context;
    if (is_def)
        return;
    u->more |= u->by & ~u->of[*vreg];
    u->of[*vreg] |= u->by;
}

static uint16_t use_by(const struct uop *u, const struct uses *uses)
{
    if (u->kind == UOP_WARP && u->warp->kind == WARP_shuffle)
        return CHOSEN | ALL_BYTES;
    if (u->kind != UOP_ALU)
        return ALL_BYTES;
    const char *name = shadow_name((enum alu_op)u->op);
    if (text_begins(name, "setp") || text_begins(name, "selp"))
        return CHOSEN | ALL_BYTES;
    if (is_move(u))
        return uses->of[u->d];
    const uint8_t taken = shadow_bytes_taken((enum alu_op)u->op);
    return taken != ALL_BYTES && !uses->of[u->d] ? 0 : taken;
}

static const uint16_t *find_uses(struct plan *p)
{
    struct uses u = { .of = decode_scratch(p->x, (p->n_vregs + 1) * sizeof *u.of), .more = true };
    for (int pass = 0; u.more && pass < MOVE_PASSES; pass++) {
        u.more = false;
        for (uint32_t i = p->n_uops; i-- > 0;) {
            u.by = use_by(&p->uops[i], &u);
            visit_operands(&p->uops[i], note_use, &u);
        }
    }
    return u.of;
}

// Does a register of m get there, or is one of which some of the loaded bytes are used and others are not?
static bool is_ahead(const struct memop *m, const uint16_t *uses)
{
    bool is = false;
    for (uint32_t e = 0; e < m->n; e++) {
        const uint16_t use = m->reg_class[e] != SLOT_NONE ? uses[m->reg[e]] : 0;
        const uint8_t loaded = (uint8_t)((1u << m->bytes) - 1), used = use & loaded;
        is |= use & CHOSEN || (used && used != loaded);
    }
    return is;
}

static bool in_memory(enum ptx_space space)
{
    return space == SPACE_SHARED || space == SPACE_GLOBAL || space == SPACE_GENERIC;
}

// Loads that are followed: see code/shadow.h.
static void give_to_ahead(struct plan *p)
{
    const uint16_t *uses = find_uses(p);
    for (uint32_t i = 0; i < p->n_uops; i++) {
        struct memop *m = p->uops[i].kind == UOP_LOAD ? p->uops[i].mem : NULL;
        if (!m || !in_memory(m->space) || m->order != ORDER_WEAK || !is_ahead(m, uses))
            continue;
        m->ahead_of_use = p->ahead = true;
        visit_operands(&p->uops[i], give_if_def, p);
    }
}

// From the registers in roots, local memory, and loads that are ahead of their use.
static void find_shadows(struct plan *p, const bool *roots)
{
    p->local = loads_local(p);
    if (p->local)
        give_to_loads(p);
    give_to_ahead(p);
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
