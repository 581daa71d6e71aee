// What a wrong element tells: who owns it, and where to look next.
//
// Where nothing else has found the cause (cause.h), the hint compares the value with what the usual mistakes would
// give: nothing written, beta * C0 or alpha forgotten, products missing at the start or the end of K, rows and columns
// swapped, a neighbour's sum. It is tried in that order, and a value counts as the mistake's where it is within the
// element's error bound of it. Of the many sums of some products, or of neighbours, one may be that near by chance, in
// half precision above all: so other wrong elements must show the same mistake.
#include "tester_explain.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cause.h"
#include "changed.h"
#include "meaning.h"
#include "simt/simt.h"

// alpha times the products of C[row][col] from first to end.
static double sum_of(const struct tester_product *p, int row, int col, int first, int end)
{
    double sum = 0;
    for (int k = first; k < end; k++)
        sum += matrix_get(p->A, row, k) * matrix_get(p->B, k, col);
    return p->alpha * sum;
}

static double rest_of(const struct tester_product *p, int row, int col)
{
    return p->beta != 0 ? p->beta * matrix_get(p->C0, row, col) : 0;
}

// A mistake that many elements may share: C[row][col] is the sum of the products from first to end of the element drow
// rows and dcol columns on, or of the transposed one.
struct mistake {
    int first, end, drow, dcol;
    bool transposed;
};

// How far C[row][col] may be from what a mistake of v's size gives: v's bound, and the rounding of this value itself.
static double slack(const struct tester_product *p, const struct matrix_verdict *v, int row, int col)
{
    return v->bound + type_roundoff(p->C->type) * fabs(matrix_get(p->C, row, col));
}

// Whether C[row][col] is what the mistake gives.
static bool shows(const struct tester_product *p, const struct mistake *m, int row, int col, double within)
{
    const int r = m->transposed ? col : row + m->drow, c = m->transposed ? row : col + m->dcol;
    if (r < 0 || r >= p->A->rows || c < 0 || c >= p->B->cols)
        return false;
    const double rest = m->transposed ? rest_of(p, r, c) : rest_of(p, row, col);
    return fabs(sum_of(p, r, c, m->first, m->end) + rest - matrix_get(p->C, row, col)) <= within;
}

enum { WITNESSES = 8 };

// Whether other wrong elements of the block's tile show the mistake as well: those of v's row where rows are mistaken,
// of its column where columns are, and on a diagonal where products are missing. Most of the first eight must; with
// none, v's word is enough.
static bool agreed(const struct geometry *g, const struct matrix_verdict *v, const struct tester_product *p,
                   const struct mistake *m)
{
    const int tm = g->bm, tn = g->bn, most = tm > tn ? tm : tn;
    int wrong = 0, same = 0;
    for (int i = 1; i < most && wrong < WITNESSES; i++) {
        const int row = m->drow ? v->row : v->row / tm * tm + (v->row % tm + i) % tm;
        const int col = m->dcol ? v->col : v->col / tn * tn + (v->col % tn + i) % tn;
        if ((row == v->row && col == v->col) || row >= p->C->rows || col >= p->C->cols ||
            !isfinite(matrix_get(p->C, row, col)))
            continue;
        const double within = 2 * slack(p, v, row, col);
        const double off = sum_of(p, row, col, 0, p->A->cols) + rest_of(p, row, col) - matrix_get(p->C, row, col);
        if (fabs(off) <= within)
            continue;
        wrong++;
        same += shows(p, m, row, col, within);
    }
    return 4 * same >= 3 * wrong;
}

// The smallest number of products at the end (or at the start) of K without which the sum is the value got; 0 if none.
static int products_missing(const struct geometry *g, const struct matrix_verdict *v, const struct tester_product *p,
                            bool at_start)
{
    const int K = p->A->cols;
    double sum = sum_of(p, v->row, v->col, 0, K) + rest_of(p, v->row, v->col);
    for (int i = 1; i <= K; i++) {
        const struct mistake m = { .first = at_start ? i : 0, .end = at_start ? K : K - i };
        const int k = at_start ? i - 1 : K - i;
        sum -= p->alpha * matrix_get(p->A, v->row, k) * matrix_get(p->B, k, v->col);
        if (fabs(sum - v->got) <= slack(p, v, v->row, v->col) && agreed(g, v, p, &m))
            return i;
    }
    return 0;
}

// Whether the value got is the sum of another element of this row or this column of the block's tile.
static bool is_neighbours(const struct geometry *g, const struct matrix_verdict *v, const struct tester_product *p,
                          int *row, int *col)
{
    const int brow = v->row / g->bm * g->bm, bcol = v->col / g->bn * g->bn;
    for (int i = 0; i < g->bm + g->bn; i++) {
        *row = i < g->bm ? brow + i : v->row;
        *col = i < g->bm ? v->col : bcol + i - g->bm;
        const struct mistake m = { .end = p->A->cols, .drow = *row - v->row, .dcol = *col - v->col };
        if ((m.drow || m.dcol) && shows(p, &m, v->row, v->col, slack(p, v, v->row, v->col)) && agreed(g, v, p, &m))
            return true;
    }
    return false;
}

static void add_owner(struct text_end *l, const struct step *step, const struct geometry *g, int row, int col)
{
    const int tid = step->owner ? step->owner(g, row % g->bm, col % g->bn) : -1;
    text_add(l, "; block (%d, %d)", col / g->bn, row / g->bm);
    if (tid >= 0 && tid < g->threads)
        text_add(l, ", warp %d, lane %d", tid / 32, tid % 32);
}

static void add_hint_from_value(struct text_end *l, const struct geometry *g, const struct matrix_verdict *v,
                                const struct tester_product *p)
{
    const int K = p->A->cols;
    const double product = sum_of(p, v->row, v->col, 0, K), rest = rest_of(p, v->row, v->col);
    const struct mistake transposed = { .end = K, .transposed = true };  // of the tile, or of a thread's patch
    const double within = slack(p, v, v->row, v->col);
    struct tester_product bare = *p;
    bare.alpha = 1;
    int missing, row, col;
    if (p->beta != 0 && fabs(product - v->got) <= v->bound) {
        text_add(l, "beta * C0 is missing");
    } else if (p->alpha != 1 && fabs(sum_of(&bare, v->row, v->col, 0, K) + rest - v->got) <= v->bound) {
        text_add(l, "alpha is missing");
    } else if ((missing = products_missing(g, v, p, false)) > 0) {
        text_add(l, "the last %d of %d products are missing: look at the end of the loop over K", missing, K);
    } else if ((missing = products_missing(g, v, p, true)) > 0) {
        text_add(l, "the first %d of %d products are missing: look at the start of the loop over K", missing, K);
    } else if (v->row != v->col && shows(p, &transposed, v->row, v->col, within)) {
        text_add(l, "that is C[%d][%d]: rows and columns are swapped", v->col, v->row);
    } else if (is_neighbours(g, v, p, &row, &col)) {
        text_add(l, "that is C[%d][%d]: look at which %s is computed here, and where it is stored", row, col,
                 row == v->row ? "column" : "row");
    } else {
        bool ragged = v->row >= p->A->rows / g->bm * g->bm || v->col >= p->B->cols / g->bn * g->bn;
        text_add(l, "look at %sthe indices of the loads",
                 ragged ? "the guards of this block, which sticks out of C, and at " : "");
    }
}

// "C[0][0] is 1, want 2 within 0.1; block (0, 0), warp 0, lane 0".
static void add_element(struct text_end *l, const struct step *step, const struct geometry *g,
                        const struct matrix_verdict *v)
{
    const int digits = step->type == DEV_F64 ? 17 : step->type == DEV_F32 ? 9 : 5;
    text_add(l, "C[%d][%d] is %.*g, want %.*g within %.2g", v->row, v->col, digits, v->got, digits, v->want, v->bound);
    add_owner(l, step, g, v->row, v->col);
}

// Behind the cause.
static void add_example(struct text_end *l, const struct step *step, const struct geometry *g,
                        const struct matrix_verdict *v)
{
    text_add(l, l->at[-1] == '?' ? " For example, " : ". For example, ");
    add_element(l, step, g, v);
}

static void add_hint(struct text_end *l, const struct geometry *g, const struct matrix_verdict *v,
                     const struct tester_product *p)
{
    if (v->poison)
        text_add(l, "never written (still the poison): look at the grid, the store's guard and the rows and columns it "
                    "covers");
    else if (p->beta != 0 && v->got == matrix_get(p->C0, v->row, v->col))
        text_add(l, "never written (still C0): look at the grid, the store's guard and the rows and columns it covers");
    else if (isnan(v->got) && !isnan(v->want))
        text_add(l, "%s, or is uninitialised memory read?",
                 p->beta == 0 ? "is C read although beta is 0" : "are A, B or C read outside their bounds");
    else if (isfinite(v->want))
        add_hint_from_value(l, g, v, p);
    else
        text_add(l, "A, B or C0 hold Inf or NaN here, which must reach C");
}

void tester_explain(char *what, size_t room, const struct step *step, const struct geometry *g,
                    const struct matrix_verdict *v, const struct tester_product *given, const char *cause)
{
    struct text_end l = { what, room };
    struct tester_product p = *given;
    p.alpha = matrix_scalar(step->type, p.alpha);
    p.beta = matrix_scalar(step->type, p.beta);
    if (cause) {
        text_add(&l, "%s", cause);
        add_example(&l, step, g, v);
    } else {
        add_element(&l, step, g, v);
        text_add(&l, ": ");
        add_hint(&l, g, v, &p);
    }
}

// Finds where the kernel differs from the course's. What can be due to none of it is no cause: it is not said. Where it
// differs in one place alone, that is the place to look at.
static void compare(struct changed *d, struct cause *c, const struct step *step, const struct tester_options *o,
                    bool wrong)
{
    changed_find(d, step, o, c->look, wrong);
    const bool explains = changed_explains(d, c), one = d->n == 1 && d->all[0].own;
    if (!explains)
        c->text[c->seen] = '\0';
    if (one && c->says_where && !changed_is_near(&d->all[0], c->text + c->where))
        c->text[c->where] = '\0';
    if (one)
        cause_drop_look(c);
    if (!c->seen && (!explains || one))
        memset(c->look, 0, sizeof c->look);
}

static void add_look(struct tester_result *r, unsigned line)
{
    int i = 0;
    while (i < TESTER_LOOK && r->look[i] && r->look[i] != line)
        i++;
    if (i < TESTER_LOOK)
        r->look[i] = line;
}

// The places first. Where there are none, the cause stays where it is.
static void take(struct tester_result *r, const struct cause *c, const struct changed *d)
{
    changed_say(d, c->text, r->changed, sizeof r->changed);
    snprintf(r->source, sizeof r->source, "%s", *c->lines.file ? c->lines.file : d->kernel);
    memset(r->look, 0, sizeof r->look);
    for (size_t i = 0; i < d->n; i++)
        if (d->all[i].own)
            add_look(r, d->all[i].at.line);
    for (int i = 0; i < CAUSE_LINES; i++)
        add_look(r, c->look[i]);
}

void tester_explain_changed(struct tester_result *r, const struct step *step, const struct tester_options *o,
                            bool wrong)
{
    struct changed d;
    struct cause c = { 0 };
    if (*r->changed)
        return;
    compare(&d, &c, step, o, wrong);
    if (d.n)
        take(r, &c, &d);
}

// The cause of what the checks found.
static void explain_found(struct text_end *l, struct tester_result *r, const struct step *step,
                          const struct geometry *g, const struct tester_options *o, const struct simt_findings *found)
{
    const struct simt_finding *first = cause_first_finding(found);
    struct changed d;
    struct cause c;
    char place[256];
    simt_finding_place_text(&first->here.place, place, sizeof place);
    cause_of_error(&c, step, g, o, true, first, found);
    text_add(l, "%s (%s, %s)", c.meaning ? c.meaning : meaning_text(first, o), simt_finding_name(first->kind), place);
    compare(&d, &c, step, o, true);
    if (*c.text && !d.n)
        text_add(l, ": %s", c.text);
    take(r, &c, &d);
}

void tester_explain_found(struct tester_result *r, const struct step *step, const struct geometry *g,
                          const struct tester_options *o, const struct simt_findings *found)
{
    const size_t used = strlen(r->what);
    struct text_end l = { r->what + used, sizeof r->what - used };
    explain_found(&l, r, step, g, o, found);
}

void tester_explain_far(struct tester_result *r, const struct step *step, const struct geometry *g,
                        const struct tester_options *o, int row, int col)
{
    const size_t used = strlen(r->what);
    struct changed d;
    struct cause c;
    cause_of_far(&c, step, g, row, col);
    compare(&d, &c, step, o, true);
    snprintf(r->what + used, sizeof r->what - used, "%s", c.text);
    take(r, &c, &d);
}

void tester_explain_failure(struct tester_result *r, const struct step *step, const struct geometry *g,
                            const struct tester_options *o, const struct simt_finding *f)
{
    struct changed d;
    struct cause c;
    cause_of_error(&c, step, g, o, false, f, NULL);
    compare(&d, &c, step, o, true);
    snprintf(r->what, sizeof r->what, "%s", d.n ? "" : c.text);
    take(r, &c, &d);
}

// What the checks found. Of a kernel that did not end, C is not what it computes.
static void explain_wrong_found(struct text_end *l, struct tester_result *r, const struct step *step,
                                const struct geometry *g, const struct tester_options *o,
                                const struct tester_seen *seen)
{
    explain_found(l, r, step, g, o, seen->found);
    if (simt_finding_check(cause_first_finding(seen->found)->kind) != SIMT_RUN)
        add_example(l, step, g, seen->verdict);
}

// Where nothing was found, and the cause has been looked for.
static void explain_wrong_silent(struct text_end *l, struct tester_result *r, const struct step *step,
                                 const struct geometry *g, const struct tester_options *o,
                                 const struct tester_seen *seen)
{
    const struct matrix_verdict *v = seen->verdict;
    struct changed d;
    struct cause c = { 0 };
    if (isfinite(v->want))
        cause_find(&c, step, g, o, seen->simulated);
    compare(&d, &c, step, o, true);
    if (d.n && isfinite(v->want)) {
        add_element(l, step, g, v);
        text_add(l, ": the kernel differs from the course's");
    } else {
        tester_explain(l->at, l->left, step, g, v, seen->product, *c.text ? c.text : NULL);
    }
    take(r, &c, &d);
    if (!*c.text && !d.n && isfinite(v->want) && !o->sanitize) {
        const size_t n = strlen(r->what);
        snprintf(r->what + n, sizeof r->what - n, " (the cause is not certain; %s checks every access)",
                 seen->simulated ? "--sanitize" : "--device=sim --sanitize");
    }
}

void tester_explain_wrong(struct tester_result *r, const struct step *step, const struct geometry *g,
                          const struct tester_options *o, const struct tester_seen *seen)
{
    const size_t used = strlen(r->what);
    struct text_end l = { r->what + used, sizeof r->what - used };
    if (seen->found && seen->found->n)
        explain_wrong_found(&l, r, step, g, o, seen);
    else
        explain_wrong_silent(&l, r, step, g, o, seen);
}
