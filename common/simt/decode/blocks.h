// The basic blocks of a kernel: runs of uops that are entered at their beginning and left at their end.
#pragma once

#include "decoder.h"

#define NO_BLOCK UINT32_MAX

struct blocks {
    uint32_t n;
    uint32_t *starts;     // first uop of each block, in the code's order; starts[n] is the end
    uint32_t *of;         // by uop: its block
    uint32_t (*next)[2];  // where a block goes, or NO_BLOCK
    // Of find_flow (merge.h) alone:
    uint32_t *order, n_order;  // the blocks that can be reached, each after those that it always follows
    uint32_t *dominator;       // by block: the last one that every way here passes, or NO_BLOCK
    uint32_t *low, *high;      // dominators as intervals: a dominates b where low[a] <= low[b] < high[a]
    uint32_t *version;         // by block: which version of shared memory it finds
};

void find_blocks(struct decoder *x, struct blocks *b);  // n, starts, of and next
