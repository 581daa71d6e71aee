// Follows a launch as it runs: what each warp executes, which addresses its lanes name, and where the values that it
// stores come from. A launch is followed when its struct trace has a record; one host thread then runs all blocks.
#pragma once

#include "trace_access.h"

enum record_kind {
    RECORD_OTHER,
    RECORD_MULTIPLY,  // a multiply-add: fma, mma
    RECORD_LOAD,
    RECORD_STORE,
    RECORD_BARRIER
};

// Where the bytes of a value come from: a global address, or ORIGIN_LANE plus the thread (warp * 32 + lane) whose
// multiply-add made it; 0 if neither is known. Global addresses are larger than any such thread.
#define ORIGIN_LANE 1
#define ORIGIN_LANES (((uint64_t)1 << MEMORY_SHIFT) - 1)

static inline bool origin_is_lane(uint64_t origin)
{
    return origin && origin <= ORIGIN_LANES;
}

struct record_event {
    const struct uop *u;
    enum record_kind kind;
    enum ptx_space space;  // of a load or store: shared (addresses are offsets) or global
    uint64_t block;        // linear
    uint32_t warp;
    uint64_t at;        // PTX instructions that the warp executed before this one
    bool counts;        // stands for a PTX instruction (some take several uops)
    uint32_t barriers;  // that the warp passed before
    uint32_t mbarrier;  // of a bulk copy: 1 + the byte of shared memory where its mbarrier is; of others 0
    uint32_t n;         // accesses; wmma takes several
    const struct trace_access *access;
    const uint64_t (*origin)[LANES][16];  // of a store: [access][lane][byte]
};

struct record {
    uint64_t block;  // the one that is followed; of the others only stores to global memory are told
    void (*tell)(void *context, const struct record *r, const struct record_event *e);
    void *context;
    bool failed;  // out of memory
    // Private: record.c
    uint64_t *shared;        // by byte of the block's shared memory: its origin
    uint64_t *slots;         // by warp, slot of the register file and lane: the origin
    uint64_t *instructions;  // by warp
    uint32_t *barriers;      // by warp
    uint32_t warps, file_slots, shared_bytes;
    struct trace_access access[TILE_ACCESSES];
    uint64_t origin[TILE_ACCESSES][LANES][16];
};

// The active lanes of w are about to execute u.
void record_step(struct record *r, const struct warp *w, const struct uop *u, uint32_t active);
void record_free(struct record *r);  // what it holds

// The origin of a byte of the followed block's shared memory.
static inline uint64_t record_shared(const struct record *r, uint64_t byte)
{
    return r->shared && byte < r->shared_bytes ? r->shared[byte] : 0;
}
