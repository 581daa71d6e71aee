// The chapters against the code: a NOTES.md has its headings, every line of C that it quotes stands in a kernel.cu, and
// every counter in its table is what the simulator counts today; its times are in steps/results (other figures of
// speed: test_figures.c). Built once for each step: STEP is its symbol, STEP_FOLDER its directory, STEPS_FOLDER the one
// above.
//
// A quoted line stands in a ```c or ```diff block; in a diff, a line with '+' stands in this step's kernel and one with
// '-' in some step's. A counter stands in a table row:  | `smsp__inst_executed.sum` | 1,230,528 |  and is of one launch
// at 256 x 256 x 256 with alpha = 1 and beta = 0; a second value is the double build's.
#include <criterion/criterion.h>
#include <ctype.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler.h"
#include "profile.h"
#include "tester.h"
#include "tester_report.h"

extern const struct step STEP;

static char *read_text(const char *path)
{
    FILE *f = fopen(path, "rb");
    cr_assert(f, "%s is missing", path);
    char *text = calloc(1, 1 << 20);
    size_t n = fread(text, 1, (1 << 20) - 1, f);
    fclose(f);
    cr_assert(n > 0, "%s is empty", path);
    return text;
}

// A step of the learner's own may have none.
static char *read_chapter(void)
{
    if (access(STEP_FOLDER "/NOTES.md", F_OK))
        cr_skip_test("%s has no chapter: there is no NOTES.md beside its kernel.cu", STEP.name);
    return read_text(STEP_FOLDER "/NOTES.md");
}

// Copies the line at p without blanks at its ends and moves p to the next one; false at the end of the text.
static bool next_line(const char **p, char line[512])
{
    if (!**p)
        return false;
    const char *end = strchr(*p, '\n');
    size_t n = end ? (size_t)(end - *p) : strlen(*p);
    cr_assert(n < 512, "a line of %zu characters", n);
    memcpy(line, *p, n);
    line[n] = '\0';
    *p += n + (end != NULL);
    return true;
}

static const char *trim(char *line)
{
    for (size_t n = strlen(line); n && isspace((unsigned char)line[n - 1]); n--)
        line[n - 1] = '\0';
    while (isspace((unsigned char)*line))
        line++;
    return line;
}

static bool has_line(const char *text, const char *wanted)
{
    char line[512];
    while (next_line(&text, line))
        if (!strcmp(trim(line), wanted))
            return true;
    return false;
}

static bool in_any_kernel(const char *wanted)
{
    glob_t found;
    bool yes = false;
    cr_assert(!glob(STEPS_FOLDER "/*/kernel.cu", 0, NULL, &found));
    for (size_t i = 0; i < found.gl_pathc && !yes; i++) {
        char *text = read_text(found.gl_pathv[i]);
        yes = has_line(text, wanted);
        free(text);
    }
    globfree(&found);
    return yes;
}

Test(notes, have_the_headings_of_every_chapter)
{
    static const char *const headings[] = {
        "## The idea",
        "## Picture",
        "## The diff",
        "## Why it is faster",
        "## What the simulator counts",
        "## What the GPU measures",
        "## What still hurts",
        "## Questions learners ask",
        "## Exercise",
    };
    char *notes = read_chapter();
    const char *p = notes;
    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++) {
        const char *at = strstr(p, headings[i]);
        cr_assert(at, "%s: no heading '%s' after the one before it", STEP.name, headings[i]);
        p = at;
    }
    free(notes);
}

Test(notes, quote_only_code_that_exists)
{
    char *notes = read_chapter(), *kernel = read_text(STEP_FOLDER "/kernel.cu");
    const char *p = notes;
    char line[512];
    enum { PROSE, C, DIFF, OTHER } block = PROSE;
    int quoted = 0;
    while (next_line(&p, line)) {
        if (!strncmp(line, "```", 3)) {
            block = block != PROSE ? PROSE : !strcmp(line, "```c") ? C : !strcmp(line, "```diff") ? DIFF : OTHER;
            continue;
        }
        bool minus = block == DIFF && *line == '-';
        if (block == DIFF && *line)
            *line = ' ';
        const char *code = trim(line);
        if ((block != C && block != DIFF) || !*code || !strcmp(code, "..."))
            continue;
        cr_assert(minus ? in_any_kernel(code) : has_line(kernel, code), "%s quotes '%s', which is in no kernel.cu",
                  STEP.name, code);
        quoted++;
    }
    cr_assert(quoted > 0, "%s quotes no code", STEP.name);
    free(notes);
    free(kernel);
}

Test(notes, counters_are_the_simulators)
{
    NEEDS_NVCC_13;
    char error[DEV_ERROR_MAX], line[512];
    struct tester_options o = tester_defaults;
    struct tester_result r;
    o.m = o.n = o.k = 256;
    struct dev *d = dev_open(DEV_SIM, error);
    cr_assert(d && tester_run(d, &STEP, &o, &r, error) && dev_profile(d), "%s", error);
    char *notes = read_chapter();
    const char *p = notes;
    int checked = 0;
    while (next_line(&p, line)) {
        for (int m = 0; m < METRIC_COUNT; m++) {
            char cell[160], value[PROFILE_GROUPED];
            snprintf(cell, sizeof cell, "| `%s` |", profile_metric_name(m));
            if (strncmp(line, cell, strlen(cell)))
                continue;
            profile_grouped(dev_profile(d)->total[m], value);
            char *text = line + strlen(cell);
            char *end = strchr(text, '|');
            if (end && STEP.type == DEV_F64 && strchr(end + 1, '|')) {  // float and double side by side
                text = end + 1;
                end = strchr(text, '|');
            }
            cr_assert(end, "%s: a row without an end: %s", STEP.name, line);
            *end = '\0';
            const char *said = trim(text);
            cr_assert_str_eq(said, value, "%s: NOTES.md says %s = %s, the simulator counts %s", STEP.name,
                             profile_metric_name(m), said, value);
            checked++;
        }
    }
    cr_assert(checked >= 4, "%s: only %d counters in NOTES.md", STEP.name, checked);
    free(notes);
    dev_close(d);
}

// --- times: rows of a chapter's table against steps/results ---

// TFLOP/s with three digits.
static const char *rate(double tflops, char text[32])
{
    snprintf(text, 32, "%.*f", tflops >= 9.995 ? 1 : 2, tflops);
    return text;
}

// The chapter's row for a line of results, and whether the line is about this step.
static bool row_of(const char *line, char row[256])
{
    char name[64], type[16], time[REPORT_TIME], ours[32], theirs[32];
    double ms, fastest, slowest, tflops, baseline;
    int runs, m, n, k;
    const char *rest = strrchr(line, '"');  // the texts are in quotes and come first
    if (!rest || sscanf(rest + 2, "%*[^,],%d,%d,%d,%d,%63[^,],%15[^,],%lf,%lf,%lf,%lf,%lf", &runs, &m, &n, &k, name,
                        type, &ms, &fastest, &slowest, &tflops, &baseline) != 11)
        return false;
    snprintf(row, 256, "| %d | %s | %s | %s | %.1f %% |", m, report_time(ms, time), rate(tflops, ours),
             rate(baseline, theirs), 100 * tflops / baseline);
    return !strcmp(name, STEP.name);
}

// Rows of tables "| size | time | TFLOP/s | cuBLAS | of cuBLAS |".
static int rows_of_times(const char *notes)
{
    char line[512];
    int rows = 0;
    bool times = false;
    while (next_line(&notes, line)) {
        times = *line == '|' && (times || !strcmp(line, "| size | time | TFLOP/s | cuBLAS | of cuBLAS |"));
        rows += times && isdigit((unsigned char)line[2]);
    }
    return rows;
}

Test(notes, times_are_those_of_the_results)
{
    glob_t found;
    int rows = 0, of_folder = 0;
    char line[512], row[256], folder[8];
    char *notes = read_chapter();
    cr_assert(!glob(STEPS_FOLDER "/results/h200_*[0-9].csv", 0, NULL, &found),
              "no results in " STEPS_FOLDER "/results");
    char *results = read_text(found.gl_pathv[found.gl_pathc - 1]);  // the latest
    const char *p = results;
    snprintf(folder, sizeof folder, ",%.2s_", STEP.name);  // both builds of 02 have one chapter
    while (next_line(&p, line)) {
        of_folder += strstr(line, folder) != NULL;
        if (!row_of(line, row))
            continue;
        cr_expect(has_line(notes, row), "%s: NOTES.md lacks this row of steps/results:\n%s", STEP.name, row);
        rows++;
    }
    if (!of_folder && !rows_of_times(notes))
        cr_skip_test("%s was not measured: it is not in %s", STEP.name, found.gl_pathv[found.gl_pathc - 1]);
    cr_assert_geq(rows, 5, "%d rows of %s in %s", rows, STEP.name, found.gl_pathv[found.gl_pathc - 1]);
    cr_assert_eq(rows_of_times(notes), of_folder, "NOTES.md has %d rows of times, %s %d", rows_of_times(notes),
                 found.gl_pathv[found.gl_pathc - 1], of_folder);
    globfree(&found);
    free(results);
    free(notes);
}
