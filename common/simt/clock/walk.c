// Control flow, addresses, and local memory. Lanes that stand at the same place form a split; the lowest one runs, so
// that lanes meet again where paths join, and at BSYNC the lanes of a barrier of reconvergence wait for each other.
#include "walk.h"

#include <stdlib.h>
#include <string.h>

#define ALL 0xffffffffu
#define LOCAL_ROW (WALK_LANES + 1)
#define SLOW_PATH 16   // instructions that call it, at most
#define REDUCTION 128  // of the exact reduction of a large angle, at most

bool walk_begin(struct walk_warp *w, const struct walk_launch *l, const unsigned block[3], unsigned index)
{
    uint32_t *values = w->values, *local = w->local;
    const uint32_t words = l->cubin->frame / 4;
    *w = (struct walk_warp){ .launch = l, .values = values, .local = local, .index = index };
    if (!values)
        w->values = malloc(sizeof(uint32_t) * WALK_VALUES * WALK_LANES);
    if (!local && words)
        w->local = malloc(sizeof(uint32_t) * words * LOCAL_ROW);
    w->local_words = w->local ? words : 0;
    for (uint32_t i = 0; i < w->local_words; i++)
        w->local[i * LOCAL_ROW + WALK_LANES] = 0;
    // What a register holds at first makes no difference: code reads one only to replace a part of it.
    if (w->values)
        memset(w->values, 0, sizeof(uint32_t) * WALK_VALUES * WALK_LANES);
    memset(w->known, 0xff, sizeof w->known);
    memcpy(w->block, block, sizeof w->block);
    const unsigned threads = l->block[0] * l->block[1] * l->block[2], first = index * WALK_LANES;
    w->live = threads - first >= WALK_LANES ? ALL : (1u << (threads - first)) - 1;
    w->splits[0] = (struct walk_split){ 0, w->live, -1 };
    w->n_splits = 1;
    return w->values && (w->local || !words);
}

void walk_end(struct walk_warp *w)
{
    free(w->values);
    free(w->local);
    w->values = w->local = NULL;
}

// The split that runs: the lowest one that does not wait.
static struct walk_split *running(const struct walk_warp *w)
{
    const struct walk_split *found = NULL;
    for (uint32_t i = 0; i < w->n_splits; i++)
        if (w->splits[i].barrier < 0 && (!found || w->splits[i].pc < found->pc))
            found = &w->splits[i];
    return (struct walk_split *)found;
}

const struct sass *walk_next(const struct walk_warp *w, uint32_t *pc)
{
    const struct walk_split *r = w->n_splits == 1 ? w->splits : running(w);
    if (!w->n_splits || w->failed || !r || r->pc >= w->launch->cubin->n)
        return NULL;
    *pc = r->pc;
    return &w->launch->cubin->code[r->pc];
}

static void drop_empty(struct walk_warp *w)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->n_splits; i++)
        if (w->splits[i].mask)
            w->splits[n++] = w->splits[i];
    w->n_splits = n;
}

// Lanes that come to such an instruction one after the other each execute it: of 14 at 4096 the H200 counts as many.
static bool is_meeting(const struct walk_warp *w, uint32_t pc)
{
    const struct cubin *c = w->launch->cubin;
    return pc < c->n && (c->code[pc].effect == EFFECT_BSYNC || c->code[pc].effect == EFFECT_WARPSYNC);
}

// Splits at the same place become one.
static void join(struct walk_warp *w)
{
    for (uint32_t i = 0; i < w->n_splits; i++)
        for (uint32_t j = i + 1; j < w->n_splits; j++)
            if (w->splits[i].pc == w->splits[j].pc && w->splits[i].barrier == w->splits[j].barrier &&
                (w->splits[i].barrier >= 0 || !is_meeting(w, w->splits[i].pc))) {
                w->splits[i].mask |= w->splits[j].mask;
                w->splits[j].mask = 0;
            }
    drop_empty(w);
}

// Opens the barriers of reconvergence at which all their lanes wait.
static void open_barriers(struct walk_warp *w)
{
    for (uint32_t i = 0; i < w->n_splits; i++) {
        const int b = w->splits[i].barrier;
        uint32_t waiting = 0;
        for (uint32_t j = 0; b >= 0 && j < w->n_splits; j++)
            waiting |= w->splits[j].barrier == b ? w->splits[j].mask : 0;
        if (b < 0 || (w->barriers[b] & w->live & ~waiting))
            continue;
        for (uint32_t j = 0; j < w->n_splits; j++)
            w->splits[j].barrier = w->splits[j].barrier == b ? -1 : w->splits[j].barrier;
    }
}

// --- accesses ---

static uint64_t register_pair(const struct walk_warp *w, unsigned r, unsigned lane, bool pair, uint32_t *known)
{
    if (r == SASS_RZ)
        return 0;
    *known &= w->known[r];
    uint64_t value = w->values[r * WALK_LANES + lane];
    if (pair && r + 1 < SASS_RZ) {
        *known &= w->known[r + 1];
        value |= (uint64_t)w->values[(r + 1) * WALK_LANES + lane] << 32;
    }
    return value;
}

// The number of the uniform register that is added to a's address; -1: none. From 8.0 on, a uniform register of a
// global access is its descriptor.
static int uniform_part(const struct walk_warp *w, const struct sass *s)
{
    const bool global = s->pipe == PIPE_GLOBAL || s->pipe == PIPE_COPY;
    if (!sass_bits(s, 91, 1) || (global && w->launch->cubin->cc >= 80))
        return -1;
    const bool stores = s->effect == EFFECT_STORE || s->effect == EFFECT_STORE_MATRIX;
    return walk_register(w, true, sass_bits(s, stores ? 64 : 32, 8));
}

static void find_addresses(const struct walk_warp *w, const struct sass *s, struct walk_event *e)
{
    const bool global = s->pipe == PIPE_GLOBAL || s->pipe == PIPE_COPY;
    const bool pair = global && sass_bits(s, 72, 1);
    const int uniform = uniform_part(w, s);
    uint32_t known = ALL;
    if (uniform >= 0)
        known &= w->known[uniform];
    for (unsigned i = 0; i < WALK_LANES; i++) {
        uint64_t at = register_pair(w, s->a, i, pair, &known) + (uint64_t)s->offset;
        if (uniform >= 0)
            at += w->values[(unsigned)uniform * WALK_LANES + i];
        e->address[i] = global ? at : (uint32_t)at;
        if (s->effect == EFFECT_COPY)
            e->to[i] = register_pair(w, s->d, i, false, &known);
    }
    e->has_address = (known & e->mask) == e->mask;
}

// Local memory keeps what is spilled, as words by lane.
static void access_local(struct walk_warp *w, const struct sass *s, const struct walk_event *e)
{
    const bool load = s->effect == EFFECT_LOAD_LOCAL;
    const unsigned data = load ? s->d : sass_bits(s, 32, 8), words = s->bytes < 4 ? 1 : s->bytes / 4u;
    const unsigned lane = e->mask ? (unsigned)__builtin_ctz(e->mask) : 0;
    const uint64_t at = e->address[lane] / 4;
    bool same = e->has_address && s->bytes >= 4;
    for (unsigned i = 0; i < WALK_LANES; i++)
        if (e->mask >> i & 1 && e->address[i] / 4 != at)
            same = false;
    for (unsigned n = 0; n < words && data != SASS_RZ; n++) {
        uint32_t *r = &w->values[(data + n) * WALK_LANES], *known = &w->known[data + n];
        uint32_t *m = same && at + n < w->local_words ? &w->local[(at + n) * LOCAL_ROW] : NULL;
        if (!m) {
            *known &= load ? ~e->mask : ALL;
            continue;
        }
        for (unsigned i = 0; i < WALK_LANES; i++)
            if (e->mask >> i & 1)
                *(load ? &r[i] : &m[i]) = load ? m[i] : r[i];
        uint32_t *to = load ? known : &m[WALK_LANES];
        *to = (*to & ~e->mask) | ((load ? m[WALK_LANES] : *known) & e->mask);
    }
}

static void access(struct walk_warp *w, const struct sass *s, struct walk_event *e)
{
    find_addresses(w, s, e);
    if (s->effect == EFFECT_LOAD_LOCAL || s->effect == EFFECT_STORE_LOCAL)
        access_local(w, s, e);
    else if ((s->effect == EFFECT_LOAD || s->effect == EFFECT_LOAD_MATRIX || s->effect == EFFECT_ATOMIC) &&
             s->d != SASS_RZ && !walk_data(w, e))
        walk_forget(w, s->d, (s->bytes + 3u) / 4, e->mask);
}

// --- control ---

static uint32_t target(const struct walk_warp *w, const struct walk_event *e, uint64_t base)
{
    const int64_t at = (int64_t)base + e->s->offset;
    return at >= 0 && at / SASS_BYTES < w->launch->cubin->n ? (uint32_t)(at / SASS_BYTES) : UINT32_MAX;
}

// The lanes of mask go to pc; the others of the split go on.
static void branch(struct walk_warp *w, struct walk_split *r, uint32_t mask, uint32_t pc, struct walk_event *e)
{
    if (!mask)
        return;
    e->jumped = true;
    if (pc == UINT32_MAX) {
        w->failed = true;
    } else if (mask == r->mask) {
        r->pc = pc;
    } else if (w->n_splits < WALK_LANES) {
        r->mask &= ~mask;
        w->splits[w->n_splits++] = (struct walk_split){ pc, mask, -1 };
    }
}

static void leave(struct walk_warp *w, struct walk_split *r, uint32_t mask)
{
    w->live &= ~mask;
    r->mask &= ~mask;
}

static bool is_constant_bank(const struct sass *s, unsigned bank)
{
    return s->effect == EFFECT_LDC && sass_bits(s, 54, 5) == bank;
}

// Whether the branch leads over what is for numbers that are seldom there. ptxas puts the slow path of a division or a
// square root behind such a branch, as a call. sin, cos and tan have one in place, for angles beyond 105,615: digits of
// 2/pi come from a table, whose address is in constant bank 4, and the product goes through local memory.
static bool skips_slow_path(const struct walk_warp *w, const struct walk_event *e)
{
    const struct cubin *c = w->launch->cubin;
    const uint32_t over = e->s->offset > 0 ? (uint32_t)(e->s->offset / SASS_BYTES) : 0;
    bool table = false, local = false;
    for (uint32_t i = e->pc + 1; over <= REDUCTION && i < c->n && i <= e->pc + over; i++) {
        if (c->code[i].effect == EFFECT_CALL && over <= SLOW_PATH)
            return true;
        table |= is_constant_bank(&c->code[i], 4);
        local |= c->code[i].effect == EFFECT_STORE_LOCAL;
    }
    return table && local;
}

static void control(struct walk_warp *w, struct walk_split *r, uint32_t mask, uint32_t unknown, struct walk_event *e)
{
    const struct sass *s = e->s;
    const uint64_t next = (uint64_t)(e->pc + 1) * SASS_BYTES;
    const unsigned b = s->d % WALK_BARRIERS;
    uint32_t known = ALL, taken = mask & ~unknown;
    switch (s->effect) {
    case EFFECT_BSSY:
        w->barriers[b] = mask;
        break;
    case EFFECT_BREAK:
        w->barriers[b] &= ~mask;
        break;
    case EFFECT_BSYNC:
        if (mask == r->mask)
            r->barrier = (int)b;
        break;
    case EFFECT_BRANCH:
        w->unknown_branches += (mask & unknown) != 0;
        taken &= walk_predicate(w, sass_bits(s, 87, 3), sass_bits(s, 90, 1), &known);
        known &= ~unknown;
        taken &= known;
        if ((mask & ~known) && skips_slow_path(w, e))
            taken |= mask & ~known;
        branch(w, r, taken, target(w, e, next), e);
        break;
    case EFFECT_CALL:
        branch(w, r, taken, target(w, e, next), e);
        break;
    case EFFECT_RETURN:
    case EFFECT_BRANCH_REGISTER: {
        const unsigned lane = taken ? (unsigned)__builtin_ctz(taken) : 0;
        const uint64_t base = s->effect == EFFECT_RETURN ? next + w->values[s->a * WALK_LANES + lane] : UINT64_MAX / 2;
        branch(w, r, taken, walk_predicate(w, 7, false, &known) && w->known[s->a] ? target(w, e, base) : UINT32_MAX, e);
        break;
    }
    case EFFECT_EXIT:
        w->unknown_branches += (mask & unknown) != 0;
        leave(w, r, taken);
        break;
    default:
        break;
    }
}

static bool is_control(const struct sass *s)
{
    return s->effect >= EFFECT_BSSY && s->effect <= EFFECT_EXIT;
}

// How many different constants the lanes load by index.
static unsigned count_constants(const struct walk_warp *w, const struct sass *s, uint32_t mask)
{
    const uint32_t *at = &w->values[s->a * WALK_LANES];
    unsigned different = 0;
    for (unsigned i = 0; i < WALK_LANES && s->a != SASS_RZ; i++) {
        unsigned j = 0;
        while (j < i && !(mask >> j & 1 && at[j] == at[i]))
            j++;
        different += mask >> i & 1 && j == i;
    }
    return different ? different : 1;
}

void walk_step(struct walk_warp *w, struct walk_event *e)
{
    struct walk_split *r = w->n_splits == 1 ? w->splits : running(w);
    const struct sass *s = &w->launch->cubin->code[r->pc];
    uint32_t known = ALL;
    e->s = s;
    e->pc = r->pc;
    e->jumped = e->has_address = false;
    e->mask = r->mask & walk_predicate(w, s->guard + (s->uniform ? 8u : 0), s->guard_not, &known);
    e->mask |= r->mask & ~known;
    w->executed++;
    r->pc++;
    if (is_control(s)) {
        control(w, r, e->mask, ~known, e);
        if (w->n_splits > 1 || !w->splits[0].mask || w->splits[0].barrier >= 0) {
            drop_empty(w);
            open_barriers(w);
            join(w);
        }
        return;
    }
    if (w->n_splits > 1)
        join(w);
    if (s->pipe == PIPE_LDC)
        e->constants = count_constants(w, s, e->mask);
    if (!e->mask)
        return;
    if (s->effect >= EFFECT_LOAD && s->effect <= EFFECT_COPY)
        access(w, s, e);
    else if (s->effect >= EFFECT_MBARRIER_INIT && s->effect <= EFFECT_WGMMA)
        walk_async(w, s, e);
    else if (s->effect == EFFECT_BARRIER)
        walk_barrier(w, s, e);
    else if (s->effect != EFFECT_NOTHING && s->effect != EFFECT_COPY_GROUP && s->effect != EFFECT_DEPBAR &&
             s->effect != EFFECT_WARPGROUP)
        walk_compute(w, s, e->mask);
}
