// Granules of shared memory that one access touches: all of them, or those of a run. They nearly always fare alike, and
// are looked at together: shared by check_alike.c and check_shared.c. See check.h.
#pragma once

#include "check_granule.h"

struct side {
    uint32_t base, n;          // granule base + at[i], for each i below n
    const uint32_t *at;        // ascending
    const struct touch *by;    // who touches them
    unsigned bits;             // 1 << bits are one of these: 0, or folds
    struct granule *granules;  // of the block, or its folds
    uint32_t *redundant_in;
};

static inline struct side check_side_of(const struct block_check *k, uint32_t base, uint32_t n, const uint32_t *at,
                                        const struct touch *by)
{
    return (struct side){ base, n, at, by, 0, k->granules, k->redundant_in };
}

// The place of granule number i in what the side is of.
static inline uint32_t side_at(const struct side *s, uint32_t i)
{
    return (s->base + s->at[i]) >> s->bits;
}

// Are reads of them redundant?
static inline bool check_redundant(const struct block_check *k, const struct side *s)
{
    for (uint32_t i = 0; i < s->n; i += 1u << s->bits)
        if (s->redundant_in[side_at(s, i)] != k->barrier)
            return false;
    return true;
}

// Where it is kept that reads of t from granule base on are redundant.
static inline uint32_t check_redundant_slot(uint32_t base)
{
    return (base ^ base >> 3 ^ base >> 6) % REDUNDANT_SLOTS;
}

// An access to them: what is remembered of it. False where they have to be looked at one by one.
bool check_alike(const struct visit *v, const struct side *s);
// A weak read by a warp, where no other block uses this memory: most need no more than a look at all of it. Are
// reads of all that it touches redundant, from granule base on? No fold stands for others here. Or are they old, and
// unread or read by another warp?
bool check_read_at_once(const struct warp *w, struct touches *t, uint32_t base, struct who reader, uint32_t now);
