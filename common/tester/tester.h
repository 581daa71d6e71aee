// The tester that every step shares: fill, launch, check, time, report.
//
// A step is data (struct step); its driver's main() is one call of tester_main(). The ladder, the tests and the
// exercises use the same pieces through tester_run().
#ifndef COMMON_TESTER_H
#define COMMON_TESTER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/device.h"
#include "geometry.h"
#include "base/matrix.h"

struct card;

#define TYPE_OF(T) _Generic((T)0, float : DEV_F32, double : DEV_F64)

struct step {
    const char *name;    // "04_thread_tile_2d"
    enum dev_type type;  // of A, B and C
    const char *ptx;     // path of the kernel's PTX, which says the geometry too; the build defines KERNEL_PTX
    // The thread that computes an element of the block's tile, for messages; geometry.h has some. NULL: not known.
    int (*owner)(const struct geometry *g, int row, int col);
};

struct tester_options {
    int m, n, k;  // 0 stands for the device's default: 256 simulated, 4096 on a GPU
    double alpha, beta;
    uint64_t seed;
    enum dev_kind device;
    int jobs;                // host threads of the simulated GPU; 0: one a processor
    int warmup, iterations;  // runs before timing (-1: the device's default), timed runs (0: the device's default)
    double pause_ms;         // milliseconds to rest before each timed run
    bool check, profile, by_line;
    bool warm;  // leave the L2 cache as the run before left it, in place of emptying it before each timed run
    const struct card *card;  // whose occupancy a profile works out; NULL: an H200's
    const char *ptx;          // file to run in place of the step's own, or NULL
    bool describe;            // print what would be run, and end
    bool sanitize;            // with the simulated GPU's checks; see dev_findings
    const char *csv;          // file to append a table to, or NULL
    const char *json;         // file for the report ("-": stdout), or NULL
};

enum tester_verdict { TESTER_WRONG, TESTER_RIGHT, TESTER_UNCHECKED };

enum { TESTER_WHAT = 1024, TESTER_LOOK = 4 };

struct tester_result {
    enum tester_verdict verdict;
    char what[TESTER_WHAT];  // one line: the first wrong element, its owner and the likely cause, or how it was checked
    char source[1024];       // of a wrong kernel whose cause is known: its file, and
    unsigned look[TESTER_LOOK];  // lines of it to look at, the likeliest first; 0: no more
    double ms, ms_min, ms_max;   // median, fastest and slowest of the timed runs
    double gflops;               // 2 * m * n * k over the median; 0 on the simulated GPU, whose time means nothing
    double baseline_ms;          // median of cuBLAS on the same data; 0 where there is none
    double worst;                // largest error as a fraction of its bound; above 1 is wrong
};

extern const struct tester_options tester_defaults;

// The options with the device's defaults in place of 0 and -1. On the simulated GPU, which is slow, iterations stays 0
// unless it was given: the launch that is checked is the one that is timed. On a GPU: 2 runs to warm up, 15 timed.
struct tester_options tester_settle(const struct tester_options *options, const struct dev_about *about);

// Runs the step once for its check and then timed, as options say, and times the baseline where there is one (one that
// fails counts as none). Returns false, with one line in error, where the step could not be run at all; a wrong result
// is a verdict, not an error.
bool tester_run(struct dev *d, const struct step *step, const struct tester_options *options,
                struct tester_result *result, char error[DEV_ERROR_MAX]);

// The same in pieces: A, B and C0 for one element type, on the host and on the device, for many steps.
struct tester;
struct tester *tester_open(struct dev *d, enum dev_type type, const struct tester_options *options,
                           char error[DEV_ERROR_MAX]);
void tester_close(struct tester *t);  // before dev_close; NULL is allowed
// Leaves the step's module loaded until the next step or tester_close, so that dev_profile can be read. Does not set
// the result's baseline_ms.
bool tester_step(struct tester *t, const struct step *step, struct tester_result *result, char error[DEV_ERROR_MAX]);
// The median of the vendor's product in milliseconds; 0 where there is none.
bool tester_baseline(struct tester *t, double *ms, char error[DEV_ERROR_MAX]);

// The driver of the step given: parses the command line, runs, reports on stdout. Returns the process's exit status:
// 0 right, 1 wrong or with findings, 2 could not run.
int tester_main(const struct step *given, int argc, char **argv);

#endif
