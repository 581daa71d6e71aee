// See progress.h.
#include "progress.h"

#include <inttypes.h>
#include <unistd.h>

#include "host.h"
#include "text.h"

#define QUIET 2.0  // seconds
#define EVERY 0.5
#define PATIENCE 10.0
#define LONG 60.0

// How long the rest takes if it goes on like this.
static double rest_of(uint64_t done, uint64_t total, double seconds)
{
    return done ? seconds * (double)(total - done) / (double)done : 0;
}

void progress_line(FILE *out, uint64_t done, uint64_t total, double seconds)
{
    char took[TEXT_DURATION], left[TEXT_DURATION];
    if (seconds < QUIET)
        return;
    if (done >= total)
        fprintf(out, "\r%70s\r", "");
    else
        fprintf(out, "\r%3.0f %% of %" PRIu64 " blocks after %s", 100.0 * (double)done / (double)total, total,
                text_duration(seconds, took));
    if (done && done < total)
        fprintf(out, ", %s left  ", text_duration(rest_of(done, total, seconds), left));
    fflush(out);
}

static void show(uint64_t done, uint64_t total)
{
    static double began, shown;  // of the launch that runs: there is one at a time
    const double t = host_seconds();
    if (done == 0)
        began = shown = t;
    if (done < total && t - shown < EVERY)
        return;
    shown = t;
    progress_line(stderr, done, total, t - began);
}

bool progress_note(FILE *out, uint64_t done, uint64_t total, double seconds)
{
    char took[TEXT_DURATION], left[TEXT_DURATION];
    const double rest = rest_of(done, total, seconds);
    if (seconds < PATIENCE || rest < LONG)
        return false;
    fprintf(out, "note: %.2g %% of %" PRIu64 " blocks after %s: at this rate the launch takes %s more\n",
            100.0 * (double)done / (double)total, total, text_duration(seconds, took), text_duration(rest, left));
    return true;
}

static void note(uint64_t done, uint64_t total)
{
    static double began;
    static bool said;
    if (done == 0) {
        began = host_seconds();
        said = false;
    }
    if (!said && (done & 255) == 0)  // the time is not asked for after each block
        said = progress_note(stderr, done, total, host_seconds() - began);
}

dev_progress *progress_shown(void)
{
    return isatty(STDERR_FILENO) ? show : note;
}
