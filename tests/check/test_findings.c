// How a finding is put into words: findings made by hand, one for each kind at least, and what is printed of them.
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "simt/simt.h"

#define AT(number)                                                                                                     \
    {                                                                                                                  \
        .file = "no/such/folder/kernel.cu", .line = (number)                                                           \
    }
#define WHO(at, x)                                                                                                     \
    {                                                                                                                  \
        .place = AT(at), .thread = { x, 0, 0 }, .warp = (x) / 32, .lane = (x) % 32, .number = at, .instruction = "op"  \
    }
#define DOES(at, x, what, how)                                                                                         \
    {                                                                                                                  \
        .place = AT(at), .thread = { x, 0, 0 }, .warp = (x) / 32, .lane = (x) % 32, .number = at, .instruction = "op", \
        .access = SIMT_##what, .by = SIMT_BY_##how                                                                     \
    }
#define HERE .here = WHO(20, 33)
#define AS                                                                                                             \
    {                                                                                                                  \
        .space = SIMT_SHARED, .name = "As", .bytes = 4096, .address = 1028, .at = 4                                    \
    }
#define OUT                                                                                                            \
    {                                                                                                                  \
        .space = SIMT_GLOBAL, .name = "out", .bytes = 256, .address = 0x1000000100, .at = 256                          \
    }
#define FULL                                                                                                           \
    {                                                                                                                  \
        .object = { .space = SIMT_SHARED, .name = "full", .bytes = 32, .address = 8, .at = 8 }, .index = 1             \
    }
#define BEGIN "kernel.cu:20: block (0,0,0), thread (33,0,0)"

static const struct simt_wait waits[] = {
    { .what = SIMT_FOR_MBARRIER, .warps = 0x10f, .mbarrier = FULL, .arrivals = 1, .bytes = 512 },
    { .what = SIMT_FOR_BARRIER, .warps = 0x10, .number = 1, .arrived = 96 },
    { .what = SIMT_FOR_LANES, .warps = 0x20 },
};
static const struct simt_wait cluster_waits[] = {
    { .what = SIMT_FOR_MBARRIER, .warps = 1, .mbarrier = FULL, .bytes = -16 },
    { .what = SIMT_FOR_CLUSTER, .warps = 2, .arrived = 32, .expected = 128 },
    { .what = SIMT_ENDED, .block = { 1, 0, 0 } },
    { .what = SIMT_FOR_VALUE, .block = { 2, 0, 0 } },
};

// Its counts are 20 bits of memory that nothing wrote.
static const struct simt_wait unmade_wait[] = {
    { .what = SIMT_FOR_MBARRIER,
      .warps = 1,
      .mbarrier = { .object = { .space = SIMT_SHARED, .name = "full", .bytes = 32, .at = 8 }, .index = 1, .phase = 1 },
      .arrivals = 0xbcbc9,  // two have come
      .bytes = 0xbcbcb,
      .expected = 0xcbcbc },
};

#define SAYS(finding_kind, said, look_at, ...)                                                                         \
    {                                                                                                                  \
        { .kind = SIMT_##finding_kind, __VA_ARGS__ }, said, look_at                                                    \
    }

static const struct spoken {
    struct simt_finding finding;
    const char *text, *look;  // behind BEGIN; the look holds that
} all[] = {
    SAYS(ENDLESS_LOOP, " did not end within 1000 warp instructions: does this loop ever stop?",
         "the condition of this loop", HERE, .expected = 1000),
    SAYS(ENDLESS_WAIT, " waits here for ever: the value that it looks at again and again never changes",
         "who should write this value?", HERE, .seen = 1),
    SAYS(ENDLESS_WAIT,
         " waits here for ever: the value that it looks at again and again never changes. 4224 blocks are at work, and "
         "each of them waits; 776 cannot begin before one of these ends",
         "who should write this value?", HERE, .seen = 4224, .left = 776),
    SAYS(ENDLESS_WAIT,
         " waits here for ever. Of its block, warps 0 to 3, 8 wait for phase 0 of the mbarrier full[1]: 1 arrival and "
         "512 bytes are missing; warp 4 waits at barrier 1, where 96 threads have arrived; warp 5 waits in front of a "
         "barrier for lanes of the same warp",
         "a phase ends when", HERE, .waits = waits, .n_waits = 3),
    SAYS(ENDLESS_WAIT,
         " waits here for ever. Of its cluster, block (0,0,0): warp 0 waits for phase 0 of the mbarrier full[1]: 16 "
         "bytes more than were expected have come (expect_tx names too few); warp 1 waits at the cluster's barrier, "
         "where 32 of 128 threads have arrived; block (1,0,0): it has ended; block (2,0,0): ",
         "a phase ends when", HERE, .waits = cluster_waits, .n_waits = 4, .of_cluster = true),
    SAYS(TRAP, " executes a trap", "stopped itself", HERE),
    SAYS(NO_GRID, " executes a trap, as grid.sync() does in a launch that is not cooperative",
         "cudaLaunchCooperativeKernel", HERE),
    SAYS(ASSERTION, ": assertion 'n > 0' failed", "stopped itself", HERE, .detail = "n > 0"),
    SAYS(REFUSED, ": it cannot", "is given here", HERE, .detail = "it cannot"),
    SAYS(ARRIVES_UNMADE, ": arrives at the mbarrier full[1], which was not initialised", "reach every mbarrier", HERE,
         .mbarrier = FULL),
    SAYS(EXPECTS_UNMADE, ": expects bytes at the mbarrier full[1], which was not initialised", "reach every mbarrier",
         HERE, .mbarrier = FULL),
    SAYS(ARRIVALS,
         ": more arrivals than the mbarrier expects in this phase: full[1] was initialised for 8 in each; in phase 0, "
         "1 of "
         "them are missing, and this counts as 2",
         "or is the index that of another", HERE, .mbarrier = FULL, .seen = 2, .expected = 1, .left = 8),
    SAYS(ARRIVALS,
         ": more arrivals than the mbarrier expects in this phase: full[4] (full has 4 of them) was initialised for 1 "
         "in "
         "each; in phase 0, all have come, and the phase is not over, since bytes are on their way to it",
         "or is the index that of another", HERE, .seen = 1, .left = 1,
         .mbarrier = { .object = { .space = SIMT_SHARED, .name = "full", .bytes = 32, .at = 32 }, .index = 4 }),
    SAYS(UNINIT_MEMORY, " uses the mbarrier full[1] (mbarrier.arrive.b64), which was not initialised",
         "reach every mbarrier",
         .here = { .place = AT(20),
                   .thread = { 33, 0, 0 },
                   .instruction = "mbarrier.arrive.b64",
                   .access = SIMT_CHANGES },
         .object = { .space = SIMT_SHARED, .name = "full", .bytes = 32, .address = 8, .at = 8 }),
    SAYS(ENDLESS_WAIT,
         " waits here for ever. Of its block, warp 0 waits for phase 1 of the mbarrier full[1]: it was never "
         "initialised",
         "reach every mbarrier", HERE, .waits = unmade_wait, .n_waits = 1),
    SAYS(OUT_OF_BOUNDS, " writes 1 byte out of bounds: byte 256 of out, which has 256 bytes",
         "the bounds check of this access", .here = DOES(20, 33, WRITES, THREAD), .object = OUT, .bytes = 1),
    SAYS(OUT_OF_BOUNDS, " reads 16 bytes out of bounds: byte 64 of As (shared memory), which has 64 bytes",
         "the index into the shared array", .here = DOES(20, 33, READS, THREAD), .bytes = 16,
         .object = { .space = SIMT_SHARED, .name = "As", .bytes = 64, .address = 80, .at = 64 }),
    SAYS(MISALIGNED, " changes 8 bytes at an address that is not a multiple of 8: byte 4 of As (shared memory)",
         "multiple of its size", .here = DOES(20, 33, CHANGES, THREAD), .object = AS, .bytes = 8),
    SAYS(CONSTANT_STORE,
         " writes byte 256 of out, which has 256 bytes: it is __constant__, which a kernel cannot change",
         "cudaMemcpyToSymbol", .here = DOES(20, 33, WRITES, THREAD), .object = OUT),
    SAYS(DESCRIPTOR_RANK, " gives wgmma a descriptor whose leading offset has the block's rank in it", "0x3ffff", HERE),
    SAYS(UNINIT_MEMORY, " reads byte 4 of As (shared memory) by wgmma, and no thread of the block wrote it before",
         "is the whole tile stored", .here = DOES(20, 33, READS, WGMMA), .object = AS),
    SAYS(UNINIT_MEMORY, " reads byte 256 of out, which has 256 bytes, and nothing was written there before",
         "who should have written it: the host", .here = DOES(20, 33, COMPARES, THREAD), .object = OUT),
    SAYS(UNINIT_VALUE, ": %f1 is stored (op) before anything wrote it", "is there an initialiser", HERE,
         .object = { .space = SIMT_REGISTER, .name = "%f1" }, .use = SIMT_USE_STORED),
    SAYS(UNINIT_VALUE,
         ": the carry flag is used by op before anything wrote it, and what comes of it decides what is executed at "
         "kernel.cu:22",
         "is there an initialiser", HERE, .object = { .space = SIMT_REGISTER }, .use = SIMT_USE_DECIDES,
         .used = AT(22)),
    SAYS(UNINIT_VALUE, ": byte 8 of local memory is read (op) before anything wrote it", "is there an initialiser",
         HERE, .object = { .space = SIMT_LOCAL, .address = 8, .at = 8 }, .use = SIMT_USE_READ),
    SAYS(UNINIT_NAN, ": op has a NaN for operand, which nvcc writes in place of a variable without a value",
         "is there an initialiser", HERE),
    // Races: of threads
    SAYS(RACE,
         " reads byte 4 of As (shared memory); thread (1,0,0) wrote it at kernel.cu:10, and no barrier comes between "
         "them",
         "__syncthreads() on every way", .here = DOES(20, 33, READS, THREAD), .there = DOES(10, 1, WRITES, THREAD),
         .object = AS),
    SAYS(RACE,
         " writes byte 4 of As (shared memory); thread (34,0,0) read it at kernel.cu:10, and no barrier comes between "
         "them",
         "__syncwarp()", .here = DOES(20, 33, WRITES, THREAD), .there = DOES(10, 34, READS, THREAD), .object = AS),
    SAYS(RACE,
         " writes byte 4 of As (shared memory); thread (34,0,0) changed it at kernel.cu:20, and no barrier comes "
         "between them",
         "in one instruction", .here = DOES(20, 33, WRITES, THREAD), .there = DOES(20, 34, CHANGES, THREAD),
         .object = AS),
    SAYS(RACE,
         " writes byte 256 of out, which has 256 bytes; thread (1,0,0) read it at kernel.cu:20, and no barrier comes "
         "between them",
         "atomicAdd", .here = DOES(20, 33, WRITES, THREAD),
         .there = { .place = AT(20), .number = 1, .thread = { 1 }, .access = SIMT_READS }, .object = OUT),
    SAYS(RACE,
         " writes byte 256 of out, which has 256 bytes; thread (1,0,0) read it at kernel.cu:10, and no barrier comes "
         "between them",
         "If several threads change one element", .here = DOES(20, 33, WRITES, THREAD),
         .there = DOES(10, 1, READS, THREAD), .object = OUT),
    SAYS(RACE,
         " writes byte 4 of As (shared memory) of block (1,0,0); block (1,0,0), thread (0,0,0) read it at "
         "kernel.cu:10, and nothing orders the two blocks of the cluster here",
         "mbarrier.try_wait.acquire.cluster", .here = DOES(20, 33, WRITES, THREAD),
         .there = { .place = AT(10), .block = { 1, 0, 0 }, .access = SIMT_READS },
         .object = { .space = SIMT_SHARED,
                     .name = "As",
                     .bytes = 4096,
                     .at = 4,
                     .owner = SIMT_OTHER_BLOCK,
                     .block = { 1, 0, 0 } }),
    SAYS(RACE_BLOCKS,
         " writes byte 256 of out, which has 256 bytes; block (1,0,0), thread (0,0,0) read it at kernel.cu:10, and "
         "blocks run in any order",
         "blocks cannot wait for each other", .here = DOES(20, 33, WRITES, THREAD),
         .there = { .place = AT(10), .block = { 1, 0, 0 }, .access = SIMT_READS }, .object = OUT),
    SAYS(RACE_BLOCKS,
         " writes byte 256 of out, which has 256 bytes; block (1,0,0), thread (0,0,0) read it at kernel.cu:20, and "
         "blocks run in any order",
         "atomicAdd", .here = DOES(20, 33, WRITES, THREAD),
         .there = { .place = AT(20), .block = { 1, 0, 0 }, .access = SIMT_READS }, .object = OUT),
    SAYS(RACE_BLOCKS,
         " writes byte 256 of out, which has 256 bytes; block (1,0,0), thread (0,0,0) read it at kernel.cu:10, and "
         "nothing orders the two blocks here",
         "must release", .here = DOES(20, 33, WRITES, THREAD),
         .there = { .place = AT(10), .block = { 1, 0, 0 }, .access = SIMT_READS }, .object = OUT,
         .orders_blocks = true),
    SAYS(RACE_BLOCKS,
         " changes byte 256 of out, which has 256 bytes; block (1,0,0), thread (0,0,0) read it at kernel.cu:10, and "
         "blocks run in any order",
         "at block scope", .here = DOES(20, 33, CHANGES, THREAD),
         .there = { .place = AT(10), .block = { 1, 0, 0 }, .access = SIMT_COMPARES }, .object = OUT),
    SAYS(RACE_BLOCKS,
         " changes byte 256 of out, which has 256 bytes; block (1,0,0), thread (0,0,0) wrote it at kernel.cu:10, and "
         "blocks run in any order",
         "set it before the launch", .here = DOES(20, 33, CHANGES, THREAD),
         .there = { .place = AT(10), .block = { 1, 0, 0 }, .access = SIMT_WRITES }, .object = OUT),
    // of strong accesses
    SAYS(STRONG_WRITES,
         " changes byte 256 of out, which has 256 bytes; block (1,0,0), thread (0,0,0) wrote it at kernel.cu:10, and "
         "nothing orders the two: which one is last is chance",
         "an atomic for both", .here = DOES(20, 33, CHANGES, THREAD),
         .there = { .place = AT(10), .block = { 1, 0, 0 }, .access = SIMT_WRITES }, .object = OUT),
    SAYS(RELAXED_WAIT,
         " reads byte 256 of out, which has 256 bytes; block (1,0,0), thread (0,0,0) wrote it at kernel.cu:10, and "
         "this block has waited for that with a relaxed access and a barrier, and without a fence",
         "wait with an acquire", .here = DOES(20, 33, READS, THREAD),
         .there = { .place = AT(10), .block = { 1, 0, 0 }, .access = SIMT_WRITES }, .object = OUT),
    SAYS(RELAXED_READ,
         " reads byte 256 of out, which has 256 bytes; block (1,0,0), thread (0,0,0) wrote it at kernel.cu:10 before "
         "what this block has seen of it, without a fence in between: what is read may be older",
         "__threadfence() by the thread that writes", .here = DOES(20, 33, READS, THREAD),
         .there = { .place = AT(10), .block = { 1, 0, 0 }, .access = SIMT_WRITES }, .object = OUT),
    // of bulk copies and wgmma
    SAYS(RACE,
         " reads byte 4 of As (shared memory); thread (1,0,0) wrote it at kernel.cu:10 by a bulk copy, and nothing "
         "orders the two",
         "has not waited on the mbarrier of that copy", .here = DOES(20, 33, READS, THREAD),
         .there = DOES(10, 1, WRITES, BULK_COPY), .object = AS),
    SAYS(RACE,
         " writes byte 4 of As (shared memory) by a bulk copy; thread (1,0,0) read it at kernel.cu:10 by wgmma, and "
         "nothing orders the two",
         "wgmma may still read this tile", .here = DOES(20, 33, WRITES, BULK_COPY), .there = DOES(10, 1, READS, WGMMA),
         .object = AS),
    SAYS(RACE,
         " writes byte 4 of As (shared memory) by a bulk copy; thread (1,0,0) read it at kernel.cu:10, and nothing "
         "orders the two",
         "'empty' mbarrier (mbarrier.arrive) after its last read", .here = DOES(20, 33, WRITES, BULK_COPY),
         .there = DOES(10, 1, READS, THREAD), .object = AS),
    SAYS(RACE,
         " writes byte 4 of As (shared memory); thread (1,0,0) read it at kernel.cu:10 by wgmma, and nothing orders "
         "the two",
         "wgmma may still read this: end its group", .here = DOES(20, 33, WRITES, THREAD),
         .there = DOES(10, 1, READS, WGMMA), .object = AS),
    SAYS(RACE,
         " writes byte 4 of As (shared memory); thread (1,0,0) read it at kernel.cu:10 by a bulk copy, and nothing "
         "orders the two",
         "cp.async.bulk.wait_group.read by the thread", .here = DOES(20, 33, WRITES, THREAD),
         .there = DOES(10, 1, READS, BULK_COPY), .object = AS),
    SAYS(RACE,
         " reads byte 4 of As (shared memory) by wgmma; thread (1,0,0) wrote it at kernel.cu:10, and nothing orders "
         "the two",
         "fence.proxy.async by each thread that stores", .here = DOES(20, 33, READS, WGMMA),
         .there = DOES(10, 1, WRITES, THREAD), .object = AS),
    SAYS(RACE_INIT,
         " starts a copy that reports to an mbarrier; thread (1,0,0) wrote it at kernel.cu:10 (mbarrier.init), and "
         "nothing orders the two",
         "a barrier between mbarrier.init", HERE, .there = DOES(10, 1, WRITES, THREAD), .mbarrier = FULL),
    SAYS(COPY_PENDING,
         " reads byte 4 of As (shared memory), where an asynchronous copy is under way: thread (1,0,0) wrote it at "
         "kernel.cu:10 and has not waited for it",
         "cp.async.wait_group", .here = DOES(20, 33, READS, THREAD), .there = DOES(10, 1, WRITES, CP_ASYNC),
         .object = AS),
    SAYS(COPY_PENDING,
         " reads byte 4 of As (shared memory), where a bulk copy is under way: thread (1,0,0) wrote it at kernel.cu:10",
         "wait on the copy's mbarrier", .here = DOES(20, 33, READS, THREAD), .there = DOES(10, 1, WRITES, BULK_COPY),
         .object = AS),
    SAYS(COPY_PENDING,
         " writes byte 4 of As (shared memory) by a bulk copy, where a bulk copy is under way: thread (1,0,0) wrote it "
         "at kernel.cu:10",
         "is the stage's number right?", .here = DOES(20, 33, WRITES, BULK_COPY),
         .there = DOES(10, 1, WRITES, BULK_COPY), .object = AS),
    SAYS(PROXY_FENCE,
         " reads byte 4 of As (shared memory) by a bulk copy; thread (1,0,0) wrote it at kernel.cu:10, and no "
         "fence.proxy.async has made it known to the asynchronous proxy",
         "after its store and before the barrier", .here = DOES(20, 33, READS, BULK_COPY),
         .there = DOES(10, 1, WRITES, THREAD), .object = AS),
    SAYS(
        INIT_FENCE,
        " starts a copy that reports to an mbarrier; thread (1,0,0) wrote it at kernel.cu:10 (mbarrier.init), and no "
        "fence has made that known to the asynchronous proxy: PTX before 9.3 does not promise that a barrier is enough",
        "fence.mbarrier_init", HERE, .there = DOES(10, 1, WRITES, THREAD), .mbarrier = FULL),
    SAYS(WGMMA_FENCE, " starts a wgmma, and no wgmma.fence comes before it", "before the first wgmma", HERE,
         .there = WHO(20, 33)),
    SAYS(WGMMA_FENCE,
         " starts a wgmma whose registers were written at kernel.cu:10, and no wgmma.fence comes between them",
         "between the line that writes", HERE, .there = WHO(10, 33)),
    SAYS(WGMMA_WAIT, " uses an accumulator of the wgmma at kernel.cu:10, which has not been waited for",
         "wgmma.wait_group before", HERE, .there = WHO(10, 33)),
    SAYS(WGMMA_UNCOMMITTED,
         " uses an accumulator of the wgmma at kernel.cu:10, which was not committed before the wgmma.wait_group at "
         "kernel.cu:15: that did not wait for it",
         "wgmma.commit_group after the last wgmma", HERE, .there = WHO(10, 33), .used = AT(15)),
    SAYS(WGMMA_UNCOMMITTED,
         " uses an accumulator of the wgmma at kernel.cu:10, which has been neither committed nor waited for",
         "wgmma.commit_group after the last wgmma", HERE, .there = WHO(10, 33)),
    SAYS(WGMMA_LEFT, ": the block ends, and the wgmma that this line starts has not been waited for",
         "before the block ends", HERE, .seen = 1),
    SAYS(WGMMA_LEFT, ": the block ends, and the wgmma that this line starts has not been committed",
         "before the block ends", HERE),
    SAYS(LOAD_LEFT,
         ": the block ends while the copy of 1024 bytes that this line starts is on its way to byte 4 of As (shared "
         "memory)",
         "wait for each copy before the block ends", .here = DOES(20, 33, WRITES, BULK_COPY), .object = AS,
         .bytes = 1024),
    SAYS(STORE_LEFT,
         ": the block ends while the copy of 1024 bytes that this line starts may still read byte 4 of As (shared "
         "memory)",
         "cp.async.bulk.commit_group", .here = DOES(20, 33, READS, BULK_COPY), .object = AS, .bytes = 1024),
    SAYS(LAUNCH_BEFORE,
         " reads byte 256 of out, which has 256 bytes; a launch before this one wrote there, and may still run",
         "griddepcontrol.wait", .here = DOES(20, 33, READS, THREAD), .object = OUT),
    SAYS(BARRIER_STUCK,
         " waits at this barrier for ever: 32 of the block's 64 threads arrived, 16 have ended: does every thread "
         "reach it?",
         "must come to the same barrier", HERE, .expected = 64, .seen = 32, .left = 16),
    SAYS(BARRIER_STUCK,
         " waits at this barrier for ever: 32 of the block's 64 threads arrived, 0 have ended, and thread (1,0,0) "
         "waits at kernel.cu:10: does every thread reach it?",
         "must come to the same barrier", HERE, .there = WHO(10, 1), .expected = 64, .seen = 32, .lanes = 2),
    SAYS(BARRIER_SPLIT, " waits here, and thread (1,0,0) at kernel.cu:10: each opens the other's barrier",
         "must come to the same barrier", HERE, .there = WHO(10, 1)),
    SAYS(
        LANES_SPLIT,
        " waits here for all lanes of its warp, and thread (34,0,0) waits at kernel.cu:10: an H200 would wait for ever",
        "must come to the same barrier", HERE, .there = WHO(10, 34), .lanes = 2),
    SAYS(BARRIER_LEFT,
         " waits at this barrier, to which 16 of the block's 64 threads never come: thread (1,0,0) ended at "
         "kernel.cu:10",
         "so the others go on", HERE, .there = WHO(10, 1), .expected = 64, .left = 16),
    SAYS(BARRIER_COUNT,
         " comes to a barrier for 64 threads; for others, who wait there, it is one for 96, at kernel.cu:10",
         "which lanes does the instruction name?", HERE, .there = WHO(10, 1), .seen = 64, .expected = 96),
    SAYS(BARRIER_NUMBER, " names a barrier that does not exist, or a thread count that is no multiple of 32",
         "which lanes does the instruction name?", HERE),
    SAYS(NOT_MEMBER,
         " runs this instruction, but its member mask is 0x000000f0, without lane 1: name every lane that comes here",
         "which lanes does the instruction name?", HERE, .lanes = 0xf0),
    SAYS(LANES_MISSING,
         " waits at this instruction for lanes 0x000000f0 of its warp, which never come: have they ended, or taken "
         "another branch?",
         "which lanes does the instruction name?", HERE, .lanes = 0xf0),
    SAYS(LANES_INACTIVE, " reads from lane 4, which takes no part: its value is undefined",
         "which lanes does the instruction name?", HERE, .lanes = 0x10),
    SAYS(INIT_AGAIN,
         " initialises the mbarrier at byte 8 of full (shared memory), which thread (1,0,0) has initialised at "
         "kernel.cu:10: PTX leaves open what a second mbarrier.init does",
         "one thread initialises each mbarrier", HERE, .there = WHO(10, 1), .mbarrier = FULL),
    SAYS(LATE_WAIT,
         " waits for a phase of the mbarrier at byte 8 of full (shared memory); thread (1,0,0) ends the next phase at "
         "kernel.cu:10 without knowing of this wait: if that comes first, this waits for ever",
         "a parity tells two phases apart", HERE, .there = WHO(10, 1), .mbarrier = FULL),
    SAYS(PHASE_BYTES,
         ": the phase of the mbarrier at byte 8 of shared memory is complete, and 512 bytes are still on their way to "
         "it",
         "the sum of the bytes", HERE, .mbarrier = FULL, .bytes = 512),
    SAYS(NOT_BEGUN, " uses the shared memory of block (1,0,0), and nothing has told it that this block has begun",
         "before the first use", HERE, .object = { .space = SIMT_SHARED, .block = { 1, 0, 0 } }),
    SAYS(MAY_HAVE_ENDED,
         " uses the shared memory of block (1,0,0), and nothing keeps that block from ending before it does",
         "at the end of the kernel", HERE, .object = { .space = SIMT_SHARED, .block = { 1, 0, 0 } }),
    SAYS(REGISTERS_DIFFER,
         ": sets 40 registers, and warp 3 of its warpgroup sets none: all four warps have to run setmaxnreg",
         "by whole warpgroups", HERE, .there = WHO(10, 96), .seen = 40),
    SAYS(REGISTERS_LACK,
         ": asks for 240 registers a thread, and waits for ever: the block's threads ask for 68608 in all, and it was "
         "given 64512 when it began",
         "by whole warpgroups", HERE, .seen = 240, .left = 68608, .expected = 64512),
    SAYS(REGISTERS_STEP,
         " runs op to 200 registers, and has at most 168: .dec only takes registers away, and .inc only adds some",
         "setmaxnreg.inc in the others", HERE, .seen = 200, .expected = 168),
    SAYS(REGISTERS_STEP,
         " runs op to 160 registers, and has 232: .dec only takes registers away, and .inc only adds some",
         "setmaxnreg.inc in the others", HERE, .seen = 160, .expected = 232, .left = 1),
    SAYS(REGISTERS_IGNORED,
         " runs setmaxnreg, and nothing in the kernel says with how many registers a thread begins: ptxas ignores it "
         "then (C7508), unless it is given --maxrregcount",
         "__launch_bounds__(threads, 1)", HERE),
    SAYS(WGMMA_DIFFERS,
         " gives wgmma the descriptor 0x0000000800400040 of A, and warp 0 of its warpgroup 0x0000000800400000: the "
         "four warps have to give the same",
         "the whole tile", HERE, .there = WHO(20, 0), .seen = 0x800400040, .expected = 0x800400000),
    SAYS(WGMMA_APART,
         " has run 4 wgmma before this wgmma.commit_group, and warp 3 of its warpgroup 0: the four warps have to run "
         "each wgmma",
         "not all four warps", HERE, .there = WHO(20, 96), .seen = 4),
    SAYS(COMMITS_APART,
         " waits here for ever: it has committed 1 group of wgmma, and warp 3 of its warpgroup 0: the four warps have "
         "to run each wgmma.commit_group",
         "not all four warps", HERE, .there = WHO(20, 96), .seen = 1),
    SAYS(COPIES_OVERLAP,
         " copies 512 bytes to byte 4 of As (shared memory), and a copy of 1024 bytes is under way to 516 bytes before "
         "that: thread (1,0,0) started it at kernel.cu:10. The two overlap",
         "how many does a copy bring", .here = DOES(20, 33, WRITES, BULK_COPY), .there = DOES(10, 1, WRITES, BULK_COPY),
         .object = AS, .bytes = 512, .seen = 1024, .left = 512),
};
enum { ALL = sizeof all / sizeof *all };

Test(findings, each_kind_has_its_words)
{
    bool spoken[SIMT_KINDS] = { false };
    for (size_t i = 0; i < ALL; i++) {
        const struct simt_finding *f = &all[i].finding;
        char text[SIMT_FINDING_TEXT];
        simt_finding_text(f, text, sizeof text);
        cr_expect(!strncmp(text, BEGIN, strlen(BEGIN)), "%s", text);
        cr_expect_str_eq(text + strlen(BEGIN), all[i].text, "%s: %s", simt_finding_id(f->kind), text);
        cr_expect(strstr(simt_finding_look(f), all[i].look), "%s: %s", simt_finding_id(f->kind), simt_finding_look(f));
        spoken[f->kind] = true;
    }
    for (int kind = SIMT_NOTHING + 1; kind < SIMT_KINDS; kind++)
        cr_expect(spoken[kind], "%s is not in the list", simt_finding_id(kind));
}

Test(findings, an_object_is_named_wherever_its_bytes_are)
{
    static const struct {
        struct simt_object object;
        const char *text;
    } objects[] = {
        { { .space = SIMT_SHARED, .address = 70000, .at = 70000, .bytes = 49152 },
          "byte 70000 of shared memory, of which the block has 49152 bytes" },
        { { .space = SIMT_SHARED, .name = "As", .at = 64, .bytes = 64 },
          "byte 64 of As (shared memory), which has 64 bytes" },
        { { .space = SIMT_SHARED, .name = "As", .bytes = 64, .owner = SIMT_NO_BLOCK, .rank = 7, .blocks = 4 },
          "byte 0 of As (shared memory) of block 7 of a cluster that has 4 blocks" },
        { { .space = SIMT_SHARED, .name = "As", .bytes = 64, .owner = SIMT_OTHER_WINDOW, .rank = 1, .blocks = 4 },
          "byte 0 of As (shared memory) of block 1 of the cluster: an address in the shared memory of another block is "
          "for ld.shared::cluster and its like" },
        { { .space = SIMT_LOCAL, .address = 40, .at = 40, .bytes = 32 },
          "byte 40 of local memory, of which a thread has 32 bytes" },
        { { .space = SIMT_GLOBAL, .name = "out", .at = -4, .bytes = 64 }, "4 bytes before the start of out" },
        { { .space = SIMT_GLOBAL, .name = "out", .at = 4, .bytes = 64, .freed = true },
          "byte 4 of out, which has been freed" },
        { { .space = SIMT_GLOBAL, .address = 16 }, "address 0x10, which no allocation holds (a null pointer?)" },
        { { .space = SIMT_GLOBAL, .address = 0x10000 }, "address 0x10000, which no allocation holds" },
    };
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++) {
        char text[SIMT_FINDING_TEXT];
        simt_object_text(&objects[i].object, text, sizeof text);
        cr_expect_str_eq(text, objects[i].text);
    }
}

Test(findings, a_place_says_who_called_it)
{
    static const struct {
        struct simt_finding_place place;
        const char *text;
    } places[] = {
        { AT(38), "kernel.cu:38" },
        { { .file = "a/kernel.cu", .line = 38, .caller_file = "a/kernel.cu", .caller = 50 },
          "kernel.cu:38, called from line 50" },
        { { .file = "b/edges.cuh", .line = 38, .caller_file = "a/kernel.cu", .caller = 50 },
          "edges.cuh:38, called from kernel.cu:50" },
        { { .file = "a/test.ptx", .line = 7, .in_ptx = true }, "a/test.ptx:7" },
    };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char text[SIMT_FINDING_TEXT];
        simt_finding_place_text(&places[i].place, text, sizeof text);
        cr_expect_str_eq(text, places[i].text);
    }
}

static const char *reads_out(const void *context, const struct simt_finding *f)
{
    return f->kind == SIMT_UNINIT_MEMORY ? context : NULL;
}

static struct simt_finding two[] = {
    { .kind = SIMT_UNINIT_MEMORY, .here = DOES(20, 33, READS, THREAD), .object = OUT, .count = 1024, .bytes = 4 },
    { .kind = SIMT_LATE_WAIT, HERE, .there = WHO(10, 1), .mbarrier = FULL, .count = 1 },
};
static const struct simt_findings errors = { "gemm", two, 1, 1 }, advised = { "gemm", two + 1, 0, 1 };
static const struct simt_advice advice = {
    .look = reads_out, .context = "the answer", .watch = "watch", .watch_end = " it"
};

static char *printed(const struct simt_findings *f, bool json)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    cr_assert(out);
    if (json) {
        struct json j;
        json_open(&j, out);
        json_object(&j, NULL);
        simt_findings_json(&j, f, &advice);
        json_end(&j);
        cr_expect(json_close(&j));
    } else {
        simt_findings_print(out, f, &advice);
    }
    fclose(out);
    return text;
}

Test(findings, all_are_printed_and_the_caller_may_know_better_where_to_look)
{
    char *text = printed(&errors, false);
    cr_expect_str_eq(
        text,
        "not initialised (initcheck): " BEGIN
        " reads byte 256 of out, which has 256 bytes, and nothing was written there before\n"
        "    1,024 times in all, in this launch\n"
        "    look at: the answer\n"
        "    watch it: watch --finding 1 it\n"
        "\n"
        "advice: late wait (synccheck): " BEGIN
        " waits for a phase of the mbarrier at byte 8 of full (shared memory); thread (1,0,0) ends the next phase at "
        "kernel.cu:10 without knowing of this wait: if that comes first, this waits for ever\n"
        "    look at: a parity tells two phases apart, no more: before it ends the next phase, a thread has to wait "
        "for "
        "something that this one does after its wait. Or leave the wait out, if it is for a phase that is known to be "
        "over\n"
        "    watch it: watch --finding 2 it\n");
    free(text);
    text = printed(&advised, false);
    cr_expect(!strncmp(text, "The checks found nothing wrong with gemm in this launch (", 57), "%s", text);
    cr_expect(strstr(text, ", barriers).\n\nadvice: late wait"), "%s", text);
    free(text);
}

Test(findings, what_stands_behind_the_text_is_printed_alone)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    cr_assert(out);
    simt_finding_print_look(out, &two[0], &advice);
    fclose(out);
    cr_expect_str_eq(text, "    1,024 times in all, in this launch\n    look at: the answer\n");
    free(text);
}

Test(findings, json_has_the_fields_beside_the_text)
{
    static const char *const parts[] = {
        "\"level\": \"error\"",
        "\"check\": \"initcheck\"",
        "\"kind\": \"not initialised\"",
        "\"id\": \"UNINIT_MEMORY\"",
        "\"count\": 1024",
        "\"look\": \"the answer\"",
        "\"space\": \"global\"",
        "\"name\": \"out\"",
        "\"at\": 256",
        "\"access\": \"read\"",
        "\"level\": \"advice\"",
        "\"mbarrier\": {",
        "\"index\": 1",
        "\"instruction\": \"op\"",
        "\"there\": {",
    };
    char *text = printed(&errors, true);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        cr_expect(strstr(text, parts[i]), "%s is not in %s", parts[i], text);
    free(text);
    text = printed(NULL, true);
    cr_expect_str_eq(text, "{\n  \"findings\": []\n}\n");
    free(text);
}
