// How a call goes wrong that inline.c made: what PTX has no instruction for.
#include <stdio.h>

#include "warp_fn.h"
#include "simt/code/warp_op.h"

bool warp_end(struct warp *w, const struct uop *u, uint32_t active)
{
    static const char *const why[] = {
        [END_STACK] = "a function that calls itself without end: its stack is full",
        [END_POINTER] = "a call through a pointer that is null, or of no function with these parameters",
    };
    struct fault *f = &w->block->worker->fault;
    warp_fault(w, u, FAULT_REFUSED, active, 0);
    snprintf(f->text, sizeof f->text, "%s", why[u->warp->op]);
    return false;
}
