// Which blocks to run, where some have more to do than others: triangles, rows of unequal length.
#include <stdlib.h>

#include "base/sort.h"
#include "clock.h"

#define SAMPLE 9              // blocks at least: the first, the last, and some between them at irregular places;
#define SAMPLE_MAX SM_PICKED  // at most, as long as they are short:
#define WALKED 1000000        // instructions
#define GOLDEN 0.6180339887498949
#define UNEQUAL (11.0 / 10)  // the longest over the shortest

struct walked {
    uint64_t number, executed;  // by its first warp
};

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

static int by_length(const void *a, const void *b)
{
    const struct walked *x = a, *y = b;
    return (x->executed > y->executed) - (x->executed < y->executed);
}

// Every SM has its part of the long blocks and of the short ones: of each length as many as among the n that were
// walked.
static void pick_lengths(struct walked *all, uint64_t n, struct sm_job *job)
{
    if (job->blocks > n) {  // too many for that: from everywhere in the grid, at irregular distances
        job->spread = true;
        return;
    }
    job->n_picked = (unsigned)job->blocks;
    qsort(all, n, sizeof *all, by_length);
    for (unsigned i = 0; i < job->n_picked; i++)
        job->picked[i] = all[(2 * i + 1) * n / (2 * job->n_picked)].number;
    qsort(job->picked, job->n_picked, sizeof *job->picked, by_number);  // as they begin
}

void pick_blocks(const struct walk_launch *l, uint64_t blocks_of_sm, struct sm_job *job)
{
    const uint64_t blocks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
    struct walked all[SAMPLE_MAX];
    uint64_t least = UINT64_MAX, most = 0, longest = 0, walked = 0, n = 0;
    for (; n < SAMPLE || (n < SAMPLE_MAX && walked < WALKED); n++) {
        all[n].number = sample(n, blocks);
        all[n].executed = walk_block(l, all[n].number);
        walked += all[n].executed;
        longest = all[n].executed > most ? all[n].number : longest;
        most = all[n].executed > most ? all[n].executed : most;
        least = all[n].executed < least ? all[n].executed : least;
    }
    if (!least || (double)most < UNEQUAL * (double)least)
        return;
    if (blocks_of_sm == 1)
        job->first = (unsigned)longest;
    else
        pick_lengths(all, n, job);
}
