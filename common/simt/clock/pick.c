// Which blocks to run, where some have more to do than others: triangles, rows of unequal length.
#include <stdlib.h>

#include "clock.h"

#define SAMPLE 9       // blocks at least: the first, the last, and some between them at irregular places;
#define SAMPLE_MAX 65  // at most, as long as they are short:
#define WALKED 200000  // instructions
#define GOLDEN 0.6180339887498949
#define UNEQUAL (11.0 / 10)  // the longest over the shortest

// What the first warp of a block executes; 0 when memory runs out.
static uint64_t walk_block(const struct walk_launch *l, uint64_t number)
{
    const unsigned block[3] = { (unsigned)(number % l->grid[0]), (unsigned)(number / l->grid[0] % l->grid[1]),
                                (unsigned)(number / l->grid[0] / l->grid[1]) };
    struct walk_warp w = { 0 };
    struct walk_event e;
    uint32_t pc;
    bool ok = walk_begin(&w, l, block, 0);
    while (ok && w.executed < WALK_MAX && walk_next(&w, &pc))
        walk_step(&w, &e);
    const uint64_t executed = ok ? w.executed : 0;
    walk_end(&w);
    return executed;
}

static uint64_t sample(uint64_t i, uint64_t blocks)
{
    const double at = GOLDEN * (double)i;
    return i == 1 ? blocks - 1 : (uint64_t)((at - (double)(uint64_t)at) * (double)blocks);
}

void pick_blocks(const struct walk_launch *l, uint64_t blocks_of_sm, struct sm_job *job)
{
    const uint64_t blocks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
    uint64_t least = UINT64_MAX, most = 0, longest = 0, walked = 0;
    for (uint64_t i = 0; i < SAMPLE || (i < SAMPLE_MAX && walked < WALKED); i++) {
        const uint64_t number = sample(i, blocks), executed = walk_block(l, number);
        walked += executed;
        longest = executed > most ? number : longest;
        most = executed > most ? executed : most;
        least = executed < least ? executed : least;
    }
    if (!least || (double)most < UNEQUAL * (double)least)
        return;
    if (blocks_of_sm == 1)
        job->first = (unsigned)longest;
    else
        job->spread = true;
}
