// Plain loads that only guess what a compare-and-swap will find, as in the loops that make an atomic operation out of
// one:
//
//   int old = *p, seen;
//   do { seen = old; old = atomicCAS(p, seen, larger(seen, v)); } while (old != seen);
//
// By PTX the plain load races with the atomic of another thread. But whatever it returns, the compare-and-swap at the
// same place confirms or refuses, so the checks take such a load for a relaxed one (struct memop, guess). Every other
// plain load of what others change by atomics stays a race: one that decides whether there is an atomic at all, say.
//
// A load is a guess where the code itself shows three things: its value gets to the compared operand of an atom.cas by
// moves alone, both are of one size, and both addresses are equal: the same value (merge_value.c), or the same
// register.
#include "merge.h"
#include "simt/code/warp_op.h"

#include <string.h>

#include "merge.h"
#include "simt/code/warp_op.h"

#define PASSES 16  // over the code, until nothing changes

struct place {  // of an access
    uint32_t base, uop;
    struct value at;
};

struct places {
    struct place *all;
    uint32_t n;
};

struct guesses {
    struct decoder *x;
    struct values values;
    struct places cas, loads;
    bool *carries;  // by vreg: what it holds gets to the operand in hand
};

static bool is_cas(const struct uop *u)
{
    return u->kind == UOP_WARP && u->warp->kind == WARP_atomic && u->warp->op == ATOMIC_CAS;
}

static bool is_plain_load(const struct uop *u)
{
    if (u->kind != UOP_LOAD || u->mem->order != ORDER_WEAK || u->mem->n > 1 || u->mem->reg_class[0] == SLOT_NONE)
        return false;
    return u->mem->space == SPACE_GLOBAL || u->mem->space == SPACE_SHARED || u->mem->space == SPACE_GENERIC;
}

// A whole register, a half of one, or two halves put together.
static bool moves(const struct uop *u, bool *both)
{
    *both = u->kind == UOP_ALU && (u->op == ALU_pack_b64 || u->op == ALU_pack_b32);
    return *both || is_move(u) ||
           (u->kind == UOP_ALU &&
            (u->op == ALU_low_b64 || u->op == ALU_high_b64 || u->op == ALU_low_b32 || u->op == ALU_high_b32));
}

// Which registers hold what gets to the register `compared` by moves: backwards from there.
static void follow_moves(struct guesses *g, uint32_t compared)
{
    const struct code *c = g->x->code;
    memset(g->carries, 0, g->x->n_vregs);
    g->carries[compared] = true;
    bool more = true;
    for (int pass = 0; more && pass < PASSES; pass++) {
        more = false;
        for (uint32_t i = c->n_uops; i-- > 0;) {
            const struct uop *u = &c->uops[i];
            bool both;
            if (!moves(u, &both) || !g->carries[u->d] || (g->carries[u->a] && (!both || g->carries[u->b])))
                continue;
            g->carries[u->a] = more = true;
            if (both)
                g->carries[u->b] = true;
        }
    }
}

static bool guesses(const struct guesses *g, const struct place *load, const struct place *cas)
{
    const struct memop *l = g->x->code->uops[load->uop].mem, *m = &g->x->code->uops[cas->uop].warp->mem;
    if (!g->carries[l->reg[0]] || l->bytes != m->bytes || l->reg[0] == l->base)
        return false;
    return (load->at.root == cas->at.root && load->at.offset == cas->at.offset) ||
           (load->base == cas->base && l->offset == m->offset);
}

static void add(struct guesses *g, struct places *to, uint32_t uop, const struct memop *m)
{
    to->all = arena_grow(g->x->scratch, to->all, to->n, sizeof *to->all);
    if (!to->all)
        decode_fail(g->x, g->x->f->name.p, "out of memory");
    struct place *p = &to->all[to->n++];
    *p = (struct place){ m->base, uop, value_of(&g->values, m->base) };
    p->at.offset += m->offset;
    if (m->base_class == SLOT_32)
        p->at.offset &= UINT32_MAX;
}

static void collect(struct guesses *g)
{
    const struct code *c = g->x->code;
    struct blocks blocks = { .n = 0 };
    find_blocks(g->x, &blocks);
    for (uint32_t i = 0; i < c->n_uops; i++) {
        follow_uop(&g->values, i, blocks.starts[blocks.of[i]] == i);
        if (is_cas(&c->uops[i]))
            add(g, &g->cas, i, &c->uops[i].warp->mem);
        else if (is_plain_load(&c->uops[i]))
            add(g, &g->loads, i, c->uops[i].mem);
    }
}

void find_guesses(struct decoder *x)
{
    const struct code *c = x->code;
    struct guesses g = { .x = x };
    bool any = false;
    for (uint32_t i = 0; i < c->n_uops; i++)
        any |= is_cas(&c->uops[i]);
    if (!any || !find_zeros(x, &g.values))
        return;
    g.carries = decode_scratch(x, x->n_vregs + 1);
    collect(&g);
    for (uint32_t i = 0; i < g.cas.n; i++) {
        follow_moves(&g, c->uops[g.cas.all[i].uop].warp->in[0]);
        for (uint32_t k = 0; k < g.loads.n; k++)
            if (guesses(&g, &g.loads.all[k], &g.cas.all[i]))
                c->uops[g.loads.all[k].uop].mem->guess = true;
    }
}
