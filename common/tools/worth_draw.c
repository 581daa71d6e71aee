// What the parts of a step are worth, as a picture (worth.h): from the step before each part alone goes up or down, and
// from the step each part that is left out.
#include <math.h>
#include <stdlib.h>

#include "base/svg.h"
#include "worth.h"

enum { WIDTH = 960, MARGIN = 24, NAMES = 330, ROW = 24, BAR = 15, HEAD = 64, VALUES = 110, FOOT = 12 };

struct drawing {
    struct svg s;
    const struct worth *w;
    const struct worth_rates *r;
    double least, most;  // TFLOP/s at the left and right end
    double y;            // of the next row
};

static double x_of(const struct drawing *d, double tflops)
{
    return NAMES + (tflops - d->least) / (d->most - d->least) * (WIDTH - MARGIN - VALUES - NAMES);
}

static bool is_drawn(const struct drawing *d, size_t i, int of, enum variant_kind kind)
{
    const struct variant *v = d->w->kernels[i].variant;
    return v && v->of == of && v->kind == kind && d->r[i].tflops[0] > 0 && !d->r[i].spilled;
}

// The bar of a kernel: from the rate of its base to its own, or from the left end (base -1).
static void draw_row(struct drawing *d, const char *name, size_t i, int base)
{
    const double to = worth_rate(&d->r[i]), from = base < 0 ? d->least : worth_rate(&d->r[base]);
    const double left = x_of(d, fmin(from, to)), right = x_of(d, fmax(from, to)), line = d->y + BAR - 3;
    svg_text(&d->s, MARGIN, line, "small", "%s", name);
    svg_rect(&d->s, left, d->y, fmax(right - left, 1), BAR, base < 0 ? "l0" : to >= from ? "l2" : "l1");
    if (base < 0)
        svg_text(&d->s, right + 6, line, "small", "%.1f TFLOP/s", to);
    else
        svg_text(&d->s, right + 6, line, "small", "%+.1f %%", 100 * (worth_gain(&d->r[i], &d->r[base]) - 1));
    d->y += ROW;
}

static void draw_kind(struct drawing *d, int of, enum variant_kind kind, int base)
{
    for (size_t i = 0; i < d->w->n; i++)
        if (is_drawn(d, i, of, kind)) {
            char name[200];
            snprintf(name, sizeof name, "%s: %.150s", kind == VARIANT_ONLY ? "alone" : "without",
                     d->w->kernels[i].variant->part);
            draw_row(d, name, i, base);
        }
}

// From somewhat below the slowest kernel to the fastest; from 0 where there is one alone.
static void set_scale(struct drawing *d, int of, int before, int step)
{
    d->least = INFINITY;
    for (size_t i = 0; i < d->w->n; i++)
        if ((int)i == before || (int)i == step || is_drawn(d, i, of, VARIANT_ONLY) ||
            is_drawn(d, i, of, VARIANT_WITHOUT)) {
            d->least = fmin(d->least, worth_rate(&d->r[i]));
            d->most = fmax(d->most, worth_rate(&d->r[i]));
        }
    d->least = d->least < d->most ? fmax(0, d->least - (d->most - d->least) / 4) : 0;
}

char *worth_draw(const struct worth *w, const struct worth_rates *r, int of, int size)
{
    struct worth_shares s;
    struct drawing d = { .w = w, .r = r, .y = HEAD };
    if (!worth_shares(w, r, of, &s) || !svg_open(&d.s))
        return NULL;
    const int step = worth_step(w, of), before = s.total > 0 ? worth_step(w, of - 1) : -1;
    set_scale(&d, of, before, step);
    svg_text(&d.s, MARGIN, 30, "head", "What the parts of step %02d are worth", of);
    svg_text(&d.s, MARGIN, 48, "small dim", "TFLOP/s at %d; bars begin at %.0f. Kernels that spill are left out.", size,
             d.least);
    if (before >= 0) {
        draw_row(&d, w->kernels[before].step.name, (size_t)before, -1);
        draw_kind(&d, of, VARIANT_ONLY, before);
    }
    draw_row(&d, w->kernels[step].step.name, (size_t)step, -1);
    draw_kind(&d, of, VARIANT_WITHOUT, step);
    svg_describe(&d.s, "%s has %.1f TFLOP/s at %d.", w->kernels[step].step.name, s.tflops, size);
    char title[64];
    snprintf(title, sizeof title, "What the parts of step %02d are worth", of);
    return svg_close(&d.s, WIDTH, d.y + FOOT, title);
}
