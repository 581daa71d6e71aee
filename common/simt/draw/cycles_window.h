// Which cycles of an SM a timeline shows: some trips of the kernel's loop, in the middle of a block's run.
#pragma once

#include "simt/clock/clock.h"
#include "simt/clock/sm_record.h"

struct cycles_loop {
    uint32_t first, last;  // instructions
    uint64_t issued;       // within it, by all warps
};

struct cycles_window {
    uint64_t from, to;        // cycles of the SM
    uint64_t trips;           // of the loop; 0: it shows no loop
    bool blocks;              // a trip is a block
    double middle;            // cycles of a trip, the middle one, by the pace of all blocks
    unsigned warp;            // whose trips they are
    struct cycles_loop loop;  // instructions
};

// Chooses the window. False, with one line in error, where what was asked for is not there.
bool cycles_choose(const struct sm_recorder *r, const struct sm_result *run, const struct simt_cycles *asked,
                   unsigned warps_of_block, struct cycles_window *out, char error[CLOCK_ERROR]);
