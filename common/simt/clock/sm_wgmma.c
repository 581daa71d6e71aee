// Products of a warpgroup. Each of its four warps issues the product, and goes on; the tensor cores of all four
// sub-cores carry it out together, one product after the other, as they became ready. Operands in shared memory pass
// the data pipe: A once, B once for all four.
#include "sm_parts.h"

#define WAVE 128        // bytes that the data pipe moves in a cycle
#define ROWS 64         // of a product
#define DEPTH_BYTES 32  // of a row of A, or of a column of B, whatever the type
#define BUSY_SUBCORES 4.0

static double operand_waves(const struct sass *s)
{
    const unsigned a = sass_wgmma_a_in_registers(s) ? 0 : ROWS * DEPTH_BYTES;
    return (a + sass_wgmma_columns(s) * DEPTH_BYTES) / (double)WAVE;
}

// The product is begun: all four warps have issued it. Warps that wait for it look again.
static void start(struct sm *sm, struct sm_group *g, const struct sass *s, unsigned slot)
{
    const unsigned i = (unsigned)(g->started % PRODUCTS);
    const double waves = operand_waves(s), alone = (double)sass_wgmma_columns(s) / 8 * sm->k->wgmma_interval;
    const double cycles = waves > alone * sm->k->full_card ? waves : alone * sm->k->full_card;
    const double begin = sm->tensor > g->ready[i] ? sm->tensor : g->ready[i];
    sm->tensor = begin + cycles;
    sm->tensor_waves = waves / cycles < 0.9 ? waves / cycles : 0.9;
    g->done[i] = sm->tensor + sm->k->wgmma_latency;
    g->came[i] = 0;
    g->started++;
    sm->out->products++;
    sm_busy(sm, COUNT_TENSOR, BUSY_SUBCORES * alone, begin, cycles);
    sm_busy(sm, COUNT_WAVES, waves, begin, cycles);
    for (unsigned j = 0; j < sm->warps_of_block; j++) {
        struct sm_warp *w = &sm->warps[slot * sm->warps_of_block + j];
        if (w->active && sm_group_of(sm, w) == g && w->at_barrier < 0 && sm_sleeps(w) && w->why == STATE_BARRIER)
            sm_sleep(w, sm->now + 1);
    }
}

void sm_wgmma(struct sm *sm, struct sm_warp *w)
{
    const struct sass *s = sm->event.s;
    struct sm_group *g = sm_group_of(sm, w);
    const unsigned i = (unsigned)(w->products % PRODUCTS);
    g->ready[i] = sm->now > g->ready[i] || !g->came[i] ? sm->now : g->ready[i];
    w->products++;
    if (sass_wgmma_ends_group(s))
        w->product_of[w->product_groups++ % PRODUCTS] = w->products;
    if (++g->came[i] == GROUP_WARPS)
        start(sm, g, s, w->slot);
}

bool sm_has_product_room(struct sm *sm, const struct sm_warp *w)
{
    return w->products - sm_group_of(sm, w)->started < PRODUCTS;
}

bool sm_waits_for_products(const struct sm *sm, const struct sm_warp *w, const struct sass *s, double *until)
{
    const unsigned left = sass_bits(s, 72, 3);
    if (s->effect != EFFECT_WARPGROUP || !sass_bits(s, 80, 1) || w->product_groups <= left)
        return false;
    const uint64_t behind = w->product_of[(w->product_groups - 1 - left) % PRODUCTS];
    const struct sm_group *g = sm_group_of((struct sm *)sm, w);
    const double done = g->started < behind ? 1e300 : g->done[(behind - 1) % PRODUCTS];
    if (done <= *until)
        return false;
    *until = done;
    return true;
}
