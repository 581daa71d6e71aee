// Fits the constants of the rule in pick.c to measured times: the one that chooses the fastest ways is written to
// standard output, as rule.def, and how well it chooses to standard error.
//
//     fit_rule SECONDS SEED WAYS.csv... > rule.def      the files that compare --ways wrote
//
// What it finds depends on the seed a little: run several, and keep the best.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/matrix.h"
#include "base/sort.h"
#include "pick.h"

enum { WAYS_IN_ALL = 1 << 16, PRODUCTS_MOST = 1 << 12 };
static const dev_ptr A = (dev_ptr)1 << 40, B = (dev_ptr)2 << 40, C = (dev_ptr)3 << 40;  // nothing lies there

struct timed {
    struct way way;
    double ms;
};

static struct product {
    struct pick_card card;
    gemm_steps_problem p;
    int first, n;  // of the ways
    double best;   // milliseconds
} products[PRODUCTS_MOST];
static struct timed ways[WAYS_IN_ALL];
static int n_products, n_ways;

// --- What was measured ---

static void add_row(struct pick_card card, const gemm_steps_problem *p, int number, double ms)
{
    static struct way all[WAYS_MOST];
    struct product *last = &products[n_products ? n_products - 1 : 0];
    const bool same = n_products && last->p.m == p->m && last->p.n == p->n && last->p.k == p->k &&
                      last->p.type == p->type && last->p.transpose_b == p->transpose_b &&
                      last->card.memory == card.memory;
    if (number >= pick_ways(card, p, SIZE_MAX, all) || n_ways == WAYS_IN_ALL || (!same && n_products == PRODUCTS_MOST))
        return;
    if (!same)
        *(last = &products[n_products++]) = (struct product){ card, *p, n_ways, 0, ms };
    ways[n_ways++] = (struct timed){ all[number], ms };
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
        gemm_steps_problem p =
            problem_of(strcmp(type, "f32") ? GEMM_STEPS_F16 : GEMM_STEPS_F32, m, n, k, 1, A, B, 0, C);
        p.transpose_b = turned;
        if (problem_settle(&p, false, error))
            add_row(card, &p, number, atof(ms + 1));
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
        const double cycles = pick_cycles(x->card, &x->p, &w->way);
        if (cycles < least)
            least = cycles, chosen = w->ms;
        if (w->ms < 1.5 * x->best)
            *off += fabs(log(cycles / (w->ms * PICK_KHZ))) / x->n;
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

// Ways that are slow, and that the rule knows to be slow, take most of the time to count: they are left out.
static void leave_out(void)
{
    static const double FAR = 1.35;
    int n = 0;
    for (struct product *x = products; x < products + n_products; x++) {
        const struct timed *from = ways + x->first, *end = from + x->n;
        double least = INFINITY;
        for (const struct timed *w = from; w < end; w++)
            least = fmin(least, pick_cycles(x->card, &x->p, &w->way));
        x->first = n, x->n = 0;
        for (const struct timed *w = from; w < end; w++)
            if (w->ms < FAR * x->best || pick_cycles(x->card, &x->p, &w->way) < FAR * least)
                ways[n++] = *w, x->n++;
    }
}

// --- The search: some constants at a time, a little up or down, kept if the rule chooses better ---

static double uniform(uint64_t seed, uint64_t i)  // -1 to 1
{
    return (double)(matrix_hash(seed, i) >> 11) * 0x1p-52 - 1;
}

// The constants that these products ask for. The others are of other cards, and stay.
static void find_used(bool used[RULES])
{
    const double before = loss();
    for (int i = 0; i < RULES; i++) {
        const double x = rule[i];
        rule[i] = 1.5 * x;
        used[i] = loss() != before;
        rule[i] = x;
    }
}

static void search(uint64_t seed, clock_t end)
{
    enum { AMONG = 12 };  // one constant in this many is changed
    bool used[RULES];
    double before[RULES], least = loss();
    find_used(used);
    for (uint64_t at = 0; clock() < end;) {
        memcpy(before, rule, sizeof before);
        for (int i = 0; i < RULES; i++)
            if (used[i] && matrix_hash(seed, at++) % AMONG == 0)
                rule[i] *= exp(0.3 * pow(uniform(seed, at++), 3));
        const double now = loss();
        if (now < least)
            least = now;
        else
            memcpy(rule, before, sizeof before);
    }
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
    bool ok = argc > 3;
    for (int i = 3; i < argc; i++)
        ok &= read_file(argv[i]);
    if (!ok || !n_products)
        return fprintf(stderr, "usage: fit_rule SECONDS SEED WAYS.csv... > rule.def\n"), 2;
    report();
    leave_out();
    search((uint64_t)atoi(argv[2]), clock() + (clock_t)(atof(argv[1]) * CLOCKS_PER_SEC));
    report();
    printf("// The constants of the rule in pick.c: RULE(name, value, what it is), in cycles of an SM of an H200 if "
           "nothing else is said.\n"
           "// fit_rule made this of measured times.\n");
#define RULE(name, value, what) printf("RULE(%s, %.4g, \"%s\")\n", #name, rule[name], what);
#include "rule.def"
    return 0;
}
