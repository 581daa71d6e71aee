// What orders the accesses of a launch: barriers, warp barriers, fences, releases and acquires. See check.h.
//
// Barriers are most of it, and cheap: whatever came before a barrier of the whole block is ordered before whatever
// comes after, and for a few warps or lanes a table of times says the same. Only where a kernel has more (fences,
// mbarriers, acquire, release) each thread has a view of what it knows besides (known.h).
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

#include "check_order.h"

bool check_knows(const struct warp *w, uint32_t lane, uint64_t block, uint32_t thread, uint32_t at)
{
    const struct block_check *k = w->block->check;
    return k->views && (known_when(pool_of(w), view_of(w, lane)->seen, block, thread) >= at ||
                        known_when(pool_of(w), view_of(w, lane)->lent, block, thread) >= at);
}

bool check_lent(const struct warp *w, uint32_t lane, uint64_t block, uint32_t thread, uint32_t at)
{
    const struct block_check *k = w->block->check;
    return k->views && known_when(pool_of(w), view_of(w, lane)->seen, block, thread) < at &&
           known_when(pool_of(w), view_of(w, lane)->lent, block, thread) >= at;
}

bool check_hoped(const struct warp *w, uint32_t lane, uint64_t block, uint32_t thread, uint32_t at)
{
    const struct known_pool *pool = pool_of(w);
    const struct view *v = w->block->check->views ? view_of(w, lane) : NULL;
    return v && known_when(pool, v->hoped, block, thread) >= at &&
           known_when(pool, v->pending[1], block, thread) < at && known_when(pool, v->polled, block, thread) < at;
}

// What barriers of the whole block have told: the same for all its threads. The caller drops it.
static struct known *common_known(const struct warp *w)
{
    struct block_check *k = w->block->check;
    if (k->all_seen < k->start)  // there was none yet
        return NULL;
    if (k->common_at != k->all_seen) {
        known_drop(pool_of(w), &k->common);
        known_group(pool_of(w), &k->common, KNOWN_BLOCK, w->block->linear, 0, k->all_seen);
        k->common_at = k->all_seen;
    }
    return known_keep(k->common);
}

// All that the lane knows of others. The caller drops it.
static struct known *others_known(const struct warp *w, uint32_t lane)
{
    const struct block_check *k = w->block->check;
    struct known_pool *pool = pool_of(w);
    const uint64_t block = w->block->linear;
    const uint32_t mine = w->index;
    struct known *all = known_keep(view_of(w, lane)->seen), *common = common_known(w);
    known_join(pool, &all, view_of(w, lane)->lent);
    known_join(pool, &all, common);
    known_drop(pool, &common);
    for (uint32_t v = 0; v < w->block->n_warps; v++)
        if (v != mine && k->seen[mine][v] > k->all_seen)
            known_group(pool, &all, KNOWN_WARP, block, v * LANES, k->seen[mine][v]);
    for (uint32_t i = 0; i < LANES; i++) {
        const uint32_t met = k->synced[mine][lane], other = k->synced[mine][i], at = met < other ? met : other;
        if (i != lane && at > k->all_seen)
            known_thread(pool, &all, block, mine * LANES + i, at);
    }
    return all;
}

// The same with what it has done itself.
static struct known *all_known(const struct warp *w, uint32_t lane)
{
    struct known *all = others_known(w, lane);
    known_thread(pool_of(w), &all, w->block->linear, w->index * LANES + lane, w->block->worker->check->now);
    return all;
}

// --- fences, releases and acquires ---

void check_fence(struct warp *w, uint32_t lanes, bool wide)
{
    struct block_check *k = w->block->check;
    struct known_pool *pool = pool_of(w);
    for (; lanes; lanes &= lanes - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(lanes);
        struct view *v = view_of(w, lane);
        for (int i = 0; i <= wide; i++)
            known_take(pool, &v->seen, &v->pending[i]);
        if (wide) {
            known_take(pool, &v->seen, &v->polled);
            known_take(pool, &v->seen, &v->lent);
        }
        struct known *all = others_known(w, lane);
        for (int i = 0; i <= wide; i++) {
            known_put(pool, &v->fenced[i], all);
            v->fenced_at[i] = w->block->worker->check->now;
        }
        known_drop(pool, &all);
        k->informed = true;
    }
    tick(w->block->worker->check);
}

static struct object *slot(struct objects *o, uint64_t address)
{
    uint64_t i = (address ^ address >> 20) * 0x9e3779b97f4a7c15u >> 20;
    for (;; i++) {
        struct object *x = &o->all[i & (o->room - 1)];
        if (!x->used || x->address == address)
            return x;
    }
}

static bool grow(struct objects *o)
{
    struct objects bigger = { .room = o->room ? 2 * o->room : 16, .n = o->n };
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
static struct objects *objects_of(const struct warp *w, bool shared, uint64_t *address)
{
    struct worker *worker = w->block->worker;
    if (!shared)
        return &worker->check->objects;
    struct objects *o = &cluster_block(worker, *address)->check->objects;
    *address = cluster_offset(*address);
    return o;
}

static struct object *find(const struct warp *w, bool shared, uint64_t address)  // NULL where nothing was released
{
    struct objects *o = objects_of(w, shared, &address);
    struct object *x = o->n ? slot(o, address) : NULL;
    return x && x->used ? x : NULL;
}

static struct object *find_or_add(const struct warp *w, bool shared, uint64_t address)
{
    struct object *x = find(w, shared, address);
    struct objects *o = objects_of(w, shared, &address);
    if (x)
        return x;
    if (2 * o->n >= o->room && !grow(o)) {
        w->block->worker->check->failed = true;
        return NULL;
    }
    x = slot(o, address);
    *x = (struct object){ .address = address, .used = true };
    o->n++;
    return x;
}

// Does a scope reach beyond the block?
static bool wide(const struct warp *w, const struct memop *m)
{
    return m->scope >= (w->block->worker->cluster->n > 1 ? SCOPE_CLUSTER : SCOPE_GPU);
}

void check_observes(struct warp *w, uint32_t lane, const struct memop *m, bool shared, uint64_t address)
{
    struct known_pool *pool = pool_of(w);
    const struct object *x = find(w, shared, address);
    if (!x || !w->block->check->views)
        return;
    const bool acquires = m->order == ORDER_ACQUIRE || m->order == ORDER_BOTH;
    struct view *v = view_of(w, lane);
    if (x->near && x->near_block == w->block->linear)
        known_join(pool, acquires ? &v->seen : &v->pending[0], x->near);
    if (x->wide && wide(w, m))
        known_join(pool, acquires ? &v->seen : m->polls ? &v->polled : &v->pending[1], x->wide);
    if (x->hoped && wide(w, m) && (m->polls || m->counted == MEM_ATOM))
        known_join(pool, &v->hoped, x->hoped);
    w->block->check->informed |= v->seen || v->pending[0] || v->pending[1] || v->polled || v->hoped;
}

struct known *check_told(const struct warp *w, uint32_t lane, bool release)
{
    const struct view *v = view_of(w, lane);
    if (release)
        return all_known(w, lane);
    struct known *k = known_keep(v->fenced[1]);
    known_thread(pool_of(w), &k, w->block->linear, w->index * LANES + lane, v->fenced_at[1]);
    return k;
}

// What is told by a strong write of the lane; the caller drops it.
static struct known *told(const struct warp *w, uint32_t lane, const struct memop *m, bool beyond)
{
    const struct view *v = view_of(w, lane);
    if (m->order == ORDER_RELEASE || m->order == ORDER_BOTH)
        return all_known(w, lane);
    struct known *k = known_keep(v->fenced[beyond]);
    known_thread(pool_of(w), &k, w->block->linear, w->index * LANES + lane, v->fenced_at[beyond]);
    return k;
}

// What would be told if it were a release.
static void publish_hope(struct warp *w, uint32_t lane, struct object *x, bool both)
{
    struct known_pool *pool = pool_of(w);
    struct known *all = all_known(w, lane);
    if (!both)
        known_drop(pool, &x->hoped);
    known_take(pool, &x->hoped, &all);
    known_join(pool, &x->hoped, view_of(w, lane)->hoped);
}

void check_publishes(struct warp *w, uint32_t lane, const struct memop *m, bool shared, uint64_t address, bool both)
{
    struct checker *c = w->block->worker->check;
    struct known_pool *pool = &c->pool;
    if (!w->block->check->views)
        return;
    struct known *near = told(w, lane, m, false), *beyond = wide(w, m) ? told(w, lane, m, true) : NULL;
    const bool hopes = c->grid->code->hopes && wide(w, m);
    struct object *x = near || beyond || hopes ? find_or_add(w, shared, address) : find(w, shared, address);
    if (x && (!both || x->near_block != w->block->linear))
        known_drop(pool, &x->near);
    if (x && !both)
        known_drop(pool, &x->wide);
    if (x) {
        x->near_block = w->block->linear;
        known_take(pool, &x->near, &near);
        known_take(pool, &x->wide, &beyond);
    }
    if (x && hopes)
        publish_hope(w, lane, x, both);
    known_drop(pool, &near);
    known_drop(pool, &beyond);
    tick(c);
}

// --- mbarriers ---

static void drop_far(struct known_pool *pool, struct object *x)
{
    for (int i = 0; i < 2; i++) {
        known_drop(pool, &x->far_arrived[i]);
        known_drop(pool, &x->far[i]);
    }
}

void check_mbarrier_starts(struct warp *w, uint32_t address)
{
    struct object *x = find_or_add(w, true, address);
    if (!x)
        return;
    known_drop(pool_of(w), &x->near);
    known_drop(pool_of(w), &x->arrived);
    drop_far(pool_of(w), x);
    free(x->waits);
    x->waits = NULL;
}

// A phase is complete: what was told in it counts from now on. last: who completed it.
static void turn_phase(struct block *home, struct object *x, const struct fault *last)
{
    struct known_pool *pool = &home->worker->check->pool;
    if (x->waits)
        check_late_phase(home, x, last);
    known_drop(pool, &x->near);
    x->near = x->arrived;
    x->arrived = NULL;
    for (int i = 0; i < 2; i++) {
        known_drop(pool, &x->far[i]);
        x->far[i] = x->far_arrived[i];
        x->far_arrived[i] = NULL;
    }
}

void check_mbarrier_arrives(struct warp *w, const struct uop *u, uint32_t lane, uint32_t address, bool completes)
{
    struct checker *c = w->block->worker->check;
    const struct memop *m = &u->warp->mem;
    struct block *home = cluster_block(w->block->worker, address);
    struct object *x = find_or_add(w, true, address);
    if (!x)
        return;
    const bool near = home == w->block, releases = m->order == ORDER_RELEASE;
    struct known *k = told(w, lane, m, !near);
    known_take(&c->pool, near ? &x->arrived : &x->far_arrived[m->scope >= SCOPE_CLUSTER], &k);
    if (releases)
        known_join(&c->pool, &x->far_arrived[0], view_of(w, lane)->reads);
    const uint32_t waited = w->block->check->waited[w->index];
    if (waited > w->block->check->all_seen && (releases || m->order == ORDER_BOTH))
        known_group(&c->pool, &x->far_arrived[0], KNOWN_WARP, w->block->linear, w->index * LANES, waited);
    const struct fault last = { .inst = u->inst, .other_thread = w->index * LANES + lane, .block = w->block->linear };
    if (completes)
        turn_phase(home, x, &last);
    tick(c);
}

void check_bulk_starts(const struct warp *w, uint32_t lane, const struct bulk_place *p, struct block *home)
{
    struct known_pool *pool = pool_of(w);
    struct object *x = find_or_add(w, true, p->barrier + home->window);
    if (!x)
        return;
    struct known *k = all_known(w, lane);
    known_take(pool, &x->far_arrived[0], &k);
    known_join(pool, &x->far_arrived[0], view_of(w, lane)->reads);
    tick(w->block->worker->check);  // what the thread does now comes after the copy
}

void check_bulk_arrival(struct block *b, const struct bulk_place *p, bool completes)
{
    struct checker *c = b->worker->check;
    const uint64_t from = b->worker->cluster->blocks[p->from]->linear;
    struct object *x = find_or_add(&b->warps[0], true, p->barrier + b->window);
    if (!x)
        return;
    known_thread(&c->pool, &x->arrived, from, check_copier(c, p->thread, check_mark(p->barrier)), c->now);
    const struct fault last = { .inst = p->inst, .other_thread = p->thread, .block = from };
    if (completes)
        turn_phase(b, x, &last);
    tick(c);
}

enum part { SEEN, READS, PENDING_NEAR, PENDING_WIDE };  // of a view

static struct known **part_of(struct view *v, enum part part)
{
    return part == SEEN ? &v->seen : part == READS ? &v->reads : &v->pending[part == PENDING_WIDE];
}

static void learn(const struct warp *w, uint32_t lanes, enum part part, struct known *k)
{
    struct checker *c = w->block->worker->check;
    for (; lanes && k; lanes &= lanes - 1)
        known_learn(&c->pool, &c->lesson, part_of(view_of(w, (uint32_t)__builtin_ctz(lanes)), part), k);
}

void check_mbarrier_opened(struct warp *w, const struct uop *u, uint32_t lanes, uint32_t address)
{
    const struct memop *m = &u->warp->mem;
    struct object *x = find(w, true, address);
    if (!x)
        return;
    const bool acquires = m->order != ORDER_RELAXED;
    check_late_wait(w, u, LANES - 1 - (uint32_t)__builtin_clz(lanes), x);
    learn(w, lanes, acquires ? SEEN : PENDING_NEAR, x->near);
    learn(w, lanes, READS, x->far[0]);
    learn(w, lanes, READS, x->far[1]);
    if (m->scope >= SCOPE_CLUSTER)
        learn(w, lanes, acquires ? SEEN : PENDING_WIDE, x->far[1]);
    w->block->check->informed = true;
}

// --- a block, a launch ---

static void clear_objects(struct known_pool *pool, struct objects *o)
{
    for (uint32_t i = 0; i < o->room; i++) {
        known_drop(pool, &o->all[i].near);
        known_drop(pool, &o->all[i].wide);
        known_drop(pool, &o->all[i].hoped);
        known_drop(pool, &o->all[i].arrived);
        drop_far(pool, &o->all[i]);
        free(o->all[i].waits);
    }
    free(o->all);
    *o = (struct objects){ 0 };
}

void check_order_clear(struct checker *c, struct block_check *k)
{
    for (uint32_t t = 0; k->informed && t < c->grid->threads; t++) {
        struct view *v = &k->views[t];
        known_drop(&c->pool, &v->seen);
        known_drop(&c->pool, &v->reads);
        known_drop(&c->pool, &v->polled);
        known_drop(&c->pool, &v->lent);
        known_drop(&c->pool, &v->hoped);
        v->met = 0;
        for (int wide = 0; wide < 2; wide++) {
            known_drop(&c->pool, &v->fenced[wide]);
            known_drop(&c->pool, &v->pending[wide]);
            v->fenced_at[wide] = 0;
        }
    }
    known_drop(&c->pool, &k->common);
    k->common_at = 0;
    k->informed = false;
    clear_objects(&c->pool, &k->objects);
}

void check_order_free(struct checker *c)
{
    clear_objects(&c->pool, &c->objects);
    known_lesson_drop(&c->pool, &c->lesson);
    known_pool_free(&c->pool);
}
