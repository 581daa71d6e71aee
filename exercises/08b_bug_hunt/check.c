// The check of exercise 8b: products whose result says which of the bugs is still there.
#include <math.h>

#include "../exercise.h"

enum { TILE = 16 };

// Small whole numbers, exact as halves, different in every row and column.
static double number(int row, int col)
{
    return row * TILE + col + 1;
}
static double one_on_the_diagonal(int row, int col)
{
    return row == col;
}

static struct matrix filled(int rows, int cols, double (*value)(int row, int col))
{
    struct matrix x = matrix_new(DEV_F32, rows, cols);
    cr_assert(x.data, "out of memory");
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < cols; c++)
            matrix_set(&x, r, c, value(r, c));
    return x;
}

// C = A * B by the kernel. C begins as NaN.
static struct matrix product(enum dev_kind kind, const struct matrix *A, const struct matrix *B)
{
    const int m = A->rows, n = B->cols, k = A->cols;
    struct matrix C = matrix_new(DEV_F32, m, n);
    cr_assert(C.data, "out of memory");
    matrix_fill_nan(&C);
    struct ex x = ex_open(kind);
    dev_ptr a = ex_buffer(&x, "A", A->data, matrix_bytes(A)), b = ex_buffer(&x, "B", B->data, matrix_bytes(B));
    dev_ptr c = ex_buffer(&x, "C", C.data, matrix_bytes(&C));
    const struct dev_arg args[] = { DEV_ARG(m), DEV_ARG(n), DEV_ARG(k), DEV_ARG(a), DEV_ARG(b), DEV_ARG(c) };
    ex_launch(&x, "hunt",
              &(struct dev_launch){
                  .grid = { (unsigned)(n / TILE), (unsigned)(m / TILE) }, .block = { 32 }, .args = args, .n_args = 6 });
    ex_read(&x, C.data, c, matrix_bytes(&C));
    ex_close(&x);
    return C;
}

static bool is(const struct matrix *C, double (*value)(int row, int col), bool transposed)
{
    for (int r = 0; r < TILE; r++)
        for (int c = 0; c < TILE; c++)
            if (matrix_get(C, r, c) != (transposed ? value(c, r) : value(r, c)))
                return false;
    return true;
}

// One tile with numbers in the one operand, and ones on the diagonal of the other: C is the one with the numbers.
static struct matrix one_tile(bool numbers_in_A)
{
    struct matrix A = filled(TILE, TILE, numbers_in_A ? number : one_on_the_diagonal);
    struct matrix B = filled(TILE, TILE, numbers_in_A ? one_on_the_diagonal : number);
    struct matrix C = product(DEV_SIM, &A, &B);
    matrix_free(&A);
    matrix_free(&B);
    return C;
}

static bool values_are_right(const struct matrix *C)
{
    return is(C, number, false) || is(C, number, true);
}

Test(check, 1_floats_become_halves)
{
    for (int in_A = 1; in_A >= 0; in_A--) {
        struct matrix C = one_tile(in_A);
        cr_assert(
            values_are_right(&C),
            "one tile, K 16, whole numbers in %c, and in %c ones on the diagonal: C should hold the numbers of %c, but "
            "C[0][1] is %g. A value that lies in the wrong place would still be one of them. This is half of a float, "
            "read as if it were a half: a pointer cast converts no value. Look at how As and Bs are filled",
            "BA"[in_A], "AB"[in_A], "BA"[in_A], matrix_get(&C, 0, 1));
        matrix_free(&C);
    }
}

Test(check, 2_rows_are_rows)
{
    for (int in_A = 1; in_A >= 0; in_A--) {
        struct matrix C = one_tile(in_A);
        if (!values_are_right(&C))
            cr_skip_test("first floats have to become halves");
        cr_assert(
            is(&C, number, false),
            "the numbers are right, but %c is transposed: C[0][1] is %g, which %c has in row 1, column 0. Look at the "
            "fragments: row_major or col_major?",
            "BA"[in_A], matrix_get(&C, 0, 1), "BA"[in_A]);
        matrix_free(&C);
    }
}

static void expect_product(enum dev_kind kind, int m, int n, int k)
{
    struct matrix A = ex_whole_numbers(DEV_F32, m, k, 1), B = ex_whole_numbers(DEV_F32, k, n, 2),
                  C = product(kind, &A, &B);
    for (int row = 0; row < m; row++)
        for (int col = 0; col < n; col++) {
            double want = 0;
            for (int i = 0; i < k; i++)
                want += matrix_get(&A, row, i) * matrix_get(&B, i, col);
            const double got = matrix_get(&C, row, col);
            cr_assert(
                !isnan(got),
                "M %d, N %d, K %d: C[%d][%d] was never written. It is in the tile of block (%d, %d). Look at row and "
                "col: do they follow from blockIdx?",
                m, n, k, row, col, col / TILE, row / TILE);
            cr_assert_eq(
                got, want,
                "M %d, N %d, K %d: C[%d][%d] is %g, and should be %g. One tile is right. So how long is a row of "
                "A, of B and of C?",
                m, n, k, row, col, got, want);
        }
    matrix_free(&A);
    matrix_free(&B);
    matrix_free(&C);
}

Test(check, 3_every_block_has_its_tile)
{
    struct matrix C = one_tile(true), D = one_tile(false);
    if (!is(&C, number, false) || !is(&D, number, false))
        cr_skip_test("first one tile has to be right");
    matrix_free(&C);
    matrix_free(&D);
    expect_product(DEV_SIM, 48, 16, 16);
    expect_product(DEV_SIM, 16, 64, 48);
    expect_product(DEV_SIM, 32, 48, 64);
}

Test(check, 4_so_it_is_on_the_GPU)
{
    expect_product(DEV_GPU, 32, 48, 64);
}
