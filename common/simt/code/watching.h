// Somebody looks at a warp: what the executor tells of each of its instructions. The launch runs on one host thread.
#pragma once

#include "warp.h"

struct watching {
    uint64_t block;                                                   // linear
    uint32_t warp;                                                    // or UINT32_MAX: all of the block
    const struct uop *u;                                              // what the warp executes now; NULL: nothing
    uint32_t lanes;                                                   // that execute it
    const struct split *split;                                        // they are of, which is off its warp's list
    void (*before)(struct watching *watching, const struct warp *w);  // a uop
    bool (*after)(struct watching *watching, const struct warp *w);   // the last uop of an instruction; false: stop
    void (*error)(struct watching *watching, const struct block *b);  // b ends with the worker's fault
};

// Who watches this warp, or NULL.
static inline struct watching *watching_of(const struct warp *w)
{
    struct watching *watching = w->block->worker->grid->watching;
    const bool mine = watching && watching->block == w->block->linear;
    return mine && (watching->warp == w->index || watching->warp == UINT32_MAX) ? watching : NULL;
}
