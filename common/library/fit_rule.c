// Fits the constants of the rule in pick.c to measured times: rule.def is written to standard output, and how well it
// chooses to standard error.
//
//     fit_rule STEPS APART [CONSTANT...] WAYS.csv... > rule.def       the files that compare --ways wrote
//
// With constants named, such as ROW_STEP, all others stay as they are, and those that are named may go anywhere.
// Of APART shapes one is left out of the fit (0: none), so that what is said of these holds for shapes that the
// rule has never seen.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/matrix.h"
#include "base/sort.h"
#include "pick.h"

enum { WAYS_IN_ALL = 1 << 19, PRODUCTS_MOST = 1 << 13 };
static const dev_ptr A = (dev_ptr)1 << 40, B = (dev_ptr)2 << 40, C = (dev_ptr)3 << 40;  // nothing lies there

struct timed {
    struct way way;
    double ms, log_cycles;
};

static struct product {
    struct pick_card card;
    struct problem p;
    int first, n;  // of the ways
    double best;   // milliseconds
    bool held_out;
} products[PRODUCTS_MOST];
static struct timed ways[WAYS_IN_ALL];
static int n_products, n_ways, apart, n_named;
static bool named[RULES];  // the constants that are fitted; none: all

// --- What was measured ---

static bool held_out(const struct problem *p)
{
    return apart && matrix_hash((uint64_t)p->m * 65536 + (uint64_t)p->n, (uint64_t)p->k) % (uint64_t)apart == 0;
}

static void add_row(struct pick_card card, const struct problem *p, int number, double ms)
{
    static struct way all[WAYS_MOST];
    struct product *last = &products[n_products ? n_products - 1 : 0];
    const bool same = n_products && last->p.m == p->m && last->p.n == p->n && last->p.k == p->k &&
                      last->p.type == p->type && last->p.x[1].turned == p->x[1].turned &&
                      last->card.memory == card.memory;
    if (!(ms > 0) || number >= pick_ways(card, p, SIZE_MAX, all) || n_ways == WAYS_IN_ALL ||
        (!same && n_products == PRODUCTS_MOST))
        return;
    if (!same)
        *(last = &products[n_products++]) = (struct product){ card, *p, n_ways, 0, ms, held_out(p) };
    ways[n_ways++] = (struct timed){ all[number], ms, 0 };
    last->n++;
    last->best = fmin(last->best, ms);
}

static bool read_file(const char *name)
{
    char line[400], type[8], error[DEV_ERROR_MAX];
    FILE *f = fopen(name, "r");
    while (f && fgets(line, sizeof line, f)) {
        struct pick_card card = { .sm = 90 };
        int m, n, k, turned, number;
        const char *ms = strrchr(line, ',');
        if (sscanf(line, "%d,%lf,%7[^,],%d,%d,%d,%d,%d", &card.sms, &card.memory, type, &m, &n, &k, &turned, &number) !=
                8 ||
            number < 0)
            continue;
        struct problem p;
        gemm_steps_problem given =
            problem_of(strcmp(type, "f32") ? GEMM_STEPS_F16 : GEMM_STEPS_F32, m, n, k, 1, A, B, 0, C);
        given.transpose_b = turned;
        if (problem_settle(&given, false, &p, error))
            add_row(card, &p, number, atof(ms + 1));
    }
    return f && !fclose(f);
}

// --- How well does it choose? ---

// How many times the fastest way's time that of the way takes that the rule chooses.
static double regret(const struct product *x)
{
    const struct timed *least = ways + x->first;
    for (const struct timed *w = least; w < ways + x->first + x->n; w++)
        if (pick_cycles(x->card, &x->p, &w->way) < pick_cycles(x->card, &x->p, &least->way))
            least = w;
    return least->ms / x->best;
}

static void report(const char *what, bool of_held_out)
{
    static double all[PRODUCTS_MOST];
    double logs = 0;
    int n = 0;
    for (const struct product *x = products; x < products + n_products; x++)
        if (x->held_out == of_held_out)
            logs += log(all[n++] = regret(x));
    if (!n)
        return;
    qsort(all, (size_t)n, sizeof *all, by_value);
    fprintf(stderr, "%s,%d,%.3f,%.3f,%.3f\n", what, n, exp(logs / n), all[n - 1 - n / 20], all[n - 1]);
}

// --- The fit ---

// As if the rule took each way with a probability, those more often that it takes for faster: so the loss changes
// smoothly with the constants, and a way that is faster by less than it can know is no sure choice. First the times are
// fitted, then more and more the choice.
static const double SURE = 0.02, CLOSE = 0.05, NEAR = 0.15, NOTICED = 1e-3, DOUBT = 0.3, MUCH = 20;
static double times_count;

static double worse(const struct product *x, const struct timed *w)
{
    return log(w->ms / x->best);
}

// What is lost by a way that is r slower than the best: what is much slower counts for more.
static double lost(double r)
{
    return r + MUCH * r * r;
}

// What one more in the logarithm of a way's cycles does to the loss.
static void find_slopes(const struct product *x, double slopes[])
{
    struct timed *of = ways + x->first;
    double least = INFINITY, sum = 0, expected = 0, near = 0;
    for (int i = 0; i < x->n; i++) {
        least = fmin(least, of[i].log_cycles = log(pick_cycles(x->card, &x->p, &of[i].way)));
        near += exp(-worse(x, &of[i]) / NEAR);
    }
    for (int i = 0; i < x->n; i++) {
        sum += slopes[i] = exp((least - of[i].log_cycles) / SURE);
        expected += slopes[i] * lost(worse(x, &of[i]));
    }
    for (int i = 0; i < x->n; i++) {
        const double r = worse(x, &of[i]), off = of[i].log_cycles - log(of[i].ms * PICK_KHZ);
        slopes[i] *= (expected / sum - lost(r)) / sum / SURE;
        slopes[i] += times_count * off / hypot(off, CLOSE) * exp(-r / NEAR) / near;
    }
}

static void add_gradient(const struct product *x, double gradient[RULES])
{
    static const double STEP = 1e-4;
    static double slopes[WAYS_MOST];
    find_slopes(x, slopes);
    for (int r = 0; r < RULES; r++) {
        const double before = rule[r];
        rule[r] *= 1 + STEP;
        for (int i = 0; i < x->n; i++) {
            const struct timed *w = ways + x->first + i;
            const int costs = (int)w->way.kernel->costs;
            if (fabs(slopes[i]) > NOTICED && (r < NO_RULE || r == costs + ALONE || r == costs + BUSY))
                gradient[r] += slopes[i] * (log(pick_cycles(x->card, &x->p, &w->way)) - w->log_cycles) / STEP;
        }
        rule[r] = before;
    }
}

// Adam (Kingma, Ba 2015) over the logarithms of the constants; a step looks at one product in some. Each is drawn back
// to where it was, by DOUBT, so that those of which the times tell little, or nothing, stay.
static void fit(int steps)
{
    enum { AMONG = 8 };
    static double mean[RULES], square[RULES], before[RULES];
    memcpy(before, rule, sizeof before);
    for (int t = 0; t < steps; t++) {
        const double done = (double)t / steps, rate = 0.05 * pow(0.01, done);
        double gradient[RULES];
        for (int r = 0; r < RULES; r++)
            gradient[r] = before[r] > 0 && !n_named ? DOUBT * log(rule[r] / before[r]) : 0;
        times_count = 3 * pow(0.02, done);
        for (int i = 0; i < n_products; i++)
            if (!products[i].held_out && matrix_hash((uint64_t)t, (uint64_t)i) % AMONG == 0)
                add_gradient(&products[i], gradient);
        for (int r = 0; r < RULES; r++) {
            mean[r] = 0.9 * mean[r] + 0.1 * gradient[r];
            square[r] = 0.99 * square[r] + 0.01 * gradient[r] * gradient[r];
            if (square[r] > 0 && (named[r] || !n_named))
                rule[r] *= exp(-rate * mean[r] / (1 - pow(0.9, t + 1)) / sqrt(square[r] / (1 - pow(0.99, t + 1))));
        }
    }
}

static bool name_constant(const char *name)
{
    static const char *const names[] = {
#define RULE(name, value, what) #name,
#include "rule.def"
#undef RULE
    };
    for (int r = 0; r < RULES; r++)
        if (!strcmp(name, names[r]))
            return n_named += !named[r], named[r] = true;
    return false;
}

int main(int argc, char **argv)
{
    bool ok = argc > 3;
    apart = ok ? atoi(argv[2]) : 0;
    for (int i = 3; i < argc; i++)
        ok &= name_constant(argv[i]) || read_file(argv[i]);
    if (!ok || !n_products)
        return fprintf(stderr, "usage: fit_rule STEPS APART [CONSTANT...] WAYS.csv... > rule.def\n"), 2;
    fprintf(stderr, "what,products,geomean,percentile_95,worst\n");
    report("before", false), report("before held out", true);
    fit(atoi(argv[1]));
    report("rule", false), report("held out", true);
    printf("// The constants of the rule in pick.c: RULE(name, value, what it is), in cycles of an SM of an H200 if "
           "nothing else is said, and\n"
           "// of each kernel two, FOR(kernel, alone, busy), see kernels.h. fit_rule made this of measured times.\n"
           "#ifndef FOR\n#define FOR(kernel, alone, busy) RULE(kernel, alone, \"\") RULE(kernel##_BUSY, busy, "
           "\"\")\n#endif\n");
#define RULE(name, value, what) printf("RULE(%s, %.4g, \"%s\")\n", #name, rule[name], what);
#define FOR(kernel, alone, busy) printf("FOR(%s, %.4g, %.4g)\n", #kernel, rule[kernel], rule[kernel##_BUSY]);
#include "rule.def"
    printf("#undef FOR\n");
    return 0;
}
