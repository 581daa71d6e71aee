// Runs the blocks of a cluster together: each until it waits, then the next one.
#pragma once

#include "seat.h"

void cluster_begin(struct seats *s, struct worker *w, uint64_t number);  // all blocks of cluster number `number`

// A turn of every block that has not ended; w->news: something happened. False if no block is left, or where the
// launch ends here (s->stopped); its fault is then in the worker, or, with checks, among the findings.
bool cluster_turn(struct seats *s, struct worker *w);

// The worker's fault, of a cluster whose blocks all wait for ever.
void cluster_stuck(struct worker *w);

// Does a launch end with the worker's fault? With checks most are findings, and the other blocks go on.
bool cluster_survives(struct worker *w);
