// See look.h.
#include "look.h"

#include <math.h>
#include <stdlib.h>

enum fill { ZEROS, ONES, ROWS, COLS, HOT_ROWS, HOT_COLS };

static double value(enum fill how, const struct matrix *m, int row, int col)
{
    switch (how) {
    case ZEROS:
        return 0;
    case ONES:
        return 1;
    case ROWS:
        return row + 1;  // from 1: a 0 tells that nothing came
    case COLS:
        return col + 1;
    case HOT_ROWS:
        return row % m->cols == col;
    case HOT_COLS:
        return col % m->rows == row;
    }
    return 0;
}

static void fill(struct matrix *m, enum fill how)
{
    for (int i = 0; i < m->rows; i++)
        for (int j = 0; j < m->cols; j++)
            matrix_set(m, i, j, value(how, m, i, j));
}

bool look_take(struct look *l, struct probe *p, int m, int n, int k)
{
    static const struct {
        enum fill a, b;
    } looks[LOOK_TAKEN] = {
        [LOOK_B_COUNT] = { ONES, HOT_COLS }, [LOOK_A_ROW] = { ROWS, HOT_COLS }, [LOOK_A_COL] = { COLS, HOT_COLS },
        [LOOK_A_COUNT] = { HOT_ROWS, ONES }, [LOOK_B_ROW] = { HOT_ROWS, ROWS }, [LOOK_B_COL] = { HOT_ROWS, COLS },
    };
    struct matrix A = matrix_new(p->type, m, k), B = matrix_new(p->type, k, n);
    const struct probe_product x = { .alpha = 1, .A = &A, .B = &B };
    bool ok = A.data && B.data;
    *l = (struct look){ .m = m, .n = n, .k = k };
    for (int i = 0; ok && i < LOOK_TAKEN; i++) {
        l->C[i] = matrix_new(p->type, m, n);
        ok = l->C[i].data;
        if (ok) {
            fill(&A, looks[i].a);
            fill(&B, looks[i].b);
            ok = probe_run(p, &x, &l->C[i]);
        }
    }
    matrix_free(&A);
    matrix_free(&B);
    return ok;
}

bool look_take_old(struct look *l, struct probe *p)
{
    struct matrix A = matrix_new(p->type, l->m, l->k), B = matrix_new(p->type, l->k, l->n);
    struct matrix C0 = matrix_new(p->type, l->m, l->n);
    const struct probe_product x = { .alpha = 1, .beta = 1, .A = &A, .B = &B, .C0 = &C0 };
    bool ok = A.data && B.data && C0.data;
    for (int i = LOOK_OLD_ROW; ok && i <= LOOK_OLD_COL; i++) {
        l->C[i] = matrix_new(p->type, l->m, l->n);
        ok = l->C[i].data;
        if (ok) {
            fill(&A, ZEROS);
            fill(&B, ONES);
            fill(&C0, i == LOOK_OLD_ROW ? ROWS : COLS);
            ok = probe_run(p, &x, &l->C[i]);
        }
    }
    matrix_free(&A);
    matrix_free(&B);
    matrix_free(&C0);
    return ok;
}

void look_free(struct look *l)
{
    for (int i = 0; i < LOOKS; i++)
        matrix_free(&l->C[i]);
}

bool look_is_zero(const struct look *l)
{
    for (int i = 0; i < l->m; i++)
        for (int j = 0; j < l->n; j++)
            if (matrix_get(&l->C[LOOK_B_COUNT], i, j) != 0 || matrix_get(&l->C[LOOK_A_COUNT], i, j) != 0)
                return false;
    return true;
}

// The row or column whose number is x.
static int number(double x, int n)
{
    return x >= 1 && x <= n && x == floor(x) ? (int)x - 1 : -1;
}

struct meeting look_meeting(const struct look *l, int row, int col)
{
    double x[LOOK_TAKEN];
    for (int i = 0; i < LOOK_TAKEN; i++)
        x[i] = matrix_get(&l->C[i], row, col);
    struct meeting t = {
        !(isnan(x[0]) && matrix_is_poison(&l->C[0], row, col)), -1, -1, -1, -1, x[LOOK_A_COUNT], x[LOOK_B_COUNT]
    };
    if (t.b_count == 1) {
        t.a_row = number(x[LOOK_A_ROW], l->m);
        t.a_col = number(x[LOOK_A_COL], l->k);
    }
    if (t.a_count == 1) {
        t.b_row = number(x[LOOK_B_ROW], l->k);
        t.b_col = number(x[LOOK_B_COL], l->n);
    }
    return t;
}

bool look_old_is(const struct look *l, int row, int col, int to_row, int to_col)
{
    return matrix_get(&l->C[LOOK_OLD_ROW], row, col) == to_row + 1 &&
           matrix_get(&l->C[LOOK_OLD_COL], row, col) == to_col + 1;
}

// --- How often each product is added ---

struct counting {
    const struct geometry *g;
    double *count;     // of each k
    size_t odd, seen;  // elements that say another number than those before them; all of them
};

static bool tile_is_right(const struct matrix *C, int row, int col, const struct geometry *g)
{
    for (int i = row; i < row + g->bm && i < C->rows; i++)
        for (int j = col; j < col + g->bn && j < C->cols; j++)
            if (matrix_get(C, i, j) != 1)
                return false;
    return true;
}

// Elements of C whose product of k = (row or column + offset) % K alone was asked for. Tiles that are right tell
// nothing about the others.
static void count_in(struct counting *x, const struct matrix *C, int k, int offset, bool by_row)
{
    for (int row = 0; row < C->rows; row += x->g->bm)
        for (int col = 0; col < C->cols; col += x->g->bn) {
            const bool right = tile_is_right(C, row, col, x->g);
            for (int i = row; i < row + x->g->bm && i < C->rows; i++)
                for (int j = col; j < col + x->g->bn && j < C->cols; j++) {
                    double *at = &x->count[((by_row ? i : j) + offset) % k];
                    const double got = matrix_get(C, i, j);
                    if (right && *at >= 0)
                        continue;
                    x->odd += *at >= 0 && *at != 1 && *at != got;
                    x->seen++;
                    *at = *at < 0 || *at == 1 ? got : *at;
                }
        }
}

bool look_counts(const struct look *l, struct probe *p, double *count)
{
    struct counting x = { &p->geometry, count, 0, 0 };
    struct matrix A = matrix_new(p->type, l->m, l->k), B = matrix_new(p->type, l->k, l->n);
    struct matrix C = matrix_new(p->type, l->m, l->n);
    const struct probe_product product = { .alpha = 1, .A = &A, .B = &B };
    bool ok = A.data && B.data && C.data;
    for (int k = 0; k < l->k; k++)
        count[k] = -1;
    count_in(&x, &l->C[LOOK_B_COUNT], l->k, 0, false);
    count_in(&x, &l->C[LOOK_A_COUNT], l->k, 0, true);
    for (int offset = l->m; ok && offset < l->k; offset += l->m) {
        for (int i = 0; i < l->m; i++)
            for (int j = 0; j < l->k; j++)
                matrix_set(&A, i, j, (i + offset) % l->k == j);
        fill(&B, ONES);
        ok = probe_run(p, &product, &C);
        if (ok)
            count_in(&x, &C, l->k, offset, true);
    }
    matrix_free(&A);
    matrix_free(&B);
    matrix_free(&C);
    return ok && 10 * x.odd <= x.seen;
}
