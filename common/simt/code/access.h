// Where a lane's address leads, and the fault of an access that goes wrong: what loads, stores, atomics, asynchronous
// copies and matrix accesses share.
#pragma once

#include "cluster.h"
#include "count.h"
#include "simt/machine/memory.h"

// The host's view of bytes at a lane's address, or NULL. A generic address's space is found out and left in *space; for
// shared memory of another block of the cluster, too, that is SPACE_SHARED.
static inline unsigned char *access_place(const struct warp *w, uint32_t lane, enum ptx_space *space, uint64_t address,
                                          uint32_t bytes)
{
    const struct worker *worker = w->block->worker;
    const struct grid *g = worker->grid;
    uint64_t window = address & ~MEMORY_OFFSET;
    const bool anywhere = *space != SPACE_SHARED;
    if (*space == SPACE_CLUSTER) {
        *space = SPACE_SHARED;
    } else if (*space == SPACE_GENERIC && (window == WINDOW_SHARED || window == WINDOW_LOCAL)) {
        *space = window == WINDOW_SHARED ? SPACE_SHARED : SPACE_LOCAL;
        address &= MEMORY_OFFSET;
    } else if (*space == SPACE_GENERIC) {
        *space = SPACE_GLOBAL;
    }
    if (*space == SPACE_SHARED) {
        const uint64_t at = address - w->block->window;
        if (at <= g->shared_bytes && bytes <= g->shared_bytes - at)
            return worker->shared + at;
        return anywhere && address <= UINT32_MAX ? cluster_memory(worker, address, bytes) : NULL;
    }
    if (*space == SPACE_LOCAL) {
        uint64_t thread = (uint64_t)w->index * LANES + lane, size = g->code->local_bytes;
        return address <= size && bytes <= size - address ? worker->local + thread * size + address : NULL;
    }
    return memory_at(g->memory, address, bytes);
}

// Leaves the fault in the worker; false, so that a caller can return it.
static inline bool access_fault(const struct warp *w, const struct uop *u, enum fault_kind kind, bool store,
                                uint32_t lane, uint64_t address, uint32_t bytes, enum ptx_space space)
{
    struct block *b = w->block;
    b->worker->fault = (struct fault){ .kind = kind,
                                       .store = store,
                                       .inst = u->inst,
                                       .warp = w->index,
                                       .lane = lane,
                                       .address = address,
                                       .bytes = bytes,
                                       .space = space,
                                       .block = b->linear };
    return false;
}

// The address that memop m has for a lane.
static inline uint64_t access_address(const struct warp *w, const struct memop *m, uint32_t lane)
{
    const unsigned char *slot = w->regs + m->base;
    if (m->base_class == SLOT_32)
        return (uint32_t)(((const u32 *)slot)[lane] + m->offset);
    return ((const u64 *)slot)[lane] + m->offset;
}

static inline void access_count_shared(const struct warp *w, const struct memop *m, const struct shared_cost *cost)
{
    struct mem_count *c = &w->block->worker->mem_counts[m->index];
    c->waves += cost->waves;
    c->conflicts += cost->conflicts;
    c->ideal += cost->ideal;
}

static inline void access_count_global(const struct warp *w, const struct memop *m, uint32_t sectors)
{
    struct mem_count *c = &w->block->worker->mem_counts[m->index];
    c->requests++;
    c->sectors += sectors;
}
