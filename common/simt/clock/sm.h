// One SM that runs a kernel's machine code, cycle by cycle: four schedulers that issue one warp instruction a cycle
// each, pipes that take an instruction every few cycles, a memory pipe that all four share, scoreboards, barriers,
// an L1 cache, and L2 and DRAM behind it by latency and by the SM's share of their bandwidth.
#pragma once

#include "walk.h"

// X(enumerator, Nsight Compute's name, what a learner should read)
#define SM_STATES(X)                                                                                                   \
    X(SELECTED, "selected", "issued")                                                                                  \
    X(NOT_SELECTED, "not_selected", "another warp was chosen")                                                         \
    X(WAIT, "wait", "for the fixed latency of its last instruction")                                                   \
    X(LONG_SCOREBOARD, "long_scoreboard", "for global or local memory, or at an mbarrier")                             \
    X(SHORT_SCOREBOARD, "short_scoreboard", "for shared memory, a special register or a rare function")                \
    X(BARRIER, "barrier", "for other warps at a barrier, or for products of its warpgroup")                            \
    X(MATH, "math_pipe_throttle", "for a busy pipe of arithmetic")                                                     \
    X(MIO, "mio_throttle", "for room in the queue of the shared-memory pipe")                                          \
    X(LG, "lg_throttle", "for room in the queue of global and local accesses")                                         \
    X(DISPATCH, "dispatch_stall", "for the banks of the register file")                                                \
    X(BRANCH, "branch_resolving", "for a jump")                                                                        \
    X(NO_INSTRUCTION, "no_instruction", "for code that the instruction cache lacks")

enum sm_state {
#define X(id, name, text) STATE_##id,
    SM_STATES(X)
#undef X
        STATES
};

// What a warp waits for: Nsight Compute's name, and in words.
const char *sm_state_name(enum sm_state s);
const char *sm_state_text(enum sm_state s);

struct sm_constants {
    double fma_interval, fp64_interval, mma_interval;  // from the table of cards: cycles of a sub-core,
    double dram_rate, ghz;                             // bytes a cycle and SM, GHz while tensor cores rest
#define CONSTANT(name, value, mark, unit, source) double name;
#include "constants.def"
#undef CONSTANT
};

enum sm_rule {
#define RULE(name, mark, basis, text) RULE_##name,
#include "rules.def"
#undef RULE
    RULES
};

struct sm_recorder;

#define SM_ATOMIC_GROUP 256  // bytes: one place in L2 carries out the operations on all of them

struct sm_load {  // what is known of a load or store: how many blocks that run at once touch the same bytes
    float sharers;
    float groups;  // of an atomic operation: over how many groups of SM_ATOMIC_GROUP bytes a warp's addresses spread
    bool seen;     // a load that was executed
};

#define SM_PICKED 128

struct sm_job {
    const struct walk_launch *launch;
    struct sm_constants constants;
    unsigned resident;           // blocks at a time
    uint64_t blocks;             // to run, one after the other
    unsigned stride, first;      // block i of this SM is number first + i * stride of the grid
    uint64_t picked[SM_PICKED];  // or number picked[i] where n_picked is not 0: see pick.c
    unsigned n_picked;
    bool spread;  // or one of as many parts of the grid as blocks are run
    uint64_t l1_bytes;
    uint64_t l2_bytes;             // of L2, as much as this SM's blocks may count on
    uint64_t l2_share;             // of all its bytes, an SM's part
    const struct sm_load *loads;   // by instruction
    uint64_t without;              // see clock_launch
    struct sm_recorder *recorder;  // see sm_record.h; NULL: none
};

enum sm_count { COUNT_FMA, COUNT_ALU, COUNT_TENSOR, COUNT_FP64, COUNT_XU, COUNT_WAVES, COUNT_L2, COUNT_DRAM, COUNTS };

struct sm_result {
    double cycles;              // until the last block ended
    double full_from, full_to;  // of them, a stretch in which all slots had a block to run,
    uint64_t full_issued;       // and what was issued in it
    uint64_t blocks;            // that ran
    uint64_t issued;
    uint64_t thread_instructions;
    uint64_t products;      // of warpgroups
    double busy[COUNTS];    // cycles of the pipes (of all four sub-cores), wavefronts, bytes
    double state[STATES];   // warp cycles
    double *line_state;     // [instruction][STATES]
    uint64_t *line_issued;  // [instruction]
    uint64_t unknown_branches, unknown_addresses;
    bool failed;  // out of memory, or the code could not be followed
};

static inline bool sm_follows(const struct sm_job *job, enum sm_rule r)
{
    return !(job->without >> r & 1);
}

// Runs the job. False, with out->failed, if memory runs out or the code cannot be followed. sm_free in any case.
bool sm_run(const struct sm_job *job, struct sm_result *out);
void sm_free(struct sm_result *r);

// l1.c: a cache of sectors with the least recently used line of a set thrown out.
#define L1_WAYS 16
struct l1;
struct l1 *l1_new(uint64_t bytes, unsigned ways);  // lines a set; NULL when memory runs out
void l1_free(struct l1 *c);
bool l1_has(struct l1 *c, uint64_t address, bool keep);  // keep: from now on it is there
