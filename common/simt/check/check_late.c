// Waits for a parity that may come too late. See check.h.
//
// A wait for a parity means one phase. It gets on while that phase was the last one to be complete. Once the next phase
// is complete, too, it waits for ever: the mbarrier is two phases further, and a parity cannot tell that from none. So
// whoever completes the next phase has to know of the wait. That is the same question as of a race, and is answered in
// the same way: by what the arrivals of the next phase tell.
//
// Threads of a warp wait together, and so do the warps of a warpgroup that multiplies with wgmma: it is enough if one
// of their threads has told of what it did after the wait. Kernels with relaxed arrivals or waits are left out: these
// make others wait, too, but tell nothing. Source: PTX ISA 9.7.13.15.16 (mbarrier.test_wait: the current phase or the
// one before).
#include "check_state.h"

#include <stdlib.h>

#include "simt/code/warp_op.h"

#define GROUP 4  // warps

struct late_wait {  // a warp's last wait for the phase that was completed last
    uint32_t at, inst, lane, parity;
};

void check_late_wait(struct warp *w, const struct uop *u, uint32_t lane, struct sync_var *x)
{
    struct checker *c = w->block->worker->check;
    if (u->warp->op != MBARRIER_TEST_PARITY || c->grid->code->relaxes_mbarriers)
        return;
    if (!x->waits)
        x->waits = calloc(w->block->n_warps, sizeof *x->waits);
    const uint32_t parity = ((const u32 *)(w->regs + u->warp->in[0]))[lane] & 1;
    if (x->waits)
        x->waits[w->index] = (struct late_wait){ c->now, u->inst, lane, parity };
    else
        c->failed = true;
}

// Have arrivals of the phase that ends released what a warp did at time at?
static bool is_released(const struct block *b, const struct sync_var *x, uint32_t warp, uint32_t at)
{
    const struct vclock_pool *pool = &b->worker->check->pool;
    return vclock_at_warp(pool, x->arrived, b->linear, warp) >= at ||
           vclock_at_warp(pool, x->far_arrived[0], b->linear, warp) >= at ||
           vclock_at_warp(pool, x->far_arrived[1], b->linear, warp) >= at;
}

// The same, where any warp of a warpgroup may tell of all.
static bool is_released_by_any(const struct block *b, const struct sync_var *x, uint32_t warp, uint32_t at)
{
    bool released = is_released(b, x, warp, at);
    for (uint32_t i = 0; !released && b->check->wgmma_waited[warp] && i < GROUP; i++)
        released = is_released(b, x, warp / GROUP * GROUP + i, at);
    return released;
}

void check_late_phase(struct block *home, struct sync_var *x, const struct fault *other)
{
    for (uint32_t i = 0; i < home->n_warps; i++) {
        const struct late_wait wait = x->waits[i];
        x->waits[i].at = 0;
        if (!wait.at || is_released_by_any(home, x, i, wait.at))
            continue;
        struct fault f = check_site(&home->warps[i], wait.inst, wait.lane, FAULT_LATE_WAIT);
        f.space = SPACE_SHARED;
        f.address = x->address + home->window;
        f.phase = 1 + wait.parity;
        f.home = home->linear;
        f.other_inst = other->inst;
        f.other_thread = other->other_thread;
        f.other_block = other->block;
        check_note(home->worker->check, &f);
    }
}
