// Races and uninitialised reads in shared memory. See check.h.
#include <stdlib.h>
#include <string.h>

#include "check.h"

// Times that never come: an asynchronous copy that is under way, and bytes between variables, which nobody owns.
#define UNDER_WAY 0xfffffffeu
#define NO_MANS 0xffffffffu

bool check_shared_new(struct checker *c)
{
    const struct code *code = c->grid->code;
    size_t n = c->n_granules = (c->grid->shared_bytes >> code->shared_shift) + 1;
    c->write_at = calloc(3 * n, sizeof *c->write_at);
    c->writer = calloc(3 * n, sizeof *c->writer);
    if (!c->write_at || !c->writer)
        return false;
    c->read_at = c->write_at + n;
    c->many_at = c->read_at + n;
    c->reader = c->writer + n;
    c->other = c->reader + n;
    check_shared_clear(c);
    return true;
}

void check_shared_clear(struct checker *c)
{
    const struct code *code = c->grid->code;
    memset(c->write_at, 0, 3 * c->n_granules * sizeof *c->write_at);
    for (uint32_t i = 0; i < code->n_shared_vars; i++) {
        const struct shared_var *v = &code->shared_vars[i];
        for (uint32_t g = (v->at + v->bytes) >> code->shared_shift; g < v->gap_end >> code->shared_shift; g++)
            c->write_at[g] = NO_MANS;
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

static bool written(const struct checker *c, uint32_t g)
{
    return c->write_at[g] >= c->start;
}

static void read_one(const struct visit *v, uint32_t g, uint32_t lane)
{
    struct checker *c = v->c;
    const uint32_t at = c->write_at[g];
    if (at == UNDER_WAY)
        note(v, FAULT_COPY, g, lane, &c->writer[g], true);
    else if (!written(c, g))
        note(v, FAULT_UNINIT, g, lane, NULL, false);
    else if (!ordered(v, &c->writer[g], at, lane))
        note(v, FAULT_RACE, g, lane, &c->writer[g], true);
    if (c->read_at[g] < c->start || ordered(v, &c->reader[g], c->read_at[g], lane)) {
        c->reader[g] = me(v, lane);
        c->read_at[g] = c->now;
        if (c->many_at[g] < c->start || ordered(v, &c->other[g], c->many_at[g], lane))
            c->many_at[g] = 0;
        return;
    }
    const uint32_t w = v->w->index, first = c->reader[g].thread / LANES, second = c->other[g].thread / LANES;
    const bool live = c->many_at[g] > c->all_seen && c->many_at[g] >= c->start;
    if (!live || (second == first && w != first)) {
        c->other[g] = me(v, lane);
        c->many_at[g] = c->now;
    }
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
    const uint32_t at = c->write_at[g];
    const struct who *writer = &c->writer[g];
    const bool both_atomic = v->op == CHECK_ATOMIC && writer->flags & WHO_ATOMIC;
    if (at == UNDER_WAY)
        note(v, FAULT_COPY, g, lane, writer, true);
    else if (written(c, g) && !both_atomic && !ordered(v, writer, at, lane) && !same_value(v, g, lane, NO_LANE))
        note(v, FAULT_RACE, g, lane, writer, true);
    if (v->op == CHECK_ATOMIC && !written(c, g))
        note(v, FAULT_UNINIT, g, lane, NULL, false);
    if (c->read_at[g] >= c->start && !ordered(v, &c->reader[g], c->read_at[g], lane))
        note(v, FAULT_RACE, g, lane, &c->reader[g], false);
    else if (c->many_at[g] >= c->start && !ordered(v, &c->other[g], c->many_at[g], lane))
        note(v, FAULT_RACE, g, lane, &c->other[g], false);
    c->writer[g] = me(v, lane);
    c->write_at[g] = v->op == CHECK_COPY ? UNDER_WAY : c->now;
    c->read_at[g] = c->many_at[g] = 0;
    c->copies |= v->op == CHECK_COPY;
}

static void visit_one(const struct visit *v, const struct touch *t, uint32_t g)
{
    if (v->c->write_at[g] == NO_MANS) {
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

// Nothing to say and nothing to remember: written before the last barrier of all, and two warps have read it since.
static bool quiet_read(const struct checker *c, const struct touches *t, uint32_t base)
{
    const uint32_t span = c->all_seen + 1 - c->start;
    uint32_t news = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        const uint32_t g = base + (uint32_t)t->all[i].at;
        const bool warps = c->reader[g].thread / LANES != c->other[g].thread / LANES;
        news |= (c->write_at[g] - c->start >= span) | (c->many_at[g] <= c->all_seen) | !warps;
    }
    return !news;
}

static bool quiet_write(const struct checker *c, const struct touches *t, uint32_t base)
{
    uint32_t news = t->shared_by_lanes;
    for (uint32_t i = 0; i < t->n; i++) {
        const uint32_t g = base + (uint32_t)t->all[i].at;
        news |= (c->write_at[g] > c->all_seen) | (c->read_at[g] > c->all_seen) | (c->many_at[g] > c->all_seen);
    }
    return !news;
}

void check_shared(struct warp *w, const struct uop *u, uint32_t index, uint32_t active, const uint64_t address[LANES],
                  uint32_t bytes, enum check_op op)
{
    struct checker *c = w->block->worker->check;
    const unsigned shift = c->grid->code->shared_shift;
    const struct touches *t = check_touches(c, index, active, address, bytes, shift);
    if (!t)
        return;
    const uint32_t base = (uint32_t)(address[__builtin_ctz(active)] >> shift);
    struct visit v = { w, u, c, op, address[__builtin_ctz(active)] };
    if (op == CHECK_READ && quiet_read(c, t, base))
        return;
    if (op == CHECK_WRITE && quiet_write(c, t, base)) {
        for (uint32_t i = 0; i < t->n; i++) {
            const uint32_t g = base + (uint32_t)t->all[i].at;
            c->write_at[g] = c->now;
            c->writer[g] = me(&v, t->all[i].lane);
            c->read_at[g] = c->many_at[g] = 0;
        }
        return;
    }
    for (uint32_t i = 0; i < t->n; i++)
        visit_one(&v, &t->all[i], base + (uint32_t)t->all[i].at);
}

void check_delivered(struct warp *w, uint32_t lane, uint32_t address, uint32_t bytes)
{
    struct checker *c = w->block->worker->check;
    const unsigned shift = c->grid->code->shared_shift;
    for (uint32_t g = address >> shift; g < (address + bytes) >> shift; g++)
        if (c->write_at[g] == UNDER_WAY && c->writer[g].thread == w->index * LANES + lane)
            c->write_at[g] = c->now;
}
