// The executor that the host's processor runs.
#pragma once

#include "simt/code/warp.h"

const struct exec *exec_pick(void);  // the fastest that this processor has
