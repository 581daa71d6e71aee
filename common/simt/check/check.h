// The checks of compute-sanitizer, made while a kernel runs: initcheck and racecheck for shared and global memory, what
// synccheck looks for, and asynchronous copies that are read before they were waited for. (Bounds and alignment are
// always checked: access.h.) Each host thread has a checker of its own; what they found is put together at the end.
// The terms that this room uses are listed in check_state.h, with what it keeps.
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
#pragma once

#include "simt/code/cluster.h"
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
void check_acquires(struct warp *w, uint32_t lane, const struct memop *m, bool shared, uint64_t address);
void check_releases(struct warp *w, uint32_t lane, const struct memop *m, bool shared, uint64_t address, bool both);
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

// A fault of that kind at the PTX instruction inst of a lane: block, thread and place are filled in.
struct fault check_site(const struct warp *w, uint32_t inst, uint32_t lane, enum fault_kind kind);
void check_note(struct checker *c, const struct fault *f);  // a finding, of f's kind and places
// Takes the worker's fault as a finding, and clears it.
void check_fault(struct worker *worker);

uint32_t check_now(const struct checker *c);     // the time: grows at barriers, fences, releases, ...
bool check_orders_lanes(const struct block *b);  // strong accesses are told lane by lane, in their order

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
