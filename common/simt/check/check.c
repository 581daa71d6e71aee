// The checker of a host thread: its time, which granules an access touches, and the list of findings. See check.h.
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "shadow_memory.h"
#include "simt/code/warp.h"

// --- findings ---

struct share {  // how often in one block
    uint64_t block, count;
};

struct finding {
    struct fault fault;  // of the first block
    struct share *shares;
    size_t n_shares, room;
};

static bool same(const struct fault *a, const struct fault *b)
{
    return a->kind == b->kind && a->inst == b->inst && a->other_inst == b->other_inst && a->store == b->store &&
           a->other_store == b->other_store;
}

// Most findings repeat the one before, and most others are new soon after the kernel began.
static struct finding *find(struct checker *c, const struct fault *f)
{
    if (c->last < c->n_findings && same(&c->findings[c->last].fault, f))
        return &c->findings[c->last];
    for (size_t i = 0; i < c->n_findings; i++)
        if (same(&c->findings[i].fault, f))
            return &c->findings[c->last = i];
    if (c->n_findings == c->room) {
        size_t room = 2 * c->room + 8;
        struct finding *all = realloc(c->findings, room * sizeof *all);
        if (!all)
            return NULL;
        c->findings = all;
        c->room = room;
    }
    c->last = c->n_findings++;
    c->findings[c->last] = (struct finding){ .fault = *f };
    return &c->findings[c->last];
}

static bool count(struct finding *f, uint64_t block, uint64_t times)
{
    if (f->n_shares && f->shares[f->n_shares - 1].block == block) {
        f->shares[f->n_shares - 1].count += times;
        return true;
    }
    if (f->n_shares == f->room) {
        size_t room = 2 * f->room + 4;
        struct share *shares = realloc(f->shares, room * sizeof *shares);
        if (!shares)
            return false;
        f->shares = shares;
        f->room = room;
    }
    f->shares[f->n_shares++] = (struct share){ block, times };
    return true;
}

void check_note(struct checker *c, const struct fault *f)
{
    struct finding *finding = find(c, f);
    if (!finding || !count(finding, f->block, 1))
        c->failed = true;
}

void check_fault(struct worker *worker)
{
    check_note(worker->check, &worker->fault);
    worker->fault.kind = FAULT_NONE;
}

struct fault check_site(const struct warp *w, uint32_t inst, uint32_t lane, enum fault_kind kind)
{
    return (struct fault){ .kind = kind, .inst = inst, .warp = w->index, .lane = lane, .block = w->block->linear };
}

bool check_stored(const struct warp *w, const struct uop *u, uint32_t lane, uint64_t address, unsigned shift,
                  unsigned char *bytes)
{
    unsigned char data[16];
    const bool init = mbarrier_stored(w, u, lane, data);
    if (!init && u->kind != UOP_STORE)
        return false;
    const struct memop *m = init ? &u->warp->mem : u->mem;
    for (uint32_t e = 0; !init && e < m->n; e++) {
        const uint32_t size = m->reg_class[e] == SLOT_64 ? 8 : 4;
        memcpy(data + e * m->bytes, w->regs + m->reg[e] + lane * size, m->bytes);
    }
    const unsigned char *slot = w->regs + m->base;
    const uint64_t base = m->base_class == SLOT_32 ? ((const u32 *)slot)[lane] : ((const u64 *)slot)[lane];
    const uint32_t from = (uint32_t)address - (uint32_t)(base + m->offset);
    if (from > sizeof data - (1u << shift))
        return false;
    memcpy(bytes, data + from, 1u << shift);
    return true;
}

// --- which granules an access touches ---

struct place {
    int64_t at;
    struct touch by;
};

// The distinct granules, ascending; answers how many.
static uint32_t sort_places(struct place places[PATTERN_UNITS], const struct touches *t, unsigned shift)
{
    uint32_t n = 0;
    for (uint32_t lanes = t->active; lanes; lanes &= lanes - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(lanes);
        for (uint32_t b = 0; b < t->bytes; b += 1u << shift) {
            int64_t at = (int64_t)(t->delta[lane] + b) >> shift;
            uint32_t i = n;
            while (i && places[i - 1].at > at)
                i--;
            if (i && places[i - 1].at == at) {
                struct touch *by = &places[i - 1].by;
                by->lane2 = by->lane2 == NO_LANE ? (uint8_t)lane : by->lane2;
                continue;
            }
            memmove(&places[i + 1], &places[i], (n - i) * sizeof *places);
            places[i] = (struct place){ at, { (uint8_t)lane, NO_LANE } };
            n++;
        }
    }
    return n;
}

// Do the lanes go through the run in order, each touching this many granules?
static void find_spread(struct run *run, const struct touch *all, uint32_t each)
{
    run->lane = all[run->first].lane;
    run->spread = each ? (uint8_t)__builtin_ctz(each) : 0;
    for (uint32_t i = 0; i < run->n && run->spread != NO_SPREAD; i++) {
        const struct touch *touch = &all[run->first + i];
        if (touch->lane2 != NO_LANE || touch->lane != run->lane + (i >> run->spread))
            run->spread = NO_SPREAD;
    }
}

static bool learn(struct touches *t, const uint64_t address[LANES], uint32_t active, uint32_t bytes, unsigned shift)
{
    struct place places[PATTERN_UNITS + 1];
    t->active = active;
    t->bytes = bytes;
    t->n_runs = 0;
    for (uint32_t lane = 0; lane < LANES; lane++)
        t->delta[lane] = address[lane] - address[__builtin_ctz(active)];
    const uint32_t n = t->n = sort_places(places, t, shift);
    if (n > t->room) {
        free(t->runs);
        free(t->all);
        free(t->at);
        t->at = malloc(n * sizeof *t->at);
        t->runs = malloc(n * sizeof *t->runs);
        t->all = malloc(n * sizeof *t->all);
        t->room = t->runs && t->all && t->at ? n : 0;
        if (!t->room)
            return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (!i || places[i].at != places[i - 1].at + 1)
            t->runs[t->n_runs++] = (struct run){ .at = places[i].at, .first = i };
        t->runs[t->n_runs - 1].n++;
        t->all[i] = places[i].by;
        t->at[i] = (uint32_t)places[i].at;
    }
    for (uint32_t i = 0; i < t->n_runs; i++)
        find_spread(&t->runs[i], t->all, bytes >> shift);
    return true;
}

const struct touches *check_touches(struct checker *c, uint32_t index, uint32_t active, const uint64_t address[LANES],
                                    uint32_t bytes, unsigned shift)
{
    struct touches *t = c->touches[index];
    if (!t && !(t = c->touches[index] = calloc(1, sizeof *t))) {
        c->failed = true;
        return NULL;
    }
    uint64_t differs = t->active ^ active;
    const uint64_t first = address[__builtin_ctz(active)];
    for (uint32_t i = 0; !differs && i < LANES; i++)
        differs |= active >> i & 1 ? (address[i] - first) ^ t->delta[i] : 0;
    t->pattern = 0;
    if ((differs || t->bytes != bytes) && !learn(t, address, active, bytes, shift)) {
        t->active = 0;
        c->failed = true;
        return NULL;
    }
    return t;
}

void check_pattern(struct warp *w, uint32_t index, uint32_t pattern)
{
    struct touches *t = w->block->worker->check->touches[index];
    if (t)
        t->pattern = pattern;
}

// --- blocks ---

#define TIME_MAX 0x80000000u  // far from the special times of check_shared.c

struct block_check *check_block_new(struct checker *c)
{
    struct block_check *k = calloc(1, sizeof *k);
    if (!k)
        return NULL;
    const bool views = c->grid->code->orders_threads;
    const bool shadows = c->grid->code->shadows_local || c->grid->code->shadows_memory;
    if ((!views || (k->views = calloc(c->grid->threads, sizeof *k->views))) &&
        (!shadows || (k->shadows = shadows_new(c->grid))) && check_shared_new(c, k))
        return k;
    check_block_free(c, k);
    return NULL;
}

void check_block_free(struct checker *c, struct block_check *k)
{
    check_order_clear(c, k);
    shadows_free(k->shadows);
    free(k->views);
    free(k->granules);
    free(k->strong);
    free(k->quiet);
    free(k);
}

void check_block_starts(struct block *b)
{
    struct checker *c = b->worker->check;
    struct block_check *k = b->check;
    check_order_clear(c, k);
    const bool late = c->now > TIME_MAX && !c->grid->turns;
    if (late || k->copies) {
        check_shared_clear(c, k);
        k->barrier = 0;
    }
    c->now = late ? 1 : c->now + 1;
    k->start = c->now;
    k->all_seen = k->start - 1;
    k->barrier++;
    k->calm = ++c->calms;
    memset(k->seen, 0, sizeof k->seen);
    memset(k->synced, 0, sizeof k->synced);
    memset(k->barriers, 0, sizeof k->barriers);
    if (k->shadows)
        shadows_start(k->shadows);
}

// --- around a launch ---

struct checker *check_new(const struct grid *g, uint32_t n_memops)
{
    struct checker *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->grid = g;
    c->now = 1;
    c->pool = known_pool((uint64_t)g->grid[0] * g->grid[1] * g->grid[2]);
    c->n_granules = (g->shared_bytes >> g->code->shared_shift) + 1;
    c->n_touches = 2 * n_memops;
    c->touches = calloc(c->n_touches + 1, sizeof *c->touches);
    if (!c->touches || !check_global_new(c)) {
        check_free(c);
        return NULL;
    }
    return c;
}

void check_free(struct checker *c)
{
    if (!c)
        return;
    for (uint32_t i = 0; c->touches && i < c->n_touches; i++) {
        if (c->touches[i]) {
            free(c->touches[i]->runs);
            free(c->touches[i]->all);
            free(c->touches[i]->at);
        }
        free(c->touches[i]);
    }
    free(c->touches);
    check_order_free(c);
    check_global_free(c);
    for (size_t i = 0; i < c->n_findings; i++)
        free(c->findings[i].shares);
    free(c->findings);
    free(c);
}

void check_add(struct checker *sum, struct checker *c)
{
    sum->failed |= c->failed || c->pool.failed;
    for (size_t i = 0; i < c->n_findings; i++) {
        const struct finding *from = &c->findings[i];
        struct finding *f = find(sum, &from->fault);
        for (size_t k = 0; f && k < from->n_shares; k++)
            sum->failed |= !count(f, from->shares[k].block, from->shares[k].count);
        if (!f)
            sum->failed = true;
        else if (from->fault.block < f->fault.block)
            f->fault = from->fault;
    }
    check_global_add(sum, c);
}

bool check_complete(const struct checker *c)
{
    return !c->failed && !c->pool.failed;
}

static int by_place(const void *a, const void *b)
{
    const struct fault *x = &((const struct found *)a)->fault, *y = &((const struct found *)b)->fault;
    const uint64_t keys[][2] = { { x->inst, y->inst },
                                 { x->other_inst, y->other_inst },
                                 { x->kind, y->kind },
                                 { x->store, y->store },
                                 { x->other_store, y->other_store } };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i][0] != keys[i][1])
            return keys[i][0] < keys[i][1] ? -1 : 1;
    return 0;
}

struct found *check_found(const struct checker *c, uint64_t stop, size_t *n)
{
    struct found *all = calloc(c->n_findings + 1, sizeof *all);
    *n = 0;
    for (size_t i = 0; all && i < c->n_findings; i++) {
        struct found found = { .fault = c->findings[i].fault };
        for (size_t k = 0; k < c->findings[i].n_shares; k++)
            if (c->findings[i].shares[k].block <= stop)
                found.count += c->findings[i].shares[k].count;
        if (found.count)
            all[(*n)++] = found;
    }
    if (all)
        qsort(all, *n, sizeof *all, by_place);
    return all;
}
