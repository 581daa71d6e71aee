// What each part of a step has of its gain, by rows and rates of the test's own; and that the text and the picture of
// all steps have what the tables say. VARIANTS is the list, TIMES and COUNTS the tables, WORTH the program.
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "tools/worth.h"

enum { TEXT = 100000 };
static char error[DEV_ERROR_MAX];

// --- rows of the test's own, of step 02 ---

struct made {
    struct scratch scratch;
    struct worth w;
    struct worth_rates *r;
};

static size_t kernel_named(const struct worth *w, const char *name)
{
    for (size_t i = 0; i < w->n; i++)
        if (!strcmp(w->kernels[i].step.name, name))
            return i;
    cr_assert_fail("%s", name);
    return 0;
}

static void set_rate(struct made *m, const char *name, double tflops)
{
    for (int i = 0; i < WORTH_ROUNDS; i++)
        m->r[kernel_named(&m->w, name)].tflops[i] = tflops;
}

static void make(struct made *m, const char *rows)
{
    cr_assert(scratch_open(&m->scratch, "variants.txt", rows));
    cr_assert(worth_open(&m->w, m->scratch.path, "build", error), "%s", error);
    m->r = calloc(m->w.n, sizeof *m->r);
    cr_assert(m->r);
    set_rate(m, "01_naive", 10);
    set_rate(m, "02_smem_tile", 60);
}

static void unmake(struct made *m)
{
    free(m->r);
    worth_close(&m->w);
    scratch_close(&m->scratch);
}

static struct worth_share share_of(const struct worth_shares *s, const char *name)
{
    for (size_t i = 0; i < s->n; i++)
        if (!strcmp(s->part[i].name, name))
            return s->part[i];
    cr_assert_fail("no part '%s'", name);
    return (struct worth_share){ 0 };
}

static void expect_near(double is, double expected, const char *what)
{
    cr_expect_float_eq(is, expected, 1e-9, "%s is %g, not %g", what, is, expected);
}

Test(worth_fall, a_share_is_the_mean_of_what_a_part_brings_first_and_last)
{
    struct made m;
    struct worth_shares s;
    make(&m, "alone_a 01_naive 2 only a: x\nleft_a 02_smem_tile 2 without a: x\nleft_b 02_smem_tile 2 without b: x\n");
    set_rate(&m, "alone_a", 20);  // x 2 first
    set_rate(&m, "left_a", 7.5);  // x 8 last
    set_rate(&m, "left_b", 40);   // x 1.5
    cr_assert(worth_shares(&m.w, m.r, 2, &s));
    expect_near(s.total, 6, "the step");
    expect_near(share_of(&s, "a").factor, 4, "a");
    expect_near(share_of(&s, "a").alone, 2, "a alone");
    expect_near(share_of(&s, "a").last, 8, "a left out");
    expect_near(share_of(&s, "b").factor, 1.5, "b");
    expect_near(s.rest, 1, "the rest");
    cr_expect_str_eq(s.part[0].name, "a", "the largest first");
    unmake(&m);
}

// b was never timed alone: what it brings is seen where a is there, too.
Test(worth_fall, two_kernels_that_differ_in_one_part_of_several_are_a_pair)
{
    struct made m;
    struct worth_shares s;
    make(&m, "a 01_naive 2 only a: x\nab 01_naive 2 only a, b: x\nleft_ab 02_smem_tile 2 without a, b: x\n");
    set_rate(&m, "a", 20);
    set_rate(&m, "ab", 50);
    set_rate(&m, "left_ab", 1);
    cr_assert(worth_shares(&m.w, m.r, 2, &s));
    expect_near(share_of(&s, "b").factor, 2.5, "b");
    cr_expect_eq(share_of(&s, "b").pairs, 1);
    expect_near(share_of(&s, "b").alone, 0, "b alone");
    expect_near(s.rest, 6 / (2 * 2.5), "the rest");
    unmake(&m);
}

// Without b, with the list's word that nothing has no name, 02 is a alone: it is compared with 01 and with "ab".
Test(worth_fall, what_no_row_leaves_out_is_a_part_where_the_list_names_it)
{
    struct made m;
    struct worth_shares s;
    make(&m, "= 02 a\nleft_b 02_smem_tile 2 without b: x\n");
    set_rate(&m, "left_b", 30);
    cr_assert(worth_shares(&m.w, m.r, 2, &s));
    expect_near(share_of(&s, "a").factor, 3, "a");
    expect_near(share_of(&s, "a").alone, 3, "a alone");
    expect_near(share_of(&s, "b").factor, 2, "b");
    expect_near(s.rest, 1, "the rest");
    cr_expect_str_eq(worth_rest_name(&s), "rest, interaction");
    unmake(&m);
}

// All eight sets of three parts: what c brings first, in the middle (twice) and last has the same weight, and the
// shares multiply to the whole.
Test(worth_fall, shares_of_all_sets_of_parts_multiply_to_the_gain)
{
    struct made m;
    struct worth_shares s;
    make(&m, "= 02 c\na 01_naive 2 only a: x\nb 01_naive 2 only b: x\nab 01_naive 2 only a, b: x\n"
             "left_ab 02_smem_tile 2 without a, b: x\nleft_a 02_smem_tile 2 without a: x\n"
             "left_b 02_smem_tile 2 without b: x\n");
    set_rate(&m, "a", 11);
    set_rate(&m, "b", 13);
    set_rate(&m, "ab", 17);
    set_rate(&m, "left_ab", 19);  // c
    set_rate(&m, "left_a", 23);   // b, c
    set_rate(&m, "left_b", 29);   // a, c
    cr_assert(worth_shares(&m.w, m.r, 2, &s));
    expect_near(share_of(&s, "c").factor, cbrt(19.0 / 10 * sqrt(29.0 / 11 * 23 / 13) * 60 / 17), "c");
    expect_near(s.rest, 1, "the rest");
    unmake(&m);
}

Test(worth_fall, kernels_that_spill_or_were_not_timed_are_not_counted)
{
    struct made m;
    struct worth_shares s;
    make(&m, "spills 02_smem_tile 2 without a: x\nuntimed 02_smem_tile 2 without b: x\nother 02_smem_tile 2 with c: x\n"
             "b 01_naive 2 only a, b: x\n");
    set_rate(&m, "spills", 30);
    set_rate(&m, "other", 30);
    set_rate(&m, "b", 30);
    m.r[kernel_named(&m.w, "spills")].spilled = 4;
    cr_assert(worth_shares(&m.w, m.r, 2, &s));
    cr_expect_eq(s.n, 2, "%zu parts", s.n);
    cr_expect_eq(share_of(&s, "a").pairs + share_of(&s, "b").pairs, 0);
    expect_near(s.rest, 6, "the rest");
    worth_shares_lump(&s);
    cr_expect_eq(s.n, 0, "what has no pair is in the rest");
    unmake(&m);
}

Test(worth_fall, small_parts_are_put_together)
{
    struct made m;
    struct worth_shares s;
    make(&m, "a 02_smem_tile 2 without a: x\nb 02_smem_tile 2 without b: x\nc 02_smem_tile 2 without c: x\n");
    set_rate(&m, "a", 60 / 1.004);
    set_rate(&m, "b", 30);
    set_rate(&m, "c", 60 / 0.999);
    cr_assert(worth_shares(&m.w, m.r, 2, &s));
    worth_shares_lump(&s);
    cr_expect_eq(s.n, 2, "%zu parts", s.n);
    expect_near(share_of(&s, "b").factor, 2, "b");
    expect_near(share_of(&s, "2 small parts").factor, 1.004 * 0.999, "the small ones");
    unmake(&m);
}

// A step that multiplies another type than the one before is a new beginning.
Test(worth_fall, the_first_step_of_a_type_has_no_gain)
{
    struct made m;
    struct worth_shares s;
    make(&m, "a 08_wmma 8 without a: x\n");
    set_rate(&m, "07_double_buffer", 50);
    set_rate(&m, "08_wmma", 100);
    set_rate(&m, "a", 90);
    cr_assert(worth_shares(&m.w, m.r, 8, &s));
    expect_near(s.total, 0, "08 over 07");
    cr_assert(worth_shares(&m.w, m.r, 1, &s));
    expect_near(s.total, 0, "01");
    cr_expect(!worth_shares(&m.w, m.r, 5, &s), "05 was not timed");
    unmake(&m);
}

// --- the tables of the course ---

static char *printed(const char *arguments)
{
    char command[4200];
    snprintf(command, sizeof command, "exec 2>&1; '%s' %s", WORTH, arguments);
    FILE *f = popen(command, "r");
    char *text = calloc(1, TEXT);
    cr_assert(f && text);
    cr_assert(fread(text, 1, TEXT - 1, f) > 0);
    cr_assert_eq(pclose(f), 0, "%s", text);
    return text;
}

// What stands between the name of a step and that of the next.
static const char *row_of(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    cr_assert(at, "%s is missing", name);
    return at;
}

Test(worth_fall, the_text_and_the_picture_have_each_step_with_its_gain_and_its_rest)
{
    struct worth w;
    cr_assert(worth_open(&w, VARIANTS, "build", error), "%s", error);
    struct worth_rates *r = worth_rates_read(&w, 4096, TIMES, COUNTS, error);
    cr_assert(r, "%s", error);
    char *text = printed(""), *json = printed("--json -"),
         *pictures[] = { printed("--svg -"), printed("--svg - --narrow"), printed("--svg - --large") };
    for (size_t i = 0; i < w.n; i++) {
        struct worth_shares s;
        char words[64];
        if (w.kernels[i].variant)
            continue;
        const char *name = w.kernels[i].step.name;
        cr_assert(worth_shares(&w, r, w.kernels[i].of, &s), "%s", name);
        double product = s.rest;
        for (size_t part = 0; part < s.n; part++)
            product *= s.part[part].factor;
        cr_expect_float_eq(product, s.total, 1e-9, "%s: %g is not %g", name, product, s.total);
        snprintf(words, sizeof words, "x %5.2f", s.total);
        cr_expect(s.total <= 0 || strstr(row_of(text, name), words), "%s\n%s", words, text);
        const char *factor = strstr(row_of(json, name), "\"factor\": ");
        cr_expect(s.total <= 0 || (factor && fabs(atof(factor + 10) / s.total - 1) < 1e-9), "%s: %g\n%s", name, s.total,
                  json);
        snprintf(words, sizeof words, "x %.2f", s.total);
        for (int p = 0; p < 3; p++) {
            const char *row = row_of(strstr(pictures[p], "</style>"), name);
            cr_expect(s.total <= 0 || strstr(row, worth_is_nothing(s.total) ? "nothing alone" : words), "%s: %s", name,
                      words);
        }
    }
    for (int p = 0; p < 3; p++)
        free(pictures[p]);
    free(json);
    free(text);
    free(r);
    worth_close(&w);
}

Test(worth_fall, what_cannot_be_said_is_one_line_on_stderr)
{
    static const char *const wrong[][2] = { { "nosuch", "there is no step 'nosuch'" },
                                            { "--size 77", "has no times at 77" },
                                            { "16 --size 512", "has no times of step 16 at 512" },
                                            { "--svg /nosuch/x.svg", "/nosuch/x.svg cannot be written" },
                                            { "--json /nosuch/x.json", "/nosuch/x.json\": cannot write it: No" } };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char command[4200], text[2000];
        snprintf(command, sizeof command, "'%s' %s 2>&1 >/dev/null", WORTH, wrong[i][0]);
        FILE *f = popen(command, "r");
        cr_assert(f);
        text[fread(text, 1, sizeof text - 1, f)] = 0;
        cr_expect_eq(WEXITSTATUS(pclose(f)), 2, "%s", text);
        cr_expect(strstr(text, wrong[i][1]), "%s", text);
        cr_expect_eq(strchr(text, '\n'), text + strlen(text) - 1, "%s", text);
    }
}
