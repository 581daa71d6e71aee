// Counters of uops and of accesses to memory: each host thread has a set of its own, and they are summed at the end.
#pragma once

#include "simt/machine/cost.h"
#include "uop.h"

struct uop_count {
    uint64_t warps;  // times executed
    uint64_t idle;   // lanes that did not take part, summed over those times
    uint64_t split;  // branches: times at which not all lanes went the same way
};

struct mem_count {
    uint64_t requests, sectors;        // global
    uint64_t waves, conflicts, ideal;  // shared
    uint64_t extra;                    // machine instructions beyond one each time, of wmma.load and wmma.store
    uint64_t loads, load_waves;        // of an atomic that is a loop: its loads, and their share of waves
};

enum pattern { PATTERN_OTHER, PATTERN_UNIFORM, PATTERN_LINEAR };  // one address; lane after lane
// Lane by lane; all lanes, halves or quarters of them from one address; all at once.
enum move { MOVE_LANES, MOVE_SAME, MOVE_HALVES, MOVE_QUARTERS, MOVE_LINEAR_4, MOVE_LINEAR_8 };

union deltas {  // from the first active lane's address, by the width of the address register
    _Alignas(64) uint32_t d32[LANES];
    uint64_t d64[LANES];
};

struct mem_memo {  // the last address pattern of an instruction, and what follows from it
    union deltas delta;
    uint32_t mask;           // active lanes; 0: empty
    uint32_t low, low_mask;  // the bits of the first active lane's address that the cost depends on
    int64_t min, max;        // the smallest and largest delta
    uint64_t bits;           // all deltas or-ed: shows whether they keep the alignment
    enum pattern pattern;
    enum move move;  // how the data moves
    struct shared_cost shared;
    uint32_t sectors;
    uint32_t number;  // of the patterns so far, from 1
    uint32_t leader;  // the leader's pattern when the lanes were the same as they are here; 0: not known
    // Of the whole warp's last access: if the first lane is from `from` to from + room, all lanes are in one
    // allocation, or, counted from its first byte on, in shared memory.
    bool placed;
    uint64_t from, room;
    unsigned char *host;  // global memory: where `from` is
};
