// Micro-operations: what the decoder makes of a kernel, and the executor runs.
//
// A PTX instruction becomes one or more micro-operations (uops). A register slot holds one register of all 32 lanes:
// [32] of 4 bytes for registers up to 32 bits, [32] of 8 bytes for 64-bit ones, and one 32-bit mask for a predicate.
// Slots are addressed by byte offset from the warp's register file, and immediates are slots that are filled once, so
// that every operand of every uop is fetched alike. An ALU uop always computes all 32 lanes; where only some are
// active, the run loop puts the other lanes of the destination back afterwards.
#pragma once

#include <stdbool.h>
#include <stdint.h>

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

enum alu_op {
#define ALU(id, name, n, D, A, B, C, effect) ALU_##id,
#define SETP(id, name, T, effect) ALU_##id,
#define LOGIC(id, name, n, effect) ALU_##id,
#define SELP(id, name, T) ALU_##id,
#include "alu.def"
    ALU_OPS
};

enum warp_op {
#define WARP(id) WARP_##id,
#define WARP_ISA(id) WARP_##id,
#include "warp_op.def"
    WARP_OPS
};

enum sreg {
#define SREG(id, name, bits, effect) SREG_##id,
#include "sreg.def"
    SREGS
};

enum slot_class { SLOT_NONE, SLOT_32, SLOT_64, SLOT_PRED };

enum uop_kind {
    UOP_ALU,      // op: d = op(a, b, c), lane by lane
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

struct uop {
    uint32_t d, a, b, c;  // byte offsets of slots
    uint32_t run;     // length of the straight line that begins here: unguarded arithmetic, loads, stores; 0: none does
    uint32_t guard;   // byte offset of the guarding predicate
    uint32_t target;  // branch: uop index; special register: its number
    uint32_t inst;    // the PTX instruction it came from
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
        uint32_t same;        // UOP_ALU: uops of its line, from here on and in a row, that have its op
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
    uint32_t leader;                // whose lanes lie as far apart: an access before, or itself (uniform.c)
    uint8_t counted;                // enum mem_class
    uint8_t order, scope;           // enum mem_order, enum mem_scope
    bool polls;                     // in a short loop that looks at the same place again and again
    bool ahead_of_use;              // a load of what may turn out to be no value, and is looked at first (shadow.h)
    bool guess;                     // a plain load that a compare-and-swap confirms or refuses (guess.c)
    uint8_t unread;                 // elements of a vector, a bit for each, that nothing reads once they are loaded
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
    enum warp_op kind;
    enum gather gather;
    uint32_t n_in, n_out;
    uint32_t in[WARPOP_IN], out[WARPOP_OUT];  // slots
    uint32_t op, type, shape;                 // what exactly, by kind
    bool has_mem;                             // mem says where: its space, base, offset and counters
    struct memop mem;
    uint32_t n_wide_in, n_wide_out;  // more slots: the accumulators of wgmma
    uint32_t *wide_in, *wide_out;
    const void *more;  // struct mma, struct fragment, ... by kind
    uint8_t tensor;    // tensor-core instructions it stands for
    uint32_t flop;     // floating-point operations of the warp
    bool one_address;  // an atomic: all lanes name the same address, which the code shows
    bool by_one;       // an atomic: its operand is the constant 1
    bool blind;        // an atomic that only stores: an exchange whose result is not read
};

// The memory access of a uop; NULL if it makes none.
static inline const struct memop *uop_memop(const struct uop *u)
{
    if (u->kind == UOP_LOAD || u->kind == UOP_STORE)
        return u->mem;
    return u->kind == UOP_WARP && u->warp->has_mem ? &u->warp->mem : NULL;
}

struct shared_var {
    const char *name;
    uint32_t at, bytes, gap_end;  // gap_end: up to there no variable begins
};

struct window_const {  // a constant that is an address in shared memory
    uint32_t at;       // byte offset of its slot
    bool wide;
};

struct reg_place {      // of a register of the PTX
    uint32_t at;        // byte offset of its slot
    uint32_t from, to;  // uops: before the first of them and behind the last the slot may be another register's
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
    uint32_t entry_regs;       // of a thread when the kernel begins, where that is known and setmaxnreg is used; else 0
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
    bool reads_strong;                    // has strong loads that no loop waits with, from global memory
    bool orders_blocks;                   // has such fences or accesses whose scope goes beyond the block
    bool orders_cluster;                  // orders blocks of a cluster: their barrier, or mbarriers of another block
    bool waits_for_launch;                // has griddepcontrol.wait
    bool relaxes_mbarriers;               // has arrivals or waits of mbarriers that are .relaxed
    bool shadows_local, shadows_memory;   // follows undefined bytes through local, through other memory (shadow.h)
    // For those who look at a warp:
    struct reg_place *regs;   // by register of the PTX
    uint32_t *written;        // registers of the PTX that instruction i writes: from number first_written[i] on, up to
    uint32_t *first_written;  // number first_written[i + 1]
    struct shared_var *shared_vars;  // static ones, then the dynamic one; by address
    uint32_t n_shared_vars;
};
