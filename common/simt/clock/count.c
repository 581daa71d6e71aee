// Walks all warps of a launch.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"

#define INSTRUCTIONS_MAX 2000000000ull  // of a warp: a loop that does not end

static bool walk_warp(struct walk_warp *w, struct simt_counts *out)
{
    struct walk_event e;
    uint32_t pc;
    while (walk_next(w, &pc) && w->executed < INSTRUCTIONS_MAX) {
        walk_step(w, &e);
        out->thread_instructions += (unsigned)__builtin_popcount(e.mask);
    }
    out->instructions += w->executed;
    out->unknown_branches += w->unknown_branches;
    return !w->failed && w->executed < INSTRUCTIONS_MAX;
}

bool clock_count(const struct clock_launch *l, const struct card *card, struct simt_counts *out,
                 char error[CLOCK_ERROR])
{
    struct cubin *c = clock_assemble(l->ptx, l->kernel, card, error);
    unsigned char *params = c ? clock_place_params(l, c, error) : NULL;
    struct walk_launch launch = { .cubin = c, .shared = l->shared, .params = params };
    struct walk_warp w = { 0 };
    *out = (struct simt_counts){ 0 };
    if (!params) {
        cubin_free(c);
        return false;
    }
    memcpy(launch.grid, l->grid, sizeof l->grid);
    memcpy(launch.block, l->block, sizeof l->block);
    const uint64_t blocks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
    const unsigned warps = (l->block[0] * l->block[1] * l->block[2] + WALK_LANES - 1) / WALK_LANES;
    bool ok = true;
    for (uint64_t i = 0; ok && i < blocks * warps; i++) {
        const uint64_t b = i / warps;
        const unsigned block[3] = { (unsigned)(b % l->grid[0]), (unsigned)(b / l->grid[0] % l->grid[1]),
                                    (unsigned)(b / l->grid[0] / l->grid[1]) };
        ok = walk_begin(&w, &launch, block, (unsigned)(i % warps)) && walk_warp(&w, out);
    }
    walk_end(&w);
    free(params);
    cubin_free(c);
    if (!ok)
        snprintf(error, CLOCK_ERROR, "the machine code could not be followed");
    return ok;
}
