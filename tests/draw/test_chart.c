// The chart of the ladder's results: the committed picture is what the program draws, every figure of the table stands
// in it as text and as a length, and what cannot be drawn is refused in one line. CHART is the program, RESULTS the
// folder steps/results.
#include <criterion/criterion.h>

#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "tools/tables.h"
#include "xml.h"

enum { TEXT = 200000 };
static char text[TEXT];

static void slurp(FILE *f, const char *what)
{
    cr_assert(f, "%s", what);
    size_t n = fread(text, 1, TEXT - 1, f);
    cr_assert(n < TEXT - 1, "%s is too long", what);
    text[n] = '\0';
}

// Runs the program and returns its exit status; text gets what it wrote, stderr too.
static int chart(const char *arguments)
{
    char command[4000];
    snprintf(command, sizeof command, "exec 2>&1; '%s' %s", CHART, arguments);
    FILE *f = popen(command, "r");
    slurp(f, command);
    int status = pclose(f);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// The latest table of times, without ".csv".
static const char *latest(void)
{
    static char path[1000];
    glob_t found;
    cr_assert(!glob(RESULTS "/h200_2*[0-9].csv", 0, NULL, &found), "no results in " RESULTS);
    const char *last = found.gl_pathv[found.gl_pathc - 1];
    snprintf(path, sizeof path, "%.*s", (int)strlen(last) - 4, last);
    globfree(&found);
    return path;
}

// The README's command.
static void draw_latest(int size)
{
    char arguments[3500];
    int n = snprintf(arguments, sizeof arguments, "--trials '" RESULTS "/h200_trials.csv' --size %d '%s.csv'", size,
                     latest());
    if (size % 256 == 0)
        snprintf(arguments + n, sizeof arguments - (size_t)n, " --counters '%s_counters.csv'", latest());
    cr_assert_eq(chart(arguments), 0, "%s", text);
}

Test(chart, a_large_one_has_bars_of_floats_and_halves_and_nothing_else)
{
    char arguments[3500];
    snprintf(arguments, sizeof arguments, "--large '%s.csv'", latest());
    cr_assert_eq(chart(arguments), 0, "%s", text);
    check_xml(text);
    cr_expect(strstr(text, ">07_double_buffer<") && strstr(text, ">20_any_shape<"));
    cr_expect_eq(count(text, " %</text>"), 20, "each step has its share");
    cr_expect(!strstr(text, "02_smem_tile_double") && !strstr(text, "Outlines"));
}

// What a step bought: its row and the row before of the same type, and a roofline of these two.
Test(chart, a_step_alone_is_drawn_beside_the_step_before)
{
    char arguments[3500];
    static const char *const steps[][3] = {
        { "6", ">05_vectorized<", ">06_warp_tile<" },
        { "03_thread_tile_1d", ">02_smem_tile<", ">03_thread_tile_1d<" },
        { "08", ">08_wmma<", ">08_wmma<" },
    };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        snprintf(arguments, sizeof arguments, "--step %s --counters '%s_counters.csv' '%s.csv'", steps[i][0], latest(),
                 latest());
        cr_assert_eq(chart(arguments), 0, "%s", text);
        for (int word = 1; word < 3; word++)
            cr_expect(strstr(text, steps[i][word]), "%s: no %s", steps[i][0], steps[i][word]);
        cr_expect(!strstr(text, ">11_mma_ptx<"), "%s: other steps, too", steps[i][0]);
    }
    cr_expect(!strstr(text, ">07_double_buffer<"), "08 has another type than 07");
    snprintf(arguments, sizeof arguments, "--step 6 '%s.csv'", latest());
    cr_expect(chart(arguments) == 2 && strstr(text, "--step 6 needs --counters FILE\n"), "%s", text);
    snprintf(arguments, sizeof arguments, "--step 77 --counters '%s_counters.csv' '%s.csv'", latest(), latest());
    cr_expect(chart(arguments) == 2 && strstr(text, "no such step"), "%s", text);
}

Test(chart, the_committed_picture_is_what_the_program_draws)
{
    static char drawn[TEXT];
    char path[1100];
    draw_latest(4096);
    strcpy(drawn, text);
    snprintf(path, sizeof path, "%s.svg", latest());
    FILE *f = fopen(path, "rb");
    slurp(f, path);
    fclose(f);
    cr_assert(!strcmp(drawn, text), "%s is not what chart draws now: draw it again, with the README's command", path);
}

// The right panels reach further down than the left ones, and the text below these has to end before them: in small
// letters a column has room for 86.
Test(chart, what_stands_below_the_left_bars_ends_before_the_right_ones)
{
    static const char line[] = "<text class=\"small dim\" x=\"24\" y=\"";
    int below = 0;
    draw_latest(4096);
    for (const char *at = text; (at = strstr(at, line)); at++) {
        const char *words = strchr(at, '>') + 1;
        const int letters = (int)strcspn(words, "<");
        if (atof(at + sizeof line - 1) < 100)  // the second line of the title
            continue;
        below++;
        cr_expect_leq(letters, 86, "%d letters: %.*s", letters, letters, words);
    }
    cr_expect_geq(below, 3);
}

// --- figures ---

static const char *cell(double value, const char *unit)
{
    static char cells[4][64];
    static unsigned next;
    char *to = cells[next++ % 4];
    snprintf(to, 64, ">%.*f%s</text>", *unit || value >= 9.995 ? 1 : 2, value, unit);
    return to;
}

// The text after the element that holds what; fails where there is none.
static const char *after(const char *from, const char *what, const struct result *r)
{
    const char *at = from ? strstr(from, what) : NULL;
    cr_expect(at, "%s at %d: '%s' is not in the picture", r->step, r->m, what);
    return at ? at + strlen(what) : NULL;
}

// cuBLAS's bar of a type has the median of what the rows of that size and type say.
static void check_baseline(const struct result *list, size_t rows, int size, const char *type)
{
    double rates[64];
    size_t n = 0;
    const struct result *last = NULL;
    for (const struct result *r = list; r < list + rows; r++) {
        if (r->m != size || strcmp(r->type, type))
            continue;
        cr_assert(n < 64);
        size_t at = n++;
        for (; at > 0 && rates[at - 1] > r->baseline_tflops; at--)
            rates[at] = rates[at - 1];
        rates[at] = r->baseline_tflops;
        last = r;
    }
    if (last)
        after(after(strstr(text, last->step), ">cuBLAS", last), cell((rates[(n - 1) / 2] + rates[n / 2]) / 2, ""),
              last);
}

// A row of bars: name, length, TFLOP/s, share. Returns pixels a TFLOP/s.
static double check_row(const struct result *r)
{
    char name[80];
    double width = 0;
    snprintf(name, sizeof name, ">%s</text>", r->step);
    const char *at = after(text, name, r), *end = at;
    if (at)
        cr_expect_eq(sscanf(at, " <rect class=\"%*[^\"]\" x=\"%*f\" y=\"%*f\" width=\"%lf\"", &width), 1);
    for (int i = 0; end && i < 3; i++)  // the bar and two texts
        end = strchr(end + 1, '\n');
    at = after(at, cell(r->tflops, ""), r);
    at = after(at, cell(100 * r->tflops / r->baseline_tflops, " %"), r);
    cr_expect(at && end && at <= end + 1, "%s: another row's figures", r->step);
    return width / r->tflops;
}

Test(chart, every_figure_of_the_table_is_a_text_and_a_length)
{
    char path[1100], error[DEV_ERROR_MAX];
    struct result *list;
    size_t rows;
    int drawn = 0;
    double scale[3] = { 0 };
    snprintf(path, sizeof path, "%s.csv", latest());
    cr_assert(results_read(path, &list, &rows, error), "%s", error);
    for (const struct result *r = list; r < list + rows; r++) {
        if (r->m != drawn) {
            draw_latest(drawn = r->m);
            check_xml(text);
            memset(scale, 0, sizeof scale);
            for (int i = 0; i < 3; i++)
                check_baseline(list, rows, drawn, (const char *[]){ "f32", "f16", "f64" }[i]);
        }
        double *of_type = &scale[!strcmp(r->type, "f32") ? 0 : !strcmp(r->type, "f16") ? 1 : 2];
        const double pixels = check_row(r);
        if (*of_type > 0)
            cr_expect_float_eq(pixels, *of_type, 0.06 / r->tflops + 0.02 * *of_type,
                               "%s at %d: %g pixels a TFLOP/s, others %g", r->step, r->m, pixels, *of_type);
        *of_type = pixels;
    }
    free(list);
    cr_assert_geq(rows, 65, "only %zu rows", rows);
}

// Tiles of BM x BN: 2 M N K FLOP over M N K (1/BM + 1/BN) elements loaded and M N stored.
static void expect_intensity(const char *step, double bm, double bn, double bytes)
{
    char hint[200];
    const double n = 4096;
    snprintf(hint, sizeof hint, " TFLOP/s, %.3g FLOP a byte</title>", 2 / (bytes * (1 / bm + 1 / bn + 1 / n)));
    char name[80];
    snprintf(name, sizeof name, "<title>%s: ", step);
    const char *at = strstr(text, name);
    cr_assert(at, "%s is not a point", step);
    cr_expect_eq(strstr(at, hint), strstr(at, " TFLOP/s, "), "%s: %.60s, expected%s", step, at, hint);
}

Test(chart, the_roofline_has_each_step_at_its_formula)
{
    draw_latest(4096);
    cr_expect_eq(count(text, "<circle"), 21);
    expect_intensity("02_smem_tile", 32, 32, 4);
    expect_intensity("02_smem_tile_double", 32, 32, 8);
    expect_intensity("03_thread_tile_1d", 64, 64, 4);
    expect_intensity("07_double_buffer", 128, 128, 4);
    expect_intensity("12_mma_swizzle", 128, 256, 2);
    expect_intensity("19_tma_store", 128, 256, 2);
    expect_intensity("20_any_shape", 128, 256, 2);         // not 64 x 64, which it takes at 256, where it was counted
    cr_expect(strstr(text, "multiply-adds, f32: 66.9<"));  // 132 x 128 x 2 x 1.98 GHz
    cr_expect(strstr(text, "tensor cores, f16: 1,071<"));
    cr_expect(strstr(text, "L1 caches, 33 TB/s<"));
    cr_expect(strstr(text, "the card's memory, 4.8 TB/s<"));
}

// How many steps a label names: "07", "13, 14", "15 to 20".
static int named(const char *words)
{
    int n = 1, from, to, length;
    while (sscanf(words, "%d to %d%n", &from, &to, &length) == 2 || sscanf(words, "%d, %n", &from, &length) == 1) {
        const bool run = !strncmp(words + 2, " to ", 4);
        n += run ? to - from : words[2] == ',';
        if (!run && words[2] != ',')
            break;
        words += length;
    }
    return n;
}

Test(chart, the_labels_of_the_roofline_name_each_step_lie_in_the_frame_and_do_not_cross)
{
    draw_latest(4096);
    const char *roofline = strstr(text, ">Roofline:");
    cr_assert(roofline);
    const char *frame = strstr(roofline, "class=\"frame\"");
    double top, height, x[32], y[32];
    int n = 0, steps = 0;
    cr_assert_eq(sscanf(strstr(frame, " y="), " y=\"%lf\"", &top), 1);
    cr_assert_eq(sscanf(strstr(frame, " height="), " height=\"%lf\"", &height), 1);
    for (const char *at = frame; (at = strstr(at + 1, "<g class=\"names\">")) != NULL; n++) {
        const char *words = strstr(at, "<text");
        cr_assert(n < 32);
        cr_assert_eq(sscanf(strstr(words, " x="), " x=\"%lf\"", &x[n]), 1);
        cr_assert_eq(sscanf(strstr(words, " y="), " y=\"%lf\"", &y[n]), 1);
        cr_expect(y[n] > top + 8 && y[n] < top + height, "%.40s: %g is not within %g and %g", at, y[n], top,
                  top + height);
        for (int i = 0; i < n; i++)
            cr_expect(fabs(x[i] - x[n]) > 40 || fabs(y[i] - y[n]) >= 12, "%.40s crosses another one", words);
        steps += named(strchr(words, '>') + 1);
    }
    cr_expect_eq(steps, 21);
    cr_expect_leq(n, 14, "%d labels: points that lie on each other share one", n);
}

// --- tables of a learner's own ---

static struct scratch file;

static void forget(void)
{
    scratch_close(&file);
}

static const char *const header = "date,device,detail,baseline,l2,runs,m,n,k,step,type,ms,ms_min,ms_max,tflops,"
                                  "baseline_tflops,baseline_after_tflops\n";

static int draw_table(const char *table, const char *options)
{
    char arguments[600];
    cr_assert(scratch_open(&file, "table.csv", table));
    snprintf(arguments, sizeof arguments, "%s %s", options, file.path);
    const int status = chart(arguments);
    forget();
    return status;
}

#define T4 "2026-01-02,\"Tesla T4\",\"sm_75, 40 SMs up to 1590 MHz\",\"\",warm,15,512,512,512,"
#define OTHER "2026-01-02,\"A & B <card>\",\"sm_75, 40 SMs up to 1590 MHz\",\"\",warm,15,512,512,512,"

Test(chart, a_table_without_cublas_of_a_slower_card_and_measured_twice, .fini = forget)
{
    char table[2000];
    snprintf(table, sizeof table, "%s%s%s%s", header, T4 "01_naive,f32,1,1,1,0.4,,\n", T4 "my_own,f32,1,1,1,2.5,,\n",
             T4 "01_naive,f32,1,1,1,0.32,,\n");
    char options[1300];
    snprintf(options, sizeof options, "--size 512 --counters '%s_counters.csv' --trials '" RESULTS "/h200_trials.csv'",
             latest());
    cr_assert_eq(draw_table(table, options), 0, "%s", text);
    check_xml(text);
    cr_expect(strstr(text, ">0.32</text>") && !strstr(text, ">0.40</text>"), "the later row counts");
    cr_expect(!strstr(text, "cuBLAS") && !strstr(text, "of cuBLAS"));
    cr_expect(!strstr(text, "trial:"), "the trials are of another card");
    cr_expect(strstr(text, "multiply-adds, f32: 8.14<"));
    cr_expect(strstr(text, "my_own is not drawn: the table of counters or this build does not have it"));
    cr_expect(strstr(text, "<title>01_naive: 0.32 TFLOP/s, 0.399 FLOP a byte"));
    cr_expect(strstr(text, ">0.1</text>"), "the axis goes down to it");
}

Test(chart, a_card_that_is_not_known_has_no_ceilings, .fini = forget)
{
    char table[2000];
    snprintf(table, sizeof table, "%s%s", header, OTHER "01_naive,f32,1,1,1,0.4,,\n");
    cr_assert_eq(draw_table(table, "--size 512"), 0, "%s", text);
    check_xml(text);
    cr_expect(strstr(text, "A &amp; B &lt;card&gt;"));
    cr_expect(strstr(text, "not in the table of common/base/card.def"));
    cr_expect_eq(count(text, "class=\"limit\""), 0);
}

// --- refusals ---

static void refused(int status, const char *what, const char *says)
{
    cr_expect_eq(status, 2, "%s: status %d", what, status);
    cr_expect(strstr(text, says), "%s: %s", what, text);
    cr_expect_eq(count(text, "\n"), 1, "%s: %s", what, text);
    cr_expect_eq(strncmp(text, "chart: ", 7), 0, "%s: %s", what, text);
}

Test(chart, bad_usage_ends_in_one_line_and_status_2)
{
    char table[1100], arguments[3500];
    snprintf(table, sizeof table, "'%s.csv'", latest());
    const char *const cases[][2] = {
        { "", "one table of results is needed" },
        { "a b", "one table of results is needed" },
        { "/nowhere.csv", "/nowhere.csv: cannot read it: No such file" },
        { "/tmp", "/tmp: cannot read it: Is a directory" },
        { "/dev/null", "/dev/null: there are no rows in it" },
        { "--size 0 x", "--size \"0\": must be a whole number from 1 to 2147483647" },
        { "--size 4k x", "--size \"4k\"" },
        { "--size", "needs a value" },
        { "--sizes 3 x", "unknown option" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        refused(chart(cases[i][0]), cases[i][0], cases[i][1]);
    const char *const others[][2] = {
        { "--size 256", "no rows of 256 x 256 x 256; it has those of 512 1024 2048 4096 4095 8192" },
        { "--size 4095 --counters x", "no multiple of it" },
        { "--counters /nowhere.csv", "/nowhere.csv: cannot read it" },
        { "--counters '" RESULTS "/h200_trials.csv'", "h200_trials.csv:1: not the table that was expected" },
        { "--trials '" RESULTS "/README.md'", "README.md:1: not the table that was expected" },
        { "> /dev/full", "standard output: cannot write it: No space left" },
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        snprintf(arguments, sizeof arguments, "%s %s", table, others[i][0]);
        refused(chart(arguments), others[i][0], others[i][1]);
    }
}

Test(chart, a_malformed_row_is_named, .fini = forget)
{
    static const char *const cases[][2] = {
        { T4 "01_naive,f32,1,1,1,0.4,\n", ":2: not a row of this table" },
        { T4 "01_naive,f32,1,1,1,0.4,,,\n", ":2: not a row of this table" },
        { T4 "01_naive,f32,1,1,1,fast,,\n", ":2: \"fast\": must be a number above 0" },
        { T4 "01_naive,f32,1,1,1,0,,\n", ":2: \"0\": must be a number above 0" },
        { T4 "01_naive,f32,1,1,1,nan,,\n", ":2: \"nan\": must be a number above 0" },
        { T4 "01_naive,f32,1,1,1,,,\n", ":2: \"\": must be a number above 0" },
        { T4 "01_naive,f8,1,1,1,0.4,,\n", ":2: \"f8\": the types are f16, f32 and f64" },
        { "2026-01-02,\"Tesla T4,\"sm_75\n", ":2: not a row of this table" },
        { "2026-01-02,\"Tesla T4\",\"sm_75, fast\",\"\",warm,15,512,512,512,01_naive,f32,1,1,1,0.4,,\n",
          ":2: \"sm_75, fast\": does not say how many SMs" },
        { "2026-01-02,\"Tesla T4\",\"sm_75, 40 SMs up to 1590 MHz\",\"\",warm,15,512,512,-512,a,f32,1,1,1,0.4,,\n",
          ":2: \"-512\": must be a whole number" },
        { T4 "01_naive,f32,1,1,1,0.4,,\n\n", ":3: not a row of this table" },
        { T4 "01_naive,f32,1,1,1,0.4,,\n" OTHER "02_smem_tile,f32,1,1,1,0.4,,\n", "are of two devices" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char table[2000];
        snprintf(table, sizeof table, "%s%s", header, cases[i][0]);
        refused(draw_table(table, "--size 512"), cases[i][0], cases[i][1]);
    }
}
