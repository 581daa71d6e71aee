// One access of the machine: the addresses that the lanes of a warp name.
#ifndef SIMT_TRACE_ACCESS_H
#define SIMT_TRACE_ACCESS_H

#include "simt/code/exec.h"
#include "simt/code/tile.h"

struct trace_access {
    uint64_t address[LANES];
    uint32_t mask, bytes;  // the lanes that take part; bytes of each
};

// Where the active lanes' addresses lead; lanes that lead nowhere are left out, the access itself will fault.
void trace_lanes(const struct warp *w, const struct memop *m, uint32_t active, uint64_t address[LANES],
                 uint32_t *shared, uint32_t *global);

#endif
