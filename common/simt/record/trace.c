// See trace.h.
#include "trace.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "record.h"

static struct trace_event *new_event(struct trace *t, const struct uop *u, enum ptx_space space, enum trace_kind kind)
{
    struct trace_event **p = &t->first;
    for (; *p; p = &(*p)->next)
        if ((*p)->u == u && (*p)->space == space)
            break;
    if (*p && (*p)->times++ > t->execution)
        return NULL;
    if (!*p && (*p = calloc(1, sizeof **p)))
        (*p)->times = 1;
    t->failed |= !*p;
    if (*p)
        **p = (struct trace_event){ .u = u, .space = space, .kind = kind, .times = (*p)->times, .next = (*p)->next };
    return *p;
}

static void add_access(struct trace_event *e, const uint64_t address[LANES], uint32_t mask, uint32_t outside,
                       uint32_t bytes)
{
    if (!e || e->n == TILE_ACCESSES)
        return;
    struct trace_access *a = &e->access[e->n++];
    a->mask = mask;
    a->outside = outside;
    a->bytes = bytes;
    for (uint32_t i = 0; i < LANES; i++)
        a->address[i] = address[i];
}

static void refuse(struct trace *t, const struct uop *u, enum ptx_space space, const char *why)
{
    struct trace_event *e = new_event(t, u, space, TRACE_LOAD);
    if (e)
        e->refused = why;
}

// What the machine code's access asks of shared memory: it may be wider than the PTX's, or part of another (merge.c).
static void add_shared(struct trace *t, const struct uop *u, const struct memop *m, const struct trace_lanes *to,
                       uint32_t bytes, enum trace_kind kind)
{
    uint64_t address[LANES];
    if (m->merged) {
        refuse(t, u, SPACE_SHARED, "ptxas makes it part of another access of the machine code");
        return;
    }
    for (uint32_t i = 0; i < LANES; i++)
        address[i] = to->address[i] + (uint64_t)(int64_t)m->ahead;
    struct trace_event *e = new_event(t, u, SPACE_SHARED, kind);
    add_access(e, address, to->shared, to->outside, m->span ? m->span : bytes);
    if (e)
        e->widened = m->span && m->span != bytes;
}

static void add_lanes(struct trace *t, const struct warp *w, const struct uop *u, const struct memop *m,
                      uint32_t active, enum trace_kind kind)
{
    const uint32_t bytes = m->n ? m->bytes * m->n : m->bytes;  // cp.async has no registers
    const struct trace_lanes to = trace_lanes(w, m, active);
    if (to.global)
        add_access(new_event(t, u, SPACE_GLOBAL, kind), to.address, to.global, to.outside, bytes);
    if (to.shared)
        add_shared(t, u, m, &to, bytes, kind);
}

static void add_rows(struct trace *t, const struct warp *w, const struct uop *u, enum trace_kind kind)
{
    uint64_t address[LANES];
    const uint32_t rows = 8 * u->warp->shape;
    for (uint32_t i = 0; i < LANES; i++)
        address[i] = trace_shared(w, access_address(w, &u->warp->mem, i));
    add_access(new_event(t, u, SPACE_SHARED, kind), address, rows < LANES ? (1u << rows) - 1 : ALL_LANES, 0, 16);
}

static void add_tile(struct trace *t, const struct warp *w, const struct uop *u, bool store)
{
    const struct tile tile = tile_of(w, u, store);
    struct tile_accesses all;
    enum ptx_space space = u->warp->mem.space;
    access_place(w, 0, &space, tile.address, 1);
    if (space != SPACE_SHARED && space != SPACE_GLOBAL)
        return;
    tile_accesses(&tile, &all);
    for (uint32_t i = 0; space == SPACE_SHARED && i < all.n; i++)
        for (uint32_t k = 0; k < (tile.ldsm ? 8 : LANES); k++)
            all.address[i][k] = trace_shared(w, all.address[i][k]);
    struct trace_event *e = new_event(t, u, space, tile.ldsm ? TRACE_LDMATRIX : store ? TRACE_STORE : TRACE_LOAD);
    for (uint32_t i = 0; e && !tile.ldsm && i < all.n; i++)
        add_access(e, all.address[i], ALL_LANES, 0, all.bytes);
    for (uint32_t i = 0; e && tile.ldsm && i < all.n; i += 4) {  // four matrices an instruction
        const uint32_t matrices = all.n - i < 4 ? all.n - i : 4;
        uint64_t address[LANES] = { 0 };
        for (uint32_t row = 0; row < 8 * matrices; row++)
            address[row] = all.address[i + row / 8][row % 8];
        add_access(e, address, matrices < 4 ? (1u << 8 * matrices) - 1 : ALL_LANES, 0, 16);
    }
}

static void add_warpop(struct trace *t, const struct warp *w, const struct uop *u, uint32_t active)
{
    const struct warpop *op = u->warp;
    if (op->kind == WARP_ldmatrix || op->kind == WARP_stmatrix)
        add_rows(t, w, u, op->kind == WARP_ldmatrix ? TRACE_LDMATRIX : TRACE_STMATRIX);
    else if (op->kind == WARP_wmma_load || op->kind == WARP_wmma_store)
        add_tile(t, w, u, op->kind == WARP_wmma_store);
    else if (op->kind == WARP_copy && !op->op)
        add_lanes(t, w, u, &op->mem, active, TRACE_STORE);
    else if (op->kind == WARP_copy)
        refuse(t, u, SPACE_SHARED, "what cp.async.cg takes depends on both of its sides");
    else
        refuse(t, u, trace_lanes(w, &op->mem, active).shared ? SPACE_SHARED : SPACE_GLOBAL,
               "only loads and stores can");
}

// Where the first active lane goes: TRACE_TO_... or 0.
static unsigned char goes_to(const struct warp *w, const struct memop *m, uint32_t active)
{
    const uint64_t window = access_address(w, m, (uint32_t)__builtin_ctz(active)) & ~MEMORY_OFFSET;
    const bool generic = m->space == SPACE_GENERIC;
    if (m->space == SPACE_SHARED || (generic && window == WINDOW_SHARED))
        return TRACE_TO_SHARED;
    return m->space == SPACE_GLOBAL || (generic && window != WINDOW_LOCAL) ? TRACE_TO_GLOBAL : 0;
}

void trace_step(const struct warp *w, const struct uop *u, uint32_t active)
{
    struct trace *t = w->block->worker->grid->trace;
    const struct memop *m = uop_memop(u);
    if (t->record)
        record_step(t->record, w, u, active);
    if (t->record || !m)
        return;
    atomic_fetch_or_explicit(&t->touched[u->inst], goes_to(w, m, active), memory_order_relaxed);
    if (w->block->linear != t->block || w->index != t->warp || !t->wanted[u->inst])
        return;
    if (u->kind == UOP_WARP)
        add_warpop(t, w, u, active);
    else
        add_lanes(t, w, u, m, active, u->kind == UOP_LOAD ? TRACE_LOAD : TRACE_STORE);
}

void trace_free(struct trace *t)
{
    for (struct trace_event *e = t->first, *next; e; e = next) {
        next = e->next;
        free(e);
    }
    t->first = NULL;
}
