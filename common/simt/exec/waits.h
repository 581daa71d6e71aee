// What the warps of a block wait for, where that never ends.
#pragma once

#include "simt/code/cluster.h"

// The fault of a warp that waits for other warps of its block (warp_hold), now that nothing happens any more; false if
// there is none that says why.
bool waits_held(struct block *b, struct fault *f);
// Notes it in f; nothing if none of them waits for an mbarrier.
void waits_of_block(const struct block *b, struct fault *f);
// The same for all blocks of a cluster, and for barriers, too.
void waits_of_cluster(const struct cluster *c, struct fault *f);
