// Barriers of a block: bar.sync, bar.arrive, bar.red.
#ifndef SIMT_BARRIER_H
#define SIMT_BARRIER_H

#include "simt/code/exec.h"

// The lanes active of s arrive at the barriers that they name. Lanes that have to wait leave s. False on a fault.
bool barrier_arrive(struct warp *w, const struct uop *u, struct split *s, uint32_t active);

// Opens every barrier that is complete; false if none is.
bool barrier_open(struct block *b);

#endif
