// Races and uninitialised reads in shared memory. See check.h.
#include <stdlib.h>
#include <string.h>

#include "check.h"

bool check_shared_new(struct checker *c, struct block_check *k)
{
    k->granules = calloc(c->n_granules, sizeof *k->granules);
    k->quiet = calloc(c->n_granules, sizeof *k->quiet);
    k->fenced = calloc(2 * (size_t)c->grid->threads, sizeof *k->fenced);
    k->init_fenced = k->fenced + c->grid->threads;
    if (!k->granules || !k->quiet || !k->fenced)
        return false;
    check_shared_clear(c, k);
    return true;
}

void check_shared_clear(struct checker *c, struct block_check *k)
{
    const struct code *code = c->grid->code;
    memset(k->granules, 0, c->n_granules * sizeof *k->granules);
    memset(k->quiet, 0, c->n_granules * sizeof *k->quiet);
    memset(k->sure, 0, sizeof k->sure);
    memset(k->fenced, 0, 2 * (size_t)c->grid->threads * sizeof *k->fenced);
    if (k->strong)
        memset(k->strong, 0, c->n_granules * sizeof *k->strong);
    for (uint32_t i = 0; i < code->n_shared_vars; i++) {
        const struct shared_var *v = &code->shared_vars[i];
        for (uint32_t g = (v->at + v->bytes) >> code->shared_shift; g < v->gap_end >> code->shared_shift; g++)
            k->granules[g].write_at = NO_MANS;
    }
    k->copies = false;
}

struct visit {  // an access in hand
    struct warp *w;
    const struct uop *u;
    struct checker *c;
    struct block_check *k;
    enum check_op op;
    bool strong, is_volatile;
    uint64_t address;  // of the first active lane
};

static uint32_t thread_of(const struct visit *v, uint32_t lane)
{
    return v->w->index * LANES + lane;
}

// What happened to who at time at: is it ordered before the lane's access now?
static bool ordered(const struct visit *v, const struct who *who, uint32_t at, uint32_t lane)
{
    return check_ordered_who(v->w, lane, who, at);
}

static void note(const struct visit *v, enum fault_kind kind, uint32_t g, uint32_t lane, const struct who *who,
                 bool other_store)
{
    const struct code *code = v->c->grid->code;
    struct fault f = check_site(v->w, v->u->inst, lane, kind);
    f.store = check_writes(v->op);
    f.atomic = check_atomic(v->op);
    f.space = SPACE_SHARED;
    f.address = (uint64_t)g << code->shared_shift;
    f.bytes = 1u << code->shared_shift;
    f.other_inst = v->u->inst;
    f.other_block = f.block;
    if (who) {
        f.other_inst = who->inst;
        f.other_thread = who->thread;
        f.other_store = other_store;
        f.other_atomic = who->flags & WHO_ATOMIC;
        f.other_async = who->flags & WHO_ASYNC;
        f.other_wgmma = who->flags & WHO_WGMMA;
    }
    check_note(v->c, &f);
}

static struct who me(const struct visit *v, uint32_t lane)
{
    return (struct who){ v->u->inst, (uint16_t)thread_of(v, lane),
                         (check_atomic(v->op) ? WHO_ATOMIC : 0) | (v->is_volatile ? WHO_VOLATILE : 0) };
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
    const uint64_t address = (uint64_t)g << shift;
    unsigned char a[16], b[16];
    if (!check_stored(v->w, v->u, lane, address, shift, a))
        return false;
    if (lane2 != NO_LANE)
        return check_stored(v->w, v->u, lane2, address, shift, b) && !memcmp(a, b, 1u << shift);
    return !memcmp(a, v->w->block->worker->shared + address, 1u << shift);
}

// May the access in hand race with a strong one by who? See check.h.
static bool rivals(const struct visit *v, const struct who *who)
{
    return !v->strong || (v->is_volatile && who->flags & WHO_VOLATILE && who->thread / LANES == v->w->index);
}

// A race with a strong access of this block.
static void meet_strong(const struct visit *v, uint32_t g, uint32_t lane)
{
    const struct strong *s = &v->k->strong[g];
    const bool write = check_writes(v->op);
    if (rivals(v, &s->writer) && within(v, s->write_at) && !ordered(v, &s->writer, s->write_at, lane) &&
        !(write && v->is_volatile && same_value(v, g, lane, NO_LANE)))
        note(v, FAULT_RACE, g, lane, &s->writer, true);
    else if (write && rivals(v, &s->reader) && within(v, s->read_at) && !ordered(v, &s->reader, s->read_at, lane))
        note(v, FAULT_RACE, g, lane, &s->reader, false);
}

static void read_one(const struct visit *v, uint32_t g, uint32_t lane)
{
    struct block_check *k = v->k;
    struct granule *x = &k->granules[g];
    if (x->write_at == UNDER_WAY)
        note(v, FAULT_COPY, g, lane, &x->writer, true);
    else if (!within(v, x->write_at) && !(k->strong && within(v, k->strong[g].write_at)))
        note(v, FAULT_UNINIT, g, lane, NULL, false);
    else if (within(v, x->write_at) && !ordered(v, &x->writer, x->write_at, lane))
        note(v, FAULT_RACE, g, lane, &x->writer, true);
    else if (k->strong)
        meet_strong(v, g, lane);
    if (v->strong) {
        k->strong[g].reader = me(v, lane);
        k->strong[g].read_at = v->c->now;
        return;
    }
    if (!within(v, x->read_at) || ordered(v, &x->reader, x->read_at, lane)) {
        x->reader = me(v, lane);
        x->read_at = v->c->now;
        if (!within(v, x->many_at) || ordered(v, &x->other, x->many_at, lane))
            x->many_at = 0;
        return;
    }
    const uint32_t w = v->w->index, first = x->reader.thread / LANES, second = x->other.thread / LANES;
    const bool live = x->many_at > k->all_seen && within(v, x->many_at);
    if (live && (second != first || w == first))
        return;
    x->other = me(v, lane);
    x->many_at = v->c->now;
    // Two warps have read it, and whoever wrote it did so before the last barrier of all: another read adds nothing.
    if (w != first && within(v, x->write_at) && x->write_at <= k->all_seen && !k->strong)
        k->quiet[g] = k->barrier;
}

// A granule's first reads since the last barrier of all, which came after its write: most of those that are not quiet.
static bool read_first(const struct visit *v, const struct touch *t, uint32_t g)
{
    const struct block_check *k = v->k;
    struct granule *x = &k->granules[g];
    if (x->write_at > k->all_seen || !within(v, x->write_at) || x->read_at > k->all_seen || x->many_at > k->all_seen)
        return false;
    x->reader = me(v, t->lane);
    x->read_at = v->c->now;
    x->many_at = 0;
    if (t->lane2 != NO_LANE) {
        x->other = me(v, t->lane2);
        x->many_at = v->c->now;
    }
    return true;
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
    if (within(v, x->read_at) && !ordered(v, &x->reader, x->read_at, lane))
        note(v, FAULT_RACE, g, lane, &x->reader, false);
    else if (within(v, x->many_at) && !ordered(v, &x->other, x->many_at, lane))
        note(v, FAULT_RACE, g, lane, &x->other, false);
    if (x->read_at == READ_UNDER_WAY && x->reader.thread == thread_of(v, lane))
        note(v, FAULT_RACE, g, lane, &x->reader, false);
    x->read_at = x->many_at = k->quiet[g] = 0;
    if (v->strong) {
        k->strong[g].writer = me(v, lane);
        k->strong[g].write_at = v->c->now;
        return;
    }
    x->writer = me(v, lane);
    x->write_at = v->op == CHECK_COPY ? UNDER_WAY : v->c->now;
    k->copies |= v->op == CHECK_COPY;
}

// A write of what was not touched since the last barrier of all: nothing to compare with.
static bool write_first(const struct visit *v, const struct touch *t, uint32_t g)
{
    const struct block_check *k = v->k;
    struct granule *x = &k->granules[g];
    if (x->write_at > k->all_seen || x->read_at > k->all_seen || x->many_at > k->all_seen || t->lane2 != NO_LANE ||
        v->op != CHECK_WRITE)
        return false;
    x->writer = me(v, t->lane);
    x->write_at = v->c->now;
    x->read_at = x->many_at = k->quiet[g] = 0;
    return true;
}

static void visit_one(const struct visit *v, const struct touch *t, uint32_t g)
{
    if (!v->k->strong && (!check_writes(v->op) ? read_first(v, t, g) : write_first(v, t, g)))
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
    if (t->lane2 != NO_LANE && !v->strong && !same_value(v, g, t->lane, t->lane2)) {
        struct who who = me(v, t->lane);
        note(v, FAULT_RACE, g, t->lane2, &who, true);
    }
}

static void visit_all(const struct visit *v, const struct touches *t)
{
    const struct block_check *k = v->k;
    const uint32_t base = (uint32_t)(v->address >> v->c->grid->code->shared_shift);
    uint32_t any = check_writes(v->op) || 4 * t->n_runs < t->n;  // long runs are looked at one by one
    for (uint32_t i = 0; !any && i < t->n; i++)
        any = k->quiet[base + t->at[i]] ^ k->barrier;
    for (uint32_t r = 0; any && r < t->n_runs; r++) {
        const struct run *run = &t->runs[r];
        const uint32_t *quiet = &k->quiet[base + (uint32_t)run->at];
        uint32_t news = check_writes(v->op);
        for (uint32_t i = 0; i < run->n; i++)
            news |= quiet[i] ^ k->barrier;
        for (uint32_t i = 0; news && i < run->n; i++)
            visit_one(v, &t->all[run->first + i], base + (uint32_t)run->at + i);
    }
}

static bool look(struct warp *w, const struct uop *u, uint64_t first, enum check_op op, struct visit *v)
{
    struct checker *c = w->block->worker->check;
    struct block_check *k = w->block->check;
    const bool strong = check_strong(u, op);
    *v =
        (struct visit){ w, u, c, k, op, strong, strong && !check_atomic(op) && u->mem->order == ORDER_VOLATILE, first };
    if (!v->strong || k->strong)
        return true;
    k->strong = calloc(c->n_granules, sizeof *k->strong);
    c->failed |= !k->strong;
    return k->strong;
}

// Does only the library of cooperative groups use what is there? It counts on more than PTX promises.
static bool reserved(const struct checker *c, uint64_t address)
{
    return address < c->grid->code->reserved_bytes;
}

void check_shared(struct warp *w, const struct uop *u, uint32_t index, uint32_t active, const uint64_t address[LANES],
                  uint32_t bytes, enum check_op op)
{
    struct checker *c = w->block->worker->check;
    const struct touches *t = check_touches(c, index, active, address, bytes, c->grid->code->shared_shift);
    const uint64_t first = address[__builtin_ctz(active)];
    struct visit v;
    if (t && !reserved(c, first) && look(w, u, first, op, &v))
        visit_all(&v, t);
}

bool check_shared_again(struct warp *w, const struct uop *u, uint32_t index, uint32_t pattern, uint64_t first,
                        enum check_op op)
{
    const struct touches *t = w->block->worker->check->touches[index];
    struct visit v;
    if (!t || t->pattern != pattern)
        return false;
    if (!reserved(w->block->worker->check, first) && look(w, u, first, op, &v))
        visit_all(&v, t);
    return true;
}

void check_delivered(struct warp *w, uint32_t lane, uint32_t address, uint32_t bytes)
{
    const struct checker *c = w->block->worker->check;
    const unsigned shift = c->grid->code->shared_shift;
    for (uint32_t g = address >> shift; g < (address + bytes) >> shift; g++) {
        struct granule *x = &w->block->check->granules[g];
        if (x->write_at == UNDER_WAY && x->writer.thread == w->index * LANES + lane)
            x->write_at = c->now;
    }
}
