// The options of `simt draw`.
#ifndef SIMT_DRAW_COMMAND_H
#define SIMT_DRAW_COMMAND_H

#include "simt/simt.h"

struct draw_command {
    bool given;  // any of its options
    const char *out;
    int views;                  // how many were asked for
    struct simt_picture place;  // the view, and where
    struct simt_fragment fragment;
    bool in_cycles;  // the timeline is the clock's: --cycles, --trips, --outer or --warps was given
    struct simt_cycles cycles;
};

// Takes one option; the long name, and its value or NULL. False if the value makes no sense.
bool draw_option(struct draw_command *d, const char *name, const char *value);
// Whether the options make sense together, and with the names given; error holds one line where they do not.
bool draw_ready(const struct draw_command *d, const char *file, char error[DEV_ERROR_MAX]);
// Writes the SVG to where --out says; false, with one line in error, if that fails.
bool draw_write(const struct draw_command *d, const char *svg, char error[DEV_ERROR_MAX]);

#endif
