// What to look at next, by kind. See findings.h, and check_async.c for the rules of the asynchronous proxy.
#include "finding_waits.h"

#include <string.h>

static const char barrier[] = "all threads of the block must come to the same barrier: is it in a branch or loop that "
                              "not all of them take, or does one return before it?";
static const char lanes[] = "which threads come here, and which lanes does the instruction name?";
static const char phase[] =
    "a phase ends when as many threads have arrived as mbarrier.init counts, and all bytes have come that expect_tx "
    "names: who does not arrive, which copy reports to another mbarrier, or is it the parity of another phase?";
static const char stop[] = "the kernel stopped itself here: the condition before this line";
static const char unmade[] = "is the index right, does mbarrier.init reach every mbarrier of the array, and is there a "
                             "barrier between mbarrier.init and this line?";
static const char given[] = "what this instruction is given here, and which threads come to it";
static const char proxy[] = "fence.proxy.async by the thread that stores, after its store and before the barrier";
static const char initialiser[] =
    "is there an initialiser (= {} or = 0; of a wmma fragment, = {} or fill_fragment), and does every way to this line "
    "pass it?";
static const char setmaxnreg[] =
    "setmaxnreg.dec in the producer's warpgroup and setmaxnreg.inc in the others: each by whole warpgroups, and in all "
    "no more than the block was given when it began, threads times registers";

// What depends on the kind alone; the others have functions below.
static const char *const looks[SIMT_KINDS] = {
    [SIMT_ENDLESS_LOOP] = "the condition of this loop, and what changes it",
    [SIMT_TRAP] = stop,
    [SIMT_NO_GRID] =
        "cudaLaunchCooperativeKernel, in place of <<<...>>>, for a kernel whose blocks wait for one another",
    [SIMT_ASSERTION] = stop,
    [SIMT_REFUSED] = given,
    [SIMT_ARRIVES_UNMADE] = unmade,
    [SIMT_EXPECTS_UNMADE] = unmade,
    [SIMT_ARRIVALS] =
        "how many threads arrive in one phase: do more of them come to this line than mbarrier.init counts, "
        "does one come twice before the phase is complete, or is the index that of another mbarrier?",
    [SIMT_MISALIGNED] = "a vector access needs an address that is a multiple of its size: the row's length, and the "
                        "column's offset",
    [SIMT_CONSTANT_STORE] = "only the host sets __constant__ variables, before the launch (cudaMemcpyToSymbol)",
    [SIMT_DESCRIPTOR_RANK] = "a descriptor has 18 bits of the address, (address & 0x3ffff) >> 4: in a cluster, "
                             "addresses in shared memory have the block's rank in their upper bits",
    [SIMT_UNINIT_VALUE] = initialiser,
    [SIMT_UNINIT_NAN] = initialiser,
    [SIMT_RACE_INIT] = "a barrier between mbarrier.init and the first copy; of the cluster, if the mbarrier is another "
                       "block's: barrier.cluster.arrive and .wait, and before a relaxed arrival "
                       "fence.mbarrier_init.release.cluster",
    [SIMT_STRONG_WRITES] =
        "volatile and relaxed accesses make no race, and order nothing either: an atomic for both, a "
        "barrier between the two, or is the place meant to be one thread's?",
    [SIMT_RELAXED_WAIT] =
        "wait with an acquire (ld.acquire, cuda::memory_order_acquire), or __threadfence() between "
        "the loop that waits and the barrier: a barrier of the block alone does not promise that plain "
        "reads see what another block wrote",
    [SIMT_RELAXED_READ] =
        "__threadfence() by the thread that writes, behind the write and before the atomic or flag that "
        "tells of it: volatile and relaxed accesses make no race, and order nothing either",
    [SIMT_PROXY_FENCE] = proxy,
    [SIMT_INIT_FENCE] = "fence.mbarrier_init.release.cluster (or fence.proxy.async) by the thread that initialises the "
                        "mbarrier, then a barrier, and only then the copy",
    [SIMT_WGMMA_WAIT] = "wgmma.wait_group before the registers of a wgmma are read or written",
    [SIMT_WGMMA_UNCOMMITTED] =
        "wgmma.commit_group after the last wgmma, and wgmma.wait_group after that: a wait is for "
        "the groups that were committed before it, and for no other product",
    [SIMT_WGMMA_LEFT] = "wgmma.commit_group and wgmma.wait_group 0 before the block ends, or leave the product out: "
                        "another block may be given the shared memory that it still reads",
    [SIMT_LOAD_LEFT] = "wait for each copy before the block ends (mbarrier.try_wait), or do not start those that are "
                       "not needed: does the loop that copies end where the loop that multiplies does?",
    [SIMT_STORE_LEFT] = "cp.async.bulk.commit_group, and before the block ends cp.async.bulk.wait_group 0 (or "
                        "wait_group.read 0) by the thread that started the copy: after that another block may be given "
                        "this shared memory",
    [SIMT_LAUNCH_BEFORE] = "griddepcontrol.wait (cudaGridDependencySynchronize) before the first use of what the "
                           "launch before has written",
    [SIMT_BARRIER_STUCK] = barrier,
    [SIMT_BARRIER_SPLIT] = barrier,
    [SIMT_LANES_SPLIT] = barrier,
    [SIMT_BARRIER_LEFT] =
        "a barrier of the block is complete when all threads that have not ended are there (CUDA C++ "
        "Programming Guide, independent thread scheduling), so the others go on: is nothing needed of "
        "those that have ended?",
    [SIMT_BARRIER_COUNT] = lanes,
    [SIMT_BARRIER_NUMBER] = lanes,
    [SIMT_NOT_MEMBER] = lanes,
    [SIMT_LANES_MISSING] = lanes,
    [SIMT_LANES_INACTIVE] = lanes,
    [SIMT_INIT_AGAIN] =
        "one thread initialises each mbarrier, once, before the loop over tiles: it begins with phase 0 "
        "again, whatever phase its waits are for (or mbarrier.inval comes first)",
    [SIMT_LATE_WAIT] = "a parity tells two phases apart, no more: before it ends the next phase, a thread has to wait "
                       "for something that this one does after its wait. Or leave the wait out, if it is for a phase "
                       "that is known to be over",
    [SIMT_PHASE_BYTES] = "mbarrier.arrive.expect_tx takes the sum of the bytes of all copies that report to this phase",
    [SIMT_NOT_BEGUN] = "barrier.cluster.arrive and .wait (cluster.sync()) before the first use of another block's "
                       "shared memory: that block may not have begun",
    [SIMT_MAY_HAVE_ENDED] = "barrier.cluster.arrive and .wait (cluster.sync()) at the end of the kernel, after the "
                            "last use of another block's shared memory, and by all threads",
    [SIMT_REGISTERS_DIFFER] = setmaxnreg,
    [SIMT_REGISTERS_LACK] = setmaxnreg,
    [SIMT_REGISTERS_STEP] = setmaxnreg,
    [SIMT_REGISTERS_IGNORED] = "__launch_bounds__(threads, 1): the second number, the blocks of an SM at least, tells "
                               "ptxas how many registers a thread begins with",
    [SIMT_WGMMA_DIFFERS] = "a descriptor names the whole tile, 64 rows of A or all columns of B, and not the rows of a "
                           "warp: it has to be computed from the warpgroup's number (warp / 4), and not the warp's",
    [SIMT_WGMMA_APART] = "is the wgmma in a branch or loop that not all four warps of the warpgroup take alike?",
    [SIMT_COMMITS_APART] = "is wgmma.commit_group in a branch or loop that not all four warps of the warpgroup take "
                           "alike?",
    [SIMT_COPIES_OVERLAP] = "two arrays or stages have bytes in common: where does each begin, how many bytes has it, "
                            "and how many does a copy bring?",
};

// --- what depends on more ---

static bool is_async(const struct simt_side *s)
{
    return s->by == SIMT_BY_WGMMA || s->by == SIMT_BY_BULK_COPY;
}

static bool is_atomic(const struct simt_side *s)
{
    return s->access == SIMT_CHANGES || s->access == SIMT_COMPARES;
}

// Does a store set what atomics of others change?
static bool sets(const struct simt_side *a, const struct simt_side *b)
{
    return a->access == SIMT_WRITES && is_atomic(b);
}

static bool unmade_wait(const struct simt_finding *f)
{
    size_t i = 0;
    while (i < f->n_waits && !finding_wait_is_unmade(&f->waits[i]))
        i++;
    return i < f->n_waits;
}

static const char *look_wait(const struct simt_finding *f)
{
    for (size_t i = 0; i < f->n_waits; i++)
        if (f->waits[i].what == SIMT_FOR_MBARRIER)
            return unmade_wait(f) ? unmade : phase;
    return "who should write this value? A block that has not begun cannot: a card runs only some of the blocks at a "
           "time";
}

static const char *look_bounds(const struct simt_finding *f)
{
    if (f->object.space == SIMT_LOCAL)
        return "the index into the thread's own array, and the loop around it";
    return f->object.space == SIMT_SHARED
               ? "the index into the shared array, and the array's size"
               : "the bounds check of this access: which row and column has this thread, and are they inside?";
}

static const char *look_uninit(const struct simt_finding *f)
{
    if (finding_is_mbarrier(f))
        return unmade;
    return f->object.space == SIMT_SHARED
               ? "is the whole tile stored before it is read - every index, and a 0 where it reaches past the edge?"
               : "who should have written it: the host, a kernel before, or another line of this one?";
}

static const char *look_copy(const struct simt_finding *f)
{
    if (!is_async(&f->there))
        return "the copying thread must wait for its group (cp.async.wait_group), and then a barrier must follow";
    if (is_async(&f->here) && f->here.access == SIMT_WRITES)
        return "a stage may be copied to again once its copy has been waited for (mbarrier.try_wait) and its readers "
               "have arrived on an 'empty' mbarrier (mbarrier.arrive): is the stage's number right?";
    return "wait on the copy's mbarrier (mbarrier.try_wait.parity) before this line; if it does, is the parity that of "
           "this phase?";
}

static const char *look_wgmma_fence(const struct simt_finding *f)
{
    return f->there.number == f->here.number
               ? "wgmma.fence before the first wgmma, and again after its registers were written"
               : "wgmma.fence between the line that writes the registers and the wgmma that uses them";
}

// A race in which a bulk copy or wgmma takes part.
static const char *look_race_async(const struct simt_finding *f)
{
    const bool copies = is_async(&f->here) && f->here.access == SIMT_WRITES;
    if (is_async(&f->there) && f->there.access == SIMT_WRITES)
        return "this thread has not waited on the mbarrier of that copy: mbarrier.try_wait.parity, with the parity of "
               "this phase, or a barrier after a thread that has waited";
    if (copies && f->there.by == SIMT_BY_WGMMA)
        return "wgmma may still read this tile: wgmma.commit_group and wgmma.wait_group first, then mbarrier.arrive on "
               "the stage's 'empty' "
               "mbarrier, and the copying thread waits on it (mbarrier.try_wait) before it copies";
    if (copies)
        return "each reader has to arrive on the stage's 'empty' mbarrier (mbarrier.arrive) after its last read, and "
               "the copying thread to wait on it (mbarrier.try_wait) before it copies";
    if (f->there.by == SIMT_BY_WGMMA)
        return "wgmma may still read this: end its group (wgmma.commit_group), wait for that (wgmma.wait_group), and "
               "then a barrier, before it is overwritten";
    if (is_async(&f->there))
        return "cp.async.bulk.wait_group.read by the thread that committed the copy's group, and then a barrier, "
               "before its source is overwritten: a wait by another thread waits for nothing";
    return "fence.proxy.async by each thread that stores, then a barrier, and only then the copy or wgmma that reads";
}

// Do both threads read and write the element in one line of the source, as in sum += x?
static bool updates(const struct simt_finding *f)
{
    const struct simt_finding_place *a = &f->here.place, *b = &f->there.place;
    return a->file && b->file && strcmp(a->file, b->file) == 0 && a->line == b->line &&
           f->here.access != f->there.access;
}

static const char update[] =
    "if several threads add to this element, an atomic does it (atomicAdd): between the read and the write of one, "
    "others "
    "come. If each writes an element of its own that others read here: results need an array that no thread reads";

static const char *look_race(const struct simt_finding *f)
{
    if (is_async(&f->here) || is_async(&f->there))
        return look_race_async(f);
    if (memcmp(f->here.block, f->there.block, sizeof f->here.block) != 0)
        return "blocks of a cluster order what they do at barrier.cluster (cluster.sync()), or the one arrives at an "
               "mbarrier with mbarrier.arrive.release.cluster and the other waits for it with "
               "mbarrier.try_wait.acquire.cluster: the default scope, .cta, does not order blocks";
    if (f->there.number == f->here.number)
        return "two threads use the same element in one instruction: does the index tell threads apart? If all should "
               "add to it: atomicAdd";
    if (f->object.space == SIMT_GLOBAL)
        return updates(f)
                   ? update
                   : "is there a __syncthreads() on every way from one line to the other, round the loop too? If "
                     "several threads change one element, an atomic does it (atomicAdd); else, is the index right?";
    if (f->there.warp == f->here.warp)
        return "is there a __syncthreads() on every way from one line to the other, round the loop too? If so, is the "
               "index right? (Lanes of a warp do not run in step by themselves. Where no other warp uses these bytes, "
               "a __syncwarp() is enough.)";
    return "is there a __syncthreads() on every way from one line to the other, round the loop too? If so, is the "
           "index right?";
}

static const char *look_race_blocks(const struct simt_finding *f)
{
    if (is_atomic(&f->here) && is_atomic(&f->there))
        return "an atomic at block scope is atomic for its own block alone: others need device scope";
    if (!f->orders_blocks && (sets(&f->here, &f->there) || sets(&f->there, &f->here)))
        return "the block that sets this element may come after others that have changed it: set it before the launch "
               "(cudaMemset), or let each block have an element of its own";
    if (f->orders_blocks)
        return "the block that writes must release (fence, then an atomic), the one that reads acquire (an atomic, "
               "then a fence), at device scope and on the same variable: is one of these missing on the way?";
    if (updates(f))
        return update;
    return "blocks cannot wait for each other, so each element of the result should be one block's: check the index, "
           "and the guard where a tile reaches past the edge";
}

const char *simt_finding_look(const struct simt_finding *f)
{
    switch (f->kind) {
    case SIMT_ENDLESS_WAIT:
        return look_wait(f);
    case SIMT_OUT_OF_BOUNDS:
        return look_bounds(f);
    case SIMT_UNINIT_MEMORY:
        return look_uninit(f);
    case SIMT_COPY_PENDING:
        return look_copy(f);
    case SIMT_WGMMA_FENCE:
        return look_wgmma_fence(f);
    case SIMT_RACE:
        return look_race(f);
    case SIMT_RACE_BLOCKS:
        return look_race_blocks(f);
    default:
        return looks[f->kind];
    }
}
