// Short helpers of the files that keep what threads know: check_order.c, check_barrier.c and check_cluster.c.
#ifndef SIMT_CHECK_ORDER_H
#define SIMT_CHECK_ORDER_H

#include "check.h"

static inline struct view *view_of(const struct warp *w, uint32_t lane)
{
    return &w->block->check->views[w->index * LANES + lane];
}

static inline struct known_pool *pool_of(const struct warp *w)
{
    return &w->block->worker->check->pool;
}

static inline void tick(struct checker *c)
{
    c->now += c->now < READ_UNDER_WAY - 1;
}

#endif
