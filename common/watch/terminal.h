// The watch in a terminal: a line mode, for scripts as well, and a view of the whole screen where ncurses is there.
#pragma once

#include <stdio.h>

#include "watch.h"

struct watch_begin {  // where it opens
    uint64_t block;   // linear
    uint32_t
        finding;    // the number of a finding, from 1 on, which has a block of its own; 0: the first, if there is one
    bool place;     // not at a finding, but at
    uint32_t warp;  // the first step of this warp, or SIMT_ALL_WARPS
    unsigned line;  // at this line; 0: at any
};

// Watches the launch, with commands from `in`: "help" lists them. Device memory is in the end as it was before. False,
// with one line in error, if it cannot be watched.
bool watch_lines(struct simt *s, struct simt_kernel *k, const struct dev_launch *launch,
                 const struct watch_begin *begin, FILE *in, FILE *out, char error[DEV_ERROR_MAX]);
// The same for whoever sits there: on the whole screen where input and output are a terminal that can show it
// (TERM=dumb cannot), else by lines.
bool watch_terminal(struct simt *s, struct simt_kernel *k, const struct dev_launch *launch,
                    const struct watch_begin *begin, char error[DEV_ERROR_MAX]);
