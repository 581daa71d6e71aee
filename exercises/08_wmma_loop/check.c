// The check of exercise 08.
#include <math.h>

#include "../exercise.h"
#include "base/matrix.h"

enum { BM = 64, BN = 64, WM = 32, WN = 32, THREADS = 64 };
enum { M = 96, N = 160, K = 48 };

// Two warps side by side. On the way out a lane takes every 32nd element of a patch of 16 x 16.
static int owner(const struct geometry *g, int row, int col)
{
    return g->wn ? col / g->wn * 32 + row % 2 * 16 + col % 16 : -1;
}

static const struct ex_gemm gemm = { DEV_F16,
                                     { .bm = BM, .bn = BN, .bk = 16, .threads = THREADS, .wm = WM, .wn = WN },
                                     owner };

// --- A matrix of numbers that are all different, times the identity: each element tells where it came from ---

static struct matrix numbered(int rows, int cols)
{
    struct matrix x = matrix_new(DEV_F16, rows, cols);
    cr_assert(x.data && rows * cols <= 2048, "every whole number up to 2,048 is a half");
    for (int i = 0; i < rows * cols; i++)
        matrix_set(&x, i / cols, i % cols, i + 1);
    return x;
}

static struct matrix identity(int n)
{
    struct matrix x = matrix_new(DEV_F16, n, n);
    cr_assert(x.data, "out of memory");
    for (int i = 0; i < n * n; i++)
        matrix_set(&x, i / n, i % n, i / n == i % n);
    return x;
}

static struct matrix product(const struct matrix *A, const struct matrix *B)
{
    struct ex x = ex_open(DEV_SIM);
    const struct geometry g = ex_geometry();
    struct matrix C = matrix_new(DEV_F16, A->rows, B->cols);
    int m = A->rows, n = B->cols, k = A->cols;
    float alpha = 1, beta = 0;
    dev_ptr a = ex_buffer(&x, "A", A->data, matrix_bytes(A)), b = ex_buffer(&x, "B", B->data, matrix_bytes(B));
    matrix_fill_nan(&C);
    dev_ptr c = ex_buffer(&x, "C", C.data, matrix_bytes(&C));
    const struct dev_arg args[] = { DEV_ARG(m), DEV_ARG(n), DEV_ARG(k),    DEV_ARG(alpha),
                                    DEV_ARG(a), DEV_ARG(b), DEV_ARG(beta), DEV_ARG(c) };
    ex_launch(&x, "gemm",
              &(struct dev_launch){ .grid = { (unsigned)((n + g.bn - 1) / g.bn), (unsigned)((m + g.bm - 1) / g.bm) },
                                    .block = { (unsigned)g.threads },
                                    .args = args,
                                    .n_args = 8 });
    ex_read(&x, C.data, c, matrix_bytes(&C));
    ex_close(&x);
    return C;
}

// What the value at (r, c) tells, where it should be that of X.
static void tell(const struct matrix *C, const struct matrix *X, char x, int r, int c)
{
    const char *other = x == 'A' ? "B" : "A";
    const double got = matrix_get(C, r, c), want = matrix_get(X, r, c);
    if (matrix_is_poison(C, r, c))
        cr_assert_fail("%s is the identity, so C is %c; but C[%d][%d] was never written; look at row and col", other, x,
                       r, c);
    if (isnan(got))
        cr_assert_fail(
            "%s is the identity, so C is %c; but C[%d][%d] is NaN, as it was before: beta is 0, and C was read; "
            "look at the last line, NaN times 0 is NaN",
            other, x, r, c);
    if (got == 0)
        cr_assert_fail("%s is the identity, so C is %c; but C[%d][%d] is 0: nothing was added to it; look at which "
                       "fragments are loaded and multiplied, and at every 16 of K",
                       other, x, r, c);
    if (r >= WM && got == want + matrix_get(X, r - WM, c))
        cr_assert_fail(
            "%s is the identity, so C is %c; but C[%d][%d] is %c[%d][%d] + %c[%d][%d]: the sums of the warp's "
            "tile before are still in it; look at fill_fragment",
            other, x, r, c, x, r - WM, c, x, r, c);
    const int at = (int)got - 1, row = at / X->cols, col = at % X->cols;
    if (got != (int)got || at < 0 || row >= X->rows)
        cr_assert_fail("%s is the identity, so C is %c; but C[%d][%d] is %g, a sum of several elements; look at which "
                       "fragments are multiplied, and which sums they are added to",
                       other, x, r, c, got);
    cr_assert_fail(
        "%s is the identity, so C is %c; but C[%d][%d] is %c[%d][%d]; look at %s", other, x, r, c, x, row, col,
        row == r / 16 * 16 + c % 16 && col == c / 16 * 16 + r % 16
            ? "the layout of the fragment: rows of 16 neighbours are row_major, col_major takes them for columns"
        : r % 16 == 0 ? "where each fragment begins: how does the address of its first element follow from k, i and j?"
                      : "the leading dimension: how many elements from one row of the matrix to the next?");
}

static void expect_same(const struct matrix *C, const struct matrix *X, char x)
{
    for (int r = 0; r < X->rows; r++)
        for (int c = 0; c < X->cols; c++)
            if (matrix_get(C, r, c) != matrix_get(X, r, c))
                tell(C, X, x, r, c);
}

Test(check, 1_the_identity_times_B_is_B)
{
    struct matrix A = identity(32), B = numbered(32, 64), C = product(&A, &B);
    expect_same(&C, &B, 'B');
    matrix_free(&A);
    matrix_free(&B);
    matrix_free(&C);
}

Test(check, 2_A_times_the_identity_is_A)
{
    struct matrix A = numbered(64, 32), B = identity(32), C = product(&A, &B);
    expect_same(&C, &A, 'A');
    matrix_free(&A);
    matrix_free(&B);
    matrix_free(&C);
}

Test(check, 3_the_result_is_right)
{
    ex_is_right(&gemm, M, N, K, 1, 0);
    ex_is_right(&gemm, 160, 32, 16, 1, 0);
}

Test(check, 4_alpha_and_beta_are_in_it)
{
    ex_is_right(&gemm, 64, 96, 32, -0.5, 2);
}

Test(check, 5_the_tensor_cores_multiply)
{
    const struct profile *p = ex_count(&gemm, M, N, K);
    const uint64_t want = (uint64_t)M * N * K / (16 * 8 * 16);
    cr_assert_eq(p->total[METRIC_HMMA], want,
                 "right result, but with %" PRIu64 " tensor-core instructions where %d x %d x %d elements in steps of "
                 "16 x 8 x 16 take %" PRIu64 "; look at the calls of mma_sync",
                 p->total[METRIC_HMMA], M, N, K, want);
}

Test(check, 6_a_fragment_is_loaded_once_for_the_products_of_a_warp_tile)
{
    // A load of a fragment is 4 requests: 16 x 16 halves, 128 bytes each.
    const struct profile *p = ex_count(&gemm, M, N, K);
    const int turns = M / WM * (N / WN) * (K / 16), want = WM / 16 + WN / 16;
    const uint64_t fragments = p->total[METRIC_GLD_REQ] / 4 / (uint64_t)turns;
    cr_assert_leq(fragments, want,
                  "right result, but a warp loads %" PRIu64
                  " fragments for each 16 of K, where %d suffice: each fragment of "
                  "A belongs to %d products, each of B to %d; look at the order of the loops",
                  fragments, want, WN / 16, WM / 16);
}
