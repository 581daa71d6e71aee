// What the warps wait for that wait for ever, in words.
#pragma once

#include "base/text.h"
#include "simt/findings.h"

// " waits here for ever. Of its block, warps 4 to 7 wait for phase 1 of the mbarrier empty[1]: 1 arrival is missing;
// ..."; of a cluster by block.
void finding_waits(struct text_end *t, const struct simt_finding *f);

// Does it wait for an mbarrier that was not initialised?
bool finding_wait_is_unmade(const struct simt_wait *w);

// Is it an mbarrier that an instruction of mbarriers accesses?
bool finding_is_mbarrier(const struct simt_finding *f);
// The mbarrier that an object is: "full[3]".
void finding_mbarrier(struct text_end *t, const struct simt_object *o);
