// The tiles of C: which block, warp and lane computes which element. Three panels, each a part of the one before it,
// enlarged: C and its blocks, a block and its warps, a warp and its lanes. All of it is read off a run: see record.h.
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

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
    struct draw_matrices matrices;
    uint32_t *block, *thread;  // by element of C: 1 + the linear block, 1 + the block's thread; 0: not stored
    uint64_t followed;         // linear block
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
    warps.area = area_bounds(t->thread, c->rows, c->cols, 5, UINT32_MAX);
    const struct area whole = area_bounds(t->thread, c->rows, c->cols, 5, warp);
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
    panel_fit(&blocks), panel_fit(&warps);
    const uint32_t n_blocks = panel_numbers(&blocks), n_warps = panel_numbers(&warps);
    // Only this warp's lanes in the last panel.
    uint32_t *own = calloc(c->rows * c->cols, sizeof *own);
    for (uint64_t i = 0; own && i < c->rows * c->cols; i++)
        if (t->thread[i] && (t->thread[i] - 1) / LANES == warp)
            own[i] = (t->thread[i] - 1) % LANES + 1;
    lanes.key = own;
    if (own && whole.rows)
        crop(&lanes);
    const double room = lanes.width;
    panel_fit(&lanes);
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
    panel_draw(&blocks);
    panel_draw(&warps);
    if (own && whole.rows)
        panel_draw(&lanes);
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
        const struct area warp =
            area_bounds(t.thread, t.matrices.c.rows, t.matrices.c.cols, 5, (uint32_t)l->place->warp);
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
