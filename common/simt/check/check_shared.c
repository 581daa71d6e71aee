// Races and uninitialised reads in shared memory: granules that lie side by side, and nearly always fare alike, are
// looked at together, others by the rules of check_granule.c. See check.h.
#include <stdlib.h>
#include <string.h>

#include "check_granule.h"
#include "check_shadow.h"
#include "fold.h"

bool check_shared_new(struct checker *c, struct block_check *k)
{
    k->granules = calloc(c->n_granules, sizeof *k->granules);
    k->quiet = calloc(c->n_granules, sizeof *k->quiet);
    k->folded = calloc(c->n_granules, 1);  // more than there are folds
    if (!k->granules || !k->quiet || !k->folded)
        return false;
    check_shared_clear(c, k);
    return true;
}

void check_shared_clear(struct checker *c, struct block_check *k)
{
    const struct code *code = c->grid->code;
    memset(k->granules, 0, c->n_granules * sizeof *k->granules);
    memset(k->quiet, 0, c->n_granules * sizeof *k->quiet);
    memset(k->folded, 0, c->n_granules);
    k->folds = false;
    memset(k->sure, 0, sizeof k->sure);
    if (k->strong)
        memset(k->strong, 0, c->n_granules * sizeof *k->strong);
    for (uint32_t i = 0; i < code->n_shared_vars; i++) {
        const struct shared_var *v = &code->shared_vars[i];
        for (uint32_t g = (v->at + v->bytes) >> code->shared_shift; g < v->gap_end >> code->shared_shift; g++)
            k->granules[g].write_at = NO_MANS;
    }
    k->copies = false;
    k->read_under_way = 0;
}

// --- granules of an access, which nearly always fare alike: all of them, or those of a run ---

struct side {
    uint32_t base, n;        // granule base + at[i], for each i below n
    uint32_t step;           // each step-th stands for the others up to the next: 1, or a fold's granules
    const uint32_t *at;      // ascending
    const struct touch *by;  // who touches them
};

// Is the access weak, and has this block made no strong one there?
static bool are_weak(const struct visit *v, const struct side *s)
{
    const struct block_check *k = v->k;
    const bool met = s->base + s->at[0] < k->strong_to && s->base + s->at[s->n - 1] >= k->strong_from;
    bool strong = v->strong || v->shared;
    for (uint32_t i = 0; met && i < s->n; i++) {
        const struct strong *x = &k->strong[s->base + s->at[i]];
        strong = strong || visit_within(v, x->write_at) || visit_within(v, x->read_at);
    }
    return !strong;
}

static inline struct granule *granule_of(const struct visit *v, const struct side *s, uint32_t i)
{
    return &v->k->granules[s->base + s->at[i]];
}

static bool in_cluster(const struct visit *v)
{
    return v->w->block->worker->cluster->n > 1;
}

// Were they written in this block before its last barrier of all?
static bool are_old(const struct visit *v, const struct side *s)
{
    const uint32_t start = v->k->start, times = v->k->all_seen + 1 - start;
    for (uint32_t i = 0; i < s->n; i += s->step)
        if (granule_of(v, s, i)->write_at - start >= times)
            return false;
    return true;
}

// Were they written in this block all at once, and before the lanes' accesses?
static bool are_known(const struct visit *v, const struct side *s)
{
    const struct who *writer = &granule_of(v, s, 0)->writer;
    const uint32_t at = granule_of(v, s, 0)->write_at;
    if (at >= READ_UNDER_WAY || !visit_within(v, at))
        return false;
    for (uint32_t i = 0; i < s->n; i += s->step) {
        const struct granule *x = granule_of(v, s, i);
        if (x->write_at != at || x->writer.thread != writer->thread || x->writer.flags != writer->flags)
            return false;
    }
    for (uint32_t i = 0; i < s->n; i += s->step)
        if (!check_granule_ordered(v, writer, at, s->by[i].lane) ||
            (s->by[i].lane2 != NO_LANE && !check_granule_ordered(v, writer, at, s->by[i].lane2)))
            return false;
    return true;
}

// Have they not been read since the last barrier of all?
static bool are_unread(const struct visit *v, const struct side *s)
{
    const uint32_t seen = v->k->all_seen;
    for (uint32_t i = 0; i < s->n; i += s->step)
        if (granule_of(v, s, i)->read_at > seen || granule_of(v, s, i)->many_at > seen)
            return false;
    return true;
}

static void read_first(const struct visit *v, const struct side *s)
{
    const uint32_t now = v->c->now;
    for (uint32_t i = 0; i < s->n; i += s->step) {
        struct granule *x = granule_of(v, s, i);
        const struct touch by = s->by[i];
        const bool two = by.lane2 != NO_LANE;
        x->reader = visit_who(v, by.lane);
        x->read_at = now;
        x->other = two ? visit_who(v, by.lane2) : x->other;
        x->many_at = two ? now : 0;
    }
}

static bool same_warp(const struct who *a, const struct who *b)
{
    return a->thread / LANES == b->thread / LANES && a->flags == b->flags;
}

// Are they read by what one other warp alone has read since the last barrier of all, or that one and a third?
static bool are_read(const struct visit *v, const struct side *s)
{
    const struct block_check *k = v->k;
    const struct granule like = *granule_of(v, s, 0);
    const uint32_t first = like.reader.thread / LANES;
    const bool many = like.many_at > k->all_seen;
    if (in_cluster(v) || like.reader.flags != v->mine || first == v->w->index || like.read_at <= k->all_seen ||
        like.read_at <= k->seen[v->w->index][first])
        return false;
    for (uint32_t i = s->step; i < s->n; i += s->step) {
        const struct granule *x = granule_of(v, s, i);
        if (x->read_at != like.read_at || x->many_at != like.many_at || !same_warp(&x->reader, &like.reader) ||
            (many && !same_warp(&x->other, &like.other)))
            return false;
    }
    for (uint32_t i = 0; k->informed && i < s->n; i += s->step) {
        const struct who *reader = &granule_of(v, s, i)->reader;
        if (check_granule_ordered(v, reader, like.read_at, s->by[i].lane) ||
            (s->by[i].lane2 != NO_LANE && check_granule_ordered(v, reader, like.read_at, s->by[i].lane2)))
            return false;
    }
    return true;
}

// Of many readers two are kept, of different warps.
static void read_again(const struct visit *v, const struct side *s)
{
    struct block_check *k = v->k;
    const struct granule *first = granule_of(v, s, 0);
    if (first->many_at > k->all_seen &&
        visit_warp(first->other.flags, first->other.thread) != visit_warp(first->reader.flags, first->reader.thread))
        return;
    for (uint32_t i = 0; i < s->n; i += s->step) {
        struct granule *x = granule_of(v, s, i);
        x->other = visit_who(v, s->by[i].lane);
        x->many_at = v->c->now;
        if (x->write_at <= k->all_seen && !k->strong)
            k->quiet[s->base + s->at[i]] = k->barrier;  // another read adds nothing
    }
}

// Are they old and unread?
static bool are_fresh(const struct visit *v, const struct side *s)
{
    const uint32_t start = v->k->start, seen = v->k->all_seen, times = seen + 1 - start;
    bool fresh = true;
    for (uint32_t i = 0; fresh && i < s->n; i += s->step) {
        const struct granule *x = granule_of(v, s, i);
        fresh = (x->write_at - start < times) & (x->read_at <= seen) & (x->many_at <= seen);
    }
    return fresh;
}

static __attribute__((noinline)) bool read_others(const struct visit *v, const struct side *s)
{
    if (!are_old(v, s) && !are_known(v, s))
        return false;
    if (are_unread(v, s))
        read_first(v, s);
    else if (are_read(v, s))
        read_again(v, s);
    else
        return false;
    return true;
}

// False where they have to be looked at one by one. Most are fresh: the others' code is kept out of their way.
static bool read_alike(const struct visit *v, const struct side *s)
{
    if (!are_weak(v, s))
        return false;
    if (!are_fresh(v, s))
        return read_others(v, s);
    read_first(v, s);
    return true;
}

// Are they touched by nothing since the last barrier of all, and now by one lane each?
static bool are_untouched(const struct visit *v, const struct side *s)
{
    if (v->op != CHECK_WRITE && (v->op != CHECK_COPY || in_cluster(v)))
        return false;
    for (uint32_t i = 0; i < s->n; i += s->step)
        if (granule_of(v, s, i)->write_at > v->k->all_seen || s->by[i].lane2 != NO_LANE)
            return false;
    return are_unread(v, s);
}

// The same for writes: there is nothing to compare with.
static bool write_alike(const struct visit *v, const struct side *s)
{
    struct block_check *k = v->k;
    const uint32_t at = v->op == CHECK_COPY ? UNDER_WAY : v->c->now;
    if (!are_weak(v, s) || !are_untouched(v, s))
        return false;
    for (uint32_t i = 0; i < s->n; i += s->step) {
        struct granule *x = granule_of(v, s, i);
        x->writer = visit_who(v, s->by[i].lane);
        x->write_at = at;
        x->read_at = x->many_at = k->quiet[s->base + s->at[i]] = 0;
    }
    k->copies |= v->op == CHECK_COPY;
    return true;
}

static bool visit_alike(const struct visit *v, const struct side *s)
{
    return check_writes(v->op) ? write_alike(v, s) : read_alike(v, s);
}

static bool are_quiet(const struct block_check *k, const struct side *s)
{
    for (uint32_t i = 0; i < s->n; i += s->step)
        if (k->quiet[s->base + s->at[i]] != k->barrier)
            return false;
    return true;
}

// Are all granules quiet that an access touches, from granule base on? No fold stands for others here.
static bool is_quiet(const struct block_check *k, struct touches *t, uint32_t base)
{
    for (uint32_t i = 0; i < t->n; i++)
        if (k->quiet[base + t->at[i]] != k->barrier)
            return false;
    t->hush = k->hush;
    t->hushed = base;
    return true;
}

static void visit_one(const struct visit *v, const struct side *s, uint32_t i)
{
    const struct side one = { s->base, 1, 1, &s->at[i], &s->by[i] };
    if (!visit_alike(v, &one))
        check_granule(v, &s->by[i], s->base + s->at[i]);
}

// Do all of them lie in folds that are folded, fold by fold?
static bool are_folded(const struct visit *v, const struct side *s, bool by_folds)
{
    const unsigned bits = FOLD_BITS - v->c->grid->code->shared_shift;
    bool folded = by_folds;
    for (uint32_t i = 0; folded && i < s->n; i += 1u << bits) {
        const uint32_t g = s->base + s->at[i];
        folded = g % (1u << bits) == 0 && v->k->folded[g >> bits];
    }
    return folded;
}

// False if they do not fare alike.
static inline __attribute__((always_inline)) bool visit_side(const struct visit *v, const struct side *s)
{
    return (!check_writes(v->op) && !v->shared && are_quiet(v->k, s)) || visit_alike(v, s);
}

// A run has been written whose granules were no folds: they are now, where they are alike.
static void fold_run(const struct visit *v, const struct run *run)
{
    const unsigned shift = v->c->grid->code->shared_shift;
    const uint32_t g = v->base + (uint32_t)run->at;
    if (check_writes(v->op) && run->folds && g % (1u << (FOLD_BITS - shift)) == 0)
        fold_close(v->k, shift, g, g + run->n);
}

static void visit_run(const struct visit *v, const struct touches *t, const struct run *run)
{
    const unsigned shift = v->c->grid->code->shared_shift;
    struct side s = { v->base, run->n, 1, &t->at[run->first], &t->all[run->first] };
    const uint32_t g = v->base + (uint32_t)run->at;
    const bool folded = v->k->folds && are_folded(v, &s, run->folds);
    if (folded)
        s.step = 1u << (FOLD_BITS - shift);
    else if (v->k->folds)
        fold_open(v->k, shift, g, g + s.n);
    if (visit_side(v, &s)) {
        if (!folded)
            fold_run(v, run);
        return;
    }
    if (folded)
        fold_open(v->k, shift, g, g + s.n);
    for (uint32_t i = 0; i < s.n; i++)
        visit_one(v, &s, i);
}

// All runs at once. False if they do not fare alike, or only some of them are folded.
static bool visit_whole(const struct visit *v, const struct touches *t)
{
    struct side s = { v->base, t->n, 1, t->at, t->all };
    const bool folded = v->k->folds;
    if (folded && !are_folded(v, &s, t->folds))
        return false;
    if (folded)
        s.step = 1u << (FOLD_BITS - v->c->grid->code->shared_shift);
    if (!visit_side(v, &s))
        return false;
    for (uint32_t r = 0; !folded && r < t->n_runs; r++)
        fold_run(v, &t->runs[r]);
    return true;
}

static void visit_all(const struct visit *v, const struct touches *t)
{
    const bool whole = visit_whole(v, t);
    for (uint32_t r = 0; !whole && r < t->n_runs; r++)
        visit_run(v, t, &t->runs[r]);
    if (v->strong && check_writes(v->op))
        tick(v->c);  // whoever reads it there does so later
}

static uint32_t granule_at(const struct checker *c, uint64_t address)
{
    return cluster_offset(address) >> c->grid->code->shared_shift;
}

// Was all of what is read from granule base on quiet before, and is still?
static bool is_hushed(const struct block_check *k, const struct touches *t, uint32_t base, enum check_op op)
{
    return op == CHECK_READ && t->hush == k->hush && t->hushed == base && !k->guests;
}

// A strong access. False when memory runs out.
static bool look_strong(struct visit *v)
{
    struct block_check *k = v->k;
    const bool atomic = check_atomic(v->op);
    v->strong = true;
    v->polls = check_polls(v->u, v->op);
    v->is_volatile = !atomic && v->u->mem->order == ORDER_VOLATILE;
    v->first.flags |= (uint16_t)((atomic ? WHO_ATOMIC : 0) | (v->is_volatile ? WHO_VOLATILE : 0));
    if (!k->strong)
        k->strong = calloc(v->c->n_granules, sizeof *k->strong);
    v->c->failed |= !k->strong;
    return k->strong;
}

// The access touches t from first on, in home's memory.
static void visit(struct warp *w, const struct uop *u, struct touches *t, uint64_t first, enum check_op op,
                  struct block *home)
{
    struct checker *c = w->block->worker->check;
    struct block_check *k = home->check;
    const uint32_t base = granule_at(c, first);
    const bool shared = home != w->block || k->guests, strong = check_strong(u, op);
    const uint16_t mine = (uint16_t)(w->block->rank << WHO_RANK);
    struct asked asked[ASKED];
    struct visit v = { .w = w,
                       .u = u,
                       .c = c,
                       .home = home,
                       .k = k,
                       .op = op,
                       .shared = shared,
                       .base = base,
                       .mine = mine,
                       .first = { u->inst, (uint16_t)(w->index * LANES), mine },
                       .asked = asked };
    if ((op == CHECK_READ && !strong && !shared && is_quiet(k, t, base)) || (strong && !look_strong(&v)))
        return;
    for (int i = 0; i < ASKED; i++)
        asked[i].at = 0;
    visit_all(&v, t);
}

// Does only the library of cooperative groups use what is there? It counts on more than PTX promises.
static bool reserved(const struct checker *c, uint64_t address)
{
    return cluster_offset(address) < c->grid->code->reserved_bytes;
}

// The lanes of active whose addresses lie in the same block's memory as the first one's.
static uint32_t same_home(uint32_t active, const uint64_t address[LANES])
{
    const uint32_t rank = cluster_rank(address[__builtin_ctz(active)]);
    uint32_t same = 0;
    for (uint32_t i = 0; i < LANES; i++)
        same |= (uint32_t)(active >> i & 1 && cluster_rank(address[i]) == rank) << i;
    return same;
}

void check_shared(struct warp *w, const struct uop *u, uint32_t index, uint32_t active, const uint64_t address[LANES],
                  uint32_t bytes, enum check_op op)
{
    struct checker *c = w->block->worker->check;
    for (uint32_t left = active, lanes; left; left &= ~lanes) {
        lanes = same_home(left, address);
        struct touches *t = check_touches(c, index, lanes, address, bytes, c->grid->code->shared_shift);
        const uint64_t first = address[__builtin_ctz(lanes)];
        struct block *home = cluster_block(w->block->worker, first);
        if (!t || reserved(c, first) || is_hushed(home->check, t, granule_at(c, first), op))
            continue;
        for (uint32_t i = home == w->block ? 0 : lanes; i; i &= i - 1)
            check_visits(w, u, (uint32_t)__builtin_ctz(i), home);
        visit(w, u, t, first, op, home);
    }
}

uint64_t check_shared_unset(const struct block *b, uint32_t at, uint32_t bytes)
{
    const struct code *code = b->worker->grid->code;
    const unsigned shift = code->shared_shift;
    struct block_check *k = b->check;
    if (k->folds)
        fold_open(k, shift, at >> shift, ((at + bytes - 1) >> shift) + 1);
    uint64_t unset = 0;
    for (uint32_t i = 0; at >= code->reserved_bytes && i < bytes; i++) {
        const uint32_t g = (at + i) >> shift;
        if (k->granules[g].write_at < k->start && !(k->strong && k->strong[g].write_at >= k->start))
            unset |= shadow_mask(1) << 8 * i;
    }
    return unset;
}

// Is all that was done at the granules of an mbarrier strong, or from before the last barrier of all? Then no lane that
// looks at it has a finding.
static bool is_settled(const struct warp *w, uint64_t address)
{
    const struct checker *c = w->block->worker->check;
    const struct block_check *k = w->block->check;
    const unsigned shift = c->grid->code->shared_shift;
    const uint32_t first = cluster_offset(address) >> shift;
    bool settled = cluster_block(w->block->worker, address) == w->block && !k->guests && k->strong;
    for (uint32_t g = first; settled && g < first + (8 >> shift); g++) {
        const struct granule *x = &k->granules[g];
        settled = !fold_holds(k, shift, g) && x->write_at >= k->start && x->write_at <= k->all_seen &&
                  x->read_at <= k->all_seen && x->many_at <= k->all_seen;
    }
    return settled;
}

// Of lanes without a finding the last one is remembered.
void check_shared_mbarrier(struct warp *w, const struct uop *u, uint32_t lanes, uint32_t address)
{
    uint64_t at[LANES];
    for (uint32_t i = 0; i < LANES; i++)
        at[i] = address;
    if (is_settled(w, address))
        lanes = 1u << (LANES - 1 - (uint32_t)__builtin_clz(lanes));
    for (; lanes; lanes &= lanes - 1)
        check_shared(w, u, u->warp->mem.index, lanes & -lanes, at, 8, CHECK_ATOMIC);
}

bool check_shared_again(struct warp *w, const struct uop *u, uint32_t index, uint32_t pattern, uint64_t first,
                        enum check_op op)
{
    struct checker *c = w->block->worker->check;
    struct touches *t = c->touches[index];
    if (!t || t->pattern != pattern || cluster_block(w->block->worker, first) != w->block)
        return false;
    if (!reserved(c, first) && !is_hushed(w->block->check, t, granule_at(c, first), op))
        visit(w, u, t, first, op, w->block);
    return true;
}

void check_delivered(struct warp *w, uint32_t lane, uint32_t address, uint32_t bytes)
{
    const struct checker *c = w->block->worker->check;
    struct block_check *k = w->block->check;
    const unsigned shift = c->grid->code->shared_shift;
    const uint32_t at = cluster_offset(address), end = (at + bytes) >> shift;
    for (uint32_t g = at >> shift, n; g < end; g += n) {
        n = fold_size(k, shift, g, end);
        struct granule *x = &k->granules[g];
        if (x->write_at == UNDER_WAY && x->writer.thread == w->index * LANES + lane)
            x->write_at = c->now;
    }
}
