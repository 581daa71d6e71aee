// Tests of common/tester/changed: with which text a kernel is compared, and in what words.
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/program.h"
#include "tester/changed.h"

static char folder[] = "/tmp/courseXXXXXX";
static const unsigned no_lines[TESTER_LINES] = { 0 };

static const char *in_folder(const char *name)
{
    static char path[32][128];
    static int next;
    char *text = path[next++ % 32];
    snprintf(text, sizeof path[0], "%s/%s", folder, name);
    return text;
}

static void make(const char *name, const char *text)
{
    cr_assert(file_write(in_folder(name), text), "%s", name);
}

static bool command(const char *line)
{
    char words[256], *said, *argv[16], *save = NULL;
    int n = 0, status;
    snprintf(words, sizeof words, "%s", line);
    for (char *w = strtok_r(words, " ", &save); w && n < 15; w = strtok_r(NULL, " ", &save))
        argv[n++] = w;
    argv[n] = NULL;
    const bool ran = program_run(argv, &said, &status);
    free(said);
    return ran && !status;
}

// A PTX file of that name that says it was made of this kernel and of h.cuh beside it.
static const char *made_of(const char *ptx, const char *kernel)
{
    char text[512];
    snprintf(text, sizeof text, "\t.file\t1 \"%s\"\n\t.file\t2 \"%s\"\n", in_folder("h.cuh"), in_folder(kernel));
    make(ptx, text);
    return in_folder(ptx);
}

static void open_folder(void)
{
    cr_assert(mkdtemp(folder));
    make("kernel.cu", "a = b;\nc = d;\ne = f;\ng = h;\ni = j;\n");
    make("h.cuh", "int f(int x)\n{\n    return x;\n}\n");
}

static void close_folder(void)
{
    char line[128];
    snprintf(line, sizeof line, "rm -rf %s", folder);
    command(line);
}

TestSuite(changed, .init = open_folder, .fini = close_folder);

static char *say(const struct step *step, const char *course, const unsigned lines[TESTER_LINES])
{
    static char text[TESTER_CHANGED];
    struct changed d;
    const struct tester_options o = { .course = course };
    changed_find(&d, step, &o, lines);
    changed_say(&d, text, sizeof text);
    return text;
}

static void commit(void)
{
    char line[256];
    snprintf(line, sizeof line, "git -C %s init -q", folder);
    if (!command(line)) {
        close_folder();
        cr_skip_test("there is no git");
    }
    snprintf(line, sizeof line, "git -C %s add .", folder);
    cr_assert(command(line));
    snprintf(line, sizeof line, "git -C %s -c user.name=x -c user.email=x commit -q -m x", folder);
    cr_assert(command(line));
}

Test(changed, a_kernel_is_compared_with_its_last_commit_and_so_are_its_headers)
{
    const char *ptx = made_of("kernel.ptx", "kernel.cu");
    const struct step step = { .ptx = ptx, .built = ptx };
    commit();
    cr_expect_str_eq(say(&step, NULL, no_lines), "");
    make("kernel.cu", "a = b;  // as before\nc = k;\n\ne = f;\ni = j;\n");
    make("h.cuh", "int f(int x)\n{\n    return x + 1;\n}\n");
    cr_expect_str_eq(say(&step, NULL, no_lines), "kernel.cu:2 has `k` where the course has `d`\n"
                                                 "kernel.cu:5: before this line the course has `g = h;`\n"
                                                 "h.cuh:3 has `x + 1` where the course has `x`\n");
}

Test(changed, a_copy_is_compared_with_the_kernel_that_the_build_has)
{
    const struct step step = { .ptx = made_of("copy.ptx", "copy.cu"), .built = made_of("kernel.ptx", "kernel.cu") };
    commit();
    make("copy.cu", "c = d;\na = b;\ne = f;\ng = h;\ng = h;\ni = j;\n");
    cr_expect_str_eq(say(&step, NULL, no_lines), "copy.cu:2 has `a = b;`, which the course has before line 1\n"
                                                 "copy.cu:5 has `g = h;` once more than the course\n");
}

Test(changed, a_text_that_is_given_comes_before_git)
{
    const struct step step = { .ptx = made_of("kernel.ptx", "kernel.cu") };
    make("given.cu", "a = b;\nc = d;\ne = f;\ng = x;\ni = j;\n");
    cr_expect_str_eq(say(&step, in_folder("given.cu"), no_lines), "kernel.cu:4 has `h` where the course has `x`\n");
    cr_expect_str_eq(say(&step, NULL, no_lines), "", "neither git nor a text");
    cr_expect_str_eq(say(&step, in_folder("none.cu"), no_lines), "");
}

Test(changed, of_many_places_those_are_said_that_the_cause_names)
{
    const struct step step = { .ptx = made_of("kernel.ptx", "kernel.cu") };
    make("given.cu", "x = b;\nx = d;\nx = f;\nx = h;\nx = j;\n");
    cr_expect_str_eq(say(&step, in_folder("given.cu"), no_lines), "");
    cr_expect_str_eq(say(&step, in_folder("given.cu"), (const unsigned[TESTER_LINES]){ 3 }),
                     "kernel.cu:3 has `e` where the course has `x`\n");
}

Test(changed, an_exercise_is_compared_with_nothing)
{
    char path[128];
    snprintf(path, sizeof path, "%s/exercises", folder);
    char *argv[] = { (char *)"mkdir", path, NULL }, *said;
    int status;
    cr_assert(program_run(argv, &said, &status) && !status);
    make("exercises/kernel.cu", "a = x;\n");
    make("given.cu", "a = b;\n");
    const struct step step = { .ptx = made_of("kernel.ptx", "exercises/kernel.cu") };
    cr_expect_str_eq(say(&step, in_folder("given.cu"), no_lines), "");
}
