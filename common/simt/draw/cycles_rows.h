// The rows of a timeline in cycles: a warp each. A column of a row stands for some cycles, and the height of a colour
// in it is the share of them that the warp spends that way.
#pragma once

#include "simt/clock/clock.h"
#include "simt/clock/sm_record.h"
#include "base/svg.h"

#define CYCLES_LEFT 216  // where the axis begins
#define CYCLES_COLUMN 5  // pixels

struct cycles_axis {
    struct svg *svg;
    const struct cubin *cubin;
    const struct sm_recorder *record;  // of from..to
    uint64_t from, to;                 // cycles
    unsigned columns;
};

struct cycles_row {
    unsigned warp;         // of the SM
    double all[SM_KINDS];  // cycles
    double *column;        // [columns][SM_KINDS]
    bool *asks;            // [columns]: it asks for global memory there
};

// Where a cycle is, and which cycle a column begins with.
double cycles_place(const struct cycles_axis *a, uint64_t cycle);
uint64_t cycles_of_column(const struct cycles_axis *a, unsigned column);

// Adds the record up for one warp of the SM. False when memory runs out. cycles_row_free in any case.
bool cycles_row_fill(const struct cycles_axis *a, unsigned warp, struct cycles_row *row);
void cycles_row_free(struct cycles_row *row);
// The cycles in which the warp runs.
double cycles_row_runs(const struct cycles_row *row);
// Paints the row at y, and returns the y of the next one.
double cycles_row_paint(const struct cycles_axis *a, const struct cycles_row *row, const char *name, double y);

// Says below y what the colours of these rows mean, and their shares of all cycles, of those that have `seen` or more;
// returns the y behind that.
double cycles_legend(const struct cycles_axis *a, const struct cycles_row *rows, unsigned n, double seen, double y);

// The style of what only these pictures have.
void cycles_style(struct svg *s);
