// What each idea of the ladder is worth, as text: a line for each step, whose bar goes from the rate of the step before
// to its own, and a line for each of its parts, whose bar goes on where the one above ended. See worth.h.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "worth.h"

enum { COLUMNS = 48 };  // of the bars

struct scale {
    double least, most;  // TFLOP/s
    FILE *out;
};

static int column_of(const struct scale *s, double tflops)
{
    const double at = log(tflops / s->least) / log(s->most / s->least);
    return (int)fmin(fmax(round(at * COLUMNS), 0), COLUMNS);
}

// A bar between two rates, and words behind it; where they are too close for one, a mark.
static void print_bar(const struct scale *s, double from, double to, const char *signs, const char *words)
{
    char bar[COLUMNS + 2];
    const int a = column_of(s, from), b = column_of(s, to), left = a < b ? a : b, right = a < b ? b : a;
    memset(bar, ' ', sizeof bar);
    memset(bar + left, signs[a > b], (size_t)(right - left));
    if (left == right)
        bar[left] = '|';
    bar[right + (left == right)] = 0;
    fprintf(s->out, "%s%s\n", bar, words);
}

static void print_part(const struct scale *s, const char *name, double factor, double *at, bool rest)
{
    fprintf(s->out, "   %-23.23s  %+7.1f %%  ", name, 100 * (factor - 1));
    print_bar(s, *at, *at * factor, rest ? ".." : "+-", "");
    *at *= factor;
}

static void print_step(const struct scale *s, const char *name, struct worth_shares *one)
{
    double at = one->tflops / (one->total > 0 ? one->total : 1);
    fprintf(s->out, "%-20s %7.1f  ", name, one->tflops);
    if (one->total > 0)
        fprintf(s->out, "x %5.2f  ", one->total);
    else
        fprintf(s->out, "   from  ");
    print_bar(s, at, one->tflops, "#=", one->total > 0 && worth_is_nothing(one->total) ? "  nothing alone" : "");
    if (one->total <= 0)
        return;
    worth_shares_lump(one);
    for (size_t i = 0; i < one->n; i++)
        print_part(s, one->part[i].name, one->part[i].factor, &at, false);
    if (one->n)
        print_part(s, worth_rest_name(one), one->rest, &at, true);
}

// --- the same for programs ---

static void write_factor(struct json *j, const char *key, double factor)
{
    if (factor > 0)
        json_double(j, key, factor);
}

static void write_step(struct json *j, const struct worth_kernel *k, const struct worth_shares *s)
{
    json_object(j, NULL);
    json_string(j, "step", k->step.name);
    json_double(j, "tflops", s->tflops);
    write_factor(j, "factor", s->total);
    write_factor(j, "rest", s->rest);
    json_string(j, "rest_name", worth_rest_name(s));
    json_array(j, "parts");
    for (size_t i = 0; i < s->n; i++) {
        const struct worth_share *p = &s->part[i];
        json_object(j, NULL);
        json_string(j, "part", p->name);
        write_factor(j, "share", p->pairs ? p->factor : 0);
        write_factor(j, "alone", p->alone);
        write_factor(j, "left_out", p->last);
        json_end(j);
    }
    json_end(j);
    json_end(j);
}

bool worth_json(const struct worth *w, const struct worth_rates *r, int of, FILE *out)
{
    struct json j;
    struct worth_shares s;
    json_open(&j, out);
    json_array(&j, NULL);
    for (size_t i = 0; i < w->n; i++) {
        const struct worth_kernel *k = &w->kernels[i];
        if (!k->variant && (!of || k->of == of) && worth_shares(w, r, k->of, &s))
            write_step(&j, k, &s);
    }
    json_end(&j);
    return json_close(&j);
}

// --- the waterfall ---

void worth_fall(const struct worth *w, const struct worth_rates *r, int size, FILE *out)
{
    struct scale s = { .least = INFINITY, .out = out };
    const char *device = "";
    struct worth_shares one;
    for (size_t i = 0; i < w->n; i++)
        if (!w->kernels[i].variant && worth_shares(w, r, w->kernels[i].of, &one)) {
            s.least = fmin(s.least, one.tflops);
            s.most = fmax(s.most, one.tflops);
            device = r[i].device;
        }
    fprintf(out,
            "What each idea is worth at %d on an %s. A bar begins where the one above ends; the same length\n"
            "is the same factor. # a step, + what one of its parts brings, - what is lost again, . the rest.\n\n"
            "%-20s %7s  %7s  %-*.1f%*.1f\n",
            size, device, "", "TFLOP/s", "factor", COLUMNS / 2, s.least, COLUMNS / 2, s.most);
    for (size_t i = 0; i < w->n; i++)
        if (!w->kernels[i].variant && worth_shares(w, r, w->kernels[i].of, &one))
            print_step(&s, w->kernels[i].step.name, &one);
    fprintf(
        out,
        "\nA share is what a part brings in pairs of timed kernels that differ in it alone, without those that spill.\n"
        "An interaction is how parts help or hinder each other; unexplained is what has no kernel of its own, too.\n"
        "worth STEP has the kernels, and each part alone and left out.\n");
}
