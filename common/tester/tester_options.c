// The command line that the drivers, the ladder and tune share.
#include "tester_options.h"

#include <limits.h>

#include "base/card.h"

const struct tester_options tester_defaults = {
    .alpha = 1,
    .seed = 1,
    .device = DEV_AUTO,
    .warmup = -1,
    .check = true,
};

#define AT(field) OPTION_AT(struct tester_options, field)
enum { DRIVER = OPTIONS_FOR_DRIVER, LADDER = OPTIONS_FOR_LADDER, CLIMB = DRIVER | LADDER };

static const struct option_row rows[] = {
    { "m", "M", "rows of A and C (default 256 simulated, 4096 on a GPU)", AT(m), 1, INT_MAX },
    { "n", "N", "columns of B and C", AT(n), 1, INT_MAX },
    { "k", "K", "columns of A, rows of B", AT(k), 1, INT_MAX },
    { "size", "S", "M, N and K at once, or MxNxK", AT(m), 1, INT_MAX, .shape = true },
    { "alpha", "X", "factor of A * B (default 1)", AT(alpha) },
    { "beta", "X", "factor of the old C (default 0: C is not read)", AT(beta) },
    { "seed", "N", "of the random data (default 1)", AT(seed), 0, UINT64_MAX },
    { "device", "D", "auto, gpu or sim (default auto: the GPU if one answers)", AT(device), .words = option_devices },
    { "jobs", "N", "threads that simulate (default: one a processor); results do not depend on it", AT(jobs), 1, 256 },
    { "warmup", "N", "runs before the timed ones (default 0 simulated, 2 on a GPU)", AT(warmup), 0, 1000000 },
    { "iterations", "N", "timed runs (default: simulated, the checked run; 15 on a GPU)", AT(iterations), 1, 1000000 },
    { "pause-ms", "X", "rest before each timed run, in milliseconds (default 0)", AT(pause_ms), 0, 3600000 },
    { "warm-l2", NULL, "do not empty the GPU's L2 cache before each timed run", AT(warm) },
    { "check", NULL, "check the result (default)", AT(check), .only = CLIMB },
    { "no-check", NULL, "do not check the result", AT(check), .only = CLIMB },
    { "once", NULL, "do not run a right result again at small shapes that show more", AT(once),
      .only = DRIVER | OPTIONS_FOR_TUNE },
    { "profile", NULL, "print the launch's counters (simulated GPU)", AT(profile), .only = DRIVER },
    { "by-line", NULL, "print the hot source lines (simulated GPU)", AT(by_line), .only = DRIVER },
    { "card", "NAME", "whose occupancy to work out, whose time to predict (default H200)", AT(card) },
    { "predict", NULL, "predict the time on the card (needs ptxas, which comes with nvcc)", AT(predict),
      .only = CLIMB },
    { "predict-size", "S", "predict it for M, N and K of this size, whatever is run", AT(predict_size), 1, INT_MAX,
      .only = CLIMB },
    { "no-predict", NULL, "print the simulation's own time (simulated GPU)", AT(predict), .only = LADDER },
    { "sanitize", NULL, "look for races, uninitialised memory and registers, ... (simulated GPU)", AT(sanitize),
      .only = DRIVER },
    { "watch", NULL, "run it step by step, forwards and backwards (simulated GPU); help lists the commands", AT(watch),
      .only = DRIVER },
    { "finding", "N", "the same, from where finding N of --sanitize was made, from 1 on", AT(finding), 1, INT_MAX,
      .only = DRIVER },
    { "ptx", "FILE", "run the kernel gemm of this PTX file in place of the driver's own", AT(ptx), .only = DRIVER },
    { "course", "FILE",
      "the course's text of the kernel, with which a wrong one is compared (default: by git, the newest that is not "
      "yours)",
      AT(course), .only = DRIVER },
    { "describe", NULL, "print what the driver runs as JSON, and end", AT(describe), .only = DRIVER },
    { "csv", "FILE", "append the measurements to a table (on a GPU)", AT(csv), .only = LADDER },
    { "json", "FILE", "write a report as JSON (- is stdout)", AT(json), .only = CLIMB },
    { "list", NULL, "print the names of the steps", AT(list), .only = LADDER },
    { 0 },
};

#define PRODUCT "C = alpha * A * B + beta * C, A is M x K, B is K x N, C is M x N."

struct options tester_options_for(enum options_for use, const char *program)
{
    static const char *const uses[] = { "the driver of a step", "the ladder", "tune" };
    const bool ladder = use == OPTIONS_FOR_LADDER;
    return (struct options){
        .program = program,
        .usage = ladder ? "[OPTION]...\nCompares the steps of the course on " PRODUCT
                        : "[OPTION]...\nRuns, checks and times " PRODUCT,
        .notes = ladder ? "Exit status: 0 right, 1 wrong, 2 could not run."
                        : "Exit status: 0 right, 1 wrong or with findings, 2 could not run.",
        .rows = rows,
        .use = use,
        .uses = uses,
    };
}
