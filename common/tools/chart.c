// Draws the ladder's results, as `ladder --csv` wrote them, as SVG on stdout:
//   build/chart --counters COUNTERS.csv --trials TRIALS.csv RESULTS.csv > chart.svg
// Where a step was measured twice, the later row counts.
#include "chart.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "base/text.h"

// What svg.c has no class for.
static const char style[] = "<style>\n"
                            "  .rule { fill: none; stroke: #59636e; stroke-width: 1.5 } .thin { stroke-width: 1 }\n"
                            "  .dash { stroke-dasharray: 4 3 } .limit { fill: none; stroke: #59636e } .dot { stroke: "
                            "#1f2328 }\n"
                            "  @media (prefers-color-scheme: dark) {\n"
                            "    .rule, .limit { stroke: #9198a1 } .dot { stroke: #e6edf3 }\n"
                            "  }\n"
                            "</style>\n";

struct request {
    int size;
    const char *results, *counters, *trials, *step;
    bool large;
};

#define AT(field) OPTION_AT(struct request, field)
static const struct option_row rows[] = {
    { "size", "S", "M, N and K (default 4096)", AT(size), 1, INT_MAX },
    { "counters", "FILE", "with a roofline; FILE has the counters of each step at 256 x 256 x 256", AT(counters) },
    { "trials", "FILE", "with the speed of the instruction alone, where FILE has one for this card", AT(trials) },
    { "large", NULL, "only the bars of f32 and f16, with letters for a slide", AT(large) },
    { "step", "STEP", "only what this step bought: 6, 06 or its name; needs --counters", AT(step) },
    { 0 },
};
static const struct options table = {
    .program = "chart",
    .usage = "[OPTION]... RESULTS.csv > CHART.svg\nDraws what `ladder --csv RESULTS.csv` measured at one size.",
    .notes = "Exit status: 0 drawn, 2 could not be drawn.",
    .rows = rows,
    .least = 1,
    .most = 1,
    .needs = "one table of results is needed, as ladder --csv FILE writes it",
};

// --- What is drawn ---

static bool add(struct chart *c, const struct result *r, char *error)
{
    for (size_t i = 0; i < c->rows; i++) {
        if (strcmp(c->row[i]->device, r->device) || strcmp(c->row[i]->detail, r->detail))
            return error_set(error,
                             "rows of size %d are of two devices, \"%s, %s\" and \"%s, %s\": put them in "
                             "two files",
                             c->size, c->row[i]->device, c->row[i]->detail, r->device, r->detail);
        if (!strcmp(c->row[i]->step, r->step)) {
            c->row[i] = r;
            return true;
        }
    }
    if (c->rows == sizeof c->row / sizeof *c->row)
        return error_set(error, "more than %zu steps of size %d", c->rows, c->size);
    c->row[c->rows++] = r;
    return true;
}

static void refuse_size(const char *path, int size, const struct result *list, size_t n, char *error)
{
    int length =
        snprintf(error, DEV_ERROR_MAX, "%.200s: no rows of %d x %d x %d; it has those of", path, size, size, size);
    for (size_t i = 0; i < n && length < DEV_ERROR_MAX - 16; i++) {
        bool first = list[i].m == list[i].n && list[i].n == list[i].k;
        for (size_t j = 0; j < i && first; j++)
            first = list[j].m != list[i].m || list[j].n != list[i].n || list[j].k != list[i].k;
        if (first)
            length += snprintf(error + length, (size_t)(DEV_ERROR_MAX - length), " %d", list[i].m);
    }
}

static bool choose(struct chart *c, const struct request *q, const struct result *list, size_t n, char *error)
{
    c->size = q->size;
    for (size_t i = 0; i < n; i++)
        if (list[i].m == q->size && list[i].n == q->size && list[i].k == q->size && !add(c, &list[i], error))
            return false;
    if (!c->rows) {
        refuse_size(q->results, q->size, list, n, error);
        return false;
    }
    if (q->counters && q->size % 256)
        return error_set(error,
                         "--counters: they are of 256 x 256 x 256, and tell nothing of %d, which is no "
                         "multiple of it",
                         q->size);
    c->card = card_of_device(c->row[0]->device, c->row[0]->sms);
    return true;
}

static char *draw(const struct chart *c, bool large)
{
    struct svg s;
    const struct result *r = c->row[0];
    char title[300];
    if (!svg_open(&s))
        return NULL;
    snprintf(title, sizeof title, "C = A * B at %d x %d x %d on an %s", c->size, c->size, c->size, r->device);
    fputs(style, s.out);
    if (large)
        return svg_close(&s, CHART_SLIDE, chart_bars(&s, c, 4, true), title);
    svg_text(&s, CHART_MARGIN, 36, "head", "%s", title);
    svg_text(&s, CHART_MARGIN, 56, "small dim", "%s. Median of %d runs, L2 cache %s, %s.", r->detail, r->runs,
             strcmp(r->l2, "emptied") ? "as the run before left it" : "emptied before each", r->date);
    double y = chart_bars(&s, c, 74, false);
    if (c->n_counters)
        y = chart_roofline(&s, c, y + 8);
    return svg_close(&s, CHART_WIDTH, y + 8, title);
}

// --- one step ---

// The row of the step that is meant; the rows' number if there is none.
static size_t row_meant(const struct chart *c, const char *text)
{
    size_t i = 0;
    while (i < c->rows && !text_means(text, c->row[i]->step))
        i++;
    return i;
}

static char *draw_step(const struct chart *c, size_t at)
{
    struct svg s;
    const struct result *step = c->row[at], *before = NULL;
    char title[300], rate[32];
    for (size_t i = at; i > 0 && !before; i--)
        if (!strcmp(c->row[i - 1]->type, step->type))
            before = c->row[i - 1];
    if (!svg_open(&s))
        return NULL;
    snprintf(title, sizeof title, "%s at %d x %d x %d on an %s: %s TFLOP/s", step->step, c->size, c->size, c->size,
             step->device, chart_rate(step->tflops, rate));
    fputs(style, s.out);
    return svg_close(&s, CHART_WIDTH, chart_strip(&s, c, before, step), title);
}

static char *draw_asked(const struct request *q, const struct chart *c, char *error)
{
    const size_t at = q->step ? row_meant(c, q->step) : 0;
    char *text = NULL;
    if (q->step && at == c->rows)
        error_set(error, "--step %s: %s has no such step of this size", q->step, q->results);
    else if (q->step && !c->n_counters)
        error_set(error, "--step %s needs --counters FILE", q->step);
    else if (!(text = q->step ? draw_step(c, at) : draw(c, q->large)))
        error_set(error, "out of memory");
    return text;
}

static int run(const struct request *q, char *error)
{
    struct result *results = NULL;
    struct counter *counters = NULL;
    struct trial *trials = NULL;
    struct chart c = { 0 };
    size_t n;
    char *text = NULL;
    bool ok = results_read(q->results, &results, &n, error) && choose(&c, q, results, n, error) &&
              (!q->counters || counters_read(q->counters, &counters, &c.n_counters, error)) &&
              (!q->trials || trials_read(q->trials, &trials, &c.n_trials, error));
    c.counters = counters;
    c.trials = trials;
    if (ok && (text = draw_asked(q, &c, error)) && (fputs(text, stdout) == EOF || fflush(stdout)))
        error_set(error, "standard output: cannot write it: %m");
    free(text);
    free(results);
    free(counters);
    free(trials);
    return error[0] ? 2 : 0;
}

int main(int argc, char **argv)
{
    struct request q = { .size = 4096 };
    char error[DEV_ERROR_MAX] = "";
    int status;
    if (!options_begin(&table, &q, &argc, &argv, &status))
        return status;
    q.results = argv[0];
    status = run(&q, error);
    if (error[0])
        fprintf(stderr, "chart: %s\n", error);
    return status;
}
