// The tester that every step shares: fill, launch, check, time, report.
//
// A step is data (step.h); the main() of its driver is driver.c. The ladder, the tests and the exercises use the same
// pieces through tester_run().
#ifndef COMMON_TESTER_H
#define COMMON_TESTER_H

#include <stdbool.h>
#include <stdint.h>

#include "step.h"

enum tester_verdict { TESTER_WRONG, TESTER_RIGHT, TESTER_UNCHECKED };

enum { TESTER_WHAT = 1024 };

struct tester_result {
    enum tester_verdict verdict;
    char what[TESTER_WHAT];  // one line: the first wrong element, its owner and the likely cause, or how it was checked
    char source[1024];       // of a wrong kernel whose cause is known: its file, and
    unsigned look[TESTER_LOOK];  // lines of it to look at, the likeliest first; 0: no more
    double ms, ms_min, ms_max;   // median, fastest and slowest of the timed runs
    double gflops;               // 2 * m * n * k over the median; 0 on the simulated GPU, whose time means nothing
    double baseline_ms;          // median of cuBLAS on the same data, in turn with the step; 0 if there is none
    char baseline_error[DEV_ERROR_MAX];  // why there is none, if it failed
    double worst;                        // largest error as a fraction of its bound; above 1 is wrong
};

// The options with the device's defaults in place of 0 and -1. On the simulated GPU, which is slow, iterations stays 0
// unless it was given: the launch that is checked is the one that is timed. On a GPU: 2 runs to warm up, 15 timed.
struct tester_options tester_settle(const struct tester_options *options, const struct dev_about *about);

// Runs the step once for its check and then timed, as options say, in turn with the baseline where there is one (one
// that fails counts as none). Returns false, with one line in error, if the step could not be run at all; a wrong
// result is a verdict, not an error.
bool tester_run(struct dev *d, const struct step *step, const struct tester_options *options,
                struct tester_result *result, char error[DEV_ERROR_MAX]);

// Whether the matrices fit the host and the device, before anything is allocated; false with one line in error.
bool tester_fits(const struct dev *d, enum dev_type type, const struct tester_options *settled,
                 char error[DEV_ERROR_MAX]);

// The same in pieces: A, B and C0 for one element type, on the host and on the device, for many steps.
struct tester;
struct tester *tester_open(struct dev *d, enum dev_type type, const struct tester_options *options,
                           char error[DEV_ERROR_MAX]);
void tester_close(struct tester *t);  // before dev_close; NULL is allowed
// Leaves the step's module loaded until the next step or tester_close, so that dev_profile can be read.
bool tester_step(struct tester *t, const struct step *step, struct tester_result *result, char error[DEV_ERROR_MAX]);

// The driver of the step given: parses the command line, runs, reports on stdout. Returns the process's exit status:
// 0 right, 1 wrong or with findings, 2 could not run.
int tester_main(const struct step *given, int argc, char **argv);

#endif
