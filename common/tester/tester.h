// The tester that every step shares: fill, launch, check, time, report.
//
// A step is data (step.h); the main() of its driver is driver.c. The ladder, the tests and the exercises use the same
// pieces through tester_run().
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "gemm.h"
#include "result.h"
#include "tester_explain.h"

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

// The matrices as the last step left them, until the next one or tester_close.
struct tester_product tester_product(const struct tester *t);
// The call of the step that tester_step has just run, to be looked at once more; gemm_close in any case.
bool tester_open_call(struct tester *t, const struct step *step, struct gemm *call, char error[DEV_ERROR_MAX]);

// Watches the step's launch in the terminal (watch/terminal.h), in place of a run: at finding number `finding`, from 1
// on; 0: at the first. The device has to be a simulated GPU.
bool tester_watch(struct tester *t, const struct step *step, int finding, char error[DEV_ERROR_MAX]);

// Runs a step that tester_step has found right once more, at shapes that show what one does not (again.h), on the
// simulated GPU in any case: *on, which is t's own device or one that the caller closes. As again_run.
bool tester_again(struct tester *t, const struct step *step, struct tester_result *result, struct dev **on,
                  char error[DEV_ERROR_MAX]);

// The driver of the step given: parses the command line, runs, reports on stdout. Returns the process's exit status:
// 0 right, 1 wrong or with findings, 2 could not run.
int tester_main(const struct step *given, int argc, char **argv);
