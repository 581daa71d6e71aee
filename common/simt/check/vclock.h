// Vector clocks: for every thread of the launch, the time up to which its accesses are ordered before those that the
// clock's thread makes from now on. (Times are the checker's: check_state.h.)
//
// A launch has a million threads, and mostly whole warps and blocks have one time. So a clock is a tree: a leaf is a
// warp with a time for each lane, its parent a block, and above that blocks in groups of 32. A time at a node counts
// for all threads below it. Trees are shared, with a count of those who hold them, and copied when one of several
// holders changes his: threads that acquire from each other in turn share nearly all of their clocks.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define VCLOCK_FANOUT 32

enum vclock_level { VCLOCK_WARP, VCLOCK_BLOCK };  // of a tree's node, from its leaves up; then come groups of blocks

struct vclock;  // NULL: all times are 0

struct vclock_pool {
    unsigned levels;      // of every tree
    struct vclock *free;  // for use again
    bool failed;          // memory ran out; times from then on may be too early
};

struct vclock_pool vclock_pool(uint64_t blocks);  // for a launch with that many blocks
void vclock_pool_free(struct vclock_pool *pool);  // after every tree has been dropped

struct vclock *vclock_keep(struct vclock *k);  // one holder more
void vclock_drop(struct vclock_pool *pool, struct vclock **k);
void vclock_set(struct vclock_pool *pool, struct vclock **to, struct vclock *k);  // *to becomes k
void vclock_move(struct vclock_pool *pool, struct vclock **to,
                 struct vclock **from);  // *to is joined with *from, which goes

// The time of a thread, which counts within the block.
uint32_t vclock_at(const struct vclock_pool *pool, const struct vclock *k, uint64_t block, uint32_t thread);
// The latest time of a warp's threads.
uint32_t vclock_at_warp(const struct vclock_pool *pool, const struct vclock *k, uint64_t block, uint32_t warp);
// Raises the time of a thread, of its whole warp, or of its whole block to at.
void vclock_raise_thread(struct vclock_pool *pool, struct vclock **k, uint64_t block, uint32_t thread, uint32_t at);
void vclock_raise_group(struct vclock_pool *pool, struct vclock **k, enum vclock_level level, uint64_t block,
                        uint32_t thread, uint32_t at);
void vclock_join(struct vclock_pool *pool, struct vclock **k, struct vclock *other);  // the later time of each thread

// The same where many equal clocks are joined with the same one, one after the other: what became of the first is
// shared.
struct vclock_last_join {
    struct vclock *before, *other, *after;
};
void vclock_join_again(struct vclock_pool *pool, struct vclock_last_join *last, struct vclock **k,
                       struct vclock *other);
void vclock_last_join_drop(struct vclock_pool *pool, struct vclock_last_join *last);
