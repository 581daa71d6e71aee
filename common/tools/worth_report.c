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

static void print_gain(const char *words, double gain, FILE *out)
{
    if (gain > 0)
        fprintf(out, "%s %+.1f %%", words, percent(gain));
}

static void print_shares(const struct worth_shares *s, FILE *out)
{
    fprintf(out,
            "\nwhat each part has of it, by all pairs of these kernels that differ in it alone and do not spill:\n");
    for (size_t i = 0; i < s->n; i++) {
        const struct worth_share *p = &s->part[i];
        if (!p->pairs) {
            fprintf(out, "  %-28s            in the rest: no pair\n", p->name);
            continue;
        }
        fprintf(out, "  %-28s  %+6.1f %%", p->name, percent(p->factor));
        print_gain("  alone", p->alone, out);
        print_gain("  left out", p->last, out);
        fprintf(out, "\n");
    }
    fprintf(out, "  %-28s  %+6.1f %%  what these do not multiply to\n", worth_rest_name(s), percent(s->rest));
}

void worth_report(const struct worth *w, const struct worth_rates *r, int of, int size, FILE *out)
{
    const int step = worth_step(w, of), before = worth_step(w, of - 1);
    struct worth_shares s;
    if (!worth_shares(w, r, of, &s))
        return;
    fprintf(out, "%s has %.1f TFLOP/s at %d", w->kernels[step].step.name, s.tflops, size);
    if (s.total > 0)
        fprintf(out, ", %s %.1f: x %.3f", w->kernels[before].step.name, worth_rate(&r[before]), s.total);
    fprintf(out, "\n");
    for (int kind = VARIANT_ONLY; kind <= VARIANT_WITH; kind++)
        print_kind(w, r, of, (enum variant_kind)kind, out);
    if (s.total > 0 && s.n)
        print_shares(&s, out);
}
