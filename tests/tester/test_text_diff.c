// Tests of common/tester/text_diff: what is said to be different is what somebody has changed.
#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>

#include "tester/text_diff.h"

#define BEFORE                                                                                                         \
    "int tid = threadIdx.x;\n"                                                                                         \
    "int row = tid / BN * TM + lane % 4 * 2, col = tid % BN;  // of C\n"                                               \
    "for (int tile = 0; tile < K - 1; tile++) {\n"                                                                     \
    "    copy(a, i, next);\n"                                                                                          \
    "    __syncthreads();\n"                                                                                           \
    "    for (int k = 0; k < BK; k++)\n"                                                                               \
    "        acc += As[row][k] * Bs[k][col];\n"                                                                        \
    "    __syncthreads();\n"                                                                                           \
    "}\n"                                                                                                              \
    "store(C, M, N, row, col, alpha, acc);\n"

// `from`, which stands there once, becomes `to`.
static const struct {
    const char *from, *to;
    enum diff_kind kind;
    unsigned line, other_line;
    const char *now, *then;
} edits[] = {
    { "tid % BN", "tid / BN", DIFF_OTHER, 2, 0, "col = tid / BN", "col = tid % BN" },
    { "tile = 0", "tile = 1", DIFF_OTHER, 3, 0, "tile = 1", "tile = 0" },
    { "K - 1", "K", DIFF_OTHER, 3, 0, "K", "K - 1" },
    { "lane % 4 * 2", "lane % 4", DIFF_OTHER, 2, 0, "lane % 4", "lane % 4 * 2" },
    { "k < BK", "k <= BK", DIFF_OTHER, 6, 0, "k <= BK", "k < BK" },
    { "As[row][k]", "As[k][row]", DIFF_OTHER, 7, 0, "As[k][row]", "As[row][k]" },
    { "M, N, row", "N, M, row", DIFF_OTHER, 10, 0, "N, M", "M, N" },
    { "int col", "unsigned char col", DIFF_OTHER, 0, 0, "", "" },  // not there: nothing is different
    { "    __syncthreads();\n    for", "    for", DIFF_MISSING, 5, 0, "", "__syncthreads();" },
    { "    __syncthreads();\n}", "}", DIFF_MISSING, 8, 0, "", "__syncthreads();" },
    { "store(C, M, N, row, col, alpha, acc);\n", "", DIFF_MISSING, 10, 0, "", "store(C, M, N, row, col, alpha, acc);" },
    { "store(C", "C += 1;\nstore(C", DIFF_MORE, 10, 0, "C += 1;", "" },
    { "    copy(a, i, next);\n", "    copy(a, i, next);\n    copy(a, i, next);\n", DIFF_TWICE, 5, 0,
      "copy(a, i, next);", "" },
    { "    copy(a, i, next);\n    __syncthreads();\n", "    __syncthreads();\n    copy(a, i, next);\n", DIFF_MOVED, 4,
      6, "__syncthreads();", "" },
};

static char *edited(const char *from, const char *to)
{
    static char text[1024];
    const char *at = strstr(BEFORE, from);
    if (!at)
        return strcpy(text, BEFORE);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - BEFORE), BEFORE, to, at + strlen(from));
    return text;
}

Test(text_diff, one_edit_is_one_place_and_says_what_was_changed)
{
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        struct diff_place p[4];
        const size_t n = text_diff(BEFORE, edited(edits[i].from, edits[i].to), p, 4), want = edits[i].line > 0;
        cr_expect_eq(n, want, "%s: %zu places", edits[i].to, n);
        if (n != 1)
            continue;
        cr_expect_eq(p->kind, edits[i].kind, "%s: kind %d", edits[i].to, p->kind);
        cr_expect_eq(p->line, edits[i].line, "%s: line %u", edits[i].to, p->line);
        cr_expect_eq(p->from, edits[i].other_line, "%s: from line %u", edits[i].to, p->from);
        cr_expect_str_eq(p->now, edits[i].now);
        cr_expect_str_eq(p->then, edits[i].then);
    }
}

Test(text_diff, white_space_and_comments_are_no_difference)
{
    struct diff_place p[4];
    cr_expect_eq(text_diff("a = b+1; // one\n/* x\n*/ c(d);", "a=b + 1;\n\n  c( d ) ; // two", p, 4), 0);
    cr_expect_eq(text_diff("", "", p, 4), 0);
    cr_expect_eq(text_diff("a = \"b // c\";", "a = \"b // d\";", p, 4), 1);
    cr_expect_eq(text_diff("a + +b;", "a ++b;", p, 4), 1, "operators are tokens");
}

Test(text_diff, places_stand_in_their_order_and_many_are_counted)
{
    struct diff_place p[4];
    char then[2048] = "", now[2048] = "";
    for (int i = 0; i < 12; i++) {
        snprintf(then + strlen(then), sizeof then - strlen(then), "a%d = b + c * d;\n", i);
        snprintf(now + strlen(now), sizeof now - strlen(now), "a%d = b + c * %c;\n", i, i % 2 ? 'e' : 'd');
    }
    cr_expect_eq(text_diff(then, now, p, 4), 6);
    for (unsigned i = 0; i < 4; i++)
        cr_expect_eq(p[i].line, 2 * i + 2);
    memset(now, 'x', 200), now[200] = '\0';
    for (int i = 0; i < 199; i += 2)
        now[i] = ' ';
    cr_expect_gt(text_diff(then, now, p, 4), 4, "too much to be looked at");
}

Test(text_diff, long_words_are_cut)
{
    struct diff_place p[1];
    char now[400] = "f(", words[] = "argument, ";
    for (int i = 0; i < 30; i++)
        strcat(now, words);
    strcat(now, "last);\n");
    cr_expect_eq(text_diff("f(g);\n", now, p, 1), 1);
    cr_expect_leq(strlen(p->now), DIFF_WORDS - 1);
    cr_expect(strstr(p->now, "..."), "%s", p->now);
}
