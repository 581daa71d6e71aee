// The main job: climbs every step on the device at hand and prints one table.
//
// On a GPU a row tells the time, the rate, and how it compares with the step before and with the vendor's product; on
// the simulated GPU, whose time means nothing, what the clock predicts for a card, and what the kernel asks of the
// machine for 1,000 multiply-adds. Rows appear as they are done. A step that is wrong or cannot be run gets its row and
// a line below the table; the climb goes on.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/json.h"
#include "base/options.h"
#include "tester/tester_options.h"
#include "base/profile.h"
#include "base/text.h"
#include "base/progress.h"
#include "base/ptx_file.h"
#include "installed.h"
#include "steps.h"
#include "tester/predict.h"
#include "tester/tester.h"
#include "tester/tester_report.h"

enum { TYPES = DEV_F16 + 1, PREDICTED_SIZE = 4096 };

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
    struct tester *data[TYPES];  // opened when the first step of the type comes
    double baseline_ms[TYPES];   // 0: none, or not measured yet
    double after_ms[TYPES];      // once more, at the end
    char baseline_error[TYPES][DEV_ERROR_MAX];
    char no_prediction[DEV_ERROR_MAX];  // why there is none, where there should be; else empty
    struct row *rows;                   // n_steps
    struct step *steps;                 // n_steps, with the paths of their kernels
};

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
        if (l->baseline_ms[type] == 0 && !l->baseline_error[type][0])
            tester_baseline(l->data[type], &l->baseline_ms[type], l->baseline_error[type]);
    }
    if (!tester_step(l->data[type], row->step, &row->result, row->error))
        return false;
    row->result.baseline_ms = l->baseline_ms[type];
    const struct profile *p = dev_profile(l->dev);
    row->counted = p != NULL;
    if (p)
        memcpy(row->metrics, p->total, sizeof row->metrics);
    return true;
}

// What the card would take. The simulated GPU need not have run as large a product.
static void predict(struct ladder *l, struct row *row)
{
    struct clock_prediction p;
    const struct card *card = l->o.card ? l->o.card : card_named("H200");
    if (!predict_step(row->step, &l->predicted, card, &p, row->predict_error))
        return;
    row->predicted_ms = p.ms;
    row->predicted_cycles = p.cycles;
    clock_free(&p);
}

static double predicted_tflops(const struct ladder *l, const struct row *row)
{
    const struct tester_options *o = &l->predicted;
    return row->predicted_ms > 0 ? 2e-9 * o->m * o->n * o->k / row->predicted_ms : 0;
}

// --- The table ---

static void progress(const struct ladder *l, size_t i)
{
    if (!l->terminal)
        return;
    char text[128] = "";
    if (i < n_steps)
        snprintf(text, sizeof text, "running %s (%zu of %zu) ...", steps[i]->name, i + 1, n_steps);
    fprintf(l->out, "\r%-79.79s\r%s", "", text);  // blanks over what stood there
    fflush(l->out);
}

static void print_head(const struct ladder *l)
{
    const struct dev_about *about = dev_about(l->dev);
    const char *baseline = dev_baseline_name(l->dev);
    fprintf(l->out, "Device: %s%s", about->name,
            about->simulated && !strstr(about->name, "simulated") ? ", simulated" : "");
    report_detail(l->out, about);
    char compiler[PTX_COMPILER];
    if (n_steps && *ptx_file_compiler(l->steps[0].ptx, compiler))
        fprintf(l->out, "Kernels: compiled by %s\n", compiler);
    fprintf(l->out, "C = %g * A * B + %g * C, M %d, N %d, K %d", l->o.alpha, l->o.beta, l->o.m, l->o.n, l->o.k);
    if (l->o.predict)
        fprintf(l->out, "\npredicted: TFLOP/s on the %s, M %d, N %d, K %d", l->o.card ? l->o.card->name : "H200",
                l->predicted.m, l->predicted.n, l->predicted.k);
    if (about->simulated && l->o.predict) {
        fprintf(l->out, "\n\n%-24s %-4s  %-9s  %9s  %11s   %s\n", "", "", "", "", "", "for 1,000 multiply-adds");
        fprintf(l->out, "%-24s %-4s  %-9s  %9s  %11s  %8s  %8s  %10s  %13s\n", "step", "type", "result", "predicted",
                "step before", "inst", "sectors", "wavefronts", "conflicts");
    } else if (about->simulated) {
        if (l->o.iterations)
            fprintf(l->out, "; time: median of %d runs", l->o.iterations);
        fprintf(l->out, "\n\n%-24s %-4s  %-9s  %9s   %s\n", "", "", "", "", "for 1,000 multiply-adds");
        fprintf(l->out, "%-24s %-4s  %-9s  %9s  %8s  %8s  %10s  %13s\n", "step", "type", "result", "time", "inst",
                "sectors", "wavefronts", "conflicts");
    } else {
        fprintf(l->out, "; median of %d runs, L2 cache %s\n\n", l->o.iterations,
                l->o.warm ? "as the run before left it" : "emptied before each");
        fprintf(l->out, "%-24s %-4s  %-9s  %9s  %9s  %11s  %9s%s\n", "step", "type", "result", "time", "TFLOP/s",
                "step before", baseline ? "of cuBLAS" : "", l->o.predict ? "  predicted" : "");
    }
}

// TFLOP/s with about three digits.
static const char *rate(double gflops, char text[32])
{
    double tflops = gflops / 1000;
    snprintf(text, 32, "%.*f", tflops >= 9.995 ? 1 : tflops >= 0.0995 ? 2 : 5, tflops);
    return text;
}

static void print_row(const struct ladder *l, const struct row *row)
{
    char time[REPORT_TIME] = "-";
    const struct tester_result *r = &row->result;
    const char *verdict = row->ran ? report_verdict(r->verdict) : "FAILED";
    fprintf(l->out, "%-24s %-4s  ", row->step->name, type_name(row->step->type));
    if (row->needs) {
        fprintf(l->out, "needs sm_%u\n", row->needs);
        return;
    }
    if (!row->ran) {
        fprintf(l->out, "%s\n", verdict);
        return;
    }
    char predicted[32] = "-";
    if (row->predicted_ms > 0)
        rate(1000 * predicted_tflops(l, row), predicted);
    if (l->o.predict && row->counted) {
        char before[32] = "-";
        if (row->predicted_before > 0 && row->predicted_ms > 0)
            snprintf(before, sizeof before, "x %.2f", row->predicted_before / row->predicted_ms);
        fprintf(l->out, "%-9s  %9s  %11s", verdict, predicted, before);
    } else {
        fprintf(l->out, "%-9s  %9s", verdict, report_time(r->ms, time));
    }
    if (row->counted) {
        const uint64_t *m = row->metrics;
        double per = 1000 / ((double)l->o.m * l->o.n * l->o.k);
        char conflicts[TEXT_GROUPED];
        fprintf(l->out, "  %8.1f  %8.1f  %10.1f  %13s", (double)m[METRIC_INST] * per,
                (double)(m[METRIC_GLD_SEC] + m[METRIC_GST_SEC]) * per, (double)m[METRIC_WAVE] * per,
                text_grouped(m[METRIC_SLD_CONF] + m[METRIC_SST_CONF], conflicts));
    } else {
        char before[32] = "-", baseline[32] = "", tflops[32];
        if (row->before_ms > 0)
            snprintf(before, sizeof before, "x %.2f", row->before_ms / r->ms);
        if (r->baseline_ms > 0)
            snprintf(baseline, sizeof baseline, "%.1f %%", 100 * r->baseline_ms / r->ms);
        fprintf(l->out, "  %9s  %11s  %9s", rate(r->gflops, tflops), before, baseline);
        if (l->o.predict)
            fprintf(l->out, "  %9s", predicted);
    }
    fputc('\n', l->out);
}
// Is row i the first that has no predicted time for this reason?
static bool is_new_reason(const struct ladder *l, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (!strcmp(l->rows[k].predict_error, l->rows[i].predict_error))
            return false;
    return true;
}

static void print_foot(const struct ladder *l)
{
    const char *name = dev_baseline_name(l->dev);
    double flops = 2.0 * l->o.m * l->o.n * l->o.k;
    char time[REPORT_TIME], tflops[32];
    for (int i = 0; name && i < TYPES; i++) {
        if (l->baseline_ms[i] > 0) {
            fprintf(l->out, "%-24s %-4s  %-9s  %9s  %9s", name, type_name((enum dev_type)i), "",
                    report_time(l->baseline_ms[i], time), rate(flops / l->baseline_ms[i] * 1e-6, tflops));
            if (l->after_ms[i] > 0)
                fprintf(l->out, "  and %s at the end (%+.1f %%)", rate(flops / l->after_ms[i] * 1e-6, tflops),
                        100 * (l->baseline_ms[i] / l->after_ms[i] - 1));
            fputc('\n', l->out);
        } else if (l->baseline_error[i][0])
            fprintf(l->out, "%-24s %-4s  %s\n", name, type_name((enum dev_type)i), l->baseline_error[i]);
    }
    if (dev_about(l->dev)->simulated)
        fprintf(l->out,
                "\ninst: warp instructions; sectors: 32-byte pieces of global memory; wavefronts: passes through "
                "shared\nmemory; conflicts: wavefronts that bank conflicts cost, in all.%s\n",
                l->o.predict ? "" : " The time is the simulation's.");
    if (l->no_prediction[0])
        fprintf(l->out, "\nNo times are predicted: %s.\n", l->no_prediction);
    bool first = true, too_old = false;
    for (size_t i = 0; i < n_steps; i++) {
        const struct row *row = &l->rows[i];
        too_old |= row->needs;
        if (row->ran && row->predict_error[0] && is_new_reason(l, i)) {
            fprintf(l->out, "%sNo time is predicted for %s", first ? "\n" : "", row->step->name);
            for (size_t k = i + 1; k < n_steps; k++)
                if (!strcmp(l->rows[k].predict_error, row->predict_error))
                    fprintf(l->out, ", %s", l->rows[k].step->name);
            fprintf(l->out, ":\n%s\n", row->predict_error);
            first = false;
        }
        if (row->needs || (row->ran && row->result.verdict != TESTER_WRONG))
            continue;
        fprintf(l->out, "%s%s (%s): %s\n", first ? "\n" : "", row->step->name, type_name(row->step->type),
                row->ran ? row->result.what : row->error);
        first = false;
    }
    const struct dev_about *about = dev_about(l->dev);
    if (too_old)
        fprintf(l->out, "\n%s is an sm_%d%d: --device=sim runs the steps that need more on the simulated GPU.\n",
                about->name, about->cc_major, about->cc_minor);
}

// --- JSON ---

static void json_row(struct json *j, const struct ladder *l, const struct row *row)
{
    json_object(j, NULL);
    json_string(j, "step", row->step->name);
    json_string(j, "type", type_name(row->step->type));
    if (row->ran) {
        report_json_result(j, &l->o, &row->result);
        if (row->counted)
            profile_json_metrics(j, row->metrics);
        if (row->predicted_ms > 0) {
            json_double(j, "predicted_tflops", predicted_tflops(l, row));
            json_double(j, "predicted_cycles", row->predicted_cycles);
            json_double(j, "predicted_ms", row->predicted_ms);
        }
    } else {
        json_string(j, "verdict", "failed");
        json_string(j, "what", row->error);
    }
    json_end(j);
}

static bool write_json(const struct ladder *l, FILE *out)
{
    struct json j;
    const char *name = dev_baseline_name(l->dev);
    json_open(&j, out);
    json_object(&j, NULL);
    json_string(&j, "device", dev_about(l->dev)->name);
    report_json_setting(&j, l->dev, &l->o);
    if (n_steps)
        report_json_compiler(&j, l->steps[0].ptx);
    if (l->o.predict) {
        json_object(&j, "predicted");
        json_string(&j, "card", l->o.card ? l->o.card->name : "H200");
        json_int(&j, "m", l->predicted.m);
        json_int(&j, "n", l->predicted.n);
        json_int(&j, "k", l->predicted.k);
        json_end(&j);
    }
    json_array(&j, "steps");
    for (size_t i = 0; i < n_steps; i++)
        json_row(&j, l, &l->rows[i]);
    json_end(&j);
    json_array(&j, "baselines");
    for (int i = 0; i < TYPES; i++) {
        if (!name || l->baseline_ms[i] <= 0)
            continue;
        json_object(&j, NULL);
        json_string(&j, "name", name);
        json_string(&j, "type", type_name((enum dev_type)i));
        json_double(&j, "ms", l->baseline_ms[i]);
        if (l->after_ms[i] > 0)
            json_double(&j, "ms_after", l->after_ms[i]);
        json_end(&j);
    }
    json_end(&j);
    json_end(&j);
    return json_close(&j);
}

// --- CSV ---

// The rate of so many milliseconds; an empty field where they are not known.
static void print_rate(FILE *out, double tflop, double ms)
{
    fprintf(out, ",");
    if (ms > 0)
        fprintf(out, "%.6g", tflop / ms);
}

static bool write_csv(const struct ladder *l)
{
    const struct dev_about *about = dev_about(l->dev);
    const char *name = dev_baseline_name(l->dev);
    char date[16];
    time_t now = time(NULL);
    struct tm utc;
    FILE *out = fopen(l->o.csv, "a");
    if (!out)
        return false;
    gmtime_r(&now, &utc);
    strftime(date, sizeof date, "%Y-%m-%d", &utc);
    if (ftell(out) == 0)
        fprintf(out, "date,device,detail,baseline,l2,runs,m,n,k,step,type,ms,ms_min,ms_max,tflops,baseline_tflops,"
                     "baseline_after_tflops\n");
    for (size_t i = 0; i < n_steps; i++) {
        const struct row *row = &l->rows[i];
        const enum dev_type type = row->step->type;
        const double tflop = 2e-9 * l->o.m * l->o.n * l->o.k;
        if (!row->ran)
            continue;
        fprintf(out, "%s,\"%s\",\"%s\",\"%s\",%s,%d,%d,%d,%d,%s,%s,%.7g,%.7g,%.7g,%.6g", date, about->name,
                about->detail, name ? name : "", l->o.warm ? "warm" : "emptied", l->o.iterations, l->o.m, l->o.n,
                l->o.k, row->step->name, type_name(type), row->result.ms, row->result.ms_min, row->result.ms_max,
                tflop / row->result.ms);
        print_rate(out, tflop, l->baseline_ms[type]);
        print_rate(out, tflop, l->after_ms[type]);
        fprintf(out, "\n");
    }
    return fclose(out) == 0;
}

// --- The program ---

static void measure_again(struct ladder *l)
{
    char ignored[DEV_ERROR_MAX];
    for (int i = 0; i < TYPES; i++)
        if (l->data[i] && l->baseline_ms[i] > 0)
            tester_baseline(l->data[i], &l->after_ms[i], ignored);
}

// A line where a new part of the course begins.
static void print_part(const struct ladder *l, size_t i)
{
    if (i == 0)
        return;
    const struct step *s = &l->steps[i], *before = &l->steps[i - 1];
    if (s->type == DEV_F16 && before->type != DEV_F16)
        fprintf(l->out, "from here on A, B and C are halves, multiplied by tensor cores and summed in float:\n");
    if (ptx_file_alone(s->ptx) == 90 && ptx_file_alone(before->ptx) != 90)
        fprintf(l->out, "from here on the kernels use what Hopper alone has:\n");
}

// Runs and prints everything. Returns the exit status; 2 with an error where the climb itself had to end.
static int climb(struct ladder *l, FILE *json, char error[DEV_ERROR_MAX])
{
    double last_ms[TYPES] = { 0 }, last_predicted[TYPES] = { 0 };
    int status = 0;
    bool ran = false;
    print_head(l);
    for (size_t i = 0; i < n_steps; i++) {
        struct row *row = &l->rows[i];
        row->step = &l->steps[i];
        print_part(l, i);
        progress(l, i);
        row->ran = run_step(l, row);
        if (l->o.predict)
            predict(l, row);
        progress(l, n_steps);
        row->predicted_before = last_predicted[row->step->type];
        last_predicted[row->step->type] = row->predicted_ms;
        if (row->ran) {
            row->before_ms = last_ms[row->step->type];
            last_ms[row->step->type] = row->result.ms;
        }
        print_row(l, row);
        fflush(l->out);
        ran |= row->ran;
        int this = row->needs ? 0 : !row->ran ? 2 : row->result.verdict == TESTER_WRONG ? 1 : 0;
        status = this > status ? this : status;
        if (!row->ran && !row->needs && !dev_about(l->dev)->simulated && !open_again(l, error))
            return 2;
    }
    measure_again(l);
    print_foot(l);
    if (l->o.csv && !write_csv(l)) {
        report_write_error("--csv", l->o.csv, error);
        return 2;
    }
    if (json && !write_json(l, json)) {
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

// Without a GPU the times of a card are predicted, where ptxas is at hand.
static void choose_prediction(struct ladder *l)
{
    if (l->o.no_predict || (!l->o.predict && !dev_about(l->dev)->simulated))
        return;
    l->o.predict = clock_available(l->no_prediction);
}

static int start(struct ladder *l, char error[DEV_ERROR_MAX])
{
    FILE *json;
    l->dev = dev_open(l->o.device, error);
    if (!l->dev)
        return 2;
    l->rows = calloc(n_steps, sizeof *l->rows);
    if (!l->rows || !find_kernels(l)) {
        snprintf(error, DEV_ERROR_MAX, "out of memory");
        return 2;
    }
    if (l->o.csv && dev_about(l->dev)->simulated) {
        snprintf(error, DEV_ERROR_MAX,
                 "--csv: the table is of times on a GPU, and this is the simulated one: try --json");
        return 2;
    }
    if (!options_open_json(l->o.json, &json, error))
        return 2;
    dev_set_jobs(l->dev, (unsigned)l->o.jobs);
    dev_set_progress(l->dev, progress_on_terminal());
    error[0] = '\0';  // "auto" may have left a word about the GPU that did not answer
    l->out = json == stdout ? stderr : stdout;
    l->terminal = isatty(fileno(l->out));
    l->predicted = l->o;
    l->o = tester_settle(&l->o, dev_about(l->dev));
    choose_prediction(l);
    const bool sized = l->predicted.m || l->predicted.n || l->predicted.k;
    l->predicted.m = sized ? l->o.m : PREDICTED_SIZE;
    l->predicted.n = sized ? l->o.n : PREDICTED_SIZE;
    l->predicted.k = sized ? l->o.k : PREDICTED_SIZE;
    int status = climb(l, json, error);
    if (json && json != stdout)
        fclose(json);
    return status;
}

int main(int argc, char **argv)
{
    struct ladder l = { 0 };
    char error[DEV_ERROR_MAX] = "";
    switch (tester_options_parse(&l.o, OPTIONS_FOR_LADDER, argc, argv, error)) {
    case OPTIONS_HELP:
        tester_options_help(stdout, OPTIONS_FOR_LADDER, "ladder");
        return fflush(stdout) == 0 ? 0 : 2;
    case OPTIONS_LIST:
        for (size_t i = 0; i < n_steps; i++)
            printf("%s %s\n", steps[i]->name, type_name(steps[i]->type));
        return fflush(stdout) == 0 ? 0 : 2;
    case OPTIONS_BAD:
        fprintf(stderr, "ladder: %s\n", error);
        return 2;
    case OPTIONS_RUN:
        l.o.predict |= l.o.card && !l.o.no_predict;
        break;
    }
    int status = start(&l, error);
    if (error[0])
        fprintf(stderr, "ladder: %s\n", error);
    forget_data(&l);
    dev_close(l.dev);
    forget_kernels(&l);
    free(l.rows);
    return status;
}
