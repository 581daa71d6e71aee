// What synccheck finds, in words.
#pragma once

#include "base/text.h"
#include "simt/findings.h"

void finding_sync(struct text_end *t, const struct simt_finding *f);  // behind "block (0,0,0), thread (1,0,0)"
