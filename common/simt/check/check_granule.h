// A granule of shared memory, and one access to it by one lane: shared by check_granule.c, which has the rules, and by
// check_shared.c and check_alike.c, which find most granules alike and so need not ask for each. See check.h.
#pragma once

#include "check_state.h"

struct asked {                         // neighbouring granules ask the same
    uint32_t thread, flags, at, lane;  // at 0: nothing
    bool ordered;
};

#define ASKED 4

struct visit {  // an access in hand
    struct warp *w;
    const struct uop *u;
    struct checker *c;
    struct block *home;     // whose shared memory it is
    struct block_check *k;  // home's
    enum check_op op;
    bool strong, is_volatile, polls;
    bool shared;       // other blocks of the cluster use this memory, too
    uint32_t base;     // the granule of the first active lane, in home's memory
    uint16_t mine;     // flags of an ordinary access by the own block: its rank
    struct who first;  // who lane 0 is in this access
    struct asked *asked;
};

static inline struct who visit_who(const struct visit *v, uint32_t lane)
{
    return (struct who){ v->first.inst, (uint16_t)(v->first.thread + lane), v->first.flags };
}

// Did it happen in this block?
static inline bool visit_within(const struct visit *v, uint32_t at)
{
    return at >= v->k->start;
}

// Warps of a cluster, by a number each.
static inline uint32_t visit_warp(uint32_t flags, uint32_t thread)
{
    return flags >> WHO_RANK << 8 | thread / LANES;
}

// What happened to who at time at: is it ordered before the lane's access now?
bool check_granule_ordered(const struct visit *v, const struct who *who, uint32_t at, uint32_t lane);
// Is it ordered before the accesses of all lanes, or at least over? False where that may differ from lane to lane.
bool check_granule_ordered_all(const struct visit *v, const struct who *who, uint32_t at);
bool check_granule_completed(const struct visit *v, const struct who *who, uint32_t at);
// The same of what any thread of who's warp did at that time, in an ordinary access.
bool check_granule_synced(const struct visit *v, const struct who *who, uint32_t at);
// The lanes of a touch access granule g: findings, and what is remembered of it.
void check_granule(const struct visit *v, const struct touch *t, uint32_t g);
