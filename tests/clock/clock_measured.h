// What was measured on the H200, beside what the clock predicts: for clock_errors.c, clock_stalls.c and test_clock.c.
#pragma once

#include "tools/tables.h"
#include "simt/clock/clock.h"

// The time of the step at size x size x size, in milliseconds; 0: it is not in the table.
double measured_ms(const struct result *all, size_t n, const char *step, int size);
// A counter of the step; -1: it is not in the table.
double measured_counter(const struct counter *all, size_t n, const char *step, const char *name);
// Cycles of a warp in that state for each instruction that it issues.
double measured_state(const struct counter *all, size_t n, const char *step, enum sm_state state);

// Shares of pipes, and of cycles in which a scheduler issues, in percent.
#define MEASURED_SHARES 4
struct measured_share {
    const char *name;
    double predicted, measured;
};
void measured_shares(const struct counter *all, size_t n, const char *step, const struct simt_prediction *p,
                     struct measured_share out[MEASURED_SHARES]);
// What warps wait for most, predicted and measured.
void measured_largest(const struct counter *all, size_t n, const char *step, const struct simt_prediction *p,
                      enum sm_state *predicted, enum sm_state *measured);
