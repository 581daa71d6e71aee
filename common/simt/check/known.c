// See known.h.
#include "known.h"

#include <stdlib.h>
#include <string.h>

#define BITS 5  // of a thread's number at each level

struct known {
    uint32_t holders;
    uint32_t all;    // the time that counts for every thread below
    uint32_t most;   // the latest time at or below this node
    uint32_t parts;  // a bit for each part that there may be: most nodes have few
    union {
        struct known *part[KNOWN_FANOUT];
        uint32_t at[KNOWN_FANOUT];  // of a leaf: by lane
        struct known *next;         // of a free one
    };
};

struct known_pool known_pool(uint64_t blocks)
{
    struct known_pool pool = { .levels = KNOWN_BLOCK + 1 };
    for (uint64_t left = blocks ? blocks - 1 : 0; left; left >>= BITS)
        pool.levels++;
    return pool;
}

void known_pool_free(struct known_pool *pool)
{
    while (pool->free) {
        struct known *next = pool->free->next;
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
    return path >> BITS * level & (KNOWN_FANOUT - 1);
}

struct known *known_keep(struct known *k)
{
    if (k)
        k->holders++;
    return k;
}

static void drop(struct known_pool *pool, struct known *k, unsigned level)
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

void known_drop(struct known_pool *pool, struct known **k)
{
    drop(pool, *k, pool->levels - 1);
    *k = NULL;
}

// Makes *k a node that is held nowhere else. NULL when memory runs out; *k is as it was then.
static struct known *own(struct known_pool *pool, struct known **k, unsigned level)
{
    struct known *old = *k;
    if (old && old->holders == 1)
        return old;
    struct known *new = pool->free;
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
        known_keep(new->part[i]);
    }
    drop(pool, old, level);
    return *k = new;
}

uint32_t known_when(const struct known_pool *pool, const struct known *k, uint64_t block, uint32_t thread)
{
    const uint64_t to = path(block, thread);
    uint32_t at = 0;
    for (unsigned level = pool->levels - 1; k; level--) {
        at = k->all > at ? k->all : at;
        if (level == KNOWN_WARP)
            return k->at[digit(to, level)] > at ? k->at[digit(to, level)] : at;
        k = k->part[digit(to, level)];
    }
    return at;
}

uint32_t known_warp_when(const struct known_pool *pool, const struct known *k, uint64_t block, uint32_t warp)
{
    const uint64_t to = path(block, warp << BITS);
    uint32_t at = 0;
    for (unsigned level = pool->levels - 1; k; level--) {
        at = k->all > at ? k->all : at;
        if (level == KNOWN_WARP)
            return k->most > at ? k->most : at;
        k = k->part[digit(to, level)];
    }
    return at;
}

// All threads below the node are known up to time at: parts that say less are not needed.
static void raise(struct known_pool *pool, struct known *k, unsigned level, uint32_t at)
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
static void learn(struct known_pool *pool, struct known **k, int target, uint64_t to, uint32_t at)
{
    struct known **at_node = k;
    for (int level = (int)pool->levels - 1;; level--) {
        struct known *node = own(pool, at_node, (unsigned)level);
        if (!node || at <= node->all)
            return;
        if (level == target) {
            raise(pool, node, (unsigned)level, at);
            return;
        }
        node->most = at > node->most ? at : node->most;
        if (level == KNOWN_WARP) {
            uint32_t *lane = &node->at[digit(to, KNOWN_WARP)];
            *lane = at > *lane ? at : *lane;
            return;
        }
        node->parts |= 1u << digit(to, (unsigned)level);
        at_node = &node->part[digit(to, (unsigned)level)];
    }
}

void known_thread(struct known_pool *pool, struct known **k, uint64_t block, uint32_t thread, uint32_t at)
{
    if (at > known_when(pool, *k, block, thread))
        learn(pool, k, KNOWN_WARP - 1, path(block, thread), at);
}

void known_group(struct known_pool *pool, struct known **k, enum known_level level, uint64_t block, uint32_t thread,
                 uint32_t at)
{
    if (at)
        learn(pool, k, (int)level, path(block, thread), at);
}

// Does a, a node of a tree whose nodes above it say floor, know all that b knows?
static bool covers(const struct known *a, const struct known *b, unsigned level, uint32_t floor)
{
    if (!b || a == b || b->most <= floor)
        return true;
    if (!a)
        return false;
    floor = a->all > floor ? a->all : floor;
    if (b->all > floor)
        return false;
    uint32_t more = 0;  // lanes of which b knows more
    for (uint32_t i = 0; level == KNOWN_WARP && i < KNOWN_FANOUT; i++)
        more |= (uint32_t)(b->at[i] > floor) & (uint32_t)(b->at[i] > a->at[i]);
    EACH_PART(b, i)
    {
        if (!covers(a->part[i], b->part[i], level - 1, floor))
            return false;
    }
    return !more;
}

static void join(struct known_pool *pool, struct known **k, struct known *other, unsigned level)
{
    if (!other || *k == other)
        return;
    if (!*k || (*k)->most <= other->all) {
        drop(pool, *k, level);
        *k = known_keep(other);
        return;
    }
    if (other->most <= (*k)->all)
        return;
    struct known *node = own(pool, k, level);
    if (!node)
        return;
    raise(pool, node, level, other->all);
    node->most = other->most > node->most ? other->most : node->most;
    for (uint32_t i = 0; level == KNOWN_WARP && i < KNOWN_FANOUT; i++)
        node->at[i] = other->at[i] > node->at[i] ? other->at[i] : node->at[i];
    EACH_PART(other, i)
    {
        join(pool, &node->part[i], other->part[i], level - 1);
    }
    node->parts |= other->parts;
}

// Does a know all that b knows?
static bool known_covers(const struct known_pool *pool, const struct known *a, const struct known *b)
{
    return covers(a, b, pool->levels - 1, 0);
}

void known_join(struct known_pool *pool, struct known **k, struct known *other)
{
    if (!known_covers(pool, *k, other))
        join(pool, k, other, pool->levels - 1);
}

void known_put(struct known_pool *pool, struct known **to, struct known *k)
{
    known_keep(k);
    known_drop(pool, to);
    *to = k;
}

void known_take(struct known_pool *pool, struct known **to, struct known **from)
{
    known_join(pool, to, *from);
    known_drop(pool, from);
}

void known_learn(struct known_pool *pool, struct known_lesson *last, struct known **k, struct known *other)
{
    if (!other || *k == other)
        return;
    if (last->before != *k || last->other != other) {
        known_put(pool, &last->before, *k);
        known_put(pool, &last->other, other);
        // Most of what comes later knows all that came before: then it is shared, not copied.
        known_put(pool, &last->after, known_covers(pool, other, *k) ? other : *k);
        known_join(pool, &last->after, other);
    }
    known_put(pool, k, last->after);
}

void known_lesson_drop(struct known_pool *pool, struct known_lesson *last)
{
    known_drop(pool, &last->before);
    known_drop(pool, &last->other);
    known_drop(pool, &last->after);
}
