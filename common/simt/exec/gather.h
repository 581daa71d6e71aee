// Instructions that lanes of a warp run together: shfl, vote, match, redux, elect, bar.warp.sync, ldmatrix, mma.
#pragma once

#include "simt/code/warp.h"

// Before the lanes *active of s run u, which gathers: lanes that already wait at u join them, and lanes that miss some
// of those they name leave s and wait. *active are those that can run u now. False on a fault.
bool gather_lanes(struct warp *w, const struct uop *u, struct split *s, uint32_t *active);

// Runs u, whose function is run, for each group of lanes that name the same ones by itself. False on a fault.
bool gather_run(struct warp *w, const struct uop *u, warp_fn run, uint32_t active);

// Lets lanes go on that wait for lanes of their own warp and now have them. False if there are none.
bool gather_wake(struct warp *w);

// The fault of a split that waits at u for ever: which lanes does it miss?
void gather_stuck(struct warp *w, const struct uop *u, uint32_t waiting);
