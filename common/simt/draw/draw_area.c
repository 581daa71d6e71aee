// See draw_area.h.
#include "draw_area.h"

#include <stdlib.h>

static uint32_t number(const struct panel *p, uint64_t row, uint64_t col)
{
    const uint32_t key = p->key[row * p->pitch + col];
    return key ? 1 + ((key - 1) >> p->shift) : 0;
}

struct area area_bounds(const uint32_t *key, uint64_t rows, uint64_t cols, uint32_t shift, uint32_t n)
{
    uint64_t top = rows, left = cols, bottom = 0, right = 0;
    for (uint64_t r = 0; r < rows; r++)
        for (uint64_t c = 0; c < cols; c++) {
            const uint32_t k = key[r * cols + c];
            if (!k || (n != UINT32_MAX && (k - 1) >> shift != n))
                continue;
            top = r < top ? r : top;
            bottom = r + 1 > bottom ? r + 1 : bottom;
            left = c < left ? c : left;
            right = c + 1 > right ? c + 1 : right;
        }
    return top < bottom ? (struct area){ top, left, bottom - top, right - left } : (struct area){ 0 };
}

// --- rectangles of elements with one number ---

typedef void rectangle(struct panel *p, struct area a, uint32_t number);

// Calls f for rectangles that cover the panel's area, each of one number; returns how many there are. f may be NULL.
static uint32_t cover(struct panel *p, rectangle *f)
{
    const struct area w = p->area;
    bool *done = calloc(w.rows * w.cols, sizeof *done);
    uint32_t n = 0;
    for (uint64_t i = 0; done && i < w.rows * w.cols; i++) {
        const uint64_t row = w.row + i / w.cols, col = w.col + i % w.cols;
        const uint32_t mine = number(p, row, col);
        struct area a = { row, col, 0, 0 };
        if (done[i] || !mine)
            continue;
        while (col + a.cols < w.col + w.cols && number(p, row, col + a.cols) == mine && !done[i + a.cols])
            a.cols++;
        for (bool same = true; same && row + a.rows < w.row + w.rows; a.rows += same)
            for (uint64_t c = 0; c < a.cols; c++)
                same &= number(p, row + a.rows, col + c) == mine;
        for (uint64_t k = 0; k < a.rows * a.cols; k++)
            done[i + k / a.cols * w.cols + k % a.cols] = true;
        n++;
        if (f)
            f(p, a, mine - 1);
    }
    free(done);
    return n;
}

uint32_t panel_numbers(const struct panel *p)
{
    uint32_t most = 0, n = 0;
    const struct area w = p->area;
    for (uint64_t i = 0; i < w.rows * w.cols; i++) {
        const uint32_t k = number(p, w.row + i / w.cols, w.col + i % w.cols);
        most = k > most ? k : most;
    }
    bool *seen = calloc(most + 1, sizeof *seen);
    for (uint64_t i = 0; seen && i < w.rows * w.cols; i++) {
        const uint32_t k = number(p, w.row + i / w.cols, w.col + i % w.cols);
        n += k && !seen[k];
        seen[k] = true;
    }
    free(seen);
    return n;
}

uint32_t panel_rectangles(struct panel *p)
{
    return cover(p, NULL);
}

// --- drawing ---

void panel_pixels(const struct panel *p, struct area a, double out[4])
{
    const double w = p->width / (double)p->area.cols, h = p->height / (double)p->area.rows;
    out[0] = p->x + (double)(a.col - p->area.col) * w;
    out[1] = p->y + (double)(a.row - p->area.row) * h;
    out[2] = (double)a.cols * w;
    out[3] = (double)a.rows * h;
}

static void colour(struct panel *p, struct area a, uint32_t n)
{
    double at[4];
    char class[24];
    panel_pixels(p, a, at);
    snprintf(class, sizeof class, "l%u piece", p->colours ? n % 8 : 0);
    svg_rect(p->svg, at[0], at[1], at[2], at[3], p->colours || n == p->chosen ? class : "frame edge");
}

// A label for each rectangle that has room for one; of narrow ones every second, fourth, ...
static void label(struct panel *p, struct area a, uint32_t n)
{
    double at[4];
    char text[40];
    panel_pixels(p, a, at);
    uint64_t every = 1;
    const uint64_t index = a.cols < p->area.cols ? (a.col - p->area.col) / a.cols : (a.row - p->area.row) / a.rows;
    while (at[2] * (double)every < 30 && a.cols * every < p->area.cols)
        every *= 2;
    while (at[3] * (double)every < 24 && a.rows * every < p->area.rows)
        every *= 2;
    if (index % every || (at[2] < 30 && at[3] < 12))
        return;
    if (at[2] > 110)
        snprintf(text, sizeof text, "%s %u", p->word, n);
    else
        snprintf(text, sizeof text, "%u", n);
    const bool bright = p->colours || n == p->chosen;
    if (at[3] < 22)
        svg_rect(p->svg, at[0] + at[2] / 2 - 50, at[1] + at[3] / 2 - 11, 100, 22, "pill");
    svg_text(p->svg, at[0] + at[2] / 2, at[1] + at[3] / 2 + 7, bright ? "large ink mid" : "large mid", "%s", text);
}

static void outline(struct panel *p, struct area a, uint32_t n)
{
    double at[4];
    if (n != p->chosen)
        return;
    panel_pixels(p, a, at);
    svg_rect(p->svg, at[0] + 1, at[1] + 1, at[2] - 2, at[3] - 2, "chosen");
    svg_rect(p->svg, at[0] + 1, at[1] + 1, at[2] - 2, at[3] - 2, "within");
}

void panel_fit(struct panel *p)
{
    const double narrow = 64, ratio = (double)p->area.cols / (double)p->area.rows;
    if (p->width / ratio <= p->height)
        p->height = p->width / ratio > narrow ? p->width / ratio : narrow;
    else
        p->width = p->height * ratio > narrow ? p->height * ratio : narrow;
}

void panel_draw(struct panel *p)
{
    svg_group(p->svg, "panel", NULL);
    cover(p, colour);
    cover(p, outline);
    if (!p->unnamed)
        cover(p, label);
    svg_end(p->svg);
}
