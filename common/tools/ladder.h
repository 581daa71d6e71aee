// What the files of the ladder share: ladder.c climbs, ladder_predict.c predicts, ladder_print.c prints the table,
// ladder_next.c says what is not in it and what comes next, ladder_write.c writes JSON and CSV.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/profile.h"
#include "tester/tester.h"
#include "tester/tester_options.h"

enum { TYPES = DEV_F16 + 1, LADDER_PATH = 4096 };

struct row {
    const struct step *step;
    bool ran, counted;
    unsigned needs;  // the GPU that it needs and this one is not: 80 for sm_80; it is not run
    struct tester_result result;
    char error[DEV_ERROR_MAX];              // where it did not run
    uint64_t metrics[METRIC_COUNT];         // where counted
    double before_ms;                       // of the step of the same type before it; 0 if none
    double predicted_ms, predicted_cycles;  // by the clock; 0: none
    double predicted_before;                // milliseconds of the step before
    char predict_error[DEV_ERROR_MAX];
};

struct ladder {
    struct tester_options o;
    struct tester_options predicted;  // the sizes that are predicted: 4096 where none was given
    struct dev *dev;
    FILE *out;
    bool terminal;               // out is one: show progress
    bool timed;                  // the times are a GPU's, or the simulation's own were asked for
    struct tester *data[TYPES];  // opened when the first step of the type comes
    double baseline_ms[TYPES];   // in turn with the first step of the type; 0: none, or not measured yet
    double after_ms[TYPES];      // in turn with the last one
    char baseline_error[TYPES][DEV_ERROR_MAX];
    char no_prediction[DEV_ERROR_MAX];  // why there is none, where there should be; else empty
    struct row *rows;                   // n_steps
    struct step *steps;                 // n_steps, with the paths of their kernels
};

// TFLOP/s of the prediction; 0: there is none.
double ladder_predicted(const struct ladder *l, const struct row *row);

// On a terminal: which step runs, in place of the line before; nothing where i is n_steps.
void ladder_progress(const struct ladder *l, size_t i);
// The lines before the table, and its heading.
void ladder_print_head(const struct ladder *l);
// A line before row i if a part of the course begins there, or ends: a step of one's own may come behind the last.
void ladder_print_part(const struct ladder *l, size_t i);
void ladder_print_row(const struct ladder *l, const struct row *row);
// The vendor's products, what the columns mean, and what did not run.
void ladder_print_foot(const struct ladder *l);
// Which steps the build left out, and why; nothing if it has all.
void ladder_print_left_out(const struct ladder *l);
// How `course`, beside this program, is called from the folder where one is. NULL if it is not there, as where the
// ladder is installed.
const char *ladder_course(char path[LADDER_PATH]);
// Commands of it that go on from here; course NULL: none.
void ladder_print_next(const struct ladder *l, const char *course);

// ladder_predict.c: begins to predict all rows, whose steps are set, on this number of threads (0: as they are waited
// for). NULL when memory runs out.
struct ladder_predictions;
struct ladder_predictions *ladder_predict_begin(struct ladder *l, size_t threads);
// Until row i has its prediction, or its predict_error.
void ladder_predict_wait(struct ladder_predictions *all, size_t i);
// Gives up what has not begun. NULL is allowed.
void ladder_predict_end(struct ladder_predictions *all);

// False if not all could be written. The CSV file is the one of the options; rows are appended.
bool ladder_write_json(const struct ladder *l, FILE *out);
bool ladder_write_csv(const struct ladder *l);
