// Races and uninitialised reads in shared memory: granules that fare alike are looked at together (check_alike.c),
// others by the rules of check_granule.c. See check.h.
#include <stdlib.h>
#include <string.h>

#include "check_alike.h"
#include "check_shadow.h"
#include "fold.h"

static uint32_t count_folds(const struct checker *c)
{
    return (c->n_granules >> (FOLD_BITS - c->grid->code->shared_shift)) + 1;
}

static void forbid_gaps(const struct code *code, struct block_check *k)
{
    for (uint32_t i = 0; i < code->n_shared_vars; i++) {
        const struct shared_var *v = &code->shared_vars[i];
        for (uint32_t g = (v->at + v->bytes) >> code->shared_shift; g < v->gap_end >> code->shared_shift; g++)
            k->granules[g].write_at = RED_ZONE;
    }
}

bool check_shared_new(struct checker *c, struct block_check *k)
{
    k->granules = calloc(c->n_granules, sizeof *k->granules);
    k->redundant_in = calloc(c->n_granules, sizeof *k->redundant_in);
    const uint32_t folds = count_folds(c);
    k->folded = calloc(folds, 1);
    k->wholes = calloc(folds, sizeof *k->wholes);
    k->whole_redundant_in = calloc(folds, sizeof *k->whole_redundant_in);
    if (!k->granules || !k->redundant_in || !k->folded || !k->wholes || !k->whole_redundant_in)
        return false;
    forbid_gaps(c->grid->code, k);
    return true;
}

void check_shared_clear(struct checker *c, struct block_check *k)
{
    const uint32_t folds = count_folds(c);
    memset(k->granules, 0, c->n_granules * sizeof *k->granules);
    memset(k->redundant_in, 0, c->n_granules * sizeof *k->redundant_in);
    memset(k->folded, 0, folds);
    memset(k->whole_redundant_in, 0, folds * sizeof *k->whole_redundant_in);
    k->folds = false;
    memset(k->ordered_cache, 0, sizeof k->ordered_cache);
    if (k->strong)
        memset(k->strong, 0, c->n_granules * sizeof *k->strong);
    forbid_gaps(c->grid->code, k);
    k->copies = false;
    k->read_under_way = 0;
}

static void visit_one(const struct visit *v, const struct side *s, uint32_t i)
{
    const struct side one = check_side_of(v->k, s->base, 1, &s->at[i], &s->by[i]);
    if (!check_alike(v, &one))
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

static void stand_for_folds(const struct visit *v, struct side *s)
{
    s->bits = FOLD_BITS - v->c->grid->code->shared_shift;
    s->granules = v->k->wholes;
    s->redundant_in = v->k->whole_redundant_in;
}

// False if they do not fare alike.
static inline __attribute__((always_inline)) bool visit_side(const struct visit *v, const struct side *s)
{
    return (!check_writes(v->op) && !v->shared && check_redundant(v->k, s)) || check_alike(v, s);
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
    struct side s = check_side_of(v->k, v->base, run->n, &t->at[run->first], &t->all[run->first]);
    const uint32_t g = v->base + (uint32_t)run->at;
    const bool folded = v->k->folds && are_folded(v, &s, run->folds);
    if (folded)
        stand_for_folds(v, &s);
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

// All runs at once. False if they do not fare alike, or are read and only some of them are folded.
static bool visit_whole(const struct visit *v, const struct touches *t)
{
    const unsigned shift = v->c->grid->code->shared_shift;
    struct side s = check_side_of(v->k, v->base, t->n, t->at, t->all);
    const bool folded = v->k->folds && are_folded(v, &s, t->folds), opens = check_writes(v->op) && !t->folds;
    if (v->k->folds && !folded && !opens)
        return false;
    for (uint32_t r = 0; v->k->folds && !folded && r < t->n_runs; r++) {
        const uint32_t g = v->base + (uint32_t)t->runs[r].at;
        fold_open(v->k, shift, g, g + t->runs[r].n);
    }
    if (folded)
        stand_for_folds(v, &s);
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

// Were reads of all that is touched from granule base on redundant before, and are still?
static inline bool is_redundant(const struct block_check *k, const struct touches *t, uint32_t base, enum check_op op)
{
    const uint32_t at = check_redundant_slot(base);
    if (op != CHECK_READ || k->remote_accesses)
        return false;
    return t->n == 1 ? k->redundant_in[base] == k->barrier
                     : t->redundant[at].version == k->redundant_version && t->redundant[at].base == base;
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

// A weak read of this block's memory, which no other block uses: most need no more than a look at all of it.
static inline bool read_at_once(const struct warp *w, const struct uop *u, struct touches *t, uint32_t base,
                                enum check_op op)
{
    const struct who first = { u->inst, (uint16_t)(w->index * LANES), (uint16_t)(w->block->rank << WHO_RANK) };
    return op == CHECK_READ && !check_strong(u, op) && !w->block->check->remote_accesses &&
           check_read_at_once(w, t, base, first, w->block->worker->check->now);
}

// The access touches t from first on, in home's memory.
static void visit(struct warp *w, const struct uop *u, struct touches *t, uint64_t first, enum check_op op,
                  struct block *home)
{
    struct checker *c = w->block->worker->check;
    struct block_check *k = home->check;
    const uint32_t base = granule_at(c, first);
    const bool shared = home != w->block || k->remote_accesses, strong = check_strong(u, op);
    const uint16_t mine = (uint16_t)(w->block->rank << WHO_RANK);
    const struct who first_lane = { u->inst, (uint16_t)(w->index * LANES), mine };
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
                       .first = first_lane,
                       .asked = asked };
    if (strong && !look_strong(&v))
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
        if (!t || reserved(c, first) || is_redundant(home->check, t, granule_at(c, first), op))
            continue;
        for (uint32_t i = home == w->block ? 0 : lanes; i; i &= i - 1)
            check_visits(w, u, (uint32_t)__builtin_ctz(i), home);
        if (home != w->block || !read_at_once(w, u, t, granule_at(c, first), op))
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
    bool settled = cluster_block(w->block->worker, address) == w->block && !k->remote_accesses && k->strong;
    for (uint32_t g = first; settled && g < first + (8 >> shift); g++) {
        const struct granule *x = &k->granules[g];
        settled = !fold_holds(k, shift, g) && x->write_at >= k->start && x->write_at <= k->synced_block &&
                  x->read_at <= k->synced_block && x->many_at <= k->synced_block;
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
    const uint32_t base = granule_at(c, first);
    if (!reserved(c, first) && !is_redundant(w->block->check, t, base, op) && !read_at_once(w, u, t, base, op))
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
        struct granule *x = fold_granule(k, shift, g);
        if (x->write_at == UNDER_WAY && x->writer.thread == w->index * LANES + lane)
            x->write_at = c->now;
    }
}
