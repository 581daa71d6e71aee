// Blocks that run together, and the addresses of their shared memory. Source: PTX ISA 9.0, 5.1.4 (shared state space),
// 9.7.9.21 (mapa).
//
// An address in the shared memory of a cluster holds the rank of the block in its upper 8 bits and a byte in the lower
// ones, as on an H200. Each block's own addresses are of this kind, too: they begin at its window, which is 0 for rank
// 0 and without clusters.
#pragma once

#include "base/launch.h"
#include "warp.h"

#define CLUSTER_SHIFT 24

struct vclock;

struct cluster {
    uint32_t n;                              // blocks
    struct block *blocks[DEV_CLUSTER_MAX];   // by rank
    unsigned char *shared[DEV_CLUSTER_MAX];  // their shared memory
    bool ended[DEV_CLUSTER_MAX];
    bool came;  // a thread has come to its barrier, which has not opened since
    struct {
        const struct uop *u;
        uint32_t lead[2];
    } leads[64];  // for the checks: leading offsets of A's and B's descriptors in the block of rank 0, by wgmma
    struct vclock *arrived, *opened;  // for the checks: what those know who came to its barrier; when it last opened
};

// Which cluster of the grid a block belongs to, by their numbers.
static inline uint64_t cluster_number(const struct grid *g, uint64_t block)
{
    const uint64_t x = block % g->grid[0], y = block / g->grid[0] % g->grid[1], z = block / g->grid[0] / g->grid[1];
    const uint64_t across = g->grid[0] / g->cluster[0], down = g->grid[1] / g->cluster[1];
    return x / g->cluster[0] + (y / g->cluster[1] + z / g->cluster[2] * down) * across;
}

// And its rank there.
static inline uint32_t cluster_rank_of(const struct grid *g, uint64_t block)
{
    const uint64_t x = block % g->grid[0], y = block / g->grid[0] % g->grid[1], z = block / g->grid[0] / g->grid[1];
    return (uint32_t)(x % g->cluster[0] +
                      (y % g->cluster[1] + z % g->cluster[2] * g->cluster[1]) * (uint64_t)g->cluster[0]);
}

static inline uint32_t cluster_rank(uint64_t address)
{
    return (uint32_t)address >> CLUSTER_SHIFT;
}

static inline uint32_t cluster_offset(uint64_t address)
{
    return (uint32_t)address & ((1u << CLUSTER_SHIFT) - 1);
}

// The block of the cluster whose shared memory an address names, or NULL.
static inline struct block *cluster_block(const struct worker *w, uint64_t address)
{
    const uint32_t rank = cluster_rank(address);
    return rank < w->cluster->n ? w->cluster->blocks[rank] : NULL;
}

// The same for bytes at an address; NULL if there are none.
static inline unsigned char *cluster_memory(const struct worker *w, uint64_t address, uint32_t bytes)
{
    const uint32_t rank = cluster_rank(address), at = cluster_offset(address), size = w->grid->shared_bytes;
    return rank < w->cluster->n && at <= size && bytes <= size - at ? w->cluster->shared[rank] + at : NULL;
}
