// What a thread knows to have happened: for every thread of the launch, the time up to which its accesses are ordered
// before those that the knowing thread makes from now on. (A vector clock; the times are the checker's, see check.h.)
//
// A launch has a million threads, and most of what is known is known of whole warps and blocks. So it is kept as a
// tree: a leaf is a warp with a time for each lane, its parent a block, and above that blocks in groups of 32. A time
// at a node counts for all threads below it. Trees are shared, with a count of those who hold them, and copied when one
// of several holders changes his: threads that learn from each other in turn share nearly all they know.
#ifndef SIMT_KNOWN_H
#define SIMT_KNOWN_H

#include <stdbool.h>
#include <stdint.h>

#define KNOWN_FANOUT 32

enum known_level { KNOWN_WARP, KNOWN_BLOCK };  // of a tree's node, from its leaves up; then come groups of blocks

struct known;  // NULL: nothing

struct known_pool {
    unsigned levels;     // of every tree
    struct known *free;  // for use again
    bool failed;         // memory ran out; what is known from then on may be too little
};

struct known_pool known_pool(uint64_t blocks);  // for a launch of so many
void known_pool_free(struct known_pool *pool);  // after every tree has been dropped

struct known *known_keep(struct known *k);  // one holder more
void known_drop(struct known_pool *pool, struct known **k);
void known_put(struct known_pool *pool, struct known **to, struct known *k);       // *to becomes k
void known_take(struct known_pool *pool, struct known **to, struct known **from);  // *to learns of *from, which goes

// Up to when thread's accesses are known; thread counts within the block.
uint32_t known_when(const struct known_pool *pool, const struct known *k, uint64_t block, uint32_t thread);
// Up to when the latest of a warp's threads is known.
uint32_t known_warp_when(const struct known_pool *pool, const struct known *k, uint64_t block, uint32_t warp);
// *k learns of a thread, of its whole warp, or of its whole block, up to time at.
void known_thread(struct known_pool *pool, struct known **k, uint64_t block, uint32_t thread, uint32_t at);
void known_group(struct known_pool *pool, struct known **k, enum known_level level, uint64_t block, uint32_t thread,
                 uint32_t at);
void known_join(struct known_pool *pool, struct known **k, struct known *other);  // *k learns what other knows

// The same where many who know the same learn the same, one after the other: what became of the first is shared.
struct known_lesson {
    struct known *before, *other, *after;
};
void known_learn(struct known_pool *pool, struct known_lesson *last, struct known **k, struct known *other);
void known_lesson_drop(struct known_pool *pool, struct known_lesson *last);

#endif
