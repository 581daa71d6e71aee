// See cluster_barrier.h.
#include "cluster_barrier.h"

#include <stdio.h>

#include "simt/check/check.h"
#include "simt/code/split.h"
#include "warp_fn.h"

static bool complain(struct warp *w, const struct uop *u, uint32_t lanes, const char *what)
{
    warp_fault(w, u, FAULT_REFUSED, lanes, 0);
    snprintf(w->block->worker->fault.text, sizeof w->block->worker->fault.text, "%s", what);
    return false;
}

static uint32_t alive(const struct warp *w)
{
    return w->lanes & ~w->exited;
}

void cluster_barrier_count(const struct cluster *c, uint32_t *came, uint32_t *all)
{
    *came = *all = 0;
    for (uint32_t rank = 0; rank < c->n; rank++) {
        const struct block *b = c->blocks[rank];
        for (uint32_t i = 0; !c->ended[rank] && i < b->n_warps; i++) {
            *came += (uint32_t)__builtin_popcount(b->warps[i].arrived & alive(&b->warps[i]));
            *all += (uint32_t)__builtin_popcount(alive(&b->warps[i]));
        }
    }
}

bool cluster_barrier_holds(const struct block *b)
{
    for (uint32_t i = 0; i < b->n_warps; i++)
        for (uint32_t k = 0; k < b->warps[i].n_splits; k++)
            if (b->warps[i].splits[k].barrier == WAITS_CLUSTER)
                return true;
    return false;
}

// --- opening ---

// A warp's block is where its worker's is, which may be another one of the cluster at present: so it is passed as b.
static void pass(struct block *b, struct warp *w, uint32_t lanes)
{
    w->opened &= ~lanes;
    if (b->worker->check)
        check_cluster_waits(b, w->index, lanes);
}

static void release(struct block *b, struct warp *w)
{
    struct split waiting[LANES];
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->n_splits;) {
        if (w->splits[i].barrier != WAITS_CLUSTER) {
            i++;
            continue;
        }
        waiting[n++] = w->splits[i];
        split_remove(w, i);
    }
    for (uint32_t i = 0; i < n; i++) {
        split_insert(w, (struct split){ waiting[i].pc, waiting[i].mask, 0 });
        pass(b, w, waiting[i].mask);
    }
}

bool cluster_barrier_open(struct worker *worker)
{
    struct cluster *c = worker->cluster;
    uint32_t came, all;
    if (!c->came)
        return false;
    cluster_barrier_count(c, &came, &all);
    if (came < all)
        return false;
    c->came = false;
    if (worker->check)
        check_cluster_opens(worker);
    for (uint32_t rank = 0; rank < c->n; rank++) {
        struct block *b = c->blocks[rank];
        for (uint32_t i = 0; !c->ended[rank] && i < b->n_warps; i++) {
            b->warps[i].opened |= b->warps[i].arrived;
            b->warps[i].arrived = 0;
            release(b, &b->warps[i]);
        }
    }
    return true;
}

// --- arriving and waiting ---

bool cluster_barrier(struct warp *w, const struct uop *u, struct split *s, uint32_t active)
{
    struct worker *worker = w->block->worker;
    if (u->target != BARRIER_CLUSTER_WAIT) {
        const uint32_t again = active & (w->arrived | w->opened);
        if (again)
            return complain(w, u, again,
                            "arrives at the cluster's barrier again, and has not waited there since it last did: "
                            "barrier.cluster.wait belongs between");
        w->arrived |= active;
        worker->cluster->came = true;
        if (worker->check)
            check_cluster_arrives(w, active, u->target == BARRIER_CLUSTER_RELAXED);
        cluster_barrier_open(worker);
        return true;
    }
    const uint32_t passes = active & w->opened, waits = active & w->arrived, lost = active & ~passes & ~waits;
    if (lost)
        return complain(w, u, lost,
                        "waits at the cluster's barrier, and has not arrived there: "
                        "barrier.cluster.arrive comes first");
    if (passes)
        pass(w->block, w, passes);
    if (waits)
        split_insert(w, (struct split){ s->pc + 1, waits, WAITS_CLUSTER });
    s->mask &= ~waits;
    return true;
}
