// Which of a file's kernels computes a product in the least time, and how many blocks share a tile of C (step 20).
#pragma once

#include "geometry.h"

enum { CHOOSE_PARTS = 8 };  // blocks of a cluster at most: what every card with clusters has

// The geometry, with its parts, that takes the least cycles by choose_cycles for C of m x n elements and a depth of k,
// on a GPU of sms multiprocessors. A file with one geometry has no choice.
struct geometry choose_geometry(const struct geometries *g, int m, int n, int k, int sms);

// About how many cycles of an H200 a kernel takes for it, without what all kernels have in common.
double choose_cycles(const struct geometry *g, int m, int n, int k, int sms);
