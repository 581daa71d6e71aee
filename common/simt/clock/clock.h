// Predicts how long a launch takes on a card: one SM runs its share of the blocks (sm.h), or the first waves of them,
// and the rest follows by counting.
#pragma once

#include "base/occupancy.h"
#include "simt/simt.h"
#include "sm.h"

#define CLOCK_ERROR 300

struct clock_launch {
    const char *ptx;     // the file
    const char *kernel;  // its name in the PTX
    unsigned grid[3], block[3];
    unsigned shared;             // bytes of dynamic shared memory of a block
    const struct dev_arg *args;  // by parameter
    size_t n_args;
    const struct simt_array *arrays;
    size_t n_arrays;
    uint64_t budget;               // warp instructions of an SM to run; 0: as many as predict well
    struct sm_recorder *recorder;  // see sm_record.h; NULL: none
    // For the report of tests/clock/clock_rules.c alone:
    uint64_t without;                      // rules to leave out, a bit each (enum sm_rule)
    const struct sm_constants *constants;  // in place of the card's; NULL: the card's
};

struct simt_prediction {
    const struct card *card;
    double cycles;     // of an SM's clock, from the start of the first block to the end of the last
    double ghz, ms;    // at that clock, a launch's own time included
    double before_ms;  // of them, for launches that run before it; see clock_put_before
    struct occupancy occupancy;
    uint64_t blocks_of_sm;  // of the busiest SM
    struct sm_result sm;    // what was run for it
    double scale;           // cycles over those that were run
    double share[COUNTS];   // of its peak: each pipe, wavefronts, L2, DRAM; 0 to 1
    double peak[COUNTS];    // in a cycle, in the units of sm_result's busy
    double issue;           // instructions a cycle and scheduler
    double l2_gb_s, dram_gb_s;
    struct cubin *cubin;
    char bound[200];  // one sentence
};

// What the clock knows of the card: its row in the table of cards, and constants.def.
struct sm_constants clock_constants(const struct card *card);

// Compiles the kernel for the card with ptxas and predicts. False, with one line in error, if there is no ptxas, it
// refuses the file, no block fits, or the code cannot be followed.
bool clock_predict(const struct clock_launch *l, const struct card *card, struct simt_prediction *out,
                   char error[CLOCK_ERROR]);
void clock_free(struct simt_prediction *p);
struct clock_launch clock_launch_of(const struct simt_timing *t);  // predict.c

// count.c: see simt_count.
bool clock_count(const struct clock_launch *l, const struct card *card, struct simt_counts *out,
                 char error[CLOCK_ERROR]);

// share.c: for each instruction, how many of the blocks that run at once share what it loads; the caller frees it. NULL
// when memory runs out or the code cannot be followed. *executed: instructions of the first warp.
struct sm_load *share_loads(const struct walk_launch *l, uint64_t at_once, uint64_t *executed);

// pick.c: where blocks differ in what they have to do, makes job run the longest one, if each SM has one block, or else
// blocks from everywhere in the grid, at irregular distances: every SM has its part of the long ones. Looks at the
// first warps of some blocks.
void pick_blocks(const struct walk_launch *l, uint64_t blocks_of_sm, struct sm_job *job);

// params.c: the launch's arguments, where the machine code expects them; the caller frees them. NULL, with one line in
// error, where they are not the kernel's or memory runs out.
unsigned char *clock_place_params(const struct clock_launch *l, const struct cubin *c, char error[CLOCK_ERROR]);

// assemble.c: false, with one line in error, if ptxas cannot be run.
bool clock_available(char error[CLOCK_ERROR]);
// The kernel as ptxas compiles it for the card; NULL, with one line in error, if it does not.
struct cubin *clock_assemble(const char *ptx, const char *kernel, const struct card *card, char error[CLOCK_ERROR]);
