// Marked sources, and exercises/progress with a folder of its own that holds a copy of exercise 05.
#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../exercises/cut.h"
#include "compiler.h"
#include "sample.h"
#include "base/file.h"
#include "base/program.h"

// --- marked sources ---

static const char marked[] = "before\n"
                             "    // >>> yours, 1 line: x\n"
                             "    solution;\n"
                             "    // --- stub\n"
                             "    //| stub;\n"
                             "    //|\n"
                             "    // --- bug wrong sign: \"minus\" \"look\"\n"
                             "    //| a;\n"
                             "    //|     b;\n"
                             "    // <<<\n"
                             "between\n"
                             "// >>> yours\n"
                             "more;\n"
                             "// --- stub\n"
                             "// --- bug two places: \"1\"\n"
                             "//| third;\n"
                             "// --- bug wrong sign: \"here too\"\n"
                             "//| fourth;\n"
                             "// <<<\n";

static void expect_cut(enum cut kind, const char *bug, const char *want)
{
    char error[CUT_ERROR_MAX] = "";
    char *text = cut_text(marked, kind, bug, error);
    cr_assert(text, "%s", error);
    cr_assert_str_eq(text, want);
    free(text);
}

Test(cut, gives_stub_solution_and_bugs)
{
    expect_cut(
        CUT_SOLUTION, NULL,
        "before\n    // >>> yours, 1 line: x\n    solution;\n    // <<<\nbetween\n// >>> yours\nmore;\n// <<<\n");
    expect_cut(CUT_STUB, NULL,
               "before\n    // >>> yours, 1 line: x\n    stub;\n\n    // <<<\nbetween\n// >>> yours\n// <<<\n");
    expect_cut(CUT_BUG, "wrong sign",
               "before\n    // >>> yours, 1 line: x\n    a;\n        b;\n    // <<<\nbetween\n// >>> yours\nfourth;\n"
               "// <<<\n");
    expect_cut(
        CUT_BUG, "two places",
        "before\n    // >>> yours, 1 line: x\n    solution;\n    // <<<\nbetween\n// >>> yours\nthird;\n// <<<\n");
}

Test(cut, knows_the_bugs_and_what_is_said_of_them)
{
    struct cut_bug bugs[CUT_BUGS_MAX];
    cr_assert_eq(cut_bugs(marked, bugs), 2);
    cr_assert_str_eq(bugs[0].name, "wrong sign");
    cr_assert_eq(bugs[0].n, 3);
    cr_assert_str_eq(bugs[0].expects[0], "minus");
    cr_assert_str_eq(bugs[0].expects[1], "look");
    cr_assert_str_eq(bugs[0].expects[2], "here too");
    cr_assert_str_eq(bugs[1].name, "two places");
    cr_assert_str_eq(bugs[1].expects[0], "1");
}

Test(cut, refuses_marks_out_of_order)
{
    static const struct {
        const char *source, *error;
    } all[] = {
        { "", "no region" },
        { "x\n// <<<\n", "line 2: a mark out of order" },
        { "// >>> yours\n// >>> yours\n", "line 2: a mark out of order" },
        { "// --- stub\n", "line 1: a mark out of order" },
        { "// >>> yours\n// <<<\n", "line 2: a region without a stub" },
        { "// >>> yours\n// --- bug x: \"\"\n// <<<\n", "line 2: a region without a stub" },
        { "// >>> yours\n// --- stub\n// --- stub\n", "line 3: a region has one stub" },
        { "// >>> yours\n// --- stub\nx\n// <<<\n", "line 3: a line of a stub or a bug begins with //|" },
        { "// >>> yours\n// --- stub\n", "the last region has no <<<" },
        { "// >>> yours\n// --- stub\n// <<<", NULL },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char error[CUT_ERROR_MAX] = "";
        char *text = cut_text(all[i].source, CUT_STUB, NULL, error);
        cr_expect_eq(text == NULL, all[i].error != NULL, "source %zu: %s", i, error);
        cr_expect(text || (all[i].error && strstr(error, all[i].error)), "source %zu: %s", i, error);
        free(text);
    }
    char error[CUT_ERROR_MAX];
    cr_assert_null(cut_text(marked, CUT_BUG, "no such", error));
    cr_assert_str_eq(error, "no bug has the name 'no such'");
}

// --- progress ---

static char folder[64];

static void write_file(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *out = fopen(path, "w");
    cr_assert(out && fputs(text, out) >= 0 && !fclose(out), "%s", path);
}

static char *read_file(const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    char *text = file_read(path);
    cr_assert(text, "%s", path);
    return text;
}

static void copy_exercise(void)
{
    static const char *const files[] = { "05_float4/source.cu", "05_float4/TASK.md" };
    char error[CUT_ERROR_MAX];
    strcpy(folder, "/tmp/gemm-steps-XXXXXX");
    cr_assert(mkdtemp(folder));
    char path[128];
    snprintf(path, sizeof path, "%s/05_float4", folder);
    cr_assert(!mkdir(path, 0777));
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, FOLDER "/%s", files[i]);
        char *text = file_read(path);
        cr_assert(text, "%s", path);
        write_file(files[i], text);
        if (!i) {
            char *stub = cut_text(text, CUT_STUB, NULL, error);
            write_file("05_float4/kernel.cu", stub);
            free(stub);
        }
        free(text);
    }
    cr_assert(!setenv("EXERCISES", folder, 1));
    unsetenv("BXFI_MAP");  // by which Criterion knows the processes that it started itself
}

static void remove_folder(void)
{
    char *said;
    int status;
    cr_expect(program_run((char *const[]){ "rm", "-r", folder, NULL }, &said, &status) && !status);
    free(said);
}

TestSuite(progress, .init = copy_exercise, .fini = remove_folder, .timeout = 300);

// Runs progress with a command and a name, either NULL, and expects its exit status and what it says.
static void expect(const char *command, const char *name, int want_status, const char *want)
{
    char *said;
    int status;
    char *const argv[] = { PROGRESS, (char *)command, command ? (char *)name : NULL, NULL };
    cr_assert(program_run(argv, &said, &status), "%s cannot be started", PROGRESS);
    cr_expect_eq(status, want_status, "%s %s: status %d: %s", command, name, status, said);
    cr_expect(strstr(said, want), "%s %s: want '%s' in: %s", command, name, want, said);
    free(said);
}

static void solve_with(const char *source)
{
    char error[CUT_ERROR_MAX];
    char *text = cut_text(source, CUT_SOLUTION, NULL, error);
    write_file("05_float4/kernel.cu", text);
    free(text);
}

static void solve(void)
{
    char *source = read_file("05_float4/source.cu");
    solve_with(source);
    free(source);
}

Test(progress, goes_from_not_started_to_done)
{
    expect(NULL, NULL, 0, "05_float4            not started  Four floats at a time");
    expect("check", "5", 1, "05_float4: not started");
    expect("solution", "5", 1, "first let 05_float4 pass");
    solve();
    expect(NULL, NULL, 0, "05_float4            started");
    char next[200];
    snprintf(next, sizeof next, "Next: read %s/05_float4/TASK.md", folder);
    expect(NULL, NULL, 0, next);
    expect("check", "05_float4", 0, "Done.");
    expect(NULL, NULL, 0, "05_float4            done");
    expect("solution", "ex05_float4", 0, "constexpr int PAD = 4;");
    char *mine = read_file("05_float4/kernel.cu"), *changed = NULL;
    cr_assert(asprintf(&changed, "%s// changed since\n", mine) > 0);
    write_file("05_float4/kernel.cu", changed);
    expect(NULL, NULL, 0, "05_float4            started");
    free(changed);
    free(mine);
}

// For whoever has ptxas, which comes with nvcc.
Test(progress, tells_the_predicted_time_of_a_kernel_and_of_the_solution)
{
    NEEDS_NVCC("ptxas may be missing");
    expect("time", "5", 1, "05_float4: not started");
    expect("time", NULL, 2, "which exercise?");
    solve();
    expect("time", "5", 0, "predicted at 2048 x 2048 x 2048 on an H200: ");
    expect(NULL, NULL, 0, "05_float4            started");  // nothing was checked
    expect("check", "5", 0, "Done.");
    expect("time", "5", 0, "solution.cu\n  predicted at 2048");
    write_file("05_float4/kernel.cu", "nonsense\n");
    expect("time", "5", 1, "not yet: it compiles");
}

Test(progress, keeps_the_work_that_is_reset)
{
    expect("reset", "5", 0, "is the stub already");
    for (int i = 1; i <= 2; i++) {
        char file[64], want[64];
        snprintf(want, sizeof want, "// work %d\n", i);
        write_file("05_float4/kernel.cu", want);
        expect("reset", "5", 0, "your work is kept");
        snprintf(file, sizeof file, "05_float4/kernel.%d.cu", i);
        char *kept = read_file(file);
        cr_expect_str_eq(kept, want);
        free(kept);
    }
    expect(NULL, NULL, 0, "05_float4            not started");
    char path[128];
    snprintf(path, sizeof path, "%s/05_float4/kernel.cu", folder);
    cr_assert(!unlink(path));
    expect(NULL, NULL, 0, "05_float4            kernel.cu is missing");
    expect("check", "5", 1, "cannot be read (No such file");
    expect("reset", "5", 0, "is the stub again");
}

Test(progress, shows_one_hint_after_the_other)
{
    expect("hint", "5", 0, "Hint 1");
    expect("hint", "5", 0, "Hint 2");
    expect(NULL, NULL, 0, "(2 of 3 hints)");
    expect("hint", "5", 0, "Hint 3");
    expect("hint", "5", 0, "You have seen all 3 hints");
    write_file(".progress", "");
    write_file("05_float4/TASK.md", "# 05\n<details><summary>Hint 1: <span data-value=\"exp 2\">2</span></summary>\n\n"
                                    "So <span data-value=\"calc ex05 BM > 1\">64</span> < 65 rows.\n\n</details>\n");
    expect("hint", "5", 0, "Hint 1: 2\n\nSo 64 < 65 rows.\n");
    write_file("05_float4/TASK.md", "# 05 without hints\n");
    write_file(".progress", "");
    expect("hint", "5", 2, "has no hint 1");
}

// What grade says with this option, which may be NULL.
static char *graded(const char *option)
{
    char *said;
    int status;
    cr_assert(program_run((char *const[]){ PROGRESS, "grade", (char *)option, NULL }, &said, &status) && !status);
    return said;
}

// The class folder has no sources: the course's stand for them.
Test(progress, grades_what_passes_beyond_the_stub)
{
    char path[128], error[CUT_ERROR_MAX], *source = read_file("05_float4/source.cu");
    snprintf(path, sizeof path, "%s/05_float4/source.cu", folder);
    cr_assert(!unlink(path));
    expect("grade", NULL, 0, "05_float4              0 of 100  not started\n");
    char *bug = cut_text(source, CUT_BUG, "no padding", error);
    cr_assert(bug, "%s", error);
    write_file("05_float4/kernel.cu", bug);
    free(bug);
    expect("grade", NULL, 0, "05_float4             66 of 100  started\n");
    solve_with(source);
    char all[64], *said = graded(NULL);
    snprintf(all, sizeof all, "\n100 of %d points\n", 100 * EXERCISES);
    cr_expect(strstr(said, "05_float4            100 of 100  done\n") && strstr(said, all), "%s", said);
    free(said);
    expect("grade", "--json=-", 0,
           "\"name\": \"05_float4\",\n      \"title\": \"Four floats at a time\",\n"
           "      \"state\": \"done\",\n      \"points\": 100,");
    write_file("05_float4/kernel.cu", "int x = ;\n");
    expect("grade", NULL, 0, "05_float4              0 of 100  does not compile\n");
    expect("check", "--json=-", 2, "--json goes with grade");
    free(source);
}

// A copy of one of the course's exercises, without its source.
static void write_exercise(const char *name, enum cut kind)
{
    char path[128], error[CUT_ERROR_MAX];
    struct cut_bug bugs[CUT_BUGS_MAX];
    snprintf(path, sizeof path, FOLDER "/%s/source.cu", name);
    char *source = file_read(path);
    cr_assert(source && cut_bugs(source, bugs), "%s", path);
    char *text = cut_text(source, kind, kind == CUT_BUG ? bugs[0].name : NULL, error);
    cr_assert(text, "%s", error);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    cr_assert(!mkdir(path, 0777) || !access(path, W_OK), "%s", path);
    snprintf(path, sizeof path, "%s/kernel.cu", name);
    write_file(path, text);
    free(text);
    free(source);
}

static int count(const char *text, const char *what)
{
    int n = 0;
    for (; (text = strstr(text, what)); text++)
        n++;
    return n;
}

// Five solved, three wrong and six untouched; in the sample (sample.h) the last of each.
Test(progress, grades_the_same_twice, .timeout = 300)
{
    static const char *const names[] = { "01_coalescing",    "02_barriers",   "03_thread_tile",
                                         "04_register_tile", "05_float4",     "06_divide_warps",
                                         "07_double_buffer", "08_wmma_loop",  "09_three_divisions",
                                         "10_padding",       "11_ldmatrix",   "12_swizzle",
                                         "17_tile_order",    "05b_wide_banks" };
    enum { SOLVED = 5, WRONG = 8, ALL = 14 };
    const bool all = sample_asked() == SAMPLE_ALL;
    if (sample_asked() == SAMPLE_BRIEF)
        cr_skip_test("waits for meson test");
    for (int i = 0; i < ALL; i++)
        if (all || i == SOLVED - 1 || i == WRONG - 1 || i == ALL - 1)
            write_exercise(names[i], i < SOLVED ? CUT_SOLUTION : i < WRONG ? CUT_BUG : CUT_STUB);
    char *first = graded("--json=-"), *second = graded("--json=-");
    cr_expect_str_eq(first, second);
    cr_expect(!strstr(first, "\"title\": \"\""), "a folder without tasks has the course's titles: %s", first);
    cr_expect_eq(count(first, "\"state\": \"done\""), all ? SOLVED : 1, "%s", first);
    cr_expect_eq(count(first, "\"state\": \"started\""), all ? WRONG - SOLVED : 1, "%s", first);
    cr_expect_eq(count(first, "\"state\": \"not started\""), all ? ALL - WRONG : 1, "%s", first);
    free(first);
    free(second);
}

Test(progress, names_what_is_wrong_with_a_command)
{
    expect("fly", NULL, 2, "there is no command 'fly'; there are next, hint, check, watch, ");
    expect("hint", NULL, 2, "which exercise?");
    expect("hint", "99", 2, "there is no exercise '99'; they are 01_coalescing to ");
    if (!HAS_HOPPER)
        expect("hint", "20", 2,
               "progress: 20_any_shape and its like are not in this build: they need nvcc 12.0 or newer, and ");
    expect("check", "float", 2, "there is no exercise 'float'");
    expect("hint", "7c", 2, "there is no exercise '7c'");
    expect("hint", "7b", 2, "/07b_split_k/TASK.md cannot be read");
    expect("solution", "07b", 1, "progress: first let 07b_split_k pass: build/course check 7b");
    expect("grade", "03", 2, "progress: grade is for all exercises: leave out '03'");
    expect("--fly", NULL, 2, "progress: unknown option \"--fly\"; --help lists the options\n");
    expect("--json", NULL, 2, "progress: --json: needs a value; --help lists the options\n");
    expect("--help", NULL, 0, "usage: progress");
    setenv("EXERCISES", "/nonexistent", 1);
    expect(NULL, NULL, 2, "progress: EXERCISES: /nonexistent cannot be read: No such file or directory");
    expect("check", NULL, 2, "progress: EXERCISES: /nonexistent cannot be read");
    setenv("EXERCISES", "/", 1);
    expect(NULL, NULL, 2, "progress: EXERCISES: / has no exercise in it, as 01_coalescing would be");
}

// Meson shows what is skipped in one line, and with -v what the check says.
Test(progress, is_one_line_of_the_tests_where_nothing_is_started, .timeout = 300)
{
    char *said;
    int status;
    if (!*MESON)
        cr_skip_test("no program called meson was found");
    unsetenv("BXFI_MAP");  // by which Criterion knows the processes that it started itself
    char *const quiet[] = { MESON, "test", "-C", BUILD, "--no-rebuild", "--logbase=not_started", "ex05_float4", NULL };
    cr_assert(program_run(quiet, &said, &status) && !status, "%s", said);
    cr_expect_eq(count(said, "ex05_float4"), 1, "%s", said);
    cr_expect(strstr(said, " SKIP ") && !strstr(said, "not started. Read"), "%s", said);
    free(said);
    char *const verbose[] = { MESON, "test",        "-C", BUILD, "--no-rebuild", "--logbase=not_started",
                              "-v",  "ex05_float4", NULL };
    cr_assert(program_run(verbose, &said, &status) && !status, "%s", said);
    cr_expect(strstr(said, "05_float4: not started. Read"), "%s", said);
    free(said);
}

// A geometry other than the given one may be right, but is not counted.
Test(progress, takes_another_geometry_for_what_it_is)
{
    write_file("05_float4/kernel.cu",
               "__constant__ int geometry[] = { 8, 8, 0, 64 };\n"
               "extern \"C\" __global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, "
               "float beta, float *C)\n{\n"
               "    const int row = blockIdx.y * 8 + threadIdx.x / 8, col = blockIdx.x * 8 + threadIdx.x % 8;\n"
               "    float acc = 0;\n"
               "    for (int k = 0; k < K; k++)\n        acc += A[row * K + k] * B[k * N + col];\n"
               "    C[row * N + col] = alpha * acc + (beta == 0 ? 0 : beta * C[row * N + col]);\n}\n");
    expect("check", "5", 1, "  ok  the result is right");
    expect("check", "5", 1, "kernel.cu has BM = 8, BN = 8, THREADS = 64.");
    expect("check", "5", 1,
           "worked out for BM = 64, BN = 64, BK = 8, THREADS = 64, TM = 8, TN = 8: set the sizes back");
}

// What a learner may write: the message is the check's, and nothing hangs or crashes.
Test(progress, reports_kernels_that_go_wrong)
{
    static const struct {
        const char *body, *said;
    } all[] = {
        { "int x = ;", "not yet: it compiles\n       " },
        { "int x = ;", "error: expected " },
        { "for (volatile int i = 0;; i++) {}", "does this loop ever stop?" },
        { "C[1 << 28] = 1;", "out of bounds" },
        { "if (threadIdx.x < 32) __syncthreads(); asm volatile(\"bar.sync 1;\");", "(synccheck)" },
        { "if (threadIdx.x % 2) __syncthreads(); __syncwarp();", "(synccheck)" },
        { "asm(\"trap;\");", "trap" },
        { "C[0] = *(const float *)size_t(K);", "out of bounds" },
        { "", "never written" },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (!sample_brief(i, 3))
            continue;
        char text[512];
        snprintf(text, sizeof text,
                 "__constant__ int geometry[] = { 64, 64, 8, 64 };\n"
                 "extern \"C\" __global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, "
                 "float beta, float *C)\n{\n    %s\n}\n",
                 all[i].body);
        write_file("05_float4/kernel.cu", text);
        expect("check", "5", 1, all[i].said);
    }
    write_file("05_float4/kernel.cu", "extern \"C\" __global__ void other() {}\n");
    expect("check", "5", 1, "gemm");
    write_file("05_float4/kernel.cu", "extern \"C\" __global__ void gemm() {}\n");
    expect("check", "5", 1, "says no geometry");
}

// After a check that passes it says what comes next: the folder has no other exercise.
Test(progress, watches_for_changes)
{
    int ends[2];
    cr_assert(!pipe(ends));
    const pid_t pid = fork();
    cr_assert(pid >= 0);
    if (!pid) {
        dup2(ends[1], STDOUT_FILENO);
        execl(PROGRESS, PROGRESS, "watch", (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    FILE *in = fdopen(ends[0], "r");
    char line[512];
    cr_assert(fgets(line, sizeof line, in) && strstr(line, "Watching all exercises"));
    write_file("05_float4/kernel.cu", "int x = ;\n");
    bool seen = false;
    while (!seen && fgets(line, sizeof line, in))
        seen = strstr(line, "not yet: it compiles");
    cr_expect(seen, "the check did not run");
    solve();
    seen = false;
    while (!seen && fgets(line, sizeof line, in))
        seen = strstr(line, "Next: read ") && strstr(line, "/01_coalescing/TASK.md");
    cr_expect(seen, "no next exercise");
    cr_assert(!kill(pid, SIGTERM));
    cr_assert_eq(waitpid(pid, NULL, 0), pid);
    fclose(in);
}
