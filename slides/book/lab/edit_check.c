// The exercises' checks on the book's pages: exercises/*/check.c as they are, run one test after the other in place of
// Criterion's processes. What a failing test leaves behind stays until the module is closed: the page opens a fresh one
// for each check.
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "../../../exercises/cut.h"
#include "../../../exercises/exercise.h"
#include "../../../exercises/question.h"
#include "inside.h"
#include "lab.h"

enum { TESTS = 16, PASSED = 1, FAILED, SKIPPED };

static struct edit_test *all;
static jmp_buf out_of_test;
static char *said;

void edit_test_add(struct edit_test *t)
{
    t->next = all;
    all = t;
}

static void end_test(int how, const char *format, va_list args)
{
    free(said);
    if (vasprintf(&said, format, args) < 0)
        said = NULL;
    longjmp(out_of_test, how);
}

void edit_test_fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    end_test(FAILED, format, args);
    abort();
}

void edit_test_skip(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    end_test(SKIPPED, format, args);
    abort();
}

static int run_test(const struct edit_test *t)
{
    const int how = setjmp(out_of_test);
    if (how)
        return how;
    t->run();
    return PASSED;
}

static int by_name(const void *a, const void *b)
{
    return strcmp((*(const struct edit_test *const *)a)->name, (*(const struct edit_test *const *)b)->name);
}

// The tests of an exercise, in the order of their numbers.
static int find_tests(const char *exercise, const struct edit_test *found[TESTS])
{
    char file[128];
    int n = 0;
    snprintf(file, sizeof file, "/%s/check.c", exercise);
    for (const struct edit_test *t = all; t && n < TESTS; t = t->next)
        if (strstr(t->file, file))
            found[n++] = t;
    qsort(found, (size_t)n, sizeof *found, by_name);
    return n;
}

const char *lab_check(const char *exercise, const char *ptx)
{
    static const char *const states[] = { [PASSED] = "passed", [FAILED] = "failed", [SKIPPED] = "skipped" };
    const struct edit_test *tests[TESTS];
    const int n = find_tests(exercise, tests);
    char title[QUESTION_MAX];
    struct json j;
    setenv("EXERCISE_PTX", ptx, 1);
    FILE *out = lab_text_begin(&j);
    if (!out)
        return NULL;
    json_array(&j, "tests");
    for (int i = 0; i < n; i++) {
        free(said);
        said = NULL;
        const int how = run_test(tests[i]);
        json_object(&j, NULL);
        json_string(&j, "title", question_title(tests[i]->name, title));
        json_string(&j, "state", states[how]);
        json_bool(&j, "counts", how != SKIPPED || strcmp(said ? said : "", EX_NO_GPU) != 0);
        json_string(&j, "text", said ? said : "");
        json_end(&j);
    }
    json_end(&j);
    return lab_text_end(&j, out);
}

int lab_points(int questions, int passed, int passed_by_stub)
{
    return question_points(questions, passed, passed_by_stub);
}

const char *lab_cut(const char *source, bool solution, const char *bug)
{
    static char *text;
    free(text);
    return text = cut_text(source, bug ? CUT_BUG : solution ? CUT_SOLUTION : CUT_STUB, bug, lab_error_room());
}
