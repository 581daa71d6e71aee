// See vclock.h.
#include "vclock.h"

#include <stdlib.h>
#include <string.h>

#define BITS 5  // of a thread's number at each level

struct vclock {
    uint32_t holders;
    uint32_t all;    // the time that counts for every thread below
    uint32_t most;   // the latest time at or below this node
    uint32_t parts;  // a bit for each part that there may be: most nodes have few
    union {
        struct vclock *part[VCLOCK_FANOUT];
        uint32_t at[VCLOCK_FANOUT];  // of a leaf: by lane
        struct vclock *next;         // of a free one
    };
};

struct vclock_pool vclock_pool(uint64_t blocks)
{
    struct vclock_pool pool = { .levels = VCLOCK_BLOCK + 1 };
    for (uint64_t left = blocks ? blocks - 1 : 0; left; left >>= BITS)
        pool.levels++;
    return pool;
}

void vclock_pool_free(struct vclock_pool *pool)
{
    while (pool->free) {
        struct vclock *next = pool->free->next;
        free(pool->free);
        pool->free = next;
    }
}

#define EACH_PART(k, i)                                                                                                \
    for (uint32_t left_ = (k)->parts, i = 0; left_ && ((i = (uint32_t)__builtin_ctz(left_)), true); left_ &= left_ - 1)

static uint64_t path(uint64_t block, uint32_t thread)
{
    return block << 2 * BITS | thread;
}

static uint32_t digit(uint64_t path, unsigned level)
{
    return path >> BITS * level & (VCLOCK_FANOUT - 1);
}

struct vclock *vclock_keep(struct vclock *k)
{
    if (k)
        k->holders++;
    return k;
}

static void drop(struct vclock_pool *pool, struct vclock *k, unsigned level)
{
    if (!k || --k->holders)
        return;
    EACH_PART(k, i)
    {
        drop(pool, k->part[i], level - 1);
    }
    k->next = pool->free;
    pool->free = k;
}

void vclock_drop(struct vclock_pool *pool, struct vclock **k)
{
    drop(pool, *k, pool->levels - 1);
    *k = NULL;
}

// Makes *k a node that is held nowhere else. NULL when memory runs out; *k is as it was then.
static struct vclock *own(struct vclock_pool *pool, struct vclock **k, unsigned level)
{
    struct vclock *old = *k;
    if (old && old->holders == 1)
        return old;
    struct vclock *new = pool->free;
    if (new)
        pool->free = new->next;
    else if (!(new = malloc(sizeof *new))) {
        pool->failed = true;
        return NULL;
    }
    if (old)
        *new = *old;
    else
        memset(new, 0, sizeof *new);
    new->holders = 1;
    EACH_PART(new, i)
    {
        vclock_keep(new->part[i]);
    }
    drop(pool, old, level);
    return *k = new;
}

uint32_t vclock_at(const struct vclock_pool *pool, const struct vclock *k, uint64_t block, uint32_t thread)
{
    const uint64_t to = path(block, thread);
    uint32_t at = 0;
    for (unsigned level = pool->levels - 1; k; level--) {
        at = k->all > at ? k->all : at;
        if (level == VCLOCK_WARP)
            return k->at[digit(to, level)] > at ? k->at[digit(to, level)] : at;
        k = k->part[digit(to, level)];
    }
    return at;
}

uint32_t vclock_at_warp(const struct vclock_pool *pool, const struct vclock *k, uint64_t block, uint32_t warp)
{
    const uint64_t to = path(block, warp << BITS);
    uint32_t at = 0;
    for (unsigned level = pool->levels - 1; k; level--) {
        at = k->all > at ? k->all : at;
        if (level == VCLOCK_WARP)
            return k->most > at ? k->most : at;
        k = k->part[digit(to, level)];
    }
    return at;
}

// All threads below the node have at least time at: parts that say less are not needed.
static void raise(struct vclock_pool *pool, struct vclock *k, unsigned level, uint32_t at)
{
    if (at <= k->all)
        return;
    k->all = at;
    k->most = at > k->most ? at : k->most;
    EACH_PART(k, i)
    {
        if (!k->part[i] || k->part[i]->most <= at) {
            drop(pool, k->part[i], level - 1);
            k->part[i] = NULL;
            k->parts &= ~(1u << i);
        }
    }
}

// target: the level of the node to raise; one below the leaves, it is a single lane.
static void raise_path(struct vclock_pool *pool, struct vclock **k, int target, uint64_t to, uint32_t at)
{
    struct vclock **at_node = k;
    for (int level = (int)pool->levels - 1;; level--) {
        struct vclock *node = own(pool, at_node, (unsigned)level);
        if (!node || at <= node->all)
            return;
        if (level == target) {
            raise(pool, node, (unsigned)level, at);
            return;
        }
        node->most = at > node->most ? at : node->most;
        if (level == VCLOCK_WARP) {
            uint32_t *lane = &node->at[digit(to, VCLOCK_WARP)];
            *lane = at > *lane ? at : *lane;
            return;
        }
        node->parts |= 1u << digit(to, (unsigned)level);
        at_node = &node->part[digit(to, (unsigned)level)];
    }
}

void vclock_raise_thread(struct vclock_pool *pool, struct vclock **k, uint64_t block, uint32_t thread, uint32_t at)
{
    if (at > vclock_at(pool, *k, block, thread))
        raise_path(pool, k, VCLOCK_WARP - 1, path(block, thread), at);
}

void vclock_raise_group(struct vclock_pool *pool, struct vclock **k, enum vclock_level level, uint64_t block,
                        uint32_t thread, uint32_t at)
{
    if (at)
        raise_path(pool, k, (int)level, path(block, thread), at);
}

// Has a, a node of a tree whose nodes above it say floor, no time before one of b?
static bool covers(const struct vclock *a, const struct vclock *b, unsigned level, uint32_t floor)
{
    if (!b || a == b || b->most <= floor)
        return true;
    if (!a)
        return false;
    floor = a->all > floor ? a->all : floor;
    if (b->all > floor)
        return false;
    uint32_t more = 0;  // lanes of which b has a later time
    for (uint32_t i = 0; level == VCLOCK_WARP && i < VCLOCK_FANOUT; i++)
        more |= (uint32_t)(b->at[i] > floor) & (uint32_t)(b->at[i] > a->at[i]);
    EACH_PART(b, i)
    {
        if (!covers(a->part[i], b->part[i], level - 1, floor))
            return false;
    }
    return !more;
}

static void join(struct vclock_pool *pool, struct vclock **k, struct vclock *other, unsigned level)
{
    if (!other || *k == other)
        return;
    if (!*k || (*k)->most <= other->all) {
        drop(pool, *k, level);
        *k = vclock_keep(other);
        return;
    }
    if (other->most <= (*k)->all)
        return;
    struct vclock *node = own(pool, k, level);
    if (!node)
        return;
    raise(pool, node, level, other->all);
    node->most = other->most > node->most ? other->most : node->most;
    for (uint32_t i = 0; level == VCLOCK_WARP && i < VCLOCK_FANOUT; i++)
        node->at[i] = other->at[i] > node->at[i] ? other->at[i] : node->at[i];
    EACH_PART(other, i)
    {
        join(pool, &node->part[i], other->part[i], level - 1);
    }
    node->parts |= other->parts;
}

// Has a no time before one of b?
static bool vclock_covers(const struct vclock_pool *pool, const struct vclock *a, const struct vclock *b)
{
    return covers(a, b, pool->levels - 1, 0);
}

void vclock_join(struct vclock_pool *pool, struct vclock **k, struct vclock *other)
{
    if (!vclock_covers(pool, *k, other))
        join(pool, k, other, pool->levels - 1);
}

void vclock_set(struct vclock_pool *pool, struct vclock **to, struct vclock *k)
{
    vclock_keep(k);
    vclock_drop(pool, to);
    *to = k;
}

void vclock_move(struct vclock_pool *pool, struct vclock **to, struct vclock **from)
{
    vclock_join(pool, to, *from);
    vclock_drop(pool, from);
}

void vclock_join_again(struct vclock_pool *pool, struct vclock_last_join *last, struct vclock **k, struct vclock *other)
{
    if (!other || *k == other)
        return;
    if (last->before != *k || last->other != other) {
        vclock_set(pool, &last->before, *k);
        vclock_set(pool, &last->other, other);
        // Most of what comes later covers all that came before: then it is shared, not copied.
        vclock_set(pool, &last->after, vclock_covers(pool, other, *k) ? other : *k);
        vclock_join(pool, &last->after, other);
    }
    vclock_set(pool, k, last->after);
}

void vclock_last_join_drop(struct vclock_pool *pool, struct vclock_last_join *last)
{
    vclock_drop(pool, &last->before);
    vclock_drop(pool, &last->other);
    vclock_drop(pool, &last->after);
}
