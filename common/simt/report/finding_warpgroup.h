// Words for what the four warps of a warpgroup do together: wgmma and setmaxnreg.
#pragma once

#include "base/text.h"
#include "simt/findings.h"

void finding_warpgroup(struct text_end *t, const struct simt_finding *f);
void finding_registers(struct text_end *t, const struct simt_finding *f);
