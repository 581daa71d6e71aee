// Shuffles, votes and the like: lanes of a warp read each other's registers. Source: PTX ISA 9.7.9 (shfl.sync), 9.7.14
// (vote.sync, match.sync, activemask, redux.sync, elect.sync).
#include "simt/check/check.h"
#include "warp_fn.h"
#include "simt/code/warp_op.h"

#define EACH(lanes, i)                                                                                                 \
    for (uint32_t left_ = (lanes), i = 0; left_ && ((i = (uint32_t)__builtin_ctz(left_)), true); left_ &= left_ - 1)

static u32 *slot(const struct warp *w, uint32_t at)
{
    return (u32 *)(w->regs + at);
}

static void put_predicate(const struct warp *w, uint32_t at, uint32_t active, uint32_t value)
{
    u32 *p = slot(w, at);
    *p = (*p & ~active) | (value & active);
}

bool warp_fault(struct warp *w, const struct uop *u, enum fault_kind kind, uint32_t active, uint32_t lanes)
{
    struct block *b = w->block;
    b->worker->fault = (struct fault){ .kind = kind,
                                       .inst = u->inst,
                                       .warp = w->index,
                                       .block = b->linear,
                                       .lane = (uint32_t)__builtin_ctz(active ? active : 1),
                                       .lanes = lanes };
    return false;
}

// PTX leaves open what a lane that takes no part gives. Public reductions run on with such values and leave them out of
// their result, so it is a finding of the checks alone; elsewhere it gives 0.
static void note_inactive(const struct warp *w, const struct uop *u, uint32_t lane, uint32_t from)
{
    struct checker *c = w->block->worker->check;
    if (!c)
        return;
    struct fault f = check_site(w, u->inst, lane, FAULT_LANES_INACTIVE);
    f.lanes = 1u << from;
    check_note(c, &f);
}

bool warp_shuffle(struct warp *w, const struct uop *u, uint32_t active)
{
    const struct warpop *op = u->warp;
    const u32 *a = slot(w, op->in[0]), *b = slot(w, op->in[1]), *c = slot(w, op->in[2]);
    uint32_t value[LANES], valid = 0;
    EACH(active, i)
    {
        uint32_t segment = c[i] >> 8 & 31, clamp = c[i] & 31, by = b[i] & 31;
        uint32_t most = (i & segment) | (clamp & ~segment), least = i & segment;
        int from = op->op == SHUFFLE_UP     ? (int)i - (int)by
                   : op->op == SHUFFLE_DOWN ? (int)(i + by)
                   : op->op == SHUFFLE_BFLY ? (int)(i ^ by)
                                            : (int)(least | (by & ~segment));
        bool inside = op->op == SHUFFLE_UP ? from >= (int)most : from <= (int)most;
        valid |= (uint32_t)inside << i;
        from = inside ? from : (int)i;
        const bool there = active >> from & 1;
        if (!there)
            note_inactive(w, u, i, (uint32_t)from);
        value[i] = there ? a[from] : 0;
    }
    EACH(active, i)
    slot(w, op->out[0])[i] = value[i];
    if (op->n_out > 1)
        put_predicate(w, op->out[1], active, valid);
    return true;
}

bool warp_vote(struct warp *w, const struct uop *u, uint32_t active)
{
    const struct warpop *op = u->warp;
    uint32_t yes = *slot(w, op->in[0]) & active;
    if (op->op == VOTE_BALLOT) {
        EACH(active, i)
        slot(w, op->out[0])[i] = yes;
        return true;
    }
    bool all = yes == active, any = yes != 0;
    bool value = op->op == VOTE_ALL ? all : op->op == VOTE_ANY ? any : all || !any;
    put_predicate(w, op->out[0], active, value ? ALL_LANES : 0);
    return true;
}

bool warp_activemask(struct warp *w, const struct uop *u, uint32_t active)
{
    EACH(active, i)
    slot(w, u->warp->out[0])[i] = active;
    return true;
}

bool warp_match(struct warp *w, const struct uop *u, uint32_t active)
{
    const struct warpop *op = u->warp;
    const u32 *narrow = slot(w, op->in[0]);
    const u64 *wide = (const u64 *)narrow;
    uint32_t same[LANES] = { 0 }, all = 0;
    EACH(active, i)
    {
        EACH(active, j)
        same[i] |= (uint32_t)(op->type == 8 ? wide[i] == wide[j] : narrow[i] == narrow[j]) << j;
        all |= (uint32_t)(same[i] == active) << i;
    }
    EACH(active, i)
    slot(w, op->out[0])[i] = !op->op || same[i] == active ? same[i] : 0;
    if (op->n_out > 1)
        put_predicate(w, op->out[1], active, all);
    return true;
}

bool warp_redux(struct warp *w, const struct uop *u, uint32_t active)
{
    const struct warpop *op = u->warp;
    const u32 *a = slot(w, op->in[0]);
    uint32_t value = a[__builtin_ctz(active)];
    EACH(active & (active - 1), i)
    {
        bool less = op->type ? (int32_t)a[i] < (int32_t)value : a[i] < value;
        switch ((enum redux)op->op) {
        case REDUX_ADD:
            value += a[i];
            break;
        case REDUX_MIN:
            value = less ? a[i] : value;
            break;
        case REDUX_MAX:
            value = less ? value : a[i];
            break;
        case REDUX_AND:
            value &= a[i];
            break;
        case REDUX_OR:
            value |= a[i];
            break;
        case REDUX_XOR:
            value ^= a[i];
            break;
        }
    }
    EACH(active, i)
    slot(w, op->out[0])[i] = value;
    return true;
}

bool warp_elect(struct warp *w, const struct uop *u, uint32_t active)
{
    const struct warpop *op = u->warp;
    uint32_t leader = (uint32_t)__builtin_ctz(active);
    EACH(active, i)
    slot(w, op->out[0])[i] = leader;
    put_predicate(w, op->out[1], active, 1u << leader);
    return true;
}

bool warp_syncwarp(struct warp *w, const struct uop *u, uint32_t active)
{
    (void)w, (void)u, (void)active;
    return true;
}
