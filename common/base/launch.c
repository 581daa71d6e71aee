// See launch.h.
#include "launch.h"

// A cluster divides the grid; 16 blocks are the most that a card has. Source: CUDA C++ Programming Guide, clusters.
static bool cluster_fits(const struct dev_launch *l, char error[DEV_ERROR_MAX])
{
    static const char axis[] = "xyz";
    unsigned blocks = 1;
    for (int i = 0; l->cluster[0] && i < 3; i++) {
        if (l->cluster[i] > DEV_CLUSTER_MAX || l->grid[i] % l->cluster[i])
            return error_set(error, "cluster.%c is %u, and grid.%c is %u: a grid is made of whole clusters", axis[i],
                             l->cluster[i], axis[i], l->grid[i]);
        blocks *= l->cluster[i];
    }
    if (blocks > DEV_CLUSTER_MAX)
        return error_set(error, "a cluster of %u blocks; at most %d fit in a cluster", blocks, DEV_CLUSTER_MAX);
    return true;
}

bool launch_settle(struct dev_launch *l, const char *device, unsigned max_threads, size_t max_shared,
                   char error[DEV_ERROR_MAX])
{
    static const unsigned grid_max[3] = { 2147483647u, LAUNCH_GRID_YZ_MAX, LAUNCH_GRID_YZ_MAX };
    static const unsigned block_max[3] = { 1024u, 1024u, 64u };
    static const char axis[] = "xyz";
    const bool clusters = l->cluster[0] || l->cluster[1] || l->cluster[2];
    uint64_t threads = 1;
    for (size_t i = 0; i < l->n_args; i++)
        if (!l->args[i].value || !l->args[i].bytes)
            return error_set(error, "argument %zu has no value", i);
    for (int i = 0; i < 3; i++) {
        l->grid[i] = l->grid[i] ? l->grid[i] : 1;
        l->block[i] = l->block[i] ? l->block[i] : 1;
        l->cluster[i] = clusters && !l->cluster[i] ? 1 : l->cluster[i];
        if (l->grid[i] > grid_max[i])
            return error_set(error, "grid.%c is %u; at most %u blocks fit there", axis[i], l->grid[i], grid_max[i]);
        if (l->block[i] > block_max[i])
            return error_set(error, "block.%c is %u; at most %u threads fit there", axis[i], l->block[i], block_max[i]);
        threads *= l->block[i];
    }
    if (threads > max_threads)
        return error_set(error, "a block of %u x %u x %u threads; at most %u fit in a block", l->block[0], l->block[1],
                         l->block[2], max_threads);
    if (l->shared > max_shared)
        return error_set(error, "%zu bytes of dynamic shared memory a block; %s has %zu", l->shared, device,
                         max_shared);
    return cluster_fits(l, error);
}
