// The main job: climbs every step on the device at hand and prints one table.
//
// On a GPU a row tells the time, the rate, and how it compares with the step before and with the vendor's product; on
// the simulated GPU, whose own time means nothing and is printed only if it is asked for, what the clock predicts for a
// card, and what the kernel asks of the machine for 1,000 multiply-adds. Rows appear as they are done. A step that is
// wrong or cannot be run gets its row and a line below the table; the climb goes on.
#include "ladder.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/host.h"
#include "base/progress.h"
#include "base/ptx_file.h"
#include "installed.h"
#include "steps.h"
#include "device/open.h"
#include "simt/simt.h"
#include "tester/tester_report.h"

enum { PREDICTED_SIZE = 4096 };

// --- The climb ---

static void forget_data(struct ladder *l)
{
    for (int i = 0; i < TYPES; i++) {
        tester_close(l->data[i]);
        l->data[i] = NULL;
    }
}

// A failed launch can leave a GPU unusable for this process until it is opened again. Not by "auto", which might answer
// with the simulated one in the middle of the table.
static bool open_again(struct ladder *l, char error[DEV_ERROR_MAX])
{
    forget_data(l);
    dev_close(l->dev);
    l->dev = dev_open(DEV_GPU, error);
    return l->dev != NULL;
}

static bool run_step(struct ladder *l, struct row *row)
{
    enum dev_type type = row->step->type;
    row->needs = dev_needs(l->dev, row->step->ptx);
    if (row->needs) {
        snprintf(row->error, sizeof row->error, "not run: it needs an sm_%u", row->needs);
        return false;
    }
    if (!l->data[type]) {
        l->data[type] = tester_open(l->dev, type, &l->o, row->error);
        if (!l->data[type])
            return false;
    }
    if (!tester_step(l->data[type], row->step, &row->result, row->error))
        return false;
    l->after_ms[type] = row->result.baseline_ms;
    if (l->baseline_ms[type] == 0)
        l->baseline_ms[type] = row->result.baseline_ms;
    memcpy(l->baseline_error[type], row->result.baseline_error, sizeof row->result.baseline_error);
    const struct profile *p = dev_profile(l->dev);
    row->counted = p != NULL;
    if (p)
        memcpy(row->metrics, p->total, sizeof row->metrics);
    return true;
}

// --- The program ---

// What a row adds to the exit status: 1 for a wrong result, 2 for a step that could not run. A step that needs another
// card is neither.
static int status_of(const struct row *row)
{
    if (row->needs)
        return 0;
    if (!row->ran)
        return 2;
    return row->result.verdict == TESTER_WRONG ? 1 : 0;
}

// Runs and prints everything. Returns the exit status; 2 with an error where the climb itself had to end.
static int climb(struct ladder *l, struct ladder_predictions *predictions, FILE *json, char error[DEV_ERROR_MAX])
{
    double last_ms[TYPES] = { 0 }, last_predicted[TYPES] = { 0 };
    char path[LADDER_PATH];
    int status = 0;
    bool ran = false;
    ladder_print_head(l);
    for (size_t i = 0; i < n_steps; i++) {
        struct row *row = &l->rows[i];
        ladder_print_part(l, i);
        ladder_progress(l, i);
        row->ran = run_step(l, row);
        if (predictions)
            ladder_predict_wait(predictions, i);
        ladder_progress(l, n_steps);
        row->predicted_before = last_predicted[row->step->type];
        last_predicted[row->step->type] = row->predicted_ms;
        if (row->ran) {
            row->before_ms = last_ms[row->step->type];
            last_ms[row->step->type] = row->result.ms;
        }
        ladder_print_row(l, row);
        fflush(l->out);
        ran |= row->ran;
        const int this = status_of(row);
        status = this > status ? this : status;
        if (!row->ran && !row->needs && !dev_about(l->dev)->simulated && !open_again(l, error))
            return 2;
    }
    ladder_print_foot(l);
    ladder_print_left_out(l);
    ladder_print_next(l, ladder_course(path));
    if (l->o.csv && !ladder_write_csv(l)) {
        report_write_error("--csv", l->o.csv, error);
        return 2;
    }
    if (json && !ladder_write_json(l, json)) {
        report_write_error("--json", l->o.json, error);
        return 2;
    }
    if (fflush(l->out) != 0) {
        report_write_error("output", "stdout", error);
        return 2;
    }
    return ran ? status : 2;
}

// The steps with the paths that their kernels have here, which differ where the ladder is installed.
static bool find_kernels(struct ladder *l)
{
    char path[INSTALLED_PATH];
    l->steps = calloc(n_steps, sizeof *l->steps);
    for (size_t i = 0; i < n_steps && l->steps; i++) {
        l->steps[i] = *steps[i];
        l->steps[i].ptx = strdup(installed_file(steps[i]->ptx, path));
        l->rows[i].step = &l->steps[i];
        if (!l->steps[i].ptx)
            return false;
    }
    return l->steps != NULL;
}

static void forget_kernels(struct ladder *l)
{
    for (size_t i = 0; i < n_steps && l->steps; i++)
        free((char *)l->steps[i].ptx);
    free(l->steps);
}

// Whether the matrices of a step fit; if those of none do, the climb cannot begin.
static bool one_fits(const struct ladder *l, char error[DEV_ERROR_MAX])
{
    for (size_t i = 0; i < n_steps; i++)
        if (tester_fits(l->dev, steps[i]->type, &l->o, error))
            return true;
    return false;
}

// Without a GPU the times of a card are predicted, where ptxas is at hand: of the sizes that were given, if any.
static void choose_prediction(struct ladder *l)
{
    const bool sized = !l->o.predict_size && (l->predicted.m || l->predicted.n || l->predicted.k);
    const int size = l->o.predict_size ? l->o.predict_size : PREDICTED_SIZE;
    l->predicted.m = sized ? l->o.m : size;
    l->predicted.n = sized ? l->o.n : size;
    l->predicted.k = sized ? l->o.k : size;
    l->timed = !dev_about(l->dev)->simulated || l->o.predict < 0 || l->o.iterations > 0;
    const bool wanted =
        l->o.predict ? l->o.predict > 0 : l->o.predict_size || l->o.card || dev_about(l->dev)->simulated;
    l->o.predict = wanted && simt_can_predict(l->no_prediction);
}

// Beside the simulated GPU predictions have threads of their own; what a real one takes, they must not disturb.
static int climb_predicting(struct ladder *l, FILE *json, char error[DEV_ERROR_MAX])
{
    const size_t processors = l->o.jobs ? (size_t)l->o.jobs : host_processors();
    struct ladder_predictions *p = NULL;
    if (l->o.predict)
        p = ladder_predict_begin(l, dev_about(l->dev)->simulated ? processors : 0);
    if (l->o.predict && !p) {
        error_set(error, "out of memory");
        return 2;
    }
    const int status = climb(l, p, json, error);
    ladder_predict_end(p);
    return status;
}

static int start(struct ladder *l, char error[DEV_ERROR_MAX])
{
    FILE *json;
    l->dev = dev_open(l->o.device, error);
    if (!l->dev)
        return 2;
    l->rows = calloc(n_steps, sizeof *l->rows);
    if (!l->rows || !find_kernels(l)) {
        error_set(error, "out of memory");
        return 2;
    }
    if (l->o.csv && dev_about(l->dev)->simulated) {
        error_set(error, "--csv: the table is of times on a GPU, and this is the simulated one: try --json");
        return 2;
    }
    if (!options_may_write("--csv", l->o.csv, error) || !options_open_json(l->o.json, &json, error))
        return 2;
    dev_set_jobs(l->dev, (unsigned)l->o.jobs);
    dev_set_progress(l->dev, progress_shown());
    error[0] = '\0';  // "auto" may have left a word about the GPU that did not answer
    l->out = json == stdout ? stderr : stdout;
    l->terminal = isatty(fileno(l->out));
    l->predicted = l->o;
    l->o = tester_settle(&l->o, dev_about(l->dev));
    choose_prediction(l);
    int status = 2;
    if (one_fits(l, error)) {
        error[0] = '\0';
        report_long_run(stderr, "ladder", dev_about(l->dev), &l->o, n_steps);
        status = climb_predicting(l, json, error);
    }
    if (json && json != stdout)
        fclose(json);
    return status;
}

int main(int argc, char **argv)
{
    const struct options table = tester_options_for(OPTIONS_FOR_LADDER, "ladder");
    struct ladder l = { .o = tester_defaults };
    char error[DEV_ERROR_MAX] = "";
    int status;
    if (!options_begin(&table, &l.o, &argc, &argv, &status))
        return status;
    for (size_t i = 0; i < n_steps && l.o.list; i++)
        printf("%s %s\n", steps[i]->name, type_name(steps[i]->type));
    if (l.o.list)
        return fflush(stdout) == 0 ? 0 : 2;
    status = start(&l, error);
    if (error[0])
        fprintf(stderr, "ladder: %s\n", error);
    forget_data(&l);
    dev_close(l.dev);
    forget_kernels(&l);
    free(l.rows);
    return status;
}
