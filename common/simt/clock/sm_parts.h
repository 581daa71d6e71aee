// What the files of the SM share: sm_run.c issues, sm_memory.c times accesses. Times are cycles of the SM.
#ifndef SIMT_SM_PARTS_H
#define SIMT_SM_PARTS_H

#include "sm.h"

#define SUBCORES 4
#define SM_WARPS 64
#define SCOREBOARDS 6
#define GROUPS 32
#define QUEUE 32
#define AHEAD 4096  // cycles for which writes of registers are written down; a power of two

enum { KIND_SHORT, KIND_LONG };

struct sm_warp {
    struct walk_warp walk;
    bool active, at_barrier, jumped;
    unsigned slot;                   // of the block
    double ready;                    // the last instruction's stall is over
    double scoreboard[SCOREBOARDS];  // free from then on
    uint8_t kind[SCOREBOARDS];       // of what releases it last
    double group[GROUPS];            // asynchronous copies: when each group has arrived
    uint32_t groups;
    double pending_copy;      // the group that is not closed yet
    uint32_t pc;              // of the next instruction
    const struct sass *next;  // NULL: the warp has ended
    double wake;              // not to be looked at before
    enum sm_state why;        // what it waits for
    double since;             // it was last accounted for
};

struct sm_queue {  // of a sub-core: accesses that have been issued and not begun
    double begin[QUEUE];
    unsigned n;
};

struct sm_subcore {
    double free[PIPES];          // the pipe takes the next instruction
    double port;                 // of the memory pipe
    double back, far_back;       // of results that return from shared memory, and from farther away
    double bank[2];              // of the register file: read until then
    uint32_t written[2][AHEAD];  // by bank and cycle % AHEAD: the cycle in which a result from memory is written
    uint32_t cached[2][3];       // the reuse cache: by bank and operand, warp and register; 0: empty
    double operands;             // the last instruction has begun to read its own
    struct sm_queue queue;
    struct sm_warp *last;
};

struct sm_slot {  // where a block runs
    uint64_t number;
    unsigned warps, arrived, live;
    double opens;  // the barrier, as far as warps have come
    bool used;
};

struct sm {
    const struct sm_job *job;
    const struct sm_constants *k;
    struct sm_result *out;
    struct sm_warp warps[SM_WARPS];
    struct sm_subcore sub[SUBCORES];
    struct sm_slot slots[32];
    unsigned warps_of_block;
    uint64_t begun, ended, issued_before;  // issued_before: the slots' first block had ended
    double now, lsu, l2, dram, in_order, barrier_free;
    struct l1 *l1, *far;  // far: which sectors L2 has had from DRAM
    uint32_t random;
    struct walk_event event;
};

// The memory pipe takes the instruction of sm->event, issued now by w: releases its scoreboards in time.
void sm_access(struct sm *sm, struct sm_warp *w, struct sm_subcore *c);
// The queue of the sub-core has room for one more.
bool sm_has_room(struct sm *sm, struct sm_subcore *c);

static inline void sm_release(struct sm_warp *w, unsigned scoreboard, double at, unsigned kind)
{
    if (scoreboard < SCOREBOARDS && at > w->scoreboard[scoreboard]) {
        w->scoreboard[scoreboard] = at;
        w->kind[scoreboard] = (uint8_t)kind;
    }
}

#endif
