// cp.async: copies from global to shared memory that a thread starts and waits for later. Source: PTX ISA 9.7.9.25.
//
// The bytes are taken when the copy starts and arrive when its thread waits for its group - as late as PTX allows, so
// that a kernel which reads too early, or waits for the wrong group, sees it.
#include <stdlib.h>
#include <string.h>

#include "access.h"
#include "check.h"
#include "warp.h"

struct copy {
    unsigned char *to;
    uint32_t bytes, lane, group, address;
    unsigned char data[16];
};

struct copies {  // of a warp, in the order in which they were started
    struct copy *all;
    uint32_t n, room;
    uint32_t group[LANES];  // groups that each lane has committed
};

void copies_reset(struct copies *c)
{
    if (!c)
        return;
    c->n = 0;
    memset(c->group, 0, sizeof c->group);
}

void copies_free(struct copies *c)
{
    if (c)
        free(c->all);
    free(c);
}

static struct copies *copies_of(struct warp *w)
{
    if (!w->copies)
        w->copies = calloc(1, sizeof *w->copies);
    return w->copies;
}

static bool add(struct copies *c, const struct copy *new)
{
    if (c->n == c->room) {
        uint32_t room = 2 * c->room + 64;
        struct copy *all = realloc(c->all, room * sizeof *all);
        if (!all)
            return false;
        c->all = all;
        c->room = room;
    }
    c->all[c->n++] = *new;
    return true;
}

// What an H200 counts (tests/truth): .cg copies go by sectors of 32 bytes. A 128-byte line of global memory that lands
// in one line of shared memory takes one wavefront, in whatever order; otherwise each pair of sectors takes its own.
static void count_cg(const uint64_t from[LANES], const uint32_t to[LANES], uint32_t mask, struct shared_cost *cost,
                     uint32_t *sectors)
{
    uint32_t bytes = 0;
    for (uint32_t i = 0; i < LANES; i++) {
        bool pair = true, line = true, scattered = false;
        if (!(mask >> i & 1))
            continue;
        bytes += 16;
        for (uint32_t j = 0; j < LANES; j++) {
            if (!(mask >> j & 1) || from[j] / 128 != from[i] / 128)
                continue;
            scattered |= to[j] / 128 != to[i] / 128;
            pair &= j >= i || from[j] / 32 != from[i] / 32 || to[j] / 32 != to[i] / 32;
            line &= j >= i;
        }
        *sectors += pair;
        cost->waves += scattered ? pair : line;
    }
    cost->ideal = (bytes + 127) / 128;
    cost->ideal = cost->ideal < cost->waves ? cost->ideal : cost->waves;
}

// What a copy reads: with a size given, its other bytes are zeros.
static void check_sources(struct warp *w, const struct uop *u, uint32_t active, const uint64_t from[LANES])
{
    const struct warpop *op = u->warp;
    const uint32_t bytes = op->mem.bytes, index = w->block->worker->grid->code->n_memops + op->mem.index;
    uint32_t whole = active;
    for (uint32_t i = 0; i < LANES && op->n_in > 1; i++) {
        const uint32_t size = ((const u32 *)(w->regs + op->in[1]))[i];
        if (!(active >> i & 1) || size >= bytes)
            continue;
        whole &= ~(1u << i);
        if (size)
            check_global(w, u, index, 1u << i, from, size, CHECK_READ);
    }
    if (whole)
        check_global(w, u, index, whole, from, bytes, CHECK_READ);
}

bool warp_copy(struct warp *w, const struct uop *u, uint32_t active)
{
    const struct warpop *op = u->warp;
    const struct memop *m = &op->mem;
    const uint32_t bytes = m->bytes;
    struct copies *c = copies_of(w);
    uint64_t from[LANES] = { 0 };
    uint32_t to[LANES] = { 0 }, sectors = 0;
    struct shared_cost cost = { 0 };
    for (uint32_t i = 0; i < LANES; i++) {
        enum ptx_space global = SPACE_GLOBAL, shared = SPACE_SHARED;
        if (!(active >> i & 1))
            continue;
        uint64_t at = access_address(w, m, i) & MEMORY_OFFSET;
        uint32_t size = op->n_in > 1 ? ((const u32 *)(w->regs + op->in[1]))[i] : bytes;
        from[i] = ((const u64 *)(w->regs + op->in[0]))[i] + op->shape;
        to[i] = (uint32_t)at;
        struct copy new = { .to = access_place(w, i, &shared, at, bytes),
                            .bytes = bytes,
                            .lane = i,
                            .group = c ? c->group[i] : 0,
                            .address = (uint32_t)at };
        if (at % bytes)
            return access_fault(w, u, FAULT_ALIGN, true, i, at, bytes, SPACE_SHARED);
        if (!new.to)
            return access_fault(w, u, FAULT_BOUNDS, true, i, at, bytes, SPACE_SHARED);
        size = size < bytes ? size : bytes;
        const unsigned char *source = size ? access_place(w, i, &global, from[i], size) : new.data;
        if (from[i] % bytes)
            return access_fault(w, u, FAULT_ALIGN, false, i, from[i], bytes, SPACE_GLOBAL);
        if (!source)
            return access_fault(w, u, FAULT_BOUNDS, false, i, from[i], size, SPACE_GLOBAL);
        memcpy(new.data, source, size);
        if (!c || !add(c, &new)) {
            bool ok = warp_fault(w, u, FAULT_OTHER, active, 0);
            strcpy(w->block->worker->fault.text, "the simulated GPU ran out of memory for asynchronous copies");
            return ok;
        }
    }
    if (op->op) {
        count_cg(from, to, active, &cost, &sectors);
    } else {
        cost = cost_shared(to, active, bytes, false);
        sectors = cost_sectors(from, active);
    }
    access_count_shared(w, m, &cost);
    access_count_global(w, m, sectors);
    if (w->block->worker->check) {
        uint64_t wide[LANES];
        for (uint32_t i = 0; i < LANES; i++)
            wide[i] = to[i];
        check_shared(w, u, m->index, active, wide, bytes, CHECK_COPY);
        check_sources(w, u, active, from);
    }
    return true;
}

bool warp_commit(struct warp *w, const struct uop *u, uint32_t active)
{
    struct copies *c = copies_of(w);
    (void)u;
    for (uint32_t i = 0; c && i < LANES; i++)
        c->group[i] += active >> i & 1;
    return true;
}

bool warp_wait(struct warp *w, const struct uop *u, uint32_t active)
{
    struct copies *c = copies_of(w);
    const uint64_t outstanding = u->warp->op;
    uint32_t kept = 0;
    for (uint32_t i = 0; c && i < c->n; i++) {
        const struct copy *a = &c->all[i];
        bool done = u->warp->shape || (uint64_t)a->group + outstanding < c->group[a->lane];
        if (active >> a->lane & 1 && done) {
            memcpy(a->to, a->data, a->bytes);
            if (w->block->worker->check)
                check_delivered(w, a->lane, a->address, a->bytes);
        } else
            c->all[kept++] = *a;
    }
    if (c)
        c->n = kept;
    return true;
}
