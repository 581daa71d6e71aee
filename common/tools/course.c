// One program that leads through the course. It does nothing itself but start the programs beside it, which all have
// their own --help:
//
//   build/course                what there is to do, and what comes next
//   build/course run 07 --size 512
//   build/course diff 07
//
// The build defines BUILD_FOLDER and SOURCE_FOLDER, the compiler of the kernels with its flags (PTX_COMPILER,
// PTX_FLAGS, and for each target TARGETS), and which steps it leaves out (LEFT_OUT, WHY_LEFT_OUT).
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "steps.h"

enum { BAD = 2, PATH = 4096, ARGUMENTS = 64 };

// Starts a program in place of this one, with arguments that end with a NULL. Returns only if it cannot be started.
static int start(const char *program, char *const arguments[])
{
    char *argv[ARGUMENTS] = { (char *)program };
    int n = 1;
    for (; arguments[n - 1]; n++) {
        if (n == ARGUMENTS - 1) {
            fprintf(stderr, "course: more than %d arguments\n", ARGUMENTS - 2);
            return BAD;
        }
        argv[n] = arguments[n - 1];
    }
    fflush(stdout);
    execvp(program, argv);
    fprintf(stderr, "course: %s cannot be started: %s%s\n", program, strerror(errno),
            text_begins(program, BUILD_FOLDER) ? ": meson compile -C build course" : "");
    return BAD;
}

static int start_built(const char *name, char *const arguments[])
{
    char path[PATH];
    snprintf(path, sizeof path, BUILD_FOLDER "/%s", name);
    return start(path, arguments);
}

// --- steps ---

static const char *const left_out[] = { LEFT_OUT NULL };

// Which step a learner means; n_steps, with a line on stderr, if it is none.
static size_t step_meant(const char *text)
{
    for (size_t i = 0; i < n_steps; i++)
        if (text && text_means(text, steps[i]->name))
            return i;
    for (int i = 0; text && left_out[i]; i++)
        if (text_means(text, left_out[i])) {
            fprintf(stderr, "course: %s and its like are not in this build: %s\n", left_out[i], WHY_LEFT_OUT);
            return n_steps;
        }
    fprintf(stderr,
            text ? "course: there is no step '%s'; course ladder --list has their names\n"
                 : "course: which step? For example: 7, or 07_double_buffer\n",
            text);
    return n_steps;
}

static int run_step(const char *unused, char **arguments)
{
    (void)unused;
    const size_t step = step_meant(arguments[0]);
    return step < n_steps ? start_built(steps[step]->name, arguments + 1) : BAD;
}

// The step before is that of the folder before: 02_smem_tile_double is 02_smem_tile's kernel, too.
static int diff_step(const char *unused, char **arguments)
{
    (void)unused;
    char from[PATH], to[PATH];
    size_t step = step_meant(arguments[0]), before = step;
    if (step == n_steps)
        return BAD;
    while (before > 0 && atoi(steps[before]->name) == atoi(steps[step]->name))
        before--;
    while (before > 0 && atoi(steps[before - 1]->name) == atoi(steps[before]->name))
        before--;
    while (step > 0 && atoi(steps[step - 1]->name) == atoi(steps[step]->name))
        step--;
    if (before == step) {
        printf("%s is the first step: read steps/%s/kernel.cu\n", steps[step]->name, steps[step]->name);
        return 0;
    }
    if (chdir(SOURCE_FOLDER)) {
        fprintf(stderr, "course: %s: %s\n", SOURCE_FOLDER, strerror(errno));
        return BAD;
    }
    snprintf(from, sizeof from, "steps/%s/kernel.cu", steps[before]->name);
    snprintf(to, sizeof to, "steps/%s/kernel.cu", steps[step]->name);
    return start("diff", (char *[]){ (char *)"-u", from, to, NULL });
}

// --- a kernel of one's own ---

static const struct target {
    const char *name, *flags[8];
} targets[] = { TARGETS };
enum { N_TARGETS = sizeof targets / sizeof *targets };
#define DEFAULT_TARGET "compute_80"

static const struct target *target_named(const char *name)
{
    for (int i = 0; i < N_TARGETS; i++)
        if (name && !strcmp(name, targets[i].name))
            return &targets[i];
    fprintf(stderr, "course: ptx: --target is one of");
    for (int i = 0; i < N_TARGETS; i++)
        fprintf(stderr, "%s %s", i ? "," : "", targets[i].name);
    fputc('\n', stderr);
    return NULL;
}

// Where the PTX of a file goes: beside it, with .ptx in place of .cu.
static char *ptx_beside(const char *source)
{
    char *path;
    const char *dot = strrchr(source, '.');
    const int stem = dot && !strchr(dot, '/') ? (int)(dot - source) : (int)strlen(source);
    return asprintf(&path, "%.*s.ptx", stem, source) < 0 ? NULL : path;
}

// ptx [--target TARGET] FILE.cu [OPTION OF THE COMPILER]...
static int compile(const char *unused, char **arguments)
{
    (void)unused;
    static const char *const flags[] = { PTX_FLAGS };
    const struct target *target = target_named(DEFAULT_TARGET);
    char *argv[ARGUMENTS] = { NULL };
    int n = 0;
    if (arguments[0] && !strcmp(arguments[0], "--target")) {
        target = target_named(arguments[1]);
        arguments += arguments[1] ? 2 : 1;
    }
    if (!target)
        return BAD;
    if (!arguments[0]) {
        fprintf(stderr, "course: ptx: which file? For example: course ptx mine.cu\n");
        return BAD;
    }
    char *ptx = ptx_beside(arguments[0]);
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        argv[n++] = (char *)flags[i];
    for (int i = 0; target->flags[i]; i++)
        argv[n++] = (char *)target->flags[i];
    argv[n++] = (char *)"-o";
    argv[n++] = ptx;
    for (int i = 0; arguments[i] && n < ARGUMENTS - 1; i++)
        argv[n++] = arguments[i];
    return start(PTX_COMPILER, argv);
}

// --- the commands ---

static int start_other(const char *program, char **arguments)
{
    return start_built(program, arguments);
}

// An exercise: progress has the commands under the same names.
static int start_progress(const char *command, char **arguments)
{
    char *argv[ARGUMENTS] = { (char *)command };
    for (int n = 1; n < ARGUMENTS - 1 && arguments[n - 1]; n++)
        argv[n] = arguments[n - 1];
    return start_built("progress", argv);
}

static const struct command {
    const char *name, *operands, *help;
    int (*run)(const char *what, char **arguments);
    const char *what;  // the program or its command
} commands[] = {
    { "next", "", "what comes next", start_progress, "next" },
    { "ladder", "[OPTION]...", "every step, one after the other: right or wrong, and how fast", start_other, "ladder" },
    { "run", "STEP [OPTION]...", "one step; --profile counts, --sanitize checks, --help lists more", run_step, NULL },
    { "diff", "STEP", "what a step changes in the kernel before it", diff_step, NULL },
    { "worth", "[STEP]", "what each part of every step, or of one, is worth, as it was measured", start_other,
      "worth" },
    { "tune", "STEP BK=8,16 ...", "a step with other sizes of tiles", start_other, "tune" },
    { "list", "", "the exercises, and which are done", start_progress, "list" },
    { "check", "EXERCISE", "compiles and checks your kernel", start_progress, "check" },
    { "watch", "EXERCISE", "checks it each time you save", start_progress, "watch" },
    { "hint", "EXERCISE", "the next of three hints", start_progress, "hint" },
    { "solution", "EXERCISE", "the course's solution, once yours passes", start_progress, "solution" },
    { "ptx", "FILE.cu", "compiles a kernel of your own; --target compute_90a before it: for Hopper", compile, NULL },
    { "simt", "COMMAND ...", "runs, counts, checks or draws it: course simt --help", start_other, "simt" },
};
enum { N = sizeof commands / sizeof *commands, WIDTH = 26 };

static void print_commands(void)
{
    printf("usage: course COMMAND [ARGUMENT]...\n\n");
    for (int i = 0; i < N; i++) {
        char call[80];
        snprintf(call, sizeof call, "%s %s", commands[i].name, commands[i].operands);
        printf("  %-*s %s\n", WIDTH, call, commands[i].help);
    }
    printf("\nSTEP: 7, 07 or 07_double_buffer. EXERCISE: 3, 03 or 03_thread_tile; 7b, the second one of step 07.\n");
}

int main(int argc, char **argv)
{
    if (argc < 2 || !strcmp(argv[1], "--help")) {
        print_commands();
        putchar('\n');
        return argc < 2 ? start_progress("next", argv + 1) : 0;
    }
    for (int i = 0; i < N; i++)
        if (!strcmp(argv[1], commands[i].name))
            return commands[i].run(commands[i].what, argv + 2);
    fprintf(stderr, "course: there is no command '%s'; course alone lists them\n", argv[1]);
    return BAD;
}
