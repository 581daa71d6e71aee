// The driver that every step shares: command line, one run, a report for people and one for programs.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "again.h"
#include "base/json.h"
#include "kernel_file.h"
#include "meaning.h"
#include "base/occupancy.h"
#include "tester_options.h"
#include "base/profile.h"
#include "base/progress.h"
#include "base/ptx_file.h"
#include "base/ptxas.h"
#include "base/source.h"
#include "base/text.h"
#include "tester.h"
#include "predict.h"
#include "tester_report.h"
#include "device/open.h"

enum { HOT_LINES = 20 };

// Where it differs from the course's.
static void print_changed(FILE *out, const struct tester_result *r)
{
    for (const char *p = r->changed; *p; p += strcspn(p, "\n") + 1)
        fprintf(out, "    %.*s\n", (int)strcspn(p, "\n"), p);
}

static void print_time(FILE *out, const struct tester_options *o, const struct dev_about *about,
                       const struct tester_result *r)
{
    char ms[REPORT_TIME], fastest[REPORT_TIME], slowest[REPORT_TIME], runs[96] = "";
    if (o->iterations)
        snprintf(runs, sizeof runs, " (median of %d; %s to %s)", o->iterations, report_time(r->ms_min, fastest),
                 report_time(r->ms_max, slowest));
    report_time(r->ms, ms);
    if (about->simulated)
        fprintf(out, "simulated in %s%s: %.3g G multiply-adds a second of this computer\n", ms, runs,
                (double)o->m * o->n * o->k / r->ms * 1e-6);
    else
        fprintf(out, "time      %s%s, %.2f %s\n", ms, runs, r->gflops < 1000 ? r->gflops : r->gflops / 1000,
                r->gflops < 1000 ? "GFLOP/s" : "TFLOP/s");
}

static void print_report(FILE *out, const struct step *step, const struct tester_options *o, const struct dev *d,
                         const struct tester_result *r)
{
    const struct dev_about *about = dev_about(d);
    if (o->ptx)
        fprintf(out, "%s in place of ", o->ptx);
    fprintf(out, "%s (%s) on %s", step->name, type_name(step->type), about->name);
    report_detail(out, about);
    char compiler[PTX_COMPILER];
    ptx_file_compiler(step->ptx, compiler);
    fprintf(out, "M %d, N %d, K %d, alpha %g, beta %g, seed %llu%s%s\n", o->m, o->n, o->k, o->alpha, o->beta,
            (unsigned long long)o->seed, *compiler ? "; kernel compiled by " : "", compiler);
    fprintf(out, "%-9s %s\n", report_verdict(r->verdict), r->what);
    print_changed(out, r);
    report_look(out, r);
    print_time(out, o, about, r);
}

static void print_baseline(FILE *out, struct dev *d, const struct tester_result *r)
{
    char ms[REPORT_TIME];
    const char *name = dev_baseline_name(d);
    if (r->baseline_ms > 0)
        fprintf(out, "%s: %s; this step reaches %.1f %% of it\n", name, report_time(r->baseline_ms, ms),
                100 * r->baseline_ms / r->ms);
    else if (r->baseline_error[0])
        fprintf(out, "%s: %s\n", name, r->baseline_error);
}

static void print_profile(FILE *out, const struct step *step, const struct tester_options *o, const struct profile *p)
{
    if (!p) {
        fprintf(out, "No counters: only the simulated GPU (--device sim) has them.\n");
        return;
    }
    if (o->profile) {
        fputc('\n', out);
        profile_print(out, p);
        occupancy_print(out, p, step->ptx, o->card ? o->card : card_named("H200"));
    }
    if (o->by_line) {
        fputc('\n', out);
        profile_print_lines(out, p, HOT_LINES);
    }
}

static void print_prediction(FILE *out, const struct step *step, const struct tester_options *o)
{
    const struct card *card = o->card ? o->card : card_named("H200");
    struct tester_options sized = *o;
    char error[DEV_ERROR_MAX];
    if (o->predict_size)
        sized.m = sized.n = sized.k = o->predict_size;
    fputc('\n', out);
    if (o->predict_size)
        fprintf(out, "M %d, N %d, K %d. ", sized.m, sized.n, sized.k);
    struct simt_prediction *p = predict_step(step, &sized, card, error);
    if (p)
        simt_prediction_print(out, p, o->by_line);
    else
        fprintf(out, "No time is predicted: %s\n", error);
    simt_prediction_free(p);
}

static void print_findings(FILE *out, const struct simt_findings *f, const struct tester_options *o)
{
    const struct simt_advice advice = meaning_advice(o);
    fputc('\n', out);
    if (f)
        simt_findings_print(out, f, &advice);
    else
        fprintf(out, "No checks: only the simulated GPU (--device sim) has them; on a GPU run compute-sanitizer.\n");
}

// What the assembler warns of. On a GPU the driver's own has told it, if it has compiled the file this time; else
// --sanitize asks ptxas, which takes a moment.
static char *find_warnings(const struct dev *d, const struct step *step, const struct tester_options *o)
{
    const struct profile *p = dev_profile(d);
    const char *told = dev_warnings(d);
    return told ? strdup(told) : o->sanitize ? ptxas_warnings(step->ptx, p ? p->kernel : "gemm") : NULL;
}

static void print_warnings(FILE *out, const char *warnings)
{
    fputc('\n', out);
    ptxas_print(out, "", warnings);
}

static void begin_json(struct json *j, FILE *out, const struct step *step, const struct tester_options *o,
                       struct dev *d, const struct tester_result *r, char *warnings)
{
    json_open(j, out);
    json_object(j, NULL);
    json_string(j, "step", step->name);
    json_string(j, "type", type_name(step->type));
    if (o->ptx)
        json_string(j, "ptx", o->ptx);
    report_json_counters(j, d, o);
    report_json_setting(j, d, o);
    report_json_compiler(j, step->ptx);
    report_json_result(j, o, r);
    json_array(j, "ptxas_warnings");
    char *save = NULL;
    for (char *line = warnings ? strtok_r(warnings, "\n", &save) : NULL; line; line = strtok_r(NULL, "\n", &save))
        json_string(j, NULL, line);
    json_end(j);
}

// What a program finds in place of a report where the step could not be run.
static bool write_failure(FILE *out, const struct step *step, const struct dev *d, const struct tester_result *r,
                          const char *error)
{
    struct json j;
    json_open(&j, out);
    json_object(&j, NULL);
    json_string(&j, "step", step->name);
    json_string(&j, "type", type_name(step->type));
    json_string(&j, "device", dev_about(d)->name);
    json_string(&j, "verdict", "failed");
    json_string(&j, "what", error);
    report_json_changed(&j, r);
    json_end(&j);
    return json_close(&j);
}

static bool has_findings(const struct dev *d)
{
    const struct simt_findings *f = dev_findings(d);
    return f && f->n;
}

// Once more at the shapes of again.h, and what came of it. d: where it ran. j: NULL, or an open report.
static void report_again(FILE *out, struct json *j, const struct tester_options *o, const struct dev *d,
                         const struct tester_result *again)
{
    const bool right = again->verdict == TESTER_RIGHT;
    fprintf(out, "again     %s at %s%s\n", report_verdict(again->verdict), again->what, right ? AGAIN_SCALARS : "");
    print_changed(out, again);
    report_look(out, again);
    if (right && *again->advice)
        fprintf(out, "advice: %s\n", again->advice);
    if (!right && has_findings(d))
        print_findings(out, dev_findings(d), o);
    if (!j)
        return;
    json_object(j, "again");
    report_json_verdict(j, again);
    if (right && *again->advice)
        json_string(j, "advice", again->advice);
    json_end(j);
}

// A right result is looked at once more. False, with one line in error, if that could not be done; on a GPU its result
// stands then.
static bool run_again(struct tester *t, struct dev *d, const struct step *step, const struct tester_options *o,
                      FILE *out, struct json *j, struct tester_result *r, char error[DEV_ERROR_MAX])
{
    struct tester_result again;
    struct dev *on = NULL;
    if (o->once || r->verdict != TESTER_RIGHT || has_findings(d))
        return true;
    bool ok = tester_again(t, step, &again, &on, error);
    if (ok) {
        report_again(out, j, o, on, &again);
        r->verdict = again.verdict;
    } else if (on != d) {
        fprintf(out, "again     not run on the simulated GPU: %s\n", error);
        ok = true;
    }
    if (on != d)
        dev_close(on);
    return ok;
}

// Watches the step in place of a run.
static bool watch(struct dev *d, const struct step *step, const struct tester_options *options,
                  char error[DEV_ERROR_MAX])
{
    const struct tester_options o = tester_settle(options, dev_about(d));
    struct tester *t = tester_fits(d, step->type, &o, error) ? tester_open(d, step->type, &o, error) : NULL;
    const bool ok = t && tester_watch(t, step, o.finding, error);
    tester_close(t);
    return ok;
}

// A command that watches what this one runs.
static void write_watch_command(char **argv, char *command, size_t room)
{
    char *words = text_command(argv);
    snprintf(command, room, "%s --watch", words ? words : argv[0]);
    free(words);
}

// A watch is one of the simulated GPU, with its checks.
static bool settle_watch(struct tester_options *o, char error[DEV_ERROR_MAX])
{
    o->watch |= o->finding > 0;
    o->sanitize |= o->watch;
    if (o->watch && o->device == DEV_GPU)
        return error_set(error, "--watch looks at the simulated GPU: --device sim");
    o->device = o->watch ? DEV_SIM : o->device;
    return true;
}

// Runs the step and reports; false, with one line in error, where it could not be run.
static bool run(struct dev *d, const struct step *step, const struct tester_options *options, FILE *out, FILE *json,
                struct tester_result *r, char error[DEV_ERROR_MAX])
{
    struct tester_options o = tester_settle(options, dev_about(d));
    const bool fits = tester_fits(d, step->type, &o, error);
    if (fits)
        report_long_run(stderr, step->name, dev_about(d), &o, 1);
    struct json j;
    struct tester *t = fits ? tester_open(d, step->type, &o, error) : NULL;
    bool ok = t && tester_step(t, step, r, error);
    if (ok) {
        print_report(out, step, &o, d, r);
        print_baseline(out, d, r);
        if (o.profile || o.by_line)
            print_profile(out, step, &o, dev_profile(d));
        if (o.predict > 0 || o.predict_size)
            print_prediction(out, step, &o);
        if (o.sanitize)
            print_findings(out, dev_findings(d), &o);
    }
    char *warnings = ok ? find_warnings(d, step, &o) : NULL;
    if (warnings)
        print_warnings(out, warnings);
    const bool begun = ok && json;
    if (begun)
        begin_json(&j, json, step, &o, d, r, warnings);
    free(warnings);
    ok = ok && run_again(t, d, step, &o, out, begun ? &j : NULL, r, error);
    if (begun)
        json_end(&j);
    if (json && !(begun ? json_close(&j) : write_failure(json, step, d, r, error)) && ok)
        ok = report_write_error("--json", o.json, error);
    tester_close(t);
    return ok;
}

// The step that the options ask for: with --ptx, another file is run in its place, whose owner is not known.
static bool choose(struct step *step, const struct tester_options *o, char error[DEV_ERROR_MAX])
{
    step->built = step->ptx;
    if (!o->ptx)
        return true;
    step->ptx = o->ptx;
    step->owner = NULL;
    return kernel_file_fits(o->ptx, step->type, error);
}

// Says so where the kernel was edited after its PTX was made. With -lineinfo the PTX names the kernel's file.
static void note_stale(const struct step *step)
{
    char path[PTX_SOURCE];
    for (unsigned i = 0; ptx_file_source(step->ptx, i, path); i++)
        if (!strcmp(source_base_name(path), "kernel.cu") && ptx_file_is_older(step->ptx, path))
            fprintf(stderr,
                    "%s: note: kernel.cu was changed after it was compiled, and the old one runs here: "
                    "meson compile -C build\n",
                    step->name);
}

static int describe(const struct step *step)
{
    char error[DEV_ERROR_MAX];
    if (kernel_file_describe(stdout, step, error))
        return 0;
    fprintf(stderr, "%s: %s\n", step->name, error);
    return 2;
}

// The source of what ended the kernel, what led to it, and what to look at next.
static void print_failure(FILE *out, const struct simt_finding *f, const struct tester_options *o,
                          const struct tester_result *r)
{
    const struct simt_advice advice = meaning_advice(o);
    simt_finding_print_look(out, f, &advice);
    fprintf(out, "    watch it: %s\n", o->command);
    if (r->verdict == TESTER_UNCHECKED && *r->what)
        fprintf(out, "    %s\n", r->what);
}

int tester_main(const struct step *given, int argc, char **argv)
{
    struct tester_options o = tester_defaults;
    struct step own = *given;
    const struct step *step = &own;
    char error[DEV_ERROR_MAX] = "";
    struct tester_result r = { .verdict = TESTER_UNCHECKED };
    FILE *json = NULL;
    struct dev *d = NULL;
    const struct options table = tester_options_for(OPTIONS_FOR_DRIVER, step->name);
    int status;
    char command[2048];
    write_watch_command(argv, command, sizeof command);
    if (!options_begin(&table, &o, &argc, &argv, &status))
        return status;
    o.command = command;
    bool ok = settle_watch(&o, error) && choose(&own, &o, error);
    if (ok && o.describe)
        return describe(step);
    ok = ok && (d = dev_open(o.device, error)) && options_open_json(o.json, &json, error);
    if (ok) {
        dev_set_jobs(d, (unsigned)o.jobs);
        dev_set_checks(d, o.sanitize);
        dev_set_progress(d, progress_shown());
    }
    FILE *out = json == stdout ? stderr : stdout;
    if (ok && !o.ptx)
        note_stale(step);
    ok = ok && (o.watch ? watch(d, step, &o, error) : run(d, step, &o, out, json, &r, error));
    if (ok && fflush(out) != 0)
        ok = report_write_error("output", "stdout", error);
    if (!ok)
        fprintf(stderr, "%s: %s\n", step->name, error);
    if (!ok)
        print_changed(stderr, &r);
    if (!ok && d && dev_failure(d))
        print_failure(stderr, dev_failure(d), &o, &r);
    if (!ok)
        report_look(stderr, &r);
    const bool wrong = r.verdict == TESTER_WRONG || (ok && !o.watch && has_findings(d));
    dev_close(d);
    if (json && json != stdout)
        fclose(json);
    return !ok ? 2 : wrong;
}
