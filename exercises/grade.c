// See grade.h.
#include "grade.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cut.h"
#include "base/file.h"
#include "base/json.h"
#include "base/program.h"
#include "state.h"

enum { QUESTIONS = 16, LINE = QUESTION_MAX };

struct answers {
    bool compiled;
    int n, passed;
    struct {
        char text[LINE];
        bool passed;
    } all[QUESTIONS];
};

// What a check writes to the file named by EXERCISE_GRADE: a line for each question, "passed" or "failed" before it.
static bool read_answers(const char *path, struct answers *a)
{
    char line[LINE + 16];
    FILE *in = fopen(path, "r");
    *a = (struct answers){ .compiled = in };
    while (in && a->n < QUESTIONS && fgets(line, sizeof line, in)) {
        const bool passed = !strncmp(line, "passed ", 7);
        if (!passed && strncmp(line, "failed ", 7) != 0)
            continue;
        line[strcspn(line, "\n")] = '\0';
        snprintf(a->all[a->n].text, LINE, "%.*s", LINE - 1, line + 7);
        a->all[a->n++].passed = passed;
        a->passed += passed;
    }
    return in && !fclose(in);
}

// Runs a check, on another kernel.cu if there is one. False if it cannot be started.
static bool ask(const char *check, const char *name, const char *kernel, struct answers *a)
{
    char program[STATE_PATH_MAX], file[] = "/tmp/gemm-steps-XXXXXX", *said;
    int status;
    const int f = mkstemp(file);
    if (f < 0) {
        perror(file);
        return false;
    }
    close(f);
    snprintf(program, sizeof program, "%s/check_%s", check, name);
    setenv("EXERCISE_GRADE", file, 1);
    if (kernel)
        setenv("EXERCISE_KERNEL", kernel, 1);
    const bool ran = program_run((char *const[]){ program, NULL }, &said, &status);
    unsetenv("EXERCISE_GRADE");
    unsetenv("EXERCISE_KERNEL");
    free(said);
    if (!ran)
        fprintf(stderr, "progress: %s cannot be started: meson compile -C build\n", program);
    else
        read_answers(file, a);
    a->compiled = ran && a->n > 0;
    unlink(file);
    return ran;
}

// The same for the stub, in a file of its own.
static bool ask_stub(const char *check, const char *name, struct answers *a)
{
    struct scratch file;
    char error[STATE_PATH_MAX + CUT_ERROR_MAX];
    char *stub = state_stub(name, error, sizeof error);
    if (!stub) {
        fprintf(stderr, "progress: %s\n", error);
        return false;
    }
    const bool there = scratch_open(&file, "kernel.cu", stub), ran = there && ask(check, name, file.path, a);
    if (there)
        scratch_close(&file);
    free(stub);
    return ran;
}

static void print_json(struct json *j, const char *name, const char *state, int points, const struct answers *a)
{
    static const char *const keys[] = { "passed", "failed" };
    char title[STATE_TITLE_MAX];
    json_object(j, NULL);
    json_string(j, "name", name);
    json_string(j, "title", state_title(name, title));
    json_string(j, "state", state);
    json_int(j, "points", points);
    for (int failed = 0; failed < 2; failed++) {
        json_array(j, keys[failed]);
        for (int i = 0; i < a->n; i++)
            if (a->all[i].passed == !failed)
                json_string(j, NULL, a->all[i].text);
        json_end(j);
    }
    json_end(j);
}

static bool grade_one(const char *check, const char *name, const char **state, int *points, struct answers *now)
{
    struct answers stub;
    const enum state s = state_of(name);
    *points = 0;
    *now = (struct answers){ 0 };
    *state = s == STATE_MISSING ? "missing" : "not started";
    if (s == STATE_MISSING || s == STATE_NOT_STARTED)
        return true;
    if (!ask(check, name, NULL, now) || !ask_stub(check, name, &stub))
        return false;
    *points = now->compiled ? question_points(now->n, now->passed, stub.passed) : 0;
    *state = !now->compiled ? "does not compile" : now->passed == now->n ? "done" : "started";
    return true;
}

bool grade(FILE *out, const char *check, const char *const *names, int n, bool json)
{
    struct {
        const char *state;
        int points;
        struct answers answers;
    } all[64];
    int sum = 0;
    for (int i = 0; i < n && i < 64; i++) {
        if (!grade_one(check, names[i], &all[i].state, &all[i].points, &all[i].answers))
            return false;
        sum += all[i].points;
    }
    if (json) {
        struct json j;
        json_open(&j, out);
        json_object(&j, NULL);
        json_int(&j, "points", sum);
        json_int(&j, "of", n * GRADE_POINTS);
        json_array(&j, "exercises");
        for (int i = 0; i < n; i++)
            print_json(&j, names[i], all[i].state, all[i].points, &all[i].answers);
        json_end(&j);
        json_end(&j);
        return json_close(&j);
    }
    for (int i = 0; i < n; i++)
        fprintf(out, "%-20s %3d of %d  %s\n", names[i], all[i].points, GRADE_POINTS, all[i].state);
    fprintf(out, "\n%d of %d points\n", sum, n * GRADE_POINTS);
    return !fflush(out);
}
