// Which elements of A and B met in the wrong place, told from the products of special matrices (look.h). See cause.h.
//
// If only B's elements are taken from wrong places, each element of C still meets one 1 of a hot A, and the other way
// round. If C's elements were put into wrong places, those of A and B agree on where they belong. If neither is so,
// products are missing or were added twice.
#include "cause.h"

#include <stdlib.h>

#include "look.h"
#include "probe.h"

struct survey {
    const struct look *l;
    size_t n, unwritten;
    int row, col;                     // of the first element that is not written
    size_t a_count_off, b_count_off;  // elements that did not meet exactly one 1
    size_t a_row_off, a_col_off, b_row_off, b_col_off;
    bool b_by_row, a_by_col;  // the column of B is C's row, the row of A is C's column, in place of their own
    bool relocated;           // A and B agree everywhere on which element of C this is
};

static struct survey survey(const struct look *l)
{
    struct survey s = {
        .l = l, .n = (size_t)l->m * (size_t)l->n, .relocated = true, .b_by_row = true, .a_by_col = true
    };
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
            s.b_by_row = s.b_by_row && t.b_col == i;
            s.a_by_col = s.a_by_col && t.a_row == j;
            s.relocated =
                s.relocated && t.a_row >= 0 && t.b_col >= 0 && t.a_col == t.b_col % l->k && t.b_row == t.a_row % l->k;
        }
    return s;
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
        return cause_of_moves(c, p, s->l, only_rows ? 'A' : 'B');
    if (only_rows || only_cols)
        cause_say(c, "in C or in %c: ", only_rows ? 'A' : 'B');
    const bool told = cause_of_moves(c, p, s->l, 'C');
    if (told && (only_rows || only_cols))
        cause_look_at(c, only_rows ? rows : cols);
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
    if (!a && !b)
        cause_say(c, "in A or in B: ");
    const bool told = cause_of_moves(c, p, l, a ? 'A' : 'B');
    if (told && !a && !b)
        cause_look_at(c, of_a);
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
    else if (missing == n - 1 && count[n - 1] == 1)
        cause_say(c, "of each sum of %d products only the last is there: = in place of +=", n);
    else if (tile && n > tile && missing == n - tile && first == 0 && last == missing - 1)
        cause_say(c,
                  "of each sum of %d products only the last tile's %d are there: what is set in the loop, in place of "
                  "before it?",
                  n, tile);
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

// Every sum has something more than its products, all the same: whether the numbers of A's rows tell so too.
static double offset(const struct look *l)
{
    const double by = matrix_get(&l->C[LOOK_B_COUNT], 0, 0) - 1;
    for (int i = 0; i < l->m; i++)
        for (int j = 0; j < l->n; j++)
            if (matrix_get(&l->C[LOOK_B_COUNT], i, j) != 1 + by || matrix_get(&l->C[LOOK_A_COUNT], i, j) != 1 + by ||
                matrix_get(&l->C[LOOK_A_ROW], i, j) != i + 1 + by)
                return 0;
    return by;
}

static bool tell_offset(struct cause *c, const struct look *l)
{
    static const enum line_role roles[] = { LINE_MULTIPLY, LINE_STORE_C, LINE_ROLES };
    const double by = offset(l);
    if (by == 0)
        return false;
    cause_say(c, "every element is %g too large: do the accumulators begin with 0?", by);
    cause_look_at(c, roles);
    return true;
}

static bool tell_unwritten(struct cause *c, const struct survey *s)
{
    static const enum line_role roles[] = { LINE_STORE_C, LINE_WRITE_C, LINE_ROLES };
    cause_say(c,
              "%zu of %zu elements of C are never written, C[%d][%d] first: look at the grid, at the rows and columns "
              "that the store covers, and at %s",
              s->unwritten, s->n, s->row, s->col,
              c->boxes ? "row and column of its boxes (are they swapped?)" : "its bounds check");
    cause_look_at(c, roles);
    return true;
}

enum { FEW = 2 };

// One index in place of the other, as a whole. Only C's that are square let it pass their bounds checks.
static bool tell_mistaken(struct cause *c, const struct survey *s)
{
    static const enum line_role of_a[] = { LINE_READ_A, LINE_LOAD_A, LINE_ROLES };
    static const enum line_role of_b[] = { LINE_READ_B, LINE_LOAD_B, LINE_ROLES };
    if (s->b_by_row == s->a_by_col || s->l->m != s->l->n)
        return false;
    cause_say(c, "%s: row and column are mistaken for each other",
              s->b_by_row ? "the column of B is C's row, not C's column" : "the row of A is C's column, not C's row");
    cause_look_at(c, s->b_by_row ? of_b : of_a);
    return true;
}

// Uninitialised reads may spoil both views: then only a law counts that leaves no doubt.
static bool tell_certain(struct cause *c, const struct probe *p, const struct look *l, char matrix)
{
    struct cause other = *c;
    if (!cause_of_moves(&other, p, l, matrix) || !other.certain)
        return false;
    *c = other;
    return true;
}

// A hot B shows A as it is read, and the other way round.
static bool tell_misplaced(struct cause *c, const struct probe *p, const struct survey *s)
{
    enum { FEW = 2 };
    const bool a_clean = FEW * s->b_count_off <= s->a_count_off, b_clean = FEW * s->a_count_off <= s->b_count_off;
    if (a_clean && b_clean && s->relocated)
        return tell_relocated(c, p, s);
    if (a_clean && b_clean && !s->a_row_off && !s->b_col_off)
        return tell_pairs(c, p, s->l);
    if (!a_clean && !b_clean)
        return tell_certain(c, p, s->l, 'A') || tell_certain(c, p, s->l, 'B');
    return (a_clean && (!b_clean || !s->b_col_off) && cause_of_moves(c, p, s->l, 'A')) ||
           (b_clean && (!a_clean || !s->a_row_off) && cause_of_moves(c, p, s->l, 'B'));
}

bool cause_of_place(struct cause *c, const struct probe *p, const struct look *l)
{
    const struct survey s = survey(l);
    if (s.unwritten)
        return tell_unwritten(c, &s);
    if (!s.a_count_off && !s.b_count_off && !s.a_row_off && !s.a_col_off && !s.b_row_off && !s.b_col_off)
        return false;
    return tell_offset(c, l) || tell_mistaken(c, &s) || tell_misplaced(c, p, &s) || tell_counts(c, p, &s);
}
