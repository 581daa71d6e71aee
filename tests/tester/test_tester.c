// Tests of the tester on fake devices that multiply on the host.
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/progress.h"
#include "fake_device.h"
#include "tester/tester.h"
#include "tester/tester_explain.h"
#include "tester/tester_report.h"
#include "tester_case.h"
#include "device/open.h"

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
    } cases[] = { { 10, 1.9, "" },
                  { 10, 2.5, "\r 25 % of 40 blocks after 2.5 seconds, 7.5 seconds left  " },
                  { 40, 1, "" } };
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

Test(progress, a_launch_of_minutes_says_so_where_there_is_no_terminal)
{
    static const struct {
        uint64_t done;
        double seconds;
        const char *text;
    } cases[] = {
        { 1000, 9, "" },      // is not patient yet
        { 1000000, 11, "" },  // is soon done: 11 s more
        { 0, 100, "" },       // says nothing of which it knows nothing
        { 1000, 11, "note: 0.05 % of 2000000 blocks after 11 seconds: at this rate the launch takes 6.1 hours more\n" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        cr_expect_eq(progress_note(out, cases[i].done, 2000000, cases[i].seconds), *cases[i].text != '\0');
        fclose(out);
        cr_expect_str_eq(text, cases[i].text);
        free(text);
    }
}

Test(tester, a_gpu_runs_warm_up_and_timed_launches_and_the_baseline_as_often)
{
    struct tester_options o = options_of(100, 50, 20);
    fake.has_gpu = true;
    fake.launch_ms = 0.5;
    struct tester_result r = run(&step_f32, &o);
    cr_expect_eq(fake.launches, 1 + 2 + 15, "%d launches", fake.launches);
    cr_expect_eq(fake.baselines, 1 + 2 + 15, "%d baseline products", fake.baselines);
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
    { FAKE_UNWRITTEN, 1, 0, "1 of 10000 elements of C are never written, C[92][99] first" },
    { FAKE_UNWRITTEN, 1, 0, ". For example, C[92][99] is nan" },
    { FAKE_UNWRITTEN, 1, 0, "block (1, 2), warp 1, lane 28" },
    { FAKE_UNWRITTEN, 1, 2, "1 of 10000 elements of C are never written, C[92][99] first" },
    { FAKE_LAST_PRODUCT, 1, 0, "block (1, 2), warp 1, lane 28: the last 1 of 50 products are missing" },
    { FAKE_LAST_PRODUCT, 0.3, 4, "block (1, 2), warp 1, lane 28: the last 1 of 50 products are missing" },
    { FAKE_NO_BETA, 2, 3, "beta * C0 is missing. For example, C[0][0] is" },
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
            cr_expect(!strncmp(what, "look at what the checks found. For example, C[0][0] is", 54), "%s", what);
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

// What is said of a launch of that many multiply-adds along each side; to be freed.
static char *said_of(const struct dev_about *about, int size, int iterations, bool sanitize, size_t steps)
{
    struct tester_options o = options_of(size, size, size);
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);
    o.jobs = 2;
    o.warmup = 0;
    o.iterations = iterations;
    o.sanitize = sanitize;
    report_long_run(out, "step", about, &o, steps);
    fclose(out);
    return text;
}

Test(tester, a_long_run_on_the_simulated_gpu_is_announced)
{
    static const struct dev_about simulated = { .simulated = true }, real = { .simulated = false };
    static const struct {
        const struct dev_about *about;
        int size, iterations;
        bool sanitize;
        size_t steps;
        const char *says;  // "": nothing
    } cases[] = {
        { &simulated, 3000, 0, false, 1, "" },
        { &real, 8000, 0, false, 1, "" },
        { &simulated, 4000, 0, false, 1,
          "step: note: 6.4e+10 multiply-adds on the simulated GPU take 16 s to 3 minutes" },
        { &simulated, 4000, 0, true, 1, " take 32 s to 5 minutes here; --size 512 takes seconds\n" },
        { &simulated, 4000, 9, false, 1, "6.4e+11 multiply-adds on the simulated GPU take 3 to 27 minutes" },
        { &simulated, 20000, 0, false, 1, "8e+12 multiply-adds on the simulated GPU take 33 minutes to 6 hours" },
        { &simulated, 3000, 0, false, 10, "2.7e+11 multiply-adds" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *said = said_of(cases[i].about, cases[i].size, cases[i].iterations, cases[i].sanitize, cases[i].steps);
        cr_expect(*cases[i].says ? strstr(said, cases[i].says) != NULL : !*said, "case %zu says '%s'", i, said);
        free(said);
    }
}
