// How fast the simulated GPU climbs: multiply-adds a second for each step, on one host thread and on two, next to a
// plain C triple loop in the same run. Counters and the checks of bounds and alignment are on, as they always are; the
// last column is with all checks (simt check).
//
//   bench_simt [--cpu] [STEP...]        all steps, or those whose names begin so: 15
//
// --cpu counts the processor's time, on one thread: for a machine that has other work, too.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/host.h"
#include "base/sort.h"
#include "plain_gemm.h"
#include "device/open.h"
#include "tools/steps.h"

enum { SIZE = 512, RUNS = 5 };

// Seconds that this program has computed for. What the system does for it is left out.
static double computed(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)u.ru_utime.tv_sec + (double)u.ru_utime.tv_usec * 1e-6;
}

static double plain_rate(bool cpu)
{
    double seconds[RUNS];
    struct matrix A = matrix_new(DEV_F32, SIZE, SIZE), B = matrix_new(DEV_F32, SIZE, SIZE),
                  C = matrix_new(DEV_F32, SIZE, SIZE);
    matrix_fill_random(&A, 1);
    matrix_fill_random(&B, 2);
    for (int i = 0; i < RUNS; i++) {
        const double start = cpu ? computed() : host_seconds();
        plain_gemm(SIZE, SIZE, SIZE, A.data, B.data, C.data);
        seconds[i] = (cpu ? computed() : host_seconds()) - start;
    }
    matrix_free(&A);
    matrix_free(&B);
    matrix_free(&C);
    return (double)SIZE * SIZE * SIZE / median(seconds, RUNS) * 1e-9;
}

// Loads the step, launches it once, and then `more` times. *ms: the median of the latter.
static bool launch(struct dev *d, const struct step *step, bool checks, int more, double *ms)
{
    char error[DEV_ERROR_MAX];
    struct tester_options o = tester_defaults;
    struct tester_result r;
    o.m = o.n = o.k = SIZE;
    o.check = false;
    o.sanitize = checks;
    o.warmup = 0;
    o.iterations = more;
    if (!tester_run(d, step, &o, &r, error)) {
        fprintf(stderr, "%s: %s\n", step->name, error);
        return false;
    }
    *ms = r.ms;
    return true;
}

// The processor's time of one launch: what one more takes.
static bool computed_launch(struct dev *d, const struct step *step, bool checks, double *ms)
{
    double seconds[RUNS], ignored;
    for (int i = 0; i < RUNS; i++) {
        const double start = computed();
        if (!launch(d, step, checks, 1, &ignored))
            return false;
        const double two = computed();
        if (!launch(d, step, checks, 0, &ignored))
            return false;
        seconds[i] = two - start - (computed() - two);
    }
    *ms = 1e3 * median(seconds, RUNS);
    return true;
}

static bool step_rate(const struct step *step, unsigned jobs, bool checks, bool cpu, double *rate)
{
    char error[DEV_ERROR_MAX];
    double ms;
    struct dev *d = dev_open(DEV_SIM, error);
    if (!d) {
        fprintf(stderr, "%s\n", error);
        return false;
    }
    dev_set_jobs(d, jobs);
    dev_set_checks(d, checks);
    const bool ok = cpu ? computed_launch(d, step, checks, &ms) : launch(d, step, checks, RUNS, &ms);
    if (ok)
        *rate = (double)SIZE * SIZE * SIZE / ms * 1e-6;
    dev_close(d);
    return ok;
}

static bool is_asked(const struct step *step, char **names, int n)
{
    bool asked = n == 0;
    for (int i = 0; i < n; i++)
        asked |= !strncmp(step->name, names[i], strlen(names[i]));
    return asked;
}

// The processor's time. One thread: what two take apart from their work depends on what else the machine does.
static int print_computed(char **names, int n)
{
    const double plain = plain_rate(true);
    printf("%d x %d x %d, in G multiply-adds a second of one processor's time, medians of %d\n", SIZE, SIZE, SIZE,
           RUNS);
    printf("%-22s %10s %14s %12s\n", "", "1 thread", "1 against C", "1, checked");
    printf("%-22s %10.3f\n", "plain C, -O2", plain);
    for (size_t i = 0; i < n_steps; i++) {
        double one, checked;
        if (!is_asked(steps[i], names, n))
            continue;
        if (!step_rate(steps[i], 1, false, true, &one) || !step_rate(steps[i], 1, true, true, &checked))
            return 1;
        printf("%-22s %10.3f %13.2fx %12.3f\n", steps[i]->name, one, one / plain, checked);
        fflush(stdout);
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "--cpu"))
        return print_computed(argv + 2, argc - 2);
    double plain = plain_rate(false);
    printf("%d x %d x %d, medians of %d runs, in G multiply-adds a second\n", SIZE, SIZE, SIZE, RUNS);
    printf("%-22s %10s %10s %12s %14s %12s\n", "", "1 thread", "2 threads", "2 against 1", "1 against C", "1, checked");
    printf("%-22s %10.3f\n", "plain C, -O2", plain);
    for (size_t i = 0; i < n_steps; i++) {
        double one, two, checked;
        if (!is_asked(steps[i], argv + 1, argc - 1))
            continue;
        if (!step_rate(steps[i], 1, false, false, &one) || !step_rate(steps[i], 2, false, false, &two) ||
            !step_rate(steps[i], 1, true, false, &checked))
            return 1;
        printf("%-22s %10.3f %10.3f %11.2fx %13.2fx %12.3f\n", steps[i]->name, one, two, two / one, one / plain,
               checked);
    }
    return 0;
}
