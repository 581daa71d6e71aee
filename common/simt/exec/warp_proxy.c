// Fences between proxies and the wait for the launch before: what blocks do happens in order here, so that only the
// checks look at them. And setmaxnreg, for which registers are as scarce as on a card.
#include <stdio.h>

#include "simt/check/check.h"
#include "warp_fn.h"
#include "simt/code/warp_op.h"

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

// --- setmaxnreg. Source: PTX ISA 9.7.19 ---

static uint32_t registers_of(const struct warp *w)
{
    return w->max_regs ? w->max_regs : w->block->worker->grid->code->entry_regs;
}

// What the block's threads have, once those that wait for registers have theirs.
static uint32_t all_registers(const struct block *b)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < b->n_warps; i++)
        sum += LANES * (b->warps[i].held == FAULT_REGISTERS_LACK ? b->warps[i].wants : registers_of(&b->warps[i]));
    return sum;
}

static uint32_t registers_given(const struct block *b)
{
    return b->n_warps * LANES * b->worker->grid->code->entry_regs;
}

// "A pool of available registers is maintained per-CTA": what others have given back. "The setmaxnreg.inc instruction
// blocks the execution until enough registers are available".
static bool are_there(const struct warp *w, uint32_t wants)
{
    const struct block *b = w->block;
    uint32_t sum = LANES * (wants - registers_of(w));
    for (uint32_t i = 0; i < b->n_warps; i++)
        sum += LANES * registers_of(&b->warps[i]);
    return sum <= registers_given(b);
}

static void note(struct warp *w, const struct uop *u, enum fault_kind kind)
{
    struct fault f = check_site(w, u->inst, 0, kind);
    f.seen = u->warp->shape;
    f.expected = registers_of(w);
    f.left = w->max_regs > 0;
    if (w->block->worker->check)
        check_note(w->block->worker->check, &f);
}

bool warp_setmaxnreg(struct warp *w, const struct uop *u, uint32_t active)
{
    const uint32_t has = registers_of(w), wants = u->warp->shape;
    const bool more = u->warp->op;
    (void)active;
    w->held = FAULT_NONE;
    w->wants = wants;
    w->max_inst = u->inst;
    if (has && more && wants > has && !are_there(w, wants))
        return warp_hold(w, u, FAULT_REGISTERS_LACK);
    // Where it begins with fewer than it may have at most, more is never too few.
    const bool wrong = more ? w->max_regs && wants < has : wants > has;
    if (!has)
        note(w, u, FAULT_REGISTERS_IGNORED);
    else if (wrong)
        note(w, u, FAULT_REGISTERS_STEP);
    w->max_regs = has && wrong ? has : wants;
    return true;
}

static struct fault fault_of(const struct warp *w)
{
    return check_site(w, w->max_inst, 0, FAULT_REGISTERS_DIFFER);
}

// What its last setmaxnreg sets, also if it waits for that.
static uint32_t set_by(const struct warp *w)
{
    return w->held == FAULT_REGISTERS_LACK ? w->wants : w->max_regs;
}

// All four warps of a warpgroup set the same number. Source: PTX ISA 9.7.19 (setmaxnreg).
static bool agrees(const struct block *b, uint32_t first)
{
    for (uint32_t i = first; i < first + 4 && i < b->n_warps; i++) {
        const struct warp *w = &b->warps[i], *set = set_by(&b->warps[first]) ? &b->warps[first] : w;
        if (set_by(w) == set_by(&b->warps[first]))
            continue;
        const struct warp *other = set == w ? &b->warps[first] : w;
        struct fault f = fault_of(set);
        f.seen = set_by(set);
        f.expected = set_by(other);
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
    for (uint32_t i = 0; b->worker->check && i < b->n_warps; i += 4)
        if (!agrees(b, i))
            return;
}

bool setmaxnreg_lacks(const struct warp *w, struct fault *f)
{
    setmaxnreg_finish(w->block);
    f->seen = w->wants;
    f->left = all_registers(w->block);
    f->expected = registers_given(w->block);
    return true;
}
