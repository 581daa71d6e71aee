// The main program of each exercise's check: compiles kernel.cu, runs the Criterion tests of check.c on it and says in
// the words of the exercise what is missing. Exit status: 0 passed, 1 not yet, 77 not started, 2 could not run.
//
// EXERCISE is the exercise's name, PTX_COMPILER and PTX_FLAGS how to compile. With EXERCISE_KERNEL in the environment
// that file is checked in place of kernel.cu, and nothing is remembered. With EXERCISE_GRADE in it, what passed and
// failed is also written to that file, for progress grade, nothing is remembered, and no GPU is asked. With
// EXERCISE_TIME in it, nothing is checked: the kernel's time is predicted.
#include <criterion/criterion.h>
#include <criterion/logging.h>
#include <criterion/options.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exercise.h"
#include "base/file.h"
#include "base/program.h"
#include "state.h"
#include "predicted.h"
#include "question.h"
#include "skipped.h"

enum { NOT_YET = 1, CANNOT = 2, NOT_STARTED = 77, MESSAGES = 16 };

// --- The report: a line for each test, below it what failed ---

static char *messages[MESSAGES];
static size_t n_messages;

static void remember(const char *text)
{
    if (text && *text && n_messages < MESSAGES)
        messages[n_messages++] = strdup(text);
}

static void log_assert(struct criterion_assert_stats *stats)
{
    if (!stats->passed)
        remember(stats->message);
}

static void log_timeout(struct criterion_test_stats *stats)
{
    (void)stats;
    remember("the check did not end in time");
}

static void log_crash(struct criterion_test_stats *stats)
{
    char text[128];
    snprintf(text, sizeof text, "the check itself crashed (signal %d): that is an error of the course", stats->signal);
    remember(text);
}

static void print_indented(const char *text)
{
    while (*text) {
        const int n = (int)strcspn(text, "\n");
        printf("%s%.*s\n", n ? "       " : "", n, text);
        text += n + (text[n] == '\n');
    }
}

static void print_title(FILE *out, const char *name)
{
    char title[QUESTION_MAX];
    fprintf(out, "%s\n", question_title(name, title));
}

// One line for progress grade. What needs a GPU is no question there.
static void note_grade(const char *name, bool passed, bool no_gpu)
{
    const char *path = getenv("EXERCISE_GRADE");
    FILE *out = path && !no_gpu ? fopen(path, "a") : NULL;
    if (!out)
        return;
    fputs(passed ? "passed " : "failed ", out);
    print_title(out, name);
    fclose(out);
}

static void log_post_test(struct criterion_test_stats *stats)
{
    const bool skipped = stats->test_status == CR_STATUS_SKIPPED;
    const bool passed = stats->test_status == CR_STATUS_PASSED && !n_messages;
    printf("  %s ", skipped ? " - " : passed ? "ok " : "not yet:");
    print_title(stdout, stats->test->name);
    note_grade(stats->test->name, passed, skipped && stats->message && !strcmp(stats->message, EX_NO_GPU));
    if (skipped && stats->message)
        print_indented(stats->message);
    for (size_t i = 0; i < n_messages; i++) {
        print_indented(messages[i]);
        free(messages[i]);
    }
    n_messages = 0;
    fflush(stdout);
}

static struct criterion_logger report = {
    .log_assert = log_assert,
    .log_test_timeout = log_timeout,
    .log_test_crash = log_crash,
    .log_post_test = log_post_test,
};

// --- The compiler ---

// Leaves the PTX's path in the environment, where the tests find it. Prints what nvcc says.
static bool compile(const char *kernel, char *ptx)
{
    char *const argv[] = { PTX_COMPILER, PTX_FLAGS, "-o", ptx, (char *)kernel, NULL };
    char *said;
    int status;
    if (!program_run(argv, &said, &status)) {
        fprintf(stderr, "%s cannot be started\n", PTX_COMPILER);
        return false;
    }
    if (status)
        printf("  not yet: it compiles\n");
    print_indented(said);
    free(said);
    return !status && !setenv("EXERCISE_PTX", ptx, 1);
}

static int check(const char *kernel, const char *shown)
{
    struct scratch ptx;
    if (!scratch_open(&ptx, "kernel.ptx", NULL)) {
        perror(ptx.folder);
        return CANNOT;
    }
    printf(EXERCISE ": %s\n", shown);
    fflush(stdout);
    int status = NOT_YET;
    const bool compiled = compile(kernel, ptx.path);
    if (compiled && getenv("EXERCISE_TIME")) {
        status = predicted_print(EX_PTX) ? 0 : NOT_YET;
    } else if (compiled) {
        struct criterion_test_set *tests = criterion_initialize();
        criterion_options.logger = &report;
        criterion_options.jobs = 1;  // in order
        status = criterion_run_all_tests(tests) ? 0 : NOT_YET;
        criterion_finalize(tests);
    }
    scratch_close(&ptx);
    return status;
}

int main(void)
{
    char mine[STATE_PATH_MAX];
    const char *other = getenv("EXERCISE_KERNEL");
    const enum state before = state_of(EXERCISE);
    if (other)
        return check(other, other);
    state_path(EXERCISE, "kernel.cu", mine);
    if (before == STATE_MISSING) {
        fprintf(stderr, "%s cannot be read (%s); progress reset " EXERCISE " puts the stub there\n", mine,
                strerror(errno));
        return CANNOT;
    }
    if (before == STATE_NOT_STARTED) {
        printf(EXERCISE ": not started. Read exercises/" EXERCISE "/TASK.md, then fill in kernel.cu beside it.\n");
        note_skipped("the exercise is not started");
        return NOT_STARTED;
    }
    const int status = check(mine, getenv("EXERCISES") ? mine : "exercises/" EXERCISE "/kernel.cu");
    if (getenv("EXERCISE_GRADE") || getenv("EXERCISE_TIME"))
        return status;
    if (status == NOT_YET)
        printf("A hint: build/progress hint " EXERCISE "\n");
    if (!status && state_passed(EXERCISE))
        printf("Done. To compare: build/progress solution " EXERCISE "\n");
    else if (!status)
        fprintf(stderr,
                "Done; but exercises/.progress cannot be written, so that " EXERCISE " passed is not remembered\n");
    return status;
}
