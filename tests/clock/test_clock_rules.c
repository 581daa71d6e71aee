// The clock says what it is: steps/results/clock_rules.csv has each rule and constant with its mark, and the clock's
// errors without those that were not measured; so does the clock's chapter.
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler.h"
#include "file_text.h"
#include "rule_errors.h"

#define AGAIN "build/tests/clock_rules H200 " RESULTS_CSV " writes " RULES_CSV " again"
enum { ERRORS_AT = 4, AT_4096 = 2, CHANGE = 12, CHANGE_AT, SOURCE, FIELDS };  // columns of the table; AT_4096: a size

// The line of a card's rule or constant, without its end. Fails the test if there is not exactly one.
static void find_line(const char *table, const char *card, const char *kind, const char *name, char line[RULE_LINE])
{
    char head[200];
    snprintf(head, sizeof head, "\n%s,%s,%s,", card, kind, name);
    const char *at = strstr(table, head);
    cr_assert(at && !strstr(at + 1, head), "%s, %s %s: one line is to have it; " AGAIN, card, kind, name);
    snprintf(line, RULE_LINE, "%.*s", (int)strcspn(at + 1, "\n"), at + 1);
}

// Cuts the line at its commas, but for those of the last field.
static void split(char *line, const char *fields[FIELDS])
{
    size_t n = 0;
    for (char *at = line; at && n < FIELDS; n++) {
        fields[n] = at;
        at = n + 1 < FIELDS ? strchr(at, ',') : NULL;
        if (at)
            *at++ = '\0';
    }
    cr_assert_eq(n, FIELDS, "%s has %zu fields", line, n);
}

static size_t count_lines(const char *text)
{
    size_t n = 0;
    for (; (text = strchr(text, '\n')); text++)
        n++;
    return n;
}

static void expect_marks(const char *table, const char *card)
{
    for (size_t i = 0; i < n_rule_rows; i++) {
        const struct rule_row *r = &rule_rows[i];
        char line[RULE_LINE], source[RULE_LINE];
        const char *f[FIELDS];
        find_line(table, card, r->kind, r->name, line);
        split(line, f);
        snprintf(source, sizeof source, "\"%s\"", r->source);
        cr_expect_str_eq(f[3], rule_mark_name(r->mark), "%s; " AGAIN, r->name);
        cr_expect_str_eq(f[SOURCE], source, "%s; " AGAIN, r->name);
        for (int j = ERRORS_AT; j < CHANGE; j++)
            cr_expect_eq(*f[j] != '\0', rule_has_errors(r), "%s; " AGAIN, r->name);
    }
}

Test(rules, each_rule_and_constant_stands_in_the_table_with_its_mark)
{
    char *table = file_text(RULES_CSV), whole[100];
    size_t cards = 0;
    for (unsigned i = 0; card_at(i); i++) {
        snprintf(whole, sizeof whole, "\n%s,clock,all,", card_at(i)->name);
        if (!strstr(table, whole))
            continue;
        expect_marks(table, card_at(i)->name);
        cards++;
    }
    cr_expect(cards);
    cr_expect_eq(count_lines(table), 1 + cards * (n_rule_rows + 1), "a head; and by card the clock, and each; " AGAIN);
    free(table);
}

// What is measured or published names it.
Test(rules, a_mark_says_by_what_or_on_what)
{
    for (size_t i = 0; i < n_rule_rows; i++)
        cr_expect(rule_rows[i].mark == MARK_ASSUMED || *rule_rows[i].source, "%s", rule_rows[i].name);
    cr_expect_leq(RULES, 64, "clock_launch.without has a bit for each");
}

// "| `NAME` | MARK: ... | MEAN | WORST | CHANGE at STEP SIZE |", at 4096, and the change at any size.
static void expect_row(const char *notes, const char *table, const char *kind, const char *name)
{
    char line[RULE_LINE], head[100], tail[200];
    const char *f[FIELDS];
    find_line(table, "H200", kind, name, line);
    split(line, f);
    snprintf(head, sizeof head, "\n| `%s` | %s", name, f[3]);
    snprintf(tail, sizeof tail, " | %s | %s | %s%s%s |\n", f[ERRORS_AT + 2 * AT_4096], f[ERRORS_AT + 2 * AT_4096 + 1],
             f[CHANGE], *f[CHANGE_AT] ? " at " : "", f[CHANGE_AT]);
    const char *row = strstr(notes, head), *end = row ? strchr(row + 1, '\n') : NULL;
    const size_t length = strlen(tail);
    cr_expect(end && (size_t)(end + 1 - row) > length && !memcmp(end + 1 - length, tail, length),
              "NOTES.md of the clock has no row %s ... %s", head + 1, tail);
}

Test(rules, the_chapter_has_the_errors_without_each_rule)
{
    char *table = file_text(RULES_CSV), *notes = file_text(CLOCK_NOTES);
    expect_row(notes, table, "clock", "all");
    for (size_t i = 0; i < n_rule_rows; i++)
        if (rule_has_errors(&rule_rows[i]))
            expect_row(notes, table, rule_rows[i].kind, rule_rows[i].name);
    free(table);
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

static void expect_errors(const char *table, const struct result *all, size_t n, const struct rule_row *r)
{
    char line[RULE_LINE], mean[32], worst[32], error[DEV_ERROR_MAX];
    const char *f[FIELDS];
    struct rule_errors e;
    find_line(table, "H200", r ? r->kind : "clock", r ? r->name : "all", line);
    split(line, f);
    cr_assert(rule_predict(r, card_named("H200"), all, n, 4096, &e, error), "%s", error);
    snprintf(mean, sizeof mean, "%.2f", e.mean);
    snprintf(worst, sizeof worst, "%.1f", e.worst);
    cr_expect_str_eq(mean, f[ERRORS_AT + 2 * AT_4096], "%s; " AGAIN, f[2]);
    cr_expect_str_eq(worst, f[ERRORS_AT + 2 * AT_4096 + 1], "%s; " AGAIN, f[2]);
}

// Ten minutes: the clock's errors at 4096, once for each rule that was not measured.
Test(rule_errors, errors_without_each_rule_are_those_of_the_table)
{
    struct result *all;
    size_t n;
    char error[DEV_ERROR_MAX];
    if (strcmp(KERNELS_BY, "nvcc 13.0"))
        cr_skip_test("the H200 ran what nvcc 13.0 made, and the kernels were compiled by " KERNELS_BY);
    cr_assert(results_read(RESULTS_CSV, &all, &n, error), "%s", error);
    char *table = file_text(RULES_CSV);
    expect_errors(table, all, n, NULL);
    for (size_t i = 0; i < n_rule_rows; i++)
        if (rule_has_errors(&rule_rows[i]))
            expect_errors(table, all, n, &rule_rows[i]);
    free(table);
    free(all);
}
