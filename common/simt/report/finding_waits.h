// What the warps wait for that wait for ever, in words.
#ifndef SIMT_FINDING_WAITS_H
#define SIMT_FINDING_WAITS_H

#include "base/text.h"
#include "simt/findings.h"

// " waits here for ever. Of its block, warps 4 to 7 wait for phase 1 of the mbarrier empty + 8: 1 arrival is missing;
// ..."; of a cluster by block.
void finding_waits(struct text_end *t, const struct simt_finding *f);

#endif
