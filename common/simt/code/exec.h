// Decoded code and the state of a warp: what decode.c makes and the executor runs.
//
// A PTX instruction becomes one or more micro-operations (uops). A register slot holds one register of all 32 lanes:
// [32] of 4 bytes for registers up to 32 bits, [32] of 8 bytes for 64-bit ones, and one 32-bit mask for a predicate.
// Slots are addressed by byte offset from the warp's register file, and immediates are slots that are filled once, so
// that every operand of every uop is fetched alike. An ALU uop always computes all 32 lanes; where only some are
// active, the run loop puts the other lanes of the destination back afterwards.
#ifndef SIMT_EXEC_H
#define SIMT_EXEC_H

#include <stdbool.h>
#include <stdint.h>

#include "simt/machine/cost.h"
#include "simt/machine/memory.h"
#include "simt/ptx/ptx.h"

#define LANES 32
#define ALL_LANES 0xffffffffu

// Registers hold integers and floats alike.
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t __attribute__((may_alias)) u32;
typedef uint64_t __attribute__((may_alias)) u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t __attribute__((may_alias)) s32;
typedef int64_t __attribute__((may_alias)) s64;
typedef float __attribute__((may_alias)) f32;
typedef double __attribute__((may_alias)) f64;

enum slot_class { SLOT_NONE, SLOT_32, SLOT_64, SLOT_PRED };

enum uop_kind {
    UOP_ALU,      // fn: d = fn(a, b, c), lane by lane
    UOP_SREG,     // d = special register number target
    UOP_PARAM,    // d = the kernel's parameter, the same for all lanes: mem
    UOP_LOAD,     // mem
    UOP_STORE,    // mem
    UOP_BRANCH,   // to uop number target
    UOP_BARRIER,  // target, an enum barrier_kind, at barrier number a of b threads (slots; b may be 0 = all)
    UOP_WARP,     // warp: an instruction of the whole warp, or one with more operands than a, b, c
    UOP_EXIT,
    UOP_TRAP,
    UOP_KINDS
};

struct uop;
struct warp;
typedef void (*alu_fn)(unsigned char *regs, const struct uop *u);
// For the active lanes. False on a fault, which is then in the worker.
typedef bool (*warp_fn)(struct warp *w, const struct uop *u, uint32_t active);

struct uop {
    alu_fn fn;
    uint32_t d, a, b, c;  // byte offsets of slots
    uint32_t run;         // length of the straight line of unguarded ALU uops that begins here; 0 for other uops
    uint32_t guard;       // byte offset of the guarding predicate
    uint32_t target;      // branch: uop index; special register: its number
    uint32_t inst;        // the PTX instruction it came from
    uint8_t kind;
    uint8_t guarded;  // 0 no, 1 by the predicate, 2 by its negation
    uint8_t saves;    // the destination's slot_class
    uint8_t counts;   // 1 for the uop that stands for its instruction in the counters
    uint8_t flop;     // floating-point operations of a lane
    bool flight;      // for the checks: touches accumulators of wgmma, which may be under way
    uint16_t op;      // UOP_ALU: enum alu_op; UOP_BARRIER: 1 for .aligned, which a warp runs as a whole
    union {
        struct memop *mem;    // UOP_PARAM, UOP_LOAD, UOP_STORE
        struct warpop *warp;  // UOP_WARP
    };
};

#define MEMOP_REGS 4

enum extend { EXTEND_ZERO, EXTEND_SIGN };

// What an access means to other threads. Source: PTX ISA 8.3 to 8.5 (memory consistency model). Every access but a weak
// one is strong: with another strong one whose scope reaches it, it makes no race.
enum mem_order { ORDER_WEAK, ORDER_VOLATILE, ORDER_RELAXED, ORDER_ACQUIRE, ORDER_RELEASE, ORDER_BOTH };
enum mem_scope { SCOPE_CTA, SCOPE_CLUSTER, SCOPE_GPU, SCOPE_SYS };

struct memop {
    enum ptx_space space;
    uint32_t bytes;                 // of one element
    uint32_t n;                     // elements: 1, 2 or 4
    enum extend extend;             // how a loaded element fills a wider register
    enum slot_class base_class;     // SLOT_32 or SLOT_64
    uint32_t base;                  // byte offset of the slot that holds the address
    uint64_t offset;                // added to it
    uint32_t reg[MEMOP_REGS];       // slots of the data
    uint8_t reg_class[MEMOP_REGS];  // SLOT_NONE for '_'
    uint32_t index;                 // of its counters
    uint8_t counted;                // enum mem_class
    uint8_t order, scope;           // enum mem_order, enum mem_scope
    bool guess;                     // a plain load that a compare-and-swap confirms or refuses (guess.c)
    bool merged;                    // into another access: counts nothing itself (merge.c)
    uint32_t span;                  // bytes a lane of the machine code's access that this one stands for; 0: its own
    int32_t ahead;                  // which begins so many bytes after the address
};

enum barrier_kind {
    BARRIER_SYNC,
    BARRIER_ARRIVE,           // and go on
    BARRIER_POPC,             // d = how many threads have the predicate c; all threads are given it
    BARRIER_AND,              // d = have all?
    BARRIER_OR,               // d = has one?
    BARRIER_CLUSTER_ARRIVE,   // at the cluster's barrier, and go on
    BARRIER_CLUSTER_RELAXED,  // the same, and orders nothing that came before
    BARRIER_CLUSTER_WAIT
};

enum mem_class {  // under which of Nsight Compute's metrics an access counts, besides its space
    MEM_LD,
    MEM_ST,
    MEM_LDSM,
    MEM_STSM,
    MEM_LDGSTS,
    MEM_ATOM,
    MEM_BULK
};

// Who has to be there before an instruction of the warp runs. Lanes that have not come are waited for.
enum gather {
    GATHER_NONE,     // each lane for itself: atomics, cp.async, votes of whoever is there
    GATHER_MEMBERS,  // the lanes of the member mask, the last of in[]: shfl.sync
    GATHER_SYNC,     // the same, at whichever bar.warp.sync they stand
    GATHER_ALL       // all 32 lanes: ldmatrix, mma
};

#define WARPOP_IN 20
#define WARPOP_OUT 8

struct warpop {
    warp_fn fn;
    enum gather gather;
    uint32_t n_in, n_out;
    uint32_t in[WARPOP_IN], out[WARPOP_OUT];  // slots
    uint32_t op, type, shape;                 // what exactly, by fn
    bool has_mem;                             // mem says where: its space, base, offset and counters
    struct memop mem;
    uint32_t n_wide_in, n_wide_out;  // more slots: the accumulators of wgmma
    uint32_t *wide_in, *wide_out;
    const void *more;  // struct mma, struct fragment, ... by fn
    uint8_t tensor;    // tensor-core instructions it stands for
    uint32_t flop;     // floating-point operations of the warp
    bool one_address;  // an atomic: all lanes name the same address, which the code shows
    bool by_one;       // an atomic: its operand is the constant 1
    bool blind;        // an atomic that only stores: an exchange whose result is not read
};

struct window_const {  // a constant that is an address in shared memory
    uint32_t at;       // byte offset of its slot
    bool wide;
};

struct code {
    struct uop *uops;
    uint32_t n_uops;
    uint32_t n_memops;
    uint32_t file_bytes;           // register file of a warp
    uint32_t const_at;             // byte offset in the file where the constants begin; they fill it to its end
    unsigned char *consts;         // their initial content
    struct window_const *windows;  // those that name shared memory: a block of a cluster adds its own window
    uint32_t n_windows;
    uint32_t shared_bytes;  // static shared memory of a block
    uint32_t local_bytes;   // of a thread
    uint32_t param_bytes;
    uint32_t n_polls;
    uint32_t reserved_bytes;   // of shared memory, at its start, for the system: zero when a block begins
    bool takes_param_address;  // the parameters are needed in device memory, too
    bool uses_heap;            // calls malloc or free
    bool syncs_grid;           // asks for the grid's workspace (%envreg1)
    bool reads_clock;          // so it may wait for time to pass
    bool wgmma_now;            // wgmma writes its results when it is issued: see decode_wgmma.c
    bool ordered;  // blocks run one after the other: their order shows in the results, or in what they print
    // For the checks:
    unsigned shared_shift, global_shift;  // the smallest piece loaded or stored is 1 << shift bytes
    bool orders_threads;                  // has fences, mbarriers, or accesses that acquire or release
    bool orders_blocks;                   // has such fences or accesses whose scope goes beyond the block
    bool orders_cluster;                  // orders blocks of a cluster: their barrier, or mbarriers of another block
    bool waits_for_launch;                // has griddepcontrol.wait
    bool relaxes_mbarriers;               // has arrivals or waits of mbarriers that are .relaxed
    bool shadows_local, shadows_memory;   // follows undefined bytes through local, through other memory (shadow.h)
    struct shared_var *shared_vars;       // static ones, then the dynamic one; by address
    uint32_t n_shared_vars;
};

// Uops in which warps do nothing but look at values that do not change, before their wait counts as endless. A kernel
// that reads a clock may give up by itself after some time.
static inline uint64_t wait_max(const struct code *c)
{
    return (uint64_t)1 << (c->reads_clock ? 28 : 23);
}

struct shared_var {
    const char *name;
    uint32_t at, bytes, gap_end;  // gap_end: up to there no variable begins
};

// --- counters: one set a host thread, summed at the end ---

struct uop_count {
    uint64_t warps;  // times executed
    uint64_t idle;   // lanes that did not take part, summed over those times
    uint64_t split;  // branches: times at which not all lanes went the same way
};

struct mem_count {
    uint64_t requests, sectors;        // global
    uint64_t waves, conflicts, ideal;  // shared
    uint64_t extra;                    // machine instructions beyond one each time, of wmma.load and wmma.store
    uint64_t loads, load_waves;        // of an atomic that is a loop: its loads, and their share of waves
};

enum pattern { PATTERN_OTHER, PATTERN_UNIFORM, PATTERN_LINEAR };  // one address; lane after lane

struct mem_memo {  // the last address pattern of an instruction, and what follows from it
    union {
        uint32_t d32[LANES];
        uint64_t d64[LANES];
    } delta;                 // from the first active lane's address, by the width of the address register
    uint32_t mask;           // active lanes; 0: empty
    uint32_t low, low_mask;  // the bits of the first active lane's address that the cost depends on
    int64_t min, max;        // the smallest and largest delta
    uint64_t bits;           // all deltas or-ed: shows whether they keep the alignment
    enum pattern pattern;
    struct shared_cost shared;
    uint32_t sectors;
    uint32_t number;  // of the patterns so far, from 1
};

// The memory access of a uop; NULL if it makes none.
static inline const struct memop *uop_memop(const struct uop *u)
{
    if (u->kind == UOP_LOAD || u->kind == UOP_STORE)
        return u->mem;
    return u->kind == UOP_WARP && u->warp->has_mem ? &u->warp->mem : NULL;
}

// --- state ---

enum fault_kind {
    FAULT_NONE,
    FAULT_BOUNDS,
    FAULT_ALIGN,
    FAULT_BUDGET,
    FAULT_DEADLOCK,
    FAULT_WAIT,  // for a value that nothing changes; waiting, exited: blocks that wait, and that have not begun
    FAULT_TRAP,
    FAULT_BARRIER,
    FAULT_NOT_MEMBER,  // a lane runs a .sync instruction whose member mask leaves it out
    FAULT_MISSING,     // lanes that a .sync instruction needs have ended, or wait elsewhere
    FAULT_INACTIVE,    // a shuffle or vote reads a lane that takes no part
    FAULT_ASSERT,      // text has the message
    FAULT_OTHER,       // text has the message
    // What only the checks find (check.h); other_... says who the other side is.
    FAULT_RACE,         // in shared memory
    FAULT_RACE_BLOCKS,  // in global memory
    FAULT_UNINIT,
    FAULT_COPY,        // of an asynchronous copy that has not been waited for
    FAULT_PROXY,       // the asynchronous proxy reads what no fence.proxy.async has made known to it
    FAULT_SIGNAL,      // a bulk copy reports to an mbarrier, and its thread does not know that it was initialised
    FAULT_UNFENCED,    // it knows of that, but no fence came in between: an advice, no error
    FAULT_LATE,        // a wait for a parity, which the phase after next may have begun before
    FAULT_BYTES,       // an mbarrier expects other bytes than come
    FAULT_UNWAITED,    // a block ends, and a bulk copy to (store) or from its shared memory is under way
    FAULT_FLIGHT,      // registers of a wgmma that is under way, or that no wgmma.fence covers
    FAULT_REGISTERS,   // of setmaxnreg: text says what is wrong
    FAULT_DESCRIPTOR,  // of a matrix for wgmma: it has the block's rank in a field of its own
    FAULT_HOME,        // another block's shared memory, before it began, or (store) when it may have ended
    FAULT_SPLIT,       // threads of a block wait at different barriers of the kernel
    FAULT_LEFT,        // a barrier of the whole block opens, which some threads do not come to because they have ended
    FAULT_CONST,       // a store to a __constant__ variable
    FAULT_LAUNCH,      // what the launch before wrote is used, and nothing has waited for that launch
    FAULT_UNWRITTEN    // what nothing wrote into a register or local memory is used: see shadow.h
};

struct fault {
    enum fault_kind kind;
    bool store, atomic;
    uint32_t inst;  // PTX instruction index
    uint32_t warp, lane;
    uint64_t address;
    uint32_t bytes;
    enum ptx_space space;
    uint64_t block;                     // linear block index
    uint32_t waiting, exited;           // deadlock: threads at the barrier, threads that ended
    uint32_t lanes;                     // not member, missing, inactive: the lanes in question
    uint32_t other_inst, other_thread;  // thread: within the block
    uint64_t other_block;
    uint64_t home;  // remote: the block whose shared memory it is about
    bool remote;
    bool other_store, other_atomic;
    bool async, wgmma, other_async, other_wgmma;  // by the asynchronous proxy: a bulk copy, wgmma
    bool cluster;                                 // text is about all blocks of the cluster
    char text[600];
};

struct split {  // lanes that stand at the same place
    uint32_t pc, mask;
    uint32_t barrier;  // number + 1 of the barrier they wait at, 0: they run, or one of WAITS_...
};

struct poll {              // an instruction that a waiting loop may be made of
    uint32_t seen[LANES];  // a hash of the last address and result
};

#define WAITS_HERE 99u     // at an instruction of the warp, which runs once all its lanes have come
#define WAITS_CLUSTER 98u  // at the cluster's barrier
#define WAITS_WARP 97u     // in front of an aligned barrier, for the other lanes of their warp

struct block;

struct warp {
    unsigned char *regs;
    struct block *block;
    uint32_t index;   // within the block
    uint32_t exited;  // lanes that have ended
    uint32_t lanes;   // lanes that exist
    uint32_t apart;   // lanes that come to an aligned barrier without the others, which never will
    uint32_t n_splits;
    struct split splits[LANES];       // by pc, ascending
    struct copies *copies;            // cp.async under way; NULL if there was none yet
    struct wgmmas *wgmmas;            // the same for wgmma
    struct poll *polls;               // by number; see warp_poll.c
    uint32_t polled;                  // times in a row that its polls saw nothing new
    uint32_t max_regs, max_inst;      // of its last setmaxnreg, and where; 0: none
    uint32_t arrived, opened;         // lanes that came to the cluster's barrier and did not wait yet: before and after
                                      // it opened
    bool again;                       // the instruction in hand is to be tried again, once others have had a turn
    bool polling, news;               // so often that it is waiting; it saw something new in this round
    uint32_t poll_inst, poll_lane;    // where it waits
    uint64_t wait_at;                 // the mbarrier whose phase a lane last found incomplete
    uint32_t wait_parity, wait_lane;  // the phase, and the lane
    bool waits;                       // it is still so
};

struct barrier {
    uint32_t arrived;      // threads
    uint32_t expected;     // from bar.sync a, b; 0: every thread that has not exited
    bool passed;           // some arrived and went on: bar.arrive
    uint32_t voters, yes;  // bar.red: threads that brought a predicate, and those whose predicate holds
};

#define BARRIERS 16

struct worker;

struct block {
    struct worker *worker;
    uint64_t linear;
    uint32_t id[3];
    uint32_t rank;    // in its cluster
    uint32_t window;  // the address of its shared memory among those of its cluster: see cluster.h
    uint32_t n_warps;
    uint32_t live;                    // threads that have not exited
    uint32_t left_thread, left_inst;  // the first that did, and where
    uint64_t news_at;                 // steps when a thread last did more than poll
    bool launch_over;                 // a thread has waited for the launch before: griddepcontrol.wait
    struct barrier barriers[BARRIERS];
    struct warp *warps;
    struct bulks *bulks;        // bulk copies under way; NULL if there was none yet
    struct block_check *check;  // NULL: only bounds and alignment are checked
};

struct grid {  // one launch
    const struct code *code;
    const struct memory *memory;
    const unsigned char *params;
    uint64_t params_at;  // their copy in device memory, where a kernel takes their address (launch_memory.c); else 0
    struct heap *heap;   // of malloc and free, where the kernel calls them; else NULL
    uint64_t workspace;  // for synchronising the grid, where a kernel asks for it; else 0
    uint32_t grid[3], block[3];
    uint32_t cluster[3];      // blocks of a cluster; 1, 1, 1 where there are none
    uint32_t cluster_blocks;  // in all
    bool clustered;           // the launch or the kernel names clusters
    uint32_t threads;         // of a block
    uint32_t shared_bytes;    // static and dynamic
    uint64_t budget;          // warp instructions a block may take
    bool turns;               // one host thread runs the blocks, which take turns (turns.h)
    bool early;               // with checks, and it begins before the launch before has ended
    struct trace *trace;      // NULL: nothing is recorded
};

struct worker {  // one host thread
    const struct grid *grid;
    struct cluster *cluster;  // of the current block
    unsigned char *shared;    // shared_bytes of the current block
    unsigned char *local;     // local_bytes for each thread of the block
    uint64_t steps;           // uops executed in the current block
    bool shares;              // blocks take turns: one that waits for another is left, and gone on with later
    bool left, resumes;       // the block was left; and it is gone on with
    bool news;                // the block did more than wait
    bool waited;              // for the launch before, in any block
    struct uop_count *uop_counts;
    uint64_t *runs;  // straight lines entered at each uop
    struct mem_count *mem_counts;
    struct mem_memo *memos;
    struct fault fault;
    struct block block;
    struct checker *check;  // NULL: only bounds and alignment are checked
};

// What is compiled once for the baseline processor and once for AVX2 with FMA; exec_pick() chooses at run time.
struct exec {
    const char *isa;
    const alu_fn *alu;    // by enum alu_op
    const warp_fn *warp;  // by enum warp_op
    // Runs the worker's block to its end, or its first fault, which it leaves in worker->fault, or until it is left.
    void (*run_block)(struct worker *w);
};

// The fastest that this processor has.
const struct exec *exec_pick(void);

enum alu_op {
#define ALU(id, name, n, D, A, B, C, effect) ALU_##id,
#define SETP(id, name, T, effect) ALU_##id,
#define LOGIC(id, name, n, effect) ALU_##id,
#define SELP(id, name, T) ALU_##id,
#include "alu.def"
    ALU_OPS
};

enum warp_op {  // the functions that are compiled for each instruction set; the others are in warp.h
    WARP_LDMATRIX,
    WARP_STMATRIX,
    WARP_WMMA_LOAD,
    WARP_WMMA_STORE,
    WARP_MMA,
    WARP_WGMMA,  // computes warp->wgmmas->current
    WARP_OPS
};

enum sreg {
#define SREG(id, name, bits, effect) SREG_##id,
#include "sreg.def"
    SREGS
};

#endif
