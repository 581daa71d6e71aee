// What the parts of a step are worth: see worth.h. A gain compares rates of the same round, and is the middle one of
// the rounds.
#include "worth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/sort.h"
#include "base/table.h"

struct rates {
    double tflops[WORTH_ROUNDS];  // 0: not in the table
    unsigned spilled;
};

static int column(const struct table *t, const char *name)
{
    for (size_t i = 0; i < t->columns; i++)
        if (!strcmp(t->name[i], name))
            return (int)i;
    return -1;
}

static const struct worth_kernel *find(const struct worth *w, const char *name)
{
    for (size_t i = 0; i < w->n; i++)
        if (!strcmp(w->kernels[i].step.name, name))
            return &w->kernels[i];
    return NULL;
}

static bool read_times(const struct worth *w, const char *path, int size, struct rates *rates,
                       char error[DEV_ERROR_MAX])
{
    struct table t;
    bool more, ok = table_open(&t, path, error);
    const int name = ok ? column(&t, "name") : -1, at = ok ? column(&t, "size") : -1;
    const int first = ok ? column(&t, "tflops1") : -1;
    ok = ok && ((name >= 0 && at >= 0 && first >= 0) || table_refuse(&t, "no columns name, size and tflops1"));
    while (ok && (ok = table_next(&t, &more)) && more) {
        const struct worth_kernel *k = find(w, t.field[name]);
        for (int i = 0; k && atoi(t.field[at]) == size && i < WORTH_ROUNDS; i++)
            rates[k - w->kernels].tflops[i] = atof(t.field[first + i]);
    }
    table_close(&t);
    return ok;
}

static bool read_counts(const struct worth *w, const char *path, struct rates *rates, char error[DEV_ERROR_MAX])
{
    struct table t;
    bool more, ok = table_open(&t, path, error);
    const int name = ok ? column(&t, "name") : -1, spilled = ok ? column(&t, "spilled") : -1;
    ok = ok && ((name >= 0 && spilled >= 0) || table_refuse(&t, "no columns name and spilled"));
    while (ok && (ok = table_next(&t, &more)) && more) {
        const struct worth_kernel *k = find(w, t.field[name]);
        if (k)
            rates[k - w->kernels].spilled = (unsigned)atoi(t.field[spilled]);
    }
    table_close(&t);
    return ok;
}

// How many times as fast a is as b; 0 if one of them was not timed.
static double gain(const struct rates *a, const struct rates *b)
{
    double g[WORTH_ROUNDS];
    for (int i = 0; i < WORTH_ROUNDS; i++)
        g[i] = b->tflops[i] > 0 ? a->tflops[i] / b->tflops[i] : 0;
    return median(g, WORTH_ROUNDS);
}

static double rate(const struct rates *r)
{
    double t[WORTH_ROUNDS];
    memcpy(t, r->tflops, sizeof t);
    return median(t, WORTH_ROUNDS);
}

// The step itself: what stands in the list without a variant.
static int step_of(const struct worth *w, int of)
{
    for (size_t i = 0; i < w->n; i++)
        if (!w->kernels[i].variant && w->kernels[i].of == of)
            return (int)i;
    return -1;
}

static double percent(double gain)
{
    return 100 * (gain - 1);
}

static void print_kind(const struct worth *w, const struct rates *r, int of, enum variant_kind kind, FILE *out)
{
    static const char *const heads[] = { "the step before with one part alone, over the step before",
                                         "the step with a part left out, over the step",
                                         "other changes, over the kernel that is changed" };
    bool any = false;
    for (size_t i = 0; i < w->n; i++) {
        const struct variant *v = w->kernels[i].variant;
        if (!v || v->of != of || v->kind != kind || r[i].tflops[0] <= 0)
            continue;
        if (!any)
            fprintf(out, "\n%s:\n", heads[kind]);
        any = true;
        const int base = step_of(w, atoi(v->step));
        fprintf(out, "  %-20s %7.1f  %+6.1f %%  %s: %s", v->name, rate(&r[i]),
                base < 0 ? 0 : percent(gain(&r[i], &r[base])), v->part, v->words);
        if (r[i].spilled)
            fprintf(out, " (spills %u bytes)", r[i].spilled);
        fprintf(out, "\n");
    }
}

// What the gains of single parts of a kind multiply to; 0 if there are none.
static double together(const struct worth *w, const struct rates *r, int of, enum variant_kind kind)
{
    double product = 0;
    for (size_t i = 0; i < w->n; i++) {
        const struct variant *v = w->kernels[i].variant;
        if (!v || v->of != of || v->kind != kind || strchr(v->part, ',') || r[i].spilled || r[i].tflops[0] <= 0)
            continue;
        const int base = step_of(w, atoi(v->step));
        const double g = base < 0 ? 1 : gain(&r[i], &r[base]);
        product = (product > 0 ? product : 1) * (kind == VARIANT_ONLY ? g : 1 / g);
    }
    return product;
}

static void print_rest(double total, double explained, const char *what, FILE *out)
{
    if (explained > 0)
        fprintf(out, "  %-20s x %.3f, which leaves %+.1f %% unexplained\n", what, explained,
                percent(total / explained));
}

bool worth_report(const struct worth *w, int of, int size, const char *times, const char *counts, FILE *out,
                  char error[DEV_ERROR_MAX])
{
    const int step = step_of(w, of), before = step_of(w, of - 1);
    struct rates *r = calloc(w->n + 1, sizeof *r);
    bool ok = r && (step >= 0 || error_set(error, "there is no step %d", of));
    ok = ok && read_times(w, times, size, r, error) && read_counts(w, counts, r, error);
    ok = ok && (r[step].tflops[0] > 0 || error_set(error, "%s has no times at %d", times, size));
    if (ok) {
        const double total = before < 0 ? 1 : gain(&r[step], &r[before]);
        if (before >= 0)
            fprintf(out, "%s has %.1f TFLOP/s at %d, ", w->kernels[before].step.name, rate(&r[before]), size);
        fprintf(out, "%s %.1f: x %.3f\n", w->kernels[step].step.name, rate(&r[step]), total);
        for (int kind = VARIANT_ONLY; kind <= VARIANT_WITH; kind++)
            print_kind(w, r, of, (enum variant_kind)kind, out);
        fprintf(out, "\nsingle parts multiplied, without those that spill:\n");
        print_rest(total, together(w, r, of, VARIANT_ONLY), "alone", out);
        print_rest(total, together(w, r, of, VARIANT_WITHOUT), "left out", out);
    }
    free(r);
    return ok;
}
