// Barriers of a block and of a warp, and what lanes tell each other when they exchange values. See check_order.c.
#include <string.h>

#include "check_state.h"

// Adds what a thread knows to what others acquire. What it has read and not fenced it knows through them alone then.
static void collect(struct block *b, uint32_t thread, struct view *sum)
{
    struct vclock_pool *pool = &b->worker->check->pool;
    struct view *v = &b->check->views[thread];
    for (int i = 0; i < VIEW_CLOCKS; i++) {
        if (!v->clocks[i])  // most are empty
            continue;
        if (i < VIEW_PENDING)
            vclock_join(pool, &sum->clocks[i], v->clocks[i]);
        else
            vclock_move(pool, &sum->clocks[i], &v->clocks[i]);
    }
    for (int wide = 0; wide < 2; wide++) {
        vclock_raise_thread(pool, &sum->clocks[VIEW_FENCED + wide], b->linear, thread, v->fenced_at[wide]);
        v->fenced_at[wide] = 0;
    }
}

static void spread(struct vclock_pool *pool, struct view *v, const struct view *sum)
{
    for (int i = 0; i < VIEW_CLOCKS; i++)
        if (v->clocks[i] != sum->clocks[i])
            vclock_set(pool, &v->clocks[i], sum->clocks[i]);
}

// The threads of these warps, or these lanes of one warp, release what they know, and those that listen acquire it.
// With fence, what they have read and not fenced is known as well; without, whoever of them makes a fence knows it
// then.
static void share(struct block *b, const uint32_t lanes[LANES], const uint32_t listen[LANES], bool fence)
{
    struct block_check *k = b->check;
    struct vclock_pool *pool = &b->worker->check->pool;
    struct view sum = { 0 };
    if (!k->views_used)
        return;
    for (uint32_t w = 0; w < b->n_warps; w++)
        for (uint32_t left = lanes[w] & b->warps[w].lanes; left; left &= left - 1)
            collect(b, w * LANES + (uint32_t)__builtin_ctz(left), &sum);
    if (fence) {
        vclock_move(pool, &sum.clocks[VIEW_ORDERED], &sum.clocks[VIEW_PENDING]);
        vclock_move(pool, &sum.clocks[VIEW_ORDERED], &sum.clocks[VIEW_PENDING_WIDE]);
        vclock_move(pool, &sum.clocks[VIEW_UNFENCED], &sum.clocks[VIEW_PENDING_POLLS]);
    }
    for (uint32_t w = 0; w < b->n_warps; w++)
        for (uint32_t left = listen[w] & b->warps[w].lanes; left; left &= left - 1)
            spread(pool, view_of(&b->warps[w], (uint32_t)__builtin_ctz(left)), &sum);
    for (int i = 0; i < VIEW_CLOCKS; i++)
        vclock_drop(pool, &sum.clocks[i]);
}

void check_arrives(struct warp *w, uint32_t number)
{
    struct checker *c = w->block->worker->check;
    w->block->check->barriers[number].at[w->index] = c->now;
    tick(c);
}

// The lanes of each warp that wait at a barrier. Who only arrives (bar.arrive) has gone on: it tells, and is told
// nothing.
static void find_waiting(const struct block *b, uint32_t number, uint32_t lanes[LANES])
{
    for (uint32_t w = 0; w < b->n_warps; w++)
        for (uint32_t i = 0; i < b->warps[w].n_splits; i++)
            if (b->warps[w].splits[i].barrier == number + 1)
                lanes[w] |= b->warps[w].splits[i].mask;
}

static void join(struct block_check *k, uint32_t number, const uint32_t waiting[LANES], uint32_t n_warps)
{
    uint32_t *at = k->barriers[number].at, joined[LANES] = { 0 };
    for (uint32_t u = 0; u < n_warps; u++) {
        if (!at[u])
            continue;
        for (uint32_t v = 0; v < n_warps; v++)
            joined[v] = k->synced_warps[u][v] > joined[v] ? k->synced_warps[u][v] : joined[v];
        joined[u] = at[u] > joined[u] ? at[u] : joined[u];
    }
    for (uint32_t w = 0; w < n_warps; w++) {
        if (!waiting[w])
            continue;
        for (uint32_t v = 0; v < n_warps; v++)
            k->synced_warps[w][v] = joined[v] > k->synced_warps[w][v] ? joined[v] : k->synced_warps[w][v];
        for (uint32_t lane = 0; lane < LANES; lane++)
            k->synced_lanes[w][lane] = at[w];
    }
}

void check_opens(struct block *b, uint32_t number, bool everyone)
{
    struct checker *c = b->worker->check;
    struct block_check *k = b->check;
    uint32_t lanes[LANES], waiting[LANES] = { 0 };
    for (uint32_t w = 0; w < LANES; w++)
        lanes[w] = everyone || k->barriers[number].at[w] ? ALL_LANES : 0;
    find_waiting(b, number, waiting);
    share(b, lanes, everyone ? lanes : waiting, true);
    if (everyone) {
        k->synced_block = c->now;
        tick(c);
        k->barrier++;
        k->interval = k->redundant_version = ++c->intervals;
    } else {
        join(k, number, waiting, b->n_warps);
    }
    memset(k->barriers[number].at, 0, sizeof k->barriers[number].at);
}

void check_warp_syncs(struct warp *w, uint32_t lanes)
{
    struct checker *c = w->block->worker->check;
    uint32_t of[LANES] = { 0 };
    of[w->index] = lanes;
    share(w->block, of, of, false);
    for (uint32_t lane = 0; lane < LANES; lane++)
        if (lanes >> lane & 1)
            w->block->check->synced_lanes[w->index][lane] = c->now;
    tick(c);
}

void check_warp_exchanges(struct warp *w, uint32_t lanes)
{
    uint32_t of[LANES] = { 0 };
    of[w->index] = lanes;
    share(w->block, of, of, false);
}

void check_warp_waited(struct warp *w)
{
    struct checker *c = w->block->worker->check;
    w->block->check->wgmma_waited[w->index] = c->now;
    tick(c);
}
