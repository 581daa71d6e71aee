// What each part of a step has of its gain: see worth.h.
//
// A kernel of a step is a set of parts: none is the step before, all of them and what has no name is the step. Two
// timed kernels that differ in one part say what it brings there; what it brings first and last may differ much. Its
// share is the geometric mean over how many parts are there before it, and for each number over its pairs: the Shapley
// value, if every set was timed, and then the shares multiply to the step's gain. What they do not multiply to is the
// rest.
#include "worth.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct node {
    uint64_t parts;  // bits by the place of their names; the highest: what has no name
    size_t kernel;
};

struct graph {
    struct node *nodes;
    size_t n;
    uint64_t all;
};
static const uint64_t unnamed = (uint64_t)1 << (WORTH_PARTS - 1);

static bool is_counted(const struct worth *w, const struct worth_rates *r, size_t i, int of)
{
    const struct variant *v = w->kernels[i].variant;
    return v && v->of == of && v->kind <= VARIANT_WITHOUT && r[i].tflops[0] > 0 && !r[i].spilled;
}

// The place of a name in the list, where it is put if it is new. -1: there is no room.
static int place_of(struct worth_shares *s, const char *name, size_t length)
{
    for (size_t i = 0; i < s->n; i++)
        if (strlen(s->part[i].name) == length && !memcmp(s->part[i].name, name, length))
            return (int)i;
    if (s->n == WORTH_PARTS - 1 || length >= WORTH_NAME)
        return -1;
    memcpy(s->part[s->n].name, name, length);
    return (int)s->n++;
}

// The parts of "wait, descriptors" as bits; 0: there are too many.
static uint64_t parts_of(struct worth_shares *s, const char *text)
{
    uint64_t parts = 0;
    while (text) {
        const char *comma = strstr(text, ", ");
        const int place = place_of(s, text, comma ? (size_t)(comma - text) : strlen(text));
        if (place < 0)
            return 0;
        parts |= (uint64_t)1 << place;
        text = comma ? comma + 2 : NULL;
    }
    return parts;
}

// The kernels of a step; all names are known only at the end, so that what is left out is turned around then. What no
// row leaves out has a name, too, if the list says so.
static bool read_kernels(const struct worth *w, const struct worth_rates *r, int of, struct worth_shares *s,
                         struct graph *g)
{
    const char *other = variants_other(&w->variants, of);
    s->complete = other && place_of(s, other, strlen(other)) >= 0;
    for (size_t i = 0; i < w->n; i++) {
        const uint64_t parts = is_counted(w, r, i, of) ? parts_of(s, w->kernels[i].variant->part) : 0;
        if (parts)
            g->nodes[g->n++] = (struct node){ parts, i };
        else if (is_counted(w, r, i, of))
            return false;
    }
    g->all = (s->complete ? 0 : unnamed) | (((uint64_t)1 << s->n) - 1);
    for (size_t i = 0; i < g->n; i++)
        if (w->kernels[g->nodes[i].kernel].variant->kind == VARIANT_WITHOUT)
            g->nodes[i].parts ^= g->all;
    return true;
}

static void share_of(const struct worth_rates *r, const struct graph *g, uint64_t bit, struct worth_share *share)
{
    double sum[WORTH_PARTS] = { 0 };  // by how many parts are there before it
    int pairs[WORTH_PARTS] = { 0 }, numbers = 0;
    for (size_t i = 0; i < g->n; i++)
        for (size_t j = 0; j < g->n; j++) {
            const struct node *a = &g->nodes[i], *b = &g->nodes[j];
            if ((a->parts & bit) || b->parts != (a->parts | bit))
                continue;
            const double gain = worth_gain(&r[b->kernel], &r[a->kernel]);
            const int number = __builtin_popcountll(a->parts);
            sum[number] += log(gain);
            pairs[number]++;
            share->pairs++;
            if (!a->parts)
                share->alone = gain;
            if (b->parts == g->all)
                share->last = gain;
        }
    double mean = 0;
    for (int i = 0; i < WORTH_PARTS; i++)
        if (pairs[i]) {
            mean += sum[i] / pairs[i];
            numbers++;
        }
    share->factor = numbers ? exp(mean / numbers) : 1;
}

// The largest gain first, the largest loss last.
static int by_factor(const void *a, const void *b)
{
    const struct worth_share *x = a, *y = b;
    return (x->factor < y->factor) - (x->factor > y->factor);
}

bool worth_shares(const struct worth *w, const struct worth_rates *r, int of, struct worth_shares *s)
{
    const int step = worth_step(w, of), before = worth_step(w, of - 1);
    *s = (struct worth_shares){ 0 };
    if (step < 0 || r[step].tflops[0] <= 0)
        return false;
    s->tflops = worth_rate(&r[step]);
    if (before < 0 || r[before].tflops[0] <= 0 || w->kernels[before].step.type != w->kernels[step].step.type)
        return true;
    struct graph g = { .nodes = calloc(w->n + 2, sizeof *g.nodes) };
    bool ok = g.nodes && read_kernels(w, r, of, s, &g);
    if (ok) {
        g.nodes[g.n++] = (struct node){ 0, (size_t)before };
        g.nodes[g.n++] = (struct node){ g.all, (size_t)step };
        s->total = s->rest = worth_gain(&r[step], &r[before]);
        for (size_t i = 0; i < s->n; i++) {
            share_of(r, &g, (uint64_t)1 << i, &s->part[i]);
            s->rest /= s->part[i].factor;
        }
        qsort(s->part, s->n, sizeof *s->part, by_factor);
    }
    free(g.nodes);
    return ok;
}

bool worth_is_nothing(double factor)
{
    return fabs(log(factor)) < WORTH_NOTHING;
}

const char *worth_rest_name(const struct worth_shares *s)
{
    return s->complete ? "rest, interaction" : "rest, unexplained";
}

void worth_shares_lump(struct worth_shares *s)
{
    struct worth_share small = { .factor = 1 };
    size_t n = 0, lumped = 0;
    for (size_t i = 0; i < s->n; i++) {
        const struct worth_share one = s->part[i];
        if (!one.pairs)
            continue;
        if (!worth_is_nothing(one.factor))
            s->part[n++] = one;
        else if (lumped++ == 0)
            small = one;
        else
            small = (struct worth_share){ .pairs = 1, .factor = small.factor * one.factor };
    }
    if (lumped > 1)
        snprintf(small.name, sizeof small.name, "%zu small parts", lumped);
    if (lumped)
        s->part[n++] = small;
    s->n = n;
    qsort(s->part, s->n, sizeof *s->part, by_factor);
}
