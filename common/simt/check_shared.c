// Races and uninitialised reads in shared memory. See check.h.
#include <stdlib.h>
#include <string.h>

#include "check.h"

// Times that never come: an asynchronous copy that is under way, and bytes between variables, which nobody owns.
#define UNDER_WAY 0xfffffffeu
#define NO_MANS 0xffffffffu

bool check_shared_new(struct checker *c)
{
    c->n_granules = (c->grid->shared_bytes >> c->grid->code->shared_shift) + 1;
    c->granules = calloc(c->n_granules, sizeof *c->granules);
    c->quiet = calloc(c->n_granules, sizeof *c->quiet);
    if (!c->granules || !c->quiet)
        return false;
    check_shared_clear(c);
    return true;
}

void check_shared_clear(struct checker *c)
{
    const struct code *code = c->grid->code;
    memset(c->granules, 0, c->n_granules * sizeof *c->granules);
    memset(c->quiet, 0, c->n_granules * sizeof *c->quiet);
    for (uint32_t i = 0; i < code->n_shared_vars; i++) {
        const struct shared_var *v = &code->shared_vars[i];
        for (uint32_t g = (v->at + v->bytes) >> code->shared_shift; g < v->gap_end >> code->shared_shift; g++)
            c->granules[g].write_at = NO_MANS;
    }
    c->copies = false;
}

struct visit {  // an access in hand
    struct warp *w;
    const struct uop *u;
    struct checker *c;
    enum check_op op;
    uint64_t address;  // of the first active lane
};

static uint32_t thread_of(const struct visit *v, uint32_t lane)
{
    return v->w->index * LANES + lane;
}

// What happened to who at time at: is it ordered before the lane's access now?
static bool ordered(const struct visit *v, const struct who *who, uint32_t at, uint32_t lane)
{
    const struct checker *c = v->c;
    const uint32_t warp = who->thread / LANES, w = v->w->index;
    if (at <= c->all_seen || who->thread == thread_of(v, lane))
        return true;
    if (warp == w)
        return at <= c->synced[w][lane] && at <= c->synced[w][who->thread % LANES];
    return at <= c->seen[w][warp];
}

static void note(const struct visit *v, enum fault_kind kind, uint32_t g, uint32_t lane, const struct who *who,
                 bool other_store)
{
    const struct code *code = v->c->grid->code;
    struct fault f = check_site(v->w, v->u->inst, lane, kind);
    f.store = v->op != CHECK_READ;
    f.atomic = v->op == CHECK_ATOMIC;
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
    }
    check_note(v->c, &f);
}

static struct who me(const struct visit *v, uint32_t lane)
{
    return (struct who){ v->u->inst, (uint16_t)thread_of(v, lane), v->op == CHECK_ATOMIC ? WHO_ATOMIC : 0 };
}

static bool written(const struct checker *c, uint32_t at)
{
    return at >= c->start;
}

static void read_one(const struct visit *v, uint32_t g, uint32_t lane)
{
    struct checker *c = v->c;
    struct granule *x = &c->granules[g];
    if (x->write_at == UNDER_WAY)
        note(v, FAULT_COPY, g, lane, &x->writer, true);
    else if (!written(c, x->write_at))
        note(v, FAULT_UNINIT, g, lane, NULL, false);
    else if (!ordered(v, &x->writer, x->write_at, lane))
        note(v, FAULT_RACE, g, lane, &x->writer, true);
    if (x->read_at < c->start || ordered(v, &x->reader, x->read_at, lane)) {
        x->reader = me(v, lane);
        x->read_at = c->now;
        if (x->many_at < c->start || ordered(v, &x->other, x->many_at, lane))
            x->many_at = 0;
        return;
    }
    const uint32_t w = v->w->index, first = x->reader.thread / LANES, second = x->other.thread / LANES;
    const bool live = x->many_at > c->all_seen && x->many_at >= c->start;
    if (live && (second != first || w == first))
        return;
    x->other = me(v, lane);
    x->many_at = c->now;
    // Two warps have read it, and whoever wrote it did so before the last barrier of all: another read adds nothing.
    if (w != first && written(c, x->write_at) && x->write_at <= c->all_seen)
        c->quiet[g] = c->barrier;
}

// A granule's first reads since the last barrier of all, which came after its write: most of those that are not quiet.
static bool read_first(const struct visit *v, const struct touch *t, uint32_t g)
{
    const struct checker *c = v->c;
    struct granule *x = &c->granules[g];
    if (x->write_at > c->all_seen || !written(c, x->write_at) || x->read_at > c->all_seen || x->many_at > c->all_seen)
        return false;
    x->reader = me(v, t->lane);
    x->read_at = c->now;
    x->many_at = 0;
    if (t->lane2 != NO_LANE) {
        x->other = me(v, t->lane2);
        x->many_at = c->now;
    }
    return true;
}

// The bytes of a granule that a lane is about to store; false where they are not at hand.
static bool stored(const struct visit *v, uint32_t g, uint32_t lane, unsigned char *bytes)
{
    const struct uop *u = v->u;
    const struct memop *m = u->mem;
    const unsigned shift = v->c->grid->code->shared_shift;
    unsigned char data[16];
    if (u->kind != UOP_STORE)
        return false;
    for (uint32_t e = 0; e < m->n; e++) {
        const uint32_t size = m->reg_class[e] == SLOT_64 ? 8 : 4;
        memcpy(data + e * m->bytes, v->w->regs + m->reg[e] + lane * size, m->bytes);
    }
    uint64_t base = m->base_class == SLOT_32 ? ((const u32 *)(v->w->regs + m->base))[lane]
                                             : ((const u64 *)(v->w->regs + m->base))[lane];
    uint32_t from = ((uint32_t)g << shift) - (uint32_t)(base + m->offset);
    if (from > sizeof data - (1u << shift))
        return false;
    memcpy(bytes, data + from, 1u << shift);
    return true;
}

// Does the lane write what is there already, or what lane2 writes too? Then the order does not matter.
static bool same_value(const struct visit *v, uint32_t g, uint32_t lane, uint32_t lane2)
{
    const unsigned shift = v->c->grid->code->shared_shift;
    unsigned char a[16], b[16];
    if (!stored(v, g, lane, a))
        return false;
    if (lane2 != NO_LANE)
        return stored(v, g, lane2, b) && !memcmp(a, b, 1u << shift);
    return !memcmp(a, v->w->block->worker->shared + ((size_t)g << shift), 1u << shift);
}

static void write_one(const struct visit *v, uint32_t g, uint32_t lane)
{
    struct checker *c = v->c;
    struct granule *x = &c->granules[g];
    const uint32_t at = x->write_at;
    const bool both_atomic = v->op == CHECK_ATOMIC && x->writer.flags & WHO_ATOMIC;
    if (at == UNDER_WAY)
        note(v, FAULT_COPY, g, lane, &x->writer, true);
    else if (written(c, at) && !both_atomic && !ordered(v, &x->writer, at, lane) && !same_value(v, g, lane, NO_LANE))
        note(v, FAULT_RACE, g, lane, &x->writer, true);
    if (v->op == CHECK_ATOMIC && !written(c, at))
        note(v, FAULT_UNINIT, g, lane, NULL, false);
    if (x->read_at >= c->start && !ordered(v, &x->reader, x->read_at, lane))
        note(v, FAULT_RACE, g, lane, &x->reader, false);
    else if (x->many_at >= c->start && !ordered(v, &x->other, x->many_at, lane))
        note(v, FAULT_RACE, g, lane, &x->other, false);
    x->writer = me(v, lane);
    x->write_at = v->op == CHECK_COPY ? UNDER_WAY : c->now;
    x->read_at = x->many_at = c->quiet[g] = 0;
    c->copies |= v->op == CHECK_COPY;
}

// A write of what nobody has touched since the last barrier of all: nothing to compare with.
static bool write_first(const struct visit *v, const struct touch *t, uint32_t g)
{
    const struct checker *c = v->c;
    struct granule *x = &c->granules[g];
    if (x->write_at > c->all_seen || x->read_at > c->all_seen || x->many_at > c->all_seen || t->lane2 != NO_LANE ||
        v->op != CHECK_WRITE)
        return false;
    x->writer = me(v, t->lane);
    x->write_at = c->now;
    x->read_at = x->many_at = c->quiet[g] = 0;
    return true;
}

static void visit_one(const struct visit *v, const struct touch *t, uint32_t g)
{
    if (v->op == CHECK_READ ? read_first(v, t, g) : write_first(v, t, g))
        return;
    if (v->c->granules[g].write_at == NO_MANS) {
        note(v, FAULT_BOUNDS, g, t->lane, NULL, false);
        return;
    }
    if (v->op == CHECK_READ) {
        read_one(v, g, t->lane);
        if (t->lane2 != NO_LANE)
            read_one(v, g, t->lane2);
        return;
    }
    write_one(v, g, t->lane);
    if (t->lane2 != NO_LANE && v->op != CHECK_ATOMIC && !same_value(v, g, t->lane, t->lane2)) {
        struct who who = me(v, t->lane);
        note(v, FAULT_RACE, g, t->lane2, &who, true);
    }
}

static void visit_all(const struct visit *v, const struct touches *t)
{
    const struct checker *c = v->c;
    const uint32_t base = (uint32_t)(v->address >> c->grid->code->shared_shift);
    uint32_t any = v->op != CHECK_READ || 4 * t->n_runs < t->n;  // long runs are looked at one by one
    for (uint32_t i = 0; !any && i < t->n; i++)
        any = c->quiet[base + t->at[i]] ^ c->barrier;
    for (uint32_t r = 0; any && r < t->n_runs; r++) {
        const struct run *run = &t->runs[r];
        const uint32_t *quiet = &c->quiet[base + (uint32_t)run->at];
        uint32_t news = v->op != CHECK_READ;
        for (uint32_t i = 0; i < run->n; i++)
            news |= quiet[i] ^ c->barrier;
        for (uint32_t i = 0; news && i < run->n; i++)
            visit_one(v, &t->all[run->first + i], base + (uint32_t)run->at + i);
    }
}

void check_shared(struct warp *w, const struct uop *u, uint32_t index, uint32_t active, const uint64_t address[LANES],
                  uint32_t bytes, enum check_op op)
{
    struct checker *c = w->block->worker->check;
    const struct touches *t = check_touches(c, index, active, address, bytes, c->grid->code->shared_shift);
    const struct visit v = { w, u, c, op, address[__builtin_ctz(active)] };
    if (t)
        visit_all(&v, t);
}

bool check_shared_again(struct warp *w, const struct uop *u, uint32_t index, uint32_t pattern, uint64_t first,
                        enum check_op op)
{
    struct checker *c = w->block->worker->check;
    const struct touches *t = c->touches[index];
    const struct visit v = { w, u, c, op, first };
    if (!t || t->pattern != pattern)
        return false;
    visit_all(&v, t);
    return true;
}

void check_delivered(struct warp *w, uint32_t lane, uint32_t address, uint32_t bytes)
{
    struct checker *c = w->block->worker->check;
    const unsigned shift = c->grid->code->shared_shift;
    for (uint32_t g = address >> shift; g < (address + bytes) >> shift; g++) {
        struct granule *x = &c->granules[g];
        if (x->write_at == UNDER_WAY && x->writer.thread == w->index * LANES + lane)
            x->write_at = c->now;
    }
}
