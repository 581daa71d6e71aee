// Tests of the tester, its options and the driver's report, on fake devices that multiply on the host.
#include <criterion/criterion.h>

#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture.h"
#include "fake_device.h"
#include "tester/tester_options.h"
#include "base/progress.h"
#include "tester/tester.h"
#include "tester/tester_explain.h"

static const struct step step_f32 = {
    .name = "fake_step",
    .type = DEV_F32,
    .ptx = FAKE_PTX "/fake_f32.ptx",
    .owner = owner_by_patches,
};
static const struct step step_f64 = {
    .name = "fake_step",
    .type = DEV_F64,
    .ptx = FAKE_PTX "/fake_f64.ptx",
    .owner = owner_by_patches,
};

// --- Command lines ---

enum { WORDS = 16 };

struct words {
    int n;
    char *word[WORDS + 1], copy[4096];
};

// Splits a command line at blanks; what begins with a single quote is one word up to the next.
static struct words *split(struct words *w, const char *line)
{
    memset(w, 0, sizeof *w);
    cr_assert(snprintf(w->copy, sizeof w->copy, "program %s", line) < (int)sizeof w->copy);
    for (char *s = w->copy; w->n < WORDS && *(s += strspn(s, " "));) {
        const char *end = *s == '\'' ? "'" : " ";
        w->word[w->n++] = s += *s == '\'';
        s += strcspn(s, end);
        if (*s)
            *s++ = '\0';
    }
    return w;
}

static enum options_outcome parse(const char *line, enum options_for program, struct tester_options *o, char *error)
{
    static struct words w;  // o->json points into it
    split(&w, line);
    return tester_options_parse(o, program, w.n, w.word, error);
}

Test(options, without_any_the_defaults_stand)
{
    struct tester_options o;
    char error[DEV_ERROR_MAX] = "";
    cr_assert_eq(parse("", OPTIONS_FOR_DRIVER, &o, error), OPTIONS_RUN, "%s", error);
    cr_expect(o.m == 0 && o.n == 0 && o.k == 0 && o.alpha == 1 && o.beta == 0 && o.seed == 1);
    cr_expect(o.device == DEV_AUTO && o.warmup == -1 && o.iterations == 0 && o.pause_ms == 0);
    cr_expect(o.check && !o.profile && !o.by_line && !o.json);
}

Test(options, every_one_reaches_its_field)
{
    struct tester_options o;
    char error[DEV_ERROR_MAX] = "";
    const char *line =
        "--m 1 --n=2147483647 --k 0033 --alpha -1.5e-3 --beta=.5 --seed 18446744073709551615 --device sim "
        "--warmup 0";
    cr_assert_eq(parse(line, OPTIONS_FOR_DRIVER, &o, error), OPTIONS_RUN, "%s", error);
    cr_expect(o.m == 1 && o.n == 2147483647 && o.k == 33, "%d %d %d", o.m, o.n, o.k);
    cr_expect(o.alpha == -1.5e-3 && o.beta == 0.5 && o.seed == UINT64_MAX && o.device == DEV_SIM && o.warmup == 0);
    line =
        "--iterations 1000000 --pause-ms 2.5 --no-check --profile --by-line --json a.json --device=gpu --size 9 --n 3";
    cr_assert_eq(parse(line, OPTIONS_FOR_DRIVER, &o, error), OPTIONS_RUN, "%s", error);
    cr_expect(o.iterations == 1000000 && o.pause_ms == 2.5 && !o.check && o.profile && o.by_line);
    cr_expect_str_eq(o.json, "a.json");
    cr_expect(o.device == DEV_GPU && o.m == 9 && o.n == 3 && o.k == 9, "%d %d %d", o.m, o.n, o.k);
    cr_expect_eq(parse("--no-check --check", OPTIONS_FOR_DRIVER, &o, error), OPTIONS_RUN);
    cr_expect(o.check, "the last of --no-check --check counts");
}

Test(options, help_and_list_are_outcomes)
{
    struct tester_options o;
    char error[DEV_ERROR_MAX];
    cr_expect_eq(parse("--m 3 --help", OPTIONS_FOR_DRIVER, &o, error), OPTIONS_HELP);
    cr_expect_eq(parse("--list", OPTIONS_FOR_LADDER, &o, error), OPTIONS_LIST);
    cr_expect_eq(parse("--list --help", OPTIONS_FOR_LADDER, &o, error), OPTIONS_HELP);
    cr_expect_eq(parse("--list", OPTIONS_FOR_DRIVER, &o, error), OPTIONS_BAD, "drivers have no list");
    cr_expect_eq(parse("--profile", OPTIONS_FOR_LADDER, &o, error), OPTIONS_BAD, "the ladder has no --profile");
}

// Bad command lines, and what the one line about each must say.
static const struct {
    const char *line, *says[3];
} bad[] = {
    { "--m 0", { "--m", "\"0\"", "from 1 to 2147483647" } },
    { "--m -3", { "--m", "\"-3\"", "from 1 to 2147483647" } },
    { "--m 1e9", { "--m", "\"1e9\"", "from 1 to 2147483647" } },
    { "--m abc", { "--m", "\"abc\"", "from 1 to 2147483647" } },
    { "--m 2147483648", { "--m", "\"2147483648\"", "from 1 to 2147483647" } },
    { "--m 99999999999999999999999", { "--m", "\"99999999999999999999999\"", "from 1 to" } },
    { "--m ''", { "--m", "\"\"", "from 1 to" } },
    { "--m +5", { "--m", "\"+5\"", "from 1 to" } },
    { "--m 5x", { "--m", "\"5x\"", "from 1 to" } },
    { "--m 0x10", { "--m", "\"0x10\"", "from 1 to" } },
    { "--m 5.0", { "--m", "\"5.0\"", "from 1 to" } },
    { "--n \t7", { "--n", "\"?7\"", "from 1 to" } },
    { "--k=0", { "--k", "\"0\"", "from 1 to 2147483647" } },
    { "--size -1", { "--size", "\"-1\"", "from 1 to" } },
    { "--seed -1", { "--seed", "\"-1\"", "from 0 to 18446744073709551615" } },
    { "--seed 18446744073709551616", { "--seed", "18446744073709551616", "from 0 to" } },
    { "--alpha one", { "--alpha", "\"one\"", "finite number" } },
    { "--alpha nan", { "--alpha", "\"nan\"", "finite number" } },
    { "--beta inf", { "--beta", "\"inf\"", "finite number" } },
    { "--beta 1e999", { "--beta", "\"1e999\"", "finite number" } },
    { "--beta 1,5", { "--beta", "\"1,5\"", "finite number" } },
    { "--pause-ms -1", { "--pause-ms", "\"-1\"", "from 0 to 3600000" } },
    { "--pause-ms nan", { "--pause-ms", "\"nan\"", "from 0 to 3600000" } },
    { "--iterations 0", { "--iterations", "\"0\"", "from 1 to 1000000" } },
    { "--warmup -1", { "--warmup", "\"-1\"", "from 0 to 1000000" } },
    { "--device cuda", { "--device", "\"cuda\"", "auto, gpu or sim" } },
    { "--device ''", { "--device", "\"\"", "auto, gpu or sim" } },
    { "--size", { "--size", "needs a value", "--help" } },
    { "--m 5 --k", { "--k", "needs a value", "--help" } },
    { "--frobnicate", { "unknown option", "\"--frobnicate\"", "--help" } },
    { "--frobnicate=3", { "unknown option", "\"--frobnicate=3\"", "--help" } },
    { "-q", { "unknown option", "\"-q\"", "--help" } },
    { "-qm", { "unknown option", "\"-q\"", "--help" } },
    { "--check=yes", { "--check=yes", "--check", "takes no value" } },
    { "--m 4 512", { "\"512\"", "not an option", "--help" } },
    { "--m 4 -- --n", { "\"--n\"", "not an option", "--help" } },
};

Test(options, bad_ones_get_one_line_with_the_option_the_text_and_what_is_allowed)
{
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct tester_options o;
        char error[DEV_ERROR_MAX] = "";
        cr_expect_eq(parse(bad[i].line, OPTIONS_FOR_DRIVER, &o, error), OPTIONS_BAD, "accepted: %s", bad[i].line);
        for (int s = 0; s < 3; s++)
            cr_expect_not_null(strstr(error, bad[i].says[s]), "%s: no %s in: %s", bad[i].line, bad[i].says[s], error);
        cr_expect_null(strchr(error, '\n'), "%s: more than one line: %s", bad[i].line, error);
    }
}

Test(options, a_long_text_with_control_characters_still_makes_one_short_line)
{
    struct tester_options o;
    char error[DEV_ERROR_MAX] = "", text[5000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    memcpy(text, "\x1b[31m\n", 6);
    char *argv[] = { "program", "--m", text, NULL };
    cr_expect_eq(tester_options_parse(&o, OPTIONS_FOR_DRIVER, 3, argv, error), OPTIONS_BAD);
    cr_expect_lt(strlen(error), 160, "%zu characters: %s", strlen(error), error);
    cr_expect(!strchr(error, '\n') && !strchr(error, '\x1b'), "%s", error);
}

// --- Runs ---

static struct tester_options options_of(int m, int n, int k)
{
    struct tester_options o = tester_defaults;
    o.m = m;
    o.n = n;
    o.k = k;
    return o;
}

static struct tester_result run(const struct step *step, const struct tester_options *o)
{
    struct tester_result r = { 0 };
    char error[DEV_ERROR_MAX] = "";
    struct dev *d = dev_open(o->device, error);
    cr_assert_not_null(d, "%s", error);
    bool ok = tester_run(d, step, o, &r, error);
    cr_expect(ok, "%s", error);
    dev_close(d);
    cr_expect_eq(fake.live, 0, "%d allocations and modules were not freed", fake.live);
    return r;
}

Test(tester, a_right_step_is_right_in_both_types_with_and_without_beta)
{
    const struct step *both[] = { &step_f32, &step_f64 };
    for (int i = 0; i < 4; i++) {
        struct tester_options o = options_of(33, 65, 17);
        o.alpha = 0.3;  // not a float
        o.beta = i / 2 ? -1.7 : 0;
        struct tester_result r = run(both[i % 2], &o);
        cr_expect_eq(r.verdict, TESTER_RIGHT, "%s beta %g: %s", type_name(both[i % 2]->type), o.beta, r.what);
        cr_expect_lt(r.worst, 1, "worst %g", r.worst);
    }
}

Test(tester, a_large_product_is_checked_by_freivalds)
{
    struct tester_options o = options_of(650, 650, 650);
    struct tester_result r = run(&step_f32, &o);
    cr_expect_eq(r.verdict, TESTER_RIGHT, "%s", r.what);
    cr_expect_not_null(strstr(r.what, "Freivalds"), "%s", r.what);
}

Test(tester, the_checked_launch_is_the_timed_one_on_the_simulated_gpu)
{
    struct tester_options o = options_of(8, 8, 8);
    fake.launch_ms = 3;
    struct tester_result r = run(&step_f32, &o);
    cr_expect_eq(fake.launches, 1, "%d launches", fake.launches);
    cr_expect(r.ms == 3 && r.ms_min == 3 && r.ms_max == 3, "%g %g %g", r.ms, r.ms_min, r.ms_max);
    cr_expect_eq(r.gflops, 0, "GFLOP/s of a simulation: %g", r.gflops);
    cr_expect_eq(r.baseline_ms, 0);
    o.iterations = 4;
    o.warmup = 2;
    run(&step_f32, &o);
    cr_expect_eq(fake.launches, 1 + 2 + 4, "%d launches", fake.launches);
}

// Of a block: many times what it takes, and few enough that an endless loop is found in seconds.
Test(tester, a_block_counts_as_endless_by_the_size_of_its_work)
{
    static const int depths[] = { 1, 256, 4096, 100000 };
    for (size_t i = 0; i < sizeof depths / sizeof *depths; i++) {
        struct tester_options o = options_of(8, 8, depths[i]);
        run(&step_f32, &o);
        const uint64_t work = 32 * 64 * (uint64_t)depths[i];
        cr_expect_geq(fake.budget, 2 * work + (1 << 22), "K %d", depths[i]);
        cr_expect_leq(fake.budget, 8 * work + (1 << 22), "K %d", depths[i]);
        cr_expect(i > 1 || fake.budget < 10000000, "K %d: %llu", depths[i], (unsigned long long)fake.budget);
    }
}

Test(progress, a_long_launch_has_a_line_that_is_wiped_at_its_end)
{
    static const struct {
        uint64_t done;
        double seconds;
        const char *text;
    } cases[] = { { 10, 1.9, "" }, { 10, 2.5, "\r 25 % of 40 blocks after 2 s" }, { 40, 1, "" } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        progress_line(out, cases[i].done, 40, cases[i].seconds);
        fclose(out);
        cr_expect_str_eq(text, cases[i].text);
        free(text);
    }
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    progress_line(out, 40, 40, 3);
    fclose(out);
    cr_expect(size == 72 && text[0] == '\r' && text[71] == '\r' && strspn(text + 1, " ") == 70, "'%s'", text);
    free(text);
}

Test(tester, a_gpu_runs_warm_up_and_timed_launches_and_the_baseline_as_often)
{
    struct tester_options o = options_of(100, 50, 20);
    fake.has_gpu = true;
    fake.launch_ms = 0.5;
    struct tester_result r = run(&step_f32, &o);
    cr_expect_eq(fake.launches, 1 + 2 + 15, "%d launches", fake.launches);
    cr_expect_eq(fake.baselines, 2 + 15, "%d baseline products", fake.baselines);
    cr_expect_float_eq(r.gflops, 2.0 * 100 * 50 * 20 / 0.5e-3 * 1e-9, 1e-12, "%g GFLOP/s", r.gflops);
    cr_expect_eq(r.baseline_ms, 0.25, "%g ms", r.baseline_ms);
}

Test(tester, default_sizes_are_those_of_the_device)
{
    struct dev_about sim = { .simulated = true }, gpu = { .simulated = false };
    struct tester_options o = tester_defaults, a, b;
    o.n = 7;
    a = tester_settle(&o, &sim);
    b = tester_settle(&o, &gpu);
    cr_expect(a.m == 256 && a.n == 7 && a.k == 256 && a.warmup == 0 && a.iterations == 0);
    cr_expect(b.m == 4096 && b.n == 7 && b.k == 4096 && b.warmup == 2 && b.iterations == 15);
}

// What a fault's report must say, for an element of block (1, 2): row 92 = 2 * 32 + 28, column 99 = 64 + 35, thread
// (28 / 4) * 8 + 35 / 8 = 60.
static const struct {
    enum fake_fault fault;
    double alpha, beta;
    const char *says;
} faults[] = {
    { FAKE_UNWRITTEN, 1, 0, "C[92][99] is nan" },
    { FAKE_UNWRITTEN, 1, 0,
      "block (1, 2), warp 1, lane 28: 1 of 10000 elements of C are never written, C[92][99] first" },
    { FAKE_UNWRITTEN, 1, 2,
      "block (1, 2), warp 1, lane 28: 1 of 10000 elements of C are never written, C[92][99] first" },
    { FAKE_LAST_PRODUCT, 1, 0, "block (1, 2), warp 1, lane 28: the last 1 of 50 products are missing" },
    { FAKE_LAST_PRODUCT, 0.3, 4, "block (1, 2), warp 1, lane 28: the last 1 of 50 products are missing" },
    { FAKE_NO_BETA, 2, 3, "block (0, 0), warp 0, lane 0: beta * C0 is missing" },
    { FAKE_READS_C, 1, 0, "C is read although beta is 0" },
    { FAKE_SWAPPED_ROWS, 1, 0, "C[92][0] is" },
    { FAKE_SWAPPED_ROWS, 1, 0, "rows of C that are 1 apart are exchanged" },
    { FAKE_SWAPPED_ROWS, 1, 0, "(in C[92][0] stands C[93][0])" },
    { FAKE_TRANSPOSED, 1, 0, "C[0][1] is" },
    { FAKE_TRANSPOSED, 1, 0, "C is transposed: row and column are swapped" },
    { FAKE_TRANSPOSED, 1, 0, "(in C[0][1] stands C[1][0])" },
};

Test(tester, a_wrong_step_is_wrong_and_the_report_says_where_and_why)
{
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        for (int f64 = 0; f64 < 2; f64++) {
            struct step step = step_f32;
            step.type = f64 ? DEV_F64 : DEV_F32;
            struct tester_options o = options_of(100, 100, 50);
            o.alpha = faults[i].alpha;
            o.beta = faults[i].beta;
            fake.fault = faults[i].fault;
            fake.row = 92;
            fake.col = 99;
            struct tester_result r = run(&step, &o);
            cr_expect_eq(r.verdict, TESTER_WRONG, "fault %d passed", (int)faults[i].fault);
            cr_expect_not_null(strstr(r.what, faults[i].says), "fault %d: no \"%s\" in: %s", (int)faults[i].fault,
                               faults[i].says, r.what);
            cr_expect_null(strchr(r.what, '\n'), "more than one line");
        }
    }
}

// One element alone lacks a product: no law fits, and the hint comes from its value.
Test(tester, a_cause_that_is_not_certain_is_said_to_be_so)
{
    for (int gpu = 0; gpu < 2; gpu++) {
        struct tester_options o = options_of(100, 100, 50);
        fake.has_gpu = gpu;
        fake.fault = FAKE_LAST_PRODUCT;
        fake.row = 92;
        fake.col = 99;
        struct tester_result r = run(&step_f32, &o);
        const char *says =
            gpu ? "(the cause is not certain; --device=sim --sanitize checks" : "certain; --sanitize checks";
        cr_expect(r.verdict == TESTER_WRONG && strstr(r.what, says), "%s", r.what);
        o.sanitize = true;
        r = run(&step_f32, &o);
        cr_expect(!strstr(r.what, "--sanitize"), "%s", r.what);
    }
}

// Products of halves whose sums are wrong in the same way everywhere, or each in its own. Halves are so coarse that
// some sum of the first products is near any value.
enum wrong_sum { NEXT_ROW, NEXT_COLUMN, LAST_16, FIRST_16, SCATTERED };

static double sum_of(const struct matrix *A, const struct matrix *B, enum wrong_sum wrong, int row, int col)
{
    const int K = A->cols, first = wrong == FIRST_16 ? 16 : 0, end = wrong == LAST_16 ? K - 16 : K;
    double sum = 0;
    row = wrong == NEXT_ROW ? (row + 1) % A->rows : row;
    col = wrong == NEXT_COLUMN ? (col + 1) % B->cols : col;
    for (int k = first; k < end; k++) {
        const int other =
            wrong == SCATTERED ? (int)(matrix_hash(7, (uint64_t)row * (uint64_t)K + (uint64_t)k) % (unsigned)K) : k;
        sum += matrix_get(A, row, other) * matrix_get(B, k, col);
    }
    return sum;
}

Test(tester, a_hint_is_what_other_wrong_elements_show_too)
{
    static const char *const says[] = { "that is C[1][0]: look at which row", "that is C[0][1]: look at which column",
                                        "the last 16 of 256 products", "the first 16 of 256 products",
                                        "look at the indices of the loads" };
    const struct step step = { .name = "s", .type = DEV_F16 };
    const struct geometry g = { .bm = 32, .bn = 32, .bk = 16, .threads = 32 };
    struct matrix A = matrix_new(DEV_F16, 32, 256), B = matrix_new(DEV_F16, 256, 32), C = matrix_new(DEV_F16, 32, 32);
    for (uint64_t seed = 1; seed <= 16; seed++) {
        matrix_fill_random(&A, 2 * seed);
        matrix_fill_random(&B, 2 * seed + 1);
        for (int wrong = 0; wrong <= SCATTERED; wrong++) {
            const struct tester_product p = { .alpha = 1, .A = &A, .B = &B, .C = &C };
            char what[500];
            for (int i = 0; i < 32; i++)
                for (int j = 0; j < 32; j++)
                    matrix_set(&C, i, j, sum_of(&A, &B, (enum wrong_sum)wrong, i, j));
            const struct matrix_verdict v = matrix_check(&C, 1, &A, &B, 0, NULL);
            cr_assert(!v.right && v.row == 0 && v.col == 0);
            tester_explain(what, sizeof what, &step, &g, &v, &p, NULL);
            cr_expect(strstr(what, says[wrong]), "seed %d: no \"%s\" in: %s", (int)seed, says[wrong], what);
            tester_explain(what, sizeof what, &step, &g, &v, &p, "look at what the checks found");
            cr_expect(strstr(what, ": look at what the checks found"), "%s", what);
        }
    }
    matrix_free(&A);
    matrix_free(&B);
    matrix_free(&C);
}

Test(tester, without_a_check_a_wrong_step_is_unchecked)
{
    struct tester_options o = options_of(10, 10, 10);
    o.check = false;
    fake.fault = FAKE_TRANSPOSED;
    cr_expect_eq(run(&step_f32, &o).verdict, TESTER_UNCHECKED);
}

// --- The driver ---

// Runs tester_main with its stdout and stderr going to files.
static struct output driver(const struct step *step, const char *line)
{
    static struct words w;
    split(&w, line);
    capture_begin();
    const int status = tester_main(step, w.n, w.word);
    struct output *o = capture_end();
    o->status = status;
    return *o;
}

Test(tester, an_old_build_of_an_edited_kernel_is_noted)
{
    char folder[] = "/tmp/testerXXXXXX", source[64], ptx[64];
    const struct timespec early[2] = { { 1000, 0 }, { 1000, 0 } }, late[2] = { { 1000, 1 }, { 1000, 1 } };
    cr_assert(mkdtemp(folder));
    snprintf(source, sizeof source, "%s/kernel.cu", folder);
    snprintf(ptx, sizeof ptx, "%s/k.ptx", folder);
    FILE *f = fopen(ptx, "w");
    fprintf(f,
            ".version 7.0\n.const .u32 geometry[4] = { 8, 8, 0, 64 };\n\t.file\t1 \"/usr/include/other.h\"\n\t.file\t2 "
            "\"%s\", 17, 18\n",
            source);
    fclose(f);
    fclose(fopen(source, "w"));
    struct step step = step_f32;
    step.ptx = ptx;
    for (int edited = 0; edited < 2; edited++) {
        cr_assert(!utimensat(AT_FDCWD, ptx, early, 0) && !utimensat(AT_FDCWD, source, edited ? late : early, 0));
        const struct output o = driver(&step, "--m 8 --n 8 --k 8");
        cr_expect_eq(o.status, 0);
        if (edited)
            cr_expect(strstr(o.err, "kernel.cu was changed after it was compiled"), "%s", o.err);
        else
            cr_expect_str_empty(o.err);
    }
    remove(source);
    remove(ptx);
    remove(folder);
}

static int lines_of(const char *text)
{
    int n = 0;
    for (; *text; text++)
        n += *text == '\n';
    return n;
}

static void expect_refusal(const struct step *step, const char *line, const char *says)
{
    struct output o = driver(step, line);
    cr_expect_eq(o.status, 2, "%s: status %d", line, o.status);
    cr_expect_eq(lines_of(o.err), 1, "%s: stderr is: %s", line, o.err);
    cr_expect_not_null(strstr(o.err, says), "%s: no \"%s\" in: %s", line, says, o.err);
    cr_expect_eq(strncmp(o.err, "fake_step: ", 11), 0, "%s: does not begin with the program's name: %s", line, o.err);
    cr_expect_eq(fake.live, 0, "%s: %d allocations and modules were not freed", line, fake.live);
}

Test(driver, every_bad_option_is_one_line_on_stderr_and_status_2)
{
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        expect_refusal(&step_f32, bad[i].line, bad[i].says[0]);
}

Test(driver, what_cannot_be_run_is_one_line_on_stderr_and_status_2)
{
    expect_refusal(&step_f32, "--device gpu", "no GPU answers");
    expect_refusal(&step_f32, "--size 2147483647", "more bytes than a size can hold");
    expect_refusal(&step_f64, "--m 2147483647 --n 2147483647 --k 1", "more bytes than a size can hold");
    expect_refusal(&step_f32, "--size 4000000", "GiB of host memory");
    expect_refusal(&step_f32, "--m 2147483647 --n 1 --k 1000", "GiB of host memory");
    expect_refusal(&step_f32, "--m 2097121 --n 1 --k 1", "takes 65536 blocks of 32 rows, a grid has at most 65535");
    expect_refusal(&step_f32, "--size 8 --alpha 1e39", "too large for the kernel's float");
    expect_refusal(&step_f32, "--size 8 --beta -1e300", "too large for the kernel's float");
    expect_refusal(&step_f32, "--size 8 --json /nonexistent/report", "\"/nonexistent/report\": cannot write it");
    expect_refusal(&step_f32, "--size 8 --json /dev/full", "\"/dev/full\": cannot write it");
    struct step missing = step_f32;
    missing.ptx = "/nonexistent/kernel.ptx";
    expect_refusal(&missing, "--size 8", "/nonexistent/kernel.ptx");
    fake.memory = 1000;
    expect_refusal(&step_f32, "--size 10", "on the device, simulated GPU has");
    fake.memory = 0;
    fake.fault = FAKE_LOAD_FAILS;
    expect_refusal(&step_f32, "--size 8", "not PTX");
    fake.fault = FAKE_LAUNCH_FAILS;
    expect_refusal(&step_f32, "--size 8", "out-of-bounds read");
}

Test(driver, the_largest_grid_is_accepted)
{
    struct output o = driver(&step_f32, "--m 2097120 --n 1 --k 1 --no-check");
    cr_expect_eq(o.status, 0, "%s", o.err);
}

Test(driver, the_exit_status_tells_right_from_wrong)
{
    fake.launch_ms = 1;
    struct output o = driver(&step_f32, "--size 40");
    cr_expect(o.status == 0 && !o.err[0] && strstr(o.out, "\nright "), "status %d: %s%s", o.status, o.out, o.err);
    cr_expect(strstr(o.out, "simulated GPU") && !strstr(o.out, "FLOP"), "%s", o.out);
    fake.fault = FAKE_UNWRITTEN;
    o = driver(&step_f32, "--size 40");
    cr_expect(o.status == 1 && strstr(o.out, "\nWRONG ") && strstr(o.out, "C[0][0]"), "status %d: %s", o.status, o.out);
    o = driver(&step_f32, "--size 40 --no-check");
    cr_expect(o.status == 0 && strstr(o.out, "\nunchecked "), "status %d: %s", o.status, o.out);
}

Test(driver, a_kernel_from_elsewhere_is_held_against_the_tester_and_has_no_lane)
{
    struct output o = driver(&step_f32, "--size 100 --ptx '" FAKE_PTX "/fake_f32.ptx'");
    cr_expect(o.status == 0 && strstr(o.out, "/fake_f32.ptx in place of fake_step (f32)"), "%s%s", o.out, o.err);
    fake.fault = FAKE_UNWRITTEN;
    fake.row = 92, fake.col = 99;
    o = driver(&step_f32, "--size 100 --ptx '" FAKE_PTX "/fake_f32.ptx'");
    cr_expect(o.status == 1 && strstr(o.out, "C[92][99]") &&
                  strstr(o.out, "; block (1, 2): 1 of 10000 elements of C are never written"),
              "%s", o.out);
    o = driver(&step_f32, "--size 100");
    cr_expect(strstr(o.out, "; block (1, 2), warp 1, lane 28: 1 of 10000 elements of C are never written"), "%s",
              o.out);
    expect_refusal(&step_f32, "--size 8 --ptx /nonexistent/mine.ptx", "/nonexistent/mine.ptx: No such file");
    expect_refusal(&step_f32, "--size 8 --ptx '" FAKE_PTX "/tile.cu'", "says no geometry");
}

Test(driver, on_a_gpu_the_report_has_the_rate_and_the_baseline)
{
    fake.has_gpu = true;
    fake.launch_ms = 0.002;
    struct output o = driver(&step_f32, "--m 100 --n 100 --k 100 --profile");
    cr_expect_eq(o.status, 0, "%s", o.err);
    cr_expect_not_null(strstr(o.out, "2.00 us (median of 15"), "%s", o.out);
    cr_expect_not_null(strstr(o.out, "1.00 TFLOP/s"), "%s", o.out);
    cr_expect_not_null(strstr(o.out, "cuBLAS 0.0.0: 1.00 us; this step reaches 50.0 % of it"), "%s", o.out);
    cr_expect_not_null(strstr(o.out, "No counters"), "%s", o.out);
}

Test(driver, on_the_simulated_gpu_the_report_says_which_runs_were_timed)
{
    fake.launch_ms = 2;
    struct output o = driver(&step_f32, "--m 100 --n 100 --k 100");
    cr_expect_not_null(strstr(o.out, "simulated in 2.00 ms: 0.5 G multiply-adds"), "%s", o.out);
    o = driver(&step_f32, "--m 100 --n 100 --k 100 --iterations 3");
    cr_expect_not_null(strstr(o.out, "simulated in 2.00 ms (median of 3; 2.00 ms to 2.00 ms): 0.5 G"), "%s", o.out);
}

Test(driver, profile_and_by_line_print_the_counters)
{
    struct output o = driver(&step_f32, "--size 8 --profile --by-line");
    cr_expect_not_null(strstr(o.out, "smsp__inst_executed.sum"), "%s", o.out);
    cr_expect_not_null(strstr(o.out, "Hot lines of gemm"), "%s", o.out);
    o = driver(&step_f32, "--size 8");
    cr_expect_null(strstr(o.out, "smsp__inst_executed.sum"), "%s", o.out);
}

Test(driver, json_goes_to_its_file_or_alone_to_stdout)
{
    fake.launch_ms = 1;
    struct output o = driver(&step_f32, "--m 8 --n 9 --k 10 --beta 0.5 --json -");
    cr_expect_eq(o.status, 0, "%s", o.err);
    cr_expect_eq(strncmp(o.out, "{\n  \"step\": \"fake_step\",\n", 25), 0, "%s", o.out);
    const char *says[] = { "\"type\": \"f32\"",
                           "\"device\": \"simulated GPU\"",
                           "\"simulated\": true",
                           "\"m\": 8",
                           "\"n\": 9",
                           "\"k\": 10",
                           "\"beta\": 0.5",
                           "\"verdict\": \"right\"",
                           "\"ms\": 1,",
                           "\"findings\": []",
                           "\"smsp__inst_executed.sum\": 1000001" };
    for (size_t i = 0; i < sizeof says / sizeof says[0]; i++)
        cr_expect_not_null(strstr(o.out, says[i]), "no %s in: %s", says[i], o.out);
    cr_expect_not_null(strstr(o.err, "right"), "the report for people goes to stderr: %s", o.err);
    cr_expect_null(strstr(o.out, "gflops"), "a rate of a simulation: %s", o.out);
}

Test(driver, json_of_a_step_that_could_not_run_says_so)
{
    fake.fault = FAKE_LAUNCH_FAILS;
    struct output o = driver(&step_f32, "--size 8 --json -");
    cr_expect_eq(o.status, 2);
    cr_expect(strstr(o.out, "\"verdict\": \"failed\"") && strstr(o.out, "out-of-bounds read"), "%s", o.out);
}
