// Notes of what an SM does, cycle by cycle, for pictures: what each warp issues or waits for, how busy each pipe is,
// and when loops turn. sm_job and clock_launch have a place for a recorder; without one nothing is noted.
#pragma once

#include "sm.h"

// What a warp does: the states of sm.h, of which two are told apart further.
enum sm_kind { KIND_MBARRIER_WAIT = STATES, KIND_PRODUCT_WAIT, SM_KINDS };

struct sm_span {        // a warp does one thing
    uint64_t from, to;  // cycles
    uint32_t pc;        // the instruction that it issues, or waits to issue
    uint8_t warp;       // of the SM: those of the first slot's block come first
    uint8_t kind;       // enum sm_state or enum sm_kind
};

#define SM_BLOCK_BEGINS UINT32_MAX

struct sm_turn {            // a jump back; or, to SM_BLOCK_BEGINS, the begin of a block, of its first warp
    uint64_t cycle, block;  // of the SM's blocks, from 0
    uint32_t from, to;      // instructions
    uint8_t warp;
};

struct sm_recorder {
    uint64_t from, to;  // cycles of which spans and busy are kept; from == to: none
    struct sm_span *spans;
    struct sm_turn *turns;
    size_t n_spans, spans_room, n_turns, turns_room;
    double *busy;  // [cycle - from][COUNTS], in the units of sm_result
    bool failed;   // out of memory
};

// Begins to record the cycles from..to; from == to: only turns. False when memory runs out. sm_record_free in any case.
bool sm_record_begin(struct sm_recorder *r, uint64_t from, uint64_t to);
void sm_record_free(struct sm_recorder *r);

// For the files of the SM.
void sm_record_span(struct sm_recorder *r, const struct sm_span *s);
void sm_record_turn(struct sm_recorder *r, const struct sm_turn *t);
// `amount` of a count, spread over `cycles` from `begin` on.
void sm_record_busy(struct sm_recorder *r, enum sm_count which, double amount, double begin, double cycles);
