// Granules of shared memory that are all alike, kept as one. Bulk copies and wgmma use whole tiles in the same way:
// most of their granules stay like their neighbours for as long as the kernel runs.
//
// A fold is 16 bytes, at a multiple of 16: no swizzle takes them apart, and a lane loads or stores no more than that.
// While it is folded, one granule says what all of them are, and if reads of them are redundant; what they say
// themselves is out of date. Those granules lie side by side (block_check's wholes), so that who goes through a tile
// finds them in the cache. Whoever looks at one granule of a fold alone unfolds it before.
#pragma once

#include "check_state.h"

#define FOLD_BITS 4  // 1 << FOLD_BITS bytes: more than a granule's

// Granules have 1 << shift bytes. Is granule g in a fold that is folded?
static inline bool fold_holds(const struct block_check *k, unsigned shift, uint32_t g)
{
    return k->folded[g >> (FOLD_BITS - shift)];
}

// What says what granule g is.
static inline struct granule *fold_granule(const struct block_check *k, unsigned shift, uint32_t g)
{
    return fold_holds(k, shift, g) ? &k->wholes[g >> (FOLD_BITS - shift)] : &k->granules[g];
}

// Unfolds what the granules from g to end - 1 lie in.
void fold_open(struct block_check *k, unsigned shift, uint32_t g, uint32_t end);

// How many granules, before end, granule g stands for: those of its fold where it is the first of one that is folded.
// A fold of which only a part lies from g to end - 1 is unfolded.
static inline uint32_t fold_size(struct block_check *k, unsigned shift, uint32_t g, uint32_t end)
{
    const uint32_t n = 1u << (FOLD_BITS - shift);
    if (!fold_holds(k, shift, g))
        return 1;
    if (g % n == 0 && end - g >= n)
        return n;
    fold_open(k, shift, g, g + 1);
    return 1;
}

// The granules from g to end - 1 are alike in each fold, and no reads of them are redundant: folds all folds that lie
// within them.
void fold_close(struct block_check *k, unsigned shift, uint32_t g, uint32_t end);
