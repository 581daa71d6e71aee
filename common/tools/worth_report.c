// What the parts of a step are worth: see worth.h. A gain compares rates of the same round, and is the middle one of
// the rounds.
#include "worth.h"

#include <stdlib.h>
#include <string.h>

static double percent(double gain)
{
    return 100 * (gain - 1);
}

static void print_kind(const struct worth *w, const struct worth_rates *r, int of, enum variant_kind kind, FILE *out)
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
        const int base = worth_step(w, atoi(v->step));
        fprintf(out, "  %-20s %7.1f  %+6.1f %%  %s: %s", v->name, worth_rate(&r[i]),
                base < 0 ? 0 : percent(worth_gain(&r[i], &r[base])), v->part, v->words);
        if (r[i].spilled)
            fprintf(out, " (spills %u bytes)", r[i].spilled);
        fprintf(out, "\n");
    }
}

// What the gains of single parts of a kind multiply to; 0 if there are none.
static double together(const struct worth *w, const struct worth_rates *r, int of, enum variant_kind kind)
{
    double product = 0;
    for (size_t i = 0; i < w->n; i++) {
        const struct variant *v = w->kernels[i].variant;
        if (!v || v->of != of || v->kind != kind || strchr(v->part, ',') || r[i].spilled || r[i].tflops[0] <= 0)
            continue;
        const int base = worth_step(w, atoi(v->step));
        const double g = base < 0 ? 1 : worth_gain(&r[i], &r[base]);
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

void worth_report(const struct worth *w, const struct worth_rates *r, int of, int size, FILE *out)
{
    const int step = worth_step(w, of), before = worth_step(w, of - 1);
    const double total = before < 0 ? 1 : worth_gain(&r[step], &r[before]);
    if (before >= 0)
        fprintf(out, "%s has %.1f TFLOP/s at %d, ", w->kernels[before].step.name, worth_rate(&r[before]), size);
    fprintf(out, "%s %.1f: x %.3f\n", w->kernels[step].step.name, worth_rate(&r[step]), total);
    for (int kind = VARIANT_ONLY; kind <= VARIANT_WITH; kind++)
        print_kind(w, r, of, (enum variant_kind)kind, out);
    fprintf(out, "\nsingle parts multiplied, without those that spill:\n");
    print_rest(total, together(w, r, of, VARIANT_ONLY), "alone", out);
    print_rest(total, together(w, r, of, VARIANT_WITHOUT), "left out", out);
}
