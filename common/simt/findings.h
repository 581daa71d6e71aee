// What the simulated GPU found in one launch of a kernel, as data: which rule was broken, by which threads, where in
// the source, and at which bytes. Text is made from it when it is printed.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct json;

// The tool of compute-sanitizer that looks for such errors. SIMT_RUN: the kernel stopped itself, or does not end.
enum simt_check { SIMT_RUN, SIMT_MEMCHECK, SIMT_INITCHECK, SIMT_RACECHECK, SIMT_SYNCCHECK };

// X(class, check, name): what findings are shown as. Those of one class count as one where their places are the same.
#define SIMT_FINDING_CLASSES(X)                                                                                        \
    X(ENDLESS, SIMT_RUN, "endless")                                                                                    \
    X(STOPPED, SIMT_RUN, "stopped")                                                                                    \
    X(BOUNDS, SIMT_MEMCHECK, "out of bounds")                                                                          \
    X(ALIGNMENT, SIMT_MEMCHECK, "misaligned")                                                                          \
    X(CONSTANT, SIMT_MEMCHECK, "constant")                                                                             \
    X(DESCRIPTOR, SIMT_MEMCHECK, "descriptor")                                                                         \
    X(MEMORY, SIMT_INITCHECK, "not initialised")                                                                       \
    X(VALUE, SIMT_INITCHECK, "uninitialised")                                                                          \
    X(RACE, SIMT_RACECHECK, "race")                                                                                    \
    X(COPY, SIMT_RACECHECK, "copy not waited for")                                                                     \
    X(FENCE, SIMT_RACECHECK, "proxy fence")                                                                            \
    X(WGMMA, SIMT_RACECHECK, "registers of wgmma")                                                                     \
    X(ORDER, SIMT_RACECHECK, "missing order")                                                                          \
    X(LEFT, SIMT_RACECHECK, "copy left behind")                                                                        \
    X(PRODUCT, SIMT_RACECHECK, "wgmma left behind")                                                                    \
    X(LAUNCH, SIMT_RACECHECK, "launch not waited for")                                                                 \
    X(BARRIER, SIMT_SYNCCHECK, "barrier")                                                                              \
    X(LANES, SIMT_SYNCCHECK, "lanes")                                                                                  \
    X(WARPGROUP, SIMT_SYNCCHECK, "warpgroup")                                                                          \
    X(INIT, SIMT_SYNCCHECK, "mbarrier.init")                                                                           \
    X(LATE, SIMT_SYNCCHECK, "late wait")                                                                               \
    X(BYTES, SIMT_SYNCCHECK, "bytes of a phase")                                                                       \
    X(LIFE, SIMT_SYNCCHECK, "life of a block")                                                                         \
    X(REGISTERS, SIMT_SYNCCHECK, "setmaxnreg")

enum simt_finding_class {
#define SIMT_CLASS(class, check, name) SIMT_CLASS_##class,
    SIMT_FINDING_CLASSES(SIMT_CLASS)
#undef SIMT_CLASS
        SIMT_CLASSES
};

// X(kind, class, advice): what exactly. What is no error is an advice: cards do it, but not every version of PTX
// promises it; or it goes wrong very rarely. After each, what the fields of struct simt_finding say.
#define SIMT_FINDING_KINDS(X)                                                                                          \
    X(ENDLESS_LOOP, ENDLESS, false)   /* expected: the warp instructions that a block may take */                      \
    X(ENDLESS_WAIT, ENDLESS, false)   /* seen: blocks that wait, left: that have not begun; or waits says more */      \
    X(TRAP, STOPPED, false)           /* */                                                                            \
    X(NO_GRID, STOPPED, false)        /* the same, where grid.sync() cannot be */                                      \
    X(ASSERTION, STOPPED, false)      /* detail: it */                                                                 \
    X(REFUSED, STOPPED, false)        /* detail: what the instruction cannot do */                                     \
    X(ARRIVES_UNMADE, STOPPED, false) /* the mbarrier was not initialised */                                           \
    X(EXPECTS_UNMADE, STOPPED, false) /* the same, of bytes to expect */                                               \
    X(ARRIVALS, STOPPED, false)       /* seen: at once, expected: that its phase still waits for, left: of all */      \
    X(OUT_OF_BOUNDS, BOUNDS, false)                                                                                    \
    X(MISALIGNED, ALIGNMENT, false)                                                                                    \
    X(CONSTANT_STORE, CONSTANT, false)                                                                                 \
    X(DESCRIPTOR_RANK, DESCRIPTOR, false) /* of a wgmma: it has the block's rank in a field of its own */              \
    X(WGMMA_DIFFERS, DESCRIPTOR, false) /* seen: descriptor left (0: of A, 1: B), expected: that of the warp there */  \
    X(UNINIT_MEMORY, MEMORY, false)                                                                                    \
    X(UNINIT_VALUE, VALUE, false)  /* object: a register, or a byte of local memory */                                 \
    X(UNINIT_NAN, VALUE, false)    /* nvcc wrote a NaN for a variable without a value */                               \
    X(RACE, RACE, false)           /* within a block, or a cluster */                                                  \
    X(RACE_BLOCKS, RACE, false)    /* of two blocks, in global memory */                                               \
    X(RACE_INIT, RACE, false)      /* here: a copy that reports to the mbarrier, there: its init */                    \
    X(STRONG_WRITES, ORDER, true)  /* two of one place that nothing orders, and not both atomic */                     \
    X(RELAXED_WAIT, ORDER, true)   /* a plain read behind a wait that is relaxed: a barrier stands in for a fence */   \
    X(RELAXED_READ, ORDER, true)   /* a strong one, of what was written before what has been seen: no fence */         \
    X(COPY_PENDING, COPY, false)   /* there: the copy, which is under way; mbarrier: that it reports to, if known */   \
    X(COPIES_OVERLAP, COPY, false) /* there: another bulk copy, under way; seen: its bytes, from byte left on */       \
    X(PROXY_FENCE, FENCE, false)   /* there: a store that no fence.proxy.async has made known */                       \
    X(INIT_FENCE, FENCE, true)     /* as RACE_INIT: ordered, but not fenced */                                         \
    X(WGMMA_FENCE, WGMMA, false)   /* there: its registers were written; the same instruction: there was no fence */   \
    X(WGMMA_WAIT, WGMMA, false)    /* there: the wgmma whose accumulators are used */                                  \
    X(WGMMA_UNCOMMITTED, WGMMA, false) /* the same, before it was committed; used: a wait that missed it */            \
    X(WGMMA_LEFT, PRODUCT, true)       /* a wgmma is under way when the block ends; seen: it was committed */          \
    X(LOAD_LEFT, LEFT, false)          /* a bulk copy to the object is under way when the block ends */                \
    X(STORE_LEFT, LEFT, true)          /* the same from there */                                                       \
    X(LAUNCH_BEFORE, LAUNCH, false)                                                                                    \
    X(BARRIER_STUCK, BARRIER, false)      /* expected: the block's threads, seen: arrived, left: have ended; lanes */  \
                                          /* and there: some that wait elsewhere, if any do */                         \
    X(BARRIER_SPLIT, BARRIER, false)      /* there: the other barrier */                                               \
    X(LANES_SPLIT, BARRIER, false)        /* lanes: of the warp, that wait here; there: another one */                 \
    X(BARRIER_LEFT, BARRIER, true)        /* expected: the block's threads, left: have ended; there: the first */      \
    X(BARRIER_COUNT, BARRIER, false)      /* seen: threads that it is for, expected: for those who wait, there */      \
    X(BARRIER_NUMBER, BARRIER, false)     /* no such barrier, or no such count */                                      \
    X(NOT_MEMBER, LANES, false)           /* lanes: the member mask, without the thread's own */                       \
    X(LANES_MISSING, LANES, false)        /* lanes: that never come */                                                 \
    X(LANES_INACTIVE, LANES, false)       /* lanes: that it reads from */                                              \
    X(WGMMA_APART, WARPGROUP, false)      /* seen: wgmma that it has run, expected: that the warp there has */         \
    X(COMMITS_APART, WARPGROUP, false)    /* the same of groups; it waits for ever */                                  \
    X(INIT_AGAIN, INIT, true)             /* there: the mbarrier was initialised, and is one since */                  \
    X(LATE_WAIT, LATE, true)              /* there: who ends the phase after the one that is waited for */             \
    X(PHASE_BYTES, BYTES, false)          /* bytes: still on their way when the phase is complete */                   \
    X(NOT_BEGUN, LIFE, false)             /* object: another block's shared memory */                                  \
    X(MAY_HAVE_ENDED, LIFE, false)        /* the same */                                                               \
    X(REGISTERS_DIFFER, REGISTERS, false) /* seen: that it sets, expected: that the warp there sets; 0: none */        \
    X(REGISTERS_LACK, REGISTERS, false)   /* seen: that it sets, left: of the whole block, expected: that it has */    \
    X(REGISTERS_STEP, REGISTERS,                                                                                       \
      false) /* seen: that it sets, expected: that it has (left 0: at most), the wrong way */                          \
    X(REGISTERS_IGNORED, REGISTERS, true) /* nothing says how many registers the kernel begins with */

enum simt_finding_kind {
    SIMT_NOTHING,
#define SIMT_KIND(kind, class, advice) SIMT_##kind,
    SIMT_FINDING_KINDS(SIMT_KIND)
#undef SIMT_KIND
        SIMT_KINDS
};

enum simt_space { SIMT_NOWHERE, SIMT_GLOBAL, SIMT_SHARED, SIMT_LOCAL, SIMT_REGISTER };

// Whose shared memory it is.
enum simt_owner {
    SIMT_OWN,           // the thread's own block's; or it is no shared memory
    SIMT_OTHER_BLOCK,   // of another block of the cluster
    SIMT_OTHER_WINDOW,  // an address of block number `rank` of the cluster, where only the own block's is allowed
    SIMT_NO_BLOCK       // an address of block number `rank` of a cluster of `blocks`
};

// What holds some bytes: an allocation or a __constant__ variable, a variable in shared memory, local memory, a
// register.
struct simt_object {
    enum simt_space space;  // SIMT_NOWHERE: none is meant
    const char *name;       // NULL: no object holds the address, or it has no name
    uint64_t bytes;         // that it has; without a name what the block (thread) has of such memory; 0: not known
    uint64_t address;       // a device pointer; in shared and local memory from where the block's (thread's) begins
    int64_t at;             // the first byte that is meant, from the object's first on: negative before it
    bool freed;
    enum simt_owner owner;
    uint32_t block[3];      // SIMT_OTHER_BLOCK
    uint32_t rank, blocks;  // SIMT_OTHER_WINDOW, SIMT_NO_BLOCK
};

struct simt_finding_place {
    const char *file;  // as the .file directive names it, or of the PTX text; NULL if there is none
    unsigned line;
    bool in_ptx;  // no .loc says of which source line it is: the line is one of the PTX text
    // Where the place is in a function that was inlined, its call; for a function of a header, the call in the kernel's
    // own file. NULL and 0 if there is none.
    const char *caller_file;
    unsigned caller;
};

enum simt_access {
    SIMT_NO_ACCESS,
    SIMT_READS,
    SIMT_WRITES,
    SIMT_CHANGES,  // an atomic
    SIMT_COMPARES  // an atomic that only read: a compare-and-swap that found another value
};

enum simt_by { SIMT_BY_THREAD, SIMT_BY_CP_ASYNC, SIMT_BY_BULK_COPY, SIMT_BY_WGMMA };

struct simt_side {  // of two that meet: who, and where in the kernel
    struct simt_finding_place place;
    const char *instruction;       // its PTX name, such as st.shared.u32; NULL if there is none
    uint32_t number;               // of that instruction, among the kernel's
    uint32_t block[3], thread[3];  // blockIdx, threadIdx
    uint32_t warp, lane;           // within the block
    enum simt_access access;
    enum simt_by by;
};

struct simt_mbarrier {
    struct simt_object object;  // of 8 bytes each, if it is an array
    uint32_t index;             // in that array
    int phase;                  // its parity, 0 or 1; -1: not known
};

enum simt_wait_for {
    SIMT_FOR_VALUE,
    SIMT_FOR_MBARRIER,
    SIMT_FOR_BARRIER,
    SIMT_FOR_LANES,
    SIMT_FOR_CLUSTER,
    SIMT_ENDED
};

struct simt_wait {  // what some warps of a block wait for
    enum simt_wait_for what;
    uint32_t block[3];
    uint32_t warps;                 // a bit for each
    struct simt_mbarrier mbarrier;  // SIMT_FOR_MBARRIER
    uint32_t arrivals;              // that are missing there
    int64_t bytes;                  // that are missing; negative: more have come than were expected
    uint32_t number;                // of the barrier; SIMT_FOR_BARRIER
    uint32_t arrived, expected;     // threads at it; of all, at the cluster's; SIMT_FOR_MBARRIER: arrivals of a phase
};

// How a value that nothing wrote is used.
enum simt_use { SIMT_USE_DECIDES, SIMT_USE_ADDRESS, SIMT_USE_OPERAND, SIMT_USE_STORED, SIMT_USE_READ };

// Of one class and place: the first in full, the rest counted. What a finding does not say is 0.
struct simt_finding {
    enum simt_finding_kind kind;
    uint64_t count;                // threads' accesses, or bytes' worth of them
    struct simt_side here, there;  // there: the other side; its file is NULL if there is none
    struct simt_object object;     // what is accessed, and its first byte
    uint32_t bytes;                // from there on
    struct simt_mbarrier mbarrier;
    uint64_t expected, seen, left;  // see SIMT_FINDING_KINDS
    uint32_t lanes;                 // the same, as a mask
    const char *detail;             // the same, in words; else NULL
    bool orders_blocks;             // the kernel has what can order blocks: fences, acquire, release
    const struct simt_wait *waits;  // what warps wait for: the block's, or those of all blocks of its cluster
    size_t n_waits;
    bool of_cluster;
    enum simt_use use;  // of a value that nothing wrote;
    // Where, if that is not here: there what was computed from it is used; and see SIMT_FINDING_KINDS.
    struct simt_finding_place used;
};

struct simt_findings {
    const char *kernel;
    struct simt_finding *all;  // n errors, then n_advice that are none; each by place
    size_t n, n_advice;
};

enum simt_finding_class simt_finding_class(enum simt_finding_kind kind);
enum simt_check simt_finding_check(enum simt_finding_kind kind);
bool simt_finding_is_advice(enum simt_finding_kind kind);
// "RACE_BLOCKS"; of its class "race"; of that one's check "racecheck".
const char *simt_finding_id(enum simt_finding_kind kind);
const char *simt_finding_name(enum simt_finding_kind kind);
const char *simt_finding_tool(enum simt_finding_kind kind);

// "kernel.cu:38, called from line 50".
void simt_finding_place_text(const struct simt_finding_place *p, char *text, size_t size);
// "byte 4100 of As (shared memory), which has 4096 bytes".
void simt_object_text(const struct simt_object *o, char *text, size_t size);

enum { SIMT_FINDING_TEXT = 1024 };  // bytes that are always enough

// One line: where, and who does what to which bytes.
void simt_finding_text(const struct simt_finding *f, char *text, size_t size);
// One line: what to look at next.
const char *simt_finding_look(const struct simt_finding *f);

// What whoever prints findings knows better to look at; NULL: what simt_finding_look says.
struct simt_advice {
    const char *(*look)(const void *context, const struct simt_finding *f);  // NULL: no advice
    const void *context;
    // A command that opens the debugger, as far as the option --finding, and what is to stand behind that. NULL: none.
    const char *watch, *watch_end;
};

// Prints what stands behind a finding's text: the source lines where they can be read, how often it was found, and what
// to look at next. advice may be NULL.
void simt_finding_print_look(FILE *out, const struct simt_finding *f, const struct simt_advice *advice);

// Prints each finding: its kind, text and count, the source lines where they can be read, and what to look at. Without
// errors one line that says what was looked at, and then what is advised. advice may be NULL.
void simt_findings_print(FILE *out, const struct simt_findings *f, const struct simt_advice *advice);

// Appends the array "findings" to the open JSON object j; empty if f is NULL.
void simt_findings_json(struct json *j, const struct simt_findings *f, const struct simt_advice *advice);
