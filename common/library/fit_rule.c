// Fits the constants of the rule in pick.c to measured times: the one that chooses the fastest ways is written to
// standard output, as rule.def, and how well it chooses to standard error.
//
//     fit_rule SECONDS WAYS.csv... > rule.def      the files that compare --ways wrote
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/sort.h"
#include "pick.h"

enum { WAYS_MOST = 1 << 16, PRODUCTS_MOST = 1 << 12 };
static const double CLOCK = 1755e3;  // cycles in a millisecond
static const struct pick_card card = { 90, 132 };
static const dev_ptr A = (dev_ptr)1 << 40, B = (dev_ptr)2 << 40, C = (dev_ptr)3 << 40;  // nothing lies there

struct timed {
    struct way way;
    double ms;
};

static struct product {
    gemm_steps_problem p;
    int first, n;  // of the ways
    double best;   // milliseconds
} products[PRODUCTS_MOST];
static struct timed ways[WAYS_MOST];
static int n_products, n_ways;

// --- What was measured ---

struct wanted {
    int number, at;
    struct way way;
};

static void take_number(void *data, const struct way *w, double cycles)
{
    struct wanted *x = data;
    (void)cycles;
    if (x->at++ == x->number)
        x->way = *w;
}

static void add_row(const gemm_steps_problem *p, int number, double ms)
{
    struct product *last = &products[n_products ? n_products - 1 : 0];
    const bool same = n_products && last->p.m == p->m && last->p.n == p->n && last->p.k == p->k &&
                      last->p.type == p->type && last->p.transpose_b == p->transpose_b;
    struct wanted x = { .number = number };
    pick_each(card, p, SIZE_MAX, take_number, &x);
    if (!x.way.kernel || n_ways == WAYS_MOST || (!same && n_products == PRODUCTS_MOST))
        return;
    if (!same)
        *(last = &products[n_products++]) = (struct product){ *p, n_ways, 0, ms };
    ways[n_ways++] = (struct timed){ x.way, ms };
    last->n++;
    last->best = fmin(last->best, ms);
}

static bool read_file(const char *name)
{
    char line[400], type[8], error[DEV_ERROR_MAX];
    FILE *f = fopen(name, "r");
    while (f && fgets(line, sizeof line, f)) {
        int m, n, k, turned, number;
        const char *ms = strrchr(line, ',');
        if (sscanf(line, "%7[^,],%d,%d,%d,%d,%d", type, &m, &n, &k, &turned, &number) != 6 || number < 0)
            continue;
        gemm_steps_problem p =
            problem_of(strcmp(type, "f32") ? GEMM_STEPS_F16 : GEMM_STEPS_F32, m, n, k, 1, A, B, 0, C);
        p.transpose_b = turned;
        if (problem_settle(&p, false, error))
            add_row(&p, number, atof(ms + 1));
    }
    return f && !fclose(f);
}

// --- How well does it choose? ---

// How many times the fastest way's time that of the way takes that the rule chooses; *off: how far its times are from
// the measured ones.
static double regret(const struct product *x, double *off)
{
    double least = INFINITY, chosen = 0;
    for (const struct timed *w = ways + x->first; w < ways + x->first + x->n; w++) {
        const double cycles = pick_cycles(card, &x->p, &w->way);
        if (cycles < least)
            least = cycles, chosen = w->ms;
        if (w->ms < 1.5 * x->best)
            *off += fabs(log(cycles / (w->ms * CLOCK))) / x->n;
    }
    return chosen / x->best;
}

static double loss(void)
{
    double sum = 0, off = 0;
    for (int i = 0; i < n_products; i++) {
        const double r = log(regret(&products[i], &off));
        sum += r + 3 * r * r;
    }
    return (sum + 0.03 * off) / n_products;
}

// --- The search: one constant after the other, a little up and down ---

static void improve(double *x, double *least)
{
    static const double steps[] = { 1.3, 1.1, 1.03, 1 / 1.03, 1 / 1.1, 1 / 1.3 };
    const double before = *x;
    double best = before;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        *x = before * steps[i];
        const double now = loss();
        if (now < *least)
            *least = now, best = *x;
    }
    *x = best;
}

static void report(void)
{
    static double all[PRODUCTS_MOST];
    double logs = 0, off = 0;
    for (int i = 0; i < n_products; i++)
        logs += log(all[i] = regret(&products[i], &off));
    qsort(all, (size_t)n_products, sizeof *all, by_value);
    fprintf(stderr, "what,products,geomean,percentile_95,worst\nrule,%d,%.3f,%.3f,%.3f\n", n_products,
            exp(logs / n_products), all[n_products - 1 - n_products / 20], all[n_products - 1]);
}

int main(int argc, char **argv)
{
    bool ok = argc > 2;
    for (int i = 2; i < argc; i++)
        ok &= read_file(argv[i]);
    if (!ok || !n_products)
        return fprintf(stderr, "usage: fit_rule SECONDS WAYS.csv... > rule.def\n"), 2;
    report();
    double least = loss(), before = INFINITY;
    const clock_t end = clock() + (clock_t)(atof(argv[1]) * CLOCKS_PER_SEC);
    while (least < before && clock() < end) {
        before = least;
        for (int i = 1; i < RULES && clock() < end; i++)
            improve(&rule[i], &least);
    }
    report();
    printf("// The constants of the rule in pick.c: RULE(name, value, what it is), in cycles of an SM of an H200 if "
           "nothing else is said.\n"
           "// fit_rule made this of measured times.\n");
#define RULE(name, value, what) printf("RULE(%s, %.4g, \"%s\")\n", #name, rule[name], what);
#include "rule.def"
    return 0;
}
