// See gemm.h.
#include "gemm.h"

#include <stdio.h>
#include <string.h>

#include "base/launch_limits.h"

// Thread by thread, one after the other and with eight instructions for a multiply-add, a block does not take more; a
// kernel as kernels are takes a hundredth of it.
static uint64_t budget_of(int rows, int cols, int depth)
{
    const uint64_t work = (uint64_t)rows * (uint64_t)cols * (uint64_t)depth, most = 1u << 28;
    const uint64_t generous = 8 * work < most ? 8 * work : most;
    return (1u << 22) + (generous > 2 * work ? generous : 2 * work);
}

bool gemm_prepare(struct gemm *c, enum dev_type type, const struct geometry *g, char error[DEV_ERROR_MAX])
{
    const unsigned x = ((unsigned)c->n - 1) / (unsigned)g->bn + 1, y = ((unsigned)c->m - 1) / (unsigned)g->bm + 1;
    if (y > LAUNCH_GRID_YZ_MAX) {
        snprintf(error, DEV_ERROR_MAX, "--m %d: takes %u blocks of %d rows, a grid has at most %d", c->m, y, g->bm,
                 LAUNCH_GRID_YZ_MAX);
        return false;
    }
    c->alpha32 = (float)c->alpha;
    c->beta32 = (float)c->beta;
    const bool wide = type == DEV_F64;
    const struct dev_arg alpha = { wide ? (void *)&c->alpha : (void *)&c->alpha32, wide ? 8 : 4 };
    const struct dev_arg beta = { wide ? (void *)&c->beta : (void *)&c->beta32, wide ? 8 : 4 };
    const struct dev_arg args[GEMM_ARGS] = {
        DEV_ARG(c->m), DEV_ARG(c->n), DEV_ARG(c->k), alpha, DEV_ARG(c->A), DEV_ARG(c->B), beta, DEV_ARG(c->C),
    };
    memcpy(c->args, args, sizeof args);
    c->launch = (struct dev_launch){
        .grid = { x, y, 1 },
        .block = { (unsigned)g->threads, 1, 1 },
        .shared = (size_t)g->shared,
        .args = c->args,
        .n_args = GEMM_ARGS,
    };
    c->budget = budget_of(g->bm, g->bn, c->k);
    return true;
}
