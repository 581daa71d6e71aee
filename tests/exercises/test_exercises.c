// The proof of one exercise: its stub fails by an assertion, its solution passes, and every planted bug is caught with
// the words that its source expects. The words are compared where nvcc compiles; clang's PTX leads to others, about the
// same mistake, and one bug of an exercise may be lost to its optimiser. The sample (sample.h) has one bug in three,
// the brief one a single bug of one exercise in six. The environment's EXERCISE names the exercise, as in
// EXERCISE=05_float4 build/tests/test_exercises. Its check is in CHECK_FOLDER, its source in EXERCISES_FOLDER.
#include <criterion/criterion.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler.h"
#include "../exercises/cut.h"
#include "base/file.h"
#include "base/program.h"
#include "base/text.h"
#include "sample.h"

enum { LEAST_BUGS = 4 };

struct outcome {
    int status;
    char *said;
};

static const char *exercise(void)
{
    const char *name = getenv("EXERCISE");
    cr_assert(name, "EXERCISE names no exercise: run this by meson test, or as EXERCISE=05_float4 build/tests/...");
    return name;
}

// A file of the exercise; the caller frees it.
static char *text_of(const char *file)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s/%s", EXERCISES_FOLDER, exercise(), file);
    char *text = file_read(path);
    cr_assert(text, "%s cannot be read", path);
    return text;
}

// What the check says about a cut of the source.
static struct outcome check(const char *source, enum cut kind, const char *bug)
{
    char folder[] = "/tmp/gemm-steps-XXXXXX", path[64], program[PATH_MAX], error[CUT_ERROR_MAX];
    char *text = cut_text(source, kind, bug, error);
    cr_assert(text, "source.cu, %s", error);
    cr_assert(mkdtemp(folder), "%s", folder);
    snprintf(path, sizeof path, "%s/kernel.cu", folder);
    FILE *out = fopen(path, "w");
    cr_assert(out && fputs(text, out) >= 0 && !fclose(out), "%s", path);
    free(text);
    struct outcome o;
    cr_assert(!setenv("EXERCISE_KERNEL", path, 1));
    unsetenv("BXFI_MAP");  // by which Criterion knows the processes that it started itself
    snprintf(program, sizeof program, "%s/check_%s", CHECK_FOLDER, exercise());
    cr_assert(program_run((char *const[]){ program, NULL }, &o.said, &o.status), "%s cannot be started", program);
    unlink(path);
    rmdir(folder);
    return o;
}

// The brief sample has what a check says of one exercise in six.
static void wait_in_brief(void)
{
    if (!sample_brief_step(exercise(), 1))
        cr_skip_test("waits for meson test");
}

static struct outcome check_own(enum cut kind)
{
    char *source = text_of("source.cu");
    const struct outcome o = check(source, kind, NULL);
    free(source);
    return o;
}

// What the check says of the exercise's own stub or solution, to be freed: it ends with that status, and one of its
// tests has that result.
static char *own_says(enum cut kind, int status, const char *result)
{
    wait_in_brief();
    const struct outcome o = check_own(kind);
    cr_assert_eq(o.status, status, "status %d\n%s", o.status, o.said);
    cr_assert(strstr(o.said, result), "no test with \"%s\":\n%s", result, o.said);
    return o.said;
}

Test(exercise, has_a_stub_that_fails_by_an_assertion, .timeout = 120)
{
    char *said = own_says(CUT_STUB, 1, "  not yet: ");
    cr_assert(!strstr(said, "not yet: it compiles"), "it does not compile:\n%s", said);
    cr_assert(!strstr(said, "did not end in time") && !strstr(said, "crashed"), "not by an assertion:\n%s", said);
    free(said);
}

Test(exercise, has_a_solution_that_passes, .timeout = 120)
{
    char *said = own_says(CUT_SOLUTION, 0, "  ok  ");
    cr_assert(!strstr(said, "warning"), "the compiler warns:\n%s", said);
    free(said);
}

enum { ONE_IN = 3 };

static bool is_in_sample(size_t bug, size_t n)
{
    if (sample_asked() == SAMPLE_BRIEF)
        return sample_has(exercise(), bug, n);
    return sample_has(exercise(), bug % ONE_IN, ONE_IN);
}

static void try_bugs(bool every)
{
    struct cut_bug bugs[CUT_BUGS_MAX];
    char *source = text_of("source.cu");
    size_t passed = 0, waiting = 0;
    const size_t n = cut_bugs(source, bugs);
    cr_assert(n >= LEAST_BUGS && n < CUT_BUGS_MAX, "%zu bugs are planted, want %d to %d", n, LEAST_BUGS,
              CUT_BUGS_MAX - 1);
    for (size_t i = 0; i < n; i++) {
        if (!every && !is_in_sample(i, n)) {
            waiting++;
            continue;
        }
        struct outcome o = check(source, CUT_BUG, bugs[i].name);
        fprintf(stderr, "--- %s\n%s", bugs[i].name, o.said);
        cr_expect(bugs[i].n && !strstr(o.said, "not yet: it compiles"), "%s: expects nothing, or does not compile\n%s",
                  bugs[i].name, o.said);
        passed += o.status == 0;
        cr_expect(o.status == 1 || (o.status == 0 && !BY_NVCC), "%s: status %d\n%s", bugs[i].name, o.status, o.said);
        for (size_t e = 0; e < bugs[i].n && BY_NVCC; e++)
            cr_expect(strstr(o.said, bugs[i].expects[e]), "%s: '%s' is not said:\n%s", bugs[i].name, bugs[i].expects[e],
                      o.said);
        free(o.said);
    }
    free(source);
    fprintf(stderr, "%zu of %zu bugs were tried\n", n - waiting, n);
    cr_assert_leq(passed, 1, "%zu bugs pass the check", passed);
}

Test(exercise, catches_planted_bugs_of_the_sample, .timeout = 300)
{
    if (sample_asked() == SAMPLE_ALL)
        cr_skip_test("every planted bug is tried");
    wait_in_brief();
    try_bugs(false);
}

Test(exercise, catches_every_planted_bug, .timeout = 300)
{
    if (sample_asked() != SAMPLE_ALL)
        cr_skip_test("most planted bugs wait for meson test --setup long");
    try_bugs(true);
}

// The kernel.cu of a clone is the stub; a learner's is the learner's own.
Test(exercise, begins_with_the_stub_of_its_source)
{
    char error[CUT_ERROR_MAX], *source = text_of("source.cu");
    char *stub = cut_text(source, CUT_STUB, NULL, error), *mine = text_of("kernel.cu");
    cr_assert(stub, "source.cu, %s", error);
    const bool same = !strcmp(stub, mine);
    free(stub);
    free(mine);
    free(source);
    if (!same)
        cr_skip_test("kernel.cu is no longer the stub: somebody works on it");
}

Test(exercise, has_a_task_with_three_hints)
{
    static const char *const wanted[] = { "## Goal", "## Given", "## To write", "## Check", "## Hints" };
    char *task = text_of("TASK.md"), how[128], number[TEXT_NUMBER];
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        cr_assert(strstr(task, wanted[i]), "no heading '%s'", wanted[i]);
    int hints = 0;
    for (const char *p = task; (p = strstr(p, "<details>")); p++)
        hints++;
    cr_assert_eq(hints, 3, "%d hints", hints);
    text_number(exercise(), number);
    snprintf(how, sizeof how, "build/course check %s\nbuild/course watch %s ", number, number);
    cr_assert(strstr(task, how), "it does not say how to run the check");
    cr_assert(strstr(task, "(kernel.cu)"), "it does not name the file to edit");
    snprintf(how, sizeof how, "# %.*s ", (int)strcspn(exercise(), "_"), exercise());
    cr_assert(text_begins(task, how), "its title has another number");
    free(task);
}
