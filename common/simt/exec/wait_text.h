// What the warps of a block wait for, in words: for a wait that never ends.
#ifndef SIMT_WAIT_TEXT_H
#define SIMT_WAIT_TEXT_H

#include "simt/code/cluster.h"

// "warps 4 to 7 wait for phase 1 of the mbarrier empty + 8: 1 arrival is missing; ..."; "" if none waits for an
// mbarrier.
void wait_text(const struct block *b, char *text, size_t size);
// The same for all blocks of a cluster, and for barriers, too.
void wait_text_cluster(const struct cluster *c, char *text, size_t size);

#endif
