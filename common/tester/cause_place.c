// Which elements of A and B met in the wrong place, told from the products of special matrices (look.h). See cause.h.
//
// If only B's elements are taken from wrong places, each element of C still meets one 1 of a hot A, and the other way
// round. If C's elements were put into wrong places, those of A and B agree on where they belong; and where beta * C0
// is added before C is put there, it came along. If neither is so, products are missing or were added twice.
#include "cause.h"

#include <stdlib.h>

#include "base/profile.h"
#include "flow.h"
#include "kernel_text.h"
#include "look.h"
#include "probe.h"

struct survey {
    const struct look *l;
    size_t unwritten;
    size_t a_count_off, b_count_off;  // elements that did not meet exactly one 1
    size_t a_row_off, a_col_off, b_row_off, b_col_off;
    bool b_by_row, a_by_col;  // the column of B is C's row, the row of A is C's column, in place of their own
    size_t moved;             // elements that are another one's
    bool relocated;           // A and B agree on which element of C this is, wherever an element is
};

static struct survey survey(const struct look *l)
{
    struct survey s = { .l = l, .relocated = true, .b_by_row = true, .a_by_col = true };
    for (int i = 0; i < l->m; i++)
        for (int j = 0; j < l->n; j++) {
            const struct meeting t = look_meeting(l, i, j);
            s.unwritten += !t.written;
            s.a_count_off += t.a_count != 1;
            s.b_count_off += t.b_count != 1;
            s.a_row_off += t.a_row != i;
            s.a_col_off += t.a_col != j % l->k;
            s.b_row_off += t.b_row != i % l->k;
            s.b_col_off += t.b_col != j;
            s.b_by_row = s.b_by_row && t.b_col == i;
            s.a_by_col = s.a_by_col && t.a_row == j;
            s.moved += t.a_row >= 0 && t.b_col >= 0 && (t.a_row != i || t.b_col != j);
            if (t.a_count != 0 || t.b_count != 0)
                s.relocated = s.relocated && t.a_row >= 0 && t.b_col >= 0 && t.a_col == t.b_col % l->k &&
                              t.b_row == t.a_row % l->k;
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
            if (t.a_row >= 0 && t.b_col >= 0)
                seen[(size_t)t.a_row * (size_t)l->n + (size_t)t.b_col] = 1;
        }
    for (size_t i = 0; all && i < (size_t)l->m * (size_t)l->n; i++)
        all = seen[i];
    free(seen);
    return all;
}

// Whether beta * C0 was taken to the same wrong places: then C was put there when its values were complete.
static bool old_came_along(struct look *l, struct probe *p)
{
    size_t moved = 0, along = 0;
    if (!look_take_old(l, p))
        return false;
    for (int i = 0; i < l->m; i++)
        for (int j = 0; j < l->n; j++) {
            const struct meeting t = look_meeting(l, i, j);
            if (t.a_row == i && t.b_col == j)
                continue;
            moved++;
            along += look_old_is(l, i, j, t.a_row, t.b_col);
        }
    return moved && 10 * along >= 9 * moved;
}

// Whether fewer products were computed than C needs: the compiler leaves out sums that are never stored.
static bool sums_left_out(const struct look *l, const struct probe *p)
{
    const struct profile *ran = dev_profile(p->dev);
    const double needed = 2.0 * l->m * l->n * l->k;
    return ran && (double)ran->total[METRIC_FLOP] < 0.9 * needed;
}

// Whether a value of C comes from another block's tile: then that block has read it, as each stores its own.
static bool from_other_block(const struct look *l, const struct geometry *g)
{
    size_t moved = 0, other = 0;
    for (int i = 0; i < l->m; i++)
        for (int j = 0; j < l->n; j++) {
            const struct meeting t = look_meeting(l, i, j);
            moved += t.a_row != i || t.b_col != j;
            other += t.a_row / g->bm != i / g->bm || t.b_col / g->bn != j / g->bn;
        }
    return 10 * other >= 9 * moved;
}

// How sums come to C: straight from registers; scaled, then through shared memory; or the other way round.
enum way { STRAIGHT, SCALED_FIRST, SCALED_LAST };

static enum way way_of(const struct kernel_lines *l)
{
    if (l->line[LINE_READ_PART])
        return SCALED_LAST;
    if (!l->line[LINE_WRITE_C])
        return STRAIGHT;
    return l->line[LINE_SCALE] == l->line[LINE_STORE_C] ? SCALED_LAST : SCALED_FIRST;
}

// Where a value of C that was not yet scaled may go to the wrong place.
static const enum line_role *lines_of_c(const struct kernel_lines *l)
{
    static const enum line_role straight[] = { LINE_STORE_C, LINE_MULTIPLY, LINE_ROLES };
    static const enum line_role first[] = { LINE_SCALE, LINE_ROUND, LINE_ROLES };
    static const enum line_role last[] = { LINE_READ_PART, LINE_SCALE, LINE_WRITE_C, LINE_STORE_C, LINE_ROLES };
    const enum way way = way_of(l);
    return way == STRAIGHT ? straight : way == SCALED_FIRST ? first : last;
}

// Whose fault it is that one value stands in several places of C. If a row of A, or a column of B, that belongs there
// does not come to the products, it is that matrix's; if all of them do, it is C's. Where sums were left out, the reads
// for them were, too.
static char at_fault(const struct cause *c, struct probe *p, const struct look *l, char matrix, bool left_out)
{
    const bool columns = matrix == 'B';
    char fault = 0;
    struct flow f;
    if (cause_flow(&f, c, p, l, matrix, columns)) {
        fault = f.opaque ? 0 : 'C';
        for (int i = 0; i < l->m; i++)
            for (int j = 0; j < l->n; j++) {
                const struct meeting t = look_meeting(l, i, j);
                const int place = columns ? j : i;
                if ((columns ? t.b_col : t.a_row) == place || place < f.first || place >= f.end)
                    continue;
                const enum flow_stage lost = flow_lost(&f, place);
                if (lost < FLOW_READ)
                    fault = matrix;
                else if (lost == FLOW_READ && fault != matrix)
                    fault = left_out ? 0 : matrix;
            }
    }
    flow_free(&f);
    return fault == 'C' && p->geometry.blocks ? 0 : fault;  // a block that walks has other tiles besides
}

// One value stands in several places of C: a row of A or a column of B is read for several, or a sum is stored in
// several. Sums that are never stored the compiler leaves out, so of those that go straight to C it is known.
static bool tell_repeated(struct cause *c, struct probe *p, const struct survey *s, char matrix, bool left_out)
{
    static const enum line_role rows[] = { LINE_READ_A, LINE_WRITE_A, LINE_LOAD_A, LINE_ROLES };
    static const enum line_role cols[] = { LINE_READ_B, LINE_WRITE_B, LINE_LOAD_B, LINE_ROLES };
    const enum line_role *of_c = lines_of_c(&c->lines), *of_it = matrix == 'A' ? rows : cols;
    const char *line = matrix == 'A' ? "row" : "column";
    enum { HALF = 2 };
    const char fault = at_fault(c, p, s->l, matrix, left_out);
    if (fault == matrix || from_other_block(s->l, &p->geometry) || (way_of(&c->lines) == STRAIGHT && !left_out))
        return cause_of_moves(c, p, s->l, matrix, NULL);
    if (fault == 'C') {
        if (!cause_of_moves(c, p, s->l, 'C', CAUSE_NO_LINES))
            return false;
        cause_say(c, ": one value of C is stored in several places: the index of %s",
                  way_of(&c->lines) == STRAIGHT ? "the accumulators"
                                                : "the accumulators, or a row or column at the store");
        cause_look_at_most(c, of_c, HALF);
        return true;
    }
    if (way_of(&c->lines) == SCALED_LAST || kernel_text_has_constant_index(c->lines.file, c->lines.line[of_c[0]])) {
        if (!cause_of_moves(c, p, s->l, 'C', CAUSE_NO_LINES))
            return false;
        cause_say(c, ": one value of C is stored in several places; or %ss of %c are read from the wrong place", line,
                  matrix);
        cause_look_at_most(c, of_c, HALF);
        cause_look_at_most(c, of_it, HALF);
        return true;
    }
    if (!cause_of_moves(c, p, s->l, matrix, CAUSE_NO_LINES))
        return false;
    cause_say(c, "; or one value of C is stored in several places: the index of the accumulators");
    cause_look_at_most(c, of_it, HALF);
    cause_look_at_most(c, of_c, HALF);
    return true;
}

static bool tell_relocated(struct cause *c, struct probe *p, const struct survey *s, struct look *l)
{
    static const enum line_role rows[] = { LINE_READ_A, LINE_WRITE_A, LINE_ROLES };
    static const enum line_role cols[] = { LINE_READ_B, LINE_WRITE_B, LINE_ROLES };
    static const enum line_role behind[] = { LINE_STORE_C, LINE_WRITE_C, LINE_ROUND, LINE_READ_C, LINE_ROLES };
    const bool only_rows = !s->b_col_off, only_cols = !s->a_row_off, left_out = sums_left_out(l, p);
    if (old_came_along(l, p))
        return cause_of_moves(c, p, l, 'C', behind);
    if (!only_rows && !only_cols)
        return cause_of_moves(c, p, l, 'C', NULL);
    if (!all_there(l))
        return tell_repeated(c, p, s, only_rows ? 'A' : 'B', left_out);
    cause_say(c, "in C or in %c: ", only_rows ? 'A' : 'B');
    if (!cause_of_moves(c, p, l, 'C', CAUSE_NO_LINES))
        return false;
    cause_look_at_most(c, lines_of_c(&c->lines), CAUSE_LINES / 2);
    cause_look_at(c, only_rows ? rows : cols);
    return true;
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

// A or B, whichever is ahead: where one of them is behind, a fragment of the other is loaded again too early.
static bool tell_side(struct cause *c, struct probe *p, const struct look *l, char matrix)
{
    struct cause other = *c;
    const bool told = cause_of_moves(c, p, l, matrix, NULL);
    if (told && c->ahead < 0 && cause_of_moves(&other, p, l, matrix == 'A' ? 'B' : 'A', NULL) && other.ahead > 0)
        *c = other;
    return told;
}

static bool tell_pairs(struct cause *c, struct probe *p, const struct look *l)
{
    static const enum line_role of_a[] = { LINE_READ_A, LINE_WRITE_A, LINE_ROLES };
    const bool a = depends_on_row(l), b = !a && depends_on_col(l);
    if (!a && !b)
        cause_say(c, "in A or in B: ");
    const bool told = tell_side(c, p, l, a ? 'A' : 'B');
    if (told && !a && !b)
        cause_look_at(c, of_a);
    return told;
}

// --- Other mistakes ---

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

// How often the products of a row (or column) of a tile are added, the same for all of it; -1: that differs, or what is
// added once is not right.
static double times_of(const struct look *l, const struct geometry *g, bool columns, int place)
{
    const int tile = columns ? g->bn : g->bm;
    double times = -1;
    for (int i = 0; i < l->m; i++)
        for (int j = 0; j < l->n; j++) {
            const struct meeting t = look_meeting(l, i, j);
            if ((columns ? j : i) % tile != place)
                continue;
            if (t.a_count != t.b_count || (times >= 0 && t.a_count != times) ||
                (t.a_count == 1 && (t.a_row != i || t.a_col != j % l->k || t.b_row != i % l->k || t.b_col != j)))
                return -1;
            times = t.a_count;
        }
    return times < 0 ? 1 : times;  // C has no such
}

// The same rows or columns of each tile are 0, or more than once what they should be, and the others are right.
static bool tell_multiples(struct cause *c, const struct look *l, const struct geometry *g, bool columns)
{
    static const enum line_role roles[] = { LINE_MULTIPLY, LINE_READ_A, LINE_READ_B, LINE_ROLES };
    const char *name = columns ? "column" : "row";
    const int tile = columns ? g->bn : g->bm;
    int zeros = 0, more = 0, first_zero = -1, first_more = -1;
    double most = 1;
    for (int i = 0; i < tile; i++) {
        const double times = times_of(l, g, columns, i);
        if (times < 0)
            return false;
        first_zero = times == 0 && !zeros++ ? i : first_zero;
        first_more = times > 1 && !more++ ? i : first_more;
        most = times > most ? times : most;
    }
    if (zeros + more == 0 || zeros == tile || more == tile)
        return false;
    if (zeros)
        cause_say(c, "%d of a tile's %d %ss are 0, %s %d first", zeros, tile, name, name, first_zero);
    if (more)
        cause_say(c, "%s%d %ss are %g times what they should be, %s %d first", zeros ? ", and " : "", more, name, most,
                  name, first_more);
    cause_say(c,
              ", all others are right: the index of the accumulators, or the loop over them, where products are added");
    cause_look_at(c, roles);
    return true;
}

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
static bool tell_certain(struct cause *c, struct probe *p, const struct look *l, char matrix)
{
    struct cause other = *c;
    if (!tell_side(&other, p, l, matrix) || !other.certain)
        return false;
    *c = other;
    return true;
}

// A hot B shows A as it is read, and the other way round.
static bool tell_misplaced(struct cause *c, struct probe *p, const struct survey *s, struct look *l)
{
    enum { FEW = 2 };
    const bool a_clean = FEW * s->b_count_off <= s->a_count_off, b_clean = FEW * s->a_count_off <= s->b_count_off;
    const bool lost =
        s->moved > s->a_count_off && s->moved > s->b_count_off;  // those in place of them are beyond an edge
    if (s->relocated && ((a_clean && b_clean) || lost))
        return tell_relocated(c, p, s, l);
    if (a_clean && b_clean && !s->a_row_off && !s->b_col_off)
        return tell_pairs(c, p, s->l);
    if (!a_clean && !b_clean)
        return tell_certain(c, p, s->l, 'A') || tell_certain(c, p, s->l, 'B');
    return (a_clean && (!b_clean || !s->b_col_off) && tell_side(c, p, s->l, 'A')) ||
           (b_clean && (!a_clean || !s->a_row_off) && tell_side(c, p, s->l, 'B'));
}

bool cause_of_place(struct cause *c, struct probe *p, struct look *l)
{
    const struct survey s = survey(l);
    if (s.unwritten)
        return cause_of_unwritten(c, p, l);
    if (!s.a_count_off && !s.b_count_off && !s.a_row_off && !s.a_col_off && !s.b_row_off && !s.b_col_off)
        return l->k > l->m && cause_of_counts(c, p, l);
    return tell_offset(c, l) || tell_multiples(c, l, &p->geometry, false) || tell_multiples(c, l, &p->geometry, true) ||
           tell_mistaken(c, &s) || tell_misplaced(c, p, &s, l) || cause_of_counts(c, p, l);
}
