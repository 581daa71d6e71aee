// What is said of elements of A, B or C that were used in the wrong place. See cause.h.
#include "cause.h"

#include <stdlib.h>

#include "look.h"
#include "moves.h"
#include "probe.h"

// --- Moves of A, B or C ---

struct moved {
    struct moves m;
    enum law law;
    int by;
    struct move example;
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

// False where memory runs out. The example's y is -1 if all elements are in their place.
static bool find_moves(struct moved *x, const struct look *l, const struct probe *p, char matrix)
{
    const struct geometry *g = &p->geometry;
    *x = (struct moved){ .m = {
                             .all = malloc((size_t)l->m * (size_t)l->n * sizeof *x->m.all),
                             .tile_y = matrix == 'B' ? g->bk : g->bm,
                             .tile_x = matrix == 'A' ? g->bk : g->bn,
                             .along_y = matrix == 'B',
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

// Laws along K have words of their own.
static void say_along(struct cause *c, char matrix, bool along_k, enum law law, int by, const char *line)
{
    switch (law) {
    case LAW_TILE_Y:
    case LAW_TILE_X:
    case LAW_FIRST_TILE_Y:
    case LAW_FIRST_TILE_X:
        if (along_k)
            cause_say(c,
                      "%c's tile of another step along K is multiplied: the wrong stage is written or read, or %c does "
                      "not move on",
                      matrix, matrix);
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
        cause_say(c, "%ss of %c that are %d apart are exchanged: the halves of a fragment, or lanes", line, matrix, by);
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
    case LAW_BOXES:
        cause_say(c, "%d x %d boxes of %c are in each other's places: row and column of a box are swapped", x->by,
                  x->by, matrix);
        break;
    case LAW_QUARTERS:
        cause_say(c,
                  "in %d x %d pieces of %c the top right and the bottom left quarter are exchanged: the order of "
                  "the fragment's registers, or the lanes' addresses",
                  2 * x->by, 2 * x->by, matrix);
        break;
    case LAW_CHUNKS:
        cause_say(c, "16-byte chunks of %c are found in another order than they were put in: the swizzle differs",
                  matrix);
        break;
    case LAW_PIECES:
        cause_say(c, "16-byte chunks of %c are taken from the wrong place: the swizzle, or the index of a chunk%s",
                  matrix, c->lines.products ? ", or leading and stride of wgmma's descriptor" : "");
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

static void say_owner(struct cause *c, const struct geometry *g, const struct moved *x)
{
    if (stays_with(g, &x->m, 1))
        cause_say(c, ", but each with its own thread: the index of its accumulators");
    else if (stays_with(g, &x->m, 32))
        cause_say(c, ", but each with its own warp: which lane has which row and column");
}

static bool from_global(enum law law)
{
    return law == LAW_STRIDE || law == LAW_SWAPPED || law == LAW_STEP;
}

static void look_at(struct cause *c, char matrix, const struct moved *x, bool along_k)
{
    static const enum line_role copied[][4] = {
        { LINE_READ_A, LINE_WRITE_A, LINE_LOAD_A, LINE_ROLES },
        { LINE_READ_B, LINE_WRITE_B, LINE_LOAD_B, LINE_ROLES },
    };
    static const enum line_role loaded[][3] = { { LINE_LOAD_A, LINE_WRITE_A, LINE_ROLES },
                                                { LINE_LOAD_B, LINE_WRITE_B, LINE_ROLES } };
    static const enum line_role stored[] = { LINE_STORE_C, LINE_WRITE_C, LINE_MULTIPLY, LINE_ROLES };
    const bool block = !along_k && (x->law == LAW_TILE_X || x->law == LAW_TILE_Y || x->law == LAW_FIRST_TILE_X ||
                                    x->law == LAW_FIRST_TILE_Y);
    const int b = matrix == 'B';
    cause_look_at(c, matrix == 'C' ? stored : from_global(x->law) || block ? loaded[b] : copied[b]);
}

bool cause_of_moves(struct cause *c, const struct probe *p, const struct look *l, char matrix)
{
    struct moved x;
    const bool found = find_moves(&x, l, p, matrix) && x.example.y >= 0;
    if (found) {
        say_law(c, matrix, &x);
        if (matrix == 'C' && x.example.to_y != x.example.y && x.example.to_x != x.example.x)
            say_owner(c, &p->geometry, &x);
        look_at(c, matrix, &x, (x.example.to_y != x.example.y) == (matrix == 'B'));
        c->certain = x.law != LAW_NONE && x.law != LAW_ORDER_Y && x.law != LAW_ORDER_X && x.law != LAW_PIECES;
    }
    free(x.m.all);
    return found;
}
