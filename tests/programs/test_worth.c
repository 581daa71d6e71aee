// The variants of the steps: their edits apply to the kernels of today, a list that is not as it must be is refused,
// and the tables of steps/results have a row for each. VARIANTS is the list, STEPS_FOLDER the steps, RESULTS
// steps/results, WORTH the program.
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/table.h"
#include "tools/variants.h"
#include "tools/worth.h"

enum { FEWEST_VARIANTS = 60, FIRST_OF = 2, LAST_OF = 20 };
static char error[DEV_ERROR_MAX];

static struct worth open_all(void)
{
    struct worth w;
    cr_assert(worth_open(&w, VARIANTS, "build", error), "%s", error);
    return w;
}

static char *kernel_of(const char *step)
{
    char path[4096];
    snprintf(path, sizeof path, STEPS_FOLDER "/%s/kernel.cu", step);
    char *text = file_read(path);
    cr_assert(text, "%s", path);
    return text;
}

Test(worth, every_edit_applies_to_the_kernel_of_today)
{
    struct worth w = open_all();
    for (size_t i = 0; i < w.variants.n; i++) {
        const struct variant *v = &w.variants.all[i];
        char *kernel = kernel_of(v->step), *changed = variants_apply(&w.variants, v, kernel, error);
        cr_expect(changed, "%s", error);
        cr_expect(!changed || strcmp(changed, kernel), "%s changes nothing", v->name);
        free(changed);
        free(kernel);
    }
    worth_close(&w);
}

// What differs belongs to the step in question or to the one before it, and every step has some.
Test(worth, every_step_has_variants_of_its_own_kernel_or_of_the_one_before)
{
    struct worth w = open_all();
    size_t of[LAST_OF + 1] = { 0 };
    for (size_t i = 0; i < w.variants.n; i++) {
        const struct variant *v = &w.variants.all[i];
        const int base = atoi(v->step);
        cr_assert(v->of >= 1 && v->of <= LAST_OF, "%s is of step %d", v->name, v->of);
        cr_expect(v->kind == VARIANT_ONLY      ? base == v->of - 1
                  : v->kind == VARIANT_WITHOUT ? base == v->of
                                               : base == v->of || base == v->of - 1,
                  "%s, which edits %s, is no %s of step %d", v->name, v->step, variant_kinds[v->kind], v->of);
        of[v->of] += v->kind != VARIANT_WRONG;
    }
    for (int i = FIRST_OF; i <= LAST_OF; i++)
        cr_expect(of[i], "step %d has no variant", i);
    cr_expect(w.n >= FEWEST_VARIANTS, "%zu kernels", w.n);
    worth_close(&w);
}

// What the step before has, too, is no part of what a step gained: such a row is of the kind "with".
Test(worth, what_is_left_out_is_not_in_the_step_before)
{
    struct worth w = open_all();
    for (size_t i = 0; i < w.variants.n; i++) {
        const struct variant *v = &w.variants.all[i];
        const int before = worth_step(&w, v->of - 1);
        if (v->kind != VARIANT_WITHOUT || before < 0)
            continue;
        char *kernel = kernel_of(w.kernels[before].step.name), *changed = variants_apply(&w.variants, v, kernel, error);
        cr_expect(!changed, "%s: its edits apply to %s, too", v->name, w.kernels[before].step.name);
        free(changed);
        free(kernel);
    }
    worth_close(&w);
}

static void write_list(struct scratch *s, const char *text)
{
    cr_assert(scratch_open(s, "variants.txt", text));
}

static void expect_refused(const char *text, const char *why)
{
    struct scratch s;
    struct variants v;
    write_list(&s, text);
    cr_expect(!variants_read(&v, s.path, error), "%s", text);
    cr_expect(strstr(error, why), "%s\n%s", text, error);
    scratch_close(&s);
}

Test(worth, a_list_that_is_not_as_it_must_be_is_refused)
{
    expect_refused("a 01_naive 1 only\n", ":1: a row is NAME STEP OF KIND PART");
    expect_refused("a 01_naive 1 maybe part: words\n", ":1: a row is NAME STEP OF KIND PART");
    expect_refused("- x\n+ y\n", ":1: an edit without a row");
    expect_refused("= 02\n", ":1: behind '=' stand the number of a step and a part");
    expect_refused("= tiles\n", ":1: behind '=' stand the number of a step and a part");
    expect_refused("= 02 tiles\n= 02 loops\n", ":2: this step has one above, too");
    expect_refused("a 01_naive 1 only part: words\n- x\n\n+ y\n", ":3: behind the lines of '- '");
    expect_refused("a 01_naive 1 only part: words\n& b\n", ":2: there is no such variant");
    expect_refused("a 01_naive 1 only part: words\na 01_naive 1 only part: words\n", ":2: this name stands above");
}

static void expect_applied(const char *edits, const char *kernel, const char *expected)
{
    struct scratch s;
    struct variants v;
    char list[1000];
    snprintf(list, sizeof list,
             "first 01_naive 1 only part: words\n- one\n+ two\n\nnext 01_naive 1 only part: words\n%s", edits);
    write_list(&s, list);
    cr_assert(variants_read(&v, s.path, error), "%s", error);
    char *text = variants_apply(&v, variants_find(&v, "next"), kernel, error);
    cr_expect_str_eq(text ? text : error, expected);
    free(text);
    variants_free(&v);
    scratch_close(&s);
}

Test(worth, edits_are_made_in_order_line_by_line_and_once)
{
    expect_applied("- a\n-   b\n+ c\n", "x\na\n  b\ny\n", "x\nc\ny\n");
    expect_applied("- a\n+\n- b\n+ a\n", "b a", "a ");
    expect_applied("& first\n- two\n+ three\n", "one", "three");
    struct variants v;
    struct scratch s;
    write_list(&s, "v 01_naive 1 only part: words\n- a\n+ b\n");
    cr_assert(variants_read(&v, s.path, error), "%s", error);
    cr_expect(!variants_apply(&v, v.all, "a a", error));
    cr_expect(strstr(error, ":2: 'a' stands 2 times in the kernel of 01_naive"), "%s", error);
    cr_expect(!variants_apply(&v, v.all, "c", error));
    cr_expect(strstr(error, "stands 0 times"), "%s", error);
    variants_free(&v);
    scratch_close(&s);
}

// How many rows of the table the kernel has; all is counted up for each row of any kernel.
static size_t rows_of(const char *path, const char *name)
{
    struct table t;
    bool more, ok = table_open(&t, path, error);
    size_t n = 0;
    while (ok && (ok = table_next(&t, &more)) && more)
        for (size_t i = 0; i < t.columns; i++)
            n += !strcmp(t.name[i], "name") && (!name || !strcmp(t.field[i], name));
    cr_assert(ok, "%s", error);
    table_close(&t);
    return n;
}

Test(worth, the_tables_have_rows_of_all_kernels_and_of_no_others)
{
    static const char *const paths[] = { RESULTS "/h200_worth_frozen.csv", RESULTS "/h200_worth.csv" };
    struct worth w = open_all();
    for (int p = 0; p < 2; p++) {
        size_t known = 0;
        for (size_t i = 0; i < w.n; i++) {
            const size_t n = rows_of(paths[p], w.kernels[i].step.name);
            cr_expect(n >= 1, "%s has no row of %s", paths[p], w.kernels[i].step.name);
            known += n;
        }
        cr_expect_eq(known, rows_of(paths[p], NULL), "%s has rows of what is no variant", paths[p]);
    }
    worth_close(&w);
}

Test(worth, the_program_says_of_each_step_what_its_parts_are_worth)
{
    for (int of = FIRST_OF; of <= LAST_OF; of++) {
        char command[4200], text[8000];
        snprintf(command, sizeof command, "exec 2>&1; '%s' %d", WORTH, of);
        FILE *f = popen(command, "r");
        cr_assert(f);
        text[fread(text, 1, sizeof text - 1, f)] = 0;
        cr_expect_eq(pclose(f), 0, "%s", text);
        cr_expect(strstr(text, "TFLOP/s at 4096"), "%s", text);
        cr_expect_eq(!strstr(text, ": x "), !strstr(text, "  rest, "), "%s", text);
    }
}

// A step without one before it, or with one of another type, has a picture of itself and of what it is without its
// parts.
Test(worth, steps_that_begin_have_a_picture_too)
{
    static const char *const begin[] = { "01_naive", "08_wmma" };
    for (int i = 0; i < 2; i++) {
        char command[4200], text[20000];
        snprintf(command, sizeof command, "exec 2>&1; '%s' %s --svg -", WORTH, begin[i]);
        FILE *f = popen(command, "r");
        cr_assert(f);
        text[fread(text, 1, sizeof text - 1, f)] = 0;
        cr_expect_eq(pclose(f), 0, "%s", text);
        cr_expect(strstr(text, begin[i]) && !strstr(text, "07_double_buffer") && !strstr(text, "nan") &&
                      !strstr(text, "inf"),
                  "%s", text);
    }
}

// Each part that is drawn stands in the picture with what it is worth.
Test(worth, the_picture_has_both_steps_and_their_parts)
{
    struct scratch s;
    char command[4200];
    cr_assert(scratch_open(&s, "parts.svg", NULL));
    snprintf(command, sizeof command, "'%s' 16 --svg '%s'", WORTH, s.path);
    cr_assert_eq(system(command), 0);
    char *svg = file_read(s.path);
    cr_assert(svg);
    static const char *const wanted[] = { "15_wgmma", "16_warp_roles", "alone: descriptors", "without: setmaxnreg",
                                          " TFLOP/s" };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        cr_expect(strstr(svg, wanted[i]), "%s", wanted[i]);
    free(svg);
    scratch_close(&s);
}
