// See trace_access.h.
#include "trace_access.h"

void trace_lanes(const struct warp *w, const struct memop *m, uint32_t active, uint64_t address[LANES],
                 uint32_t *shared, uint32_t *global)
{
    for (uint32_t i = 0; i < LANES; i++) {
        enum ptx_space space = m->space;
        address[i] = access_address(w, m, i);
        if (!(active >> i & 1) || !access_place(w, i, &space, address[i], 1))
            continue;
        *shared |= (uint32_t)(space == SPACE_SHARED) << i;
        address[i] = space == SPACE_SHARED ? trace_shared(w, address[i]) : address[i];
        *global |= (uint32_t)(space == SPACE_GLOBAL) << i;
    }
}
