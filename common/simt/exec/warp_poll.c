// Lanes that wait for a value: after an access that a waiting loop may be made of (a volatile, relaxed or acquiring
// load, an atomic with a result, a test of an mbarrier), this looks whether it was the same access with the same result
// as the time before. A warp that sees nothing new POLLS times, or whose mbarrier is not there yet, lets others run:
// its other lanes, other warps, other blocks.
#include "warp_fn.h"

#define POLLS 16

static uint64_t mix(uint64_t hash, uint64_t value)
{
    return (hash ^ value) * 0x9e3779b97f4a7c15u;
}

static uint64_t value_of(const struct warp *w, uint32_t slot, enum slot_class class, uint32_t lane)
{
    const unsigned char *at = w->regs + slot;
    return class == SLOT_64   ? ((const u64 *)at)[lane]
           : class == SLOT_32 ? ((const u32 *)at)[lane]
                              : *(const u32 *)at >> lane & 1;
}

bool warp_poll(struct warp *w, const struct uop *u, uint32_t active)
{
    const struct warpop *op = u->warp;
    struct poll *p = &w->polls[op->op];
    bool same = !op->shape || ~*(const u32 *)(w->regs + op->in[0]) & active;  // a test that succeeds ends a wait
    for (uint32_t left = active; left; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        uint64_t hash = 1;
        for (uint32_t i = 0; i < op->n_in; i++)
            hash = mix(hash, value_of(w, op->in[i], (enum slot_class)(op->type >> 2 * i & 3), lane));
        hash ^= hash >> 32;
        same &= p->seen[lane] == (uint32_t)hash;
        p->seen[lane] = (uint32_t)hash;
    }
    w->polled = same ? w->polled + 1 : 0;
    w->news |= !same;
    w->polling = w->polled >= POLLS || (op->shape && w->waits);  // a test that fails waits at once
    if (w->polling)
        w->poll_lane = (uint32_t)__builtin_ctz(active);
    w->poll_inst = u->inst;
    return true;
}

bool warp_hold(struct warp *w, const struct uop *u, enum fault_kind why)
{
    w->again = true;
    w->held = why;
    w->poll_inst = u->inst;
    w->poll_lane = 0;
    return true;
}
