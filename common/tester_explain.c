// What a wrong element tells: who owns it, and where to look next.
//
// The hint compares the value with what the usual mistakes would give: nothing written, beta * C0 or alpha forgotten,
// products missing at the start or the end of K, rows and columns swapped, a neighbour's sum. It is tried in that
// order, and a value counts as the mistake's where it is within the element's error bound of it.
#include "tester_explain.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

struct line {
    char *text;
    size_t room, used;
};

__attribute__((format(printf, 2, 3))) static void add(struct line *l, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(l->text + l->used, l->room - l->used, format, args);
    va_end(args);
    if (n > 0)
        l->used = l->used + (size_t)n < l->room ? l->used + (size_t)n : l->room - 1;
}

static double dot(const struct matrix *A, const struct matrix *B, int row, int col)
{
    double sum = 0;
    for (int k = 0; k < A->cols; k++)
        sum += matrix_get(A, row, k) * matrix_get(B, k, col);
    return sum;
}

// The smallest number of products at the end (or at the start) of K without which the sum is the value got; 0 if none.
static int products_missing(const struct matrix_verdict *v, const struct matrix *A, const struct matrix *B,
                            double alpha, double rest, bool at_start)
{
    double sum = dot(A, B, v->row, v->col);
    for (int i = 1; i <= A->cols; i++) {
        int k = at_start ? i - 1 : A->cols - i;
        sum -= matrix_get(A, v->row, k) * matrix_get(B, k, v->col);
        if (fabs(alpha * sum + rest - v->got) <= v->bound)
            return i;
    }
    return 0;
}

// Whether the value got is the sum of another element of this row or this column of the block's tile.
static bool is_neighbours(const struct step *step, const struct matrix_verdict *v, double alpha, const struct matrix *A,
                          const struct matrix *B, double rest, int *row, int *col)
{
    const int brow = v->row / step->tile.m * step->tile.m, bcol = v->col / step->tile.n * step->tile.n;
    for (int i = 0; i < step->tile.m + step->tile.n; i++) {
        *row = i < step->tile.m ? brow + i : v->row;
        *col = i < step->tile.m ? v->col : bcol + i - step->tile.m;
        if (*row < A->rows && *col < B->cols && fabs(alpha * dot(A, B, *row, *col) + rest - v->got) <= v->bound)
            return true;
    }
    return false;
}

static void add_owner(struct line *l, const struct step *step, int row, int col)
{
    int tm = step->thread.m > 0 ? step->thread.m : 1, tn = step->thread.n > 0 ? step->thread.n : 1;
    int r = row % step->tile.m, c = col % step->tile.n;
    int tid = step->owner ? step->owner(r, c) : r / tm * (step->tile.n / tn) + c / tn;
    add(l, "; block (%d, %d)", col / step->tile.n, row / step->tile.m);
    if (tid < (int)step->block)
        add(l, ", warp %d, lane %d", tid / 32, tid % 32);
}

static void add_hint_from_value(struct line *l, const struct step *step, const struct matrix_verdict *v, double alpha,
                                const struct matrix *A, const struct matrix *B, double beta, const struct matrix *C0)
{
    double product = dot(A, B, v->row, v->col);
    double rest = beta != 0 ? beta * matrix_get(C0, v->row, v->col) : 0;
    int missing, row, col;
    if (beta != 0 && fabs(alpha * product - v->got) <= v->bound) {
        add(l, "beta * C0 is missing");
    } else if (alpha != 1 && fabs(product + rest - v->got) <= v->bound) {
        add(l, "alpha is missing");
    } else if ((missing = products_missing(v, A, B, alpha, rest, false)) > 0) {
        add(l, "the last %d of %d products are missing: look at the end of the loop over K", missing, A->cols);
    } else if ((missing = products_missing(v, A, B, alpha, rest, true)) > 0) {
        add(l, "the first %d of %d products are missing: look at the start of the loop over K", missing, A->cols);
    } else if (v->col < A->rows && v->row < B->cols && v->row != v->col &&
               fabs(alpha * dot(A, B, v->col, v->row) + (beta != 0 ? beta * matrix_get(C0, v->col, v->row) : 0) -
                    v->got) <= v->bound) {
        add(l, "that is C[%d][%d]: rows and columns are swapped", v->col, v->row);
    } else if (is_neighbours(step, v, alpha, A, B, rest, &row, &col)) {
        add(l, "that is C[%d][%d]: look at which %s is computed here, and where it is stored", row, col,
            row == v->row ? "column" : "row");
    } else {
        bool ragged =
            v->row >= A->rows / step->tile.m * step->tile.m || v->col >= B->cols / step->tile.n * step->tile.n;
        add(l, "look at %sthe indices of the loads, and at the barriers around them",
            ragged ? "the guards of this block, which sticks out of C, at " : "");
    }
}

void tester_explain(char *what, size_t room, const struct step *step, const struct matrix_verdict *v, double alpha,
                    const struct matrix *A, const struct matrix *B, double beta, const struct matrix *C0)
{
    struct line l = { what, room, 0 };
    int digits = step->type == DEV_F64 ? 17 : step->type == DEV_F32 ? 9 : 5;
    alpha = matrix_scalar(step->type, alpha);
    beta = matrix_scalar(step->type, beta);
    add(&l, "C[%d][%d] is %.*g, want %.*g within %.2g", v->row, v->col, digits, v->got, digits, v->want, v->bound);
    add_owner(&l, step, v->row, v->col);
    add(&l, ": ");
    if (v->poison)
        add(&l, "nobody wrote it (still the poison): look at the grid, the store's guard and the rows and columns it "
                "covers");
    else if (beta != 0 && v->got == matrix_get(C0, v->row, v->col))
        add(&l, "nobody wrote it (still C0): look at the grid, the store's guard and the rows and columns it covers");
    else if (isnan(v->got) && !isnan(v->want))
        add(&l, "%s, or is memory read that nobody wrote?",
            beta == 0 ? "is C read although beta is 0" : "are A, B or C read outside their bounds");
    else if (isfinite(v->want))
        add_hint_from_value(&l, step, v, alpha, A, B, beta, C0);
    else
        add(&l, "A, B or C0 hold Inf or NaN here, which must reach C");
}
