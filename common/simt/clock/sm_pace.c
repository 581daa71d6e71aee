// How far apart blocks come for what they share. The first one asks DRAM; the others find it on its way, or in L2.
// Those that wait for the same data go on together, so that what sets them apart is how unevenly they proceed from one
// load to the next. That is seen here, in the block of the first slot, whose warps have priority.
#include "sm_parts.h"

#include <math.h>

#define SMOOTH 64         // rounds
#define ROUNDS_TO_KNOW 4  // before the spread is known
#define NORMAL 1.25       // standard deviations of a normal distribution in mean deviations

// About normally distributed, with a standard deviation of 1; the same for all loads of a block's round.
static double draw(uint64_t block, uint64_t round)
{
    uint64_t x = (block << 20 ^ round) * 0x9e3779b97f4a7c15ull;
    double sum = -1.5;
    x ^= x >> 29;
    x *= 0xbf58476d1ce4e5b9ull;
    x ^= x >> 32;
    for (unsigned i = 0; i < 3; i++)
        sum += (double)(x >> 16 * i & 0xffff) / 0x10000;
    return 2 * sum;
}

static void learn(struct sm_spread *s, double took, double part)
{
    const double off = part < 1 ? took - s->mean : 0;
    s->mean = part < 1 ? s->mean : took;
    s->mean += part * off;
    s->spread += part * (NORMAL * fabs(off) - s->spread);
}

// A round begins where the first warp of a block comes back to a shared load.
static bool begins_round(struct sm *sm, uint32_t block)
{
    struct sm_pace *p = &sm->pace;
    const uint32_t pc = sm->event.pc;
    if (!p->mark && p->last_block[pc] == block)
        p->mark = pc + 1;
    p->last_block[pc] = block;
    return p->mark == pc + 1;
}

void sm_note_round(struct sm *sm, const struct sm_warp *w, double arrives)
{
    struct sm_pace *p = &sm->pace;
    const uint32_t block = (uint32_t)sm->slots[w->slot].number + 1;
    const bool first = (unsigned)(w - sm->warps) % sm->warps_of_block == 0;
    if (first && begins_round(sm, block)) {
        const bool again = p->block[w->slot] == block;
        p->block[w->slot] = block;
        p->round[w->slot] = again ? p->round[w->slot] + 1 : 0;
        if (!w->slot && again) {
            const double part = 1.0 / (++p->rounds < SMOOTH ? p->rounds : SMOOTH);
            learn(&p->from_load, sm->now - p->came, part);
            learn(&p->from_arrival, sm->now - p->there, part);
        }
        p->came = w->slot ? p->came : sm->now;
    }
    if (!w->slot)
        p->there = fmax(p->there, arrives);
}

// The first of n values that are distributed normally lies sqrt(2 ln n) - 0.6 standard deviations before the mean, from
// 4 values on within 0.05.
double sm_first_before(const struct sm *sm, const struct sm_warp *w, double sharers)
{
    const struct sm_pace *p = &sm->pace;
    if (sharers < 2 * sm->job->resident || !p->together || p->rounds < ROUNDS_TO_KNOW ||
        !sm_follows(sm->job, RULE_pace))
        return 0;
    const double n = sharers / sm->job->resident;
    const double late = draw(p->block[w->slot], p->round[w->slot]);
    return fmax(fmin(p->from_load.spread, p->from_arrival.spread) * (sqrt(2 * log(n)) - 0.6 + late), 0);
}
