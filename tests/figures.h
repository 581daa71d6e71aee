// Figures of speed in a text, held against the tables of steps/results.
//
// What counts as a figure, in prose (not in a block of code, nor between backquotes):
//   - a number before TFLOP/s, and the numbers of its list: "28, 30 and 44 TFLOP/s", "376 to 381 TFLOP/s";
//   - where a paragraph says TFLOP/s, every number with a decimal point that no other unit follows, and every time (ms,
//     us);
//   - a share, "0.97 of cuBLAS" or "17 % of cuBLAS", and a ratio, "2.1 times 08 at 4096";
//   - where a paragraph says how "busy" "Nsight Compute" found a pipe, and no TFLOP/s: every share, and every number with
//     a decimal point (clocks of a warp's wait, or all of them together), if there are such counters of the step;
//   - a clock, "1.75 GHz": that at which a step ran, or the highest of the card;
//   - in a table, the numbers of a column whose head says TFLOP/s, or of all columns where the first head does.
// Such a number stands in a table when a value of it, rounded to as many decimals, reads the same. The rows that may be
// quoted are the chapter's own step's, those of a step that the same paragraph or table names ("07"), and those of no
// step (an instruction alone, cuBLAS). "at 4096" behind a figure picks the size.
#ifndef TESTS_FIGURES_H
#define TESTS_FIGURES_H

#include "tables.h"

struct figures {
    struct result *results;
    struct trial *trials;
    struct bound *bounds;
    struct counter *stalls;
    size_t n_results, n_trials, n_bounds, n_stalls;
    bool *trial_quoted, *bound_quoted;  // by a text that was checked
};

void figures_open(struct figures *f, const char *folder);  // steps/results; fails the test where a table is bad
void figures_close(struct figures *f);

// Checks a text whose own step's name begins with own ("07"; "" where every step is its own). Returns how many figures
// it has, and calls complain for each that stands in no table.
size_t figures_check(struct figures *f, const char *text, const char *own,
                     void (*complain)(const char *figure, const char *where));

// The value of "sms * 2 / (1 + 2)", with + - * / and parentheses, and the names sms and ghz. NAN where it is none.
double figures_formula(const char *formula, double sms, double ghz);

#endif
