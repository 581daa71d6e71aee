// Blocks that take turns: for kernels whose blocks may wait for one another.
#pragma once

#include "base/launch.h"
#include "seat.h"

struct turns {
    struct worker *worker;
    uint64_t n_clusters;     // of the grid
    uint64_t resident;       // clusters that are at work at a time
    dev_progress *progress;  // or NULL
};

// Runs all blocks. UINT64_MAX, or the number of the cluster at which the launch ended early: its fault is in the
// worker, or, with checks, among the findings.
uint64_t turns_run(const struct turns *t);

// Blocks of so many threads that are on an H200 at a time, by their threads and their bytes of shared memory: what
// ptxas will give them of registers is not known here. At least 1.
uint64_t turns_resident(uint32_t threads, uint64_t shared);
