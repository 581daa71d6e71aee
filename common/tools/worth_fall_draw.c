// What each idea of the ladder is worth, as a picture: a waterfall whose scale is one of factors. See worth.h.
//
// A row is a step: from the rate of the step before go the gains of its parts to the right, below them what is lost
// again back to the left, and the rest, which no part explains, to the step's own rate, where a mark stands and the
// next row begins. What the colours are is said beside the bar, on the side that has more room, or below it in a narrow
// picture.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "base/svg.h"
#include "worth.h"

static const char title[] = "What each idea is worth";

enum { GAINS = 6, GAIN = 9, LOSS = 4, SWATCH = 8, BETWEEN = 17 };

static const struct layout {
    double width, margin, left, row;  // left: where the scale begins; row: from one step to the next
    double bar;                       // from the top of a row to its bar
    double item;                      // the height of a line of words below the bar; 0: they stand beside it
    double letter;                    // how wide one is
    double top;                       // where the rows begin
    bool rest;                        // its words, too
} layouts[] = {
    [WORTH_PAGE] = { 1136, 20, 244, 24, 4, 0, 7.3, 76, true },
    [WORTH_PHONE] = { 380, 12, 12, 40, 20, 19, 7.1, 116, true },
    [WORTH_SLIDE] = { 740, 4, 238, 17, 0, 0, 7.9, 20, false },
};

struct drawing {
    struct svg s;
    const struct layout *l;
    double least, most;  // TFLOP/s at both ends of the scale
    double y;            // of the row
};

static double x_of(const struct drawing *d, double tflops)
{
    const double from = d->l->left, to = d->l->width - d->l->margin;
    return round(10 * (from + (to - from) * log(tflops / d->least) / log(d->most / d->least))) / 10;
}

// --- the scale ---

static const double ticks[] = { 1, 2, 5 };

// The next tick above the rate.
static double tick_above(double tflops)
{
    const double ten = pow(10, floor(log10(tflops)));
    for (int i = 0; i < 3; i++)
        if (ticks[i] * ten > tflops * (1 + 1e-9))
            return ticks[i] * ten;
    return 10 * ten;
}

// The lines of the scale behind a row, and that of cuBLAS.
static void draw_grid(struct drawing *d, double cublas)
{
    const bool beside = d->l->item <= 0;
    const double top = beside ? d->y : d->y + d->l->bar - 3, bottom = beside ? d->y + d->l->row : top + GAIN + LOSS + 7;
    for (double at = tick_above(d->least); at < d->most; at = tick_above(at))
        svg_line(&d->s, x_of(d, at), top, x_of(d, at), bottom, "grid");
    if (cublas > d->least && cublas < d->most)
        svg_line(&d->s, x_of(d, cublas), top, x_of(d, cublas), bottom, "zoom");
}

static void draw_ticks(struct drawing *d)
{
    for (double at = tick_above(d->least); at < d->most; at = tick_above(at))
        svg_text(&d->s, x_of(d, at), d->y - 6, "dim mid", "%g", at);
}

// --- a step's parts ---

struct item {
    char text[WORTH_NAME + 16];
    const char *class;
    double factor;
};

// The parts in the order of the bar, the rest last.
static size_t items_of(const struct worth_shares *s, struct item items[WORTH_PARTS + 1])
{
    static const char *const gains[GAINS] = { "l0", "l5", "l6", "l2", "l4", "l3" };
    size_t n = 0;
    for (; n < s->n; n++)
        items[n] = (struct item){ .factor = s->part[n].factor,
                                  .class = s->part[n].factor < 1 ? "l1" : gains[n < GAINS ? n : GAINS - 1] };
    items[n] = (struct item){ .factor = s->rest, .class = "l7" };
    for (size_t i = 0; i <= n; i++) {
        const double percent = 100 * (items[i].factor - 1);
        snprintf(items[i].text, sizeof items[i].text, "%s %+.*f %%", i < n ? s->part[i].name : "rest",
                 fabs(percent) < 9.95, percent);
    }
    return n + 1;
}

// What matters most is named first.
static int by_size(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    const double left = fabs(log(x->factor)), right = fabs(log(y->factor));
    return (left < right) - (left > right);
}

// Returns how far the bar reaches to the right.
static double draw_bar(struct drawing *d, const struct item *items, size_t n, double from)
{
    double at = from, reaches = x_of(d, from);
    const double y = d->y + d->l->bar;
    for (size_t i = 0; i < n; i++) {
        const double a = x_of(d, at), b = x_of(d, at *= items[i].factor);
        svg_rect(&d->s, fmin(a, b), b < a ? y + GAIN + 1 : y, fabs(b - a), b < a ? LOSS : GAIN, items[i].class);
        reaches = fmax(reaches, b);
    }
    return reaches;
}

// --- words ---

// What a text of the layout's letters takes, with a coloured square before it.
static double width_of(const struct drawing *d, const char *text)
{
    return SWATCH + 4 + d->l->letter * (double)strlen(text) + BETWEEN;
}

static void draw_item(struct drawing *d, double x, double y, const struct item *item)
{
    svg_rect(&d->s, x, y - SWATCH, SWATCH, SWATCH, item->class);
    svg_text(&d->s, x + SWATCH + 4, y, "", "%s", item->text);
}

// How many of the items, the rest apart, have room; width: what they take.
static size_t fitting(const struct drawing *d, const struct item *items, size_t n, double room, double *width)
{
    size_t fit = 0;
    for (*width = 0; fit < n - 1 && *width + width_of(d, items[fit].text) <= room; fit++)
        *width += width_of(d, items[fit].text);
    return fit;
}

// Beside the bar, where there is more room: what fits, how many others there are, and the rest.
static void draw_beside(struct drawing *d, const struct item *items, size_t n, double left, double right)
{
    static const char more[] = "9 more";
    const double before = left - d->l->left, after = d->l->width - d->l->margin - right, y = d->y + d->l->bar + 10;
    const double rest = d->l->rest ? width_of(d, items[n - 1].text) : 0, room = fmax(before, after) - BETWEEN - rest,
                 more_width = width_of(d, more) - SWATCH;
    double width;
    size_t fit = fitting(d, items, n, room, &width);
    if (fit < n - 1)
        fit = fitting(d, items, n, room - more_width, &width);
    const double all = width + (fit < n - 1 ? more_width : 0) + rest;
    double x = before > after ? left - all : right + BETWEEN;
    for (size_t i = 0; i < fit; x += width_of(d, items[i++].text))
        draw_item(d, x, y, &items[i]);
    if (fit < n - 1) {
        svg_text(&d->s, x, y, "dim", "%zu more", n - 1 - fit);
        x += more_width;
    }
    if (d->l->rest)
        draw_item(d, x, y, &items[n - 1]);
}

// Below the bar, line by line.
static void draw_below(struct drawing *d, const struct item *items, size_t n)
{
    double x = d->l->left;
    for (size_t i = 0; i < n; i++) {
        if (x > d->l->left && x + width_of(d, items[i].text) - BETWEEN > d->l->width - d->l->margin) {
            x = d->l->left;
            d->y += d->l->item;
        }
        draw_item(d, x, d->y + d->l->row + 8, &items[i]);
        x += width_of(d, items[i].text);
    }
    d->y += d->l->item;
}

// --- a row ---

static void draw_mark(struct drawing *d, double tflops)
{
    const double x = x_of(d, tflops), y = d->y + d->l->bar;
    svg_line(&d->s, x, y - 2, x, y + GAIN + LOSS + 3, "wall");
}

static void draw_name(struct drawing *d, const char *name, double total)
{
    const double y = d->y + (d->l->item > 0 ? 12 : d->l->bar + 10);
    const double end = d->l->item > 0 ? d->l->width - d->l->margin : d->l->left - 12;
    svg_text(&d->s, d->l->margin, y, "code", "%s", name);
    if (total > 0 && worth_is_nothing(total))
        svg_text(&d->s, end, y, "end dim", "nothing alone");
    else if (total > 0)
        svg_text(&d->s, end, y, "end big", "x %.2f", total);
}

// The first step of a type: where the waterfall begins.
static void draw_start(struct drawing *d, const struct worth_kernel *k, double tflops, double cublas)
{
    const char *what = k->step.type == DEV_F16 ? "halves on tensor cores" : "floats";
    const double x = x_of(d, tflops), y = d->y + d->l->bar + 10;
    const bool left = x > d->l->width / 2 || d->l->item > 0;
    draw_mark(d, tflops);
    if (d->l->item > 0)
        svg_text(&d->s, d->l->width - d->l->margin, d->y + 12, "end dim", "%s: %.1f", what, tflops);
    else
        svg_text(&d->s, left ? x - 8 : x + 8, y, left ? "dim end" : "dim", "%s: %.1f%s", what, tflops,
                 d->l == &layouts[WORTH_PAGE] ? " TFLOP/s" : "");
    if (d->l->item <= 0)
        svg_text(&d->s, x_of(d, cublas) - 6, y, "dim end", "cuBLAS %.1f", cublas);
}

static void draw_parts(struct drawing *d, struct worth_shares *s)
{
    struct item items[WORTH_PARTS + 1];
    worth_shares_lump(s);
    const size_t n = items_of(s, items);
    const double from = s->tflops / s->total, reaches = draw_bar(d, items, n, from);
    draw_mark(d, s->tflops);
    qsort(items, n - 1, sizeof *items, by_size);
    if (d->l->item > 0)
        draw_below(d, items, n);
    else
        draw_beside(d, items, n, fmin(x_of(d, from), x_of(d, s->tflops)), reaches);
}

// --- all of it ---

// The middle one of what cuBLAS had beside the kernels that multiply the same type.
static double cublas_beside(const struct worth *w, const struct worth_rates *r, enum dev_type type)
{
    double rates[w->n * WORTH_ROUNDS + 1];
    size_t n = 0;
    for (size_t i = 0; i < w->n; i++)
        for (int round = 0; round < WORTH_ROUNDS; round++)
            if (w->kernels[i].step.type == type && r[i].cublas[round] > 0)
                rates[n++] = r[i].cublas[round];
    return n ? median(rates, n) : 0;
}

static void draw_rows(struct drawing *d, const struct worth *w, const struct worth_rates *r)
{
    struct worth_shares s;
    for (size_t i = 0; i < w->n; i++) {
        const struct worth_kernel *k = &w->kernels[i];
        if (k->variant || !worth_shares(w, r, k->of, &s))
            continue;
        const double cublas = cublas_beside(w, r, k->step.type);
        draw_grid(d, cublas);
        draw_name(d, k->step.name, s.total);
        if (s.total > 0)
            draw_parts(d, &s);
        else
            draw_start(d, k, s.tflops, cublas);
        d->y += d->l->row;
    }
}

// From somewhat below the slowest step to what the fastest one and its gains reach. Returns the first of the steps.
static const struct worth_rates *set_scale(struct drawing *d, const struct worth *w, const struct worth_rates *r)
{
    const struct worth_rates *first = NULL;
    struct worth_shares s;
    d->least = INFINITY;
    for (size_t i = 0; i < w->n; i++) {
        if (w->kernels[i].variant || !worth_shares(w, r, w->kernels[i].of, &s))
            continue;
        first = first ? first : &r[i];
        d->least = fmin(d->least, s.tflops);
        double at = s.total > 0 ? s.tflops / s.total : s.tflops;
        d->most = fmax(d->most, fmax(at, s.tflops));
        for (size_t part = 0; part < s.n; part++) {
            at *= s.part[part].factor;
            d->most = fmax(d->most, at);
        }
    }
    d->least *= 0.97;
    d->most *= 1.03;
    return first;
}

static void describe(struct drawing *d, const struct worth *w, const struct worth_rates *r)
{
    char text[sizeof d->s.described] = "";
    size_t length = 0;
    struct worth_shares s;
    for (size_t i = 0; i < w->n && length < sizeof text - 64; i++)
        if (!w->kernels[i].variant && worth_shares(w, r, w->kernels[i].of, &s) && s.total > 0)
            length += (size_t)snprintf(text + length, sizeof text - length, "%s%.40s x %.2f", length ? ", " : "",
                                       w->kernels[i].step.name, s.total);
    svg_describe(&d->s, "Each step over the one before: %s.", text);
}

static void draw_head(struct drawing *d, const struct worth_rates *first, int size, enum worth_place place)
{
    static const char length[] = "the same length is the same factor",
                      lost[] = "below a bar: what is lost again; grey: what no part explains";
    svg_text(&d->s, d->l->margin, 28, "head", title);
    if (place == WORTH_PHONE) {
        svg_text(&d->s, d->l->margin, 48, "small dim", "TFLOP/s at %d on an %s", size, first->device);
        svg_text(&d->s, d->l->margin, 64, "small dim", length);
        svg_text(&d->s, d->l->margin, 80, "small dim", lost);
    } else {
        svg_text(&d->s, d->l->margin, 48, "dim", "TFLOP/s at %d on an %s; %s; %s", size, first->device, length, lost);
    }
}

char *worth_fall_draw(const struct worth *w, const struct worth_rates *r, int size, enum worth_place place)
{
    struct drawing d = { .l = &layouts[place], .y = layouts[place].top };
    const struct worth_rates *first = set_scale(&d, w, r);
    if (!first || !svg_open(&d.s))
        return NULL;
    if (place != WORTH_SLIDE)
        draw_head(&d, first, size, place);
    describe(&d, w, r);
    draw_ticks(&d);
    draw_rows(&d, w, r);
    return svg_close(&d.s, d.l->width, d.y + 10, title);
}
