// Barriers of a block: bar.sync, bar.arrive, bar.red.
#pragma once

#include "simt/code/warp.h"

// The lanes active of s arrive at the barriers that they name. Lanes that have to wait leave s. False on a fault.
bool barrier_arrive(struct warp *w, const struct uop *u, struct split *s, uint32_t active);

// Opens every barrier that is complete; false if none is.
bool barrier_open(struct block *b);

// A warp runs an aligned barrier as a whole, as ptxas sees to (BSYNC and WARPSYNC, read on an H200): lanes that come
// early wait for those of their warp that have not ended.
//
// Before the lanes *active of s arrive at the aligned barrier u: those that wait for them join. False where some are
// missing: then they leave s and wait.
bool barrier_gathers(struct warp *w, const struct uop *u, struct split *s, uint32_t *active);

// Lets the lanes of w that wait so go on, if the missing ones have ended. False if there are none.
bool barrier_wake(struct warp *w);

// Nothing else in the block can go on: the lanes that wait so arrive without the others. (A card would wait for ever.)
// With checks this is a finding. False if there are none.
bool barrier_parts(struct block *b);

// f is of threads that wait for ever at this barrier of the block. Threads that wait at another one become its others.
void barrier_elsewhere(const struct block *b, uint32_t barrier, struct fault *f);
