// The checker of a host thread, and what it keeps of a block. See check.h.
#include "check_state.h"

#include <stdlib.h>
#include <string.h>

#include "shadow_memory.h"

// --- blocks ---

#define TIME_MAX 0x80000000u  // far from the special times of check_shared.c

struct block_check *check_block_new(struct checker *c)
{
    struct block_check *k = calloc(1, sizeof *k);
    if (!k)
        return NULL;
    const bool views = c->grid->code->orders_threads || c->grid->code->reads_strong;
    const bool shadows = c->grid->code->shadows_local || c->grid->code->shadows_memory;
    if ((!views || (k->views = calloc(c->grid->threads, sizeof *k->views))) &&
        (!shadows || (k->shadows = shadows_new(c->grid))) && check_shared_new(c, k))
        return k;
    check_block_free(c, k);
    return NULL;
}

void check_block_free(struct checker *c, struct block_check *k)
{
    check_order_clear(c, k);
    check_proxy_clear(c, k);
    shadows_free(k->shadows);
    free(k->views);
    free(k->granules);
    free(k->strong);
    free(k->redundant_in);
    free(k->folded);
    free(k->wholes);
    free(k->whole_redundant_in);
    free(k->remote_accesses);
    free(k);
}

void check_block_starts(struct block *b)
{
    struct checker *c = b->worker->check;
    struct block_check *k = b->check;
    check_order_clear(c, k);
    check_proxy_clear(c, k);
    const bool late = c->now > TIME_MAX && !c->grid->turns && b->worker->cluster->n == 1;
    if (late || k->copies || k->read_under_way) {
        check_shared_clear(c, k);
        k->barrier = 0;
    }
    c->now = late ? 1 : c->now + 1;
    k->start = c->now;
    k->synced_block = k->start - 1;
    k->barrier++;
    k->interval = k->redundant_version = ++c->intervals;
    free(k->remote_accesses);
    k->remote_accesses = NULL;
    memset(k->synced_warps, 0, sizeof k->synced_warps);
    memset(k->synced_lanes, 0, sizeof k->synced_lanes);
    memset(k->wgmma_waited, 0, sizeof k->wgmma_waited);
    memset(k->barriers, 0, sizeof k->barriers);
    memset(k->reported, 0, sizeof k->reported);
    if (k->shadows)
        shadows_start(k->shadows);
}

bool check_orders_lanes(const struct block *b)
{
    return b->check->views;
}

// --- around a launch ---

struct checker *check_new(const struct grid *g, uint32_t n_memops)
{
    struct checker *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->grid = g;
    c->now = 1;
    c->pool = vclock_pool((uint64_t)g->grid[0] * g->grid[1] * g->grid[2]);
    c->n_granules = (g->shared_bytes >> g->code->shared_shift) + 1;
    c->n_touches = 2 * n_memops;
    c->touches = calloc(c->n_touches + 1, sizeof *c->touches);
    if (!c->touches || !check_global_new(c)) {
        check_free(c);
        return NULL;
    }
    return c;
}

void check_free(struct checker *c)
{
    if (!c)
        return;
    for (uint32_t i = 0; c->touches && i < c->n_touches; i++)
        check_touches_free(c->touches[i]);
    free(c->touches);
    check_order_free(c);
    check_global_free(c);
    check_free_notes(c);
    free(c);
}

void check_add(struct checker *sum, struct checker *c)
{
    sum->failed |= c->failed || c->pool.failed;
    check_add_notes(sum, c);
    check_global_add(sum, c);
}

bool check_complete(const struct checker *c)
{
    return !c->failed && !c->pool.failed;
}

uint32_t check_now(const struct checker *c)
{
    return c->now;
}
