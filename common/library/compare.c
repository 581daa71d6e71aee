// The library beside cuBLAS on a GPU: are the results the same, and how long do both take?
//
//     compare --type f32 1024 4095 512x4096x1024     these shapes, M x N x K, alpha 1 and beta 0
//     compare --type f16 --random 1000 --times 0     random shapes of 64 to 8192, alpha and beta; results alone
//     compare --type f16 --ways ways.csv 1000        times of all ways that may be fast, beside what the rule takes
//     them for, and how much slower its choice is than the fastest; with --transpose-b 1 B lies as n x k; with --times
//     0 results alone, of all ways
//
// Results of halves are held against cuBLAS's product of the same numbers as floats: its product of halves may round
// the parts of a sum to halves. Times are medians, of halves against cuBLAS's product of halves; the L2 cache is
// emptied before each run. Exit status: 0, 1 if a result is wrong, 2 if it cannot be carried out, 77 if there is no GPU
// or no cuBLAS.
#include <gemm-steps/gemm.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "device/open.h"
#include "base/matrix.h"
#include "base/options.h"
#include "base/sort.h"
#include "gpu/gpu.h"
#include "handle.h"

enum {
    LEAST = 64,
    MOST = 8192,
    TIMES_MOST = 99,
    RANDOM_MOST = 1000000,
    SHAPE_MOST = 32768,
    PAUSE_MOST = 3600000,
    BAD = 2,
    SKIPPED = 77
};

struct shape {
    int m, n, k;
    float alpha, beta;
};

struct ask {
    enum dev_type type;
    int random, times, transpose_b;
    uint64_t seed;
    double pause_ms;
    const char *ways;
};

// An array of numbers as the library finds it and, the same numbers, as floats. Of floats both are one.
struct numbers {
    struct matrix host, floats;
    dev_ptr at, floats_at;
};

static struct {
    struct dev *dev;
    gemm_steps *lib;
    struct numbers A, B, C;
    struct matrix ours, theirs;
    dev_ptr flush;
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

static bool upload(const struct matrix *x, dev_ptr *to)
{
    return dev_alloc(data.dev, "data", matrix_bytes(x), to) && dev_upload(data.dev, *to, x->data, matrix_bytes(x));
}

// As many elements as the largest shape has, in a long row: a matrix of any shape lies at their beginning. They are
// multiples of 1/512 in [-1, 1], which a half can hold.
static bool make(struct numbers *x, enum dev_type type, size_t elements, uint64_t seed)
{
    x->host = matrix_new(type, 1, (int)elements);
    x->floats = type == DEV_F32 ? x->host : matrix_new(DEV_F32, 1, (int)elements);
    if (!x->host.data || !x->floats.data)
        return false;
    for (size_t i = 0; i < elements; i++) {
        const double value = rint((2 * uniform(seed, i) - 1) * 512) / 512;
        matrix_set(&x->host, 0, (int)i, value);
        if (type != DEV_F32)
            matrix_set(&x->floats, 0, (int)i, value);
    }
    return upload(&x->host, &x->at) && upload(&x->floats, &x->floats_at);
}

static void drop(struct numbers *x)
{
    if (x->floats.data != x->host.data)
        matrix_free(&x->floats);
    matrix_free(&x->host);
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
    data.theirs = matrix_new(DEV_F32, 1, (int)c);
    return data.ours.data && data.theirs.data && make(&data.A, ask->type, a, ask->seed + 1) &&
           make(&data.B, ask->type, b, ask->seed + 2) && make(&data.C, ask->type, c, ask->seed + 3) &&
           dev_alloc(data.dev, "what empties the L2 cache", 2 * dev_about(data.dev)->l2, &data.flush);
}

// --- Runs ---

static bool run_ours(const struct ask *ask, const struct shape *s)
{
    return (ask->type == DEV_F16 ? gemm_steps_f16 : gemm_steps_f32)(data.lib, s->m, s->n, s->k, s->alpha, data.A.at,
                                                                    data.B.at, s->beta, data.C.at) == GEMM_STEPS_OK;
}

static bool run_theirs(const struct ask *ask, const struct shape *s)
{
    return dev_baseline_gemm(data.dev, ask->type, s->m, s->n, s->k, s->alpha, data.A.at, data.B.at, s->beta, data.C.at);
}

static bool run_floats(const struct shape *s)
{
    return dev_baseline_gemm(data.dev, DEV_F32, s->m, s->n, s->k, s->alpha, data.A.floats_at, data.B.floats_at, s->beta,
                             data.C.floats_at);
}

typedef bool runner(const struct ask *ask, const struct shape *s);

static void rest(double ms)
{
    nanosleep(&(struct timespec){ .tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(fmod(ms, 1000) * 1e6) }, NULL);
}

static bool empty_l2(void)
{
    return dev_clear(data.dev, data.flush, 2 * dev_about(data.dev)->l2);
}

// One timed run. After a pause the processor and the GPU are slow at first: two more runs come before.
static bool time_once(const struct ask *ask, const struct shape *s, runner *run, double *ms)
{
    bool ok = true;
    if (ask->pause_ms > 0) {
        rest(ask->pause_ms);
        ok = run(ask, s) && run(ask, s);
    }
    return ok && empty_l2() && dev_timer_start(data.dev) && run(ask, s) && dev_timer_stop(data.dev, ms);
}

// Medians of ask->times runs of each, in turn: what the card does to one, it does to the other.
static bool time_both(const struct ask *ask, const struct shape *s, double *ours, double *theirs)
{
    double all[2][TIMES_MOST] = { 0 };
    bool ok = run_ours(ask, s) && run_theirs(ask, s);
    for (int i = 0; ok && i < ask->times; i++)
        ok = time_once(ask, s, run_ours, &all[0][i]) && time_once(ask, s, run_theirs, &all[1][i]);
    *ours = median(all[0], (size_t)ask->times);
    *theirs = median(all[1], (size_t)ask->times);
    return ok;
}

// Both are the same sums in another order, ours rounded to its type at the end: elements of A and B are at most 1.
static size_t count_wrong(const struct ask *ask, const struct shape *s, double *worst)
{
    enum { ROW = 4096 };
    static double x[ROW], y[ROW];
    const size_t elements = (size_t)s->m * (size_t)s->n;
    const double sum = 8 * 0x1p-24 * (fabs((double)s->alpha) * s->k + fabs((double)s->beta)),
                 unit = type_roundoff(ask->type);
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

static bool check(const struct ask *ask, const struct shape *s, runner *run, size_t *wrong, double *worst)
{
    const size_t n = (size_t)s->m * (size_t)s->n, bytes = n * type_size(ask->type), floats = n * sizeof(float);
    struct dev *d = data.dev;
    const bool ok = dev_upload(d, data.C.at, data.C.host.data, bytes) && run(ask, s) &&
                    dev_download(d, data.ours.data, data.C.at, bytes) &&
                    dev_upload(d, data.C.floats_at, data.C.floats.data, floats) && run_floats(s) &&
                    dev_download(d, data.theirs.data, data.C.floats_at, floats);
    *wrong = ok ? count_wrong(ask, s, worst) : 0;
    return ok;
}

// --- Rows ---

// A row of the table. *ratio: times faster than cuBLAS; 0 if nothing was timed.
static bool row(const struct ask *ask, const struct shape *s, size_t *wrong, double *ratio)
{
    double worst, ours = 0, theirs = 0;
    *ratio = 0;
    if (!check(ask, s, run_ours, wrong, &worst) || (ask->times && !time_both(ask, s, &ours, &theirs)))
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

// A line about ratios, which it sorts.
static void describe(const char *what, double *ratios, int n)
{
    double logs = 0;
    for (int i = 0; i < n; i++)
        logs += log(ratios[i]);
    qsort(ratios, (size_t)n, sizeof *ratios, by_value);
    printf("# %s: geometric mean %.3f; least %.3f, 5 %% %.3f, 25 %% %.3f, median %.3f, 75 %% %.3f, 95 %% %.3f, most "
           "%.3f\n",
           what, exp(logs / n), ratios[0], ratios[n / 20], ratios[n / 4], ratios[n / 2], ratios[n * 3 / 4],
           ratios[n - 1 - n / 20], ratios[n - 1]);
}

static void summary(const struct ask *ask, double *ratios, int n, int wrong)
{
    printf("# %s: %d of %d shapes right; workspace %zu bytes\n", type_name(ask->type), n - wrong, n,
           gemm_steps_workspace(data.lib));
    if (ask->times && n)
        describe("times faster than cuBLAS", ratios, n);
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

// --- Every way ---

struct ways {
    const struct ask *ask;
    gemm_steps_problem p;
    double least;         // cycles of the way that the rule takes
    int number;           // of the next way, from 0
    double chosen, best;  // milliseconds: of that way, and of the fastest
    int wrong;            // ways
    FILE *out;
};

static void keep_least(void *to, const struct way *w, double cycles)
{
    double *least = to;
    (void)w;
    *least = cycles < *least ? cycles : *least;
}

static bool run_plan(const struct ask *ask, const struct shape *s)
{
    (void)ask;
    return plan_queue(data.lib, &data.lib->plans[0], s->alpha, s->beta);
}

// A row: the product, the way and its number, the cycles of the rule, the median of the times in milliseconds.
static void time_way(void *to, const struct way *w, double cycles)
{
    enum { FAR = 2 };  // times the least: too slow to be of interest
    struct ways *all = to;
    const struct shape s = { all->p.m, all->p.n, all->p.k, .alpha = 1 };
    double times[TIMES_MOST];
    struct plan *plan = &data.lib->plans[0];
    const int number = all->number++;
    if (all->ask->times && cycles > FAR * all->least)
        return;
    bool ok = plan_room(data.lib, &all->p, w) && plan_open(data.lib, plan, &all->p, w) && run_plan(all->ask, &s);
    for (int i = 0; ok && i < all->ask->times; i++)
        ok = time_once(all->ask, &s, run_plan, &times[i]);
    if (!ok) {
        fprintf(stderr, "compare: %s: %s\n", gemm_steps_error(data.lib), dev_error(data.dev));
        return;
    }
    if (!all->ask->times) {
        size_t wrong;
        double worst;
        if (!check(all->ask, &s, run_plan, &wrong, &worst) || wrong)
            printf("%d x %d x %d by %s: WRONG, %zu elements\n", s.m, s.n, s.k, plan->name, wrong), all->wrong++;
        return;
    }
    const double ms = median(times, (size_t)all->ask->times);
    all->chosen = cycles <= all->least ? ms : all->chosen;
    all->best = ms < all->best ? ms : all->best;
    fprintf(all->out, "%s,%d,%d,%d,%d,%d,\"%s\",%.0f,%.5f\n", type_name(all->ask->type), s.m, s.n, s.k,
            all->ask->transpose_b, number, plan->name, cycles, ms);
}

static int try_ways(const struct ask *ask, const struct shape *shapes, int n)
{
    struct ways all = { .ask = ask, .out = fopen(ask->ways, "w") };
    double *ratios = calloc((size_t)n + 1, sizeof *ratios);
    char error[DEV_ERROR_MAX];
    if (!all.out || !ratios) {
        free(ratios);
        return fail("the file of --ways cannot be written");
    }
    fprintf(all.out, "type,m,n,k,transpose_b,number,way,cycles,ms\n");
    for (const struct shape *s = shapes; s < shapes + n; s++) {
        double theirs[TIMES_MOST];
        bool ok = !ask->transpose_b && ask->times && run_theirs(ask, s);
        for (int i = 0; ok && i < ask->times; i++)
            ok = time_once(ask, s, run_theirs, &theirs[i]);
        if (ok)
            fprintf(all.out, "%s,%d,%d,%d,0,-1,cuBLAS,0,%.5f\n", type_name(ask->type), s->m, s->n, s->k,
                    median(theirs, (size_t)ask->times));
        all.p = problem_of(ask->type == DEV_F16 ? GEMM_STEPS_F16 : GEMM_STEPS_F32, s->m, s->n, s->k, 1, data.A.at,
                           data.B.at, 0, data.C.at);
        all.p.transpose_b = ask->transpose_b;
        all.least = all.best = INFINITY, all.number = 0;
        if (!problem_settle(&all.p, false, error)) {
            free(ratios);
            return fail(error);
        }
        pick_each(data.lib->card, &all.p, SIZE_MAX, keep_least, &all.least);
        pick_each(data.lib->card, &all.p, SIZE_MAX, time_way, &all);
        fflush(all.out);
        ratios[s - shapes] = all.chosen / all.best;
    }
    if (ask->times)
        describe("time of the way that the rule chooses / time of the fastest way", ratios, n);
    free(ratios);
    return fclose(all.out) ? BAD : all.wrong > 0;
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

static const struct option_word types[] = { { "f16", DEV_F16 }, { "f32", DEV_F32 }, { 0 } };

#define AT(field) OPTION_AT(struct ask, field)
static const struct option_row rows[] = {
    { "type", "f16|f32", "of A, B and C (default f16)", AT(type), .words = types },
    { "times", "N", "timed runs of both (default 15); 0: results alone", AT(times), 0, TIMES_MOST },
    { "pause-ms", "X", "rest before each timed run, in milliseconds (default 0)", AT(pause_ms), 0, PAUSE_MOST },
    { "seed", "N", "of the random data and shapes (default 1)", AT(seed), 0, UINT64_MAX },
    { "ways", "FILE", "write the times of every way that may be fast to FILE", AT(ways) },
    { "transpose-b", "0|1", "with --ways: B lies as N x K", AT(transpose_b), 0, 1 },
    { "random", "COUNT", "so many random shapes of 64 to 8192, with alpha and beta", AT(random), 0, RANDOM_MOST },
    { 0 },
};
static const struct options table = {
    .program = "compare",
    .usage = "[OPTION]... [SHAPE]...\n"
             "Are the library's products those of cuBLAS, and how long do both take? SHAPE is MxNxK, or one number.",
    .notes = "Exit status: 0 right, 1 wrong, 2 could not run, 77 there is no GPU or no cuBLAS.",
    .rows = rows,
    .most = INT_MAX,
};

int main(int argc, char **argv)
{
    struct ask ask = { .type = DEV_F16, .times = 15, .seed = 1 };
    char error[DEV_ERROR_MAX];
    int status;
    if (!options_begin(&table, &ask, &argc, &argv, &status))
        return status;
    const int n = argc + ask.random;
    if (!n)
        return fail("a shape is needed, as in: compare 4096, or --random COUNT; --help lists the options");
    struct shape *shapes = calloc((size_t)n, sizeof *shapes);
    for (int i = 0, s[3]; shapes && i < argc; i++) {
        if (!options_shape(argv[i], SHAPE_MOST, s, error)) {
            free(shapes);
            return fail(error);
        }
        shapes[i] = (struct shape){ s[0], s[1], s[2], .alpha = 1 };
    }
    for (int i = 0; shapes && i < ask.random; i++)
        shapes[argc + i] = random_shape(ask.seed, (uint64_t)i);
    data.dev = dev_open(DEV_GPU, error);
    if (!data.dev || !dev_baseline_name(data.dev)) {
        printf("compare: %s\n", data.dev ? "no cuBLAS" : error);
        free(shapes);
        if (data.dev)
            dev_close(data.dev);
        return SKIPPED;
    }
    if (gemm_steps_create(GEMM_STEPS_CURRENT, &data.lib) != GEMM_STEPS_OK)
        status = fail(gemm_steps_error(NULL));
    else if (gemm_steps_set_stream(data.lib, gpu_stream(data.dev)) != GEMM_STEPS_OK)
        status = fail(gemm_steps_error(data.lib));
    else if (!shapes || !prepare(&ask, shapes, n))
        status = fail(*dev_error(data.dev) ? dev_error(data.dev) : "out of memory");
    else
        status = ask.ways ? try_ways(&ask, shapes, n) : compare(&ask, shapes, n);
    gemm_steps_destroy(data.lib);
    dev_close(data.dev);
    struct numbers *all[] = { &data.A, &data.B, &data.C };
    for (int i = 0; i < 3; i++)
        drop(all[i]);
    matrix_free(&data.ours);
    matrix_free(&data.theirs);
    free(shapes);
    return status;
}
