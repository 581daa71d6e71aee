// What each part of a step is worth, by its variants (steps/variants/variants.txt).
//
//   build/worth 16                    what is known: the parts of step 16, alone and left out, timed on an H200
//   build/worth 16 --svg FILE         the same as a picture
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

enum { BAD = 2 };

// --- the command ---

struct command {
    const char *time, *count, *variants, *ptx, *times, *counts, *only, *svg;
    int size, step;
};

#define AT(field) OPTION_AT(struct command, field)
static const struct option_row rows[] = {
    { "size", "S", "at which size (default 4096; --time: all)", AT(size), 1, INT_MAX },
    { "svg", "FILE", "draw it, in place of the text", AT(svg) },
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
             "Says what each part of a step is worth, by kernels with one thing changed:\n"
             "    worth 16",
    .rows = rows,
    .most = 1,
    .needs = "one step, as in: worth 16",
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

static bool report(const struct worth *w, const struct command *c, char error[DEV_ERROR_MAX])
{
    const int size = c->size ? c->size : 4096;
    struct worth_rates *r = worth_rates_read(w, c->step, size, c->times, c->counts, error);
    char *picture = r && c->svg ? worth_draw(w, r, c->step, size) : NULL;
    bool ok = r != NULL;
    if (ok && c->svg)
        ok = (picture && file_write(c->svg, picture)) || error_set(error, "%s cannot be written", c->svg);
    else if (ok)
        worth_report(w, r, c->step, size, stdout);
    free(picture);
    free(r);
    return ok;
}

static int carry_out(struct worth *w, const struct command *c, char error[DEV_ERROR_MAX])
{
    const char *path = c->time ? c->time : c->count;
    if (!path)
        return report(w, c, error) ? 0 : BAD;
    FILE *out = keep_only(w, c->only, error) ? fopen(path, c->time ? "a" : "w") : NULL;
    if (!out)
        return *error ? BAD : (error_set(error, "%s cannot be written", path), BAD);
    const bool ok = c->time ? time_all(w, c->size, out, error) : count_all(w, out, error);
    if (fclose(out) != 0)
        return error_set(error, "%s cannot be written", path), BAD;
    return ok ? 0 : 1;
}

int main(int argc, char **argv)
{
    struct command c = { .variants = VARIANTS, .ptx = STEPS_PTX, .times = WORTH_TIMES, .counts = WORTH_COUNTS };
    struct worth w;
    char error[DEV_ERROR_MAX] = "";
    int status;
    if (!options_begin(&table, &c, &argc, &argv, &status))
        return status;
    c.step = argc ? atoi(argv[0]) : 0;
    if (!c.time && !c.count && !c.step) {
        fprintf(stderr, "worth: a step is needed, as in: worth 16\n");
        return BAD;
    }
    status = worth_open(&w, c.variants, c.ptx, error) ? carry_out(&w, &c, error) : BAD;
    if (*error)
        fprintf(stderr, "worth: %s\n", error);
    worth_close(&w);
    return status;
}
