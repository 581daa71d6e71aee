// See trace_access.h.
#include "trace_access.h"

struct trace_lanes trace_lanes(const struct warp *w, const struct memop *m, uint32_t active)
{
    struct trace_lanes to = { 0 };
    for (uint32_t i = 0; i < LANES; i++) {
        enum ptx_space space = m->space;
        to.address[i] = access_address(w, m, i);
        if (!(active >> i & 1))
            continue;
        const bool inside = access_place(w, i, &space, to.address[i], 1);
        to.address[i] = space == SPACE_SHARED ? trace_shared(w, to.address[i]) : to.address[i];
        to.outside |= (uint32_t)!inside << i;
        to.shared |= (uint32_t)(inside && space == SPACE_SHARED) << i;
        to.global |= (uint32_t)(inside && space == SPACE_GLOBAL) << i;
    }
    return to;
}
