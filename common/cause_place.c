// Which elements of A and B met in the wrong place, told from the products of special matrices (look.h). See cause.h.
//
// If only B's elements are taken from wrong places, each element of C still meets one 1 of a hot A, and the other way
// round. If C's elements were put into wrong places, those of A and B agree on where they belong. If neither is so,
// products are missing or were added twice.
#include "cause.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "look.h"
#include "moves.h"
#include "probe.h"

struct survey {
    const struct look *l;
    size_t n, unwritten;
    int row, col;                     // of the first element that is not written
    size_t a_count_off, b_count_off;  // elements that did not meet exactly one 1
    size_t a_row_off, a_col_off, b_row_off, b_col_off;
    bool relocated;  // A and B agree everywhere on which element of C this is
};

static struct survey survey(const struct look *l)
{
    struct survey s = { .l = l, .n = (size_t)l->m * (size_t)l->n, .relocated = true };
    for (int i = 0; i < l->m; i++)
        for (int j = 0; j < l->n; j++) {
            const struct meeting t = look_meeting(l, i, j);
            if (!t.written && !s.unwritten++) {
                s.row = i;
                s.col = j;
            }
            s.a_count_off += t.a_count != 1;
            s.b_count_off += t.b_count != 1;
            s.a_row_off += t.a_row != i;
            s.a_col_off += t.a_col != j % l->k;
            s.b_row_off += t.b_row != i % l->k;
            s.b_col_off += t.b_col != j;
            s.relocated =
                s.relocated && t.a_row >= 0 && t.b_col >= 0 && t.a_col == t.b_col % l->k && t.b_row == t.a_row % l->k;
        }
    return s;
}

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
        cause_say(c, "%ss of %c are used in another order: the lane's %s", line, matrix, line);
        break;
    }
}

static void say_law(struct cause *c, char matrix, const struct moved *x)
{
    const char *name = matrix == 'C' ? "the result" : "the tile";
    switch (x->law) {
    case LAW_TRANSPOSED:
        if (x->by)
            cause_say(c, "pieces of %d x %d of %c are transposed: row and column are swapped%s", x->by, x->by, matrix,
                      matrix == 'C' ? " in the products or at the store" : ", row_major and col_major, or .trans");
        else
            cause_say(c, "%c is transposed: row and column are swapped", matrix);
        break;
    case LAW_QUARTERS:
        cause_say(c,
                  "in pieces of %d x %d of %c the top right and the bottom left quarter are exchanged: the order of "
                  "the fragment's registers, or the lanes' addresses",
                  2 * x->by, 2 * x->by, matrix);
        break;
    case LAW_CHUNKS:
        cause_say(c, "16-byte chunks of %c are found in another order than they were put in: the swizzle differs",
                  matrix);
        break;
    case LAW_STRIDE:
        cause_say(c, "rows of %c are taken to be %d elements apart, and are %d: the wrong stride", matrix, x->by,
                  x->m.length);
        break;
    case LAW_TILE_STRIDE:
        cause_say(c, "rows of %c's tile are taken to be %d elements apart, and are %d: the wrong stride", matrix, x->by,
                  x->m.tile_x);
        break;
    case LAW_TILE_SWAPPED:
        cause_say(c, "row and column of %c's tile are swapped", matrix);
        break;
    case LAW_SWAPPED:
        cause_say(c, "%c is read as if it were transposed, with rows of %d: row and column are swapped", matrix, x->by);
        break;
    case LAW_MIXED:
        cause_say(c, "rows and columns of %c are mixed up within the tile", matrix);
        break;
    case LAW_NONE:
        cause_say(c, "elements of %c are in the wrong place: an index of %s is wrong", matrix, name);
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
        say_along(c, matrix, matrix == 'B', x->law, x->by, row_of(matrix));
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
    return law == LAW_STRIDE || law == LAW_SWAPPED;
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

static bool tell_moves(struct cause *c, const struct probe *p, const struct look *l, char matrix)
{
    struct moved x;
    const bool found = find_moves(&x, l, p, matrix) && x.example.y >= 0;
    if (found) {
        say_law(c, matrix, &x);
        if (matrix == 'C')
            say_owner(c, &p->geometry, &x);
        look_at(c, matrix, &x, (x.example.to_y != x.example.y) == (matrix == 'B'));
        c->certain = x.law != LAW_NONE;
    }
    free(x.m.all);
    return found;
}

// --- C's elements in each other's places ---

// Whether every element of C is somewhere: then they may have been stored in the wrong order. If not, A's rows or B's
// columns were read from the wrong place.
static bool all_there(const struct look *l)
{
    unsigned char *seen = calloc((size_t)l->m * (size_t)l->n, 1);
    bool all = seen;
    for (int i = 0; seen && i < l->m; i++)
        for (int j = 0; j < l->n; j++) {
            const struct meeting t = look_meeting(l, i, j);
            seen[(size_t)t.a_row * (size_t)l->n + (size_t)t.b_col] = 1;
        }
    for (size_t i = 0; all && i < (size_t)l->m * (size_t)l->n; i++)
        all = seen[i];
    free(seen);
    return all;
}

static bool tell_relocated(struct cause *c, const struct probe *p, const struct survey *s)
{
    static const enum line_role rows[] = { LINE_READ_A, LINE_WRITE_A, LINE_ROLES };
    static const enum line_role cols[] = { LINE_READ_B, LINE_WRITE_B, LINE_ROLES };
    const bool only_rows = !s->b_col_off, only_cols = !s->a_row_off;
    if ((only_rows || only_cols) && !all_there(s->l))
        return tell_moves(c, p, s->l, only_rows ? 'A' : 'B');
    const bool told = tell_moves(c, p, s->l, 'C');
    if (told && (only_rows || only_cols)) {
        cause_say(c, "; or %s are", only_rows ? "A's rows" : "B's columns");
        cause_look_at(c, only_rows ? rows : cols);
    }
    return told;
}

// --- Pairs that do not belong together ---

// Every element takes its row of A and its column of B, but the wrong k of one of them. If that depends on the row, it
// is A's; if on the column, B's; otherwise it may be either.
static bool depends_on_row(const struct look *l)
{
    for (int j = 0; j < l->n; j++)
        for (int i = 1; i < l->m; i++)
            if (look_meeting(l, i, j).a_col != look_meeting(l, 0, j).a_col)
                return true;
    return false;
}

static bool depends_on_col(const struct look *l)
{
    for (int i = 0; i < l->m; i++)
        for (int j = 1; j < l->n; j++)
            if (look_meeting(l, i, j).b_row != look_meeting(l, i, 0).b_row)
                return true;
    return false;
}

static bool tell_pairs(struct cause *c, const struct probe *p, const struct look *l)
{
    static const enum line_role of_a[] = { LINE_READ_A, LINE_WRITE_A, LINE_ROLES };
    const bool a = depends_on_row(l), b = !a && depends_on_col(l);
    const bool told = tell_moves(c, p, l, a ? 'A' : 'B');
    if (told && !a && !b) {
        cause_say(c, "; or those of A are");
        cause_look_at(c, of_a);
    }
    return told;
}

// --- Products that are missing ---

// How often the product of each k was added to C: by what all its elements say. False if they differ.
static bool count_products(const struct look *l, double *count)
{
    for (int k = 0; k < l->k; k++)
        count[k] = -1;
    size_t odd = 0;
    for (int i = 0; i < l->m; i++)
        for (int j = 0; j < l->n; j++) {
            const struct meeting t = look_meeting(l, i, j);
            double *at_j = &count[j % l->k], *at_i = &count[i % l->k];
            *at_j = *at_j < 0 ? t.b_count : *at_j;
            *at_i = *at_i < 0 ? t.a_count : *at_i;
            odd += *at_j != t.b_count || *at_i != t.a_count;
        }
    return 10 * odd <= (size_t)l->m * (size_t)l->n;
}

static bool say_counts(struct cause *c, const double *count, int n, int tile)
{
    int missing = 0, twice = 0, first = -1, last = -1;
    for (int k = 0; k < n; k++) {
        missing += count[k] == 0;
        twice += count[k] > 1;
        first = count[k] == 0 && first < 0 ? k : first;
        last = count[k] == 0 ? k : last;
    }
    if (!missing && !twice)
        return false;
    const char *s = missing == 1 ? "" : "s", *are = missing == 1 ? "is" : "are";
    if (missing == n)
        cause_say(c, "all products are missing");
    else if (missing && twice)
        cause_say(c,
                  "products of some tiles are added twice, those of others not at all: the wrong stage is written or "
                  "read");
    else if (twice)
        cause_say(c, "%d products of each sum of %d are added more than once", twice, n);
    else if (last - first + 1 == missing && (first == 0 || last == n - 1))
        cause_say(c, "the %s %d product%s of each sum of %d %s missing: the %s of the loop over K",
                  first ? "last" : "first", missing, s, n, are, first ? "end" : "start");
    else
        cause_say(c, "%d product%s of each sum of %d %s missing, k = %d first%s: the loops over K", missing, s, n, are,
                  first, tile && missing % tile == 0 ? ", whole tiles" : "");
    return true;
}

static bool tell_counts(struct cause *c, const struct probe *p, const struct survey *s)
{
    static const enum line_role roles[] = { LINE_MULTIPLY, LINE_READ_A, LINE_READ_B, LINE_ROLES };
    double *count = malloc((size_t)s->l->k * sizeof *count);
    const bool told = count && count_products(s->l, count) && say_counts(c, count, s->l->k, p->geometry.bk);
    if (told)
        cause_look_at(c, roles);
    free(count);
    return told;
}

static bool tell_unwritten(struct cause *c, const struct survey *s)
{
    static const enum line_role roles[] = { LINE_STORE_C, LINE_WRITE_C, LINE_ROLES };
    cause_say(c,
              "nobody wrote %zu of %zu elements of C, C[%d][%d] first: the rows and columns that the store covers, or "
              "its bounds check",
              s->unwritten, s->n, s->row, s->col);
    cause_look_at(c, roles);
    return true;
}

enum { FEW = 8 };

bool cause_of_place(struct cause *c, const struct probe *p, const struct look *l)
{
    const struct survey s = survey(l);
    // A hot B shows A as it is read. What nobody wrote may spoil some of it.
    const bool a_clean = FEW * s.b_count_off <= s.a_count_off, b_clean = FEW * s.a_count_off <= s.b_count_off;
    if (s.unwritten)
        return tell_unwritten(c, &s);
    if (a_clean && b_clean && !s.a_row_off && !s.a_col_off && !s.b_row_off && !s.b_col_off)
        return false;
    if (a_clean && b_clean && s.relocated)
        return tell_relocated(c, p, &s);
    if (a_clean && b_clean && !s.a_row_off && !s.b_col_off)
        return tell_pairs(c, p, l);
    if (a_clean && (!b_clean || !s.b_col_off) && tell_moves(c, p, l, 'A'))
        return true;
    if (b_clean && (!a_clean || !s.a_row_off) && tell_moves(c, p, l, 'B'))
        return true;
    return tell_counts(c, p, &s);
}
