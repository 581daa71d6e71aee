// Fences between proxies, the wait for the launch before, and setmaxnreg: what blocks do happens in order here, and
// registers are not scarce, so that only the checks look at them.
#include <stdio.h>

#include "simt/check/check.h"
#include "warp_fn.h"
#include "simt/code/warp_op.h"

#define REGISTERS 65536  // of a multiprocessor

bool warp_fence_proxy(struct warp *w, const struct uop *u, uint32_t active)
{
    if (w->block->worker->check && u->warp->op == PROXY_MBARRIER_INIT)
        check_mbarrier_fence(w, active);
    else if (w->block->worker->check)
        check_proxy_fence(w, active);
    return true;
}

bool warp_wgmma_fence(struct warp *w, const struct uop *u, uint32_t active)
{
    (void)w, (void)u, (void)active;
    return true;
}

bool warp_launch_wait(struct warp *w, const struct uop *u, uint32_t active)
{
    (void)u, (void)active;
    w->block->launch_over = w->block->worker->waited = true;
    return true;
}

bool warp_setmaxnreg(struct warp *w, const struct uop *u, uint32_t active)
{
    (void)active;
    w->max_regs = u->warp->shape;
    w->max_inst = u->inst;
    return true;
}

// Registers of a thread when the kernel begins, at most: as many as the block's threads share evenly.
static uint32_t even_share(const struct block *b)
{
    const uint32_t share = REGISTERS / (b->n_warps * LANES) / 8 * 8;
    return share < 255 ? share : 255;
}

static struct fault fault_of(const struct warp *w)
{
    return check_site(w, w->max_inst, 0, FAULT_REGISTERS);
}

// All four warps of a warpgroup set the same number. Source: PTX ISA 9.7.19 (setmaxnreg).
static bool agrees(const struct block *b, uint32_t first)
{
    for (uint32_t i = first; i < first + 4 && i < b->n_warps; i++) {
        const struct warp *w = &b->warps[i], *set = b->warps[first].max_regs ? &b->warps[first] : w;
        if (w->max_regs == b->warps[first].max_regs)
            continue;
        const struct warp *other = set == w ? &b->warps[first] : w;
        struct fault f = fault_of(set);
        f.seen = set->max_regs;
        f.expected = other->max_regs;
        f.other_inst = other->max_inst;
        f.other_thread = other->index * LANES;
        f.other_block = b->linear;
        check_note(b->worker->check, &f);
        return false;
    }
    return true;
}

void setmaxnreg_finish(struct block *b)
{
    uint64_t sum = 0;
    const struct warp *last = NULL;
    for (uint32_t i = 0; b->worker->check && i < b->n_warps; i += 4)
        if (!agrees(b, i))
            return;
    for (uint32_t i = 0; i < b->n_warps; i++) {
        sum += (uint64_t)LANES * (b->warps[i].max_regs ? b->warps[i].max_regs : even_share(b));
        if (b->warps[i].max_regs && (!last || b->warps[i].max_regs > last->max_regs))
            last = &b->warps[i];
    }
    if (!b->worker->check || !last || sum <= REGISTERS)
        return;
    struct fault f = fault_of(last);
    f.kind = FAULT_LACK;
    f.seen = last->max_regs;
    f.left = (uint32_t)sum;
    f.expected = REGISTERS;
    check_note(b->worker->check, &f);
}
