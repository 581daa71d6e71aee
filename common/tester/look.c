// See look.h.
#include "look.h"

#include <math.h>

enum fill { ONES, ROWS, COLS, HOT_ROWS, HOT_COLS };

static double value(enum fill how, const struct matrix *m, int row, int col)
{
    switch (how) {
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
    } looks[LOOKS] = {
        [LOOK_B_COUNT] = { ONES, HOT_COLS }, [LOOK_A_ROW] = { ROWS, HOT_COLS }, [LOOK_A_COL] = { COLS, HOT_COLS },
        [LOOK_A_COUNT] = { HOT_ROWS, ONES }, [LOOK_B_ROW] = { HOT_ROWS, ROWS }, [LOOK_B_COL] = { HOT_ROWS, COLS },
    };
    struct matrix A = matrix_new(p->type, m, k), B = matrix_new(p->type, k, n);
    const struct probe_product x = { .alpha = 1, .A = &A, .B = &B };
    bool ok = A.data && B.data;
    *l = (struct look){ .m = m, .n = n, .k = k };
    for (int i = 0; ok && i < LOOKS; i++) {
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

void look_free(struct look *l)
{
    for (int i = 0; i < LOOKS; i++)
        matrix_free(&l->C[i]);
}

// The row or column whose number is x.
static int number(double x, int n)
{
    return x >= 1 && x <= n && x == floor(x) ? (int)x - 1 : -1;
}

struct meeting look_meeting(const struct look *l, int row, int col)
{
    double x[LOOKS];
    for (int i = 0; i < LOOKS; i++)
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
