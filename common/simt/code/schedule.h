// Who runs and who waits: lanes of a warp that stand at different places, and the barriers of a block.
#pragma once

#include "uop.h"

struct split {  // lanes that stand at the same place
    uint32_t pc, mask;
    uint32_t barrier;  // number + 1 of the barrier they wait at, 0: they run, or one of WAITS_...
};

struct poll {              // an instruction that a waiting loop may be made of
    uint32_t seen[LANES];  // a hash of the last address and result
};

#define WAITS_HERE 99u     // at an instruction of the warp, which runs once all its lanes have come
#define WAITS_CLUSTER 98u  // at the cluster's barrier
#define WAITS_WARP 97u     // in front of an aligned barrier, for the other lanes of their warp

struct barrier {
    uint32_t arrived;      // threads
    uint32_t expected;     // from bar.sync a, b; 0: every thread that has not exited
    bool passed;           // some arrived and went on: bar.arrive
    uint32_t voters, yes;  // bar.red: threads that brought a predicate, and those whose predicate holds
};

#define BARRIERS 16

// Uops in which warps do nothing but look at values that do not change, before their wait counts as endless. A kernel
// that reads a clock may give up by itself after some time.
static inline uint64_t wait_max(const struct code *c)
{
    return (uint64_t)1 << (c->reads_clock ? 28 : 23);
}
