// One access of the machine: the addresses that the lanes of a warp name.
#pragma once

#include "simt/code/cluster.h"
#include "simt/code/tile.h"

struct trace_access {
    uint64_t address[LANES];
    uint32_t mask, bytes;  // the lanes that take part; bytes of each
    uint32_t outside;      // lanes that would, but whose address leads nowhere
};

// Addresses of shared memory are bytes of the block's own. Those of another block of its cluster begin at
// (its rank + 1) * TRACE_OTHER.
#define TRACE_OTHER ((uint64_t)1 << CLUSTER_SHIFT)

static inline uint64_t trace_shared(const struct warp *w, uint64_t address)
{
    const uint64_t at = address & MEMORY_OFFSET, own = at - w->block->window;
    return own < TRACE_OTHER ? own : at + TRACE_OTHER;
}

// Where the active lanes' addresses lead: to shared memory, to global memory, or nowhere: then the access itself will
// fault.
struct trace_lanes {
    uint64_t address[LANES];
    uint32_t shared, global, outside;
};
struct trace_lanes trace_lanes(const struct warp *w, const struct memop *m, uint32_t active);
