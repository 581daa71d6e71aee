// See chart.h. The roofline: TFLOP/s over FLOP a byte, both by powers, one point a step.
//
// The bytes are those that the warps ask of the L1 cache, in sectors of 32, and those that TMA copies: counters of a
// launch at 256 x 256 x 256, and what they are at another multiple of it. Loads go with M N K and stores with M N,
// exactly, since 256 holds whole tiles of every step. Step 20 takes larger tiles for larger products, which load less:
// its rule says which. A memory's roof is its speed times the FLOP a byte. A point above
// the roof of the card's memory is fed by a cache. What a kernel reads and writes in shared memory does not count here.
#include "chart.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "steps.h"
#include "tester/choose.h"

// An SM's L1 cache and shared memory are one memory of 32 banks, each of 4 bytes a clock (CUDA C++ Programming Guide).
enum { L1_BYTES = 128, COUNTED = 256, DOT = 5 };

struct plot {
    struct svg *s;
    const struct chart *c;
    double left, right, top, height;
    double x_from, x_to, y_from, y_to;  // FLOP a byte, TFLOP/s
    double y_step;                      // from one line of the grid to the next
};

static double place_x(const struct plot *p, double intensity)
{
    return round(10 * (p->left + (p->right - p->left) * log(intensity / p->x_from) / log(p->x_to / p->x_from))) / 10;
}

static double place_y(const struct plot *p, double tflops)
{
    return round(10 * (p->top + p->height * log(p->y_to / tflops) / log(p->y_to / p->y_from))) / 10;
}

// --- Axes and roofs ---

static void axes(const struct plot *p)
{
    const double bottom = p->top + p->height;
    svg_rect(p->s, p->left, p->top, p->right - p->left, p->height, "frame");
    for (double x = 4 * p->x_from; x < p->x_to; x *= 4) {
        fprintf(p->s->out, "<path class=\"grid\" d=\"M%g %gV%g\"/>\n", place_x(p, x), p->top, bottom);
        svg_text(p->s, place_x(p, x), bottom + 16, "small dim mid", "%g", x);
    }
    for (double y = p->y_from; y < p->y_to; y *= p->y_step) {
        fprintf(p->s->out, "<path class=\"grid\" d=\"M%g %gH%g\"/>\n", p->left, place_y(p, y), p->right);
        svg_text(p->s, p->left - 6, place_y(p, y) + 4, "small dim end", "%g", y);
    }
}

// A memory of so many TB/s, up to the ceiling; its words lean along it.
static void memory_roof(const struct plot *p, double tbs, double ceiling, const char *name)
{
    const double from = fmax(p->x_from, p->y_from / tbs), to = fmin(fmin(ceiling, p->y_to) / tbs, p->x_to);
    if (from >= to)
        return;
    const double x0 = place_x(p, from), y0 = place_y(p, tbs * from), x1 = place_x(p, to), y1 = place_y(p, tbs * to);
    fprintf(p->s->out, "<path class=\"rule\" d=\"M%g %gL%g %g\"/>\n", x0, y0, x1, y1);
    const double x = x0 + 10, y = round(10 * (y0 + 10 * (y1 - y0) / (x1 - x0) - 6)) / 10;
    fprintf(p->s->out, "<g transform=\"rotate(%.1f %g %g)\">\n", atan2(y1 - y0, x1 - x0) * 180 / 3.14159265358979, x,
            y);
    svg_text(p->s, x, y, "small", "%s, %.*f TB/s", name, tbs < 10 ? 1 : 0, tbs);
    svg_end(p->s);
}

static void ceiling(const struct plot *p, double tflops, double from, const char *class, const char *words)
{
    char rate[32];
    const double y = place_y(p, tflops);
    if (tflops < p->y_from || tflops > p->y_to)
        return;
    fprintf(p->s->out, "<path class=\"%s\" d=\"M%g %gH%g\"/>\n", class, place_x(p, fmax(from, p->x_from)), y, p->right);
    svg_text(p->s, p->right - 6, y - 5, "small end", "%s: %s", words, chart_rate(tflops, rate));
}

// --- Points ---

// Points that lie on each other have one label: the steps' numbers, and the y of its words.
struct label {
    const char *type;
    double x, y, words;
    char before[48];  // what is said of all steps but those of the last run, from and to
    int from, to;
};

static double counter(const struct chart *c, const char *step, const char *name)
{
    for (size_t i = 0; i < c->n_counters; i++)
        if (!strcmp(c->counters[i].step, step) && !strcmp(c->counters[i].name, name))
            return c->counters[i].value;
    return 0;
}

// What a kernel loads for each of its multiply-adds, but for a factor: rows of A and columns of B for a tile of C.
static double loads(const struct geometries *g, int size, unsigned sms)
{
    const struct geometry tile = choose_geometry(g, size, size, size, (int)sms);
    return 1.0 / tile.bm + 1.0 / tile.bn;
}

// How much of what it loaded where it was counted a step loads for a multiply-add at the chart's size; 0 if this build
// does not have the step.
static double share_loaded(const struct chart *c, const struct result *r)
{
    char error[DEV_ERROR_MAX];
    struct geometries g;
    for (size_t i = 0; i < n_steps; i++)
        if (!strcmp(steps[i]->name, r->step) && geometries_read(steps[i]->ptx, &g, error))
            return loads(&g, c->size, r->sms) / loads(&g, COUNTED, r->sms);
    return 0;
}

// FLOP a byte; 0 where it is not known.
static double intensity(const struct chart *c, const struct result *r)
{
    const double times = (double)c->size / COUNTED;
    const double counted = 32 * counter(c, r->step, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum") +
                           counter(c, r->step, "l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld.sum");
    const double stored = 32 * counter(c, r->step, "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum") +
                          counter(c, r->step, "l1tex__m_l1tex2xbar_write_bytes_mem_global_op_tma_st.sum");
    const double loaded = counted * share_loaded(c, r);
    const double bytes = loaded * pow(times, 3) + stored * pow(times, 2);
    return loaded > 0 && stored > 0 ? 2 * pow(c->size, 3) / bytes : 0;
}

// Pushes labels that would lie on each other apart, up and down; a higher point keeps the higher label. None
// leaves the frame at its upper edge.
static void spread(struct label *labels, size_t n, double top)
{
    for (int pass = 0; pass < 500; pass++) {
        bool moved = false;
        for (size_t i = 0; i < n; i++) {
            labels[i].words = fmax(labels[i].words, top);
            for (size_t j = 0; j < n; j++) {
                struct label *high = &labels[i], *low = &labels[j];
                const double apart = low->words - high->words;
                if (i == j || fabs(high->x - low->x) > 60 || high->y > low->y || (high->y == low->y && i > j) ||
                    apart >= 13)
                    continue;
                high->words -= (13.5 - apart) / 2;
                low->words += (13.5 - apart) / 2;
                moved = true;
            }
        }
        if (!moved)
            return;
    }
}

// "07", "13, 14", "15 to 20".
static void say_run(const struct label *l, char *text, size_t size)
{
    if (l->from == l->to)
        snprintf(text, size, "%s%02d", l->before, l->to);
    else
        snprintf(text, size, "%s%02d%s%02d", l->before, l->from, l->to > l->from + 1 ? " to " : ", ", l->to);
}

// The step's number goes to the label of the points on which its own lies, or to one of its own.
static size_t add_label(struct label *labels, size_t n, const struct result *r, double x, double y)
{
    const int number = atoi(r->step);
    size_t i = 0;
    while (i < n && (strcmp(labels[i].type, r->type) || hypot(labels[i].x - x, labels[i].y - y) > DOT))
        i++;
    if (i == n) {
        labels[n] = (struct label){ .type = r->type, .x = x, .words = y, .from = number };
    } else if (number != labels[i].to + 1) {
        char run[80];
        say_run(&labels[i], run, sizeof run);
        snprintf(labels[i].before, sizeof labels->before, "%.40s, ", run);
        labels[i].from = number;
    }
    labels[i].to = number;
    labels[i].y = y;
    return i == n ? n + 1 : n;
}

static void draw_label(const struct plot *p, const struct label *l)
{
    const double y = round(10 * l->words) / 10;
    char text[80];
    say_run(l, text, sizeof text);
    svg_group(p->s, "names", NULL);
    fprintf(p->s->out, "<path class=\"rule thin\" d=\"M%g %gL%g %g\"/>\n", l->x, l->y, l->x + 16, y);
    svg_rect(p->s, l->x + 17, y - 6, 7.0 * (double)strlen(text), 12, "frame");
    svg_text(p->s, l->x + 19, y + 4, "small", "%s%s", text, strcmp(l->type, "f64") ? "" : " f64");
    svg_end(p->s);
}

static void draw_points(const struct plot *p)
{
    struct label labels[64];
    size_t n = 0;
    for (size_t i = 0; i < p->c->rows; i++) {
        const struct result *r = p->c->row[i];
        const double x = intensity(p->c, r);
        if (x > 0)
            n = add_label(labels, n, r, place_x(p, x), place_y(p, r->tflops));
    }
    spread(labels, n, p->top + 8);
    for (size_t i = 0; i < n; i++)
        draw_label(p, &labels[i]);
    for (size_t i = 0; i < p->c->rows; i++) {
        const struct result *r = p->c->row[i];
        const char *class = !strcmp(r->type, "f32") ? "l0" : !strcmp(r->type, "f16") ? "l1" : "l5";
        const double x = intensity(p->c, r);
        char rate[32];
        if (x <= 0)
            continue;
        svg_group(p->s, "point", "%s: %s TFLOP/s, %.3g FLOP a byte", r->step, chart_rate(r->tflops, rate), x);
        fprintf(p->s->out, "<circle class=\"%s dot\" cx=\"%g\" cy=\"%g\" r=\"%d\"/>\n", class, place_x(p, x),
                place_y(p, r->tflops), DOT);
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
    const double f32 = place_x(p, moved_once(p->c, 4)), f16 = place_x(p, moved_once(p->c, 2)), y = p->top + p->height;
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
    p->y_step = 10;
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
    const double left = CHART_MARGIN + 44;
    svg_text(
        s, left, y, "small dim",
        "Bytes: 32 for a sector that is loaded or stored, as a GPU counted them. What passes through shared memory "
        "does not count here.");
    svg_text(
        s, left, y + 16, "small dim",
        "Above the roof of the card's memory, a cache feeds the step. Straight up: the same traffic in less time.");
    y += 32;
    for (size_t i = 0; i < c->rows; i++) {
        if (intensity(c, c->row[i]) > 0)
            continue;
        svg_text(s, left, y, "small dim", "%s is not drawn: the table of counters or this build does not have it.",
                 c->row[i]->step);
        y += 16;
    }
    return y - 4;
}

// The roofs of the card, and of the L1 caches of all its SMs; that of its memory only if it is asked for.
static void draw_roofs(const struct plot *p, double f32, double f16, bool dram)
{
    const struct result *r = p->c->row[0];
    const double l1 = L1_BYTES * r->sms * (r->mhz * 1e-6);
    memory_roof(p, l1, f16 > 0 ? f16 : p->y_to, "L1 caches");
    if (!p->c->card)
        return;
    if (dram)
        memory_roof(p, p->c->card->dram * 1e-3, f16, "the card's memory");
    ceiling(p, f16, f16 / l1, "rule", "tensor cores, f16");
    ceiling(p, f32, f32 / l1, "rule", "multiply-adds, f32");
}

double chart_roofline(struct svg *s, const struct chart *c, double y)
{
    struct plot p = {
        s, c, .left = CHART_MARGIN + 44, .right = CHART_WIDTH - CHART_MARGIN, .top = y + 30, .height = 330
    };
    const struct trial *alone = chart_alone(c, "f16");
    char what[96];
    const double f32 = chart_peak(c, "f32", what), f16 = chart_peak(c, "f16", what);
    scale(&p, fmax(f16, 100));
    svg_text(s, CHART_MARGIN, y + 16, "big", "Roofline: TFLOP/s over FLOP a byte that the warps ask of the L1 cache");
    axes(&p);
    mark_moved_once(&p);
    draw_roofs(&p, f32, f16, true);
    if (alone) {
        char name[sizeof alone->variant + 8];
        snprintf(name, sizeof name, "trial: %s", alone->variant);
        ceiling(&p, alone->high, alone->high / (L1_BYTES * c->row[0]->sms * (c->row[0]->mhz * 1e-6)), "rule dash",
                name);
    }
    draw_points(&p);
    return caption(s, c, p.top + p.height + 36);
}

// --- one step: what it bought ---

// Axes around two points, up to their ceiling.
static void scale_to(struct plot *p, const struct result *before, const struct result *step, double highest)
{
    const double x = intensity(p->c, step), x0 = before ? intensity(p->c, before) : x;
    const double low = before ? fmin(before->tflops, step->tflops) : step->tflops;
    p->x_from = pow(4, floor(log(fmin(x, x0 > 0 ? x0 : x) / 3) / log(4)));
    p->x_to = 4 * fmax(fmax(x, x0), 16);
    p->y_step = 2;
    p->y_from = pow(2, floor(log2(low / 1.5)));
    p->y_to = 1.7 * fmax(highest, step->tflops);
}

// An arrow from one step's point to the next one's; only the point where there is nothing to come from.
static void draw_arrow(const struct plot *p, const struct result *from, const struct result *to)
{
    const double x = place_x(p, intensity(p->c, to)), y = place_y(p, to->tflops);
    if (from && intensity(p->c, from) > 0) {
        const double x0 = place_x(p, intensity(p->c, from)), y0 = place_y(p, from->tflops);
        const double length = fmax(hypot(x - x0, y - y0), 1), dx = (x - x0) / length, dy = (y - y0) / length;
        fprintf(p->s->out, "<circle class=\"l7 dot\" cx=\"%g\" cy=\"%g\" r=\"4\"/>\n", x0, y0);
        fprintf(p->s->out, "<path class=\"rule\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n", x0, y0, x - 6 * dx, y - 6 * dy);
        svg_text(p->s, x0 + 8, y0 + 14, "small dim", "%.2s", from->step);
    }
    fprintf(p->s->out, "<circle class=\"l1 dot\" cx=\"%g\" cy=\"%g\" r=\"6\"/>\n", x, y);
    svg_text(p->s, x - 9, y - 6, "end", "%.2s", to->step);
}

// A row of figures: the step, its time, TFLOP/s, share of cuBLAS.
static void strip_row(struct svg *s, const struct result *r, double y, const char *class)
{
    static const int columns[] = { 210, 300, 390 };
    char rate[32], end[32];
    snprintf(end, sizeof end, "end%s%s", *class ? " " : "", class);
    svg_text(s, CHART_MARGIN, y, *class ? class : NULL, "%s", r->step);
    svg_text(s, columns[0], y, end, r->ms < 1 ? "%.0f us" : "%.3g ms", r->ms < 1 ? r->ms * 1000 : r->ms);
    svg_text(s, columns[1], y, end, "%s", chart_rate(r->tflops, rate));
    if (r->baseline_tflops > 0)
        svg_text(s, columns[2], y, end, "%.1f %%", 100 * r->tflops / r->baseline_tflops);
}

double chart_strip(struct svg *s, const struct chart *c, const struct result *before, const struct result *step)
{
    enum { HEIGHT = 190, FIGURES = 400 };
    struct plot p = {
        s, c, .left = FIGURES + 70, .right = CHART_WIDTH - CHART_MARGIN, .top = CHART_MARGIN, .height = HEIGHT
    };
    char what[96];
    const double f32 = chart_peak(c, "f32", what), f16 = chart_peak(c, "f16", what);
    double y = CHART_MARGIN + 50;
    scale_to(&p, before, step, fmax(chart_peak(c, step->type, what), 1));
    svg_text(s, CHART_MARGIN, y, "small dim", "at %d x %d x %d", c->size, c->size, c->size);
    svg_text(s, 210, y, "small dim end", "time");
    svg_text(s, 300, y, "small dim end", "TFLOP/s");
    svg_text(s, 390, y, "small dim end", "of cuBLAS");
    if (before)
        strip_row(s, before, y += 30, "dim");
    strip_row(s, step, y += 30, "");
    if (before)
        svg_text(s, 300, y += 30, "big end", "x %.2f", before->ms / step->ms);
    axes(&p);
    draw_roofs(&p, f32, f16, false);
    draw_arrow(&p, before, step);
    svg_text(s, p.right, p.top + HEIGHT + 32, "small dim end",
             "FLOP for each byte of the sectors that warps fetch from L1; up: TFLOP/s");
    return p.top + HEIGHT + 48;
}
