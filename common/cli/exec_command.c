// See exec_command.h.
#include "exec_command.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/card.h"
#include "base/host.h"
#include "base/options.h"
#include "base/tally.h"
#include "base/text.h"
#include "command.h"

extern char **environ;

// --- the command line ---

enum look { LOOK_RUN, LOOK_CHECK, LOOK_PROFILE, LOOK_TIME };

struct ask {
    enum look look;
    const struct card *card;
    uint64_t jobs, budget, skip, only, stop;  // 0: not given
    const char *kernel, *json;
    bool verbose;
};

#define AT(field) OPTION_AT(struct ask, field)
enum { CHECK = 1 << LOOK_CHECK, PROFILE = 1 << LOOK_PROFILE, TIME = 1 << LOOK_TIME };

static const char *const looks[] = { "run", "check", "profile", "time" };

static const struct option_row rows[] = {
    { "card", "NAME", "the card that the program is told it has, and that time predicts for (default H200)", AT(card) },
    { "jobs", "N", "host threads of a launch (default: one a processor); results do not depend on it", AT(jobs), 1,
      SIMT_JOBS_MAX },
    { "budget", "N", "warp instructions after which a block counts as endless", AT(budget), 1, UINT64_MAX },
    { "skip", "N", "the first N launches just run: they are not checked, counted or timed", AT(skip), 0, UINT64_MAX,
      .only = CHECK | PROFILE | TIME },
    { "only", "N", "and of those that follow only N are", AT(only), 1, UINT64_MAX, .only = CHECK | PROFILE | TIME },
    { "kernel", "NAME", "only launches of kernels with this in their name are; --skip and --only count them alone",
      AT(kernel), .only = CHECK | PROFILE | TIME },
    { "stop", "N", "end the program behind its launch N: for a look at the first ones of a long program", AT(stop), 1,
      UINT64_MAX },
    { "json", "FILE", "write the launches with all counters as JSON", AT(json), .only = PROFILE | TIME },
    { "verbose", NULL, "a line for each launch", AT(verbose) },
    { 0 },
};

static const char usage[] =
    "exec [check|profile|time] [options] [--] PROGRAM [ARGUMENTS]\n"
    "       simt nvcc [nvcc's options] FILE.cu ... -o PROGRAM\n"
    "\n"
    "  exec      runs a CUDA program as it is, with every launch on the simulated GPU\n"
    "  check     and checks every launch: findings have the line of the kernel and of the launch\n"
    "  profile   and counts what Nsight Compute counts: a table of launches when the program ends\n"
    "  time      and predicts how long each launch takes on the card; CUDA's events have that time, too\n"
    "  nvcc      calls nvcc with what exec needs: -cudart shared, PTX in the program, lines, and PROGRAM runs on the\n"
    "            simulated GPU by itself, too\n"
    "\n"
    "PROGRAM was made by simt nvcc, or by nvcc -cudart shared. What the runtime has to say goes to standard error.";

static const char notes[] = "exit status: that of PROGRAM, if it is not 0. With check: 1 if there are findings. 2: it "
                            "could not be run, or did\n"
                            "not use CUDA's runtime as a library; 128 + N: signal N ended it";

static struct options options_of(enum look look, bool help)
{
    return (struct options){ .program = "simt",
                             .usage = usage,
                             .notes = notes,
                             .rows = rows,
                             .use = help ? 0 : 1u << look,
                             .uses = looks,
                             .most = 0,
                             .needs = "the program comes last" };
}

// Whether the option's value is the next word.
static bool takes_word(const char *option)
{
    for (const struct option_row *r = rows; r->name; r++)
        if (!strcmp(option + 2, r->name))
            return r->argument;
    return false;
}

// Where the program stands: behind "--", or it is the first word that belongs to no option. 0: nowhere.
static int find_program(int argc, char **argv, int from)
{
    while (from < argc && !strncmp(argv[from], "--", 2) && argv[from][2])
        from += takes_word(argv[from]) ? 2 : 1;
    if (from < argc && !strcmp(argv[from], "--"))
        from++;
    return from < argc ? from : 0;
}

// --- where the runtime is ---

// The folder of libcudart.so.13: in a build beside this program's, installed in the libraries' folder.
static bool find_runtime(char folder[PATH_MAX])
{
    static const char *const places[] = { "common/cudart", CUDART_LIBRARIES };
    char file[2 * PATH_MAX];
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (!host_beside(places[i], file, sizeof file) || !realpath(file, folder))
            continue;
        snprintf(file, sizeof file, "%s/libcudart.so.13", folder);
        if (access(file, R_OK) == 0)
            return true;
    }
    return false;
}

static const char no_runtime[] = "there is no CUDA runtime for the simulated GPU beside this program: meson compile -C "
                                 "build cuda_runtime, with nvcc "
                                 "13, makes it";

// --- exec ---

static void set_number(const char *name, uint64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, value);
    if (value)
        setenv(name, text, 1);
}

static void set_text(const char *name, const char *value)
{
    if (value)
        setenv(name, value, 1);
}

static void set_environment(const struct ask *a, const char *folder)
{
    const char *before = getenv("LD_LIBRARY_PATH");
    char path[2 * PATH_MAX];
    snprintf(path, sizeof path, "%s%s%.4000s", folder, before && *before ? ":" : "", before ? before : "");
    setenv("LD_LIBRARY_PATH", path, 1);
    set_number("CUDART_CHECK", a->look == LOOK_CHECK);
    set_number("CUDART_PROFILE", a->look == LOOK_PROFILE);
    set_number("CUDART_TIME", a->look == LOOK_TIME);
    set_number("CUDART_VERBOSE", a->verbose);
    set_number("CUDART_JOBS", a->jobs);
    set_number("CUDART_BUDGET", a->budget);
    set_number("CUDART_SKIP", a->skip);
    set_number("CUDART_ONLY", a->only);
    set_number("CUDART_STOP", a->stop);
    set_text("CUDART_KERNEL", a->kernel);
    set_text("CUDART_JSON", a->json);
    set_text("CUDART_CARD", a->card ? a->card->name : NULL);
}

// Starts it and waits. *status as waitpid has it. False, with errno, if it cannot be started.
static bool start(char **argv, int *status)
{
    pid_t pid;
    errno = posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ);
    if (errno)
        return false;
    signal(SIGINT, SIG_IGN);  // the program gets it, too, and ends as it likes
    while (waitpid(pid, status, 0) < 0)
        if (errno != EINTR)
            return false;
    return true;
}

// What the program was at when a signal ended it, and how long that would have taken.
static void print_left(const struct tally *t)
{
    char n[TEXT_GROUPED], all[TEXT_GROUPED], duration[TEXT_DURATION];
    const double seconds = host_seconds() - t->began;
    const uint64_t done = t->done, blocks = t->blocks;
    if (blocks)
        fprintf(stderr, "simt: in launch %" PRIu64 ", of %s, %s of %s blocks after %s", t->launches, t->kernel,
                text_grouped(done, n), text_grouped(blocks, all), text_duration(seconds, duration));
    else
        fprintf(stderr, "simt: behind %" PRIu64 " launch%s", t->launches, t->launches == 1 ? "" : "es");
    if (done)
        fprintf(stderr, ": at this rate it takes %s", text_duration(seconds * (double)blocks / (double)done, duration));
    if (t->work)
        fprintf(stderr, "; launches before took %s warp instructions", text_grouped(t->work, n));
    fputc('\n', stderr);
}

// What the options left out, and what else went wrong: findings alone do not tell.
static void print_missed(const struct ask *a, const struct tally *t)
{
    static const char *const done[] = { "run", "checked", "counted", "timed" };
    const uint64_t all = t->launches, left = all - t->looked, failed = t->failed;
    if (a->look != LOOK_RUN && !all)
        fprintf(stderr, "simt: the program launched no kernel, so nothing was %s\n", done[a->look]);
    else if (a->look != LOOK_RUN && left)
        fprintf(stderr, "simt: not %s: %" PRIu64 " of %" PRIu64 " launches, because of --kernel, --skip or --only\n",
                done[a->look], left, all);
    if (a->look == LOOK_CHECK && failed)
        fprintf(stderr, "simt: %" PRIu64 " call%s failed: a line above says where and why\n", failed,
                text_plural(failed));
}

static int ended(const struct ask *a, const char *program, const struct tally *t, int how)
{
    if (WIFSIGNALED(how)) {
        fprintf(stderr, "simt: %s was ended by signal %d: %s\n", program, WTERMSIG(how), strsignal(WTERMSIG(how)));
        if (t->launches)
            print_left(t);
        return 128 + WTERMSIG(how);
    }
    const int status = WEXITSTATUS(how);
    if (!t->programs) {
        fprintf(
            stderr,
            "simt: %s did not call CUDA's runtime as a library. Is it built by simt nvcc, or by nvcc -cudart shared?\n",
            program);
        return status ? status : EXIT_UNABLE;
    }
    print_missed(a, t);
    return status ? status : a->look == LOOK_CHECK && t->findings ? EXIT_FAULT : EXIT_CLEAN;
}

static int run(const struct ask *a, char **argv, const char *folder)
{
    static const char which[] = ": here comes check, profile or time, or the program, with ./ if it is in this folder";
    char error[DEV_ERROR_MAX];
    int how;
    const struct tally *t = tally_new();
    if (!options_may_write("--json", a->json, error))
        return command_unable(error);
    set_environment(a, folder);
    fflush(NULL);
    if (t && start(argv, &how))
        return ended(a, argv[0], t, how);
    const bool found = errno != ENOENT || strchr(argv[0], '/');
    error_set(error, "%s: %s%s", t ? argv[0] : "a file for the program's counts", strerror(errno), found ? "" : which);
    return command_unable(error);
}

static int exec(int argc, char **argv, const char *folder)
{
    struct ask a = { .look = LOOK_RUN };
    char error[DEV_ERROR_MAX];
    for (int i = LOOK_CHECK; argc > 2 && i <= LOOK_TIME; i++)
        if (!strcmp(argv[2], looks[i]))
            a.look = (enum look)i;
    const int begin = a.look == LOOK_RUN ? 2 : 3, at = find_program(argc, argv, begin);
    const bool dashes = at && !strcmp(argv[at - 1], "--");
    char **words = argv + begin - 1, *kept = at ? argv[at - dashes] : NULL;
    int n = at ? at - dashes - begin + 1 : argc - begin + 1;
    if (at)
        argv[at - dashes] = NULL;
    const struct options all = options_of(a.look, false), help = options_of(a.look, true);
    const enum options_outcome outcome = options_read(&all, &a, &n, &words, error);
    if (at)
        argv[at - dashes] = kept;
    if (outcome == OPTIONS_HELP) {
        options_help(&help, stdout);
        return EXIT_CLEAN;
    }
    if (outcome == OPTIONS_BAD)
        return command_unable(error);
    return at ? run(&a, argv + at, folder) : command_unable("which program? (see simt exec --help)");
}

// --- nvcc ---

// Whether an option of nvcc's that begins so is among them.
static bool has(char **argv, const char *const *options)
{
    for (; *argv; argv++)
        for (const char *const *o = options; *o; o++)
            if (!strncmp(*argv, *o, strlen(*o)))
                return true;
    return false;
}

// Takes the place of this program. The options of the user come last, so that they count where both say something.
static int nvcc(int n, char **argv, const char *folder)
{
    static const char *const architectures[] = { "-arch", "--gpu-architecture", "-gencode", "--generate-code", NULL };
    char place[PATH_MAX + 32], error[DEV_ERROR_MAX];
    // NVIDIA's libraries, while they are linked, look for each other in our folder, too, and miss what they share.
    char *const ours[] = { (char *)NVCC,
                           (char *)"-cudart=shared",
                           (char *)"-lineinfo",
                           (char *)"-g",
                           place,
                           (char *)"-Xlinker=--allow-shlib-undefined",
                           (char *)"-gencode=arch=compute_80,code=compute_80" };
    const size_t n_ours = sizeof ours / sizeof *ours - has(argv, architectures);
    char **all = calloc(n_ours + (size_t)n + 1, sizeof *all);
    if (!all)
        return command_unable("out of memory");
    snprintf(place, sizeof place, "-Xlinker=-rpath=%s", folder);
    memcpy(all, ours, n_ours * sizeof *all);
    memcpy(all + n_ours, argv, (size_t)n * sizeof *all);
    execvp(all[0], all);
    error_set(error, "%s: %s", all[0], strerror(errno));
    free(all);
    return command_unable(error);
}

bool exec_is_meant(int argc, char **argv)
{
    return argc > 1 && (!strcmp(argv[1], "exec") || !strcmp(argv[1], "nvcc"));
}

int exec_command(int argc, char **argv)
{
    char folder[PATH_MAX];
    const bool runtime = find_runtime(folder), execs = !strcmp(argv[1], "exec");
    if (!runtime && !(execs && argc > 2 && !strcmp(argv[2], "--help")))
        return command_unable(no_runtime);
    return execs ? exec(argc, argv, folder) : nvcc(argc - 2, argv + 2, folder);
}
