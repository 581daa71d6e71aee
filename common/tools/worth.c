// What each part of a step is worth, by its variants (steps/variants/variants.txt).
//
//   build/worth                       the ladder, step by step: what each part of each is worth, timed on an H200
//   build/worth 16                    the parts of step 16, alone and left out
//   build/worth --svg FILE            either of them as a picture
//   build/worth --count FILE          registers, spills, counters and predictions of all variants, as a table
//   build/worth --time FILE           times all of them on the GPU of this machine: rows are appended
//
// The kernels of --count and --time are made by: meson compile -C build variants. Exit status: 0, 1 if a kernel is
// wrong or cannot run, 2 if the command cannot be carried out.
#include "worth.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/options.h"
#include "base/text.h"

enum { BAD = 2 };

// --- the command ---

struct command {
    const char *time, *count, *variants, *ptx, *times, *counts, *only, *svg, *json;
    int size, step;
    bool narrow, large;
};

#define AT(field) OPTION_AT(struct command, field)
static const struct option_row rows[] = {
    { "size", "S", "at which size (default 4096; --time: all)", AT(size), 1, INT_MAX },
    { "svg", "FILE", "draw it, in place of the text (-: on stdout)", AT(svg) },
    { "json", "FILE", "write the shares, in place of the text (-: on stdout)", AT(json) },
    { "narrow", NULL, "with --svg of all steps: for a phone", AT(narrow) },
    { "large", NULL, "with --svg of all steps: for a slide", AT(large) },
    { "time", "FILE", "time all variants on the GPU, and append a row for each", AT(time) },
    { "count", "FILE", "write registers, spills, counters and predictions of all variants", AT(count) },
    { "only", "NAME", "with --count and --time: this kernel alone", AT(only) },
    { "variants", "FILE", "the list of variants", AT(variants) },
    { "ptx", "FOLDER", "where their kernels are", AT(ptx) },
    { "times", "FILE", "the table of times that is read", AT(times) },
    { "counts", "FILE", "the table of counts that is read", AT(counts) },
    { 0 },
};
static const struct options table = {
    .program = "worth",
    .usage = "[OPTION]... [STEP]\n"
             "Says what each part of a step, or of all steps, is worth, by kernels with one thing changed:\n"
             "    worth\n"
             "    worth 16",
    .rows = rows,
    .most = 1,
    .needs = "one step or none, as in: worth 16",
};

static bool keep_only(struct worth *w, const char *only, char error[DEV_ERROR_MAX])
{
    size_t n = 0;
    for (size_t i = 0; i < w->n; i++)
        if (!only || !strcmp(w->kernels[i].step.name, only))
            w->kernels[n++] = w->kernels[i];
        else
            free((char *)w->kernels[i].step.ptx);
    w->n = n;
    return n || error_set(error, "--only %s: there is no such kernel", only);
}

static bool count_all(const struct worth *w, FILE *out, char error[DEV_ERROR_MAX])
{
    bool all = true;
    worth_count(NULL, out, error);
    for (size_t i = 0; i < w->n; i++) {
        if (!worth_count(&w->kernels[i], out, error)) {
            fprintf(stderr, "worth: %s\n", error);
            all = false;
        }
        fflush(out);
    }
    return all || error_set(error, "not all kernels are right");
}

static bool time_all(const struct worth *w, int size, FILE *out, char error[DEV_ERROR_MAX])
{
    bool ok = true;
    if (ftell(out) == 0)
        worth_time_head(out);
    for (int i = 0; i < WORTH_SIZES; i++)
        if (!size || worth_sizes[i] == size)
            ok &= worth_time(w, worth_sizes[i], worth_sizes[i] <= WORTH_SMALL, out, error);
    return ok;
}

static bool draw(const struct worth *w, const struct worth_rates *r, const struct command *c, int size)
{
    const enum worth_place place = c->narrow ? WORTH_PHONE : c->large ? WORTH_SLIDE : WORTH_PAGE;
    char *picture = c->step ? worth_draw(w, r, c->step, size) : worth_fall_draw(w, r, size, place);
    const bool ok = picture && (strcmp(c->svg, "-") ? file_write(c->svg, picture) : fputs(picture, stdout) >= 0);
    free(picture);
    return ok;
}

static bool write_json(const struct worth *w, const struct worth_rates *r, const struct command *c,
                       char error[DEV_ERROR_MAX])
{
    FILE *out;
    if (!options_open_json(c->json, &out, error))
        return false;
    const bool ok = worth_json(w, r, c->step, out);
    return ((out == stdout || !fclose(out)) && ok) || error_set(error, "%s cannot be written", c->json);
}

static bool say(const struct worth *w, const struct worth_rates *r, const struct command *c, int size,
                char error[DEV_ERROR_MAX])
{
    if (c->svg)
        return draw(w, r, c, size) || error_set(error, "%s cannot be written", c->svg);
    if (c->json)
        return write_json(w, r, c, error);
    if (c->step)
        worth_report(w, r, c->step, size, stdout);
    else
        worth_fall(w, r, size, stdout);
    return true;
}

static bool report(const struct worth *w, const struct command *c, char error[DEV_ERROR_MAX])
{
    const int size = c->size ? c->size : 4096;
    struct worth_rates *r = worth_rates_read(w, size, c->times, c->counts, error);
    bool ok = r != NULL;
    if (ok && c->step && r[worth_step(w, c->step)].tflops[0] <= 0)
        ok = error_set(error, "%s has no times of step %d at %d", c->times, c->step, size);
    ok = ok && say(w, r, c, size, error);
    free(r);
    return ok;
}

// The number of the step that is meant; 0, with one line in error, if it is none.
static int step_meant(const struct worth *w, const char *text, char error[DEV_ERROR_MAX])
{
    for (size_t i = 0; i < w->n; i++)
        if (!w->kernels[i].variant && text_means(text, w->kernels[i].step.name))
            return w->kernels[i].of;
    error_set(error, "there is no step '%s'", text);
    return 0;
}

static int carry_out(struct worth *w, const struct command *c, char error[DEV_ERROR_MAX])
{
    const char *path = c->time ? c->time : c->count;
    if (!path)
        return report(w, c, error) ? 0 : BAD;
    if (!keep_only(w, c->only, error))
        return BAD;
    FILE *out = fopen(path, c->time ? "a" : "w");
    const bool ok = out && (c->time ? time_all(w, c->size, out, error) : count_all(w, out, error));
    if (out && !fclose(out))
        return ok ? 0 : 1;
    error_set(error, "%s cannot be written: %m", path);
    return BAD;
}

int main(int argc, char **argv)
{
    struct command c = { .variants = VARIANTS, .ptx = STEPS_PTX, .times = WORTH_TIMES, .counts = WORTH_COUNTS };
    struct worth w;
    char error[DEV_ERROR_MAX] = "";
    int status;
    if (!options_begin(&table, &c, &argc, &argv, &status))
        return status;
    bool ok = worth_open(&w, c.variants, c.ptx, error);
    if (ok && argc)
        ok = (c.step = step_meant(&w, argv[0], error)) != 0;
    status = ok ? carry_out(&w, &c, error) : BAD;
    if (*error)
        fprintf(stderr, "worth: %s\n", error);
    worth_close(&w);
    return status;
}
