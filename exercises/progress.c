// The learner's companion: which exercises are done, what comes next, hints one at a time, a watch that checks on every
// save, and a way back to the stub. Exit status: 0, 1 where a check does not pass, 2 for a bad command.
//
// CHECK_FOLDER is where the checks are built; names is made from the list in meson.build.
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cut.h"
#include "grade.h"
#include "base/file.h"
#include "base/options.h"
#include "base/program.h"
#include "base/text.h"
#include "state.h"

enum { BAD = 2, NOT_STARTED = 77, HINTS = 3, WIDTH = 20 };

static const char *const names[] = { EXERCISES };
enum { N = sizeof names / sizeof *names };

static const char *const state_names[] = { "not started", "started", "done", "kernel.cu is missing" };

// Those whose compiler this build does not have. LEFT_OUT and WHY_LEFT_OUT: exercises/meson.build, steps/meson.build.
static const char *const left_out[] = { LEFT_OUT NULL };

static bool is_meant(const char *text, const char *name)
{
    return text_means(strncmp(text, "ex", 2) ? text : text + 2, name);
}

// The exercise that a learner means by "5", "05", "05_float4" or "ex05_float4", or "7b"; NULL with a line on stderr.
static const char *named(const char *text)
{
    if (!text) {
        fprintf(stderr, "progress: which exercise? For example: 5, or %s\n", names[0]);
        return NULL;
    }
    for (int i = 0; i < N; i++)
        if (is_meant(text, names[i]))
            return names[i];
    for (int i = 0; left_out[i]; i++)
        if (is_meant(text, left_out[i])) {
            fprintf(stderr, "progress: %s and its like are not in this build: %s\n", left_out[i], WHY_LEFT_OUT);
            return NULL;
        }
    fprintf(stderr, "progress: there is no exercise '%s'; they are %s to %s, and progress alone lists them\n", text,
            names[0], names[N - 1]);
    return NULL;
}

// --- progress ---

// The first that is started, or else the first that is not, or else the first without its kernel.cu; NULL where all are
// done.
static const char *next_one(void)
{
    const char *fresh = NULL, *missing = NULL;
    for (int i = 0; i < N; i++) {
        const enum state s = state_of(names[i]);
        if (s == STATE_STARTED)
            return names[i];
        if (s == STATE_MISSING && !missing)
            missing = names[i];
        if (s == STATE_NOT_STARTED && !fresh)
            fresh = names[i];
    }
    return fresh ? fresh : missing;
}

// What to do next, in a line.
static int print_next(void)
{
    const char *next = next_one();
    char path[STATE_PATH_MAX], number[TEXT_NUMBER];
    if (!next) {
        printf("That is all of them. build/progress check runs them once more.\n");
        return 0;
    }
    if (getenv("EXERCISES"))
        state_path(next, "TASK.md", path);
    else
        snprintf(path, sizeof path, "exercises/%s/TASK.md", next);
    printf("Next: read %s, fill in kernel.cu beside it, then build/course check %s\n", path, text_number(next, number));
    return 0;
}

static int list(void)
{
    int counts[STATE_MISSING + 1] = { 0 };
    char title[STATE_TITLE_MAX];
    for (int i = 0; i < N; i++) {
        const enum state s = state_of(names[i]);
        const int hints = state_hints(names[i]);
        counts[s]++;
        printf("%-*s %-12s ", WIDTH, names[i], state_names[s]);
        printf("%s", state_title(names[i], title));
        if (hints)
            printf(" (%d of %d hints)", hints, HINTS);
        putchar('\n');
    }
    printf("\n%d done, %d started, %d not started\n", counts[STATE_DONE], counts[STATE_STARTED] + counts[STATE_MISSING],
           counts[STATE_NOT_STARTED]);
    return print_next();
}

// --- progress hint ---

// Prints a piece of a task without the marks of its numbers: <span data-value="...">52</span> is 52.
static void print_plain(const char *text, const char *end)
{
    static const char *const tags[][2] = { { "<span data-value=\"", "\">" }, { "</span>", ">" } };
    while (text < end) {
        const char *last = NULL;
        for (int i = 0; i < 2 && !last; i++)
            if (text_begins(text, tags[i][0]) && (last = strstr(text, tags[i][1])))
                text = last + strlen(tags[i][1]);
        if (!last)
            putchar(*text++);
    }
}

// The text of hint number n (from 1 on) without its HTML; false where there is none.
static bool print_hint(const char *task, int n)
{
    static const char open[] = "<details><summary>", close[] = "</summary>", end[] = "</details>";
    const char *p = task;
    for (int i = 0; i < n; i++) {
        p = strstr(p, open);
        if (!p)
            return false;
        p += strlen(open);
    }
    const char *title_end = strstr(p, close), *text_end = strstr(p, end);
    if (!title_end || !text_end || title_end > text_end)
        return false;
    const char *text = title_end + strlen(close);
    text += strspn(text, "\n");
    print_plain(p, title_end);
    printf("\n\n");
    print_plain(text, text_end);
    return true;
}

static int hint(const char *name)
{
    char path[STATE_PATH_MAX];
    const int seen = state_hints(name);
    char *task = file_read(state_path(name, "TASK.md", path));
    if (!task) {
        fprintf(stderr, "progress: %s cannot be read\n", path);
        return BAD;
    }
    int status = 0;
    if (seen >= HINTS) {
        printf("You have seen all %d hints of %s:\n\n", HINTS, name);
        for (int i = 1; i <= HINTS; i++)
            print_hint(task, i);
    } else if (!print_hint(task, seen + 1)) {
        fprintf(stderr, "progress: %s has no hint %d\n", path, seen + 1);
        status = BAD;
    } else if (!state_hinted(name, seen + 1)) {
        fprintf(stderr, "progress: %s cannot be written: the next hint will be this one again\n",
                state_path("", ".progress", path));
    }
    free(task);
    return status;
}

// --- progress check, progress watch ---

static int run_check(const char *name)
{
    char path[STATE_PATH_MAX], *said;
    int status;
    snprintf(path, sizeof path, "%s/check_%s", CHECK_FOLDER, name);
    if (!program_run((char *const[]){ path, NULL }, &said, &status)) {
        fprintf(stderr, "progress: %s cannot be started: meson compile -C build\n", path);
        return BAD;
    }
    fputs(said, stdout);
    fflush(stdout);
    free(said);
    return status;
}

static int check_all(const char *only)
{
    int passed = 0, asked = 0;
    for (int i = 0; i < N; i++)
        if (!only || !strcmp(only, names[i])) {
            asked++;
            passed += run_check(names[i]) == 0;
        }
    if (!only)
        printf("\n%d of %d pass\n", passed, asked);
    return passed < asked;
}

static struct timespec changed(const char *name)
{
    char path[STATE_PATH_MAX];
    struct stat s;
    return stat(state_path(name, "kernel.cu", path), &s) ? (struct timespec){ 0 } : s.st_mtim;
}

// Polls, which works on network disks too, until a signal comes.
static int watch(const char *only)
{
    static const struct timespec pause = { .tv_nsec = 300000000 };
    struct timespec seen[N];
    for (int i = 0; i < N; i++)
        seen[i] = changed(names[i]);
    printf("Watching %s. Save a kernel.cu, and its check runs; Ctrl-C ends.\n", only ? only : "all exercises");
    fflush(stdout);
    while (!nanosleep(&pause, NULL))
        for (int i = 0; i < N; i++) {
            const struct timespec now = changed(names[i]);
            if ((now.tv_sec == seen[i].tv_sec && now.tv_nsec == seen[i].tv_nsec) || !now.tv_sec)
                continue;
            seen[i] = now;
            if (!only || !strcmp(only, names[i])) {
                putchar('\n');
                if (run_check(names[i]) == 0)
                    print_next();
                fflush(stdout);
            }
        }
    return 0;
}

// --- progress time ---

// Leaves the solution in a file; false, with a line on stderr, where that fails.
static bool write_solution(const char *name, struct scratch *file)
{
    char error[STATE_PATH_MAX + CUT_ERROR_MAX] = "the solution cannot be written";
    char *text = state_solution(name, error, sizeof error);
    const bool ok = text && scratch_open(file, "solution.cu", text);
    free(text);
    if (!ok)
        fprintf(stderr, "progress: %s\n", error);
    return ok;
}

// What the learner's kernel would take, and, once it has passed, what the course's does.
static int predicted(const char *name)
{
    struct scratch file;
    setenv("EXERCISE_TIME", "1", 1);
    const int status = run_check(name);
    if (status || state_of(name) != STATE_DONE)
        return status == NOT_STARTED ? 1 : status;
    if (!write_solution(name, &file))
        return BAD;
    setenv("EXERCISE_KERNEL", file.path, 1);
    const int theirs = run_check(name);
    scratch_close(&file);
    return theirs;
}

// --- progress reset, progress solution ---

static int reset(const char *name)
{
    char mine[STATE_PATH_MAX], aside[STATE_PATH_MAX] = "", file[32], error[STATE_PATH_MAX + CUT_ERROR_MAX];
    const enum state s = state_of(name);
    if (s == STATE_NOT_STARTED) {
        printf("%s is the stub already\n", name);
        return 0;
    }
    char *stub = state_stub(name, error, sizeof error);
    if (!stub) {
        fprintf(stderr, "progress: %s\n", error);
        return BAD;
    }
    state_path(name, "kernel.cu", mine);
    if (s != STATE_MISSING) {
        int number = 1;
        do
            snprintf(file, sizeof file, "kernel.%d.cu", number++);
        while (!access(state_path(name, file, aside), F_OK));
        if (rename(mine, aside)) {
            perror(aside);
            free(stub);
            return BAD;
        }
    }
    const bool written = file_write(mine, stub);
    free(stub);
    if (!written) {
        perror(mine);
        return BAD;
    }
    printf(*aside ? "%s is the stub again; your work is kept as exercises/%s/%s\n" : "%s is the stub again\n", name,
           name, file);
    return 0;
}

static int solution(const char *name)
{
    char error[STATE_PATH_MAX + CUT_ERROR_MAX], number[TEXT_NUMBER];
    if (state_of(name) != STATE_DONE) {
        fprintf(stderr, "progress: first let %s pass: build/course check %s\n", name, text_number(name, number));
        return 1;
    }
    char *text = state_solution(name, error, sizeof error);
    if (!text) {
        fprintf(stderr, "progress: %s\n", error);
        return BAD;
    }
    fputs(text, stdout);
    free(text);
    return 0;
}

// --- progress grade ---

static int grade_to(const char *json)
{
    char error[DEV_ERROR_MAX];
    FILE *out;
    if (!options_open_json(json, &out, error)) {
        fprintf(stderr, "progress: %s\n", error);
        return BAD;
    }
    bool good = grade(out ? out : stdout, CHECK_FOLDER, names, N, json);
    if (out && out != stdout && fclose(out)) {
        perror(json);
        good = false;
    }
    return good ? 0 : BAD;
}

// Whether the folder holds an exercise at all.
static bool is_folder_of_exercises(void)
{
    char path[STATE_PATH_MAX];
    for (int i = 0; i < N; i++)
        if (!access(state_path(names[i], "", path), R_OK | X_OK))
            return true;
    return false;
}

struct ask {
    const char *json;
};
static const struct option_row rows[] = {
    { "json", "FILE", "with grade: the points as JSON (- for standard output)", OPTION_AT(struct ask, json) },
    { 0 },
};
static const struct options table = {
    .program = "progress",
    .usage =
        "                 which exercises are done, and which is next\n"
        "       progress next             only that\n"
        "       progress hint NAME        the next of three hints\n"
        "       progress check [NAME]     checks one exercise, or all\n"
        "       progress watch [NAME]     checks on every save\n"
        "       progress time NAME        what your kernel would take on an H200, as the clock predicts it; once it\n"
        "                                 passes, the course's, too; for information, never graded\n"
        "       progress reset NAME       the stub again; your work is kept beside it\n"
        "       progress solution NAME    the course's solution, once yours passes\n"
        "       progress grade            points for each exercise\n"
        "NAME: 5, 05 or 05_float4; 7b is the second one of step 07. With EXERCISES=FOLDER in the environment, those of "
        "another folder.",
    .rows = rows,
    .most = 2,
    .needs = "a command and one exercise at a time",
};

// Is the folder of EXERCISES, where it is set, one that can be used? Says if not.
static bool can_use_folder(void)
{
    const char *folder = getenv("EXERCISES");
    char path[STATE_PATH_MAX];
    if (folder && access(state_path("", "", path), R_OK | X_OK))
        fprintf(stderr, "progress: EXERCISES: %s cannot be read: %s\n", folder, strerror(errno));
    else if (folder && !is_folder_of_exercises())
        fprintf(stderr, "progress: EXERCISES: %s has no exercise in it, as %s would be\n", folder, names[0]);
    else
        return true;
    return false;
}

int main(int argc, char **argv)
{
    struct ask ask = { 0 };
    int status;
    if (!options_begin(&table, &ask, &argc, &argv, &status))
        return status;
    const char *command = argc ? argv[0] : "list", *name = argc > 1 ? argv[1] : NULL;
    static const struct {
        const char *name;
        int (*run)(const char *exercise);
        bool alone;  // without a name it means all
    } commands[] = {
        { "hint", hint, false },   { "check", check_all, true },    { "watch", watch, true },
        { "reset", reset, false }, { "solution", solution, false }, { "time", predicted, false },
    };
    if (!can_use_folder())
        return BAD;
    if (ask.json && strcmp(command, "grade") != 0) {
        fprintf(stderr, "progress: --json goes with grade\n");
        return BAD;
    }
    if (!strcmp(command, "grade") && !name)
        return grade_to(ask.json);
    if (!strcmp(command, "list") && !name)
        return list();
    if (!strcmp(command, "next") && !name)
        return print_next();
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (!strcmp(command, commands[i].name)) {
            const char *exercise = name || !commands[i].alone ? named(name) : NULL;
            return !exercise && (name || !commands[i].alone) ? BAD : commands[i].run(exercise);
        }
    if (!strcmp(command, "grade") || !strcmp(command, "list") || !strcmp(command, "next")) {
        fprintf(stderr, "progress: %s is for all exercises: leave out '%s'\n", command, name);
        return BAD;
    }
    fprintf(stderr,
            "progress: there is no command '%s'; there are next, hint, check, watch, time, reset, solution and grade\n",
            command);
    return BAD;
}
