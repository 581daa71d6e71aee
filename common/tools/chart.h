// The ladder's results as a picture: bars against cuBLAS and the ceilings, and a roofline.
#pragma once

#include "base/occupancy.h"
#include "base/svg.h"
#include "tables.h"

struct chart {
    const struct result *row[64];  // of one size and one device, in the ladder's order
    size_t rows;
    int size;                 // M = N = K
    const struct card *card;  // NULL: not one of the table in occupancy.c
    const struct counter *counters;
    size_t n_counters;  // 0: none, and no roofline
    const struct trial *trials;
    size_t n_trials;
};

enum { CHART_WIDTH = 960, CHART_MARGIN = 24, CHART_SLIDE = 740 };  // SLIDE: the width of a large one

// The ceilings of a type, in TFLOP/s: what the units for it can do at the highest clock (0: not known), and the fastest
// trial of nothing but the instruction (NULL: none).
double chart_peak(const struct chart *c, const char *type, char what[96]);
const struct trial *chart_alone(const struct chart *c, const char *type);

const char *chart_rate(double tflops, char text[32]);  // three digits or so: "6.49", "49.8", "405.2", "1,071"

// Draw from y down, and return the y below.
double chart_bars(struct svg *s, const struct chart *c, double y, bool large);
double chart_roofline(struct svg *s, const struct chart *c, double y);
// What a step bought: its figures below those of the step before (NULL: none), and an arrow on a small roofline.
double chart_strip(struct svg *s, const struct chart *c, const struct result *before, const struct result *step);
