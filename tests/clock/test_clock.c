// The clock of the simulated GPU: what it counts and the times that it predicts are near enough to those of cards.
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ptx_file.h"
#include "compiler.h"
#include "file_text.h"
#include "sample.h"
#include "simt/clock/clock.h"
#include "tools/steps.h"
#include "clock_measured.h"
#include "tester/predict.h"

static struct tester_options sized(int size)
{
    struct tester_options o = tester_defaults;
    o.m = o.n = o.k = size;
    return o;
}

// The H200's counts are those of nvcc 13.0's code.
#define NEEDS_NVCC_13_0                                                                                                \
    do                                                                                                                 \
        if (strcmp(KERNELS_BY, "nvcc 13.0"))                                                                           \
            cr_skip_test("the H200 ran what nvcc 13.0 made, and the kernels were compiled by " KERNELS_BY);            \
    while (0)

// The counts are the same, but for two reasons:
// - 14 keeps predicates as bits of a register whose other bits are data, which the walk does not know, so that it
//   guesses a few branches (DATA_DECIDE): two of its instructions more or less, which are half a percent of what lanes
//   execute.
// - From 16 on the H200 tries some waits again. How often differs from launch to launch, and is up to a tenth of what
//   it counts; the clock tries none again, so that it never counts more. What the rest comes to is the next test's.
enum { DATA_DECIDE = 14, TRIES_AGAIN = 16 };

static void expect_count(const char *step, const char *what, double counted, double h200)
{
    const int number = atoi(step);
    const double less = number >= TRIES_AGAIN ? 0.9 : number == DATA_DECIDE ? 0.999 : 1;
    const double more = number == DATA_DECIDE ? 1.005 : 1;
    cr_expect(counted >= less * h200 && counted <= more * h200, "%s: %.0f %s, the H200 %.0f", step, counted, what,
              h200);
}

Test(clock, machine_instructions_are_counted_as_on_the_h200)
{
    struct counter *all;
    size_t n;
    char error[DEV_ERROR_MAX];
    NEEDS_NVCC_13_0;
    cr_assert(counters_read(COUNTERS_CSV, &all, &n, error), "%s", error);
    for (size_t i = 0; i < n_steps; i++) {
        struct simt_counts c;
        const struct tester_options o = sized(256);
        if (!sample_brief(i, 7))
            continue;
        const double inst = measured_counter(all, n, steps[i]->name, "smsp__inst_executed.sum");
        const double threads = measured_counter(all, n, steps[i]->name, "smsp__thread_inst_executed_pred_on.sum");
        if (inst < 0)  // not counted there yet
            continue;
        cr_assert(predict_counts(steps[i], &o, card_named("H200"), &c, error), "%s: %s", steps[i]->name, error);
        expect_count(steps[i]->name, "instructions", (double)c.instructions, inst);
        expect_count(steps[i]->name, "thread instructions", (double)c.thread_instructions, threads);
        const int number = atoi(steps[i]->name);
        cr_expect(!c.unknown_branches || number == DATA_DECIDE || number >= TRIES_AGAIN, "%s", steps[i]->name);
    }
    free(all);
}

static size_t find_step(const char *name)
{
    size_t i = 0;
    while (i < n_steps && strcmp(steps[i]->name, name))
        i++;
    cr_assert(i < n_steps, "%s", name);
    return i;
}

// Launches of which Nsight Compute told how often each instruction ran. A wait for a phase of an mbarrier, or for
// registers, is tried again until it succeeds; tried_again has what that took beyond the first try.
Test(clock, without_waits_that_are_tried_again_the_h200_counts_the_same_in_each_launch)
{
    char line[200], name[64], error[DEV_ERROR_MAX];
    unsigned long long instructions, again;
    unsigned rows = 0;
    NEEDS_NVCC_13_0;
    FILE *f = fopen(RETRIES_CSV, "r");
    cr_assert(f, "%s", RETRIES_CSV);
    while (fgets(line, sizeof line, f)) {
        struct simt_counts c;
        const struct tester_options o = sized(256);
        if (sscanf(line, "%63[^,],%llu,%llu", name, &instructions, &again) != 3)
            continue;
        cr_assert(predict_counts(steps[find_step(name)], &o, card_named("H200"), &c, error), "%s: %s", name, error);
        cr_expect_eq(c.instructions, instructions - again, "%s: %llu instructions, the H200 %llu, %llu of them again",
                     name, (unsigned long long)c.instructions, instructions, again);
        rows++;
    }
    fclose(f);
    cr_expect_geq(rows, 6);
}

// --- against the H200's times ---

// Adds to *same if warps wait for the same most. Shares of pipes are within 10 points.
static void compare_waits(const struct step *step, const struct counter *all, size_t n, const struct simt_prediction *p,
                          unsigned *same)
{
    struct measured_share shares[MEASURED_SHARES];
    enum sm_state predicted, measured;
    measured_shares(all, n, step->name, p, shares);
    for (unsigned i = 0; i < MEASURED_SHARES; i++)
        cr_expect(fabs(shares[i].predicted - shares[i].measured) <= 10, "%s: %s %.1f %% predicted, %.1f measured",
                  step->name, shares[i].name, shares[i].predicted, shares[i].measured);
    measured_largest(all, n, step->name, p, &predicted, &measured);
    *same += predicted == measured;
}

// The row of the table of predictions, up to the measured time.
static void expect_in_table(const char *table, const char *path, const char *step, int size,
                            const struct simt_prediction *p)
{
    char row[160];
    snprintf(row, sizeof row, "\n%s,%d,%.5g,%.5g,", step, size, p->cycles, p->ms);
    cr_expect(strstr(table, row), "%s at %d: build/tests/clock_errors writes %s again", step, size, path);
}

// The bounds are what the clock reached when they were written down, rounded up: see NOTES of the clock.
Test(clock, times_and_waits_at_4096_are_near_the_h200s)
{
    struct result *times;
    struct counter *stalls;
    size_t n_times, n_stalls;
    unsigned same = 0;
    double sum = 0, count = 0;
    char error[DEV_ERROR_MAX], *table = file_text(PREDICTED_CSV);
    NEEDS_NVCC_13_0;
    cr_assert(results_read(RESULTS_CSV, &times, &n_times, error), "%s", error);
    cr_assert(stalls_read(STALLS_CSV, &stalls, &n_stalls, error), "%s", error);
    for (size_t i = 0; i < n_steps; i++) {
        struct simt_prediction *p;
        if (!sample_brief(i, 7))
            continue;
        const struct tester_options o = sized(4096);
        const double ms = measured_ms(times, n_times, steps[i]->name, 4096);
        if (ms <= 0)  // not in the table yet
            continue;
        cr_assert(p = predict_step(steps[i], &o, card_named("H200"), error), "%s: %s", steps[i]->name, error);
        const double wrong = 100 * fabs(p->ms / ms - 1);
        count++;
        sum += wrong;
        cr_expect(wrong <= WORST_4096, "%s: %.4g ms predicted, %.4g ms measured: %.1f %%", steps[i]->name, p->ms, ms,
                  wrong);
        expect_in_table(table, PREDICTED_CSV, steps[i]->name, 4096, p);
        compare_waits(steps[i], stalls, n_stalls, p, &same);
        simt_prediction_free(p);
    }
    if (sample_asked() != SAMPLE_BRIEF) {
        cr_expect(sum / count <= MEAN_4096, "the mean error is %.1f %%", sum / count);
        cr_expect(same >= 0.8 * count, "%u of %.0f steps wait for the right thing", same, count);
    }
    free(times);
    free(stalls);
    free(table);
}

// Another seventh of the steps at each size, in brief a third of these, or all; the H100's after the H200's.
// test_clock_rules.c has the errors of the H200's predictions.
static void expect_table(const char *card, const char *path, const int *sizes, size_t n_sizes, size_t first)
{
    char error[DEV_ERROR_MAX], *table = file_text(path);
    for (size_t i = 0; i < n_steps; i++)
        for (size_t s = 0; s < n_sizes; s++) {
            struct simt_prediction *p;
            const struct tester_options o = sized(sizes[s]);
            char head[80];
            snprintf(head, sizeof head, "\n%s,", steps[i]->name);
            if (!sample_some(first + i + s, 7) || !sample_brief(first + i + s, 21) || !strstr(table, head))
                continue;  // or the step is not in the table yet
            cr_assert(p = predict_step(steps[i], &o, card_named(card), error), "%s: %s", steps[i]->name, error);
            expect_in_table(table, path, steps[i]->name, sizes[s], p);
            simt_prediction_free(p);
        }
    free(table);
}

Test(clock, predicted_times_are_those_of_the_tables)
{
    static const int sizes[] = { 1024, 2048, 8192, 4096 };
    NEEDS_NVCC_13_0;
    expect_table("H200", PREDICTED_CSV, sizes, 3, 0);  // 4096: the test above
    expect_table("H100", H100_PREDICTED_CSV, sizes, 4, 3);
}

// Few of 02's blocks fit in what is run at 8192, and they end one after the other.
Test(clock, long_blocks_keep_the_pace_of_short_ones)
{
    struct result *all;
    size_t n;
    char error[DEV_ERROR_MAX];
    NEEDS_NVCC_13_0;
    if (sample_asked() == SAMPLE_BRIEF)
        cr_skip_test("waits for meson test");
    cr_assert(results_read(RESULTS_CSV, &all, &n, error), "%s", error);
    for (size_t i = 0; i < n_steps; i++) {
        struct simt_prediction *p, *half;
        const struct tester_options o = sized(8192), o_half = sized(4096);
        if (strcmp(steps[i]->name, "02_smem_tile"))
            continue;
        const double times = measured_ms(all, n, steps[i]->name, 8192) / measured_ms(all, n, steps[i]->name, 4096);
        cr_assert(p = predict_step(steps[i], &o, card_named("H200"), error), "%s", error);
        cr_assert(half = predict_step(steps[i], &o_half, card_named("H200"), error), "%s", error);
        cr_expect(p->sm.blocks < p->blocks_of_sm / 50, "%g blocks were run", (double)p->sm.blocks);
        cr_expect(fabs(p->ms / half->ms / times - 1) < 0.05, "%.3g times as long as at 4096, measured %.3g",
                  p->ms / half->ms, times);
        simt_prediction_free(p);
        simt_prediction_free(half);
    }
    free(all);
}

// Rows of an odd length are packed before 15 multiplies; its time has both.
Test(clock, packing_of_odd_rows_is_predicted)
{
    struct result *all;
    size_t n;
    char error[DEV_ERROR_MAX];
    NEEDS_NVCC_13_0;
    cr_assert(results_read(RESULTS_CSV, &all, &n, error), "%s", error);
    for (size_t i = 0; i < n_steps; i++) {
        struct simt_prediction *odd, *even;
        const struct tester_options o = sized(4095), e = sized(1024);
        if (strcmp(steps[i]->name, "15_wgmma"))
            continue;
        const double ms = measured_ms(all, n, steps[i]->name, 4095);
        cr_assert(odd = predict_step(steps[i], &o, card_named("H200"), error), "%s", error);
        cr_assert(even = predict_step(steps[i], &e, card_named("H200"), error), "%s", error);
        cr_expect(odd->before_ms > 0 && odd->before_ms < odd->ms / 2, "%.4g of %.4g ms", odd->before_ms, odd->ms);
        cr_expect(even->before_ms == 0, "%.4g ms", even->before_ms);
        cr_expect(fabs(odd->ms / ms - 1) < 0.15, "%.4g ms predicted, %.4g measured", odd->ms, ms);
        simt_prediction_free(odd);
        simt_prediction_free(even);
    }
    free(all);
}

// What if 11 had no padding? The trial was timed on the H200.
Test(clock, padding_removed_costs_what_it_cost_on_the_h200)
{
    struct trial *all;
    size_t n;
    char error[DEV_ERROR_MAX];
    double measured = 0;
    NEEDS_NVCC_13_0;
    cr_assert(trials_read(TRIALS_CSV, &all, &n, error), "%s", error);
    for (size_t i = 0; i < n; i++)
        measured = strcmp(all[i].id, "11-unpadded-old") ? measured : all[i].low;
    free(all);
    cr_assert(measured > 0);
    struct step step = { .name = "unpadded", .type = DEV_F16, .ptx = UNPADDED_PTX };
    struct simt_prediction *p;
    const struct tester_options o = sized(4096);
    cr_assert(p = predict_step(&step, &o, card_named("H200"), error), "%s", error);
    const double tflops = 2e-9 * 4096 * 4096 * 4096 / p->ms;
    cr_expect(fabs(tflops / measured - 1) < 0.1, "%.0f TFLOP/s predicted, %.0f measured", tflops, measured);
    cr_expect(strstr(p->bound, "the data pipe of L1 and shared memory"), "%s", p->bound);
    simt_prediction_free(p);
}

Test(clock, a_card_is_predicted_from_its_own_machine_code)
{
    NEEDS_NVCC("ptxas may be missing");
    static const char *const cards[] = { "RTX 4090", "RTX 3090", "A100", "T4", "RTX 5090" };
    const struct tester_options o = sized(1024);
    size_t unknown = 0;
    for (size_t i = 0; i < sizeof cards / sizeof *cards; i++) {
        if (!sample_brief(i, 3))
            continue;
        struct simt_prediction *p;
        char error[DEV_ERROR_MAX];
        p = predict_step(steps[5], &o, card_named(cards[i]), error);
        if (!p && strstr(error, "is not defined for option 'gpu-name'")) {  // the card is newer than this ptxas
            unknown++;
            continue;
        }
        cr_assert(p, "%s: %s", cards[i], error);
        cr_expect_eq(p->cubin->cc, card_named(cards[i])->cc, "%s: %d", cards[i], p->cubin->cc);
        cr_expect_eq(p->sm.unknown_branches, 0, "%s", cards[i]);
        if (card_named(cards[i])->cc < 100)  // newer code has instructions that sass.def lacks
            cr_expect_eq(p->sm.unknown_addresses, 0, "%s", cards[i]);
        cr_expect(p->cycles > 20000 && p->cycles < 5e6, "%s: %.4g cycles", cards[i], p->cycles);
        simt_prediction_free(p);
    }
    cr_assert_leq(unknown, atoi(&KERNELS_BY[5]) < 13 ? 2 : 0, "ptxas of " KERNELS_BY " does not know %zu cards",
                  unknown);
}
