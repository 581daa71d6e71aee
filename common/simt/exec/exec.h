// The executor that the host's processor runs.
#ifndef SIMT_EXEC_H
#define SIMT_EXEC_H

#include "simt/code/warp.h"

const struct exec *exec_pick(void);  // the fastest that this processor has

#endif
