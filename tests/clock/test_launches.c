// The clock on launches that are in no step: the table of public kernels says what the chapter says, and what-if
// answers have the right sign and about the right size. clock_launches makes both tables; the GPU's part is in them
// already.
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "base/table.h"
#include "compiler.h"
#include "file_text.h"
#include "launch_list.h"
#include "sample.h"

#define MAX_ROWS 200
#define MAX_FIELD 64

struct row {
    char name[MAX_FIELD], base[MAX_FIELD];
    double measured, predicted, error;
};

static size_t column(const struct table *t, const char *name)
{
    for (size_t i = 0; i < t->columns; i++)
        if (!strcmp(t->name[i], name))
            return i;
    return t->columns;
}

static double number(const struct table *t, const char *name)
{
    const size_t i = column(t, name);
    return i < t->columns ? atof(t->field[i]) : 0;
}

static size_t read_rows(const char *path, struct row rows[MAX_ROWS])
{
    struct table t;
    char error[DEV_ERROR_MAX] = "";
    bool more, ok = table_open(&t, path, error);
    size_t n = 0;
    while (ok && n < MAX_ROWS && (ok = table_next(&t, &more)) && more) {
        struct row *r = &rows[n++];
        const size_t base = column(&t, "base");
        *r = (struct row){ .measured = number(&t, "measured_us"), .predicted = number(&t, "predicted_us") };
        r->error = number(&t, "error_percent");
        snprintf(r->name, sizeof r->name, "%s", t.field[column(&t, "name")]);
        snprintf(r->base, sizeof r->base, "%s", base < t.columns ? t.field[base] : "");
    }
    table_close(&t);
    cr_assert(ok, "%s", error);
    return n;
}

static const struct row *find_row(const struct row *rows, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(rows[i].name, name))
            return &rows[i];
    return NULL;
}

// --- public kernels ---

// Before the clock was mended with these kernels in sight, and after.
static const char *const tables[] = { PUBLIC_FROZEN, PUBLIC_NOW };

Test(launches, each_public_kernel_of_the_list_was_measured_and_predicted_once)
{
    struct row rows[MAX_ROWS];
    struct launch_list list;
    char error[DEV_ERROR_MAX];
    cr_assert(launch_list_read(&list, PUBLIC_LIST, error), "%s", error);
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
        const size_t n = read_rows(tables[t], rows);
        cr_assert(n >= 30 && n == list.n, "%s: %zu rows, %zu launches", tables[t], n, list.n);
        for (size_t i = 0; i < n; i++) {
            const double wrong = 100 * (rows[i].predicted / rows[i].measured - 1);
            cr_expect_str_eq(rows[i].name, list.all[i].name);
            cr_expect(rows[i].measured > 0 && fabs(wrong - rows[i].error) < 0.06, "%s: %.1f %%", rows[i].name, wrong);
        }
    }
    launch_list_free(&list);
}

Test(launches, the_chapter_says_how_wrong_the_clock_is_on_public_kernels)
{
    char *notes = file_text(CLOCK_NOTES);
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
        struct row rows[MAX_ROWS];
        double wrong[MAX_ROWS], sum = 0;
        const size_t n = read_rows(tables[t], rows);
        char says[200];
        for (size_t i = 0; i < n; i++)
            sum += wrong[i] = fabs(rows[i].error);
        qsort(wrong, n, sizeof *wrong, by_value);
        snprintf(says, sizeof says, "mean %.1f, median %.1f, P90 %.1f, worst %.0f", sum / (double)n, wrong[n / 2],
                 wrong[(size_t)ceil(0.9 * (double)n) - 1], wrong[n - 1]);
        cr_expect(strstr(notes, says), "NOTES.md of the clock does not say '%s' of %s", says, tables[t]);
    }
    free(notes);
}

// Rows of the chapter's tables: "| `NAME` | text | PERCENT | PERCENT |", whatever the text. Returns how many there are.
static unsigned rows_in(const char *notes, const char *name, double first, double second)
{
    char head[MAX_FIELD + 8], tail[64];
    unsigned found = 0;
    snprintf(head, sizeof head, "\n| `%s` |", name);
    snprintf(tail, sizeof tail, " | %+.1f | %+.1f |", first, second);
    for (const char *at = strstr(notes, head); at; at = strstr(at + 1, head), found++) {
        char line[400];
        snprintf(line, sizeof line, "%.*s", (int)strcspn(at + 1, "\n"), at + 1);
        cr_expect(strstr(line, tail), "NOTES.md of the clock has '%s', not '%s'", line, tail);
    }
    return found;
}

Test(launches, the_chapters_worst_public_kernels_are_those_of_the_tables)
{
    struct row before[MAX_ROWS], after[MAX_ROWS];
    const size_t n = read_rows(tables[0], before);
    char *notes = file_text(CLOCK_NOTES);
    unsigned found = 0;
    cr_assert_eq(read_rows(tables[1], after), n);
    for (size_t i = 0; i < n; i++)
        found += rows_in(notes, after[i].name, before[i].error, after[i].error);
    cr_expect_geq(found, 10);
    free(notes);
}

// --- what if ---

// Whose answers are wrong. NOTES.md of the clock says why.
static bool known_wrong(const char *name)
{
    static const char *const names[] = {
        "02_one_barrier",
        "04_one_barrier",
        "10_plain_loads",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i], name))
            return true;
    return false;
}

static double change(const struct row *rows, size_t n, const struct row *r, bool predicted)
{
    const struct row *base = find_row(rows, n, r->base);
    cr_assert(base, "%s", r->base);
    return (predicted ? r->predicted / base->predicted : r->measured / base->measured) - 1;
}

Test(launches, what_if_answers_have_the_right_sign_and_are_within_a_third)
{
    struct row rows[MAX_ROWS];
    const size_t n = read_rows(WHATIF_CSV, rows);
    for (size_t i = 0; i < n; i++) {
        if (!*rows[i].base)
            continue;
        const double is = change(rows, n, &rows[i], false), says = change(rows, n, &rows[i], true);
        const bool right = (is > 0) == (says > 0) && fabs(says - is) <= fabs(is) / 3;
        cr_expect(right != known_wrong(rows[i].name), "%s: %+.1f %% measured, %+.1f %% predicted", rows[i].name,
                  100 * is, 100 * says);
    }
}

Test(launches, the_chapter_says_what_the_what_if_answers_are)
{
    struct row rows[MAX_ROWS];
    const size_t n = read_rows(WHATIF_CSV, rows);
    char *notes = file_text(CLOCK_NOTES);
    for (size_t i = 0; i < n; i++)
        if (*rows[i].base)
            cr_expect_eq(rows_in(notes, rows[i].name, 100 * change(rows, n, &rows[i], false),
                                 100 * change(rows, n, &rows[i], true)),
                         1, "%s", rows[i].name);
    free(notes);
}

// The table's predictions are today's, but for small changes of the steps since they were timed.
Test(launches, what_if_answers_are_those_of_the_table)
{
    struct row rows[MAX_ROWS];
    struct launch_list list;
    char error[DEV_ERROR_MAX];
    if (strcmp(KERNELS_BY, "nvcc 13.0"))
        cr_skip_test("the table is of what nvcc 13.0 made, and the kernels were compiled by " KERNELS_BY);
    const size_t n = read_rows(WHATIF_CSV, rows);
    cr_assert(launch_list_read(&list, WHATIF_LIST, error), "%s", error);
    struct launch_device *simulated = launch_device_open(DEV_SIM, error);
    cr_assert(simulated, "%s", error);
    for (size_t i = 0; i < list.n; i++) {
        const struct row *r = find_row(rows, n, list.all[i].name);
        struct simt_prediction *p;
        cr_assert(r, "%s", list.all[i].name);
        if (sample_asked() != SAMPLE_ALL && i % 6)
            continue;
        cr_assert(p = launch_predict(simulated, &list.all[i], WHATIF_FOLDER, card_named("H200"), error), "%s: %s",
                  r->name, error);
        cr_expect(fabs(1000 * p->ms / r->predicted - 1) < 0.02, "%s: %.2f us, the table has %.2f", r->name,
                  1000 * p->ms, r->predicted);
        simt_prediction_free(p);
    }
    launch_device_close(simulated);
    launch_list_free(&list);
}

// Microseconds that the clock predicts for a launch of the list.
static double predict_us(const char *name)
{
    struct launch_list list;
    struct simt_prediction *p;
    char error[DEV_ERROR_MAX];
    size_t i = 0;
    cr_assert(launch_list_read(&list, WHATIF_LIST, error), "%s", error);
    struct launch_device *simulated = launch_device_open(DEV_SIM, error);
    cr_assert(simulated, "%s", error);
    while (i < list.n && strcmp(list.all[i].name, name))
        i++;
    cr_assert(i < list.n, "%s", name);
    cr_assert(p = launch_predict(simulated, &list.all[i], WHATIF_FOLDER, card_named("H200"), error), "%s: %s", name,
              error);
    const double us = 1000 * p->ms;
    simt_prediction_free(p);
    launch_device_close(simulated);
    launch_list_free(&list);
    return us;
}

// The row of this name was timed on an H200: the clock is at most this share beside it.
static void expect_near(const char *name, double share)
{
    struct row rows[MAX_ROWS];
    if (strcmp(KERNELS_BY, "nvcc 13.0"))
        cr_skip_test("the table is of what nvcc 13.0 made, and the kernels were compiled by " KERNELS_BY);
    const struct row *row = find_row(rows, read_rows(WHATIF_CSV, rows), name);
    cr_assert(row, "%s", name);
    const double us = predict_us(name);
    cr_expect(fabs(us / row->measured - 1) < share, "%.1f us predicted, %.1f measured", us, row->measured);
}

// Nothing but arithmetic and shared memory: the data pipe is all but full. If each access held up those behind it,
// those of other sub-cores, too, while it waits for its port, this would take 9 % longer.
Test(launches, while_one_subcores_port_is_busy_accesses_of_the_others_pass)
{
    expect_near("02_bare", 0.02);
}

// If all blocks that share a tile waited for DRAM together, 04 would take 5.6 % longer than on the H200.
Test(launches, blocks_that_share_a_tile_do_not_all_wait_for_dram)
{
    expect_near("04", 0.04);
}

// --- blocks of unequal length ---

// Cycles of the first `blocks` blocks of a triangle.
static double triangle_cycles(unsigned blocks)
{
    char line[200], error[DEV_ERROR_MAX];
    struct simt_prediction *p;
    struct launch_item item = { .name = "triangle", .line = line };
    struct launch_device *simulated = launch_device_open(DEV_SIM, error);
    snprintf(line, sizeof line, "triangle triangle --grid %u --block 32 f32[65536]=zeros", blocks);
    cr_assert(simulated, "%s", error);
    cr_assert(p = launch_predict(simulated, &item, KERNELS_FOLDER, card_named("H200"), error), "%s", error);
    const double cycles = p->cycles;
    simt_prediction_free(p);
    launch_device_close(simulated);
    return cycles;
}

Test(launches, the_longest_block_decides_where_each_sm_has_one)
{
    char error[DEV_ERROR_MAX];
    if (!clock_available(error))
        cr_skip_test("%s", error);
    const double few = triangle_cycles(33), many = triangle_cycles(129);
    cr_expect(many > 3 * few && many < 5 * few, "33 blocks take %.0f cycles, 129 take %.0f", few, many);
}

// --- stores ---

// An H200's DRAM gives 4.8 TB/s at most, reads and writes together.
Test(launches, a_copy_is_no_faster_than_dram)
{
    char error[DEV_ERROR_MAX], line[] = "copy copy --grid 16384 --block 256 f32[16777216]=uninit f32[16777216]=uninit";
    if (!clock_available(error))
        cr_skip_test("%s", error);
    struct simt_prediction *p;
    struct launch_item item = { .name = "copy", .line = line };
    struct launch_device *simulated = launch_device_open(DEV_SIM, error);
    cr_assert(simulated, "%s", error);
    cr_assert(p = launch_predict(simulated, &item, KERNELS_FOLDER, card_named("H200"), error), "%s", error);
    const double tb = 2 * 16777216 * 4e-12 / (1e-3 * p->ms);
    cr_expect(tb > 3 && tb < 4.8, "%.2f TB/s", tb);
    simt_prediction_free(p);
    launch_device_close(simulated);
}
