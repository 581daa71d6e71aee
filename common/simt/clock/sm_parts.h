// What the files of the SM share: sm_run.c issues, sm_memory.c times accesses. Times are cycles of the SM.
#pragma once

#include "sm.h"
#include "sm_record.h"

#define SUBCORES 4
#define SM_WARPS 64
#define HOME_WARPS (SM_WARPS / SUBCORES)
#define NEVER 1e300  // until something wakes the warp
#define SCOREBOARDS 6
#define GROUPS 32
#define QUEUE 32
#define NAMED_BARRIERS 16
#define MBARRIERS 64  // of a block
#define PRODUCTS 64   // of a warpgroup, that are under way
#define GROUP_WARPS 4
#define CHANNELS 64  // of DRAM, at most
#define PARTS 8192   // pieces of 64 bytes that are not stored whole
#define DUE 4096     // sectors and pieces that are asked for
#define ATOMIC_GROUPS 512
#define PATTERNS 256
#define SLOTS 32    // of blocks, on an SM
#define GAPS 8      // in the data pipe's turns, that are known
#define AHEAD 4096  // cycles for which accesses to registers are written down; a power of two
#define RESULTS 32  // that wait for the write ports

enum { KIND_SHORT, KIND_LONG, KIND_MBARRIER };  // of what releases a scoreboard

struct sm_warp {
    struct walk_warp walk;
    bool active, jumped;
    int at_barrier;  // at which it has arrived, its number; -1: none, or the others have come, too
    double opens;    // and it may pass from then on
    int awaits;      // the barrier in shared memory, by place in its block's list; -1: none
    unsigned await_parity, await_scoreboard;
    uint64_t products, product_groups;  // that it has begun, and closed
    uint64_t product_of[PRODUCTS];      // by group: the first product behind it
    unsigned slot;                      // of the block
    uint64_t ticket;                    // of its wait for room in the queue of accesses; 0: it does not wait
    double ready;                       // the last instruction's stall is over
    double scoreboard[SCOREBOARDS];     // free from then on
    uint8_t kind[SCOREBOARDS];          // of what releases it last
    double group[GROUPS];               // asynchronous copies: when each group has arrived
    uint32_t groups;
    double pending_copy;            // the group that is not closed yet
    uint32_t pc;                    // of the next instruction
    const struct sass *next;        // NULL: the warp has ended
    struct sm_subcore *home;        // that issues for it,
    unsigned place;                 // and its number there
    enum sm_state why;              // what it waits for
    bool at_mbarrier, at_products;  // and it is one of these
    double since;                   // it was last accounted for
};

struct sm_queue {  // of a sub-core: accesses that have been issued and not begun
    double begin[QUEUE];
    unsigned n;
};

// The register file of a sub-core: two banks, even registers and odd ones (sm_registers.c). Sets of banks have a bit
// each.
struct sm_registers {
    uint32_t cached[2][3];   // the reuse cache: by bank and operand, warp and register; 0: empty
    double operands;         // the last instruction has begun to read its own
    double bank[2];          // read until then
    uint64_t read, written;  // cycles up to which what memory reads and writes is known
    struct sm_ahead {
        uint32_t cycle;                // and 1; 0: none
        uint8_t reads[2], results[4];  // that memory does then: by bank; by set of banks
        bool taken;                    // mma writes its result then
    } ahead[AHEAD];                    // by cycle % AHEAD
    struct sm_result_due {             // from memory
        uint64_t since;
        unsigned banks;
    } results[RESULTS];  // that wait for the write ports
    unsigned first, n;
};

struct sm_subcore {
    double wake[HOME_WARPS];  // by warp: it is not to be looked at before
    double soonest;           // not later than any of them
    double free[PIPES];       // the pipe takes the next instruction
    double port;              // of the memory pipe
    double beside;            // of constants and special registers
    double back;              // of results that return from shared memory
    uint32_t returns[AHEAD];  // by cycle % AHEAD: the cycle in which a register comes from farther away
    struct sm_registers registers;
    struct sm_queue queue;
    uint64_t tickets;      // handed out to warps that wait for room in it
    struct sm_warp *last;  // that issued,
    bool yields;           // and its instruction says that another one is to be preferred
};

struct sm_named {             // a barrier of warps
    unsigned arrived, needs;  // warps; needs 0: all that live
    double opens;             // as far as warps have come
};

struct sm_mbarrier {  // a barrier in shared memory
    uint32_t at;
    unsigned arrivals, missing;  // of a phase: all, and those that the one under way lacks
    int64_t bytes;               // that are to come
    uint32_t phase;              // how many have ended
    double ended, latest;        // when the last one ended; the last arrival of the one under way
};

// The four warps that multiply together. Their products are carried out in order, each once all four have begun it.
struct sm_group {
    uint8_t came[PRODUCTS];  // warps, by product
    double ready[PRODUCTS];  // the last of them came
    double done[PRODUCTS];
    uint64_t started;
};

// Where the lanes of an access to shared memory lie, from the first one on, and its wavefronts. They do not depend on
// where that one lies: a step of whole words only turns the banks.
struct sm_pattern {
    const struct sass *s;  // NULL: no access yet
    uint32_t mask, from_first[WALK_LANES];
    unsigned waves;
};

#define LINE_INSTRUCTIONS 8
#define CODE_WAYS 4
#define CODE_SETS 64

struct sm_code {  // the instruction cache
    struct sm_line {
        uint32_t name;  // its number in the kernel and 1; 0: none
        uint32_t used;
        double there;  // it has come, or comes
    } lines[CODE_SETS * CODE_WAYS];
    uint32_t now;
};

struct sm_slot {  // where a block runs
    uint64_t number;
    unsigned warps, live;
    double drained;  // L2 has taken what its warps have stored
    bool used;
    struct sm_named named[NAMED_BARRIERS];
    struct sm_mbarrier mbarriers[MBARRIERS];
    unsigned n_mbarriers;
    struct sm_group groups[SM_WARPS / GROUP_WARPS];
};

struct sm_channel {  // of DRAM
    double free;
    bool writes;  // it wrote last
};

struct sm_part {      // a sector of which a part was stored
    uint64_t sector;  // its number and 1; 0: none
    uint32_t stored;  // by byte
};

#define OPEN_LINES 8

struct sm_open {            // a line that waits to be sent to L2
    uint64_t line;          // its number and 1; 0: none
    uint8_t there, before;  // which of its sectors; those of them that earlier stores have brought
    double sent;
};

struct sm_due {       // a sector that L1 has asked for, or a piece that L2 has
    uint64_t number;  // and 1; 0: none
    double at;        // it is there from then on
};

struct sm_sectors {  // of an access
    uint64_t at[4 * WALK_LANES];
    uint32_t stored[4 * WALK_LANES];  // by byte
    unsigned n, lines;
    double more;  // cycles of L2 beyond a store's
    bool joins;   // it may go to L2 together with the stores before it
};

struct sm_gap {  // turns of the data pipe that are free, though later ones are taken
    double from, to;
};

struct sm_pace {            // of blocks, from one shared load to the next
    bool together;          // they have barriers; otherwise each warp has a pace of its own
    uint32_t *last_block;   // by instruction: whose first warp came to it last, its number and 1
    uint32_t mark;          // the shared load with which a round begins, and 1
    uint32_t block[SLOTS];  // by slot: its number and 1,
    uint32_t round[SLOTS];  // and how many rounds it has begun
    double came, there;     // the first slot: its last round began, all that it has loaded has come
    struct sm_spread {
        double mean, spread;
    } from_load, from_arrival;  // cycles from then to the next round
    uint32_t rounds;            // that were learnt from
};

struct sm {
    const struct sm_job *job;
    const struct sm_constants *k;
    struct sm_result *out;
    struct sm_warp warps[SM_WARPS];
    struct sm_subcore sub[SUBCORES];
    struct sm_slot slots[SLOTS];
    unsigned warps_of_block;
    uint64_t begun, ended, issued_before;  // issued_before: the slots' first block had ended
    double now, lsu, tags, l2, barrier_free;
    struct sm_gap gaps[GAPS];
    unsigned next_gap;
    struct sm_pace pace;
    double first_before;           // the access under way: so long ago the first block came for the same
    double constants;              // the SM's cache of constants takes the next index
    double l2_in, atomic;          // L2 takes the next store; the last operation on a word ends
    double unwritten, driven_out;  // bytes in L2 that DRAM lacks; of them, those that have to go there now
    struct sm_channel channels[CHANNELS];
    struct sm_part parts[PARTS];
    struct sm_due groups[ATOMIC_GROUPS];   // by number: L2 takes the next operation on their words
    struct sm_due due[DUE], far_due[DUE];  // by number: sectors of L1; pieces of 64 bytes of L2
    struct sm_open open[OPEN_LINES];       // what was stored last
    unsigned opened;
    double block_ended;           // the last one that did
    double tma, tma_store;        // the tensor memory accelerator takes the next box
    double tensor, tensor_waves;  // products keep the tensor cores busy until then, and the data pipe for that share
    struct sm_code code;
    struct l1 *l1, *far, *written;  // far: which sectors L2 has; written: those of them that are to go to DRAM
    uint32_t random;
    struct walk_event event;
    struct sm_pattern patterns[PATTERNS];  // by instruction, as far as there is room
};

// The memory pipe takes the instruction of sm->event, issued now by w: releases its scoreboards in time.
void sm_access(struct sm *sm, struct sm_warp *w, struct sm_subcore *c);

// sm_registers.c: the instruction that the warp issues reads its operands, and writes its result if that has a fixed
// latency.
void sm_read_operands(struct sm *sm, struct sm_warp *w, struct sm_subcore *c, const struct sass *s);
// A store reads its address and its data, at `at`.
void sm_read_stored(struct sm_subcore *c, const struct sass *s, double at);
// A result from memory, for registers d and those behind it, is at the sub-core at `at`: when it is in its registers.
double sm_give_back(const struct sm *sm, struct sm_subcore *c, double at, unsigned d, unsigned registers);
double sm_give_far_back(const struct sm *sm, struct sm_subcore *c, double at, unsigned d, unsigned registers);
// The queue of the sub-core has room for one more; or when it will have: *at.
bool sm_has_room(struct sm *sm, struct sm_subcore *c, double *at);

// sm_pace.c. w has come to the shared load of sm->event, whose data arrive then; how many cycles before it the first of
// the blocks came that share it.
void sm_note_round(struct sm *sm, const struct sm_warp *w, double arrives);
double sm_first_before(const struct sm *sm, const struct sm_warp *w, double sharers);

// sm_far.c. When the sectors are there, asked for at `at` by SMs of which `sharers` ask for the same; L2 gives this SM
// `rate` bytes a cycle; keep: L1 has a say.
double sm_fetch(struct sm *sm, const uint64_t *sectors, unsigned n, double at, float sharers, double rate, bool keep);

// When L2 has taken over what is stored. It goes on to DRAM when something else drives it out.
double sm_write(struct sm *sm, const struct sm_sectors *s, double at);

// The warp is not looked at before `at`.
static inline void sm_sleep(struct sm_warp *w, double at)
{
    w->home->wake[w->place] = at;
    w->home->soonest = at < w->home->soonest ? at : w->home->soonest;
}

static inline bool sm_sleeps(const struct sm_warp *w)
{
    return w->home->wake[w->place] >= NEVER;
}

// sm_code.c: when the line of the instruction at pc is there, wanted at `at`.
double sm_code_there(struct sm *sm, uint32_t pc, double at);

// sm_async.c: barriers in shared memory, and copies that report to them, of sm->event, issued now by w.
void sm_async(struct sm *sm, struct sm_warp *w);

// sm_wgmma.c: a product of sm->event begins; the product for which a wait waits has ended at *until, 1e300: not known.
void sm_wgmma(struct sm *sm, struct sm_warp *w);
// The product that w would begin has no place: too many are under way.
bool sm_has_product_room(struct sm *sm, const struct sm_warp *w);
bool sm_waits_for_products(const struct sm *sm, const struct sm_warp *w, const struct sass *s, double *until);

// Counts, and notes, that something is busy for `cycles` from `begin` on.
static inline void sm_busy(struct sm *sm, enum sm_count which, double amount, double begin, double cycles)
{
    sm->out->busy[which] += amount;
    if (sm->job->recorder)
        sm_record_busy(sm->job->recorder, which, amount, begin, cycles);
}

static inline struct sm_group *sm_group_of(struct sm *sm, const struct sm_warp *w)
{
    return &sm->slots[w->slot].groups[(unsigned)(w - sm->warps) % sm->warps_of_block / GROUP_WARPS];
}

static inline void sm_release(struct sm_warp *w, unsigned scoreboard, double at, unsigned kind)
{
    if (scoreboard < SCOREBOARDS && at > w->scoreboard[scoreboard]) {
        w->scoreboard[scoreboard] = at;
        w->kind[scoreboard] = (uint8_t)kind;
    }
}
