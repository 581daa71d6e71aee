// The checker of a host thread: its time, which granules an access touches, and the list of findings. See check.h.
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "shadow.h"

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
            t->runs[t->n_runs++] = (struct run){ places[i].at, i, 0 };
        t->runs[t->n_runs - 1].n++;
        t->all[i] = places[i].by;
        t->at[i] = (uint32_t)places[i].at;
    }
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

// --- time ---

void check_arrives(struct warp *w, uint32_t number)
{
    struct checker *c = w->block->worker->check;
    c->barriers[number].at[w->index] = c->now++;
}

static void join(struct checker *c, uint32_t number, uint32_t n_warps)
{
    uint32_t *at = c->barriers[number].at, joined[LANES] = { 0 };
    for (uint32_t u = 0; u < n_warps; u++) {
        if (!at[u])
            continue;
        for (uint32_t v = 0; v < n_warps; v++)
            joined[v] = c->seen[u][v] > joined[v] ? c->seen[u][v] : joined[v];
        joined[u] = at[u] > joined[u] ? at[u] : joined[u];
    }
    for (uint32_t w = 0; w < n_warps; w++) {
        if (!at[w])
            continue;
        for (uint32_t v = 0; v < n_warps; v++)
            c->seen[w][v] = joined[v] > c->seen[w][v] ? joined[v] : c->seen[w][v];
        for (uint32_t lane = 0; lane < LANES; lane++)
            c->synced[w][lane] = at[w];
    }
}

void check_opens(struct block *b, uint32_t number, bool everyone)
{
    struct checker *c = b->worker->check;
    if (everyone) {
        c->all_seen = c->now++;
        c->barrier++;
    } else {
        join(c, number, b->n_warps);
    }
    memset(c->barriers[number].at, 0, sizeof c->barriers[number].at);
}

void check_warp_syncs(struct warp *w, uint32_t lanes)
{
    struct checker *c = w->block->worker->check;
    for (uint32_t lane = 0; lane < LANES; lane++)
        if (lanes >> lane & 1)
            c->synced[w->index][lane] = c->now;
    c->now++;
}

void check_joins(struct warp *w)
{
    struct checker *c = w->block->worker->check;
    for (uint32_t v = 0; v < LANES; v++)
        c->seen[w->index][v] = c->now;
    check_warp_syncs(w, ALL_LANES);
}

#define TIME_MAX 0x80000000u  // far from the special times of check_shared.c

void check_block_starts(struct worker *worker)
{
    struct checker *c = worker->check;
    if (c->now > TIME_MAX || c->copies) {
        check_shared_clear(c);
        c->now = c->barrier = 0;
    }
    c->start = c->now = c->now + 1;
    c->all_seen = c->start - 1;
    c->barrier++;
    memset(c->seen, 0, sizeof c->seen);
    memset(c->synced, 0, sizeof c->synced);
    memset(c->barriers, 0, sizeof c->barriers);
    if (c->shadows)
        shadows_start(c->shadows);
}

// --- around a launch ---

struct checker *check_new(const struct grid *g, uint32_t n_memops)
{
    struct checker *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->grid = g;
    c->now = 1;
    c->n_touches = 2 * n_memops;
    c->touches = calloc(c->n_touches + 1, sizeof *c->touches);
    const bool shadows = g->code->shadows_local || g->code->shadows_memory;
    if (!c->touches || !check_shared_new(c) || !check_global_new(c) || (shadows && !(c->shadows = shadows_new(g)))) {
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
    free(c->granules);
    free(c->quiet);
    check_global_free(c);
    shadows_free(c->shadows);
    for (size_t i = 0; i < c->n_findings; i++)
        free(c->findings[i].shares);
    free(c->findings);
    free(c);
}

void check_add(struct checker *sum, const struct checker *c)
{
    sum->failed |= c->failed;
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
    return !c->failed;
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
