// Which registers, and which memory, may hold undefined bits: from those that some path reads before it writes them,
// along all that a value can flow into. See code/shadow.h.
#pragma once

#include "decoder.h"

struct plan {
    struct decoder *x;
    struct uop *uops;  // as they were decoded
    uint32_t n_uops, n_vregs;
    bool *has;                // by vreg: it has shadows
    uint32_t *bits, *origin;  // by vreg: the vregs of its shadows
    uint32_t *stack, n_stack;
    uint32_t *users, *start;     // by vreg: the uops that read it are users[start[v]] up to users[start[v + 1]]
    bool local, shared, global;  // memory of that space may hold undefined bytes
    bool ahead;                  // some loads are ahead of their use
};

// Fills in the plan, of which x, uops, n_uops and n_vregs are set, from the registers in roots, and gives the registers
// their shadows. False: nothing can be undefined.
bool shadow_plan(struct plan *p, const bool *roots);
// May a load from that space, or generic, find undefined bytes?
bool shadow_plan_may_find(const struct plan *p, enum ptx_space space);
bool shadow_plan_exchanges(const struct warpop *op);  // operand 0 of all lanes makes result 0

static inline bool shadow_plan_has(const struct plan *p, uint32_t v)
{
    return v != NO_VREG && p->has[v];
}
