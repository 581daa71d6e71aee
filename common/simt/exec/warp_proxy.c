// Fences between proxies, and setmaxnreg: what a block does happens in order here, and registers are not scarce, so
// that only the checks look at them.
#include "simt/check/check.h"
#include "simt/code/warp.h"

bool warp_fence_proxy(struct warp *w, const struct uop *u, uint32_t active)
{
    if (w->block->worker->check)
        check_proxy_fence(w, active, u->warp->op == PROXY_MBARRIER_INIT);
    return true;
}

bool warp_wgmma_fence(struct warp *w, const struct uop *u, uint32_t active)
{
    (void)w, (void)u, (void)active;
    return true;
}

bool warp_setmaxnreg(struct warp *w, const struct uop *u, uint32_t active)
{
    (void)w, (void)u, (void)active;
    return true;
}
