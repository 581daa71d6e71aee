// How fast the simulated GPU climbs: multiply-adds a second for each step, on one host thread and on two, next to a
// plain C triple loop in the same run. Counters and the checks of bounds and alignment are on, as they always are; the
// last column is with all checks (simt check).
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "plain_gemm.h"
#include "../steps/steps.h"

enum { SIZE = 512, RUNS = 5 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int by_value(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static double median(double v[RUNS])
{
    qsort(v, RUNS, sizeof *v, by_value);
    return v[RUNS / 2];
}

static double plain_rate(void)
{
    double seconds[RUNS];
    struct matrix A = matrix_new(DEV_F32, SIZE, SIZE), B = matrix_new(DEV_F32, SIZE, SIZE),
                  C = matrix_new(DEV_F32, SIZE, SIZE);
    matrix_fill_random(&A, 1);
    matrix_fill_random(&B, 2);
    for (int i = 0; i < RUNS; i++) {
        double start = now();
        plain_gemm(SIZE, SIZE, SIZE, A.data, B.data, C.data);
        seconds[i] = now() - start;
    }
    matrix_free(&A);
    matrix_free(&B);
    matrix_free(&C);
    return (double)SIZE * SIZE * SIZE / median(seconds) * 1e-9;
}

static bool step_rate(const struct step *step, unsigned jobs, bool checks, double *rate)
{
    char error[DEV_ERROR_MAX];
    struct tester_options o = tester_defaults;
    struct tester_result r;
    o.m = o.n = o.k = SIZE;
    o.check = false;
    o.sanitize = checks;
    o.warmup = 0;
    o.iterations = RUNS;
    struct dev *d = dev_open(DEV_SIM, error);
    if (d) {
        dev_set_jobs(d, jobs);
        dev_set_checks(d, checks);
    }
    bool ok = d && tester_run(d, step, &o, &r, error);
    if (ok)
        *rate = (double)SIZE * SIZE * SIZE / r.ms * 1e-6;
    else
        fprintf(stderr, "%s: %s\n", step->name, error);
    dev_close(d);
    return ok;
}

int main(void)
{
    double plain = plain_rate();
    printf("%d x %d x %d, medians of %d runs, in G multiply-adds a second\n", SIZE, SIZE, SIZE, RUNS);
    printf("%-22s %10s %10s %12s %14s %12s\n", "", "1 thread", "2 threads", "2 against 1", "1 against C", "1, checked");
    printf("%-22s %10.3f\n", "plain C, -O2", plain);
    for (size_t i = 0; i < n_steps; i++) {
        double one, two, checked;
        if (!step_rate(steps[i], 1, false, &one) || !step_rate(steps[i], 2, false, &two) ||
            !step_rate(steps[i], 1, true, &checked))
            return 1;
        printf("%-22s %10.3f %10.3f %11.2fx %13.2fx %12.3f\n", steps[i]->name, one, two, two / one, one / plain,
               checked);
    }
    return 0;
}
