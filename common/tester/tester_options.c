// The command line that the drivers and the ladder share: one table of options, strict numbers, one line an error.
#include "tester_options.h"

#include <errno.h>
#include <float.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/occupancy.h"
#include "base/options.h"

enum option_id {
    OPTION_M = 256,  // above every character, so that getopt's answers cannot be mistaken
    OPTION_N,
    OPTION_K,
    OPTION_SIZE,
    OPTION_ALPHA,
    OPTION_BETA,
    OPTION_SEED,
    OPTION_DEVICE,
    OPTION_JOBS,
    OPTION_WARMUP,
    OPTION_ITERATIONS,
    OPTION_PAUSE,
    OPTION_WARM,
    OPTION_CHECK,
    OPTION_NO_CHECK,
    OPTION_PROFILE,
    OPTION_BY_LINE,
    OPTION_CARD,
    OPTION_PREDICT,
    OPTION_PREDICT_SIZE,
    OPTION_NO_PREDICT,
    OPTION_SANITIZE,
    OPTION_PTX,
    OPTION_DESCRIBE,
    OPTION_CSV,
    OPTION_JSON,
    OPTION_LIST,
    OPTION_HELP,
};

enum { DRIVER = OPTIONS_FOR_DRIVER, LADDER = OPTIONS_FOR_LADDER, BOTH = DRIVER | LADDER };

static const struct {
    enum option_id id;
    const char *name, *value;  // value: what its argument is called, NULL where it takes none
    int programs;
    const char *help;
} table[] = {
    { OPTION_M, "m", "M", BOTH, "rows of A and C (default 256 simulated, 4096 on a GPU)" },
    { OPTION_N, "n", "N", BOTH, "columns of B and C" },
    { OPTION_K, "k", "K", BOTH, "columns of A, rows of B" },
    { OPTION_SIZE, "size", "S", BOTH, "M, N and K at once" },
    { OPTION_ALPHA, "alpha", "X", BOTH, "factor of A * B (default 1)" },
    { OPTION_BETA, "beta", "X", BOTH, "factor of the old C (default 0: C is not read)" },
    { OPTION_SEED, "seed", "N", BOTH, "of the random data (default 1)" },
    { OPTION_DEVICE, "device", "D", BOTH, "auto, gpu or sim (default auto: the GPU if one answers)" },
    { OPTION_JOBS, "jobs", "N", BOTH, "threads that simulate (default: one a processor); results do not depend on it" },
    { OPTION_WARMUP, "warmup", "N", BOTH, "runs before the timed ones (default 0 simulated, 2 on a GPU)" },
    { OPTION_ITERATIONS, "iterations", "N", BOTH, "timed runs (default: simulated, the checked run; 15 on a GPU)" },
    { OPTION_PAUSE, "pause-ms", "X", BOTH, "rest before each timed run, in milliseconds (default 0)" },
    { OPTION_WARM, "warm-l2", NULL, BOTH, "do not empty the GPU's L2 cache before each timed run" },
    { OPTION_CHECK, "check", NULL, BOTH, "check the result (default)" },
    { OPTION_NO_CHECK, "no-check", NULL, BOTH, "do not check the result" },
    { OPTION_PROFILE, "profile", NULL, DRIVER, "print the launch's counters (simulated GPU)" },
    { OPTION_BY_LINE, "by-line", NULL, DRIVER, "print the hot source lines (simulated GPU)" },
    { OPTION_CARD, "card", "NAME", BOTH,
      "whose occupancy to work out (with --profile), whose time to predict (default H200)" },
    { OPTION_PREDICT, "predict", NULL, BOTH, "predict the time on the card (needs ptxas, which comes with nvcc)" },
    { OPTION_PREDICT_SIZE, "predict-size", "S", BOTH, "predict it for M, N and K of this size, whatever is run" },
    { OPTION_NO_PREDICT, "no-predict", NULL, LADDER, "print the simulation's own time (simulated GPU)" },
    { OPTION_SANITIZE, "sanitize", NULL, DRIVER,
      "look for races, uninitialised memory and registers, ... (simulated GPU)" },
    { OPTION_PTX, "ptx", "FILE", DRIVER, "run the kernel gemm of this PTX file in place of the driver's own" },
    { OPTION_DESCRIBE, "describe", NULL, DRIVER, "print what the driver runs as JSON, and end" },
    { OPTION_CSV, "csv", "FILE", LADDER, "append the measurements to a table (on a GPU)" },
    { OPTION_JSON, "json", "FILE", BOTH, "write a report as JSON (- is stdout)" },
    { OPTION_LIST, "list", NULL, LADDER, "print the names of the steps" },
    { OPTION_HELP, "help", NULL, BOTH, "print this" },
};
enum { OPTIONS = sizeof table / sizeof table[0] };

void tester_options_help(FILE *out, enum options_for program, const char *name)
{
    fprintf(out, "usage: %s [OPTION]...\n", name);
    fprintf(out, "%s C = alpha * A * B + beta * C, A is M x K, B is K x N, C is M x N.\n\n",
            program == OPTIONS_FOR_LADDER ? "Compares the steps of the course on" : "Runs, checks and times");
    for (int i = 0; i < OPTIONS; i++) {
        char left[32];
        if (!(table[i].programs & (int)program))
            continue;
        snprintf(left, sizeof left, "--%s%s%s", table[i].name, table[i].value ? " " : "",
                 table[i].value ? table[i].value : "");
        fprintf(out, "  %-16s  %s\n", left, table[i].help);
    }
    fprintf(out, "\nExit status: 0 right, 1 wrong%s, 2 could not run.\n",
            program == OPTIONS_FOR_DRIVER ? " or with findings" : "");
}

static bool whole_option(const char *name, const char *text, uint64_t min, uint64_t max, uint64_t *value, char *error)
{
    char copy[OPTIONS_SHOWN];
    if (options_whole(text, min, max, value))
        return true;
    snprintf(error, DEV_ERROR_MAX, "--%s \"%s\": must be a whole number from %" PRIu64 " to %" PRIu64 ", digits alone",
             name, options_shown(text, copy), min, max);
    return false;
}

static bool int_option(const char *name, const char *text, int min, int max, int *value, char *error)
{
    uint64_t v;
    if (!whole_option(name, text, (uint64_t)min, (uint64_t)max, &v, error))
        return false;
    *value = (int)v;
    return true;
}

static bool real_option(const char *name, const char *text, double min, double max, double *value, char *error)
{
    char copy[OPTIONS_SHOWN];
    if (options_real(text, min, max, value))
        return true;
    if (max == DBL_MAX)
        snprintf(error, DEV_ERROR_MAX, "--%s \"%s\": must be a finite number", name, options_shown(text, copy));
    else
        snprintf(error, DEV_ERROR_MAX, "--%s \"%s\": must be a number from %.0f to %.0f", name,
                 options_shown(text, copy), min, max);
    return false;
}

static bool device_option(const char *text, enum dev_kind *kind, char *error)
{
    char copy[OPTIONS_SHOWN];
    if (options_device(text, kind))
        return true;
    snprintf(error, DEV_ERROR_MAX, "--device \"%s\": must be auto, gpu or sim", options_shown(text, copy));
    return false;
}

static bool apply(struct tester_options *o, int id, const char *name, const char *text, char *error)
{
    switch (id) {
    case OPTION_M:
        return int_option(name, text, 1, INT_MAX, &o->m, error);
    case OPTION_N:
        return int_option(name, text, 1, INT_MAX, &o->n, error);
    case OPTION_K:
        return int_option(name, text, 1, INT_MAX, &o->k, error);
    case OPTION_SIZE:
        if (!int_option(name, text, 1, INT_MAX, &o->m, error))
            return false;
        o->n = o->k = o->m;
        return true;
    case OPTION_ALPHA:
        return real_option(name, text, -DBL_MAX, DBL_MAX, &o->alpha, error);
    case OPTION_BETA:
        return real_option(name, text, -DBL_MAX, DBL_MAX, &o->beta, error);
    case OPTION_SEED:
        return whole_option(name, text, 0, UINT64_MAX, &o->seed, error);
    case OPTION_DEVICE:
        return device_option(text, &o->device, error);
    case OPTION_JOBS:
        return int_option(name, text, 1, 256, &o->jobs, error);
    case OPTION_WARMUP:
        return int_option(name, text, 0, 1000000, &o->warmup, error);
    case OPTION_ITERATIONS:
        return int_option(name, text, 1, 1000000, &o->iterations, error);
    case OPTION_PAUSE:
        return real_option(name, text, 0, 3600000, &o->pause_ms, error);
    case OPTION_CHECK:
    case OPTION_NO_CHECK:
        o->check = id == OPTION_CHECK;
        return true;
    case OPTION_PROFILE:
        o->profile = true;
        return true;
    case OPTION_BY_LINE:
        o->by_line = true;
        return true;
    case OPTION_CARD:
        return options_card(text, &o->card, error);
    case OPTION_PREDICT_SIZE:
        o->predict = true;
        o->no_predict = false;
        return int_option(name, text, 1, INT_MAX, &o->predict_size, error);
    case OPTION_PREDICT:
    case OPTION_NO_PREDICT:
        o->predict = id == OPTION_PREDICT;
        o->no_predict = !o->predict;
        return true;
    case OPTION_SANITIZE:
        o->sanitize = true;
        return true;
    case OPTION_WARM:
        o->warm = true;
        return true;
    case OPTION_PTX:
        o->ptx = text;
        return true;
    case OPTION_DESCRIBE:
        o->describe = true;
        return true;
    case OPTION_CSV:
        o->csv = text;
        return true;
    case OPTION_JSON:
        o->json = text;
        return true;
    }
    return true;
}

enum options_outcome tester_options_parse(struct tester_options *o, enum options_for program, int argc, char **argv,
                                          char error[DEV_ERROR_MAX])
{
    struct option known[OPTIONS + 1];
    int n = 0, id, index = 0;
    char copy[OPTIONS_SHOWN];
    for (int i = 0; i < OPTIONS; i++)
        if (table[i].programs & (int)program)
            known[n++] = (struct option){ table[i].name, table[i].value != NULL, NULL, (int)table[i].id };
    known[n] = (struct option){ 0 };

    *o = tester_defaults;
    enum options_outcome outcome = OPTIONS_RUN;
    opterr = 0;  // its messages are ours
    optind = 0;  // glibc: start afresh
    while ((id = getopt_long(argc, argv, ":", known, &index)) != -1) {
        if (id == '?' || id == ':') {
            options_refuse(id, argv[optind - 1], known, error);
            return OPTIONS_BAD;
        }
        if (id == OPTION_HELP || id == OPTION_LIST)
            outcome = outcome == OPTIONS_HELP || id == OPTION_HELP ? OPTIONS_HELP : OPTIONS_LIST;
        else if (!apply(o, id, known[index].name, optarg, error))
            return OPTIONS_BAD;
    }
    if (optind < argc) {
        snprintf(error, DEV_ERROR_MAX, "\"%s\": not an option; --help lists the options",
                 options_shown(argv[optind], copy));
        return OPTIONS_BAD;
    }
    return outcome;
}
