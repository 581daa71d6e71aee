// A debugger of one block of a launch: forwards, backwards, and to where a value comes from.
//
// Interface:
//   watch_open .. watch_close      runs the launch once, and records which warp executed what
//   watch_step, watch_next         the record: a list of steps, and searches in it
//   watch_run                      goes there: the launch runs again, and one looks at it with the functions of simt.h
//   watch_made, watch_wrote        to the step that made a register's value, or wrote a byte of shared memory
//   watch_mbarrier, watch_arrival  the mbarriers of the block, and who has come to them
//   watch_json                     what there is to see at a moment, for programs
//
// It stands on simt/simt.h alone. A launch is deterministic: a moment is the number of a step, counted over all warps
// of the block from 0 on, and what is to be seen there is what the step left. To go back is to run the launch again, up
// to there, from device memory as watch_open found it. So between watch_open and watch_close device memory belongs to
// the watch; watch_close leaves it as watch_open found it.
//
// What can fail returns false, NULL or WATCH_NONE and writes one line to error.
#pragma once

#include "simt/simt.h"

struct watch;

#define WATCH_NONE UINT64_MAX  // no such moment
#define WATCH_MOST (1u << 24)  // steps that are recorded; a block that takes more cannot be watched
enum { WATCH_TEXT = 1024 };    // bytes that are always enough for what the ..._text functions write

// --- the record ---

// Runs the launch and records the steps of a block (linear index), with the checks that s has. Its arguments are
// copied.
struct watch *watch_open(struct simt *s, struct simt_kernel *k, const struct dev_launch *launch, uint64_t block,
                         char error[DEV_ERROR_MAX]);
void watch_close(struct watch *w);  // NULL is allowed

const struct simt_kernel *watch_kernel(const struct watch *w);
uint64_t watch_block(const struct watch *w);
uint32_t watch_warps(const struct watch *w);  // of the block that took a step

struct watch_step {
    uint32_t warp, instruction, lanes;  // lanes: a bit for each that executed it
    unsigned line;  // of the kernel's own file, where it or the call that it comes from stands; 0: none
};
uint64_t watch_steps(const struct watch *w);
struct watch_step watch_step(const struct watch *w, uint64_t moment);
// How many steps the warp took before this moment.
uint64_t watch_step_of_warp(const struct watch *w, uint64_t moment, uint32_t warp);
// The kernel's own file, and the line there of an instruction, as in watch_step.
const char *watch_file(const struct watch *w);
unsigned watch_line(const struct watch *w, uint32_t instruction);

// What a register (simt_register) holds: the type that the instructions of the block take it for, f16x2 and bf16x2 for
// two numbers, if it is declared as bits and they agree on a floating-point type; else as it is declared. Of no
// register: u64.
struct simt_type watch_type(const struct watch *w, uint32_t number);

enum watch_stop {
    WATCH_STEP,     // any step
    WATCH_LINE,     // one of another line than the moment's
    WATCH_AT_LINE,  // one of line number `number`
    WATCH_AT,       // one of instruction number `number`
    WATCH_BARRIER   // one at a barrier, an mbarrier, or a wait for copies or products
};
struct watch_search {
    enum watch_stop stop;
    bool back;
    uint32_t warp;    // its steps, or SIMT_ALL_WARPS
    uint32_t number;  // see watch_stop
};
// The nearest moment after (before) this one that fits; from WATCH_NONE on: after the beginning, or before the end.
// WATCH_NONE: there is none.
uint64_t watch_next(const struct watch *w, uint64_t from, const struct watch_search *search);

// What the launch was found to do wrong, in the order of findings; with checks off the error that ended it.
struct watch_finding {
    uint64_t moment;  // when it was found, if this block did it; else WATCH_NONE
    uint64_t block;   // linear
    uint32_t warp, lane, instruction;
    const char *text;   // as simt_finding_text has it
    bool advice, ends;  // ends: the block ends with it
    bool meets;         // two accesses have a part in it: sides[0], and the other
    struct watch_side {
        uint32_t warp, lane, instruction;
        uint64_t moment;  // its last step up to `moment`; WATCH_NONE: another block's, or none
    } sides[2];
};
bool watch_finding(const struct watch *w, uint32_t i, struct watch_finding *out);  // false after the last
// The number of the one to begin with: what ended the block, else the first that this block made. False: it made none.
bool watch_first_finding(const struct watch *w, uint32_t *i);

// --- at a moment ---

// Runs the launch up to moment `to`, and calls see after each step from `from` to `to`, where it may look at
// everything that simt_look_... offers. False: enough.
typedef bool watch_see(void *context, uint64_t moment, const struct simt_look *look);
bool watch_run(struct watch *w, uint64_t from, uint64_t to, watch_see *see, void *context, char error[DEV_ERROR_MAX]);

// The step that gave a lane's register (simt_register) the value that it has at that moment: of wgmma, the wait that
// its products came with. WATCH_NONE, with a line in error: nothing did, or there is no such register.
uint64_t watch_made(struct watch *w, uint64_t moment, uint32_t warp, uint32_t lane, uint32_t number,
                    char error[DEV_ERROR_MAX]);

struct watch_writer {
    uint64_t asked;                // the step of the instruction that wrote the byte
    uint64_t came;                 // the step after which the value was there: later, if a copy brought it
    uint32_t thread, instruction;  // of that instruction
};
// The last write to this byte of shared memory up to that moment. False: nothing has written it.
bool watch_wrote(struct watch *w, uint64_t moment, uint32_t at, struct watch_writer *out, char error[DEV_ERROR_MAX]);

// The byte of shared memory that text means: "4100", "As+48", "As[12]" or "full[2]" of an array whose elements have
// `bytes` bytes.
bool watch_shared_named(struct watch *w, const char *text, uint32_t bytes, uint32_t *at, char error[DEV_ERROR_MAX]);
// What stands there, as findings say it: "byte 48 of As"; "full[2]" of an array of mbarriers.
void watch_shared_text(const struct watch *w, uint32_t at, char text[WATCH_TEXT]);

// --- mbarriers ---

struct watch_mbarrier {  // in the order in which they were initialised
    uint32_t at;         // its byte of shared memory
    uint64_t init;       // the step that initialised it last, up to the moment
    uint32_t expected;   // arrivals of a phase
    uint32_t pending;    // that the phase in hand still lacks
    int64_t bytes;       // the same of bytes; negative: more have come than were expected
    uint64_t phase;      // how many phases have ended: the one in hand has parity phase % 2
};
// Mbarrier i at a moment, at which one looks (watch_run). False after the last.
bool watch_mbarrier(const struct watch *w, uint64_t moment, const struct simt_look *look, uint32_t i,
                    struct watch_mbarrier *out);

enum watch_arrives { WATCH_ARRIVES, WATCH_EXPECTS, WATCH_COPIES };  // expects: bytes; copies: has a copy report to it
struct watch_arrival {                                              // at an mbarrier, in the order of time
    uint64_t moment;
    enum watch_arrives
        what;      // an arrival with bytes (arrive.expect_tx) is both of the first: it comes as WATCH_EXPECTS
    bool arrives;  // it counts as an arrival of each of its lanes
    uint32_t warp, lanes, instruction;
    uint64_t phase;  // how many phases had ended before
};
// Arrival i at the mbarrier at this byte, up to a moment. False after the last.
bool watch_arrival(const struct watch *w, uint64_t moment, uint32_t at, uint32_t i, struct watch_arrival *out);

// --- for programs ---

// Appends to the open JSON object j what is to be seen of a warp at a moment: "moment", "step" (warp, instruction,
// text, line, lanes), "operands", "warps" (where their lanes stand), "barriers", "mbarriers", "copies", "variables"
// (of shared memory), "matrices" (matrix.h).
bool watch_json(struct watch *w, uint64_t moment, struct json *j, char error[DEV_ERROR_MAX]);
