// What the checks keep while a kernel runs, and what the files of this room tell each other. What is checked is in
// check.h. The terms are those of vector-clock race detection (Lamport's happens before; Fidge and Mattern's clocks):
//
// - time: checker.now, which grows at barriers, fences, releases and strong writes. An access is known by its thread
//   and the time when it was made.
// - ordered: it happens before the access in hand.
// - clock: a vector clock (vclock.h). For every thread of the launch, the time up to which its accesses are ordered.
// - view: a thread's clocks (enum view_clock). views_used: not all are empty.
// - release, acquire, fence: as in PTX, with a scope: the block, or wide, which is anything beyond.
// - sync_var: a place that strong accesses go to, or an mbarrier, with the clocks that were released there.
// - synced: the time up to which accesses are ordered by barriers: by those of the block, of warps, of lanes.
// - interval: what lies between two barriers of the whole block.
// - redundant: a read that adds nothing, in this interval, to what is remembered.
// - strong, weak: an access with or without a memory order. Polling: in a loop that reads one place again and again.
// - granule: the smallest piece of memory that the kernel's instructions load or store. Line: 8 of global memory.
// - remote: by a thread of another block of the cluster.
// - tag: of a bulk load, the number of its mbarrier, modulo TAGS.
#pragma once

#include "check.h"
#include "vclock.h"

#define PATTERN_UNITS 512  // 32 lanes of 16 bytes, in granules of one byte
#define NO_LANE 0xff
#define NO_SPREAD 0xff

struct touch {            // of one granule by an instruction
    uint8_t lane, lane2;  // the first two lanes that touch it; NO_LANE: only one
};

struct run {               // granules side by side
    int64_t at;            // granules from the first active lane's
    uint32_t first, n;     // of touches
    uint8_t lane, spread;  // granule i is lane + (i >> spread)'s alone; NO_SPREAD: it is not so
    bool folds;            // its granules are alike by as many as a fold has (fold.h)
    struct page *page;     // of global memory: where it was last, and its number
    uint64_t page_number;
};

#define REDUNDANT_SLOTS 8

struct touches {  // which granules a warp's access touches: distinct ones, by address
    // What is asked at every access fills one line of the cache.
    _Alignas(64) uint32_t pattern;
    uint32_t n, n_runs;  // distinct granules, and runs of them
    struct touch first;  // of the first granule; if there is no other, the first lane begins in it
    bool folds;          // of all runs
    uint32_t *at;        // granules, from the first active lane's; modulo 2^32
    struct touch *all;
    struct run *runs;
    uint32_t active, bytes;
    struct {
        uint32_t version, base;    // of shared memory: in that version reads from granule base on are redundant
    } redundant[REDUNDANT_SLOTS];  // by base; version 0: it is not known
    uint64_t delta[LANES];
    uint32_t room;         // for granules
    struct touches *next;  // what another access of the memop touched
};

#define TOUCHES 8  // of a memop are kept
#define ORDERED_CACHE 64

#define WHO_ATOMIC 1
#define WHO_VOLATILE 2
#define WHO_ASYNC 4     // the asynchronous proxy, on behalf of a thread: bulk copies, wgmma
#define WHO_WGMMA 8     // a warpgroup's wgmma; thread is its first one
#define WHO_LOAD 16     // a bulk load: its own thread, too, has to wait on the mbarrier
#define WHO_TAG 5       // three bits of a bulk load: the number of its mbarrier, modulo TAGS
#define WHO_INVALID 32  // no bulk load: an mbarrier.init, and mbarrier.inval came since
#define WHO_RANK 8      // the upper bits: the rank of the thread's block in its cluster
#define TAGS 8

#define BULK_WARP 31  // a number that hardly any block's warp has: bulk loads are kept as what its lanes do

// Times that never come: an asynchronous copy that is under way; bytes that belong to no variable; an
// asynchronous read that is under way.
#define UNDER_WAY 0xfffffffeu
#define RED_ZONE 0xffffffffu
#define READ_UNDER_WAY 0xfffffffdu

struct who {
    uint32_t inst;
    uint16_t thread, flags;
};

struct granule {                          // of shared memory
    uint32_t write_at, read_at, many_at;  // when: the last write, a read since, and another thread's read
    struct who writer, reader, other;     // other: of another thread than reader
};

struct strong {  // strong accesses to a granule of shared memory; the weak ones are in struct granule
    uint32_t write_at, read_at;
    struct who writer, reader;
    uint32_t store_at, polled_at;  // the last write that was no atomic; when a loop looked at it last
    struct who storer;
};

enum view_clock {     // of a thread
    VIEW_ORDERED,     // what is ordered before its accesses, beyond what barriers of its block say
    VIEW_UNFENCED,    // ordered only since a barrier of the block stands in for a fence: with an advice
    VIEW_COMPLETED,   // what is over, as reads and waits are; what was written by then need not be visible. By arrivals
                      // of the default scope from other blocks of the cluster, and by bulk loads that have come
    VIEW_IF_ACQ_REL,  // what would be ordered if each strong write were a release, and each atomic and each read that a
                      // loop waits with an acquire (code->reads_strong)
    VIEW_FENCED,      // what its strong writes release: what was ordered at its last fence
    VIEW_FENCED_WIDE,    // and at its last one that reaches beyond the block
    VIEW_PENDING,        // what its strong reads were told, which its next fence acquires
    VIEW_PENDING_WIDE,   // a fence that reaches beyond the block
    VIEW_PENDING_POLLS,  // the same of relaxed or volatile reads that a loop waits with, at a scope beyond the block
    VIEW_CLOCKS
};

struct view {
    struct vclock *clocks[VIEW_CLOCKS];
    uint32_t fenced_at[2];  // what it had done itself up to its last fence, and its last wide one; 0: nothing to add
    uint32_t begun;         // ranks of the blocks of its cluster that it knows to have begun
};

struct sync_var {  // a place that strong accesses go to
    uint64_t address;
    struct vclock *near, *wide;  // what was released there for its block, and beyond
    struct vclock *if_acq_rel;   // what it would be if all were released (VIEW_IF_ACQ_REL)
    uint64_t near_block;
    struct vclock *arrived;  // mbarrier: what arrivals of this phase have released; near: those of the last one
    // The same of arrivals from other blocks of the cluster, [1]: with cluster scope. [0]: what is only over.
    struct vclock *far_arrived[2], *far[2];
    struct late_wait *waits;  // by warp, for the phase that was completed last; NULL: there was none yet
    bool used;
};

struct sync_vars {  // a hash table by address
    struct sync_var *all;
    uint32_t n, room;  // room: a power of two, or 0
};

struct block_check {                      // of a block that runs
    uint32_t start;                       // when it did
    uint32_t synced_block;                // whatever happened up to here is ordered before everything that happens now
    uint32_t synced_warps[LANES][LANES];  // [w][v]: what warp v did up to here, w's threads have waited for; 0: nothing
    uint32_t synced_lanes[LANES][LANES];  // [w][lane]: when the lane last waited for lanes of its warp
    uint32_t wgmma_waited[LANES];         // [w]: when warp w last waited for its wgmma
    struct {
        uint32_t at[LANES];  // when each warp arrived; 0: it has not
    } barriers[BARRIERS];
    struct view *views;          // by thread; NULL if the kernel orders its threads by nothing but barriers
    bool views_used;             // a thread's view is not empty
    struct vclock *block_clock;  // what barriers of the whole block order for all its threads, up to block_clock_at
    uint32_t block_clock_at;
    struct sync_vars sync_vars;  // in shared memory
    // shared memory
    struct granule *granules;
    struct strong *strong;            // by granule; NULL before the first strong access
    uint32_t strong_from, strong_to;  // granules from and to: strong accesses went nowhere else
    uint32_t *redundant_in;           // by granule: reads are redundant until barrier number redundant_in[g] + 1 opens
    uint32_t barrier;                 // barriers of the whole block that have opened, from 1
    uint32_t redundant_version;       // a new number where a granule whose reads were redundant has been written
    unsigned char *folded;            // by fold (fold.h): are its granules kept as one?
    struct granule *wholes;           // by fold: that one
    uint32_t *whole_redundant_in;     // and redundant_in of it
    bool folds;                       // some may be
    bool copies;                      // some were started in this block, or bulk copies to it were left under way
    uint32_t reported[TAGS];  // by tag: 1 + the mbarrier that bulk loads report to; UINT32_MAX: several do; 0: none
    uint64_t read_under_way;  // bytes that bulk stores and wgmma began to read, less those that they have read
    uint32_t interval;        // the number of this one, among the intervals of all blocks
    struct {
        uint32_t me, thread, flags, at;
    } ordered_cache[ORDERED_CACHE];  // what was found ordered before accesses of thread me lately: it stays so
    struct proxy_view *proxies;      // by thread: its last fences; NULL: there was none
    struct shadows *shadows;         // undefined bytes; NULL if the code follows none through memory
    // By rank and thread: its last access here from another block; NULL: there was none.
    struct remote_access *remote_accesses;
};

struct remote_access {
    uint32_t at, inst;
};

struct note;

struct checker {
    const struct grid *grid;
    struct touches **touches;  // by memop, the last first; then by memop for what an asynchronous copy reads
    uint32_t n_touches;
    bool failed;         // out of memory
    uint32_t now;        // time
    uint32_t intervals;  // of all blocks so far
    struct vclock_pool pool;
    struct vclock_last_join last_join;  // by a thread that waited at an mbarrier
    struct sync_vars sync_vars;         // in global memory
    uint32_t n_granules;                // of shared memory
    // global memory
    uint32_t n_allocations;
    struct page ***pages;  // by allocation, then by page
    uint32_t *n_pages;     // by allocation
    struct slab *slabs;    // where records live
    // what was found
    struct note *notes;
    size_t n_notes, room;
    size_t last;  // most notes repeat the one before
};

// check_touches.c: which granules of 1 << shift bytes an access of the active lanes touches, bytes a lane. index: of
// its memop. What the same memop touched the last times is kept, for loops. NULL when memory runs out.
struct touches *check_touches(struct checker *c, uint32_t index, uint32_t active, const uint64_t address[LANES],
                              uint32_t bytes, unsigned shift);
void check_touches_free(struct touches *t);  // and those after it
void check_add_notes(struct checker *sum, const struct checker *c);
void check_free_notes(struct checker *c);
// What a lane is about to store, from address on; false if it is not at hand. And 1 << shift bytes of that.
struct stored {
    uint64_t address;
    unsigned char data[16];
};
bool check_stores(const struct warp *w, const struct uop *u, uint32_t lane, struct stored *s);
bool check_stored_part(const struct stored *s, uint64_t address, unsigned shift, unsigned char *bytes);
// Both in one.
bool check_stored(const struct warp *w, const struct uop *u, uint32_t lane, uint64_t address, unsigned shift,
                  unsigned char *bytes);

static inline struct view *view_of(const struct warp *w, uint32_t lane)
{
    return &w->block->check->views[w->index * LANES + lane];
}

static inline struct vclock_pool *pool_of(const struct warp *w)
{
    return &w->block->worker->check->pool;
}

static inline void tick(struct checker *c)
{
    c->now += c->now < READ_UNDER_WAY - 1;
}

static inline bool check_writes(enum check_op op)
{
    return op != CHECK_READ && op != CHECK_REFUSED;
}

static inline bool check_atomic(enum check_op op)
{
    return op == CHECK_ATOMIC || op == CHECK_REFUSED;
}

// Does an access use what was there before?
static inline bool check_reads(const struct uop *u, enum check_op op)
{
    return !check_writes(op) || (op == CHECK_ATOMIC && !u->warp->blind);
}

// Is a memop's access strong?
static inline bool check_strong(const struct uop *u, enum check_op op)
{
    if (check_atomic(op))
        return true;
    return op != CHECK_COPY && (u->kind == UOP_LOAD || u->kind == UOP_STORE) &&
           (u->mem->order != ORDER_WEAK || u->mem->guess);
}

// Is it in a loop that looks at the place again and again?
static inline bool check_polls(const struct uop *u, enum check_op op)
{
    return check_atomic(op) ? u->warp->mem.polls : check_strong(u, op) && u->mem->polls;
}

// The thread as which a bulk load that `thread` has started is kept. Whoever has waited for the copy knows of it, and
// of its thread only what came before the copy; nor does it know of copies that report to another mbarrier. tag: the
// copy's (WHO_TAG).
static inline uint32_t check_copier(const struct checker *c, uint32_t thread, uint32_t tag)
{
    const uint32_t lane = thread % (LANES / TAGS) * TAGS + tag;
    return c->grid->threads <= BULK_WARP * LANES ? BULK_WARP * LANES + lane : thread;
}

static inline uint32_t check_tag(uint32_t barrier)
{
    return barrier / 8 % TAGS;
}

// check_order.c
// A lane starts a bulk load to home; and its bytes have come to their mbarrier.
void check_bulk_starts(const struct warp *w, uint32_t lane, const struct bulk_place *p, struct block *home);
void check_bulk_arrival(struct block *b, const struct bulk_place *p, bool completes);
void check_order_clear(struct checker *c, struct block_check *k);  // empties all views
void check_order_free(struct checker *c);
// Is what thread of a block did at time at ordered before the lane's accesses, by the lane's clocks? Only because a
// barrier stands in for a fence? And would it be if its thread had made a fence?
bool check_clock_covers(const struct warp *w, uint32_t lane, uint64_t block, uint32_t thread, uint32_t at);
bool check_ordered_unfenced(const struct warp *w, uint32_t lane, uint64_t block, uint32_t thread, uint32_t at);
bool check_ordered_if_acq_rel(const struct warp *w, uint32_t lane, uint64_t block, uint32_t thread, uint32_t at);

// What thread of the same block did at time at: is it ordered before the lane's access now?
static inline bool check_ordered(const struct warp *w, uint32_t lane, uint32_t thread, uint32_t at)
{
    const struct block_check *k = w->block->check;
    const uint32_t other = thread / LANES, mine = w->index;
    if (at <= k->synced_block || thread == mine * LANES + lane)
        return true;
    if (other == mine ? at <= k->synced_lanes[mine][lane] && at <= k->synced_lanes[mine][thread % LANES]
                      : at <= k->synced_warps[mine][other])
        return true;
    return k->views_used && check_clock_covers(w, lane, w->block->linear, thread, at);
}

// The same for what who did at time at, whoever that was; and where he only read.
bool check_ordered_who(const struct warp *w, uint32_t lane, const struct who *who, uint32_t at);
bool check_ordered_reader(const struct warp *w, uint32_t lane, const struct who *who, uint32_t at);

// The block of a cluster whose thread who is.
static inline struct block *check_block_of(const struct block *b, const struct who *who)
{
    return b->worker->cluster->blocks[who->flags >> WHO_RANK];
}

// check_note.c: says in f, of an access to home's shared memory by block, who the other side is. NULL: the access
// itself.
void check_other(struct fault *f, const struct block *block, const struct block *home, const struct who *who,
                 bool other_store);

// check_proxy.c: does the asynchronous proxy see, in a copy or wgmma that thread of w's block starts, what who stored
// at time at? Has who himself made a fence since, of that kind or fence.mbarrier_init? And forgets all fences.
bool check_proxy_knows(const struct warp *w, uint32_t thread, const struct who *who, uint32_t at);
bool check_proxy_fenced(const struct warp *w, const struct who *who, uint32_t at);
void check_proxy_clear(struct checker *c, struct block_check *k);

// check_late.c: a lane has waited for the last phase of the mbarrier x; and the next one is complete. other: inst,
// thread and block of whoever completed it.
void check_late_wait(struct warp *w, const struct uop *u, uint32_t lane, struct sync_var *x);
void check_late_phase(struct block *home, struct sync_var *x, const struct fault *other);

// check_cluster.c: the lane is about to use home's shared memory, which is another block's.
void check_visits(struct warp *w, const struct uop *u, uint32_t lane, struct block *home);
// check_order.c: what a lane's strong write or arrival releases, to threads of its block or beyond; release: it is a
// release itself. The caller drops it.
struct vclock *check_release_clock(const struct warp *w, uint32_t lane, bool release, bool beyond);

// What is remembered of a block's shared memory, and of global memory. False when memory runs out. check_global_add
// joins what two host threads saw.
bool check_shared_new(struct checker *c, struct block_check *k);
void check_shared_clear(struct checker *c, struct block_check *k);  // forgets everything
bool check_global_new(struct checker *c);
void check_global_free(struct checker *c);
void check_global_add(struct checker *sum, struct checker *c);
