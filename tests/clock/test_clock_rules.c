// The clock says what it is: steps/results/clock_rules.csv has each rule and constant with its mark, and the clock's
// errors without those that were not measured; so does the clock's chapter.
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler.h"
#include "file_text.h"
#include "lines.h"
#include "rule_errors.h"

#define AGAIN "build/tests/clock_rules H200 " RESULTS_CSV " writes " RULES_CSV " again"
enum { MARK = 3, ERRORS_AT, CHANGE = 12, CHANGE_AT, SOURCE };  // columns of the table
enum { SIZES = 4, AT_4096 = ERRORS_AT + 4 };
static const int sizes[SIZES] = { 1024, 2048, 4096, 8192 };

// The row of a card's rule or constant, for table_close. Fails the test if there is none.
static void find_row(struct table *t, const char *card, const char *kind, const char *name)
{
    truth_open(t, RULES_CSV);
    while (truth_next(t))
        if (!strcmp(t->field[0], card) && !strcmp(t->field[1], kind) && !strcmp(t->field[2], name))
            return;
    cr_assert_fail("%s, %s %s: one line is to have it; " AGAIN, card, kind, name);
}

static void expect_marks(const char *card)
{
    for (size_t i = 0; i < n_rule_rows; i++) {
        const struct rule_row *r = &rule_rows[i];
        struct table t;
        find_row(&t, card, r->kind, r->name);
        cr_expect_str_eq(t.field[MARK], rule_mark_name(r->mark), "%s; " AGAIN, r->name);
        cr_expect_str_eq(t.field[SOURCE], r->source, "%s; " AGAIN, r->name);
        for (int j = ERRORS_AT; j < CHANGE; j++)
            cr_expect_eq(*t.field[j] != '\0', rule_has_errors(r), "%s; " AGAIN, r->name);
        table_close(&t);
    }
}

Test(rules, each_rule_and_constant_stands_in_the_table_with_its_mark)
{
    struct table t;
    size_t cards = 0, rows = 0;
    truth_open(&t, RULES_CSV);
    for (; truth_next(&t); rows++) {
        if (strcmp(t.field[1], "clock") != 0)
            continue;
        expect_marks(t.field[0]);
        cards++;
    }
    table_close(&t);
    cr_expect(cards);
    cr_expect_eq(rows, cards * (n_rule_rows + 1), "by card the clock, and each; " AGAIN);
}

// What is measured or published names it.
Test(rules, a_mark_says_by_what_or_on_what)
{
    for (size_t i = 0; i < n_rule_rows; i++)
        cr_expect(rule_rows[i].mark == MARK_ASSUMED || *rule_rows[i].source, "%s", rule_rows[i].name);
    cr_expect_leq(RULES, 64, "clock_launch.without has a bit for each");
}

// "| `NAME` | MARK: ... | MEAN | WORST | CHANGE at STEP SIZE |", at 4096, and the change at any size.
static void expect_row(const char *notes, const char *kind, const char *name)
{
    char head[100], tail[200];
    struct table t;
    find_row(&t, "H200", kind, name);
    char *const *f = t.field;
    snprintf(head, sizeof head, "\n| `%s` | %s", name, f[MARK]);
    snprintf(tail, sizeof tail, " | %s | %s | %s%s%s |\n", f[AT_4096], f[AT_4096 + 1], f[CHANGE],
             *f[CHANGE_AT] ? " at " : "", f[CHANGE_AT]);
    table_close(&t);
    const char *row = strstr(notes, head), *end = row ? strchr(row + 1, '\n') : NULL;
    const size_t length = strlen(tail);
    cr_expect(end && (size_t)(end + 1 - row) > length && !memcmp(end + 1 - length, tail, length),
              "NOTES.md of the clock has no row %s ... %s", head + 1, tail);
}

Test(rules, the_chapter_has_the_errors_without_each_rule)
{
    char *notes = file_text(CLOCK_NOTES);
    expect_row(notes, "clock", "all");
    for (size_t i = 0; i < n_rule_rows; i++)
        if (rule_has_errors(&rule_rows[i]))
            expect_row(notes, rule_rows[i].kind, rule_rows[i].name);
    free(notes);
}

// Up to one in the last place: the times in the table of predictions have five digits.
static void expect_errors_at(const struct rule_row *r, int s, double mean, double worst)
{
    const char *name = r ? r->name : "all";
    struct table t;
    find_row(&t, "H200", r ? r->kind : "clock", name);
    const char *const *row = (const char *const *)&t.field[ERRORS_AT + 2 * s];
    cr_expect(fabs(mean - atof(row[0])) <= 0.0101, "%s at %d: mean %.2f, the table has %s; " AGAIN, name, sizes[s],
              mean, row[0]);
    cr_expect(fabs(worst - atof(row[1])) <= 0.101, "%s at %d: worst %.1f, the table has %s; " AGAIN, name, sizes[s],
              worst, row[1]);
    table_close(&t);
}

// The table of predictions, which test_clock.c makes again, has the errors of the whole clock at each size, and so does
// the chapter.
Test(rules, errors_of_the_clock_are_those_of_its_predictions)
{
    char *notes = file_text(CLOCK_NOTES), says[200];
    size_t length = 0;
    for (int s = 0; s < SIZES; s++) {
        double sum = 0, worst = 0, count = 0;
        struct table t;
        truth_open(&t, PREDICTED_CSV);
        while (truth_next(&t)) {
            const double wrong = 100 * fabs(atof(t.field[3]) / atof(t.field[4]) - 1);
            if (atoi(t.field[1]) != sizes[s])
                continue;
            sum += wrong;
            worst = fmax(worst, wrong);
            count++;
        }
        table_close(&t);
        expect_errors_at(NULL, s, sum / count, worst);
        length += (size_t)snprintf(says + length, sizeof says - length, "%s%d %.1f and %.1f", s ? ", " : "", sizes[s],
                                   sum / count, worst);
    }
    cr_expect(strstr(notes, says), "NOTES.md of the clock does not say '%s'", says);
    free(notes);
}

Test(rules, the_chapter_says_how_many_are_measured)
{
    char *notes = file_text(CLOCK_NOTES), says[200];
    unsigned measured[2] = { 0 };  // constants, rules
    for (size_t i = 0; i < n_rule_rows; i++)
        measured[rule_rows[i].rule < RULES] += rule_rows[i].mark == MARK_MEASURED;
    snprintf(says, sizeof says, "%u of %zu constants and %u of %d rules are measured", measured[0], n_rule_rows - RULES,
             measured[1], RULES);
    cr_expect(strstr(notes, says), "NOTES.md of the clock does not say '%s'", says);
    free(notes);
}

// Half an hour: the clock's errors, once for each rule that was not measured.
Test(rule_errors, errors_without_each_rule_are_those_of_the_table)
{
    struct result *all;
    struct rule_errors e;
    size_t n;
    char error[DEV_ERROR_MAX];
    if (strcmp(KERNELS_BY, "nvcc 13.0"))
        cr_skip_test("the H200 ran what nvcc 13.0 made, and the kernels were compiled by " KERNELS_BY);
    cr_assert(results_read(RESULTS_CSV, &all, &n, error), "%s", error);
    for (int s = 0; s < SIZES; s++)
        for (size_t i = 0; i < n_rule_rows; i++) {
            if (!rule_has_errors(&rule_rows[i]))
                continue;
            cr_assert(rule_predict(&rule_rows[i], card_named("H200"), all, n, sizes[s], &e, error), "%s", error);
            expect_errors_at(&rule_rows[i], s, e.mean, e.worst);
        }
    free(all);
}
