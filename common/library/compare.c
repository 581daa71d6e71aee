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
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "device/open.h"
#include "base/matrix.h"
#include "base/options.h"
#include "base/sort.h"
#include "gpu/gpu.h"
#include "handle.h"

enum { ROOM = 1 << 20, PLACE = 256 };  // elements: to lie in at will, and between the places where an array may begin
enum { LEAST = 64, MOST = 8192, TIMES_MOST = 99, RANDOM_MOST = 1000000, SHAPE_MOST = 32768, BAD = 2, SKIPPED = 77 };

struct shape {
    int m, n, k;
    float alpha, beta;
};

static struct ask {
    enum dev_type type;
    int random, times, transpose_b;
    uint64_t seed;
    const char *ways;
} ask = { .type = DEV_F16, .times = 15, .seed = 1 };

// An array of numbers as the library finds it and, the same numbers, as floats. Of floats both are one.
struct numbers {
    struct matrix host, floats;
    dev_ptr from, floats_from;  // what was allocated
    dev_ptr at, floats_at;
};

static struct dev *dev;
static gemm_steps *lib;
static struct numbers A, B, C;
static struct matrix ours, theirs;  // results
static dev_ptr flush;               // what empties the L2 cache

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
    return dev_alloc(dev, "data", matrix_bytes(x), to) && dev_upload(dev, *to, x->data, matrix_bytes(x));
}

// As many elements as the largest shape has, and ROOM, in a long row: a matrix of any shape lies at some place in it.
// They are multiples of 1/512 in [-1, 1], which a half can hold.
static bool make(struct numbers *x, size_t elements, uint64_t seed)
{
    elements += ROOM;
    x->host = matrix_new(ask.type, 1, (int)elements);
    x->floats = ask.type == DEV_F32 ? x->host : matrix_new(DEV_F32, 1, (int)elements);
    if (!x->host.data || !x->floats.data)
        return false;
    for (size_t i = 0; i < elements; i++) {
        const double value = rint((2 * uniform(seed, i) - 1) * 512) / 512;
        matrix_set(&x->host, 0, (int)i, value);
        matrix_set(&x->floats, 0, (int)i, value);
    }
    return upload(&x->host, &x->from) && upload(&x->floats, &x->floats_from);
}

// A, B and C lie elsewhere from now on. How long a way takes depends on it, probably because what all blocks read at
// once comes from few slices of L2, and the address says which: 7192 x 72 x 168 takes 7.6 to 9.6 us in the same way.
static void move(void)
{
    static uint64_t moves;
    struct numbers *const all[] = { &A, &B, &C };
    for (int i = 0; i < 3; i++) {
        const uint64_t elements = matrix_hash(ask.seed, moves++) % (ROOM / PLACE) * PLACE;
        all[i]->at = all[i]->from + elements * type_size(ask.type);
        all[i]->floats_at = all[i]->floats_from + elements * sizeof(float);
    }
}

static void drop(struct numbers *x)
{
    if (x->floats.data != x->host.data)
        matrix_free(&x->floats);
    matrix_free(&x->host);
}

static bool prepare(const struct shape *shapes, int n)
{
    size_t a = 0, b = 0, c = 0;
    for (const struct shape *s = shapes; s < shapes + n; s++) {
        const size_t m = (size_t)s->m, columns = (size_t)s->n, k = (size_t)s->k;
        a = m * k > a ? m * k : a;
        b = k * columns > b ? k * columns : b;
        c = m * columns > c ? m * columns : c;
    }
    ours = matrix_new(ask.type, 1, (int)c);
    theirs = matrix_new(DEV_F32, 1, (int)c);
    return ours.data && theirs.data && make(&A, a, ask.seed + 1) && make(&B, b, ask.seed + 2) &&
           make(&C, c, ask.seed + 3) && dev_alloc(dev, "what empties the L2 cache", 2 * dev_about(dev)->l2, &flush);
}

// --- Runs ---

typedef bool runner(const struct shape *s);

static bool run_ours(const struct shape *s)
{
    return (ask.type == DEV_F16 ? gemm_steps_f16 : gemm_steps_f32)(lib, s->m, s->n, s->k, s->alpha, A.at, B.at, s->beta,
                                                                   C.at) == GEMM_STEPS_OK;
}

static bool run_plan(const struct shape *s)
{
    return plan_queue(lib, &lib->plans[0], s->alpha, s->beta);
}

static bool run_theirs(const struct shape *s)
{
    return dev_baseline_gemm(dev, ask.type, s->m, s->n, s->k, s->alpha, A.at, B.at, s->beta, C.at);
}

// Medians of ask.times runs of each of n, in turn: what the card does to one, it does to the other.
static bool time_in_turn(const struct shape *s, runner *const run[], int n, double ms[])
{
    double all[2][TIMES_MOST] = { 0 };
    for (int i = 0; i < n; i++)
        if (!run[i](s))
            return false;
    for (int i = 0; i < n * ask.times; i++)
        if (!dev_clear(dev, flush, 2 * dev_about(dev)->l2) || !dev_timer_start(dev) || !run[i % n](s) ||
            !dev_timer_stop(dev, &all[i % n][i / n]))
            return false;
    for (int i = 0; i < n && ask.times; i++)
        ms[i] = median(all[i], (size_t)ask.times);
    return true;
}

// Both are the same sums in another order, ours rounded to its type at the end: elements of A and B are at most 1.
static size_t count_wrong(const struct shape *s, double *worst)
{
    enum { ROW = 4096 };
    static double x[ROW], y[ROW];
    const size_t elements = (size_t)s->m * (size_t)s->n;
    const double sum = 8 * 0x1p-24 * (fabs((double)s->alpha) * s->k + fabs((double)s->beta)),
                 unit = type_roundoff(ask.type);
    size_t wrong = 0;
    *worst = 0;
    for (size_t i = 0; i < elements; i += ROW) {
        const int n = (int)(elements - i < ROW ? elements - i : ROW);
        matrix_get_row(&ours, 0, (int)i, n, x);
        matrix_get_row(&theirs, 0, (int)i, n, y);
        for (int e = 0; e < n; e++) {
            const double error = fabs(x[e] - y[e]) / (sum + unit * fabs(y[e]) + 0x1p-24);
            wrong += !(error <= 1);
            *worst = !(error <= *worst) ? error : *worst;
        }
    }
    return wrong;
}

static bool check(const struct shape *s, runner *run, size_t *wrong, double *worst)
{
    const size_t n = (size_t)s->m * (size_t)s->n, bytes = n * type_size(ask.type), floats = n * sizeof(float);
    const bool ok =
        dev_upload(dev, C.at, C.host.data, bytes) && run(s) && dev_download(dev, ours.data, C.at, bytes) &&
        dev_upload(dev, C.floats_at, C.floats.data, floats) &&
        dev_baseline_gemm(dev, DEV_F32, s->m, s->n, s->k, s->alpha, A.floats_at, B.floats_at, s->beta, C.floats_at) &&
        dev_download(dev, theirs.data, C.floats_at, floats);
    *wrong = ok ? count_wrong(s, worst) : 0;
    return ok;
}

// --- Beside cuBLAS ---

// A line about n ratios, which it sorts.
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

// A row of the table. *ratio: times faster than cuBLAS, if that is timed.
static bool row(const struct shape *s, size_t *wrong, double *ratio)
{
    runner *const both[] = { run_ours, run_theirs };
    double worst, ms[2];
    move();
    if (!check(s, run_ours, wrong, &worst) || (ask.times && !time_in_turn(s, both, 2, ms)))
        return false;
    printf("%s\t%d\t%d\t%d\t%g\t%g\t%s\t%s %.2g", type_name(ask.type), s->m, s->n, s->k, s->alpha, s->beta,
           gemm_steps_kernel(lib), *wrong ? "WRONG" : "right", worst);
    if (ask.times) {
        const double giga = 2e-9 * s->m * s->n * s->k;
        *ratio = ms[1] / ms[0];
        printf("\t%.5f\t%.5f\t%.2f\t%.2f\t%.3f", ms[0], ms[1], giga / ms[0], giga / ms[1], *ratio);
    }
    putchar('\n');
    fflush(stdout);
    return true;
}

static int compare(const struct shape *shapes, int n, double *ratios)
{
    int bad = 0;
    printf("# %s, %s\n# type\tm\tn\tk\talpha\tbeta\tkernel\tresult, worst error of its bound\tms\tcuBLAS ms\tTFLOP/s\t"
           "cuBLAS TFLOP/s\ttimes faster\n",
           dev_about(dev)->name, dev_baseline_name(dev));
    for (int i = 0; i < n; i++) {
        size_t wrong;
        if (!row(&shapes[i], &wrong, &ratios[i])) {
            fprintf(stderr, "compare: %dx%dx%d: %s; %s\n", shapes[i].m, shapes[i].n, shapes[i].k, gemm_steps_error(lib),
                    dev_error(dev));
            return BAD;
        }
        bad += wrong > 0;
    }
    printf("# %s: %d of %d shapes right; workspace %zu bytes\n", type_name(ask.type), n - bad, n,
           gemm_steps_workspace(lib));
    if (ask.times)
        describe("times faster than cuBLAS", ratios, n);
    return bad > 0;
}

// --- Every way ---

// The card, the product, the way's number and name, the cycles that the rule takes it for, the median of its times.
static void print_way(FILE *out, const struct shape *s, int number, const char *name, double cycles, double ms)
{
    fprintf(out, "%d,%.0f,%s,%d,%d,%d,%d,%d,\"%s\",%.0f,%.5f\n", lib->card.sms, lib->card.memory, type_name(ask.type),
            s->m, s->n, s->k, ask.transpose_b, number, name, cycles, ms);
}

// Runs a way: its time in *ms or, if nothing is timed, whether it is right.
static bool try_way(const struct problem *p, const struct shape *s, const struct way *w, double *ms, int *bad)
{
    runner *const two[] = { run_plan, run_theirs };  // something else in between: its code comes from memory, too
    double times[2] = { 0 };
    struct plan *plan = &lib->plans[0];
    size_t wrong = 0;
    double worst;
    const bool ok = plan_room(lib, p, w) && plan_open(lib, plan, p, w) &&
                    (ask.times ? time_in_turn(s, two, 2, times) : check(s, run_plan, &wrong, &worst));
    if (!ok)
        fprintf(stderr, "compare: %s: %s\n", gemm_steps_error(lib), dev_error(dev));
    if (ok && ask.times)
        *ms = times[0];
    if (wrong)
        printf("%d x %d x %d by %s: WRONG, %zu elements\n", s->m, s->n, s->k, plan->name, wrong);
    *bad += wrong > 0;
    return ok;
}

// All ways of a product that may be fast. *ratio: the time of the one that the rule chooses / that of the fastest.
static bool try_ways(FILE *out, const struct shape *s, double *ratio, int *bad, char error[DEV_ERROR_MAX])
{
    enum { FAR = 2 };  // times the least cycles: too slow to be of interest
    static struct way ways[WAYS_MOST];
    runner *const cublas[] = { run_theirs };
    double ms = 0, least = INFINITY, chosen = 0, best = INFINITY;
    struct problem p;
    move();
    gemm_steps_problem given =
        problem_of(ask.type == DEV_F16 ? GEMM_STEPS_F16 : GEMM_STEPS_F32, s->m, s->n, s->k, 1, A.at, B.at, 0, C.at);
    given.transpose_b = ask.transpose_b;
    if (!problem_settle(&given, false, &p, error))
        return false;
    if (!ask.transpose_b && ask.times && time_in_turn(s, cublas, 1, &ms))
        print_way(out, s, -1, "cuBLAS", 0, ms);
    const int n = pick_ways(lib->card, &p, SIZE_MAX, ways);
    for (int i = 0; i < n; i++)
        least = fmin(least, ways[i].cycles);
    for (int i = 0; i < n; i++) {
        if (ask.times && ways[i].cycles > FAR * least)
            continue;
        move();
        p.x[0].at = A.at, p.x[1].at = B.at, p.x[2].at = C.at;
        if (!try_way(&p, s, &ways[i], &ms, bad) || !ask.times)
            continue;
        chosen = ways[i].cycles <= least ? ms : chosen;
        best = fmin(best, ms);
        print_way(out, s, i, lib->plans[0].name, ways[i].cycles, ms);
    }
    *ratio = chosen / best;
    fflush(out);
    return true;
}

static int all_ways(const struct shape *shapes, int n, double *ratios)
{
    char error[DEV_ERROR_MAX] = "the file of --ways cannot be written";
    FILE *out = fopen(ask.ways, "w");
    bool ok = out;
    int bad = 0;
    if (ok)
        fprintf(out, "sms,memory,type,m,n,k,transpose_b,number,way,cycles,ms\n");
    for (int i = 0; ok && i < n; i++)
        ok = try_ways(out, &shapes[i], &ratios[i], &bad, error);
    if (ok && ask.times)
        describe("time of the way that the rule chooses / time of the fastest way", ratios, n);
    if (out && fclose(out))
        ok = false;
    return ok ? bad > 0 : fail(error);
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
    { "seed", "N", "of the random data and shapes (default 1)", AT(seed), 0, UINT64_MAX },
    { "ways", "FILE", "write the times of every way that may be fast to FILE", AT(ways) },
    { "transpose-b", "0|1", "with --ways, which then only times: B lies as N x K", AT(transpose_b), 0, 1 },
    { "random", "COUNT", "how many random shapes of 64 to 8192; with alpha and beta, unless ways are timed", AT(random),
      0, RANDOM_MOST },
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

// What was asked for: the shapes that are named, then random ones. NULL, with one line in error.
static struct shape *all_shapes(int named, char **names, char error[DEV_ERROR_MAX])
{
    struct shape *shapes = calloc((size_t)named + (size_t)ask.random, sizeof *shapes);
    for (int i = 0, s[3]; shapes && i < named; i++) {
        if (!options_shape(names[i], SHAPE_MOST, s, error)) {
            free(shapes);
            return NULL;
        }
        shapes[i] = (struct shape){ s[0], s[1], s[2], .alpha = 1 };
    }
    for (int i = 0; shapes && i < ask.random; i++) {
        shapes[named + i] = random_shape(ask.seed, (uint64_t)i);
        if (ask.ways && ask.times)  // the rule is fitted to plain products
            shapes[named + i].alpha = 1, shapes[named + i].beta = 0;
    }
    return shapes;
}

static int run(const struct shape *shapes, int n)
{
    double *ratios = calloc((size_t)n, sizeof *ratios);
    int status;
    if (gemm_steps_create(GEMM_STEPS_CURRENT, &lib) != GEMM_STEPS_OK)
        status = fail(gemm_steps_error(NULL));
    else if (gemm_steps_set_stream(lib, gpu_stream(dev)) != GEMM_STEPS_OK)
        status = fail(gemm_steps_error(lib));
    else if (!ratios || !prepare(shapes, n))
        status = fail(*dev_error(dev) ? dev_error(dev) : "out of memory");
    else
        status = (ask.ways ? all_ways : compare)(shapes, n, ratios);
    struct numbers *all[] = { &A, &B, &C };
    for (int i = 0; i < 3; i++)
        drop(all[i]);
    matrix_free(&ours);
    matrix_free(&theirs);
    gemm_steps_destroy(lib);
    free(ratios);
    return status;
}

int main(int argc, char **argv)
{
    char error[DEV_ERROR_MAX] = "out of memory";
    int status;
    if (!options_begin(&table, &ask, &argc, &argv, &status))
        return status;
    if (!argc && !ask.random)
        return fail("a shape is needed, as in: compare 4096, or --random COUNT; --help lists the options");
    if (ask.transpose_b && (!ask.ways || !ask.times))
        return fail("--transpose-b times ways: it needs --ways and --times of 1 or more");
    struct shape *shapes = all_shapes(argc, argv, error);
    if (!shapes)
        return fail(error);
    dev = dev_open(DEV_GPU, error);
    if (dev && dev_baseline_name(dev)) {
        status = run(shapes, argc + ask.random);
    } else {
        printf("compare: %s\n", dev ? "no cuBLAS" : error);
        status = SKIPPED;
    }
    dev_close(dev);
    free(shapes);
    return status;
}
