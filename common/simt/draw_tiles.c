// The tiles of C: which block, warp and lane computes which element. Three panels, each a part of the one before it,
// enlarged: C and its blocks, a block and its warps, a warp and its lanes. All of it is read off a run: see record.h.
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "draw_run.h"
#include "svg.h"

#define WIDTH 1200
#define MARGIN 28
#define TOP 150      // where the panels begin
#define TALLEST 400  // of a panel
#define GAP 56       // between panels
#define FEW 160      // as many rectangles are still clear
#define ELEMENTS_MAX ((uint64_t)1 << 24)

struct area {
    uint64_t row, col, rows, cols;
};

struct tiles {
    struct draw_matrices matrices;
    uint32_t *block, *thread;  // by element of C: 1 + the linear block, 1 + the block's thread; 0: not stored
    uint64_t followed;         // linear block
};

struct panel {
    struct svg *svg;
    const uint32_t *key;  // by element of C; 0 is drawn empty
    uint64_t pitch;       // elements from row to row of key
    uint32_t shift;       // a key's number is (key - 1) >> shift
    struct area area;
    double x, y, width, height;
    uint32_t chosen;
    bool colours;      // else only the chosen one has a colour
    const char *word;  // before the number, where there is room
};

// --- from the run ---

static void store(void *context, const struct record *r, const struct record_event *e)
{
    struct tiles *t = context;
    const struct draw_matrix *c = &t->matrices.c;
    for (uint32_t i = 0; e->kind == RECORD_STORE && e->space == SPACE_GLOBAL && i < e->n; i++) {
        const struct trace_access *a = &e->access[i];
        for (uint32_t lane = 0; lane < LANES; lane++) {
            for (uint32_t b = 0; a->mask >> lane & 1 && b < a->bytes; b += c->bytes) {
                const uint64_t at = a->address[lane] + b - c->address, element = at / c->bytes;
                const uint64_t origin = e->origin[i][lane][b];
                if (a->address[lane] + b < c->address || element >= c->rows * c->cols)
                    continue;
                t->block[element] = (uint32_t)e->block + 1;
                if (e->block == r->block)
                    t->thread[element] = origin_is_lane(origin) ? (uint32_t)origin : e->warp * LANES + lane + 1;
            }
        }
    }
}

static uint32_t number(const struct panel *p, uint64_t row, uint64_t col)
{
    const uint32_t key = p->key[row * p->pitch + col];
    return key ? 1 + ((key - 1) >> p->shift) : 0;
}

// The smallest area that holds all elements whose number is n + 1 (of any: n is UINT32_MAX).
static struct area bounds(const uint32_t *key, uint64_t rows, uint64_t cols, uint32_t shift, uint32_t n)
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

static uint32_t count_numbers(struct panel *p)
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

// --- drawing ---

static struct area pixels(const struct panel *p, struct area a, double out[4])
{
    const double w = p->width / (double)p->area.cols, h = p->height / (double)p->area.rows;
    out[0] = p->x + (double)(a.col - p->area.col) * w;
    out[1] = p->y + (double)(a.row - p->area.row) * h;
    out[2] = (double)a.cols * w;
    out[3] = (double)a.rows * h;
    return a;
}

static void colour(struct panel *p, struct area a, uint32_t n)
{
    double at[4];
    char class[24];
    pixels(p, a, at);
    snprintf(class, sizeof class, "l%u cell", p->colours ? n % 8 : 0);
    svg_rect(p->svg, at[0], at[1], at[2], at[3], p->colours || n == p->chosen ? class : "frame edge");
}

// A label for each rectangle that has room for one; of narrow ones every second, fourth, ...
static void label(struct panel *p, struct area a, uint32_t n)
{
    double at[4];
    char text[40];
    pixels(p, a, at);
    uint64_t every = 1;
    const uint64_t index = a.cols < p->area.cols ? (a.col - p->area.col) / a.cols : (a.row - p->area.row) / a.rows;
    while (at[2] * (double)every < 30 && a.cols * every < p->area.cols)
        every *= 2;
    while (at[3] * (double)every < 24 && a.rows * every < p->area.rows)
        every *= 2;
    if (index % every || (at[2] < 30 && at[3] < 12))
        return;
    snprintf(text, sizeof text, at[2] > 110 ? "%s %u" : "%.0s%u", p->word, n);
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
    pixels(p, a, at);
    svg_rect(p->svg, at[0] + 1, at[1] + 1, at[2] - 2, at[3] - 2, "chosen");
    svg_rect(p->svg, at[0] + 1, at[1] + 1, at[2] - 2, at[3] - 2, "within");
}

// Shrinks the height or the width so that elements are square, unless that makes a narrow strip.
static void fit(struct panel *p)
{
    const double narrow = 64, ratio = (double)p->area.cols / (double)p->area.rows;
    if (p->width / ratio <= p->height)
        p->height = p->width / ratio > narrow ? p->width / ratio : narrow;
    else
        p->width = p->height * ratio > narrow ? p->height * ratio : narrow;
}

static void draw_panel(struct panel *p)
{
    svg_group(p->svg, "panel", NULL);
    cover(p, colour);
    cover(p, outline);
    cover(p, label);
    svg_end(p->svg);
}

// From the chosen part of one panel to the whole of the next.
static void zoom(const struct panel *from, const struct panel *to, struct area a)
{
    double at[4];
    pixels(from, a, at);
    svg_line(from->svg, at[0] + at[2], at[1], to->x, to->y, "zoom");
    svg_line(from->svg, at[0] + at[2], at[1] + at[3], to->x, to->y + to->height, "zoom");
}

static void say(struct panel *p, const char *head, const char *format, ...)
{
    char text[200];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    svg_text(p->svg, p->x, TOP - 42, "large big", "%s", head);
    svg_text(p->svg, p->x, TOP - 16, "large dim", "%s", text);
}

// Halves the warp's area until its pieces are few enough to see, as long as every lane has one in it.
static void crop(struct panel *p)
{
    const uint32_t lanes = count_numbers(p);
    while (cover(p, NULL) > FEW) {
        struct area whole = p->area;
        if (p->area.rows >= p->area.cols)
            p->area.rows = (p->area.rows + 1) / 2;
        else
            p->area.cols = (p->area.cols + 1) / 2;
        if (count_numbers(p) < lanes || (p->area.rows == 1 && p->area.cols == 1)) {
            p->area = whole;
            return;
        }
    }
}

struct lane_share {
    uint64_t elements, rows, cols;  // of a lane in all; and its first piece
};

static struct lane_share share_of(const struct tiles *t, uint32_t thread, struct area warp)
{
    const uint64_t pitch = t->matrices.c.cols;
    struct lane_share s = { 0 };
    uint64_t row = 0, col = 0;
    for (uint64_t r = warp.row; r < warp.row + warp.rows; r++)
        for (uint64_t c = warp.col; c < warp.col + warp.cols; c++) {
            if (t->thread[r * pitch + c] != thread + 1)
                continue;
            row = s.elements ? row : r;
            col = s.elements ? col : c;
            s.elements++;
        }
    while (s.elements && col + s.cols < pitch && t->thread[row * pitch + col + s.cols] == thread + 1)
        s.cols++;
    while (s.elements && row + s.rows < t->matrices.c.rows && t->thread[(row + s.rows) * pitch + col] == thread + 1)
        s.rows++;
    return s;
}

static char *paint(const struct draw_launch *l, const struct tiles *t)
{
    const struct draw_matrix *c = &t->matrices.c;
    const struct draw_place *place = l->place;
    const uint32_t warp = (uint32_t)place->warp;
    struct svg svg;
    char title[300], head[80];
    if (!svg_open(&svg))
        return NULL;
    struct panel blocks = { .svg = &svg, .key = t->block, .pitch = c->cols, .area = { 0, 0, c->rows, c->cols } };
    struct panel warps = { .svg = &svg, .key = t->thread, .pitch = c->cols, .shift = 5, .colours = true };
    struct panel lanes = { .svg = &svg, .key = t->thread, .pitch = c->cols, .colours = true };
    warps.area = bounds(t->thread, c->rows, c->cols, 5, UINT32_MAX);
    const struct area whole = bounds(t->thread, c->rows, c->cols, 5, warp);
    lanes.area = whole;
    blocks.chosen = (uint32_t)t->followed;
    warps.chosen = warp;
    blocks.x = MARGIN;
    blocks.y = warps.y = lanes.y = TOP;
    blocks.width = 250, warps.width = 320, lanes.width = WIDTH - 2 * MARGIN - 250 - 320 - 2 * GAP;
    blocks.height = warps.height = lanes.height = TALLEST;
    blocks.word = "block", warps.word = "warp", lanes.word = "lane";
    warps.x = blocks.x + blocks.width + GAP;
    lanes.x = warps.x + warps.width + GAP;
    fit(&blocks), fit(&warps);
    const uint32_t n_blocks = count_numbers(&blocks), n_warps = count_numbers(&warps);
    // Only this warp's lanes in the last panel.
    uint32_t *own = calloc(c->rows * c->cols, sizeof *own);
    for (uint64_t i = 0; own && i < c->rows * c->cols; i++)
        if (t->thread[i] && (t->thread[i] - 1) / LANES == warp)
            own[i] = (t->thread[i] - 1) % LANES + 1;
    lanes.key = own;
    if (own && whole.rows)
        crop(&lanes);
    const double room = lanes.width;
    fit(&lanes);
    const struct lane_share share = share_of(t, warp * LANES, whole);
    if (share.cols && lanes.width / (double)lanes.area.cols * (double)share.cols < 32)  // a number needs so much
        lanes.width = 32 * (double)lanes.area.cols / (double)share.cols;
    lanes.width = lanes.width < room ? lanes.width : room;
    snprintf(title, sizeof title,
             "Tiles of C: a block %" PRIu64 " x %" PRIu64 ", a warp %" PRIu64 " x %" PRIu64 ", a lane %" PRIu64
             " element%s",
             warps.area.rows, warps.area.cols, whole.rows, whole.cols, share.elements, share.elements == 1 ? "" : "s");
    svg_text(&svg, MARGIN, 48, "huge", "%s", title);
    snprintf(head, sizeof head, "C: %" PRIu64 " x %" PRIu64, c->rows, c->cols);
    say(&blocks, head, n_blocks == 1 ? "%u block" : "%u blocks", n_blocks);
    snprintf(head, sizeof head, "Block (%" PRIu64 ",%" PRIu64 "): %" PRIu64 " x %" PRIu64, place->block[0],
             place->block[1], warps.area.rows, warps.area.cols);
    say(&warps, head, n_warps == 1 ? "%u warp" : "%u warps", n_warps);
    snprintf(head, sizeof head, "Warp %u: %" PRIu64 " x %" PRIu64, warp, whole.rows, whole.cols);
    if (lanes.area.rows < whole.rows || lanes.area.cols < whole.cols)
        say(&lanes, head, "its first %" PRIu64 " x %" PRIu64 " elements, by lane", lanes.area.rows, lanes.area.cols);
    else
        say(&lanes, head, "by lane");
    draw_panel(&blocks);
    draw_panel(&warps);
    if (own && whole.rows)
        draw_panel(&lanes);
    zoom(&blocks, &warps, warps.area);
    zoom(&warps, &lanes, (struct area){ whole.row, whole.col, lanes.area.rows, lanes.area.cols });
    free(own);
    double bottom = blocks.height > warps.height ? blocks.height : warps.height;
    bottom = TOP + (bottom > lanes.height ? bottom : lanes.height);
    char pieces[120] = "";
    if (share.rows * share.cols < share.elements)
        snprintf(pieces, sizeof pieces, " in %" PRIu64 " pieces of %" PRIu64 " x %" PRIu64,
                 share.elements / (share.rows * share.cols), share.rows, share.cols);
    else if (share.elements > 1)
        snprintf(pieces, sizeof pieces, ": %" PRIu64 " x %" PRIu64, share.rows, share.cols);
    svg_text(&svg, MARGIN, bottom + 38, "large", "Lane 0 (framed) has %" PRIu64 " element%s%s.", share.elements,
             share.elements == 1 ? "" : "s", pieces);
    svg_describe(&svg,
                 "Three panels. C of %" PRIu64 " x %" PRIu64 " elements, shared out among %u blocks; block (%" PRIu64
                 ",%" PRIu64 "), shared out among %u warps; warp %u, shared out among its lanes, of which lane 0 has "
                 "%" PRIu64 " elements%s.",
                 c->rows, c->cols, n_blocks, place->block[0], place->block[1], n_warps, warp, share.elements, pieces);
    return svg_close(&svg, WIDTH, bottom + 38 + MARGIN, title);
}

char *draw_tiles(const struct draw_launch *l, char error[DEV_ERROR_MAX])
{
    struct tiles t = { 0 };
    struct record *r = calloc(1, sizeof *r);
    char *text = NULL;
    if (!r || !draw_find_matrices(l, &t.matrices, error)) {
        free(r);
        return NULL;
    }
    const uint64_t n = t.matrices.c.rows * t.matrices.c.cols;
    t.block = n > ELEMENTS_MAX ? NULL : calloc(n, sizeof *t.block);
    t.thread = n > ELEMENTS_MAX ? NULL : calloc(n, sizeof *t.thread);
    r->tell = store;
    r->context = &t;
    if (!t.block || !t.thread) {
        snprintf(error, DEV_ERROR_MAX, "C is too large for a picture: at most 2^24 elements");
    } else if (draw_record(l, r, error)) {
        t.followed = r->block;
        const struct area warp = bounds(t.thread, t.matrices.c.rows, t.matrices.c.cols, 5, (uint32_t)l->place->warp);
        text = warp.rows ? paint(l, &t) : NULL;
        if (!warp.rows)
            snprintf(error, DEV_ERROR_MAX, "warp %" PRIu64 " of that block computes no element of C", l->place->warp);
        else if (!text)
            snprintf(error, DEV_ERROR_MAX, "out of memory for the picture");
    }
    record_free(r);
    free(r);
    free(t.block);
    free(t.thread);
    return text;
}
