// What orders the accesses of a launch: barriers, warp barriers, fences, releases and acquires. See check.h.
//
// Barriers are most of it, and cheap: whatever came before a barrier of the whole block is ordered before whatever
// comes after, and for a few warps or lanes a table of times says the same. Only where a kernel has more (fences,
// mbarriers, acquire, release) each thread has a view of what it knows besides (vclock.h).
//
// A release by a strong write tells whoever reads it there what the writer knows; without .release, what it knew at its
// last fence. A strong read is told, with .acquire at once, without it at the reader's next fence. Scopes limit both:
// what is released for the block only reaches no other block. (PTX ISA 8.7 to 8.9: release and acquire patterns.)
// Four things are taken more generously than PTX promises, since programs count on them and cards keep to them:
// - a barrier of the block passes on what its threads' fences covered, and
// - it does for what they read what a fence would do: thread 0 takes the ticket, and after __syncthreads() all read;
//   plain reads after a loop that waited for another block are advised against;
// - lanes that exchange values (shfl, vote, match, redux) pass on what they have learnt from others: lane 0 waits for a
//   flag, and after __shfl_sync() all read. Their own accesses stay unordered.
// - lanes that wait for their wgmma together (.sync.aligned) have read what they read before it: one of them may arrive
//   on the 'empty' mbarrier for all. (DeepGEMM's scales; a warp's lanes load in one instruction.)
#include <stdlib.h>
#include <string.h>

#include "check_state.h"

// Does that clock of the lane's view have what thread of a block did at time at?
static bool covers(const struct warp *w, uint32_t lane, enum view_clock clock, uint64_t block, uint32_t thread,
                   uint32_t at)
{
    return w->block->check->views && vclock_at(pool_of(w), view_of(w, lane)->clocks[clock], block, thread) >= at;
}

bool check_clock_covers(const struct warp *w, uint32_t lane, uint64_t block, uint32_t thread, uint32_t at)
{
    return covers(w, lane, VIEW_ORDERED, block, thread, at) || covers(w, lane, VIEW_UNFENCED, block, thread, at);
}

bool check_ordered_unfenced(const struct warp *w, uint32_t lane, uint64_t block, uint32_t thread, uint32_t at)
{
    return covers(w, lane, VIEW_UNFENCED, block, thread, at) && !covers(w, lane, VIEW_ORDERED, block, thread, at);
}

bool check_ordered_if_acq_rel(const struct warp *w, uint32_t lane, uint64_t block, uint32_t thread, uint32_t at)
{
    return covers(w, lane, VIEW_IF_ACQ_REL, block, thread, at) &&
           !covers(w, lane, VIEW_PENDING_WIDE, block, thread, at) &&
           !covers(w, lane, VIEW_PENDING_POLLS, block, thread, at);
}

// What barriers of the whole block order: the same for all its threads. The caller drops it.
static struct vclock *block_clock(const struct warp *w)
{
    struct block_check *k = w->block->check;
    if (k->synced_block < k->start)  // there was none yet
        return NULL;
    if (k->block_clock_at != k->synced_block) {
        vclock_drop(pool_of(w), &k->block_clock);
        vclock_raise_group(pool_of(w), &k->block_clock, VCLOCK_BLOCK, w->block->linear, 0, k->synced_block);
        k->block_clock_at = k->synced_block;
    }
    return vclock_keep(k->block_clock);
}

// All of others that is ordered before what the lane does. The caller drops it.
static struct vclock *clock_of_others(const struct warp *w, uint32_t lane)
{
    const struct block_check *k = w->block->check;
    struct vclock_pool *pool = pool_of(w);
    const uint64_t block = w->block->linear;
    const uint32_t mine = w->index;
    struct vclock *all = vclock_keep(view_of(w, lane)->clocks[VIEW_ORDERED]), *common = block_clock(w);
    vclock_join(pool, &all, view_of(w, lane)->clocks[VIEW_UNFENCED]);
    vclock_join(pool, &all, common);
    vclock_drop(pool, &common);
    for (uint32_t v = 0; v < w->block->n_warps; v++)
        if (v != mine && k->synced_warps[mine][v] > k->synced_block)
            vclock_raise_group(pool, &all, VCLOCK_WARP, block, v * LANES, k->synced_warps[mine][v]);
    for (uint32_t i = 0; i < LANES; i++) {
        const uint32_t ours = k->synced_lanes[mine][lane], other = k->synced_lanes[mine][i],
                       at = ours < other ? ours : other;
        if (i != lane && at > k->synced_block)
            vclock_raise_thread(pool, &all, block, mine * LANES + i, at);
    }
    return all;
}

// The same with what it has done itself.
static struct vclock *full_clock(const struct warp *w, uint32_t lane)
{
    struct vclock *all = clock_of_others(w, lane);
    vclock_raise_thread(pool_of(w), &all, w->block->linear, w->index * LANES + lane, w->block->worker->check->now);
    return all;
}

// --- fences, releases and acquires ---

void check_fence(struct warp *w, uint32_t lanes, bool wide)
{
    struct block_check *k = w->block->check;
    struct vclock_pool *pool = pool_of(w);
    for (; lanes; lanes &= lanes - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(lanes);
        struct view *v = view_of(w, lane);
        for (int i = 0; i <= wide; i++)
            vclock_move(pool, &v->clocks[VIEW_ORDERED], &v->clocks[VIEW_PENDING + i]);
        if (wide) {
            vclock_move(pool, &v->clocks[VIEW_ORDERED], &v->clocks[VIEW_PENDING_POLLS]);
            vclock_move(pool, &v->clocks[VIEW_ORDERED], &v->clocks[VIEW_UNFENCED]);
        }
        struct vclock *all = clock_of_others(w, lane);
        for (int i = 0; i <= wide; i++) {
            vclock_set(pool, &v->clocks[VIEW_FENCED + i], all);
            v->fenced_at[i] = w->block->worker->check->now;
        }
        vclock_drop(pool, &all);
        k->views_used = true;
    }
    tick(w->block->worker->check);
}

static struct sync_var *slot(struct sync_vars *o, uint64_t address)
{
    uint64_t i = (address ^ address >> 20) * 0x9e3779b97f4a7c15u >> 20;
    for (;; i++) {
        struct sync_var *x = &o->all[i & (o->room - 1)];
        if (!x->used || x->address == address)
            return x;
    }
}

static bool grow(struct sync_vars *o)
{
    struct sync_vars bigger = { .room = o->room ? 2 * o->room : 16, .n = o->n };
    if (!(bigger.all = calloc(bigger.room, sizeof *bigger.all)))
        return false;
    for (uint32_t i = 0; i < o->room; i++)
        if (o->all[i].used)
            *slot(&bigger, o->all[i].address) = o->all[i];
    free(o->all);
    *o = bigger;
    return true;
}

// Where what strong accesses to an address tell is kept; *address: by which it is found there.
static struct sync_vars *sync_vars_of(const struct warp *w, bool shared, uint64_t *address)
{
    struct worker *worker = w->block->worker;
    if (!shared)
        return &worker->check->sync_vars;
    struct sync_vars *o = &cluster_block(worker, *address)->check->sync_vars;
    *address = cluster_offset(*address);
    return o;
}

static struct sync_var *find(const struct warp *w, bool shared, uint64_t address)  // NULL where nothing was released
{
    struct sync_vars *o = sync_vars_of(w, shared, &address);
    struct sync_var *x = o->n ? slot(o, address) : NULL;
    return x && x->used ? x : NULL;
}

static struct sync_var *find_or_add(const struct warp *w, bool shared, uint64_t address)
{
    struct sync_var *x = find(w, shared, address);
    struct sync_vars *o = sync_vars_of(w, shared, &address);
    if (x)
        return x;
    if (2 * o->n >= o->room && !grow(o)) {
        w->block->worker->check->failed = true;
        return NULL;
    }
    x = slot(o, address);
    *x = (struct sync_var){ .address = address, .used = true };
    o->n++;
    return x;
}

// Does a scope reach beyond the block?
static bool wide(const struct warp *w, const struct memop *m)
{
    return m->scope >= (w->block->worker->cluster->n > 1 ? SCOPE_CLUSTER : SCOPE_GPU);
}

void check_acquires(struct warp *w, uint32_t lane, const struct memop *m, bool shared, uint64_t address)
{
    struct vclock_pool *pool = pool_of(w);
    const struct sync_var *x = find(w, shared, address);
    if (!x || !w->block->check->views)
        return;
    const bool acquires = m->order == ORDER_ACQUIRE || m->order == ORDER_BOTH;
    struct view *v = view_of(w, lane);
    if (x->near && x->near_block == w->block->linear)
        vclock_join(pool, &v->clocks[acquires ? VIEW_ORDERED : VIEW_PENDING], x->near);
    if (x->wide && wide(w, m))
        vclock_join(pool,
                    &v->clocks[acquires   ? VIEW_ORDERED
                               : m->polls ? VIEW_PENDING_POLLS
                                          : VIEW_PENDING_WIDE],
                    x->wide);
    if (x->if_acq_rel && wide(w, m) && (m->polls || m->counted == MEM_ATOM))
        vclock_join(pool, &v->clocks[VIEW_IF_ACQ_REL], x->if_acq_rel);
    w->block->check->views_used = true;
}

struct vclock *check_release_clock(const struct warp *w, uint32_t lane, bool release, bool beyond)
{
    const struct view *v = view_of(w, lane);
    if (release)
        return full_clock(w, lane);
    struct vclock *k = vclock_keep(v->clocks[VIEW_FENCED + beyond]);
    vclock_raise_thread(pool_of(w), &k, w->block->linear, w->index * LANES + lane, v->fenced_at[beyond]);
    return k;
}

// The same of a strong write.
static struct vclock *release_clock(const struct warp *w, uint32_t lane, const struct memop *m, bool beyond)
{
    return check_release_clock(w, lane, m->order == ORDER_RELEASE || m->order == ORDER_BOTH, beyond);
}

// What would be released if it were a release.
static void release_if_acq_rel(struct warp *w, uint32_t lane, struct sync_var *x, bool both)
{
    struct vclock_pool *pool = pool_of(w);
    struct vclock *all = full_clock(w, lane);
    if (!both)
        vclock_drop(pool, &x->if_acq_rel);
    vclock_move(pool, &x->if_acq_rel, &all);
    vclock_join(pool, &x->if_acq_rel, view_of(w, lane)->clocks[VIEW_IF_ACQ_REL]);
}

void check_releases(struct warp *w, uint32_t lane, const struct memop *m, bool shared, uint64_t address, bool both)
{
    struct checker *c = w->block->worker->check;
    struct vclock_pool *pool = &c->pool;
    if (!w->block->check->views)
        return;
    struct vclock *near = release_clock(w, lane, m, false),
                  *beyond = wide(w, m) ? release_clock(w, lane, m, true) : NULL;
    const bool asks = c->grid->code->reads_strong && wide(w, m);
    struct sync_var *x = near || beyond || asks ? find_or_add(w, shared, address) : find(w, shared, address);
    if (x && (!both || x->near_block != w->block->linear))
        vclock_drop(pool, &x->near);
    if (x && !both)
        vclock_drop(pool, &x->wide);
    if (x) {
        x->near_block = w->block->linear;
        vclock_move(pool, &x->near, &near);
        vclock_move(pool, &x->wide, &beyond);
    }
    if (x && asks)
        release_if_acq_rel(w, lane, x, both);
    vclock_drop(pool, &near);
    vclock_drop(pool, &beyond);
    tick(c);
}

// --- mbarriers ---

static void drop_far(struct vclock_pool *pool, struct sync_var *x)
{
    for (int i = 0; i < 2; i++) {
        vclock_drop(pool, &x->far_arrived[i]);
        vclock_drop(pool, &x->far[i]);
    }
}

void check_mbarrier_starts(struct warp *w, uint32_t address)
{
    struct sync_var *x = find_or_add(w, true, address);
    if (!x)
        return;
    vclock_drop(pool_of(w), &x->near);
    vclock_drop(pool_of(w), &x->arrived);
    drop_far(pool_of(w), x);
    free(x->waits);
    x->waits = NULL;
}

// A phase is complete: what was released in it counts from now on. last: who completed it.
static void turn_phase(struct block *home, struct sync_var *x, const struct fault *last)
{
    struct vclock_pool *pool = &home->worker->check->pool;
    if (x->waits)
        check_late_phase(home, x, last);
    vclock_drop(pool, &x->near);
    x->near = x->arrived;
    x->arrived = NULL;
    for (int i = 0; i < 2; i++) {
        vclock_drop(pool, &x->far[i]);
        x->far[i] = x->far_arrived[i];
        x->far_arrived[i] = NULL;
    }
}

void check_mbarrier_arrives(struct warp *w, const struct uop *u, uint32_t lane, uint32_t address, bool completes)
{
    struct checker *c = w->block->worker->check;
    const struct memop *m = &u->warp->mem;
    struct block *home = cluster_block(w->block->worker, address);
    struct sync_var *x = find_or_add(w, true, address);
    if (!x)
        return;
    const bool near = home == w->block, releases = m->order == ORDER_RELEASE;
    struct vclock *k = release_clock(w, lane, m, !near);
    vclock_move(&c->pool, near ? &x->arrived : &x->far_arrived[m->scope >= SCOPE_CLUSTER], &k);
    if (releases)
        vclock_join(&c->pool, &x->far_arrived[0], view_of(w, lane)->clocks[VIEW_COMPLETED]);
    const uint32_t waited = w->block->check->wgmma_waited[w->index];
    if (waited > w->block->check->synced_block && (releases || m->order == ORDER_BOTH))
        vclock_raise_group(&c->pool, &x->far_arrived[0], VCLOCK_WARP, w->block->linear, w->index * LANES, waited);
    const struct fault last = { .inst = u->inst, .other_thread = w->index * LANES + lane, .block = w->block->linear };
    if (completes)
        turn_phase(home, x, &last);
    tick(c);
}

void check_bulk_starts(const struct warp *w, uint32_t lane, const struct bulk_place *p, struct block *home)
{
    struct vclock_pool *pool = pool_of(w);
    struct sync_var *x = find_or_add(w, true, p->barrier + home->window);
    if (!x)
        return;
    struct vclock *k = full_clock(w, lane);
    vclock_move(pool, &x->far_arrived[0], &k);
    vclock_join(pool, &x->far_arrived[0], view_of(w, lane)->clocks[VIEW_COMPLETED]);
    tick(w->block->worker->check);  // what the thread does now comes after the copy
}

void check_bulk_arrival(struct block *b, const struct bulk_place *p, bool completes)
{
    struct checker *c = b->worker->check;
    const uint64_t from = b->worker->cluster->blocks[p->from]->linear;
    struct sync_var *x = find_or_add(&b->warps[0], true, p->barrier + b->window);
    if (!x)
        return;
    vclock_raise_thread(&c->pool, &x->arrived, from, check_copier(c, p->thread, check_tag(p->barrier)), c->now);
    const struct fault last = { .inst = p->inst, .other_thread = p->thread, .block = from };
    if (completes)
        turn_phase(b, x, &last);
    tick(c);
}

static void acquire(const struct warp *w, uint32_t lanes, enum view_clock clock, struct vclock *from)
{
    struct checker *c = w->block->worker->check;
    for (; lanes && from; lanes &= lanes - 1)
        vclock_join_again(&c->pool, &c->last_join, &view_of(w, (uint32_t)__builtin_ctz(lanes))->clocks[clock], from);
}

void check_mbarrier_opened(struct warp *w, const struct uop *u, uint32_t lanes, uint32_t address)
{
    const struct memop *m = &u->warp->mem;
    struct sync_var *x = find(w, true, address);
    if (!x)
        return;
    const bool acquires = m->order != ORDER_RELAXED;
    check_late_wait(w, u, LANES - 1 - (uint32_t)__builtin_clz(lanes), x);
    acquire(w, lanes, acquires ? VIEW_ORDERED : VIEW_PENDING, x->near);
    acquire(w, lanes, VIEW_COMPLETED, x->far[0]);
    acquire(w, lanes, VIEW_COMPLETED, x->far[1]);
    if (m->scope >= SCOPE_CLUSTER)
        acquire(w, lanes, acquires ? VIEW_ORDERED : VIEW_PENDING_WIDE, x->far[1]);
    w->block->check->views_used = true;
}

// --- a block, a launch ---

static void clear_sync_vars(struct vclock_pool *pool, struct sync_vars *o)
{
    for (uint32_t i = 0; i < o->room; i++) {
        vclock_drop(pool, &o->all[i].near);
        vclock_drop(pool, &o->all[i].wide);
        vclock_drop(pool, &o->all[i].if_acq_rel);
        vclock_drop(pool, &o->all[i].arrived);
        drop_far(pool, &o->all[i]);
        free(o->all[i].waits);
    }
    free(o->all);
    *o = (struct sync_vars){ 0 };
}

void check_order_clear(struct checker *c, struct block_check *k)
{
    for (uint32_t t = 0; k->views_used && t < c->grid->threads; t++) {
        struct view *v = &k->views[t];
        for (int i = 0; i < VIEW_CLOCKS; i++)
            vclock_drop(&c->pool, &v->clocks[i]);
        *v = (struct view){ 0 };
    }
    vclock_drop(&c->pool, &k->block_clock);
    k->block_clock_at = 0;
    k->views_used = false;
    clear_sync_vars(&c->pool, &k->sync_vars);
}

void check_order_free(struct checker *c)
{
    clear_sync_vars(&c->pool, &c->sync_vars);
    vclock_last_join_drop(&c->pool, &c->last_join);
    vclock_pool_free(&c->pool);
}
