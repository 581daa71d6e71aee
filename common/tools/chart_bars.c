// See chart.h. One panel for each element type: a bar a step, one for cuBLAS, whose speed is also a line across, and
// outlines for the ceilings.
#include "base/sort.h"
#include "chart.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROW = 21, RATE = 102, SHARE = 52 };

// Two panels beside each other. A slide has no room for the third one and the words below, and larger letters, which
// means a smaller picture.
static const struct layout {
    int margin, panel, gap, name;
    bool all;
} page = { CHART_MARGIN, (CHART_WIDTH - 2 * CHART_MARGIN - 36) / 2, 36, 160, true },
  slide = { 4, (CHART_SLIDE - 2 * 4 - 24) / 2, 24, 144, false };

static const struct {
    const char *type, *title, *class;
    int column;
} panels[] = {
    { "f32", "f32", "l0", 0 },
    { "f16", "f16, summed in f32 by tensor cores", "l1", 1 },
    { "f64", "f64", "l5", 0 },
};
enum { PANELS = sizeof panels / sizeof *panels };

const char *chart_rate(double tflops, char text[32])
{
    if (tflops >= 999.95)
        snprintf(text, 32, "%.0f,%03.0f", floor(round(tflops) / 1000), fmod(round(tflops), 1000));
    else
        snprintf(text, 32, "%.*f", tflops >= 9.995 ? 1 : 2, tflops);
    return text;
}

double chart_peak(const struct chart *c, const char *type, char what[96])
{
    const struct result *r = c->row[0];
    if (!c->card)
        return 0;
    const unsigned flop = !strcmp(type, "f16")   ? c->card->tensor
                          : !strcmp(type, "f32") ? 2 * c->card->f32
                                                 : 2 * c->card->f64;
    snprintf(what, 96, "%u SMs, %u FLOP a clock", r->sms, flop);
    return flop * r->sms * (r->mhz * 1e-6);
}

const struct trial *chart_alone(const struct chart *c, const char *type)
{
    const struct trial *best = NULL;
    for (size_t i = 0; i < c->n_trials; i++) {
        const struct trial *t = &c->trials[i];
        if (!strcmp(t->step, "instruction") && !strcmp(t->type, type) && !strcmp(t->device, c->row[0]->device) &&
            (!best || t->high > best->high))
            best = t;
    }
    return best;
}

// --- A panel ---

struct panel {
    struct svg *s;
    const struct layout *l;
    double x, y, scale;  // pixels a TFLOP/s
};

static void bar(struct panel *p, const char *name, const char *class, double tflops, double of)
{
    char text[32];
    svg_text(p->s, p->x, p->y + 15, strcmp(class, "limit") ? "code" : "small", "%s", name);
    svg_rect(p->s, p->x + p->l->name, p->y + 3, round(10 * tflops * p->scale) / 10, ROW - 6, class);
    svg_text(p->s, p->x + p->l->panel - SHARE - 8, p->y + 15, "end", "%s", chart_rate(tflops, text));
    if (of > 0)
        svg_text(p->s, p->x + p->l->panel, p->y + 15, "end", "%.1f %%", 100 * tflops / of);
    p->y += ROW;
}

// The baseline was timed beside each step: the median of what it reached there. 0: not timed.
static double baseline_of(const struct chart *c, const char *type)
{
    double rates[c->rows + 1];
    size_t n = 0;
    for (size_t i = 0; i < c->rows; i++)
        if (!strcmp(c->row[i]->type, type))
            rates[n++] = c->row[i]->baseline_tflops;
    return n ? median(rates, n) : 0;
}

static double panel(struct svg *s, const struct layout *l, const struct chart *c, int which, double y)
{
    const char *type = panels[which].type;
    const double x = l->margin + panels[which].column * (l->panel + l->gap);
    const struct trial *alone = chart_alone(c, type);
    const struct result *any = NULL;
    char what[96] = "";
    const double peak = chart_peak(c, type, what);
    double highest = alone && alone->high > peak ? alone->high : peak;
    for (size_t i = 0; i < c->rows; i++) {
        const struct result *r = c->row[i];
        if (strcmp(r->type, type))
            continue;
        any = r;
        highest = fmax(highest, fmax(r->tflops, r->baseline_tflops));
    }
    if (!any)
        return y;
    const double cublas = baseline_of(c, type);
    struct panel p = { s, l, x, y + 26, (l->panel - l->name - RATE) / highest };
    svg_text(s, x, y + 16, "big", "%s", l->all ? panels[which].title : type);
    svg_text(s, x + l->panel - SHARE - 8, y + 16, "small dim end", "TFLOP/s");
    if (cublas > 0)
        svg_text(s, x + l->panel, y + 16, "small dim end", "of cuBLAS");
    for (size_t i = 0; i < c->rows; i++)
        if (!strcmp(c->row[i]->type, type))
            bar(&p, c->row[i]->step, panels[which].class, c->row[i]->tflops, c->row[i]->baseline_tflops);
    if (cublas > 0) {
        const double at = round(10 * (x + l->name + cublas * p.scale)) / 10;
        fprintf(s->out, "<path class=\"rule dash\" d=\"M%g %gV%g\"/>\n", at, y + 26, p.y);
        bar(&p, any->baseline, "l7", cublas, 0);
    }
    if (alone) {
        char name[sizeof alone->variant + 8];
        snprintf(name, sizeof name, "trial: %s", alone->variant);
        bar(&p, name, "limit", alone->high, 0);
    }
    if (peak > 0)
        bar(&p, l->all ? what : "ceiling of the units", "limit", peak, 0);
    return p.y + 14;
}

// Below the left panels, and no wider: the right ones may reach further down.
static double legend(struct svg *s, const struct chart *c, double y)
{
    const struct result *r = c->row[0];
    if (r->baseline_tflops > 0) {
        svg_text(s, CHART_MARGIN, y += 14, "small dim",
                 "Dashed: %s at the same size, the median of its runs beside the steps.", r->baseline);
        svg_text(s, CHART_MARGIN, y += 16, "small dim", "A share is by the run beside that step.");
    }
    if (c->card)
        svg_text(s, CHART_MARGIN, y += 16, "small dim",
                 "Outlines: ceilings of the steps' units at the top clock, %.2f GHz; FLOP are an SM's.", r->mhz * 1e-3);
    else
        svg_text(s, CHART_MARGIN, y += 16, "small dim",
                 "What this card can do is not in the table of common/base/card.def.");
    return y + 14;
}

double chart_bars(struct svg *s, const struct chart *c, double y, bool large)
{
    const struct layout *l = large ? &slide : &page;
    double bottom[2] = { y, y };
    for (int i = 0; i < PANELS; i++) {
        double *to = &bottom[panels[i].column];
        if (l->all || i < 2)
            *to = panel(s, l, c, i, *to);
    }
    if (l->all)
        bottom[0] = legend(s, c, bottom[0]);
    return fmax(bottom[0], bottom[1]);
}
