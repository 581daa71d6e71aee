// The barrier of a cluster: barrier.cluster.arrive and barrier.cluster.wait. Source: PTX ISA 9.7.13.4.
#pragma once

#include "simt/code/cluster.h"

// The lanes active of s arrive or wait, as u says. Lanes that have to wait leave s. False on a fault.
bool cluster_barrier(struct warp *w, const struct uop *u, struct split *s, uint32_t active);

// Opens it if all threads of the cluster that have not ended are there; false if not.
bool cluster_barrier_open(struct worker *w);

bool cluster_barrier_holds(const struct block *b);  // do threads of the block wait there?

// Threads of the cluster that have come, and those that have not ended.
void cluster_barrier_count(const struct cluster *c, uint32_t *came, uint32_t *all);
