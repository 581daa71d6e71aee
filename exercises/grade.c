// See grade.h.
#include "grade.h"

#include <stdlib.h>
#include <string.h>

#include "cut.h"
#include "base/file.h"
#include "base/json.h"
#include "base/program.h"
#include "base/text.h"
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

// What a check writes to the file named by EXERCISE_GRADE: a line for each question, "passed" or "failed" before it. It
// writes none where the kernel does not compile.
static void read_answers(const char *path, struct answers *a)
{
    char line[LINE + 16];
    FILE *in = fopen(path, "r");
    *a = (struct answers){ 0 };
    while (in && a->n < QUESTIONS && fgets(line, sizeof line, in)) {
        const bool passed = text_begins(line, "passed ");
        if (!passed && !text_begins(line, "failed "))
            continue;
        line[strcspn(line, "\n")] = '\0';
        snprintf(a->all[a->n].text, LINE, "%.*s", LINE - 1, line + 7);
        a->all[a->n++].passed = passed;
        a->passed += passed;
    }
    a->compiled = a->n > 0;
    if (in)
        fclose(in);
}

// Runs a check, on another kernel.cu if there is one. False if it cannot be started.
static bool ask(const char *check, const char *name, const char *kernel, struct answers *a)
{
    char program[STATE_PATH_MAX], *said;
    struct scratch file;
    int status;
    if (!scratch_open(&file, "grade", NULL)) {
        perror(file.folder);
        return false;
    }
    snprintf(program, sizeof program, "%s/check_%s", check, name);
    setenv("EXERCISE_GRADE", file.path, 1);
    if (kernel)
        setenv("EXERCISE_KERNEL", kernel, 1);
    const bool ran = program_run((char *const[]){ program, NULL }, &said, &status);
    unsetenv("EXERCISE_GRADE");
    unsetenv("EXERCISE_KERNEL");
    free(said);
    if (ran)
        read_answers(file.path, a);
    else
        fprintf(stderr, "progress: %s cannot be started: meson compile -C build\n", program);
    scratch_close(&file);
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

struct graded {
    const char *name, *state;
    int points;
    struct answers answers;
};

static void write_exercise(struct json *j, const struct graded *g)
{
    static const char *const keys[] = { "passed", "failed" };
    char title[STATE_TITLE_MAX];
    json_object(j, NULL);
    json_string(j, "name", g->name);
    json_string(j, "title", state_title(g->name, title));
    json_string(j, "state", g->state);
    json_int(j, "points", g->points);
    for (int failed = 0; failed < 2; failed++) {
        json_array(j, keys[failed]);
        for (int i = 0; i < g->answers.n; i++)
            if (g->answers.all[i].passed == !failed)
                json_string(j, NULL, g->answers.all[i].text);
        json_end(j);
    }
    json_end(j);
}

static bool write_json(FILE *out, const struct graded *all, int n, int sum)
{
    struct json j;
    json_open(&j, out);
    json_object(&j, NULL);
    json_int(&j, "points", sum);
    json_int(&j, "of", n * GRADE_POINTS);
    json_array(&j, "exercises");
    for (int i = 0; i < n; i++)
        write_exercise(&j, &all[i]);
    json_end(&j);
    json_end(&j);
    return json_close(&j);
}

static bool write_text(FILE *out, const struct graded *all, int n, int sum)
{
    for (int i = 0; i < n; i++)
        fprintf(out, "%-20s %3d of %d  %s\n", all[i].name, all[i].points, GRADE_POINTS, all[i].state);
    fprintf(out, "\n%d of %d points\n", sum, n * GRADE_POINTS);
    return !fflush(out);
}

static bool grade_one(const char *check, struct graded *g)
{
    struct answers stub, *now = &g->answers;
    const enum state s = state_of(g->name);
    g->state = s == STATE_MISSING ? "missing" : "not started";
    if (s == STATE_MISSING || s == STATE_NOT_STARTED)
        return true;
    if (!ask(check, g->name, NULL, now) || !ask_stub(check, g->name, &stub))
        return false;
    g->points = now->compiled ? question_points(now->n, now->passed, stub.passed) : 0;
    g->state = !now->compiled ? "does not compile" : now->passed == now->n ? "done" : "started";
    return true;
}

bool grade(FILE *out, const char *check, const char *const *names, int n, bool json)
{
    struct graded *all = calloc((size_t)n, sizeof *all);
    int sum = 0;
    bool ok = all;
    for (int i = 0; ok && i < n; i++) {
        all[i].name = names[i];
        ok = grade_one(check, &all[i]);
        sum += all[i].points;
    }
    ok = ok && (json ? write_json(out, all, n, sum) : write_text(out, all, n, sum));
    free(all);
    return ok;
}
