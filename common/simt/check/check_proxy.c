// fence.proxy.async: what ordinary stores have written becomes known to the asynchronous proxy. See check.h.
//
// A fence of that kind has to lie on the way from the store to the copy or wgmma that reads: made by the thread that
// stored, after its store; or by the thread that starts the copy, once it knows of the store. (CUDA's guide shows the
// first; ThunderKittens does the second.) Fences of other threads on the way are not looked for.
// Source: PTX ISA 9.4, 8.9.5 (proxy-preserved base causality order, there for alias fences), 9.7.15.4 (fence.proxy
// takes effect within a single thread, and composes with other synchronisation).
#include "check_state.h"

#include <stdlib.h>
#include <string.h>

struct proxy_view {
    // What a thread knew at its last fence.proxy.async, as in struct block_check. at 0: there was none.
    uint32_t at, synced_block, synced_lanes, synced_warps[LANES];
    struct vclock *clock;
    uint32_t init_at;  // its last fence.mbarrier_init
};

void check_proxy_clear(struct checker *c, struct block_check *k)
{
    for (uint32_t t = 0; k->proxies && t < c->grid->threads; t++)
        vclock_drop(&c->pool, &k->proxies[t].clock);
    free(k->proxies);
    k->proxies = NULL;
}

// The views of all threads; NULL when memory runs out.
static struct proxy_view *views_of(const struct warp *w)
{
    struct block_check *k = w->block->check;
    struct checker *c = w->block->worker->check;
    if (!k->proxies)
        k->proxies = calloc(c->grid->threads, sizeof *k->proxies);
    c->failed |= !k->proxies;
    return k->proxies;
}

void check_mbarrier_fence(struct warp *w, uint32_t lanes)
{
    struct proxy_view *all = views_of(w);
    for (uint32_t i = all ? lanes : 0; i; i &= i - 1)
        all[w->index * LANES + (uint32_t)__builtin_ctz(i)].init_at = w->block->worker->check->now;
    check_fence(w, lanes, true);
}

void check_proxy_fence(struct warp *w, uint32_t lanes)
{
    struct block_check *k = w->block->check;
    struct checker *c = w->block->worker->check;
    struct proxy_view *all = views_of(w);
    for (; lanes && all; lanes &= lanes - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(lanes), thread = w->index * LANES + lane;
        struct proxy_view *p = &all[thread];
        p->at = c->now;
        p->synced_block = k->synced_block;
        p->synced_lanes = k->synced_lanes[w->index][lane];
        memcpy(p->synced_warps, k->synced_warps[w->index], sizeof p->synced_warps);
        vclock_drop(&c->pool, &p->clock);
        p->clock = k->views ? vclock_keep(k->views[thread].clocks[VIEW_ORDERED]) : NULL;
        if (k->views)
            vclock_join(&c->pool, &p->clock, k->views[thread].clocks[VIEW_UNFENCED]);
    }
    tick(c);
}

// Did thread of the warp w's block know at its last fence what who did at time at?
static bool knew(const struct warp *w, uint32_t thread, const struct who *who, uint32_t at)
{
    const struct block *other = check_block_of(w->block, who);
    const struct proxy_view *p = &w->block->check->proxies[thread];
    if (p->at < at)
        return false;
    const uint32_t theirs = who->thread / LANES, mine = thread / LANES;
    const uint32_t synced =
        theirs == mine ? w->block->check->synced_lanes[mine][who->thread % LANES] : p->synced_warps[theirs];
    if (other == w->block && (at <= p->synced_block || (at <= synced && (theirs != mine || at <= p->synced_lanes))))
        return true;
    return vclock_at(&w->block->worker->check->pool, p->clock, other->linear, who->thread) >= at;
}

bool check_proxy_knows(const struct warp *w, uint32_t thread, const struct who *who, uint32_t at)
{
    const struct block_check *own = check_block_of(w->block, who)->check;
    if (own->proxies && own->proxies[who->thread].at >= at)
        return true;
    return w->block->check->proxies && knew(w, thread, who, at);
}

bool check_proxy_fenced(const struct warp *w, const struct who *who, uint32_t at)
{
    const struct block_check *k = check_block_of(w->block, who)->check;
    return k->proxies && (k->proxies[who->thread].at >= at || k->proxies[who->thread].init_at >= at);
}
