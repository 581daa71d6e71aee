// What can go wrong in a kernel: the kinds of faults, and what is known of one.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "simt/ptx/ptx.h"

enum fault_kind {
    FAULT_NONE,
    FAULT_OUT_OF_BOUNDS,
    FAULT_MISALIGNED,
    FAULT_ENDLESS_LOOP,
    FAULT_BARRIER_STUCK,
    FAULT_ENDLESS_WAIT,  // for a value that nothing changes: waits; or blocks that wait (seen), have not begun (left)
    FAULT_TRAP,
    FAULT_BARRIER_NUMBER,  // it names none, or an impossible count
    FAULT_BARRIER_COUNT,   // a barrier for other threads (seen) than it is for others (expected)
    FAULT_NOT_MEMBER,      // a lane runs a .sync instruction whose member mask leaves it out
    FAULT_LANES_MISSING,   // lanes that a .sync instruction needs have ended, or wait elsewhere
    FAULT_LANES_INACTIVE,  // a shuffle or vote reads a lane that takes no part
    FAULT_ASSERTION,       // text: what was asserted
    FAULT_REFUSED,         // text: what cannot be
    // Of an mbarrier: it was not initialised; more arrive (seen) than its phase waits for (expected)
    FAULT_ARRIVES_UNMADE,
    FAULT_EXPECTS_UNMADE,
    FAULT_ARRIVALS,
    // What only the checks find (check.h); other_... says who the other side is.
    FAULT_RACE,           // in shared memory
    FAULT_RACE_BLOCKS,    // in global memory
    FAULT_STRONG_WRITES,  // two strong writes of a place, not both atomic, that nothing orders: an advice
    FAULT_RELAXED_WAIT,   // a barrier stands in for a fence behind a relaxed read that waited: an advice
    FAULT_RELAXED_READ,   // a strong read of what a block wrote before what was seen of it, without fences: an advice
    FAULT_UNINIT_MEMORY,
    FAULT_COPIES_OVERLAP,  // of two bulk copies under way; seen: bytes of the other, from byte left on
    FAULT_COPY_PENDING,    // of an asynchronous copy that has not been waited for
    FAULT_PROXY_FENCE,     // the asynchronous proxy reads what no fence.proxy.async has made known to it
    FAULT_RACE_INIT,       // a bulk copy reports to an mbarrier, and its thread does not know that it was initialised
    FAULT_INIT_FENCE,      // it knows of that, but no fence came in between: an advice, no error
    FAULT_INIT_AGAIN,      // mbarrier.init of what is an mbarrier: an advice
    FAULT_LATE_WAIT,       // a wait for a parity, which the phase after next may have begun before
    FAULT_PHASE_BYTES,     // an mbarrier expects other bytes than come
    FAULT_UNWAITED,        // a block ends, and a bulk copy to (store) or from its shared memory is under way
    FAULT_WGMMA_FENCE,     // registers of a wgmma that no wgmma.fence covers
    FAULT_WGMMA_WAIT,      // accumulators of a wgmma that is under way
    FAULT_WGMMA_UNCOMMITTED,  // of one that was not committed; seen: 1 + the wait's instruction that missed it
    FAULT_WGMMA_LEFT,         // a block ends, and a wgmma is under way; seen: it was committed
    FAULT_REGISTERS_DIFFER,   // setmaxnreg to seen; another warp of the warpgroup, that of other_thread, to expected
    FAULT_REGISTERS_LACK,     // setmaxnreg to seen, which makes left of the block, given expected: a wait for ever
    FAULT_REGISTERS_STEP,     // setmaxnreg.dec to more (seen) than the thread has (expected), or .inc to less
    FAULT_REGISTERS_IGNORED,  // setmaxnreg in a kernel that does not say how many registers it begins with
    FAULT_WGMMA_DIFFERS,      // a wgmma has a descriptor (seen) that other_thread's warp has not (expected); left: B's
    FAULT_WGMMA_APART,        // a warp has run seen wgmma, and that of other_thread expected
    FAULT_COMMITS_APART,      // the same of groups that they have committed: a wait for ever
    FAULT_DESCRIPTOR_RANK,    // of a matrix for wgmma: it has the block's rank in a field of its own
    FAULT_HOME,               // another block's shared memory, before it began, or (store) when it may have ended
    FAULT_SPLIT,              // threads of a block wait at different barriers of the kernel
    FAULT_BARRIER_LEFT,       // a barrier of the whole block opens, and some threads had ended before
    FAULT_CONSTANT_STORE,     // a store to a __constant__ variable
    FAULT_LAUNCH_BEFORE,      // what the launch before wrote is used, and nothing has waited for that launch
    FAULT_STOPPED,            // none: who watches a warp (watching.h) has seen enough
    FAULT_UNWRITTEN           // what nothing wrote into a register or local memory is used: see shadow.h
};

enum wait_for { WAIT_VALUE, WAIT_MBARRIER, WAIT_BARRIER, WAIT_LANES, WAIT_CLUSTER, WAIT_ENDED };

struct wait {  // what warps of a block wait for
    enum wait_for what;
    uint32_t warps;     // a bit for each
    uint64_t block;     // linear
    uint32_t at;        // the mbarrier's byte of shared memory; or the barrier's number
    uint32_t phase;     // of the mbarrier: its parity
    uint32_t arrivals;  // that it lacks; or threads that have come to the barrier
    uint32_t expected;  // threads, at the cluster's; arrivals, of the mbarrier
    int64_t bytes;      // that the mbarrier lacks
};

#define FAULT_WAITS 16

struct fault {
    enum fault_kind kind;
    bool store, atomic;
    uint32_t inst;  // PTX instruction index
    uint32_t warp, lane;
    uint64_t address;
    uint32_t bytes;
    enum ptx_space space;
    uint64_t block;                     // linear block index
    uint64_t expected, seen, left;      // by kind; barrier stuck: threads at the barrier (seen), that ended (left)
    uint32_t phase;                     // of the mbarrier at address: 1 + its parity; 0: not known
    uint32_t lanes;                     // not member, missing, inactive: the lanes in question
    uint32_t other_inst, other_thread;  // thread: within the block
    uint64_t other_block;
    uint32_t other_barrier;  // copy: 1 + the mbarrier in home that it reports to; 0, UINT32_MAX: not known
    uint64_t home;           // remote: the block whose shared memory it is about
    bool remote;
    bool other_store, other_atomic;
    bool async, wgmma, other_async, other_wgmma;  // by the asynchronous proxy: a bulk copy, wgmma
    bool cp_async;
    bool cluster;  // waits are those of all blocks of the cluster
    uint32_t n_waits;
    union {
        struct wait waits[FAULT_WAITS];  // FAULT_ENDLESS_WAIT: what the warps wait for
        char text[600];
    };
};
