// Which elements of C a kernel never writes: whole tiles, or the same rows or columns of each tile. See cause.h.
#include "cause.h"

#include <stdlib.h>

#include "kernel_text.h"
#include "look.h"
#include "probe.h"
#include "unwritten.h"

static bool lines_new(struct unwritten_lines *x, int n)
{
    *x = (struct unwritten_lines){ n, calloc((size_t)n, 1), malloc((size_t)n) };
    for (int i = 0; x->all && i < n; i++)
        x->all[i] = 1;
    return x->some && x->all;
}

static void lines_free(struct unwritten_lines *x)
{
    free(x->some);
    free(x->all);
}

static void lines_note(struct unwritten_lines *x, int i, bool written)
{
    x->some[i] |= !written;
    x->all[i] &= !written;
}

static bool survey(struct unwritten *u, const struct look *l, const struct geometry *g)
{
    *u = (struct unwritten){ .of = (size_t)l->m * (size_t)l->n };
    if (!lines_new(&u->rows, l->m) || !lines_new(&u->cols, l->n) ||
        !lines_new(&u->tile_rows, g->bm < l->m ? g->bm : l->m) ||
        !lines_new(&u->tile_cols, g->bn < l->n ? g->bn : l->n))
        return false;
    for (int i = 0; i < l->m; i++)
        for (int j = 0; j < l->n; j++) {
            const struct meeting t = look_meeting(l, i, j);
            const bool written = t.written;
            u->misplaced = u->misplaced || (written && t.a_row >= 0 && t.b_col >= 0 && (t.a_row != i || t.b_col != j));
            if (!written && !u->n++) {
                u->row = i;
                u->col = j;
            }
            lines_note(&u->rows, i, written);
            lines_note(&u->cols, j, written);
            lines_note(&u->tile_rows, i % g->bm, written);
            lines_note(&u->tile_cols, j % g->bn, written);
        }
    return true;
}

// Whether an element's place in its block's tile tells whether it is written.
static bool tiles_are_alike(const struct look *l, const struct geometry *g)
{
    unsigned char *seen = calloc((size_t)g->bm * (size_t)g->bn, 1);
    bool alike = seen;
    for (int i = 0; i < l->m && alike; i++)
        for (int j = 0; j < l->n && alike; j++) {
            unsigned char *at = &seen[(size_t)(i % g->bm) * (size_t)g->bn + (size_t)(j % g->bn)];
            *at |= look_meeting(l, i, j).written ? 1 : 2;
            alike = *at != 3;
        }
    free(seen);
    return alike;
}

// How many of the elements in these rows and columns are not written; *all: none is.
static size_t unwritten_in(const struct look *l, int row, int rows, int col, int cols, bool *all)
{
    size_t n = 0, of = 0;
    for (int i = row; i < row + rows && i < l->m; i++)
        for (int j = col; j < col + cols && j < l->n; j++, of++)
            n += !look_meeting(l, i, j).written;
    *all = n == of;
    return n;
}

static void survey_tiles(struct unwritten *u, const struct look *l, const struct geometry *g)
{
    bool all;
    for (int row = 0; row < l->m; row += g->bm)
        for (int col = 0; col < l->n; col += g->bn) {
            const size_t n = unwritten_in(l, row, g->bm, col, g->bn, &all);
            u->tiles += all;
            u->in_tiles += all ? n : 0;
        }
    for (int row = 0; g->wm && row < l->m; row += g->wm)
        for (int col = 0; g->wn && col < l->n; col += g->wn) {
            const size_t n = unwritten_in(l, row, g->wm, col, g->wn, &all);
            if (all && !u->warp_tiles++) {
                u->warp_row = row % g->bm;
                u->warp_col = col % g->bn;
            }
            u->in_warp_tiles += all ? n : 0;
        }
}

static void say_warp_tiles(struct cause *c, const struct unwritten *u, const struct geometry *g)
{
    static const enum line_role roles[] = { LINE_ROW, LINE_COL, LINE_STORE_C, LINE_WRITE_C, LINE_ROLES };
    const int across = g->bn / g->wn, warp = u->warp_row / g->wm * across + u->warp_col / g->wn;
    cause_say(
        c,
        "%d whole warp tiles of %d x %d, that from row %d and column %d of its block's tile on first: several warps "
        "have the same tile, and none has this, which is warp %d's: look at a warp's first row and column",
        u->warp_tiles, g->wm, g->wn, u->warp_row, u->warp_col, warp);
    cause_look_at(c, roles);
}

static void say_tiles(struct cause *c, const struct unwritten *u, const struct geometry *g)
{
    static const enum line_role blocks[] = { LINE_BROW, LINE_BCOL, LINE_STORE_C, LINE_ROLES };
    static const enum line_role threads[] = { LINE_ROW, LINE_COL, LINE_STORE_C, LINE_ROLES };
    cause_say(c, "%d whole tile%s: ", u->tiles, u->tiles == 1 ? "" : "s");
    if (g->blocks)
        cause_say(c, "no block's walk over the tiles comes to it, or its row and column are wrong");
    else
        cause_say(c, "look at the grid, at how a block's first row and column come from blockIdx, and at %s",
                  c->boxes ? "row and column of the boxes of C (are they swapped?)" : "the bounds check");
    cause_look_at(c, c->lines.line[LINE_BROW] ? blocks : threads);
}

enum { EDGE = 16 };

// At the last rows or columns of C alone: its bounds check.
static bool at_edge(const struct unwritten_lines *x, int tile)
{
    int first = 0;
    while (!x->all[first])
        first++;
    for (int i = first; i < x->n; i++)
        if (!x->all[i])
            return false;
    return x->n - first < tile && x->n - first <= EDGE;
}

// False if it is not so.
static bool say_edge(struct cause *c, const struct unwritten *u, const struct geometry *g)
{
    static const enum line_role roles[] = { LINE_GUARD_M, LINE_GUARD_N, LINE_STORE_C, LINE_ROLES };
    const bool rows = unwritten_whole(&u->rows) && at_edge(&u->rows, g->bm);
    const bool cols = unwritten_whole(&u->cols) && at_edge(&u->cols, g->bn);
    if (!rows && !cols)
        return false;
    cause_say(c, "the last %ss of C: look at the bounds check of the store", rows ? "row" : "column");
    cause_look_at(c, roles);
    return true;
}

// The store, the line just before it that makes its row or column, and the loop over it.
static void look_at_store(struct cause *c)
{
    enum { NEAR = 4 };
    const unsigned store = c->lines.line[LINE_STORE_C];
    unsigned makers[KERNEL_MAKERS];
    const unsigned n = kernel_text_makers(c->lines.file, store, makers);
    cause_look_at_line(c, store);
    if (n && makers[0] < store && makers[0] + NEAR >= store && kernel_text_sets_for(c->lines.file, makers[0], store))
        cause_look_at_line(c, makers[0]);
    cause_look_at_line(c, kernel_text_loop(c->lines.file, store));
}

// The same rows or columns of each tile.
static void say_within(struct cause *c, const struct unwritten *u)
{
    static const enum line_role of_rows[] = { LINE_STORE_BOX, LINE_STORE_C, LINE_ROW, LINE_WRITE_C, LINE_ROLES };
    static const enum line_role of_cols[] = { LINE_STORE_BOX, LINE_STORE_C, LINE_COL, LINE_WRITE_C, LINE_ROLES };
    static const enum line_role of_blocks[] = { LINE_STORE_C, LINE_BROW, LINE_BCOL, LINE_ROW, LINE_COL, LINE_ROLES };
    const char *name;
    const struct unwritten_lines *lines = unwritten_of_tile(u, &name);
    if (lines) {
        unwritten_say(c, lines, name);
        cause_say(c,
                  " of each block's tile: no thread has them (an index or the threads of a block), the store's loop "
                  "ends too early, or the geometry's tile is larger than the kernel's: look at the %ss that it covers",
                  name);
    } else {
        cause_say(c, "look at the grid, at the rows and columns that the store covers, and at %s",
                  c->boxes ? "row and column of its boxes (are they swapped?)" : "its bounds check");
    }
    if (lines)
        look_at_store(c);
    cause_look_at(c, lines == &u->tile_rows ? of_rows : lines ? of_cols : of_blocks);
    if (lines)
        cause_say_loops(c);
}

// A block that has fewer threads than its tile needs, each with as many elements as the geometry says: 1 if it does
// not, and there are neither warp tiles nor boxes. False if it is not so.
static bool say_threads(struct cause *c, const struct probe *p)
{
    const struct geometry *g = &p->geometry;
    const long each = (long)(g->tm ? g->tm : 1) * (g->tn ? g->tn : 1), tile = (long)g->bm * g->bn;
    static const enum line_role roles[] = { LINE_GEOMETRY, LINE_ROLES };
    if (cause_of_threads(c, p))
        return true;
    if (g->wm || g->box || g->threads * each >= tile)
        return false;
    cause_say(c, "%d threads a block with %ld element%s each are too few for a tile of %d x %d", g->threads, each,
              each == 1 ? "" : "s", g->bm, g->bn);
    cause_look_at(c, roles);
    return true;
}

// Whether all that is written stands where it would if rows of C were that far apart. False if it is not so.
static bool say_stride(struct cause *c, const struct look *l)
{
    static const enum line_role roles[] = { LINE_STORE_C, LINE_WRITE_C, LINE_ROLES };
    int by = 0;
    for (int i = 0; i < l->m; i++)
        for (int j = 0; j < l->n; j++) {
            const struct meeting t = look_meeting(l, i, j);
            const int from = i * l->n + j - t.b_col;
            if (!t.written || t.a_row < 0 || t.b_col < 0)
                continue;
            if (!by && t.a_row > 0 && from > 0 && from % t.a_row == 0)
                by = from / t.a_row;
            if (from != by * t.a_row)
                return false;
        }
    if (!by || by == l->n)
        return false;
    cause_say(c, "rows of C are stored %d elements apart, and are %d: the wrong length of a row%s", by, l->n,
              by == l->m   ? " (that is M: are M and N swapped?)"
              : by == l->k ? " (that is K)"
                           : "");
    cause_look_at(c, roles);
    return true;
}

static void say_nothing(struct cause *c)
{
    static const enum line_role roles[] = { LINE_STORE_C, LINE_GUARD_M, LINE_WRITE_C, LINE_ROLES };
    cause_say(c, "the store is never reached, or its bounds check or loop lets nothing through");
    cause_look_at(c, roles);
}

bool cause_of_unwritten(struct cause *c, struct probe *p, const struct look *l)
{
    struct unwritten u;
    const struct geometry *g = &p->geometry;
    const bool known = survey(&u, l, g);
    if (known && u.n) {
        survey_tiles(&u, l, g);
        u.alike = tiles_are_alike(l, g);
        cause_say(c, "%zu of %zu elements of C are never written, C[%d][%d] first: ", u.n, u.of, u.row, u.col);
        if (u.n == u.of)
            say_nothing(c);
        else if (u.in_tiles == u.n)
            u.misplaced ? say_within(c, &u) : say_tiles(c, &u, g);
        else if (u.alike && u.in_warp_tiles == u.n && !unwritten_whole(&u.tile_rows) && !unwritten_whole(&u.tile_cols))
            say_warp_tiles(c, &u, g);
        else if (!say_threads(c, p) && !(u.misplaced && say_stride(c, l)) && !say_edge(c, &u, g) &&
                 !unwritten_say_stores(c, &u, p, l))
            say_within(c, &u);
    }
    lines_free(&u.rows);
    lines_free(&u.cols);
    lines_free(&u.tile_rows);
    lines_free(&u.tile_cols);
    return known && u.n;
}
