// See chart.h. The roofline: TFLOP/s over FLOP a byte, both by powers, one point a step.
//
// The bytes are those that the warps ask of the L1 cache, in sectors of 32, and those that TMA copies: counters of a
// launch at 256 x 256 x 256, and what they are at another multiple of it. Loads go with M N K and stores with M N,
// exactly, since 256 holds whole tiles of every step. A memory's roof is its speed times the FLOP a byte. A point above
// the roof of the card's memory is fed by a cache. What a kernel reads and writes in shared memory does not count here.
#include "chart.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// An SM's L1 cache and shared memory are one memory of 32 banks, each of 4 bytes a clock (CUDA C++ Programming Guide).
enum { L1_BYTES = 128, COUNTED = 256, HEIGHT = 330 };

static const double left = CHART_MARGIN + 44, right = CHART_WIDTH - CHART_MARGIN;
struct plot {
    struct svg *s;
    const struct chart *c;
    double top;
    double x_from, x_to, y_from, y_to;  // FLOP a byte, TFLOP/s
};

static double place_x(const struct plot *p, double intensity)
{
    return round(10 * (left + (right - left) * log(intensity / p->x_from) / log(p->x_to / p->x_from))) / 10;
}

static double place_y(const struct plot *p, double tflops)
{
    return round(10 * (p->top + HEIGHT * log(p->y_to / tflops) / log(p->y_to / p->y_from))) / 10;
}

// --- Axes and roofs ---

static void axes(const struct plot *p)
{
    const double bottom = p->top + HEIGHT;
    svg_rect(p->s, left, p->top, right - left, HEIGHT, "frame");
    for (double x = 4 * p->x_from; x < p->x_to; x *= 4) {
        fprintf(p->s->out, "<path class=\"grid\" d=\"M%g %gV%g\"/>\n", place_x(p, x), p->top, bottom);
        svg_text(p->s, place_x(p, x), bottom + 16, "small dim mid", "%g", x);
    }
    for (double y = p->y_from; y < p->y_to; y *= 10) {
        fprintf(p->s->out, "<path class=\"grid\" d=\"M%g %gH%g\"/>\n", left, place_y(p, y), right);
        svg_text(p->s, left - 6, place_y(p, y) + 4, "small dim end", "%g", y);
    }
}

// A memory of so many TB/s, up to the ceiling; its words lean along it.
static void memory_roof(const struct plot *p, double tbs, double ceiling, const char *name)
{
    const double x0 = place_x(p, p->x_from), y0 = place_y(p, tbs * p->x_from), x1 = place_x(p, ceiling / tbs),
                 y1 = place_y(p, ceiling);
    fprintf(p->s->out, "<path class=\"rule\" d=\"M%g %gL%g %g\"/>\n", x0, y0, x1, y1);
    fprintf(p->s->out, "<g transform=\"translate(%g %g) rotate(%.1f)\">\n", x0 + 10,
            round(10 * (y0 + 10 * (y1 - y0) / (x1 - x0) - 6)) / 10, atan2(y1 - y0, x1 - x0) * 180 / 3.14159265358979);
    svg_text(p->s, 0, 0, "small", "%s, %.*f TB/s", name, tbs < 10 ? 1 : 0, tbs);
    svg_end(p->s);
}

static void ceiling(const struct plot *p, double tflops, double from, const char *class, const char *words)
{
    char rate[32];
    const double y = place_y(p, tflops);
    fprintf(p->s->out, "<path class=\"%s\" d=\"M%g %gH%g\"/>\n", class, place_x(p, from), y, right);
    svg_text(p->s, right - 6, y - 5, "small end", "%s: %s", words, chart_rate(tflops, rate));
}

// --- Points ---

struct point {
    const struct result *r;
    double x, y, label;  // label: the y of its number
};

static double counter(const struct chart *c, const char *step, const char *name)
{
    for (size_t i = 0; i < c->n_counters; i++)
        if (!strcmp(c->counters[i].step, step) && !strcmp(c->counters[i].name, name))
            return c->counters[i].value;
    return 0;
}

// FLOP a byte; 0 where the table has no counters of the step.
static double intensity(const struct chart *c, const struct result *r)
{
    const double times = (double)c->size / COUNTED;
    const double loaded = 32 * counter(c, r->step, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum") +
                          counter(c, r->step, "l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld.sum");
    const double stored = 32 * counter(c, r->step, "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum") +
                          counter(c, r->step, "l1tex__m_l1tex2xbar_write_bytes_mem_global_op_tma_st.sum");
    const double bytes = loaded * pow(times, 3) + stored * pow(times, 2);
    return loaded > 0 && stored > 0 ? 2 * pow(c->size, 3) / bytes : 0;
}

// Pushes labels that would lie on each other apart, up and down; a higher point keeps the higher label. None
// leaves the frame at its upper edge.
static void spread(struct point *points, size_t n, double top)
{
    for (int pass = 0; pass < 500; pass++) {
        bool moved = false;
        for (size_t i = 0; i < n; i++) {
            points[i].label = fmax(points[i].label, top);
            for (size_t j = 0; j < n; j++) {
                struct point *high = &points[i], *low = &points[j];
                const double apart = low->label - high->label;
                if (i == j || fabs(high->x - low->x) > 60 || high->y > low->y || (high->y == low->y && i > j) ||
                    apart >= 13)
                    continue;
                high->label -= (13.5 - apart) / 2;
                low->label += (13.5 - apart) / 2;
                moved = true;
            }
        }
        if (!moved)
            return;
    }
}

static void draw_points(const struct plot *p)
{
    struct point points[64];
    size_t n = 0;
    for (size_t i = 0; i < p->c->rows; i++) {
        const struct result *r = p->c->row[i];
        const double x = intensity(p->c, r);
        if (x > 0)
            points[n++] = (struct point){ r, place_x(p, x), place_y(p, r->tflops), place_y(p, r->tflops) };
    }
    spread(points, n, p->top + 8);
    for (size_t i = 0; i < n; i++) {
        const struct point *at = &points[i];
        const char *type = at->r->type, *class = !strcmp(type, "f32") ? "l0" : !strcmp(type, "f16") ? "l1" : "l5";
        const double label = round(10 * at->label) / 10;
        char rate[32];
        svg_group(p->s, "point", "%s: %s TFLOP/s, %.3g FLOP a byte", at->r->step, chart_rate(at->r->tflops, rate),
                  intensity(p->c, at->r));
        fprintf(p->s->out, "<path class=\"rule thin\" d=\"M%g %gL%g %g\"/>\n", at->x, at->y, at->x + 16, label);
        fprintf(p->s->out, "<circle class=\"%s dot\" cx=\"%g\" cy=\"%g\" r=\"5\"/>\n", class, at->x, at->y);
        svg_text(p->s, at->x + 19, label + 4, "small", "%.2s%s", at->r->step, strcmp(type, "f64") ? "" : " f64");
        svg_end(p->s);
    }
}

// FLOP a byte of a product whose matrices are each moved once.
static double moved_once(const struct chart *c, double bytes)
{
    return 2.0 * c->size / (3 * bytes);
}

static void mark_moved_once(const struct plot *p)
{
    const double f32 = place_x(p, moved_once(p->c, 4)), f16 = place_x(p, moved_once(p->c, 2)), y = p->top + HEIGHT;
    fprintf(p->s->out, "<path class=\"rule thin\" d=\"M%g %gv-24M%g %gv-24\"/>\n", f32, y, f16, y);
    svg_text(p->s, f32 - 5, y - 10, "small dim end", "every matrix moved once: f32");
    svg_text(p->s, f16 - 5, y - 10, "small dim end", "f16");
}

// Axes that hold every point and every roof.
static void scale(struct plot *p, double highest)
{
    p->x_from = 0.25;
    p->x_to = fmax(2048, 2 * moved_once(p->c, 2));
    p->y_from = 1;
    for (size_t i = 0; i < p->c->rows; i++) {
        const struct result *r = p->c->row[i];
        const double x = intensity(p->c, r);
        while (x > 0 && x < p->x_from)
            p->x_from /= 4;
        while (r->tflops < p->y_from)
            p->y_from /= 10;
        p->x_to = fmax(p->x_to, 2 * x);
        highest = fmax(highest, r->tflops);
    }
    p->y_to = 2 * highest;
}

static double caption(struct svg *s, const struct chart *c, double y)
{
    svg_text(
        s, left, y, "small dim",
        "Bytes: 32 for a sector that is loaded or stored, as a GPU counted them. What passes through shared memory "
        "does not count here.");
    svg_text(
        s, left, y + 16, "small dim",
        "Above the roof of the card's memory, a cache feeds the step. Straight up: the same traffic in less time.");
    y += 32;
    for (size_t i = 0; i < c->rows; i++) {
        const char *step = c->row[i]->step;
        const bool drawn = intensity(c, c->row[i]) > 0;
        if (drawn && (c->size == COUNTED || strcmp(step, "20_any_shape") != 0))
            continue;
        svg_text(s, left, y, "small dim",
                 drawn ? "%s has small tiles at 256 x 256 x 256, where its bytes were counted. With larger tiles it "
                         "asks for fewer."
                       : "%s is not drawn: the table of counters has no bytes of it.",
                 step);
        y += 16;
    }
    return y - 4;
}

double chart_roofline(struct svg *s, const struct chart *c, double y)
{
    struct plot p = { .s = s, .c = c, .top = y + 30 };
    const struct result *r = c->row[0];
    const struct trial *alone = chart_alone(c, "f16");
    const double l1 = L1_BYTES * r->sms * (r->mhz * 1e-6);
    char what[96], name[sizeof alone->variant + 8];
    const double f32 = chart_peak(c, "f32", what), f16 = chart_peak(c, "f16", what);
    scale(&p, fmax(f16, 100));
    svg_text(s, CHART_MARGIN, y + 16, "big", "Roofline: TFLOP/s over FLOP a byte that the warps ask of the L1 cache");
    axes(&p);
    mark_moved_once(&p);
    memory_roof(&p, l1, f16 > 0 ? f16 : p.y_to, "L1 caches");
    if (c->card) {
        memory_roof(&p, c->card->dram * 1e-3, f16, "the card's memory");
        ceiling(&p, f16, f16 / l1, "rule", "tensor cores, f16");
        ceiling(&p, f32, f32 / l1, "rule", "multiply-adds, f32");
    }
    if (alone) {
        snprintf(name, sizeof name, "trial: %s", alone->variant);
        ceiling(&p, alone->high, alone->high / l1, "rule dash", name);
    }
    draw_points(&p);
    return caption(s, c, p.top + HEIGHT + 36);
}
