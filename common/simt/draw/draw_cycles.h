// A timeline in cycles, from the clock's own run of one SM: what each warp issues or waits for, and how busy the pipes
// are. Nothing is computed, so the data of the launch do not matter.
#ifndef SIMT_DRAW_CYCLES_H
#define SIMT_DRAW_CYCLES_H

#include "cycles_window.h"

struct draw_cycles {
    const struct card *card;
    struct cycles_asked asked;
    bool large;       // for slides: one block, no pipes
    bool some_warps;  // only first_warp..last_warp of those of the SM; else all, or those of one block
    uint64_t first_warp, last_warp;
};

// The SVG's text, which the caller frees; NULL, with one line in error, if the launch cannot be predicted or the cycles
// or warps are not there.
char *draw_cycles(const struct clock_launch *l, const struct draw_cycles *what, char error[CLOCK_ERROR]);

#endif
