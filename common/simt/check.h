// The checks of compute-sanitizer, made while a kernel runs: initcheck and racecheck for shared and global memory, what
// synccheck looks for, and asynchronous copies that are read before they were waited for. (Bounds and alignment are
// always checked: access.h.) Each host thread has a checker of its own; what they found is put together at the end.
//
// Shared memory. Every granule (the smallest piece that the kernel's instructions load or store) remembers its last
// write, and two of the reads since: who, where, when. Time passes at barriers. Two accesses of different threads are
// ordered when a barrier that both threads took part in lies between them; if they are not, and one of them writes,
// they race. A granule that nobody has written in this block is not initialised.
//
// Global memory. Blocks are never ordered, so time does not matter: every granule remembers the first and the last
// block that read it, that wrote it, and that changed it atomically. At the end, different blocks of which one writes
// are a race. Kernels that order blocks themselves, by fences and atomics, are left out.
#ifndef SIMT_CHECK_H
#define SIMT_CHECK_H

#include "exec.h"

enum check_op { CHECK_READ, CHECK_WRITE, CHECK_ATOMIC, CHECK_COPY };  // copy: a write that arrives later (cp.async)

// --- what the executor tells. Each may only be called where w->block->worker->check is set ---

// The active lanes access bytes each at address[lane]: in shared memory, or with device pointers. All of them lie
// within memory and are multiples of the granule. index: of the instruction's counters.
void check_shared(struct warp *w, const struct uop *u, uint32_t index, uint32_t active, const uint64_t address[LANES],
                  uint32_t bytes, enum check_op op);
void check_global(struct warp *w, const struct uop *u, uint32_t index, uint32_t active, const uint64_t address[LANES],
                  uint32_t bytes, enum check_op op);
// The same for an instruction whose lanes lie as far apart as when the checks were last told of pattern number pattern
// (not 0) of this instruction; first: the first active lane's address. False where they were told of another since.
bool check_shared_again(struct warp *w, const struct uop *u, uint32_t index, uint32_t pattern, uint64_t first,
                        enum check_op op);
bool check_global_again(struct warp *w, const struct uop *u, uint32_t index, uint32_t pattern, uint64_t first,
                        enum check_op op);
void check_pattern(struct warp *w, uint32_t index, uint32_t pattern);  // what was told last is pattern number pattern
// A copy that has been waited for.
void check_delivered(struct warp *w, uint32_t lane, uint32_t address, uint32_t bytes);

void check_block_starts(struct worker *worker);
void check_arrives(struct warp *w, uint32_t number);  // at a barrier
// Barrier number opens; everyone: it was one for every thread of the block.
void check_opens(struct block *b, uint32_t number, bool everyone);
void check_warp_syncs(struct warp *w, uint32_t lanes);  // bar.warp.sync
void check_joins(struct warp *w);                       // an mbarrier's phase is seen to be complete

// Takes the worker's fault as a finding, and clears it.
void check_fault(struct worker *worker);

// --- around a launch ---

struct checker *check_new(const struct grid *g, uint32_t n_memops);  // NULL when memory runs out
void check_free(struct checker *c);
void check_add(struct checker *sum, const struct checker *c);  // sum takes over what c found
// The races and uninitialised reads in global memory, once all checkers have been added up; and what the launch wrote
// counts as initialised from now on.
void check_finish(struct checker *sum, struct memory *memory, bool whole);
bool check_complete(const struct checker *c);  // false where memory ran out for what the checks remember

struct found {
    struct fault fault;  // of the lowest block
    uint64_t count;
};
// The findings in blocks below stop, by kind and place; *n of them. The caller frees them; NULL when memory runs out.
struct found *check_found(const struct checker *c, uint64_t stop, size_t *n);

// --- shared by check*.c ---

#define PATTERN_UNITS 512  // 32 lanes of 16 bytes, in granules of one byte
#define NO_LANE 0xff

struct touch {            // of one granule by an instruction
    uint8_t lane, lane2;  // the first two lanes that touch it; NO_LANE: only one
};

struct run {            // granules side by side
    int64_t at;         // granules from the first active lane's
    uint32_t first, n;  // of touches
};

struct touches {  // which granules a warp's access touches: distinct ones, by address
    uint32_t active, bytes, pattern;
    uint32_t n_runs, room;  // room: of runs and of all
    struct run *runs;
    struct touch *all;
    uint32_t n, *at;  // distinct granules, from the first active lane's; modulo 2^32
    uint64_t delta[LANES];
};

#define WHO_ATOMIC 1

struct who {
    uint32_t inst;
    uint16_t thread, flags;
};

struct granule {                          // of shared memory
    uint32_t write_at, read_at, many_at;  // when: the last write, a read since, and another thread's read
    struct who writer, reader, other;     // other: of another thread than reader
};

struct finding;

struct checker {
    const struct grid *grid;
    struct touches **touches;  // by memop; then by memop for what an asynchronous copy reads
    uint32_t n_touches;
    bool failed;  // out of memory
    // time
    uint32_t start, now;            // of the block, and of what happens now
    uint32_t all_seen;              // whatever happened up to here is ordered before everything that happens now
    uint32_t seen[LANES][LANES];    // [w][v]: what warp v did up to here, w's threads have waited for; 0: nothing
    uint32_t synced[LANES][LANES];  // [w][lane]: when the lane last waited for lanes of its warp
    struct {
        uint32_t at[LANES];  // when each warp arrived; 0: it has not
    } barriers[BARRIERS];
    // shared memory
    uint32_t n_granules;
    struct granule *granules;
    uint32_t *quiet;   // by granule: until barrier number quiet[g] + 1 opens, reads have nothing to add
    uint32_t barrier;  // barriers of the whole block that have opened, from 1
    bool copies;       // some were started in this block
    // global memory
    uint32_t n_allocations;
    struct page ***pages;  // by allocation, then by page
    uint32_t *n_pages;     // by allocation
    // undefined bytes; NULL where the code follows none through memory
    struct shadows *shadows;
    // what was found
    struct finding *findings;
    size_t n_findings, room;
    size_t last;  // most findings repeat the one before
};

const struct touches *check_touches(struct checker *c, uint32_t index, uint32_t active, const uint64_t address[LANES],
                                    uint32_t bytes, unsigned shift);
void check_note(struct checker *c, const struct fault *f);  // a finding, of f's kind and places
struct fault check_site(const struct warp *w, uint32_t inst, uint32_t lane, enum fault_kind kind);

bool check_shared_new(struct checker *c);
void check_shared_clear(struct checker *c);  // forgets everything
bool check_global_new(struct checker *c);
void check_global_free(struct checker *c);
void check_global_add(struct checker *sum, const struct checker *c);

#endif
