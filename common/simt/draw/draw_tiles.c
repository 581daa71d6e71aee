// The tiles of a product's result: which block, warp and lane computes which element. Three panels, each a part of the
// one before it, enlarged: it and its blocks, a block and its warps, a warp and its lanes. All of it is read off a run:
// see record.h. Without a product: the same for the first array that it stores to, in rows of 32 elements.
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "draw_area.h"
#include "draw_run.h"

#define WIDTH 1200
#define MARGIN 28
#define TOP 150      // where the panels begin
#define TALLEST 400  // of a panel
#define GAP 56       // between panels
#define FEW 160      // as many rectangles are still clear
#define ELEMENTS_MAX ((uint64_t)1 << 24)

struct tiles {
    const struct draw_launch *launch;
    struct simt_matrix c;      // the result
    bool flat;                 // there is none: an array, in rows of 32
    uint32_t *block, *thread;  // by element of c: 1 + the linear block, 1 + the block's thread; 0: not stored
    uint64_t followed;         // linear block
    bool large, failed;        // c has too many elements; out of memory
};

// --- from the run ---

// Takes the array that the store goes to for c.
static void take_array(struct tiles *t, const struct record_event *e)
{
    const uint64_t number = e->access[0].address[__builtin_ctz(e->access[0].mask)] >> MEMORY_SHIFT;
    const struct allocation *a = &t->launch->simt->memory.all[number];
    const uint32_t bytes = e->u->kind == UOP_STORE ? e->u->mem->bytes : e->access[0].bytes;
    const uint64_t n = a->bytes / bytes, cols = n > LANES && n % LANES == 0 ? LANES : n;
    t->c = (struct simt_matrix){ a->name, number << MEMORY_SHIFT, n / cols, cols, bytes };
}

static bool make_room(struct tiles *t)
{
    const uint64_t n = t->c.rows * t->c.columns;
    t->large = n > ELEMENTS_MAX;
    t->block = t->large ? NULL : calloc(n, sizeof *t->block);
    t->thread = t->large ? NULL : calloc(n, sizeof *t->thread);
    t->failed = !t->block || !t->thread;
    return !t->failed;
}

static void note_store(struct tiles *t, const struct record_event *e, uint32_t i, uint32_t lane)
{
    const struct simt_matrix *c = &t->c;
    const struct trace_access *a = &e->access[i];
    for (uint32_t b = 0; b < a->bytes; b += c->bytes) {
        const uint64_t at = a->address[lane] + b, element = (at - c->address) / c->bytes;
        const uint64_t origin = e->origin[i][lane][b];
        if (at < c->address || element >= c->rows * c->columns)
            continue;
        t->block[element] = (uint32_t)e->block + 1;
        if (e->block == t->followed)
            t->thread[element] = origin_is_lane(origin) ? (uint32_t)origin : e->warp * LANES + lane + 1;
    }
}

static void store(void *context, const struct record *r, const struct record_event *e)
{
    struct tiles *t = context;
    if (e->kind != RECORD_STORE || e->space != SPACE_GLOBAL || !e->n || t->failed)
        return;
    t->followed = r->block;
    if (!t->c.address)
        take_array(t, e);
    if (!t->block && !make_room(t))
        return;
    for (uint32_t i = 0; i < e->n; i++)
        for (uint32_t lane = 0; lane < LANES; lane++)
            if (e->access[i].mask >> lane & 1)
                note_store(t, e, i, lane);
}

// --- drawing ---

// From the chosen part of one panel to the whole of the next.
static void zoom(const struct panel *from, const struct panel *to, struct area a)
{
    double at[4];
    panel_pixels(from, a, at);
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
    const uint32_t lanes = panel_numbers(p);
    while (panel_rectangles(p) > FEW) {
        struct area whole = p->area;
        if (p->area.rows >= p->area.cols)
            p->area.rows = (p->area.rows + 1) / 2;
        else
            p->area.cols = (p->area.cols + 1) / 2;
        if (panel_numbers(p) < lanes || (p->area.rows == 1 && p->area.cols == 1)) {
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
    const uint64_t pitch = t->c.columns;
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
    while (s.elements && row + s.rows < t->c.rows && t->thread[(row + s.rows) * pitch + col] == thread + 1)
        s.rows++;
    return s;
}

struct view {
    struct svg svg;
    const struct tiles *t;
    struct panel blocks, warps, lanes;
    uint32_t *own;      // by element of c: 1 + the lane of the warp that is shown; 0: of none
    struct area whole;  // the warp's
    struct lane_share share;
    uint32_t warp;
};

// "128 x 8", or of an array "256 elements".
static const char *size_text(const struct view *v, struct area a, char text[60])
{
    if (!v->t->flat)
        snprintf(text, 60, "%" PRIu64 " x %" PRIu64, a.rows, a.cols);
    else
        snprintf(text, 60, "%" PRIu64 " elements", a.rows * a.cols);
    return text;
}

static struct panel panel_at(struct view *v, const uint32_t *key, double x, double width, const char *word)
{
    return (struct panel){ .svg = &v->svg,
                           .key = key,
                           .pitch = v->t->c.columns,
                           .x = x,
                           .y = TOP,
                           .width = width,
                           .height = TALLEST,
                           .colours = true,
                           .word = word };
}

static void place_lanes(struct view *v)
{
    const struct simt_matrix *c = &v->t->c;
    const double room = v->lanes.width;
    for (uint64_t i = 0; i < c->rows * c->columns; i++)
        if (v->t->thread[i] && (v->t->thread[i] - 1) / LANES == v->warp)
            v->own[i] = (v->t->thread[i] - 1) % LANES + 1;
    v->lanes.area = v->whole;
    crop(&v->lanes);
    panel_fit(&v->lanes);
    v->share = share_of(v->t, v->warp * LANES, v->whole);
    if (v->share.cols && v->lanes.width / (double)v->lanes.area.cols * (double)v->share.cols < 32)
        v->lanes.width = 32 * (double)v->lanes.area.cols / (double)v->share.cols;  // a number needs so much
    v->lanes.width = v->lanes.width < room ? v->lanes.width : room;
}

static void place_panels(struct view *v)
{
    const struct simt_matrix *c = &v->t->c;
    const double wide[] = { 250, 320 }, x[] = { MARGIN, MARGIN + wide[0] + GAP, MARGIN + wide[0] + wide[1] + 2 * GAP };
    v->blocks = panel_at(v, v->t->block, x[0], wide[0], "block");
    v->warps = panel_at(v, v->t->thread, x[1], wide[1], "warp");
    v->lanes = panel_at(v, v->own, x[2], WIDTH - MARGIN - x[2], "lane");
    v->blocks.area = (struct area){ 0, 0, c->rows, c->columns };
    v->blocks.colours = false;
    v->blocks.chosen = (uint32_t)v->t->followed;
    v->warps.shift = 5;
    v->warps.area = area_bounds(v->t->thread, c->rows, c->columns, 5, UINT32_MAX);
    v->warps.chosen = v->warp;
    v->whole = area_bounds(v->t->thread, c->rows, c->columns, 5, v->warp);
    panel_fit(&v->blocks);
    panel_fit(&v->warps);
    const double rows = 32.0 * (double)v->warps.area.rows;  // of an array, each row with its number
    if (v->t->flat && v->warps.height < rows)
        v->warps.height = rows < TALLEST ? rows : TALLEST;
    place_lanes(v);
}

static void headings(struct view *v)
{
    char head[200], size[60];
    const uint64_t *block = v->t->launch->place->block;
    const uint32_t blocks = panel_numbers(&v->blocks), warps = panel_numbers(&v->warps);
    snprintf(head, sizeof head, "%.40s: %s", v->t->c.name, size_text(v, v->blocks.area, size));
    say(&v->blocks, head, "%u block%s%s", blocks, text_plural(blocks), v->t->flat ? ", 32 elements a row" : "");
    if (v->t->flat)
        snprintf(head, sizeof head, "Block %" PRIu64 ": %s", v->t->followed, size_text(v, v->warps.area, size));
    else
        snprintf(head, sizeof head, "Block (%" PRIu64 ",%" PRIu64 "): %s", block[0], block[1],
                 size_text(v, v->warps.area, size));
    say(&v->warps, head, "%u warp%s", warps, text_plural(warps));
    snprintf(head, sizeof head, "Warp %u: %s", v->warp, size_text(v, v->whole, size));
    if (v->lanes.area.rows < v->whole.rows || v->lanes.area.cols < v->whole.cols)
        say(&v->lanes, head, "its first %" PRIu64 " x %" PRIu64 " elements, by lane", v->lanes.area.rows,
            v->lanes.area.cols);
    else
        say(&v->lanes, head, "by lane");
}

// What lane 0 has, below the panels; and the same in words.
static void lane_text(struct view *v, double y)
{
    const struct lane_share *s = &v->share;
    char pieces[120] = "", size[60];
    if (s->rows * s->cols < s->elements)
        snprintf(pieces, sizeof pieces, " in %" PRIu64 " pieces of %" PRIu64 " x %" PRIu64,
                 s->elements / (s->rows * s->cols), s->rows, s->cols);
    else if (s->elements > 1)
        snprintf(pieces, sizeof pieces, ": %" PRIu64 " x %" PRIu64, s->rows, s->cols);
    svg_text(&v->svg, MARGIN, y, "large", "Lane 0 (framed) has %" PRIu64 " element%s%s.", s->elements,
             text_plural(s->elements), pieces);
    svg_describe(&v->svg,
                 "Three panels. %.40s, %s, shared out among %u blocks; block %" PRIu64
                 ", shared out among %u warps; warp %u, shared out among its lanes, of which lane 0 has %" PRIu64
                 " elements%s.",
                 v->t->c.name, size_text(v, v->blocks.area, size), panel_numbers(&v->blocks), v->t->followed,
                 panel_numbers(&v->warps), v->warp, s->elements, pieces);
}

static double lower(const struct panel *p, double than)
{
    return p->y + p->height > than ? p->y + p->height : than;
}

static char *paint(const struct tiles *t)
{
    struct view v = { .t = t, .warp = (uint32_t)t->launch->place->warp };
    char title[300], block[60], warp[60];
    v.own = calloc(t->c.rows * t->c.columns, sizeof *v.own);
    if (!v.own || !svg_open(&v.svg)) {
        free(v.own);
        return NULL;
    }
    place_panels(&v);
    if (t->flat)
        snprintf(title, sizeof title, "From grid to lane: %u block%s, %u warp%s in each", panel_numbers(&v.blocks),
                 text_plural(panel_numbers(&v.blocks)), panel_numbers(&v.warps), text_plural(panel_numbers(&v.warps)));
    else
        snprintf(title, sizeof title, "Tiles of %.40s: a block %s, a warp %s, a lane %" PRIu64 " element%s", t->c.name,
                 size_text(&v, v.warps.area, block), size_text(&v, v.whole, warp), v.share.elements,
                 text_plural(v.share.elements));
    svg_text(&v.svg, MARGIN, 48, "huge", "%s", title);
    headings(&v);
    panel_draw(&v.blocks);
    panel_draw(&v.warps);
    panel_draw(&v.lanes);
    zoom(&v.blocks, &v.warps, v.warps.area);
    zoom(&v.warps, &v.lanes, (struct area){ v.whole.row, v.whole.col, v.lanes.area.rows, v.lanes.area.cols });
    const double bottom = lower(&v.blocks, lower(&v.warps, lower(&v.lanes, 0)));
    lane_text(&v, bottom + 38);
    free(v.own);
    return svg_close(&v.svg, WIDTH, bottom + 38 + MARGIN, title);
}

// What there is to draw after the run, or why there is nothing.
static char *conclude(const struct tiles *t, char error[DEV_ERROR_MAX])
{
    const uint64_t warp = t->launch->place->warp;
    struct area area = { 0 };
    char *text = NULL;
    if (t->thread)
        area = area_bounds(t->thread, t->c.rows, t->c.columns, 5, (uint32_t)warp);
    if (t->large)
        snprintf(error, DEV_ERROR_MAX, "%.100s is too large for a picture: at most 2^24 elements", t->c.name);
    else if (!area.rows && !t->failed)
        snprintf(error, DEV_ERROR_MAX, "warp %" PRIu64 " of that block computes no element", warp);
    else if (t->failed || !(text = paint(t)))
        snprintf(error, DEV_ERROR_MAX, "out of memory for the picture");
    return text;
}

char *draw_tiles(const struct draw_launch *l, char error[DEV_ERROR_MAX])
{
    const struct simt_product *product = l->place->product;
    struct tiles t = { .launch = l, .flat = !product };
    struct record *r = calloc(1, sizeof *r);
    char *text = NULL;
    if (!r) {
        snprintf(error, DEV_ERROR_MAX, "out of memory for the picture");
    } else {
        if (product)
            t.c = product->result;
        r->tell = store;
        r->context = &t;
        if (draw_record(l, r, error))
            text = conclude(&t, error);
        record_free(r);
    }
    free(r);
    free(t.block);
    free(t.thread);
    return text;
}
