// Every figure of speed in a chapter stands in a table of steps/results; figures.h says what counts as one. So do the
// shares and clocks that Nsight Compute gave at 4096. And the other way round: every trial and bound is quoted
// somewhere, and every bound is what its formula gives. A chapter whose numbers carry marks is left to
// slides/refresh.mjs. ROOT is the source's folder.
#include <criterion/criterion.h>

#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "figures.h"

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

// --- the checker itself ---

static char complaints[1000];

static void note(const char *figure, const char *where)
{
    (void)where;
    strcat(strcat(complaints, figure), " ");
}

static struct result results[] = {
    { .step = "07_first",
      .type = "f32",
      .m = 4096,
      .tflops = 49.80,
      .baseline_tflops = 51.25,
      .ms = 2.7596,
      .mhz = 1980 },
    { .step = "07_first", .type = "f32", .m = 1024, .tflops = 19.31, .baseline_tflops = 33.77, .ms = 0.11123 },
    { .step = "08_second", .type = "f32", .m = 4096, .tflops = 124.5, .baseline_tflops = 51.25, .ms = 1.1 },
};
static struct trial trials[] = {
    { .step = "07_first", .type = "f32", .size = 4096, .low = 46, .high = 49 },
    { .step = "instruction", .type = "f32", .low = 63.6, .high = 63.6 },
};
static struct bound bounds[] = { { .step = "07_first", .tflops = "66.9" } };
static struct counter stalls[] = {
    { "07_first", "a.pct_of_peak", 80.28 }, { "07_first", "wait.ratio", 0.25 },
    { "07_first", "issue.ratio", 1.3 },     { "08_second", "a.pct_of_peak", 17.17 },
    { "08_second", "wait.ratio", 9.66 },    { "07_first", "clock.per_second", 1.9748e9 },
};

Test(figures, are_found_or_refused)
{
    static const struct {
        const char *text, *refused;
        size_t figures;
    } cases[] = {
        { "It reaches 49.8 TFLOP/s at 4096.", "", 1 },
        { "It reaches 49.8 TFLOP/s at 1024.", "49.8 ", 1 },
        { "It reaches 49.9 TFLOP/s.", "49.9 ", 1 },
        { "It reaches 50 TFLOP/s, rounded.", "", 1 },
        { "It reaches 999 TFLOP/s.", "999 ", 1 },
        { "From 46 to 49 TFLOP/s, and 46, 48 or 49.8 TFLOP/s.", "48 ", 5 },
        { "19.3 and\n20.3\nTFLOP/s", "20.3 ", 2 },
        { "22.3 TFLOP/s instead of 19.3.", "22.3 ", 2 },
        { "66.9 TFLOP/s (132 SMs x 1.98 GHz) at 41.9 and 63.6", "41.9 ", 4 },
        { "at 4096, 49.9 TFLOP/s, and slower than 03, 49.8 TFLOP/s", "49.9 ", 2 },
        { "at 49.9 TFLOP/s, at 46 to 50 TFLOP/s", "49.9 ", 3 },
        { "A bare 41.9 and 12 TFLOPs.", "", 0 },
        { "124.5 TFLOP/s", "124.5 ", 1 },
        { "08 has 124.5 TFLOP/s", "", 1 },
        { "1.08 and 2,08 and 3080 have 124.5 TFLOP/s", "1.08 124.5 ", 2 },
        { "08.\n\n124.5 TFLOP/s is another paragraph", "124.5 ", 1 },
        { "08.\n- 124.5 TFLOP/s is an item", "124.5 ", 1 },
        { "`33.3 TFLOP/s` and `3.1\n4.1` and 49.8 TFLOP/s", "", 1 },
        { "```\n33.3 TFLOP/s\n```\n33.4 TFLOP/s", "33.4 ", 1 },
        { "0.97 of cuBLAS, 97 % of cuBLAS, 0.98 of cuBLAS and 57 % of cuBLAS at 4096", "0.98 57 ", 4 },
        { "0.57 of cuBLAS at 1024", "", 1 },
        { "2.5 times 07 at 4096; 2.4 times 02", "2.5 ", 1 },
        { "TFLOP/s: 2.76 ms, 111 us, 112 us, 3.1 clocks", "112 ", 3 },
        { "Nsight Compute: 80 % busy, 79 % busy, 0.25 and 0.26 clocks, 1.55 in all", "79 0.26 ", 5 },
        { "Nsight Compute: 80 % busy, 17 % busy, 9.7 clocks", "17 9.7 ", 3 },
        { "Nsight Compute: in 08 17 % busy, 9.7 clocks, 9.66 in all", "", 3 },
        { "17 % busy.\n\nNsight Compute: 9.7 clocks", "", 0 },
        { "1.97 GHz, 1.98 GHz, 1.83 GHz; TFLOP/s at 1.9 GHz", "1.83 1.9 ", 4 },
        { "Nsight Compute: 80 % busy at 1.97 GHz", "", 2 },
        { "| | TFLOP/s | GB |\n|---|---|---|\n| a 1 | 49.8 | 7.5 |\n| b 2 | 49.7 |", "49.7 ", 2 },
        { "| TFLOP/s of | a | b |\n|---|---|---|\n| 3 c | 46 to 49 | 63.6 |\n| d | 47 | - |", "47 ", 4 },
        { "| size | time | TFLOP/s |\n|---|---|---|\n| 1024 | 111 us | 49.8 |", "49.8 ", 1 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool quoted[3] = { false };
        struct figures f = { results, trials, bounds, stalls, 3, 2, 1, 6, quoted, quoted + 2 };
        *complaints = '\0';
        size_t n = figures_check(&f, cases[i].text, "07", note);
        cr_expect_str_eq(complaints, cases[i].refused, "%s: refused %s", cases[i].text, complaints);
        cr_expect_eq(n, cases[i].figures, "%s: %zu figures", cases[i].text, n);
    }
}

Test(figures, formulas_are_worked_out)
{
    cr_expect_float_eq(figures_formula("sms * ghz * 128 * 2 / 1000", 132, 1.98), 66.9, 0.01);
    cr_expect_float_eq(figures_formula("2*(3+4) - 10/5", 0, 0), 12, 1e-9);
    cr_expect(isnan(figures_formula("2 * (3", 0, 0)) && isnan(figures_formula("2 3", 0, 0)));
    cr_expect(isnan(figures_formula("", 0, 0)) && isnan(figures_formula("2 * clock", 0, 0)));
}

// --- the texts ---

static const char *checked;  // the text's name

static void complain(const char *figure, const char *where)
{
    cr_expect(false, "%s: %s is in no table of steps/results that may be quoted here:\n%s", checked, figure, where);
}

// False for a chapter with marks.
static bool check_chapter(struct figures *f, const char *path)
{
    char *text = read_text(path), own[3] = "";
    const bool plain = !strstr(text, "data-value=");
    strncat(own, path + strlen(ROOT "/steps/"), 2);
    checked = path + strlen(ROOT) + 1;
    if (plain) {
        size_t n = figures_check(f, text, own, complain);
        cr_expect_geq(n, 6, "%s: only %zu figures were found", checked, n);
    }
    free(text);
    return plain;
}

Test(figures, of_chapters_without_marks_are_in_the_results)
{
    struct figures f;
    glob_t found;
    size_t plain = 0;
    figures_open(&f, ROOT "/steps/results");
    cr_assert(!glob(ROOT "/steps/[0-9][0-9]_*/NOTES.md", 0, NULL, &found));
    for (size_t i = 0; i < found.gl_pathc; i++)
        plain += check_chapter(&f, found.gl_pathv[i]);
    cr_expect_geq(found.gl_pathc, 12);
    const bool all = plain == found.gl_pathc;
    globfree(&found);
    for (size_t i = 0; all && i < f.n_trials; i++)
        cr_expect(f.trial_quoted[i], "no chapter quotes the trial %s, \"%s\"", f.trials[i].step, f.trials[i].variant);
    for (size_t i = 0; all && i < f.n_bounds; i++)
        cr_expect(f.bound_quoted[i], "no chapter quotes the bound %s, \"%s\"", f.bounds[i].step, f.bounds[i].what);
    figures_close(&f);
}

Test(figures, bounds_are_what_their_formulas_give)
{
    struct figures f;
    figures_open(&f, ROOT "/steps/results");
    cr_assert_gt(f.n_bounds, 0);
    for (size_t i = 0; i < f.n_bounds; i++) {
        const struct bound *b = &f.bounds[i];
        const char *point = strchr(b->tflops, '.');
        char text[64];
        const double value = figures_formula(b->formula, f.results[0].sms, f.results[0].mhz * 1e-3);
        snprintf(text, sizeof text, "%.*f", point ? (int)strlen(point + 1) : 0, value);
        cr_expect_str_eq(text, b->tflops, "%s: %s is %g, not %s", b->step, b->formula, value, b->tflops);
    }
    figures_close(&f);
}
