// Races and uninitialised reads in shared memory. See check.h.
#include <stdlib.h>
#include <string.h>

#include "check_order.h"
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
    bool shared;    // other blocks of the cluster use this memory, too
    uint32_t base;  // the granule of the first active lane, in home's memory
    uint16_t mine;  // flags of an ordinary access by the own block: its rank
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
    return (struct who){ v->u->inst, (uint16_t)thread_of(v, lane),
                         (uint16_t)((check_atomic(v->op) ? WHO_ATOMIC : 0) | (v->is_volatile ? WHO_VOLATILE : 0) |
                                    v->mine) };
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

// n granules from g on: is the access weak, and has this block made no strong one there?
static bool are_weak(const struct visit *v, uint32_t g, uint32_t n)
{
    const struct strong *s = v->k->strong ? v->k->strong + g : NULL;
    const bool met = g < v->k->strong_to && g + n > v->k->strong_from;
    bool strong = v->strong || v->shared;
    for (uint32_t i = 0; met && i < n; i++) {
        strong |= within(v, s[i].write_at);
        strong |= within(v, s[i].read_at);
    }
    return !strong;
}

static bool in_cluster(const struct visit *v)
{
    return v->w->block->worker->cluster->n > 1;
}

// Were they written in this block, before its last barrier of all or, all at once, before the lanes' accesses?
static bool are_settled(const struct visit *v, const struct touch *t, const struct granule *x, uint32_t n)
{
    const uint32_t start = v->k->start, seen = v->k->all_seen;
    uint32_t news = 0, differs = x->write_at >= READ_UNDER_WAY;
    for (uint32_t i = 0; i < n; i++)
        news |= (x[i].write_at > seen) | (x[i].write_at < start);
    if (!news)
        return true;
    for (uint32_t i = 0; i < n; i++)
        differs |= (x[i].write_at ^ x->write_at) | (uint32_t)(x[i].writer.thread ^ x->writer.thread) |
                   (uint32_t)(x[i].writer.flags ^ x->writer.flags);
    for (uint32_t i = 0; !differs && i < n; i++)
        differs = !within(v, x->write_at) || !ordered(v, &x->writer, x->write_at, t[i].lane) ||
                  (t[i].lane2 != NO_LANE && !ordered(v, &x->writer, x->write_at, t[i].lane2));
    return !differs;
}

// Have they not been read since the last barrier of all?
static bool are_unread(const struct visit *v, const struct granule *x, uint32_t n)
{
    const uint32_t seen = v->k->all_seen;
    uint32_t news = 0;
    for (uint32_t i = 0; i < n; i++)
        news |= (x[i].read_at > seen) | (x[i].many_at > seen);
    return !news;
}

static void read_first(const struct visit *v, const struct touch *t, struct granule *x, uint32_t n)
{
    const uint32_t now = v->c->now;
    for (uint32_t i = 0; i < n; i++) {
        x[i].reader = me(v, t[i].lane);
        x[i].read_at = now;
        x[i].many_at = 0;
        if (t[i].lane2 != NO_LANE) {
            x[i].other = me(v, t[i].lane2);
            x[i].many_at = now;
        }
    }
}

static bool same_warp(const struct who *a, const struct who *b)
{
    return a->thread / LANES == b->thread / LANES && a->flags == b->flags;
}

// Reads of what one other warp alone has read since the last barrier of all, or that one and a third: of many readers
// two are kept, of different warps. False if it is not so.
static bool read_again(const struct visit *v, const struct touch *t, struct granule *x, uint32_t n)
{
    struct block_check *k = v->k;
    const struct granule like = *x;
    const uint32_t first = like.reader.thread / LANES;
    const bool many = like.many_at > k->all_seen;
    bool differs = in_cluster(v) || like.reader.flags != v->mine || first == v->w->index ||
                   like.read_at <= k->all_seen || like.read_at <= k->seen[v->w->index][first];
    for (uint32_t i = 1; i < n && !differs; i++)
        differs = x[i].read_at != like.read_at || x[i].many_at != like.many_at ||
                  !same_warp(&x[i].reader, &like.reader) || (many && !same_warp(&x[i].other, &like.other));
    for (uint32_t i = 0; k->informed && i < n && !differs; i++)
        differs = ordered(v, &x[i].reader, like.read_at, t[i].lane) ||
                  (t[i].lane2 != NO_LANE && ordered(v, &x[i].reader, like.read_at, t[i].lane2));
    if (differs)
        return false;
    if (many && warp_of(like.other.flags, like.other.thread) != warp_of(like.reader.flags, like.reader.thread))
        return true;
    for (uint32_t i = 0; i < n; i++) {
        x[i].other = me(v, t[i].lane);
        x[i].many_at = v->c->now;
        if (x[i].write_at <= k->all_seen && !k->strong)
            k->quiet[x - k->granules + i] = k->barrier;  // another read adds nothing
    }
    return true;
}

// Writes of what was not touched since the last barrier of all: nothing to compare with. False if it is not so.
static bool write_first(const struct visit *v, const struct touch *t, struct granule *x, uint32_t n)
{
    struct block_check *k = v->k;
    const uint32_t at = v->op == CHECK_COPY ? UNDER_WAY : v->c->now;
    uint32_t *quiet = &k->quiet[x - k->granules];
    uint32_t news = v->op != CHECK_WRITE && (v->op != CHECK_COPY || in_cluster(v));
    for (uint32_t i = 0; i < n; i++)
        news |= (x[i].write_at > k->all_seen) | (t[i].lane2 != NO_LANE);
    if (news || !are_unread(v, x, n))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        x[i].writer = me(v, t[i].lane);
        x[i].write_at = at;
        x[i].read_at = x[i].many_at = quiet[i] = 0;
    }
    k->copies |= v->op == CHECK_COPY;
    return true;
}

// False where they have to be looked at one by one.
static bool visit_alike(const struct visit *v, const struct touch *t, uint32_t g, uint32_t n)
{
    struct granule *x = &v->k->granules[g];
    if (!are_weak(v, g, n))
        return false;
    if (check_writes(v->op))
        return write_first(v, t, x, n);
    if (!are_settled(v, t, x, n))
        return false;
    if (!are_unread(v, x, n))
        return read_again(v, t, x, n);
    read_first(v, t, x, n);
    return true;
}

static void visit_one(const struct visit *v, const struct touch *t, uint32_t g)
{
    if (visit_alike(v, t, g, 1))
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

// Are all granules of a run quiet?
static bool is_quiet_run(const struct block_check *k, const struct run *run, uint32_t base)
{
    const uint32_t *quiet = &k->quiet[base + (uint32_t)run->at];
    uint32_t news = 0;
    for (uint32_t i = 0; i < run->n; i++)
        news |= quiet[i] ^ k->barrier;
    return !news;
}

// Are all granules that an access touches, from granule base on? Short runs are looked at granule by granule.
static bool is_quiet(const struct block_check *k, const struct touches *t, uint32_t base)
{
    if (4 * t->n_runs < t->n) {
        for (uint32_t r = 0; r < t->n_runs; r++)
            if (!is_quiet_run(k, &t->runs[r], base))
                return false;
        return true;
    }
    for (uint32_t i = 0; i < t->n; i++)
        if (k->quiet[base + t->at[i]] != k->barrier)
            return false;
    return true;
}

static void visit_all(const struct visit *v, const struct touches *t)
{
    const struct block_check *k = v->k;
    const uint32_t base = v->base;
    // A plain read that came here has a granule that is not quiet.
    const bool all = check_writes(v->op) || v->shared || (t->n_runs == 1 && !v->strong);
    for (uint32_t r = 0; r < t->n_runs; r++) {
        const struct run *run = &t->runs[r];
        if (!all && is_quiet_run(k, run, base))
            continue;
        if (visit_alike(v, &t->all[run->first], base + (uint32_t)run->at, run->n))
            continue;
        for (uint32_t i = 0; i < run->n; i++)
            visit_one(v, &t->all[run->first + i], base + (uint32_t)run->at + i);
    }
    if (v->strong && check_writes(v->op))
        tick(v->c);  // whoever reads it there does so later
}

static void open_folds(struct block_check *k, unsigned shift, const struct touches *t, uint32_t base)
{
    for (const struct run *run = t->runs; run < t->runs + t->n_runs; run++) {
        const uint32_t first = base + (uint32_t)run->at;
        fold_open(k, shift, first, first + run->n);
    }
}

// Fills in v. False if there is nothing to compare: a plain read touches quiet granules alone; or memory has run out.
static bool look(struct warp *w, const struct uop *u, const struct touches *t, uint64_t first, enum check_op op,
                 struct visit *v, struct asked asked[ASKED])
{
    struct checker *c = w->block->worker->check;
    struct block *home = cluster_block(w->block->worker, first);
    struct block_check *k = home->check;
    const uint32_t base = cluster_offset(first) >> c->grid->code->shared_shift;
    const bool strong = check_strong(u, op), shared = home != w->block || k->guests;
    if (op == CHECK_READ && !strong && !shared && is_quiet(k, t, base))
        return false;
    if (k->folds)
        open_folds(k, c->grid->code->shared_shift, t, base);
    *v = (struct visit){ .w = w,
                         .u = u,
                         .c = c,
                         .home = home,
                         .k = k,
                         .op = op,
                         .strong = strong,
                         .polls = check_polls(u, op),
                         .is_volatile = strong && !check_atomic(op) && u->mem->order == ORDER_VOLATILE,
                         .shared = shared,
                         .base = base,
                         .mine = (uint16_t)(w->block->rank << WHO_RANK),
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
        const struct touches *t = check_touches(c, index, lanes, address, bytes, c->grid->code->shared_shift);
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

bool check_shared_unset(const struct block *b, uint32_t at, uint32_t bytes)
{
    const struct code *code = b->worker->grid->code;
    const unsigned shift = code->shared_shift;
    struct block_check *k = b->check;
    if (k->folds)
        fold_open(k, shift, at >> shift, (at + bytes) >> shift);
    bool unset = false;
    for (uint32_t g = at >> shift; at >= code->reserved_bytes && g < (at + bytes) >> shift; g++)
        unset |= k->granules[g].write_at < k->start && !(k->strong && k->strong[g].write_at >= k->start);
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
    const struct touches *t = w->block->worker->check->touches[index];
    struct visit v;
    struct asked asked[ASKED];
    if (!t || t->pattern != pattern || cluster_block(w->block->worker, first) != w->block)
        return false;
    if (!reserved(w->block->worker->check, first) && look(w, u, t, first, op, &v, asked))
        visit_all(&v, t);
    return true;
}

void check_delivered(struct warp *w, uint32_t lane, uint32_t address, uint32_t bytes)
{
    const struct checker *c = w->block->worker->check;
    const unsigned shift = c->grid->code->shared_shift;
    const uint32_t at = cluster_offset(address);
    fold_open(w->block->check, shift, at >> shift, (at + bytes) >> shift);
    for (uint32_t g = at >> shift; g < (at + bytes) >> shift; g++) {
        struct granule *x = &w->block->check->granules[g];
        if (x->write_at == UNDER_WAY && x->writer.thread == w->index * LANES + lane)
            x->write_at = c->now;
    }
}
