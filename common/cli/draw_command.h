// The options of `simt draw`.
#pragma once

#include "simt/simt.h"

struct draw_command {
    const char *out;
    bool views[SIMT_DRAW_BITS + 1];  // which were asked for
    bool large;
    struct simt_picture place;  // the view, and where
    struct simt_fragment fragment;
    bool in_cycles;  // the timeline is the clock's: --cycles, --trips, --outer or --warps was given
    struct simt_cycles cycles;
};

// --line, --block-index, --cycles and --warps: what they fill, and the value. False if it makes no sense.
bool draw_take_line(void *place, const char *value);
bool draw_take_block(void *block, const char *value);
bool draw_take_cycles(void *cycles, const char *value);
bool draw_take_warps(void *cycles, const char *value);
// Whether the options make sense together, and with the names given: sets what follows from them. error holds one line
// where they do not.
bool draw_ready(struct draw_command *d, const char *file, char error[DEV_ERROR_MAX]);
// Writes the SVG to where --out says; false, with one line in error, if that fails.
bool draw_write(const struct draw_command *d, const char *svg, char error[DEV_ERROR_MAX]);
