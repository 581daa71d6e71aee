// What the files share that say why warps wait.
#pragma once

#include "inside.h"

// why_condition.c: why the guard of an instruction was as it was, for a lane that came to it right behind the step at
// that moment: "tile < tiles: 6 < 6 is false". Empty if that cannot be told.
void why_condition(struct watch *w, uint64_t moment, uint32_t instruction, uint32_t warp, uint32_t lane, char *text,
                   size_t room);

#define WHY_NEVER UINT32_MAX
// why_flow.c: for each instruction how many lie on the shortest way from there to this one that does not go through
// `wall` (WHY_NEVER: there is none); WHY_NEVER: there is no way. The caller frees it; NULL when memory runs out.
uint32_t *why_distances(const struct watch *w, uint32_t instruction, uint32_t wall);
struct why_lane {  // of a warp, after one moment (or WATCH_NONE: from the beginning) and up to another
    uint32_t warp, lane;
    bool ended;
    uint64_t since, moment;
};
// When it could have come to the instruction, was nearest to it, and went another way: *decided is the branch or the
// guarded instruction that led it there, and the result the moment of the lane's step before that, or of the branch.
// WATCH_NONE: it never did.
uint64_t why_passed(const struct watch *w, const uint32_t *far, uint32_t instruction, const struct why_lane *l,
                    uint32_t *decided);
