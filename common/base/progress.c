// See progress.h.
#include "progress.h"

#include <inttypes.h>
#include <math.h>
#include <time.h>
#include <unistd.h>

#define QUIET 2.0  // seconds
#define EVERY 0.5
#define PATIENCE 10.0
#define LONG 60.0

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

bool progress_note(FILE *out, uint64_t done, uint64_t total, double seconds)
{
    const double rest = done ? seconds * (double)(total - done) / (double)done : 0;
    if (seconds < PATIENCE || rest < LONG)
        return false;
    fprintf(out, "note: %.2g %% of %" PRIu64 " blocks after %.0f s: at this rate the launch takes %.0f minutes more\n",
            100.0 * (double)done / (double)total, total, seconds, ceil(rest / 60));
    return true;
}

static void note(uint64_t done, uint64_t total)
{
    static double began;
    static bool said;
    if (done == 0) {
        began = now();
        said = false;
    }
    if (!said && (done & 255) == 0)  // the time is not asked for after each block
        said = progress_note(stderr, done, total, now() - began);
}

dev_progress *progress_shown(void)
{
    return isatty(STDERR_FILENO) ? show : note;
}
