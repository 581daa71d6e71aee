// What is said of elements of A, B or C that were used in the wrong place. See cause.h.
#include "cause.h"

#include <stdlib.h>

#include "flow.h"
#include "kernel_text.h"
#include "look.h"
#include "moves.h"
#include "probe.h"

// --- Moves of A, B or C ---

struct moved {
    struct moves m;
    enum law law;
    int by;
    struct move example;
    int from_row, from_col;  // of a warp tile of C, or of a block's: the first where something is in the wrong place
    bool at_edge;            // it is so in the last rows of A, or the last columns of B, alone
};

// The place in A, B or C that an element of C tells something about, and what was used in its stead.
static struct move move_of(const struct look *l, char matrix, int i, int j)
{
    const struct meeting t = look_meeting(l, i, j);
    if (matrix == 'A')
        return (struct move){ i, j % l->k, t.a_row, t.a_col };
    if (matrix == 'B')
        return (struct move){ i % l->k, j, t.b_row, t.b_col };
    return (struct move){ i, j, t.a_row, t.b_col };
}

static bool is_moved(const struct move *e)
{
    return e->to_y != e->y || e->to_x != e->x;
}

enum { EDGE = 16 };

static void find_first(struct moved *x, const struct look *l, const struct geometry *g, char matrix)
{
    const int tile_m = g->wm ? g->wm : g->bm, tile_n = g->wn ? g->wn : g->bn;
    int row = l->m, col = l->n;
    x->from_row = tile_m;
    x->from_col = tile_n;
    for (int i = 0; i < l->m; i++)
        for (int j = 0; j < l->n; j++) {
            const struct move e = move_of(l, matrix, i, j);
            if (e.to_y < 0 || e.to_x < 0 || !is_moved(&e))
                continue;
            x->from_row = i % tile_m < x->from_row ? i % tile_m : x->from_row;
            x->from_col = j % tile_n < x->from_col ? j % tile_n : x->from_col;
            row = i < row ? i : row;
            col = j < col ? j : col;
        }
    x->at_edge =
        (matrix == 'A' && row >= l->m - EDGE && l->m > g->bm) || (matrix == 'B' && col >= l->n - EDGE && l->n > g->bn);
}

// False where memory runs out. The example's y is -1 if all elements are in their place.
static bool find_moves(struct moved *x, const struct look *l, const struct probe *p, char matrix)
{
    const struct geometry *g = &p->geometry;
    *x = (struct moved){ .m = {
                             .all = malloc((size_t)l->m * (size_t)l->n * sizeof *x->m.all),
                             .tile_y = matrix == 'B' ? g->bk : g->bm,
                             .tile_x = matrix == 'A' ? g->bk : g->bn,
                             .along_y = matrix == 'B',
                             .depth = matrix == 'C' ? 0 : l->k,
                             .length = matrix == 'A' ? l->k : l->n,
                             .chunk = (int)(16 / type_size(p->type)),
                         } };
    for (int i = 0; x->m.all && i < l->m; i++)
        for (int j = 0; j < l->n; j++) {
            const struct move e = move_of(l, matrix, i, j);
            if (e.to_y >= 0 && e.to_x >= 0)
                x->m.all[x->m.n++] = e;
        }
    x->example.y = -1;
    x->law = x->m.n ? moves_law(&x->m, &x->by, &x->example) : LAW_NONE;
    if (x->law == LAW_STRIDE && x->m.length == x->m.tile_x)  // of both the same: the tile's is read more often
        x->law = LAW_TILE_STRIDE;
    find_first(x, l, g, matrix);
    return x->m.n;
}

// --- In words ---

static const char *row_of(char matrix)
{
    return matrix == 'B' ? "k" : "row";
}

static const char *col_of(char matrix)
{
    return matrix == 'A' ? "k" : "column";
}

enum { FRAGMENT_K = 16, SWIZZLED = 8 };  // k of a fragment; chunks that a swizzle exchanges

// Laws along K have words of their own.
static void say_along(struct cause *c, char matrix, bool along_k, enum law law, int by, const char *line)
{
    switch (law) {
    case LAW_TILE_Y:
    case LAW_TILE_X:
    case LAW_FIRST_TILE_Y:
    case LAW_FIRST_TILE_X:
        if (along_k && c->staged)
            cause_say(c,
                      "%c's tile of another step along K is multiplied: the wrong stage is written or read, or %c does "
                      "not move on",
                      matrix, matrix);
        else if (along_k)
            cause_say(c, "%c's tile of another step along K is multiplied: %c does not move on with each tile", matrix,
                      matrix);
        else
            cause_say(c, "%ss of another block's tile of %c are used: the block's first %s is not added, or wrong",
                      line, matrix, line);
        break;
    case LAW_SHIFT_Y:
    case LAW_SHIFT_X:
        cause_say(c, "the %s of %c is off by %+d", line, matrix, by);
        break;
    case LAW_SAME_Y:
    case LAW_SAME_X:
        cause_say(c, "one %s of %c is used for %d of them: an index along the %ss is left out", line, matrix, by, line);
        break;
    case LAW_REST_Y:
    case LAW_REST_X:
        cause_say(c, "only the first %d %ss of a tile of %c are used: an index along the %ss is left out", by, line,
                  matrix, line);
        break;
    case LAW_XOR_Y:
    case LAW_XOR_X:
        if (along_k && by % FRAGMENT_K == 0)
            cause_say(c, "k of %c that are %d apart are exchanged: a fragment is loaded for the wrong step of k",
                      matrix, by);
        else
            cause_say(c, "%ss of %c that are %d apart are exchanged: %s", line, matrix, by,
                      matrix == 'C' ? "an index at the store, or which lane has which element"
                                    : "the halves of a fragment, or lanes");
        break;
    default:
        cause_say(c, "other %ss of the tile of %c are used: an index along the %ss is wrong", line, matrix, line);
        break;
    }
}

// The length of a row, of the matrix or of a tile, is mistaken.
static void say_stride(struct cause *c, char matrix, const struct moved *x)
{
    switch (x->law) {
    case LAW_STRIDE:
        cause_say(c, "rows of %c are taken to be %d elements apart, and are %d: the wrong stride", matrix, x->by,
                  x->m.length);
        break;
    case LAW_SWAPPED:
        cause_say(c, "%c is read as if it were transposed, with rows of %d: row and column are swapped", matrix, x->by);
        break;
    case LAW_TILE_STRIDE:
        cause_say(c, "rows of %c's tile are written %d elements apart, and read %d apart: the wrong stride", matrix,
                  x->m.tile_x, x->by);
        break;
    case LAW_TILE_SWAPPED:
        cause_say(c, "row and column of %c's tile are swapped", matrix);
        break;
    case LAW_PADDED:
        cause_say(c, "rows of %c's tile are written %d elements apart, and read %d apart: the wrong stride", matrix,
                  x->m.tile_x + x->by, x->m.tile_x);
        break;
    default:  // LAW_STEP
        cause_say(c, "from one tile of %c to the next along K it is %d elements: the wrong step", matrix, x->by);
        break;
    }
}

// How many neighbours in a row stay together, at least.
static int together(const struct moves *m)
{
    int n = m->length;
    for (size_t i = 0; i < m->n; i++) {
        const int by = abs(m->all[i].to_x - m->all[i].x);
        n = by && (by & -by) < n ? by & -by : n;
    }
    return n;
}

// Within 128 bytes a swizzle exchanges chunks; beyond them it does not.
static void say_chunks(struct cause *c, char matrix, const struct moves *m)
{
    const int n = together(m);
    if (n >= SWIZZLED * m->chunk)
        cause_say(c, "%d columns of %c at a time are found in another order: an index along the row is wrong", n,
                  matrix);
    else
        cause_say(c, "16-byte chunks of %c are found in another order than they were put in: %s", matrix,
                  c->lines.swizzled ? "the swizzle differs" : "an index along the row is wrong");
}

// Pieces of the matrix, or of a tile, have changed places.
static void say_pieces(struct cause *c, char matrix, const struct moved *x)
{
    switch (x->law) {
    case LAW_TRANSPOSED:
        if (x->by)
            cause_say(c, "%d x %d pieces of %c are transposed: ", x->by, x->by, matrix);
        else
            cause_say(c, "%c is transposed: ", matrix);
        cause_say(c, matrix == 'C'
                         ? "row and column are swapped in the products or at the store"
                         : "row and column are swapped, or a fragment's layout (row_major, col_major, .trans) is "
                           "wrong");
        break;
    case LAW_AHEAD:
        cause_say(c, "k of %c is %d too %s", matrix, abs(x->by), x->by > 0 ? "high" : "low");
        if (x->from_row || x->from_col)
            cause_say(c, " from %s %d of each warp tile on", x->from_row ? "row" : "column",
                      x->from_row ? x->from_row : x->from_col);
        cause_say(c, ": a fragment is loaded again %s", x->by > 0 ? "before its last product" : "too late");
        break;
    case LAW_BOXES:
        cause_say(c, "%d x %d boxes of %c are in each other's places: row and column of a %s are swapped", x->by, x->by,
                  matrix, x->by == x->m.tile_y && x->by == x->m.tile_x ? "block" : "box");
        break;
    case LAW_QUARTERS:
        cause_say(c,
                  "in %d x %d pieces of %c the top right and the bottom left quarter are exchanged: the order of "
                  "the fragment's registers, or the lanes' addresses",
                  2 * x->by, 2 * x->by, matrix);
        break;
    case LAW_CHUNKS:
        say_chunks(c, matrix, &x->m);
        break;
    case LAW_PIECES:
        cause_say(c, "16-byte chunks of %c are taken from the wrong place: %sthe index of a chunk%s", matrix,
                  c->lines.swizzled ? "the swizzle, or " : "",
                  c->lines.products ? ", or leading and stride of wgmma's descriptor" : "");
        break;
    case LAW_STARTS:
        cause_say(c,
                  "rows of %c are read in one piece, each from a wrong place on: where the pointer is set to the first "
                  "element, or the length of a row at the load",
                  matrix);
        break;
    case LAW_MIXED:
        cause_say(c, "rows and columns of %c are mixed up within the tile", matrix);
        break;
    default:  // LAW_NONE
        cause_say(c, "elements of %c are in the wrong place: an index is wrong", matrix);
        break;
    }
}

static void say_law(struct cause *c, char matrix, const struct moved *x)
{
    switch (x->law) {
    case LAW_STRIDE:
    case LAW_SWAPPED:
    case LAW_TILE_STRIDE:
    case LAW_TILE_SWAPPED:
    case LAW_PADDED:
    case LAW_STEP:
        say_stride(c, matrix, x);
        break;
    case LAW_TILE_Y:
    case LAW_FIRST_TILE_Y:
    case LAW_SHIFT_Y:
    case LAW_SAME_Y:
    case LAW_REST_Y:
    case LAW_XOR_Y:
    case LAW_ORDER_Y:
        say_along(c, matrix, matrix == 'B', x->law, x->by, row_of(matrix));
        break;
    case LAW_TILE_X:
    case LAW_FIRST_TILE_X:
    case LAW_SHIFT_X:
    case LAW_SAME_X:
    case LAW_REST_X:
    case LAW_XOR_X:
    case LAW_ORDER_X:
        say_along(c, matrix, matrix == 'A', x->law, x->by, col_of(matrix));
        break;
    default:
        say_pieces(c, matrix, x);
        break;
    }
    if (matrix == 'C')
        cause_say(c, " (in C[%d][%d] stands C[%d][%d])", x->example.y, x->example.x, x->example.to_y, x->example.to_x);
    else
        cause_say(c, " (for %c[%d][%d] it takes %c[%d][%d])", matrix, x->example.y, x->example.x, matrix,
                  x->example.to_y, x->example.to_x);
}

// Whether every element stays with its thread (lanes 1) or its warp (lanes 32), by one of the usual ways to divide a
// tile.
static bool stays_with(const struct geometry *g, const struct moves *m, int lanes)
{
    int (*const owners[])(const struct geometry *, int, int) = { owner_by_patches, owner_by_pieces,
                                                                 owner_by_fragments };
    for (size_t o = 0; o < sizeof owners / sizeof *owners; o++) {
        size_t i = 0;
        for (; i < m->n; i++) {
            const struct move *e = &m->all[i];
            const int is = owners[o](g, e->y % g->bm, e->x % g->bn),
                      was = owners[o](g, e->to_y % g->bm, e->to_x % g->bn);
            if (is < 0 || was < 0 || is / lanes != was / lanes)
                break;
        }
        if (i == m->n)
            return true;
    }
    return false;
}

static bool stays_in_block(const struct geometry *g, const struct moves *m)
{
    for (size_t i = 0; i < m->n; i++)
        if (m->all[i].y / g->bm != m->all[i].to_y / g->bm || m->all[i].x / g->bn != m->all[i].to_x / g->bn)
            return false;
    return true;
}

static void say_owner(struct cause *c, const struct geometry *g, const struct moved *x)
{
    if (!stays_in_block(g, &x->m))
        return;
    if (stays_with(g, &x->m, 1))
        cause_say(c, ", but each with its own thread: the index of its accumulators");
    else if (stays_with(g, &x->m, 32))
        cause_say(c, ", but each with its own warp: which lane has which row and column");
}

static bool from_global(enum law law)
{
    return law == LAW_STRIDE || law == LAW_SWAPPED || law == LAW_STEP || law == LAW_STARTS;
}

static bool is_xor(enum law law)
{
    return law == LAW_XOR_X || law == LAW_XOR_Y;
}

static bool of_other_tile(enum law law)
{
    return law == LAW_TILE_X || law == LAW_TILE_Y || law == LAW_FIRST_TILE_X || law == LAW_FIRST_TILE_Y;
}

static void look_at(struct cause *c, char matrix, const struct moved *x, bool along_k)
{
    enum { MOST = 5, HALF = 3 };
    static const enum line_role stored[] = { LINE_READ_PART, LINE_SCALE,    LINE_ROUND, LINE_WRITE_C,
                                             LINE_STORE_C,   LINE_MULTIPLY, LINE_ROLES };
    static const enum line_role edge[][MOST] = { { LINE_LOAD_A, LINE_BASE_A, LINE_WRITE_A, LINE_READ_A, LINE_ROLES },
                                                 { LINE_LOAD_B, LINE_BASE_B, LINE_WRITE_B, LINE_READ_B, LINE_ROLES } };
    static const enum line_role copied[][MOST] = { { LINE_READ_A, LINE_WRITE_A, LINE_LOAD_A, LINE_ROLES },
                                                   { LINE_READ_B, LINE_WRITE_B, LINE_LOAD_B, LINE_ROLES } };
    static const enum line_role loaded[][MOST] = { { LINE_LOAD_A, LINE_BASE_A, LINE_ROLES },
                                                   { LINE_LOAD_B, LINE_BASE_B, LINE_ROLES } };
    static const enum line_role block[][MOST] = { { LINE_BASE_A, LINE_LOAD_A, LINE_WRITE_A, LINE_BROW, LINE_ROLES },
                                                  { LINE_BASE_B, LINE_LOAD_B, LINE_WRITE_B, LINE_BCOL, LINE_ROLES } };
    static const enum line_role step[][MOST] = { { LINE_STEP_A, LINE_READ_A, LINE_WRITE_A, LINE_LOAD_A, LINE_ROLES },
                                                 { LINE_STEP_B, LINE_READ_B, LINE_WRITE_B, LINE_LOAD_B, LINE_ROLES } };
    static const enum line_role ask[][MOST] = { { LINE_ASK_A, LINE_READ_A, LINE_ROLES },
                                                { LINE_ASK_B, LINE_READ_B, LINE_ROLES } };
    static const enum line_role pieces[] = { LINE_WRITE_C, LINE_MULTIPLY, LINE_STORE_C, LINE_ROLES };
    static const enum line_role boxes[] = { LINE_STORE_C, LINE_WRITE_C, LINE_SCALE, LINE_ROLES };
    const int b = matrix == 'B';
    if (matrix == 'C' && (x->law == LAW_TRANSPOSED || x->law == LAW_QUARTERS) && x->by && x->by <= EDGE)
        cause_look_at_most(c, pieces, HALF);  // within what an instruction stores
    else if (matrix == 'C')
        cause_look_at_most(c, x->law == LAW_BOXES ? boxes : stored, HALF);
    else if (x->at_edge)
        cause_look_at(c, edge[b]);
    else if (x->law == LAW_AHEAD || (along_k && is_xor(x->law) && x->by % FRAGMENT_K == 0))
        cause_look_at(c, ask[b]);
    else if (x->law == LAW_STEP || (of_other_tile(x->law) && along_k))
        cause_look_at(c, step[b]);
    else if (of_other_tile(x->law))
        cause_look_at(c, block[b]);
    else if (from_global(x->law))
        cause_look_at(c, loaded[b]);
    else {
        cause_look_at_most(c, copied[b], 1);
        if (c->lines.products && matrix != 'C')
            cause_look_at_line(c, kernel_text_descriptor(c->lines.file, matrix));
        cause_look_at_line(c, cause_index_line(c, c->look[0]));
        cause_look_at(c, copied[b]);
    }
}

// Whether the first that should have been there does not come to the products at all; if say, that is said. C's have no
// such way.
static bool is_lost(struct cause *c, struct probe *p, const struct look *l, char matrix, const struct moved *x,
                    bool say)
{
    const struct move *e = &x->example;
    const bool columns = e->to_y == e->y;
    const int place = columns ? e->x : e->y;
    struct flow f;
    if (matrix == 'C' || from_global(x->law))
        return false;
    const bool lost = cause_flow(&f, c, p, l, matrix, columns) && place >= f.first && place < f.end &&
                      flow_lost(&f, place) != FLOW_STAGES;
    if (lost && say) {
        cause_say(c, "; ");
        cause_say_lost(c, &f, &p->geometry, matrix, columns, place);
    }
    flow_free(&f);
    return lost;
}

bool cause_of_moves(struct cause *c, struct probe *p, const struct look *l, char matrix, const enum line_role *at)
{
    struct moved x;
    const bool found = find_moves(&x, l, p, matrix) && x.example.y >= 0;
    if (found) {
        if (x.law == LAW_AHEAD && is_lost(c, p, l, matrix, &x, false))  // no fragment that comes too early, then
            x.law = matrix == 'A' ? LAW_SHIFT_X : LAW_SHIFT_Y;
        if (x.at_edge)
            cause_say(c, "in the last %ss of %c alone: ", matrix == 'A' ? "row" : "column", matrix);
        say_law(c, matrix, &x);
        if (matrix == 'C' && x.example.to_y != x.example.y && x.example.to_x != x.example.x)
            say_owner(c, &p->geometry, &x);
        if (at)
            cause_look_at(c, at);
        else if (x.at_edge || !is_lost(c, p, l, matrix, &x, true))
            look_at(c, matrix, &x, (x.example.to_y != x.example.y) == (matrix == 'B'));
        c->ahead = x.law == LAW_AHEAD ? x.by : 0;
        c->certain = x.law != LAW_NONE && x.law != LAW_ORDER_Y && x.law != LAW_ORDER_X && x.law != LAW_PIECES;
    }
    free(x.m.all);
    return found;
}
