// The uops that follow undefined bits through a kernel, for the checks. See code/shadow.h.
#include "simt/code/shadow.h"

#include "shadow_plan.h"
#include "shadow_rules.h"
#include "simt/code/warp_op.h"
#include "simt/code/wgmma.h"

static uint8_t bytes_of(const struct plan *p, uint32_t v)
{
    const struct decoder *x = p->x;
    if (x->vregs[v].slot == SLOT_PRED)
        return 0;
    return v < x->f->n_regs ? (uint8_t)ptx_type_bytes(x->f->regs[v].type) : x->vregs[v].slot == SLOT_64 ? 8 : 4;
}

// A uop with rule, by the lanes that u is for.
static struct warpop *add(struct plan *p, const struct uop *u, enum shadow_rule rule, struct shadow **s)
{
    struct decoder *x = p->x;
    *s = decode_alloc(x, sizeof **s);
    (*s)->rule = rule;
    x->in = &x->f->insts[u->inst];
    struct warpop *op = emit_warp(x, WARP_shadow, GATHER_NONE);
    struct uop *new = &x->code->uops[x->code->n_uops - 1];
    new->guard = u->guard;
    new->guarded = u->guarded;
    op->more = *s;
    return op;
}

static void add_in(const struct plan *p, struct warpop *op, uint32_t v)
{
    op->in[op->n_in++] = p->bits[v];
    op->in[op->n_in++] = p->origin[v];
}

static void add_out(const struct plan *p, struct warpop *op, uint32_t v)
{
    op->out[op->n_out++] = p->bits[v];
    op->out[op->n_out++] = p->origin[v];
}

static void add_start(struct plan *p, uint32_t v)
{
    struct shadow *s;
    const struct uop unguarded = { .guard = NO_VREG };
    struct warpop *op = add(p, &unguarded, SHADOW_START, &s);
    s->class_d = (uint8_t)p->x->vregs[v].slot;
    s->number = v + 1;
    add_out(p, op, v);
}

static void add_defined(struct plan *p, const struct uop *u, uint32_t v)
{
    struct shadow *s;
    if (!shadow_plan_has(p, v))
        return;
    struct warpop *op = add(p, u, SHADOW_DEFINED, &s);
    s->class_d = (uint8_t)p->x->vregs[v].slot;
    op->out[op->n_out++] = p->bits[v];
}

static void add_use(struct plan *p, const struct uop *u, uint32_t v, enum shadow_sink sink)
{
    struct shadow *s;
    if (!shadow_plan_has(p, v))
        return;
    struct warpop *op = add(p, u, SHADOW_USE, &s);
    s->sink = sink;
    s->class[0] = (uint8_t)p->x->vregs[v].slot;
    s->bytes[0] = bytes_of(p, v);
    add_in(p, op, v);
    op->out[op->n_out++] = p->bits[v];
}

// The same for the accumulators of a wgmma, which have 32 bits: one uop for all.
static void add_all(struct plan *p, const struct uop *u, enum shadow_rule rule, const uint32_t *vregs, uint32_t n)
{
    struct warpop *op = NULL;
    struct shadow *s;
    for (uint32_t i = 0; i < n; i++) {
        if (!shadow_plan_has(p, vregs[i]))
            continue;
        if (!op) {
            op = add(p, u, rule, &s);
            op->wide_in = decode_alloc(p->x, 2 * n * sizeof *op->wide_in);
            op->wide_out = decode_alloc(p->x, n * sizeof *op->wide_out);
            s->sink = SINK_OPERAND;
            s->class_d = s->class[0] = SLOT_32;
            s->bytes[0] = 4;
        }
        op->wide_out[op->n_wide_out++] = p->bits[vregs[i]];
        if (rule == SHADOW_USE) {
            op->wide_in[op->n_wide_in++] = p->bits[vregs[i]];
            op->wide_in[op->n_wide_in++] = p->origin[vregs[i]];
        }
    }
}

// What decides whether a lane takes part.
static void add_guard_use(struct plan *p, const struct uop *u)
{
    struct uop all = *u;
    all.guarded = 0;
    all.guard = NO_VREG;
    if (u->guarded)
        add_use(p, &all, u->guard, SINK_DECIDES);
}

static void add_guard_flow(struct plan *p, const struct uop *u, uint32_t d)
{
    struct shadow *s;
    struct uop all = *u;
    all.guarded = 0;
    all.guard = NO_VREG;
    if (!u->guarded || !shadow_plan_has(p, u->guard) || !shadow_plan_has(p, d))
        return;
    struct warpop *op = add(p, &all, SHADOW_GUARD, &s);
    s->class_d = (uint8_t)p->x->vregs[d].slot;
    add_in(p, op, u->guard);
    add_out(p, op, d);
}

static void follow_alu(struct plan *p, const struct uop *u)
{
    const uint32_t operand[] = { u->a, u->b, u->c }, n = shadow_operands((enum alu_op)u->op);
    struct shadow *s;
    bool any = false;
    if (shadow_adds_nan(p->x, u))
        add(p, u, SHADOW_NAN, &s);
    for (uint32_t i = 0; i < n; i++)
        any |= shadow_plan_has(p, operand[i]);
    if (!any) {
        add_defined(p, u, u->d);
        add_guard_flow(p, u, u->d);
        return;
    }
    struct warpop *op = add(p, u, SHADOW_WHOLE, &s);
    shadow_describe(s, (enum alu_op)u->op);
    s->like = *u;
    s->class_d = u->saves;
    for (uint8_t i = 0; i < n; i++) {
        s->class[i] = (uint8_t)p->x->vregs[operand[i]].slot;
        for (s->same[i] = 0; operand[s->same[i]] != operand[i];)
            s->same[i]++;
        op->in[op->n_in++] = operand[i];
        add_in(p, op, operand[i]);
    }
    add_out(p, op, u->d);
    add_guard_flow(p, u, u->d);
}

static void follow_load(struct plan *p, const struct uop *u)
{
    const struct memop *m = u->mem;
    struct shadow *s;
    add_guard_use(p, u);
    add_use(p, u, m->base, SINK_ADDRESS);
    if (!shadow_plan_may_find(p, m->space) && !m->ahead_of_use) {
        for (uint32_t e = 0; e < m->n; e++)
            if (m->reg_class[e] != SLOT_NONE)
                add_defined(p, u, m->reg[e]);
        return;
    }
    struct warpop *op = add(p, u, SHADOW_LOAD, &s);
    s->mem = m;
    for (uint32_t e = 0; e < m->n; e++) {
        s->at[e] = NO_SHADOW;
        if (m->reg_class[e] == SLOT_NONE)
            continue;
        s->at[e] = (uint8_t)op->n_out;
        add_out(p, op, m->reg[e]);
    }
}

static void follow_store(struct plan *p, const struct uop *u)
{
    const struct memop *m = u->mem;
    struct shadow *s;
    add_guard_use(p, u);
    add_use(p, u, m->base, SINK_ADDRESS);
    if (!shadow_plan_may_find(p, m->space))
        return;
    struct warpop *op = add(p, u, SHADOW_STORE, &s);
    s->mem = m;
    for (uint32_t e = 0; e < m->n; e++)
        add_in(p, op, m->reg[e]);
}

// The lanes that a shuffle reads from are found by the same shuffle of lane numbers.
static void follow_shuffle(struct plan *p, const struct uop *u)
{
    struct decoder *x = p->x;
    struct shadow *s;
    const struct warpop *shuffle = u->warp;
    if (!shadow_plan_has(p, shuffle->in[0])) {
        add_defined(p, u, shuffle->out[0]);
        return;
    }
    x->in = &x->f->insts[u->inst];
    const uint32_t lane = vreg_new(x, SLOT_32), from = vreg_new(x, SLOT_32);
    struct uop *number = emit(x, UOP_SREG);
    number->target = SREG_laneid;
    number->saves = SLOT_32;
    number->d = lane;
    struct warpop *op = emit_warp(x, WARP_shuffle, shuffle->gather);
    *op = *shuffle;
    op->in[0] = lane;
    op->n_out = 1;
    op->out[0] = from;
    op = add(p, u, SHADOW_LANES, &s);
    add_in(p, op, shuffle->in[0]);
    op->in[op->n_in++] = from;
    add_out(p, op, shuffle->out[0]);
}

// Once more as a ballot, for which all the lanes come.
static void follow_vote(struct plan *p, const struct uop *u)
{
    struct decoder *x = p->x;
    struct shadow *s;
    const struct warpop *vote = u->warp;
    if (!shadow_plan_has(p, vote->in[0])) {
        add_defined(p, u, vote->out[0]);
        return;
    }
    x->in = &x->f->insts[u->inst];
    const uint32_t yes = vreg_new(x, SLOT_32);
    struct warpop *op = emit_warp(x, WARP_vote, vote->gather);
    *op = *vote;
    op->op = VOTE_BALLOT;
    op->out[0] = yes;
    op = add(p, u, SHADOW_VOTE, &s);
    s->op = vote;
    s->class_d = (uint8_t)x->vregs[vote->out[0]].slot;
    add_in(p, op, vote->in[0]);
    op->in[op->n_in++] = yes;
    add_out(p, op, vote->out[0]);
}

static enum shadow_sink sink_of(const struct warpop *op)
{
    return op->kind == WARP_atomic || op->kind == WARP_stmatrix || op->kind == WARP_wmma_store ? SINK_STORED
           : op->kind == WARP_copy                                                             ? SINK_ADDRESS
                                                                                               : SINK_OPERAND;
}

static void follow_rows(struct plan *p, const struct uop *u)
{
    const struct warpop *access = u->warp;
    struct shadow *s;
    if (!access->has_mem)
        return;
    add_use(p, u, access->mem.base, SINK_ADDRESS);
    if (!shadow_plan_may_find(p, access->mem.space) || access->kind == WARP_mbarrier || access->kind == WARP_bulk)
        return;
    add(p, u, SHADOW_ROWS, &s);
    s->op = access;
    s->mem = &access->mem;
    s->rows = access->kind == WARP_ldmatrix || access->kind == WARP_stmatrix;
    s->tile = access->kind == WARP_wmma_load || access->kind == WARP_wmma_store;
    s->writes = access->kind == WARP_copy || access->kind == WARP_stmatrix || access->kind == WARP_wmma_store;
}

// The result lies in local memory, from where it is loaded.
static void follow_call(struct plan *p, const struct uop *u)
{
    const struct warpop *op = u->warp;
    struct shadow *s;
    if ((op->kind != WARP_malloc && op->kind != WARP_printf) || !p->local)
        return;
    add(p, u, SHADOW_CALL, &s);
    s->op = op;
}

// What the accumulators of a wgmma were is used where scale-d says so: a predicate, or always.
static void follow_products(struct plan *p, const struct uop *u)
{
    const struct warpop *op = u->warp;
    const struct wgmma *m = op->more;
    struct uop adding = *u;
    if (m->scale_d == WGMMA_ADD_IF && u->guarded)  // no uop has two guards
        return;
    if (m->scale_d == WGMMA_ADD_IF) {
        adding.guard = op->in[op->n_in - 1];
        adding.guarded = 1;
    }
    add_all(p, &adding, SHADOW_USE, op->wide_in, op->n_wide_in);
}

static void follow_warp(struct plan *p, const struct uop *u)
{
    const struct warpop *op = u->warp;
    const bool exchange = shadow_plan_exchanges(op);
    if (op->kind == WARP_poll)  // it looks at what the instruction before it did, and does nothing
        return;
    add_guard_use(p, u);
    for (uint32_t i = exchange; i < op->n_in; i++)
        add_use(p, u, op->in[i], sink_of(op));
    follow_rows(p, u);
    follow_call(p, u);
    if (op->kind == WARP_shuffle)
        follow_shuffle(p, u);
    else if (exchange)
        follow_vote(p, u);
    if (op->kind == WARP_wgmma)
        follow_products(p, u);
    add_all(p, u, SHADOW_DEFINED, op->wide_out, op->n_wide_out);
    for (uint32_t i = exchange; i < op->n_out; i++)
        add_defined(p, u, op->out[i]);
}

static void follow(struct plan *p, const struct uop *u)
{
    switch ((enum uop_kind)u->kind) {
    case UOP_ALU:
        follow_alu(p, u);
        break;
    case UOP_SREG:
        add_defined(p, u, u->d);
        add_guard_flow(p, u, u->d);
        break;
    case UOP_PARAM:
        for (uint32_t e = 0; e < u->mem->n; e++) {
            if (u->mem->reg_class[e] == SLOT_NONE)
                continue;
            add_defined(p, u, u->mem->reg[e]);
            add_guard_flow(p, u, u->mem->reg[e]);
        }
        break;
    case UOP_LOAD:
        follow_load(p, u);
        break;
    case UOP_STORE:
        follow_store(p, u);
        break;
    case UOP_WARP:
        follow_warp(p, u);
        break;
    default:
        add_guard_use(p, u);
        add_use(p, u, u->a, SINK_DECIDES);  // of a barrier
        add_use(p, u, u->b, SINK_DECIDES);
        add_use(p, u, u->c, SINK_DECIDES);
        add_defined(p, u, u->d);
    }
}

// The code again, with the uops that follow before those that they follow.
static void rewrite(struct plan *p, const bool *roots)
{
    struct code *c = p->x->code;
    uint32_t *moved = decode_scratch(p->x, (p->n_uops + 1) * sizeof *moved);
    c->uops = NULL;
    c->n_uops = 0;
    for (uint32_t v = 0; v < p->n_vregs; v++)
        if (roots[v])
            add_start(p, v);
    for (uint32_t i = 0; i < p->n_uops; i++) {
        moved[i] = c->n_uops;
        follow(p, &p->uops[i]);
        p->x->in = &p->x->f->insts[p->uops[i].inst];
        *emit(p->x, UOP_ALU) = p->uops[i];
    }
    for (uint32_t i = 0; i < c->n_uops; i++)
        if (c->uops[i].kind == UOP_BRANCH)
            c->uops[i].target = moved[c->uops[i].target];
}

void add_shadows(struct decoder *x)
{
    struct plan p = { .x = x, .uops = x->code->uops, .n_uops = x->code->n_uops, .n_vregs = x->n_vregs };
    bool *roots = decode_scratch(x, x->n_vregs + 1);
    find_unwritten(x, roots);
    // What an instruction keeps for itself it has written, by the same lanes that read it; the carry flag stays.
    for (uint32_t v = x->f->n_regs; v < x->n_vregs; v++)
        roots[v] &= v + 1 == x->carry;
    if (!shadow_plan(&p, roots))
        return;
    x->code->shadows_local = p.local;
    x->code->shadows_memory = p.shared || p.global || p.ahead;
    rewrite(&p, roots);
}
