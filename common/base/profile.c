// Names of the metrics, and reports of the counters of a launch: totals, hot source lines, JSON.
#include "profile.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "source.h"
#include "text.h"

enum { WIDTH = 110 };  // columns that a line of the table may take, its source text included

static const struct {
    const char *name, *unit;
} metrics[METRIC_COUNT] = {
#define X(id, name, unit) [METRIC_##id] = { name, unit },
    PROFILE_METRICS(X)
#undef X
};

const char *profile_metric_name(enum profile_metric m)
{
    return metrics[m].name;
}

// Of conflicts the accesses that could have them: where there are any, no conflict is news.
static const enum profile_metric could[METRIC_COUNT] = {
    [METRIC_SLD_CONF] = METRIC_SLD_WAVE,       [METRIC_SST_CONF] = METRIC_SST_WAVE,
    [METRIC_LDSM_CONF] = METRIC_LDSM_WAVE,     [METRIC_STSM_CONF] = METRIC_STSM_WAVE,
    [METRIC_LDGSTS_CONF] = METRIC_LDGSTS_WAVE,
};

static bool is_printed(const struct profile *p, int m)
{
    return p->total[m] || (could[m] && p->total[could[m]]);
}

void profile_print(FILE *out, const struct profile *p)
{
    char text[TEXT_GROUPED];
    int left_out = 0;
    fprintf(out, "Counters of one launch of %s:\n", p->kernel);
    for (int m = 0; m < METRIC_COUNT; m++)
        if (is_printed(p, m))
            fprintf(out, "  %-70s %17s %s\n", metrics[m].name, text_grouped(p->total[m], text), metrics[m].unit);
        else
            left_out++;
    if (left_out)
        fprintf(out, "  The other %d counters are 0; --json lists them.\n", left_out);
}

// --- Hot lines ---

// A column of the table: the sum of one or two metrics.
struct column {
    const char *heading;
    enum profile_metric first, second;
    bool shown;
    int width;
};

static uint64_t column_value(const struct column *c, const uint64_t metric[METRIC_COUNT])
{
    return metric[c->first] + (c->second != c->first ? metric[c->second] : 0);
}

// Headers come last: clang does not say which line called them.
static int hotter(const void *a, const void *b)
{
    const struct profile_line *x = *(const struct profile_line *const *)a, *y = *(const struct profile_line *const *)b;
    const bool far = source_is_header(x->file), far_too = source_is_header(y->file);
    if (far != far_too)
        return far ? 1 : -1;
    uint64_t p = x->metric[METRIC_INST], q = y->metric[METRIC_INST];
    if (p != q)
        return p < q ? 1 : -1;
    return x < y ? -1 : x > y;  // equal ones stay in the order of the source
}

// Shows the columns in which a line has something, as wide as their contents.
static void fit_columns(struct column *columns, size_t n_columns, const struct profile *p)
{
    for (size_t c = 0; c < n_columns; c++) {
        columns[c].width = (int)strlen(columns[c].heading);
        for (size_t i = 0; i < p->n_lines; i++) {
            char text[TEXT_GROUPED];
            uint64_t value = column_value(&columns[c], p->lines[i].metric);
            int width = (int)strlen(text_grouped(value, text));
            columns[c].shown = columns[c].shown || value > 0;
            columns[c].width = width > columns[c].width ? width : columns[c].width;
        }
    }
}

static double share(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void print_line(FILE *out, const struct profile *p, const struct profile_line *line, bool one_file,
                       const struct column *columns, size_t n_columns)
{
    char text[TEXT_GROUPED], place[64], source[WIDTH + 1];
    int used = 0;
    for (size_t c = 0; c < n_columns; c++) {
        if (!columns[c].shown)
            continue;
        uint64_t value = column_value(&columns[c], line->metric);
        used += fprintf(out, "  %*s", columns[c].width, text_grouped(value, text));
        if (c == 0)
            used += fprintf(out, "  %5.1f %%", share(value, p->total[METRIC_INST]));
    }
    if (line->line == 0)
        snprintf(place, sizeof place, "(no line)");
    else if (one_file)
        snprintf(place, sizeof place, "%5u", line->line);
    else
        snprintf(place, sizeof place, "%.50s:%u", source_base_name(line->file), line->line);
    used += fprintf(out, "  %s%c ", place, line->merged ? '*' : ' ');
    source_text(line->file, line->line, source, used + 20 < WIDTH ? (size_t)(WIDTH - used) : 20);
    fprintf(out, "%s\n", source);
}

// The only file of all lines that have a number; NULL if there are several, or none.
static const char *only_file(const struct profile *p)
{
    const char *file = NULL;
    for (size_t i = 0; i < p->n_lines; i++) {
        if (p->lines[i].line && file && strcmp(p->lines[i].file, file) != 0)
            return NULL;
        file = p->lines[i].line ? p->lines[i].file : file;
    }
    return file;
}

void profile_print_lines(FILE *out, const struct profile *p, size_t max_lines)
{
    struct column columns[] = {
        { .heading = "inst", .first = METRIC_INST, .second = METRIC_INST },
        { .heading = "sectors", .first = METRIC_GLD_SEC, .second = METRIC_GST_SEC },
        { .heading = "wavefronts", .first = METRIC_WAVE, .second = METRIC_WAVE },
        { .heading = "conflicts", .first = METRIC_SLD_CONF, .second = METRIC_SST_CONF },
    };
    size_t n_columns = sizeof columns / sizeof columns[0];
    const struct profile_line **order = malloc((p->n_lines + 1) * sizeof(*order));
    if (!order || p->n_lines == 0) {
        fprintf(out, "No source lines to show for %s.\n", p->kernel);
        free(order);
        return;
    }
    const char *file = only_file(p);
    for (size_t i = 0; i < p->n_lines; i++)
        order[i] = &p->lines[i];
    qsort(order, p->n_lines, sizeof(*order), hotter);
    fit_columns(columns, n_columns, p);

    fprintf(out, "Hot lines of %s%s%s (inst: warp instructions):\n", p->kernel, file ? " in " : "", file ? file : "");
    for (size_t c = 0; c < n_columns; c++)
        if (columns[c].shown)
            fprintf(out, "  %*s%s", columns[c].width, columns[c].heading, c == 0 ? "    share" : "");
    fprintf(out, "   line  source\n");
    uint64_t rest = 0, merged = 0;
    for (size_t i = 0; i < p->n_lines; i++) {
        if (i >= max_lines) {
            rest += order[i]->metric[METRIC_INST];
            continue;
        }
        print_line(out, p, order[i], file, columns, n_columns);
        merged += order[i]->merged;
    }
    if (p->n_lines > max_lines)
        fprintf(out, "  and %zu more lines with %.1f %% of the instructions\n", p->n_lines - max_lines,
                share(rest, p->total[METRIC_INST]));
    if (merged)
        fprintf(out, "  * shared loads or stores merged by ptxas: counted as the machine code's wider ones\n");
    free(order);
}

// --- JSON ---

void profile_json_metrics(struct json *j, const uint64_t metric[METRIC_COUNT])
{
    json_object(j, "metrics");
    for (int m = 0; m < METRIC_COUNT; m++)
        json_uint(j, metrics[m].name, metric[m]);
    json_end(j);
}

void profile_json(struct json *j, const struct profile *p, const char *device)
{
    json_string(j, "kernel", p->kernel);
    json_string(j, "device", device);
    profile_json_metrics(j, p->total);
    json_array(j, "lines");
    for (size_t i = 0; i < p->n_lines; i++) {
        json_object(j, NULL);
        json_string(j, "file", p->lines[i].file ? p->lines[i].file : "");
        json_uint(j, "line", p->lines[i].line);
        json_uint(j, "merged", p->lines[i].merged);
        profile_json_metrics(j, p->lines[i].metric);
        json_end(j);
    }
    json_end(j);
}
