// See progress.h.
#include "progress.h"

#include <inttypes.h>
#include <time.h>
#include <unistd.h>

#define QUIET 2.0  // seconds
#define EVERY 0.5

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void progress_line(FILE *out, uint64_t done, uint64_t total, double seconds)
{
    if (seconds < QUIET)
        return;
    if (done >= total)
        fprintf(out, "\r%70s\r", "");
    else
        fprintf(out, "\r%3.0f %% of %" PRIu64 " blocks after %.0f s", 100.0 * (double)done / (double)total, total,
                seconds);
    fflush(out);
}

static void show(uint64_t done, uint64_t total)
{
    static double began, shown;  // of the launch that runs: there is one at a time
    const double t = now();
    if (done == 0)
        began = shown = t;
    if (done < total && t - shown < EVERY)
        return;
    shown = t;
    progress_line(stderr, done, total, t - began);
}

dev_progress *progress_on_terminal(void)
{
    return isatty(STDERR_FILENO) ? show : NULL;
}
