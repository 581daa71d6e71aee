// The checks of compute-sanitizer, made while a kernel runs: initcheck and racecheck for shared and global memory, what
// synccheck looks for, and asynchronous copies that are read before they were waited for. (Bounds and alignment are
// always checked: access.h.) Each host thread has a checker of its own; what they found is put together at the end.
//
// A race is two accesses to the same bytes by different threads, of which one writes, that nothing orders (PTX ISA 8,
// memory consistency model). These make no race:
// - two strong accesses (atomic, relaxed, acquire, release, volatile) whose scopes reach each other's thread
// - two stores that write the same value, in shared and in global memory alike: the order does not matter then
// - a plain load and an atomic, where the load only guesses what a compare-and-swap at the same place will find: it is
//   taken for a relaxed one (guess.c)
// A compare-and-swap that found another value has written nothing: it is a strong read.
// But volatile accesses to shared memory by lanes of one warp are reported as weak ones are. PTX calls them strong; who
// writes them counts on lanes that run in step, which they do not.
//
// Strong accesses make no race, but some are advised against:
// - two writes of one place that nothing orders, one of them no atomic: which one is last is chance. Not where both
//   store one value, and not where a loop waits for one (decode_wait.c): who goes on then has seen the write before.
// - a read of what another block wrote before an atomic or flag that has been seen since, without a fence in between
// - a plain read behind a barrier, where a thread of the block waited with a relaxed access and made no fence
//
// Order (check_order.c, check_barrier.c). Time passes at barriers, fences and releases. An access is ordered before
// another one where barriers, warp barriers, mbarriers, or releases and acquires lead from the one to the other. And a
// strong write is ordered before what comes after a strong read that has seen it; what its thread did before is not.
//
// Shared memory (check_shared.c). Every granule (the smallest piece that the kernel's instructions load or store)
// remembers its last write, and two of the reads since: who, where, when. A granule that was not written in this
// block is not initialised. What the system reserves for cooperative groups is left out: only their library uses it.
//
// Waits for a parity (check_late.c). Whoever waits for a phase has to do so before the next one is complete.
//
// Warpgroups (exec/warp_wgmma.c, exec/warp_proxy.c). Accumulators may be used once a wait for a group that their wgmma
// was committed to is over. The four warps run the same wgmma with the same descriptors, the same commits and the same
// setmaxnreg; that one waits for registers in every run, as on a card.
//
// Launches (check_launch.c). One that begins early (dev_launch) has to wait for the one before: griddepcontrol.wait.
//
// Clusters (check_cluster.c). Blocks of a cluster reach each other's shared memory, and each granule remembers the rank
// of the block whose thread used it. Another block has to have begun before that, and may not end before it is over.
//
// Global memory (check_global.c). The same, in one record for 8 granules as long as whole warps go through them in
// order. Blocks: where the kernel has no fence, acquire or release beyond its block, nothing can order two blocks. Then
// the first and the last block that used a granule in a way tell whether different blocks did, and host threads can
// take blocks as they like; what they noted is judged at the end (check_blocks.c). Where it has one, or where blocks
// take turns for another reason (turns.h), a single host thread runs all blocks, and an access is compared with those
// of other blocks at once.
#ifndef SIMT_CHECK_H
#define SIMT_CHECK_H

#include "simt/code/cluster.h"
#include "known.h"
#include "simt/machine/memory.h"

enum check_op {
    CHECK_READ,
    CHECK_WRITE,
    CHECK_ATOMIC,
    CHECK_REFUSED,  // a compare-and-swap that found another value
    CHECK_COPY      // a write that arrives later (cp.async)
};

// --- what the executor tells. Each may only be called where w->block->worker->check is set ---

// The active lanes access bytes each at address[lane]: in shared memory (of the cluster: cluster.h), or with device
// pointers. All of them lie within memory and are multiples of the granule. index: of the instruction's counters.
void check_shared(struct warp *w, const struct uop *u, uint32_t index, uint32_t active, const uint64_t address[LANES],
                  uint32_t bytes, enum check_op op);
// The bits that nothing has written: no thread of the block, of these bytes (at most 8) of its shared memory; neither
// the host nor the block, of these of global memory.
uint64_t check_shared_unset(const struct block *b, uint32_t at, uint32_t bytes);
uint64_t check_global_unset(const struct block *b, uint64_t address, uint32_t bytes);
// A lane has used what it loaded there, by the PTX instruction inst, before anything had written it.
void check_global_early(const struct warp *w, uint32_t lane, uint32_t inst, uint64_t address);
void check_shared_mbarrier(struct warp *w, const struct uop *u, uint32_t lanes, uint32_t address);  // they look at it
void check_global(struct warp *w, const struct uop *u, uint32_t index, uint32_t active, const uint64_t address[LANES],
                  uint32_t bytes, enum check_op op);
// The same for an instruction whose lanes lie as far apart as when the checks were last told of pattern number pattern
// (not 0) of this instruction; first: the first active lane's address. False if they were told of another since.
bool check_shared_again(struct warp *w, const struct uop *u, uint32_t index, uint32_t pattern, uint64_t first,
                        enum check_op op);
bool check_global_again(struct warp *w, const struct uop *u, uint32_t index, uint32_t pattern, uint64_t first,
                        enum check_op op);
void check_pattern(struct warp *w, uint32_t index, uint32_t pattern);  // what was told last is pattern number pattern
// A copy that has been waited for.
void check_delivered(struct warp *w, uint32_t lane, uint32_t address, uint32_t bytes);

// What the checks keep of a block while it runs, for struct block; NULL when memory runs out.
struct block_check *check_block_new(struct checker *c);
void check_block_free(struct checker *c, struct block_check *k);
void check_block_starts(struct block *b);             // it may have been another block before
void check_arrives(struct warp *w, uint32_t number);  // at a barrier
// Barrier number opens; everyone: it was one for every thread of the block.
void check_opens(struct block *b, uint32_t number, bool everyone);
void check_warp_syncs(struct warp *w, uint32_t lanes);        // bar.warp.sync
void check_warp_exchanges(struct warp *w, uint32_t lanes);    // shfl, vote, match, redux
void check_warp_waited(struct warp *w);                       // the whole warp has run wgmma.wait_group.sync.aligned
void check_fence(struct warp *w, uint32_t lanes, bool wide);  // wide: it reaches beyond the block
// A lane's strong access m to address: it has read there (before the access is checked), or written (afterwards).
// Read and written by one instruction, it carries on what was released there; a plain store starts again.
void check_observes(struct warp *w, uint32_t lane, const struct memop *m, bool shared, uint64_t address);
void check_publishes(struct warp *w, uint32_t lane, const struct memop *m, bool shared, uint64_t address, bool both);
// An mbarrier at a shared address: a lane arrives, and may complete its phase; or lanes have seen a phase complete.
// mbarrier.init and, valid false, mbarrier.inval, before the access itself.
void check_mbarrier_valid(struct warp *w, const struct uop *u, uint32_t lane, uint32_t address, bool valid);
void check_mbarrier_starts(struct warp *w, uint32_t address);
void check_mbarrier_arrives(struct warp *w, const struct uop *u, uint32_t lane, uint32_t address, bool completes);
void check_mbarrier_opened(struct warp *w, const struct uop *u, uint32_t lanes, uint32_t address);

// --- the asynchronous proxy: bulk copies and wgmma (check_async.c). Addresses are those of shared memory ---

struct bulk_place {
    uint32_t thread, from;    // who started it, and the rank of its block
    uint32_t address, bytes;  // what it covers
    uint32_t barrier;         // the mbarrier that it reports to
    uint32_t inst;            // the PTX instruction
};
// A copy to home's shared memory starts.
void check_bulk_load(struct warp *w, const struct uop *u, const struct bulk_place *p, struct block *home);
void check_bulk_arrives(struct block *b, const struct bulk_place *p, bool completes);  // and completes the phase
// The rest of a phase's copies are still under way, and the phase is complete.
void check_bulk_early(struct block *b, const struct uop *u, const struct bulk_place *p, uint64_t bytes);
// The block has ended, and a copy to its shared memory (load), or from there, is under way.
void check_bulk_left(struct block *b, const struct uop *u, const struct bulk_place *p, bool load);
// The block was stopped, and copies to its shared memory were under way.
void check_bulk_stopped(struct block *b);
// A read by the asynchronous proxy begins; and is over: of n ranges, by a thread. group: it is a warpgroup's.
struct bulk_range {
    uint32_t address, bytes;
};
void check_async_reads(struct warp *w, const struct uop *u, uint32_t thread, const struct bulk_range *ranges,
                       uint32_t n, bool group);
void check_async_knows(struct warp *w, const struct uop *u, uint32_t address);  // the same of a warp for itself
void check_async_read(struct block *b, uint32_t thread, const struct bulk_range *ranges, uint32_t n);
void check_proxy_fence(struct warp *w, uint32_t lanes);     // fence.proxy.async (check_proxy.c)
void check_mbarrier_fence(struct warp *w, uint32_t lanes);  // fence.mbarrier_init

// --- clusters (check_cluster.c) ---

void check_cluster_arrives(struct warp *w, uint32_t lanes, bool relaxed);  // at its barrier
void check_cluster_opens(struct worker *worker);
void check_cluster_waits(struct block *b, uint32_t warp, uint32_t lanes);  // they have waited for it
// The worker's block has ended, in a cluster of several.
void check_block_ends(struct worker *worker);
// A wgmma of w uses descriptors of B (matrix 1) or A (0).
void check_descriptor(struct warp *w, const struct uop *u, int matrix, uint64_t descriptor);
void check_cluster_drop(struct worker *worker);  // what the cluster's barrier remembers

// Bytes of the heap are given out again, to another thread: what the one before did there is over.
void check_forget(struct checker *c, uint64_t address, uint64_t bytes);

// A lane uses global memory, in a launch that began early (check_launch.c): a launch before may still be writing there.
void check_launch_before(struct warp *w, const struct uop *u, uint32_t lane, uint64_t address, bool store);

// Takes the worker's fault as a finding, and clears it.
void check_fault(struct worker *worker);

// --- around a launch ---

struct checker *check_new(const struct grid *g, uint32_t n_memops);  // NULL when memory runs out
void check_free(struct checker *c);
void check_add(struct checker *sum, struct checker *c);  // sum takes over what c found
// The races and uninitialised reads in global memory, once all checkers have been added up; and what the launch wrote
// counts as initialised from now on.
void check_finish(struct checker *sum, struct memory *memory, bool whole);
bool check_complete(const struct checker *c);  // false if memory ran out for what the checks remember

struct found {
    struct fault fault;  // of the lowest block
    uint64_t count;
};
// The findings in clusters up to number stop, by kind and place; *n of them. The caller frees them; NULL when memory
// runs out.
struct found *check_found(const struct checker *c, uint64_t stop, size_t *n);

// --- shared by check*.c ---

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
};

#define HUSHED 8

struct touches {  // which granules a warp's access touches: distinct ones, by address
    // What is asked at every access fills one line of the cache.
    _Alignas(64) uint32_t pattern;
    uint32_t n, n_runs;  // distinct granules, and runs of them
    struct touch first;  // of the first granule; if there is no other, the first lane begins in it
    bool folds;          // of all runs
    uint32_t *at;        // granules, from the first active lane's; modulo 2^32
    struct touch *all;
    struct run *runs;
    struct page *page;  // of global memory: the last, and its number
    uint64_t page_number;
    uint32_t active, bytes;
    struct {
        uint32_t hush, base;  // of shared memory: in that time all are quiet from granule base on; 0: it is not known
    } hushed[HUSHED];         // by base
    uint64_t delta[LANES];
    uint32_t room;         // for granules
    struct touches *next;  // what another access of the memop touched
};

#define TOUCHES 8  // of a memop are kept
#define SURE 64

#define WHO_ATOMIC 1
#define WHO_VOLATILE 2
#define WHO_ASYNC 4     // the asynchronous proxy, on behalf of a thread: bulk copies, wgmma
#define WHO_WGMMA 8     // a warpgroup's wgmma; thread is its first one
#define WHO_LOAD 16     // a bulk load: its own thread, too, has to wait on the mbarrier
#define WHO_MARK 5      // three bits of a bulk load: the number of its mbarrier, modulo MARKS
#define WHO_INVALID 32  // no bulk load: an mbarrier.init, and mbarrier.inval came since
#define WHO_RANK 8      // the upper bits: the rank of the thread's block in its cluster
#define MARKS 8

#define COPY_WARP 31  // a number that hardly any block's warp has: bulk loads are kept as what its lanes do

// Times that never come: an asynchronous copy that is under way; bytes that belong to no variable; an
// asynchronous read that is under way.
#define UNDER_WAY 0xfffffffeu
#define NO_MANS 0xffffffffu
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

struct view {  // what a thread knows beyond what barriers of its block have told it
    struct known *seen;
    // What its strong writes tell others: what it knew at its last fence. [1]: at one that reaches beyond the block.
    struct known *fenced[2];
    uint32_t fenced_at[2];  // and what it had done itself up to then; 0: fenced[] says all
    // What its strong reads were told, and its next fence makes known to it. [1]: a fence that reaches beyond the
    // block.
    struct known *pending[2];
    // The same of what loops have waited for with a relaxed or volatile read, at a scope beyond the block; and what of
    // that a barrier of the block has passed on in place of a fence: it is taken for ordered, with an advice.
    struct known *polled, *lent;
    // What would be known if each strong write were a release, and each atomic and each read that a loop waits with an
    // acquire (code->hopes).
    struct known *hoped;
    // What is over, as reads and waits are: what was written by then need not be visible. Told by arrivals of the
    // default scope from other blocks of the cluster, and by bulk loads that have come.
    struct known *reads;
    uint32_t met;  // ranks of the blocks of its cluster that it knows to have begun
};

struct object {  // a place that strong accesses go to
    uint64_t address;
    struct known *near, *wide;  // what was released there for its block, and beyond
    struct known *hoped;        // what it would be if all were released (struct view)
    uint64_t near_block;
    struct known *arrived;  // mbarrier: what those know who arrived in this phase; near: those of the last one
    // The same of arrivals from other blocks of the cluster, [1]: with cluster scope. [0]: what is only over.
    struct known *far_arrived[2], *far[2];
    struct late_wait *waits;  // by warp, for the phase that was completed last; NULL: there was none yet
    bool used;
};

struct objects {  // a hash table by address
    struct object *all;
    uint32_t n, room;  // room: a power of two, or 0
};

struct block_check {                // of a block that runs
    uint32_t start;                 // when it did
    uint32_t all_seen;              // whatever happened up to here is ordered before everything that happens now
    uint32_t seen[LANES][LANES];    // [w][v]: what warp v did up to here, w's threads have waited for; 0: nothing
    uint32_t synced[LANES][LANES];  // [w][lane]: when the lane last waited for lanes of its warp
    uint32_t waited[LANES];         // [w]: when warp w last waited for its wgmma
    struct {
        uint32_t at[LANES];  // when each warp arrived; 0: it has not
    } barriers[BARRIERS];
    struct view *views;    // by thread; NULL if the kernel orders its threads by nothing but barriers
    bool informed;         // a thread's view is not empty
    struct known *common;  // what barriers of the whole block have told all its threads, up to common_at
    uint32_t common_at;
    struct objects objects;  // in shared memory
    // shared memory
    struct granule *granules;
    struct strong *strong;            // by granule; NULL before the first strong access
    uint32_t strong_from, strong_to;  // granules from and to: strong accesses went nowhere else
    uint32_t *quiet;                  // by granule: until barrier number quiet[g] + 1 opens, reads have nothing to add
    uint32_t barrier;                 // barriers of the whole block that have opened, from 1
    uint32_t hush;                    // the number of the time in which no quiet granule has become another
    unsigned char *folded;            // by fold (fold.h): are its granules kept as one?
    struct granule *wholes;           // by fold: that one
    uint32_t *whole_quiet;            // and what quiet says of it
    bool folds;                       // some may be
    bool copies;                      // some were started in this block, or bulk copies to it were left under way
    uint32_t reported[MARKS];  // by mark: 1 + the mbarrier that bulk loads report to; UINT32_MAX: several do; 0: none
    uint64_t read_under_way;   // bytes that bulk stores and wgmma began to read, less those that they have read
    uint32_t calm;  // the number of the time between two barriers of the whole block, of all blocks' such times
    struct {
        uint32_t me, thread, flags, at;
    } sure[SURE];                // what was found ordered before thread me lately: it stays so
    struct proxy_view *proxies;  // by thread: its last fences; NULL: there was none
    struct shadows *shadows;     // undefined bytes; NULL if the code follows none through memory
    struct guest *guests;        // by rank and thread: its last access here from another block; NULL: there was none
};

struct guest {
    uint32_t at, inst;
};

struct note;

struct checker {
    const struct grid *grid;
    struct touches **touches;  // by memop, the last first; then by memop for what an asynchronous copy reads
    uint32_t n_touches;
    bool failed;   // out of memory
    uint32_t now;  // time
    uint32_t calms;
    struct known_pool pool;
    struct known_lesson lesson;  // the last that a thread was told at an mbarrier
    struct objects objects;      // in global memory
    uint32_t n_granules;         // of shared memory
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
void check_touches_free(struct touches *t);                 // and those after it
void check_note(struct checker *c, const struct fault *f);  // a finding, of f's kind and places
void check_add_notes(struct checker *sum, const struct checker *c);
void check_free_notes(struct checker *c);
// A fault of that kind at the PTX instruction inst of a lane: block, thread and place are filled in.
struct fault check_site(const struct warp *w, uint32_t inst, uint32_t lane, enum fault_kind kind);
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
// of its thread only what came before the copy; nor does it know of copies that report to another mbarrier. mark: the
// copy's (WHO_MARK).
static inline uint32_t check_copier(const struct checker *c, uint32_t thread, uint32_t mark)
{
    const uint32_t lane = thread % (LANES / MARKS) * MARKS + mark;
    return c->grid->threads <= COPY_WARP * LANES ? COPY_WARP * LANES + lane : thread;
}

static inline uint32_t check_mark(uint32_t barrier)
{
    return barrier / 8 % MARKS;
}

// check_order.c
// A lane starts a bulk load to home; and its bytes have come to their mbarrier.
void check_bulk_starts(const struct warp *w, uint32_t lane, const struct bulk_place *p, struct block *home);
void check_bulk_arrival(struct block *b, const struct bulk_place *p, bool completes);
void check_order_clear(struct checker *c, struct block_check *k);  // forgets what its threads know
void check_order_free(struct checker *c);
bool check_knows(const struct warp *w, uint32_t lane, uint64_t block, uint32_t thread, uint32_t at);
// Is it known only because a barrier stands in for a fence; and would it be known if its thread had made a fence?
bool check_lent(const struct warp *w, uint32_t lane, uint64_t block, uint32_t thread, uint32_t at);
bool check_hoped(const struct warp *w, uint32_t lane, uint64_t block, uint32_t thread, uint32_t at);

// What thread of the same block did at time at: is it ordered before the lane's access now?
static inline bool check_ordered(const struct warp *w, uint32_t lane, uint32_t thread, uint32_t at)
{
    const struct block_check *k = w->block->check;
    const uint32_t other = thread / LANES, mine = w->index;
    if (at <= k->all_seen || thread == mine * LANES + lane)
        return true;
    if (other == mine ? at <= k->synced[mine][lane] && at <= k->synced[mine][thread % LANES]
                      : at <= k->seen[mine][other])
        return true;
    return k->informed && check_knows(w, lane, w->block->linear, thread, at);
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
void check_late_wait(struct warp *w, const struct uop *u, uint32_t lane, struct object *x);
void check_late_phase(struct block *home, struct object *x, const struct fault *other);

// check_cluster.c: the lane is about to use home's shared memory, which is another block's.
void check_visits(struct warp *w, const struct uop *u, uint32_t lane, struct block *home);
// check_order.c: what a thread tells who arrives at a barrier; the caller drops it.
struct known *check_told(const struct warp *w, uint32_t lane, bool release);

// What is remembered of a block's shared memory, and of global memory. False when memory runs out. check_global_add
// joins what two host threads saw.
bool check_shared_new(struct checker *c, struct block_check *k);
void check_shared_clear(struct checker *c, struct block_check *k);  // forgets everything
bool check_global_new(struct checker *c);
void check_global_free(struct checker *c);
void check_global_add(struct checker *sum, struct checker *c);

#endif
