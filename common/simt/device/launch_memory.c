// What a launch needs in device memory besides the kernel's own arrays: a copy of the parameters where the kernel takes
// their address, and the workspace of grid.sync(), which live as long as the launch; the heap of malloc, which stays.
#include <string.h>

#include "state.h"
#include "simt/exec/warp_fn.h"

// As cooperative groups expect it: its size, and a counter of the blocks that have arrived.
struct workspace {
    uint32_t bytes, barrier;
};

static uint64_t place(struct simt *s, const char *name, const void *content, uint64_t bytes)
{
    const uint64_t at = memory_alloc(&s->memory, name, bytes);
    if (!at)
        return 0;
    memcpy(memory_at(&s->memory, at, bytes), content, bytes);
    memory_write(&s->memory, at, bytes);
    return at;
}

bool launch_memory_place(struct simt *s, struct grid *g)
{
    const struct code *c = g->code;
    const struct workspace workspace = { sizeof workspace, 0 };
    if (c->takes_param_address && c->param_bytes &&
        !(g->params_at = place(s, "the kernel's parameters", g->params, c->param_bytes)))
        return false;
    if (c->uses_heap && !s->heap && !(s->heap = heap_new(&s->memory)))
        return false;
    g->heap = s->heap;
    return !c->syncs_grid || g->apart || (g->workspace = place(s, "the grid's barrier", &workspace, sizeof workspace));
}

void launch_memory_release(struct simt *s, const struct grid *g)
{
    if (g->params_at)
        memory_release(&s->memory, g->params_at);
    if (g->workspace)
        memory_release(&s->memory, g->workspace);
}
