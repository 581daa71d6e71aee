// The moment that is to be explained, and the list of reasons: why_waits.c makes it, with why_mbarrier.c.
#pragma once

#include "why.h"
#include "why_inside.h"

enum { GROUPS = WATCH_LANES };

struct stand {  // a warp, at the moment
    uint32_t ended, n;
    struct simt_lanes groups[GROUPS];
    bool polls;
    uint32_t at, parity, lane;  // of the mbarrier that it waits for
    uint64_t last;              // its last step, or WATCH_NONE
};

struct scene {  // what there is to see at the moment
    struct watch *w;
    uint64_t moment;
    uint32_t n_warps;
    struct stand warps[WATCH_WARPS];
    struct simt_barrier barriers[WATCH_BARRIERS];
    struct watch_mbarrier *mbarriers;
    size_t n_mbarriers, mbarriers_room;
    struct watch_reason *reasons;
    size_t n, room;
    bool failed;  // out of memory
};

// Looks at moment s->moment of s->w: the scene, and a reason for each warp that waits. False with an error.
bool why_look(struct scene *s, char error[DEV_ERROR_MAX]);
const struct watch_mbarrier *why_mbarrier_at(const struct scene *s, uint32_t at);
// Puts a reason behind the others: its number.
uint32_t why_add(struct scene *s, struct watch_reason r);
// A reason of that kind for reason number `of`, to be filled in.
struct watch_reason why_about(const struct scene *s, uint32_t of, enum watch_reason_kind kind, uint32_t instruction);
// Why these warps and lanes have not come since: reasons of reason number `of`.
void why_explain_stands(struct scene *s, uint32_t of, uint32_t warps, const uint32_t lanes[WATCH_WARPS],
                        const uint64_t since[WATCH_WARPS]);
void why_explain_mbarrier(struct scene *s, uint32_t of);  // why_mbarrier.c
