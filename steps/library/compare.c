// The library beside cuBLAS on a GPU: are the results the same, and how long do both take?
//
//     compare --type f32 1024 4095 512x4096x1024     these shapes, M x N x K, alpha 1 and beta 0
//     compare --type f16 --random 1000 --times 0     random shapes of 64 to 8192, alpha and beta; results alone
//
// Times are medians; the L2 cache is emptied before each run. Exit status: 0, 1 if a result is wrong, 2 if it cannot be
// carried out, 77 if there is no GPU or no cuBLAS.
#include <gemm-steps/gemm.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/device.h"
#include "base/matrix.h"
#include "gpu/gpu.h"

enum { LEAST = 64, MOST = 8192, TIMES_MOST = 99, BAD = 2, SKIPPED = 77 };

struct shape {
    int m, n, k;
    float alpha, beta;
};

struct ask {
    enum dev_type type;
    int random, times;
    uint64_t seed;
    double pause_ms;
};

// Host copies of A, B and C as the products find them, and of both results; device memory for the first four.
static struct {
    struct dev *dev;
    gemm_steps *lib;
    struct matrix A, B, C, ours, theirs;
    dev_ptr dA, dB, dC, dR, flush;
} data;

static int fail(const char *what)
{
    fprintf(stderr, "compare: %s\n", what);
    return BAD;
}

static double uniform(uint64_t seed, uint64_t i)  // 0 to 1
{
    return (double)(matrix_hash(seed, i) >> 11) * 0x1p-53;
}

// --- Data ---

// As many elements as the largest shape has, in a long row: a matrix of any shape lies at their beginning. They are
// multiples of 1/512 in [-1, 1], which a half can hold.
static bool make(struct matrix *x, enum dev_type type, size_t elements, uint64_t seed, dev_ptr *to)
{
    *x = matrix_new(type, 1, (int)elements);
    if (!x->data)
        return false;
    for (size_t i = 0; i < elements; i++)
        matrix_set(x, 0, (int)i, rint((2 * uniform(seed, i) - 1) * 512) / 512);
    return dev_alloc(data.dev, "data", matrix_bytes(x), to) && dev_upload(data.dev, *to, x->data, matrix_bytes(x));
}

static bool prepare(const struct ask *ask, const struct shape *shapes, int n)
{
    size_t a = 0, b = 0, c = 0;
    for (const struct shape *s = shapes; s < shapes + n; s++) {
        const size_t m = (size_t)s->m, columns = (size_t)s->n, k = (size_t)s->k;
        a = m * k > a ? m * k : a;
        b = k * columns > b ? k * columns : b;
        c = m * columns > c ? m * columns : c;
    }
    data.ours = matrix_new(ask->type, 1, (int)c);
    data.theirs = matrix_new(ask->type, 1, (int)c);
    const size_t l2 = dev_about(data.dev)->l2;
    return data.ours.data && data.theirs.data && make(&data.A, ask->type, a, ask->seed + 1, &data.dA) &&
           make(&data.B, ask->type, b, ask->seed + 2, &data.dB) &&
           make(&data.C, ask->type, c, ask->seed + 3, &data.dC) &&
           dev_alloc(data.dev, "result of cuBLAS", matrix_bytes(&data.C), &data.dR) &&
           dev_alloc(data.dev, "what empties the L2 cache", 2 * l2, &data.flush);
}

// --- Runs ---

static bool run_ours(const struct ask *ask, const struct shape *s)
{
    return (ask->type == DEV_F16 ? gemm_steps_f16 : gemm_steps_f32)(data.lib, s->m, s->n, s->k, s->alpha, data.dA,
                                                                    data.dB, s->beta, data.dC) == GEMM_STEPS_OK;
}

static bool run_theirs(const struct ask *ask, const struct shape *s)
{
    return dev_baseline_gemm(data.dev, ask->type, s->m, s->n, s->k, s->alpha, data.dA, data.dB, s->beta, data.dR);
}

typedef bool runner(const struct ask *ask, const struct shape *s);

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void rest(double ms)
{
    nanosleep(&(struct timespec){ .tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(fmod(ms, 1000) * 1e6) }, NULL);
}

// Median of ask->times runs, after one that is not timed.
static bool time_it(const struct ask *ask, const struct shape *s, runner *run, double *ms)
{
    double all[TIMES_MOST] = { 0 };
    bool ok = run(ask, s);
    for (int i = 0; ok && i < ask->times; i++) {
        if (ask->pause_ms > 0)
            rest(ask->pause_ms);
        ok = dev_clear(data.dev, data.flush, 2 * dev_about(data.dev)->l2) && dev_timer_start(data.dev) && run(ask, s) &&
             dev_timer_stop(data.dev, &all[i]);
    }
    qsort(all, (size_t)ask->times, sizeof *all, by_value);
    *ms = all[ask->times / 2];
    return ok;
}

// Both are the same sums in another order, each rounded to its type at the end: elements of A and B are at most 1.
static size_t count_wrong(const struct ask *ask, const struct shape *s, double *worst)
{
    enum { ROW = 4096 };
    static double x[ROW], y[ROW];
    const size_t elements = (size_t)s->m * (size_t)s->n;
    const double sum = 8 * 0x1p-24 * (fabs(s->alpha) * s->k + fabs(s->beta)), unit = 2 * type_roundoff(ask->type);
    size_t wrong = 0;
    *worst = 0;
    for (size_t i = 0; i < elements; i += ROW) {
        const int n = (int)(elements - i < ROW ? elements - i : ROW);
        matrix_get_row(&data.ours, 0, (int)i, n, x);
        matrix_get_row(&data.theirs, 0, (int)i, n, y);
        for (int e = 0; e < n; e++) {
            const double error = fabs(x[e] - y[e]) / (sum + unit * fabs(y[e]) + 0x1p-24);
            wrong += !(error <= 1);
            *worst = !(error <= *worst) ? error : *worst;
        }
    }
    return wrong;
}

static bool check(const struct ask *ask, const struct shape *s, size_t *wrong, double *worst)
{
    const size_t bytes = (size_t)s->m * (size_t)s->n * type_size(ask->type);
    struct dev *d = data.dev;
    if (!dev_upload(d, data.dC, data.C.data, bytes) || !dev_upload(d, data.dR, data.C.data, bytes) ||
        !run_ours(ask, s) || !run_theirs(ask, s) || !dev_sync(d) || !dev_download(d, data.ours.data, data.dC, bytes) ||
        !dev_download(d, data.theirs.data, data.dR, bytes))
        return false;
    *wrong = count_wrong(ask, s, worst);
    return true;
}

// --- Rows ---

// A row of the table. *ratio: times faster than cuBLAS; 0 if nothing was timed.
static bool row(const struct ask *ask, const struct shape *s, size_t *wrong, double *ratio)
{
    double worst, ours = 0, theirs = 0;
    *ratio = 0;
    if (!check(ask, s, wrong, &worst) ||
        (ask->times && (!time_it(ask, s, run_ours, &ours) || !time_it(ask, s, run_theirs, &theirs))))
        return false;
    printf("%s\t%d\t%d\t%d\t%g\t%g\t%s\t%s %.2g", type_name(ask->type), s->m, s->n, s->k, s->alpha, s->beta,
           gemm_steps_kernel(data.lib), *wrong ? "WRONG" : "right", worst);
    if (ask->times) {
        const double giga = 2e-9 * s->m * s->n * s->k;
        *ratio = theirs / ours;
        printf("\t%.5f\t%.5f\t%.2f\t%.2f\t%.3f", ours, theirs, giga / ours, giga / theirs, *ratio);
    }
    putchar('\n');
    return true;
}

static void summary(const struct ask *ask, double *ratios, int n, int wrong)
{
    printf("# %s: %d of %d shapes right; workspace %zu bytes\n", type_name(ask->type), n - wrong, n,
           gemm_steps_workspace(data.lib));
    if (!ask->times || !n)
        return;
    double logs = 0;
    for (int i = 0; i < n; i++)
        logs += log(ratios[i]);
    qsort(ratios, (size_t)n, sizeof *ratios, by_value);
    printf("# times faster than %s: geometric mean %.3f; least %.3f, 5 %% %.3f, 25 %% %.3f, median %.3f, 75 %% %.3f, "
           "95 %% %.3f, most %.3f\n",
           dev_baseline_name(data.dev), exp(logs / n), ratios[0], ratios[n / 20], ratios[n / 4], ratios[n / 2],
           ratios[n * 3 / 4], ratios[n - 1 - n / 20], ratios[n - 1]);
}

static int compare(const struct ask *ask, const struct shape *shapes, int n)
{
    double *ratios = calloc((size_t)n + 1, sizeof *ratios);
    int bad = 0;
    printf("# %s, %s\n# type\tm\tn\tk\talpha\tbeta\tkernel\tresult, worst error of its bound\tms\tcuBLAS ms\tTFLOP/s\t"
           "cuBLAS TFLOP/s\ttimes faster\n",
           dev_about(data.dev)->name, dev_baseline_name(data.dev));
    for (int i = 0; ratios && i < n; i++) {
        size_t wrong;
        if (!row(ask, &shapes[i], &wrong, &ratios[i])) {
            fprintf(stderr, "compare: %dx%dx%d: %s; %s\n", shapes[i].m, shapes[i].n, shapes[i].k,
                    gemm_steps_error(data.lib), dev_error(data.dev));
            free(ratios);
            return BAD;
        }
        bad += wrong > 0;
        fflush(stdout);
    }
    if (ratios)
        summary(ask, ratios, n, bad);
    free(ratios);
    return bad > 0;
}

// --- The command ---

// As many small as large sizes: each doubling is as likely as the others. Half of them are multiples of 8.
static int random_size(uint64_t seed, uint64_t i)
{
    const int size = (int)(LEAST * pow((double)MOST / LEAST, uniform(seed, i)));
    return matrix_hash(seed, i + 1) & 1 ? size & ~7 : size;
}

static struct shape random_shape(uint64_t seed, uint64_t i)
{
    static const float factors[] = { 1, 1, -0.5f, 2.25f }, kept[] = { 0, 0, 1, -0.75f };
    const uint64_t at = 16 * i, bits = matrix_hash(seed, at + 15);
    return (struct shape){ random_size(seed, at), random_size(seed, at + 2), random_size(seed, at + 4),
                           factors[bits % 4], kept[bits / 4 % 4] };
}

static bool parse_shape(const char *text, struct shape *s)
{
    int end = 0;
    *s = (struct shape){ .alpha = 1 };
    if (sscanf(text, "%dx%dx%d%n", &s->m, &s->n, &s->k, &end) != 3 || text[end]) {
        if (sscanf(text, "%d%n", &s->m, &end) != 1 || text[end])
            return false;
        s->n = s->k = s->m;
    }
    return s->m > 0 && s->n > 0 && s->k > 0 && s->m <= 32768 && s->n <= 32768 && s->k <= 32768;
}

static bool parse(int argc, char **argv, struct ask *ask)
{
    static const struct option options[] = {
        { "type", required_argument, NULL, 't' },     { "random", required_argument, NULL, 'r' },
        { "times", required_argument, NULL, 'n' },    { "seed", required_argument, NULL, 's' },
        { "pause-ms", required_argument, NULL, 'p' }, { 0 }
    };
    *ask = (struct ask){ .type = DEV_F16, .times = 15, .seed = 1 };
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (c == 't' && (!strcmp(optarg, "f16") || !strcmp(optarg, "f32")))
            ask->type = !strcmp(optarg, "f16") ? DEV_F16 : DEV_F32;
        else if (c == 'r')
            ask->random = atoi(optarg);
        else if (c == 'n')
            ask->times = atoi(optarg);
        else if (c == 's')
            ask->seed = strtoull(optarg, NULL, 10);
        else if (c == 'p')
            ask->pause_ms = atof(optarg);
        else
            return false;
    }
    return ask->random >= 0 && ask->random <= 1000000 && ask->times >= 0 && ask->times <= TIMES_MOST &&
           ask->pause_ms >= 0;
}

int main(int argc, char **argv)
{
    struct ask ask;
    char error[DEV_ERROR_MAX];
    if (!parse(argc, argv, &ask) || (optind == argc && !ask.random))
        return fail(
            "usage: compare [--type f16|f32] [--times N] [--pause-ms X] [--seed N] [--random COUNT] [SHAPE...]");
    const int n = argc - optind + ask.random;
    struct shape *shapes = calloc((size_t)n, sizeof *shapes);
    for (int i = 0; shapes && i < argc - optind; i++)
        if (!parse_shape(argv[optind + i], &shapes[i]))
            return fail("a shape is 4096 or 512x4096x1024, each at most 32768");
    for (int i = 0; shapes && i < ask.random; i++)
        shapes[argc - optind + i] = random_shape(ask.seed, (uint64_t)i);
    data.dev = dev_open(DEV_GPU, error);
    if (!data.dev || !dev_baseline_name(data.dev)) {
        printf("compare: %s\n", data.dev ? "no cuBLAS" : error);
        return SKIPPED;
    }
    int status;
    if (gemm_steps_create(GEMM_STEPS_CURRENT, &data.lib) != GEMM_STEPS_OK)
        status = fail(gemm_steps_error(NULL));
    else if (gemm_steps_set_stream(data.lib, gpu_stream(data.dev)) != GEMM_STEPS_OK)
        status = fail(gemm_steps_error(data.lib));
    else if (!shapes || !prepare(&ask, shapes, n))
        status = fail(*dev_error(data.dev) ? dev_error(data.dev) : "out of memory");
    else
        status = compare(&ask, shapes, n);
    gemm_steps_destroy(data.lib);
    dev_close(data.dev);
    struct matrix *all[] = { &data.A, &data.B, &data.C, &data.ours, &data.theirs };
    for (int i = 0; i < 5; i++)
        matrix_free(all[i]);
    free(shapes);
    return status;
}
