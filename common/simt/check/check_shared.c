// Races and uninitialised reads in shared memory. See check.h.
#include <stdlib.h>
#include <string.h>

#include "check_order.h"
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

struct asked {                         // neighbouring granules ask the same
    uint32_t thread, flags, at, lane;  // at 0: nothing
    bool ordered;
};

#define ASKED 4

struct visit {  // an access in hand
    struct warp *w;
    const struct uop *u;
    struct checker *c;
    struct block *home;     // whose shared memory it is
    struct block_check *k;  // home's
    enum check_op op;
    bool strong, is_volatile, polls;
    bool shared;       // other blocks of the cluster use this memory, too
    uint32_t base;     // the granule of the first active lane, in home's memory
    uint16_t mine;     // flags of an ordinary access by the own block: its rank
    struct who first;  // who lane 0 is in this access
    struct asked *asked;
};

static uint32_t thread_of(const struct visit *v, uint32_t lane)
{
    return v->w->index * LANES + lane;
}

// What happened to who at time at: is it ordered before the lane's access now?
static bool ordered(const struct visit *v, const struct who *who, uint32_t at, uint32_t lane)
{
    const bool ordinary = (who->flags & ~(WHO_ATOMIC | WHO_VOLATILE)) == v->mine;
    struct asked *a = &v->asked[(who->thread ^ at) % ASKED];
    if (ordinary && (at <= v->w->block->check->all_seen || !v->w->block->check->informed))
        return check_ordered(v->w, lane, who->thread, at);
    if (a->at != at || a->thread != who->thread || a->flags != who->flags || a->lane != lane)
        *a = (struct asked){ who->thread, who->flags, at, lane, check_ordered_who(v->w, lane, who, at) };
    return a->ordered;
}

static bool ordered_reader(const struct visit *v, const struct who *who, uint32_t at, uint32_t lane)
{
    return check_ordered_reader(v->w, lane, who, at);
}

static void note(const struct visit *v, enum fault_kind kind, uint32_t g, uint32_t lane, const struct who *who,
                 bool other_store)
{
    const struct code *code = v->c->grid->code;
    struct fault f = check_site(v->w, v->u->inst, lane, kind);
    f.store = check_writes(v->op);
    f.atomic = check_atomic(v->op);
    f.cp_async = v->op == CHECK_COPY;
    f.space = SPACE_SHARED;
    f.address = ((uint64_t)g << code->shared_shift) + v->home->window;
    f.bytes = 1u << code->shared_shift;
    check_other(&f, v->w->block, v->home, who, other_store);
    check_note(v->c, &f);
}

static struct who me(const struct visit *v, uint32_t lane)
{
    return (struct who){ v->first.inst, (uint16_t)(v->first.thread + lane), v->first.flags };
}

// Did it happen in this block?
static bool within(const struct visit *v, uint32_t at)
{
    return at >= v->k->start;
}

// Does the lane write what is there already, or what lane2 writes too? Then the order does not matter.
static bool same_value(const struct visit *v, uint32_t g, uint32_t lane, uint32_t lane2)
{
    const unsigned shift = v->c->grid->code->shared_shift;
    const uint64_t at = (uint64_t)g << shift, address = at + v->home->window;
    unsigned char a[16], b[16];
    if (!check_stored(v->w, v->u, lane, address, shift, a))
        return false;
    if (lane2 != NO_LANE)
        return check_stored(v->w, v->u, lane2, address, shift, b) && !memcmp(a, b, 1u << shift);
    return !memcmp(a, v->w->block->worker->cluster->shared[v->home->rank] + at, 1u << shift);
}

// May the access in hand race with a strong one by who? See check.h.
static bool rivals(const struct visit *v, const struct who *who)
{
    return !v->strong || (v->is_volatile && who->flags & WHO_VOLATILE && who->thread / LANES == v->w->index &&
                          who->flags >> WHO_RANK == v->w->block->rank);
}

// Has a strong read seen the last strong write, and is ordered before the access in hand? Then so is the write itself
// (check_global.c, observed).
static bool observed(const struct visit *v, const struct strong *s, uint32_t lane)
{
    const bool in_step = s->writer.flags & s->reader.flags & WHO_VOLATILE &&
                         s->writer.thread / LANES == s->reader.thread / LANES;  // see check.h
    return s->read_at > s->write_at && within(v, s->read_at) && !in_step && ordered(v, &s->reader, s->read_at, lane);
}

// A race with a strong access of this block.
static void meet_strong(const struct visit *v, uint32_t g, uint32_t lane)
{
    const struct strong *s = &v->k->strong[g];
    const bool write = check_writes(v->op);
    if (rivals(v, &s->writer) && within(v, s->write_at) && !ordered(v, &s->writer, s->write_at, lane) &&
        !observed(v, s, lane) && !(write && v->is_volatile && same_value(v, g, lane, NO_LANE)))
        note(v, FAULT_RACE, g, lane, &s->writer, true);
    else if (write && rivals(v, &s->reader) && within(v, s->read_at) && !ordered(v, &s->reader, s->read_at, lane))
        note(v, FAULT_RACE, g, lane, &s->reader, false);
}

// Another strong write that nothing orders with the one in hand (check_global.c, unordered).
static void meet_unordered(const struct visit *v, uint32_t g, uint32_t lane)
{
    const struct strong *s = &v->k->strong[g];
    const bool atomic = check_atomic(v->op);
    const uint32_t at = atomic ? s->store_at : s->write_at;
    const struct who *who = atomic ? &s->storer : &s->writer;
    if (within(v, at) && !v->polls && s->polled_at <= at && !rivals(v, who) && !ordered(v, who, at, lane) &&
        !observed(v, s, lane) && !same_value(v, g, lane, NO_LANE))
        note(v, FAULT_CHANCE, g, lane, who, true);
}

static void note_strong(struct block_check *k, uint32_t g)
{
    k->strong_from = g < k->strong_from || !k->strong_to ? g : k->strong_from;
    k->strong_to = g + 1 > k->strong_to ? g + 1 : k->strong_to;
}

// Warps of a cluster, by a number each.
static uint32_t warp_of(uint32_t flags, uint32_t thread)
{
    return flags >> WHO_RANK << 8 | thread / LANES;
}

// Is what it loads looked at when it is used (shadow.h)?
static bool is_followed(const struct visit *v)
{
    return v->u->kind == UOP_LOAD && v->u->mem->ahead_of_use && v->home == v->w->block;
}

static void read_one(const struct visit *v, uint32_t g, uint32_t lane)
{
    struct block_check *k = v->k;
    struct granule *x = &k->granules[g];
    if (x->write_at == UNDER_WAY)
        note(v, FAULT_COPY, g, lane, &x->writer, true);
    else if (!within(v, x->write_at) && !(k->strong && within(v, k->strong[g].write_at))) {
        if (!is_followed(v))
            note(v, FAULT_UNINIT, g, lane, NULL, false);
    } else if (within(v, x->write_at) && !ordered(v, &x->writer, x->write_at, lane))
        note(v, FAULT_RACE, g, lane, &x->writer, true);
    else if (k->strong)
        meet_strong(v, g, lane);
    if (v->strong) {
        note_strong(k, g);
        k->strong[g].reader = me(v, lane);
        k->strong[g].read_at = v->c->now;
        k->strong[g].polled_at = v->polls ? v->c->now : k->strong[g].polled_at;
        return;
    }
    if (!within(v, x->read_at) || ordered(v, &x->reader, x->read_at, lane)) {
        x->reader = me(v, lane);
        x->read_at = v->c->now;
        if (!within(v, x->many_at) || ordered(v, &x->other, x->many_at, lane))
            x->many_at = 0;
        return;
    }
    const uint32_t w = warp_of(v->w->block->rank << WHO_RANK, v->w->index * LANES);
    const uint32_t first = warp_of(x->reader.flags, x->reader.thread),
                   second = warp_of(x->other.flags, x->other.thread);
    const bool live = x->many_at > k->all_seen && within(v, x->many_at);
    if (live && (second != first || w == first))
        return;
    x->other = me(v, lane);
    x->many_at = v->c->now;
    // Two warps have read it, and whoever wrote it did so before the last barrier of all: another read adds nothing.
    if (w != first && within(v, x->write_at) && x->write_at <= k->all_seen && !k->strong && !v->shared)
        k->quiet[g] = k->barrier;
}

static void write_one(const struct visit *v, uint32_t g, uint32_t lane)
{
    struct block_check *k = v->k;
    struct granule *x = &k->granules[g];
    const uint32_t at = x->write_at;
    if (at == UNDER_WAY)
        note(v, FAULT_COPY, g, lane, &x->writer, true);
    else if (within(v, at) && !ordered(v, &x->writer, at, lane) && !same_value(v, g, lane, NO_LANE))
        note(v, FAULT_RACE, g, lane, &x->writer, true);
    else if (k->strong)
        meet_strong(v, g, lane);
    if (check_reads(v->u, v->op) && !within(v, at) && !within(v, k->strong[g].write_at))
        note(v, FAULT_UNINIT, g, lane, NULL, false);
    if (within(v, x->read_at) && !ordered_reader(v, &x->reader, x->read_at, lane))
        note(v, FAULT_RACE, g, lane, &x->reader, false);
    else if (within(v, x->many_at) && !ordered_reader(v, &x->other, x->many_at, lane))
        note(v, FAULT_RACE, g, lane, &x->other, false);
    if (x->read_at == READ_UNDER_WAY && x->reader.thread == thread_of(v, lane) &&
        x->reader.flags >> WHO_RANK == v->w->block->rank)
        note(v, FAULT_RACE, g, lane, &x->reader, false);
    x->read_at = x->many_at = k->quiet[g] = 0;
    k->hush = ++v->c->calms;
    if (v->strong) {
        meet_unordered(v, g, lane);
        note_strong(k, g);
        struct strong *s = &k->strong[g];
        s->writer = me(v, lane);
        s->write_at = v->c->now;
        s->storer = check_atomic(v->op) ? s->storer : s->writer;
        s->store_at = check_atomic(v->op) ? s->store_at : s->write_at;
        return;
    }
    x->writer = me(v, lane);
    x->write_at = v->op == CHECK_COPY ? UNDER_WAY : v->c->now;
    k->copies |= v->op == CHECK_COPY;
}

// --- granules side by side, which nearly always fare alike ---

struct side {  // by side: n granules from g on
    uint32_t g, n;
    uint32_t step;           // each step-th stands for the others up to the next: 1, or a fold's granules
    const struct touch *by;  // who touches them
};

// Is the access weak, and has this block made no strong one there?
static bool are_weak(const struct visit *v, const struct side *s)
{
    const struct strong *all = v->k->strong;
    const bool met = s->g < v->k->strong_to && s->g + s->n > v->k->strong_from;
    bool strong = v->strong || v->shared;
    for (uint32_t i = s->g; met && i < s->g + s->n; i++)
        strong = strong || within(v, all[i].write_at) || within(v, all[i].read_at);
    return !strong;
}

static bool in_cluster(const struct visit *v)
{
    return v->w->block->worker->cluster->n > 1;
}

// Were they written in this block before its last barrier of all?
static bool are_old(const struct visit *v, const struct side *s)
{
    const uint32_t start = v->k->start, times = v->k->all_seen + 1 - start;
    const struct granule *x = &v->k->granules[s->g];
    for (uint32_t i = 0; i < s->n; i += s->step)
        if (x[i].write_at - start >= times)
            return false;
    return true;
}

// Were they written in this block all at once, and before the lanes' accesses?
static bool are_known(const struct visit *v, const struct side *s)
{
    const struct granule *x = &v->k->granules[s->g];
    const struct who *writer = &x->writer;
    const uint32_t at = x->write_at;
    if (at >= READ_UNDER_WAY || !within(v, at))
        return false;
    for (uint32_t i = 0; i < s->n; i += s->step)
        if (x[i].write_at != at || x[i].writer.thread != writer->thread || x[i].writer.flags != writer->flags)
            return false;
    for (uint32_t i = 0; i < s->n; i += s->step)
        if (!ordered(v, writer, at, s->by[i].lane) ||
            (s->by[i].lane2 != NO_LANE && !ordered(v, writer, at, s->by[i].lane2)))
            return false;
    return true;
}

// Have they not been read since the last barrier of all?
static bool are_unread(const struct visit *v, const struct side *s)
{
    const uint32_t seen = v->k->all_seen;
    const struct granule *x = &v->k->granules[s->g];
    for (uint32_t i = 0; i < s->n; i += s->step)
        if (x[i].read_at > seen || x[i].many_at > seen)
            return false;
    return true;
}

static void read_first(const struct visit *v, const struct side *s)
{
    const uint32_t now = v->c->now;
    struct granule *x = &v->k->granules[s->g];
    for (uint32_t i = 0; i < s->n; i += s->step) {
        const struct touch by = s->by[i];
        x[i].reader = me(v, by.lane);
        x[i].read_at = now;
        x[i].many_at = 0;
        if (by.lane2 != NO_LANE) {
            x[i].other = me(v, by.lane2);
            x[i].many_at = now;
        }
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
    const struct granule *x = &k->granules[s->g], like = *x;
    const uint32_t first = like.reader.thread / LANES;
    const bool many = like.many_at > k->all_seen;
    if (in_cluster(v) || like.reader.flags != v->mine || first == v->w->index || like.read_at <= k->all_seen ||
        like.read_at <= k->seen[v->w->index][first])
        return false;
    for (uint32_t i = s->step; i < s->n; i += s->step)
        if (x[i].read_at != like.read_at || x[i].many_at != like.many_at || !same_warp(&x[i].reader, &like.reader) ||
            (many && !same_warp(&x[i].other, &like.other)))
            return false;
    for (uint32_t i = 0; k->informed && i < s->n; i += s->step)
        if (ordered(v, &x[i].reader, like.read_at, s->by[i].lane) ||
            (s->by[i].lane2 != NO_LANE && ordered(v, &x[i].reader, like.read_at, s->by[i].lane2)))
            return false;
    return true;
}

// Of many readers two are kept, of different warps.
static void read_again(const struct visit *v, const struct side *s)
{
    struct block_check *k = v->k;
    struct granule *x = &k->granules[s->g];
    uint32_t *quiet = &k->quiet[s->g];
    if (x->many_at > k->all_seen &&
        warp_of(x->other.flags, x->other.thread) != warp_of(x->reader.flags, x->reader.thread))
        return;
    for (uint32_t i = 0; i < s->n; i += s->step) {
        x[i].other = me(v, s->by[i].lane);
        x[i].many_at = v->c->now;
        if (x[i].write_at <= k->all_seen && !k->strong)
            quiet[i] = k->barrier;  // another read adds nothing
    }
}

// False where they have to be looked at one by one.
static bool read_alike(const struct visit *v, const struct side *s)
{
    if (!are_weak(v, s) || !(are_old(v, s) || are_known(v, s)))
        return false;
    if (are_unread(v, s))
        read_first(v, s);
    else if (are_read(v, s))
        read_again(v, s);
    else
        return false;
    return true;
}

// Are they touched by nothing since the last barrier of all, and now by one lane each?
static bool are_untouched(const struct visit *v, const struct side *s)
{
    const struct granule *x = &v->k->granules[s->g];
    if (v->op != CHECK_WRITE && (v->op != CHECK_COPY || in_cluster(v)))
        return false;
    for (uint32_t i = 0; i < s->n; i += s->step)
        if (x[i].write_at > v->k->all_seen || s->by[i].lane2 != NO_LANE)
            return false;
    return are_unread(v, s);
}

// The same for writes: there is nothing to compare with.
static bool write_alike(const struct visit *v, const struct side *s)
{
    struct block_check *k = v->k;
    const uint32_t at = v->op == CHECK_COPY ? UNDER_WAY : v->c->now;
    struct granule *x = &k->granules[s->g];
    uint32_t *quiet = &k->quiet[s->g];
    if (!are_weak(v, s) || !are_untouched(v, s))
        return false;
    for (uint32_t i = 0; i < s->n; i += s->step) {
        x[i].writer = me(v, s->by[i].lane);
        x[i].write_at = at;
        x[i].read_at = x[i].many_at = quiet[i] = 0;
    }
    k->copies |= v->op == CHECK_COPY;
    return true;
}

static bool visit_alike(const struct visit *v, const struct side *s)
{
    return check_writes(v->op) ? write_alike(v, s) : read_alike(v, s);
}

static void visit_one(const struct visit *v, const struct touch *t, uint32_t g)
{
    const struct side s = { g, 1, 1, t };
    if (visit_alike(v, &s))
        return;
    if (v->k->granules[g].write_at == NO_MANS) {
        note(v, FAULT_BOUNDS, g, t->lane, NULL, false);
        return;
    }
    if (!check_writes(v->op)) {
        read_one(v, g, t->lane);
        if (t->lane2 != NO_LANE)
            read_one(v, g, t->lane2);
        return;
    }
    write_one(v, g, t->lane);
    if (t->lane2 != NO_LANE && !check_atomic(v->op) && !same_value(v, g, t->lane, t->lane2)) {
        struct who who = me(v, t->lane);
        note(v, v->strong ? FAULT_CHANCE : FAULT_RACE, g, t->lane2, &who, true);
    }
}

static bool are_quiet(const struct block_check *k, const struct side *s)
{
    const uint32_t *quiet = &k->quiet[s->g];
    for (uint32_t i = 0; i < s->n; i += s->step)
        if (quiet[i] != k->barrier)
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

// The granules of a run, by folds where all are folded.
static struct side side_of(const struct visit *v, const struct touches *t, const struct run *run)
{
    struct block_check *k = v->k;
    const unsigned shift = v->c->grid->code->shared_shift;
    const uint32_t g = v->base + (uint32_t)run->at, fold = 1u << (FOLD_BITS - shift);
    struct side s = { g, run->n, 1, &t->all[run->first] };
    if (k->folds && run->folds && g % fold == 0 && fold_holds_all(k, shift, g, g + run->n))
        s.step = fold;
    else if (k->folds)
        fold_open(k, shift, g, g + run->n);
    return s;
}

static void visit_run(const struct visit *v, const struct touches *t, const struct run *run)
{
    const unsigned shift = v->c->grid->code->shared_shift;
    const struct side s = side_of(v, t, run);
    const bool write = check_writes(v->op), by_folds = run->folds && s.g % (1u << (FOLD_BITS - shift)) == 0;
    if (!write && !v->shared && are_quiet(v->k, &s))
        return;
    if (visit_alike(v, &s)) {
        if (write && by_folds && s.step == 1)
            fold_close(v->k, shift, s.g, s.g + s.n);
        return;
    }
    if (s.step != 1)
        fold_open(v->k, shift, s.g, s.g + s.n);
    for (uint32_t i = 0; i < s.n; i++)
        visit_one(v, &s.by[i], s.g + i);
}

static void visit_all(const struct visit *v, const struct touches *t)
{
    for (uint32_t r = 0; r < t->n_runs; r++)
        visit_run(v, t, &t->runs[r]);
    if (v->strong && check_writes(v->op))
        tick(v->c);  // whoever reads it there does so later
}

// Fills in v. False if there is nothing to compare: a plain read touches quiet granules alone; or memory has run out.
static bool look(struct warp *w, const struct uop *u, struct touches *t, uint64_t first, enum check_op op,
                 struct visit *v, struct asked asked[ASKED])
{
    struct checker *c = w->block->worker->check;
    struct block *home = cluster_block(w->block->worker, first);
    struct block_check *k = home->check;
    const uint32_t base = cluster_offset(first) >> c->grid->code->shared_shift;
    if (op == CHECK_READ && t->hush == k->hush && t->hushed == base && !k->guests)
        return false;
    const bool strong = check_strong(u, op), shared = home != w->block || k->guests;
    const bool is_volatile = strong && !check_atomic(op) && u->mem->order == ORDER_VOLATILE;
    const uint16_t mine = (uint16_t)(w->block->rank << WHO_RANK);
    const uint16_t flags = (uint16_t)((check_atomic(op) ? WHO_ATOMIC : 0) | (is_volatile ? WHO_VOLATILE : 0) | mine);
    if (op == CHECK_READ && !strong && !shared && is_quiet(k, t, base))
        return false;
    *v = (struct visit){ .w = w,
                         .u = u,
                         .c = c,
                         .home = home,
                         .k = k,
                         .op = op,
                         .strong = strong,
                         .polls = check_polls(u, op),
                         .is_volatile = is_volatile,
                         .shared = shared,
                         .base = base,
                         .mine = mine,
                         .first = { u->inst, (uint16_t)(w->index * LANES), flags },
                         .asked = asked };
    for (int i = 0; i < ASKED; i++)
        asked[i].at = 0;
    if (!v->strong || k->strong)
        return true;
    k->strong = calloc(c->n_granules, sizeof *k->strong);
    c->failed |= !k->strong;
    return k->strong;
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
        struct visit v;
        struct asked asked[ASKED];
        if (!t || reserved(c, first) || !look(w, u, t, first, op, &v, asked))
            continue;
        for (uint32_t i = v.home == w->block ? 0 : lanes; i; i &= i - 1)
            check_visits(w, u, (uint32_t)__builtin_ctz(i), v.home);
        visit_all(&v, t);
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
    struct visit v;
    struct asked asked[ASKED];
    if (!t || t->pattern != pattern || cluster_block(w->block->worker, first) != w->block)
        return false;
    if (!reserved(c, first) && look(w, u, t, first, op, &v, asked))
        visit_all(&v, t);
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
