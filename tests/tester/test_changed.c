// Tests of common/tester/changed: with which text a kernel is compared, and in what words.
#include <criterion/criterion.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
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

#define RIGHT "a = b;\nc = d;\ne = f;\ng = h;\ni = j;\n"
#define WRONG "a = b;\nc = k;\ne = f;\ng = h;\ni = j;\n"
#define WORSE "a = b;\nc = k;\ne = f;\ng = l;\ni = j;\n"
#define OF_WRONG "kernel.cu:2 has `k` where the course has `d`\n"
#define OF_WORSE OF_WRONG "kernel.cu:4 has `l` where the course has `h`\n"

static void open_folder(void)
{
    cr_assert(mkdtemp(folder));
    make("kernel.cu", RIGHT);
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
    changed_find(&d, step, &o, lines, true);
    changed_say(&d, "", text, sizeof text);
    return text;
}

// What is said of kernel.cu, as the build has it, whose PTX is made of it as it is now.
static char *say_of_kernel(void)
{
    const char *ptx = made_of("kernel.ptx", "kernel.cu");
    const struct step step = { .ptx = ptx, .built = ptx };
    return say(&step, NULL, no_lines);
}

static void git(const char *words)
{
    char line[256];
    snprintf(line, sizeof line, "git -C %s %s", folder, words);
    cr_assert(command(line), "%s", line);
}

// Somebody begins to work in the folder, which becomes a repository.
static void work_as(const char *who)
{
    char line[256], email[64];
    snprintf(email, sizeof email, "%s@example", who);
    setenv("GIT_AUTHOR_NAME", who, 1);
    setenv("GIT_AUTHOR_EMAIL", email, 1);
    setenv("GIT_COMMITTER_NAME", who, 1);
    setenv("GIT_COMMITTER_EMAIL", email, 1);
    setenv("GIT_CONFIG_GLOBAL", "/dev/null", 1);
    snprintf(line, sizeof line, "git -C %s init -q", folder);
    if (!command(line)) {
        close_folder();
        cr_skip_test("there is no git");
    }
}

static void commit(void)
{
    git("add .");
    git("commit -q -m x");
}

static void commit_kernel(const char *text)
{
    make("kernel.cu", text);
    commit();
}

Test(changed, a_kernel_is_compared_with_its_last_commit_and_so_are_its_headers)
{
    work_as("x");
    commit();
    cr_expect_str_eq(say_of_kernel(), "");
    make("kernel.cu", "a = b;  // as before\nc = k;\n\ne = f;\ni = j;\n");
    make("h.cuh", "int f(int x)\n{\n    return x + 1;\n}\n");
    cr_expect_str_eq(say_of_kernel(), OF_WRONG "kernel.cu:5: before this line the course has `g = h;`\n"
                                               "h.cuh:3 has `x + 1` where the course has `x`\n");
}

Test(changed, what_a_learner_has_committed_is_not_the_courses)
{
    work_as("teacher");
    commit();
    commit_kernel("// once more\n" RIGHT);
    work_as("learner");
    commit_kernel(WRONG);
    cr_expect_str_eq(say_of_kernel(), OF_WRONG);
    make("kernel.cu", WORSE);
    cr_expect_str_eq(say_of_kernel(), OF_WORSE);
}

Test(changed, what_a_remote_does_not_have_is_not_the_courses)
{
    work_as("x");
    make("other", "");
    git("add other");
    git("commit -q -m x");
    commit();
    git("update-ref refs/remotes/origin/HEAD HEAD");
    git("checkout -q -b trials");
    commit_kernel(WRONG);
    commit_kernel(WORSE);
    cr_expect_str_eq(say_of_kernel(), OF_WORSE);
    commit_kernel(RIGHT);
    cr_expect_str_eq(say_of_kernel(), "", "it is the course's");
}

Test(changed, an_archive_that_became_a_repository_began_with_the_courses)
{
    work_as("x");
    commit();
    commit_kernel(WRONG);
    commit_kernel(WORSE);
    cr_expect_str_eq(say_of_kernel(), OF_WORSE);
    commit_kernel(RIGHT);
    cr_expect_str_eq(say_of_kernel(), "", "it is what it began with");
}

Test(changed, where_nothing_was_published_a_committed_mistake_is_compared_with_what_was_before)
{
    work_as("x");
    make("other", "");
    git("add other");
    git("commit -q -m x");
    commit();
    commit_kernel("// a comment is no change\n" WRONG);
    commit_kernel(WRONG);
    cr_expect_str_eq(say_of_kernel(), OF_WRONG);

    const char *ptx = made_of("kernel.ptx", "kernel.cu");
    const struct step step = { .ptx = ptx, .built = ptx };
    const struct tester_options o = { 0 };
    struct changed d;
    changed_find(&d, &step, &o, no_lines, false);
    cr_expect_eq(d.n, 0, "it may be right");
}

Test(changed, nothing_is_said_of_a_kernel_that_was_edited_since_it_was_compiled)
{
    const char *ptx = made_of("kernel.ptx", "kernel.cu");
    const struct step step = { .ptx = ptx, .built = ptx };
    const struct timespec later[] = { { .tv_nsec = UTIME_NOW }, { .tv_sec = time(NULL) + 60 } };
    work_as("x");
    commit();
    make("kernel.cu", WRONG);
    cr_assert(!utimensat(AT_FDCWD, in_folder("kernel.cu"), later, 0));
    cr_expect_str_eq(say(&step, NULL, no_lines), "");
}

Test(changed, a_copy_is_compared_with_the_kernel_that_the_build_has)
{
    work_as("x");
    commit();
    make("copy.cu", "c = d;\na = b;\ne = f;\ng = h;\ng = h;\ni = j;\n");
    const struct step step = { .ptx = made_of("copy.ptx", "copy.cu"), .built = made_of("kernel.ptx", "kernel.cu") };
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

Test(changed, a_guess_stands_behind_the_places)
{
    const struct step step = { .ptx = made_of("kernel.ptx", "kernel.cu") };
    const struct tester_options o = { .course = in_folder("given.cu") };
    char text[TESTER_CHANGED];
    struct changed d;
    make("given.cu", WRONG);
    changed_find(&d, &step, &o, no_lines, true);
    changed_say(&d, "it is odd", text, sizeof text);
    cr_expect_str_eq(text, "kernel.cu:2 has `d` where the course has `k`: it is odd\n");
    make("given.cu", WORSE);
    changed_find(&d, &step, &o, no_lines, true);
    changed_say(&d, "it is odd", text, sizeof text);
    cr_expect_str_eq(text, "kernel.cu:2 has `d` where the course has `k`\n"
                           "kernel.cu:4 has `h` where the course has `l`\nwhat the run shows: it is odd\n");
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

Test(changed, words_about_other_lines_are_not_near_it)
{
    const struct changed_place p = { .own = true, .at = { .line = 20, .last = 21 } };
    cr_expect(changed_is_near(&p, "; look at kernel.cu:7 and line 22"));
    cr_expect_not(changed_is_near(&p, "; look at kernel.cu:7 and lines 23 and 18"));
    cr_expect_not(changed_is_near(&p, "it is wrong"));
    cr_expect(changed_is_near(&p, "it would belong between line 12 and line 40"));
    cr_expect_not(changed_is_near(&p, "it would belong between line 30 and line 40"));
}
