// cp.reduce.async.bulk: elements in shared memory are combined with those in global memory.
#pragma once

#include "simt/code/uop.h"
#include "simt/code/warp_op.h"
#include "base/launch.h"

enum ptx_type bulk_type(enum dev_map_type type);

// to[i] = to[i] op from[i] for n elements.
void bulk_reduce(enum atomic op, enum ptx_type type, unsigned char *to, const unsigned char *from, uint32_t n);
