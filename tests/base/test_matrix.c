// Tests of common/base/matrix and matrix_check: types, random data, the error bound, Freivalds' check.
//
// Products are computed here in the order and precision of a kernel: one fused multiply-add a product, then alpha and
// beta, or with a multiplication and an addition rounded apart.
#include <criterion/criterion.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/matrix.h"
#include "sample.h"

struct problem {
    int m, n, k;
    double alpha, beta;
    struct matrix A, B, C0, C;
};

static float sum_f32(const struct problem *p, int i, int j, bool fused)
{
    float sum = 0;
    for (int k = 0; k < p->k; k++) {
        float a = (float)matrix_get(&p->A, i, k), b = (float)matrix_get(&p->B, k, j);
        volatile float product = a * b;
        sum = fused ? fmaf(a, b, sum) : sum + product;
    }
    volatile float scaled = (float)p->alpha * sum;
    return p->beta == 0 ? scaled : fmaf((float)p->beta, (float)matrix_get(&p->C0, i, j), scaled);
}

static double sum_f64(const struct problem *p, int i, int j)
{
    double sum = 0;
    for (int k = 0; k < p->k; k++)
        sum = fma(matrix_get(&p->A, i, k), matrix_get(&p->B, k, j), sum);
    return p->beta == 0 ? p->alpha * sum : fma(p->beta, matrix_get(&p->C0, i, j), p->alpha * sum);
}

static double element(const struct problem *p, int i, int j, bool fused)
{
    if (p->A.type == DEV_F64)
        return sum_f64(p, i, j);
    return sum_f32(p, i, j, fused);  // f16 accumulates in f32, and matrix_set rounds once more
}

static struct problem problem_new(enum dev_type type, int m, int n, int k, double alpha, double beta, uint64_t seed)
{
    struct problem p = { .m = m, .n = n, .k = k, .alpha = alpha, .beta = beta };
    p.A = matrix_new(type, m, k);
    p.B = matrix_new(type, k, n);
    p.C0 = matrix_new(type, m, n);
    p.C = matrix_new(type, m, n);
    cr_assert(p.A.data && p.B.data && p.C0.data && p.C.data);
    matrix_fill_random(&p.A, 3 * seed);
    matrix_fill_random(&p.B, 3 * seed + 1);
    matrix_fill_random(&p.C0, 3 * seed + 2);
    return p;
}

static void multiply(struct problem *p, bool fused)
{
    for (int i = 0; i < p->m; i++)
        for (int j = 0; j < p->n; j++)
            matrix_set(&p->C, i, j, element(p, i, j, fused));
}

static void problem_free(struct problem *p)
{
    matrix_free(&p->A);
    matrix_free(&p->B);
    matrix_free(&p->C0);
    matrix_free(&p->C);
}

static struct matrix_verdict check(const struct problem *p)
{
    return matrix_check(&p->C, p->alpha, &p->A, &p->B, p->beta, p->beta != 0 ? &p->C0 : NULL);
}

static struct matrix_verdict check_large(const struct problem *p, uint64_t seed)
{
    return matrix_check_large(&p->C, p->alpha, &p->A, &p->B, p->beta, p->beta != 0 ? &p->C0 : NULL, seed);
}

// --- Types and data ---

Test(matrix, every_half_survives_a_round_trip)
{
    struct matrix h = matrix_new(DEV_F16, 1, 65536), back = matrix_new(DEV_F16, 1, 65536);
    for (int i = 0; i < 65536; i++)
        ((uint16_t *)h.data)[i] = (uint16_t)i;
    for (int i = 0; i < 65536; i++) {
        matrix_set(&back, 0, i, matrix_get(&h, 0, i));
        if ((i & 0x7c00) == 0x7c00 && (i & 0x3ff))
            cr_assert(isnan(matrix_get(&back, 0, i)), "half %04x is NaN", i);
        else
            cr_assert_eq(((uint16_t *)back.data)[i], i, "half %04x came back as %04x", i, ((uint16_t *)back.data)[i]);
    }
    matrix_free(&h);
    matrix_free(&back);
}

Test(matrix, halves_round_to_nearest_even)
{
    const struct {
        double x, want;
    } cases[] = {
        { 1 + 0x1p-11, 1 },                      // a tie: down to even
        { 1 + 0x3p-11, 1 + 0x1p-9 },             // a tie: up to even
        { 1 + 0x1p-11 + 0x1p-40, 1 + 0x1p-10 },  // just above the tie; a float in between would make it one
        { 65519.99, 65504 },
        { 65520, INFINITY },
        { -65520, -INFINITY },
        { 0x1p-25, 0 },  // a tie between 0 and the smallest half
        { 0x1.000001p-25, 0x1p-24 },
        { 0x1.ffcp-15 + 0x1p-25, 0x1p-14 },  // rounds up from the largest subnormal to the smallest normal number
        { -0.0, 0 },
        { 2047.9, 2048 },  // the carry runs into the exponent
    };
    struct matrix h = matrix_new(DEV_F16, 1, 1);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        matrix_set(&h, 0, 0, cases[i].x);
        cr_expect(matrix_get(&h, 0, 0) == cases[i].want, "%a became %a, want %a", cases[i].x, matrix_get(&h, 0, 0),
                  cases[i].want);
    }
    matrix_free(&h);
}

Test(matrix, sizes_that_overflow_or_are_not_positive_have_no_data)
{
    const int sizes[][2] = { { 2147483647, 2147483647 }, { 0, 1 }, { 1, 0 }, { -1, 1 }, { 1, -2147483647 } };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct matrix m = matrix_new(DEV_F64, sizes[i][0], sizes[i][1]);
        cr_expect_null(m.data, "%d x %d", sizes[i][0], sizes[i][1]);
        matrix_free(&m);
    }
}

Test(matrix, random_values_are_normal_and_depend_on_the_seed_and_the_position_alone)
{
    struct matrix a = matrix_new(DEV_F32, 301, 333), b = matrix_new(DEV_F64, 333, 301);
    matrix_fill_random(&a, 5);
    matrix_fill_random(&b, 5);
    size_t n = 301 * 333;
    double sum = 0, squares = 0, fourth = 0, neighbours = 0;
    for (size_t i = 0; i < n; i++) {
        double x = ((double *)b.data)[i];
        cr_assert_eq(((float *)a.data)[i], (float)x, "position %zu depends on the type or the shape", i);
        sum += x;
        squares += x * x;
        fourth += x * x * x * x;
        neighbours += i ? x * ((double *)b.data)[i - 1] : 0;
    }
    double N = (double)n, s = sqrt(1 / N);  // five standard deviations of each mean
    cr_expect_lt(fabs(sum / N), 5 * s, "mean %g", sum / N);
    cr_expect_lt(fabs(squares / N - 1), 5 * sqrt(2) * s, "variance %g", squares / N);
    cr_expect_lt(fabs(fourth / N - 3), 5 * sqrt(96) * s, "fourth moment %g, of a normal distribution 3", fourth / N);
    cr_expect_lt(fabs(neighbours / N), 5 * s, "correlation of neighbours %g", neighbours / N);
    matrix_fill_random(&a, 6);
    int same = 0;
    for (size_t i = 0; i < n; i++)
        same += ((float *)a.data)[i] == (float)((double *)b.data)[i];
    cr_expect_lt(same, 3, "%d values of seeds 5 and 6 agree", same);
    matrix_free(&a);
    matrix_free(&b);
}

Test(matrix, the_poison_is_a_nan_of_its_own)
{
    for (int type = DEV_F32; type <= DEV_F16; type++) {
        struct matrix m = matrix_new((enum dev_type)type, 2, 3);
        matrix_fill_nan(&m);
        cr_expect(isnan(matrix_get(&m, 1, 2)) && matrix_is_poison(&m, 1, 2), "%s", type_name(m.type));
        matrix_set(&m, 1, 2, NAN);
        cr_expect_not(matrix_is_poison(&m, 1, 2), "C's own NaN of %s counts as poison", type_name(m.type));
        memset(m.data, DEV_UNWRITTEN, matrix_bytes(&m));
        cr_expect(matrix_is_poison(&m, 1, 2), "fresh memory of the simulated GPU, %s", type_name(m.type));
        matrix_set(&m, 1, 2, -1);
        cr_expect_not(matrix_is_poison(&m, 1, 2), "-1 of %s counts as poison", type_name(m.type));
        matrix_free(&m);
    }
    struct matrix m = matrix_new(DEV_F32, 1, 1);
    *(uint32_t *)m.data = 0x7fffffff;
    cr_expect_not(matrix_is_poison(&m, 0, 0), "CUDA's NaN counts as poison");
    matrix_free(&m);
}

// --- The bound ---

static const int shapes[][3] = { { 1, 1, 1 },     { 1, 1, 1000 }, { 17, 1, 3 },     { 1, 300, 5 },   { 31, 33, 64 },
                                 { 16, 128, 65 }, { 7, 129, 2 },  { 40, 50, 1025 }, { 13, 257, 127 } };
static const double scalars[][2] = { { 1, 0 }, { 0.1, 0 }, { -2.5, 1 }, { 0, 3 }, { 0, 0 }, { 1e-3, -0.7 } };

Test(matrix_check, accepts_what_a_right_kernel_computes)
{
    for (int type = DEV_F32; type <= DEV_F16; type++) {
        for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
            for (size_t x = 0; x < sizeof scalars / sizeof scalars[0]; x++) {
                if (!sample_some(x + s, 3))
                    continue;
                struct problem p = problem_new((enum dev_type)type, shapes[s][0], shapes[s][1], shapes[s][2],
                                               scalars[x][0], scalars[x][1], s + 1);
                for (int fused = 0; fused < 2; fused++) {
                    multiply(&p, fused);
                    struct matrix_verdict v = check(&p), w = check_large(&p, s);
                    cr_expect(v.right && v.worst <= 1,
                              "%s %dx%dx%d alpha %g beta %g fused %d: C[%d][%d] %.9g want %.9g", type_name(p.C.type),
                              p.m, p.n, p.k, p.alpha, p.beta, fused, v.row, v.col, v.got, v.want);
                    cr_expect(w.right, "%s %dx%dx%d alpha %g beta %g: check_large refuses C[%d][%d] %.9g want %.9g",
                              type_name(p.C.type), p.m, p.n, p.k, p.alpha, p.beta, w.row, w.col, w.got, w.want);
                }
                problem_free(&p);
            }
        }
    }
}

Test(matrix_check, accepts_an_error_within_the_bound_and_refuses_one_beyond)
{
    for (int type = DEV_F32; type <= DEV_F64; type++) {
        for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
            struct problem p =
                problem_new((enum dev_type)type, shapes[s][0], shapes[s][1], shapes[s][2], 0.5, 2, s + 9);
            int row = p.m / 2, col = p.n - 1;
            multiply(&p, true);
            matrix_set(&p.C, row, col, NAN);
            struct matrix_verdict v = check(&p);
            cr_assert(!v.right && v.row == row && v.col == col);
            // The bound is a few last bits at K = 1, so the values tried are rounded towards want, or away from it.
            for (int sign = -1; sign <= 1; sign += 2) {
                double ulp = type == DEV_F32 ? 0x1p-23 * fabs(v.want) : 0x1p-52 * fabs(v.want);
                matrix_set(&p.C, row, col, v.want + sign * (v.bound - ulp));
                struct matrix_verdict inside = check(&p);
                cr_expect(inside.right, "%s %dx%dx%d: %.17g is %.3f of the bound from %.17g", type_name(p.C.type), p.m,
                          p.n, p.k, inside.got, inside.worst, v.want);
                matrix_set(&p.C, row, col, v.want + sign * (v.bound + 2 * ulp));
                struct matrix_verdict outside = check(&p);
                cr_expect(!outside.right && outside.row == row && outside.col == col,
                          "%s %dx%dx%d: an error of %.3f of the bound passed", type_name(p.C.type), p.m, p.n, p.k,
                          outside.worst);
            }
            problem_free(&p);
        }
    }
}

Test(matrix_check, the_bound_is_small_enough_to_see_a_missing_product_at_k_4096)
{
    const double limits[] = { [DEV_F32] = 0.1, [DEV_F64] = 2e-10, [DEV_F16] = 0.2 };
    for (int type = DEV_F32; type <= DEV_F16; type++) {
        struct problem p = problem_new((enum dev_type)type, 8, 8, 4096, 1, 0, 4);
        matrix_fill_nan(&p.C);
        struct matrix_verdict v = check(&p);
        cr_expect_lt(v.bound, limits[type], "the bound of %s is %g", type_name(p.C.type), v.bound);
        problem_free(&p);
    }
}

Test(matrix_check, the_reference_for_doubles_is_better_than_double)
{
    // 2^53 + 1 + 1 - 2^53: plain double arithmetic gives 0, which is within no useful bound of 2 but for |A||B|.
    struct problem p = problem_new(DEV_F64, 1, 1, 4, 1, 0, 1);
    const double a[] = { 0x1p53, 1, 1, -0x1p53 };
    for (int k = 0; k < 4; k++) {
        matrix_set(&p.A, 0, k, a[k]);
        matrix_set(&p.B, k, 0, 1);
    }
    matrix_set(&p.C, 0, 0, NAN);
    struct matrix_verdict v = check(&p);
    cr_expect_eq(v.want, 2, "want %.17g", v.want);
    // (1 + 2^-30)^2 - 1 - 2^-29 = 2^-60: the product's rounding error.
    const double x[] = { 1 + 0x1p-30, 1, 0x1p-29, 0 }, y[] = { 1 + 0x1p-30, -1, -1, 0 };
    for (int k = 0; k < 4; k++) {
        matrix_set(&p.A, 0, k, x[k]);
        matrix_set(&p.B, k, 0, y[k]);
    }
    v = check(&p);
    cr_expect_eq(v.want, 0x1p-60, "want %a", v.want);
    problem_free(&p);
}

// --- What must be refused ---

Test(matrix_check, names_the_first_wrong_element_in_row_major_order)
{
    struct problem p = problem_new(DEV_F32, 40, 300, 20, 1, 0, 2);
    multiply(&p, true);
    const int wrong[][2] = { { 39, 299 }, { 17, 250 }, { 17, 3 }, { 16, 200 } };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        matrix_set(&p.C, wrong[i][0], wrong[i][1], 1000);
        struct matrix_verdict v = check(&p), w = check_large(&p, 1);
        cr_expect(!v.right && v.row == wrong[i][0] && v.col == wrong[i][1], "found [%d][%d], want [%d][%d]", v.row,
                  v.col, wrong[i][0], wrong[i][1]);
        cr_expect(!w.right && w.row == wrong[i][0] && w.col == wrong[i][1], "large found [%d][%d], want [%d][%d]",
                  w.row, w.col, wrong[i][0], wrong[i][1]);
        cr_expect_eq(v.got, 1000, "got %g", v.got);
    }
    problem_free(&p);
}

Test(matrix_check, maps_every_element_that_is_wrong_or_was_never_written)
{
    struct problem p = problem_new(DEV_F32, 40, 300, 20, 0.5, 2, 2),
                   poison = problem_new(DEV_F32, 40, 300, 20, 0.5, 2, 2);
    const int wrong[][2] = { { 0, 0 }, { 15, 299 }, { 16, 128 }, { 39, 299 } }, unwritten = 17 * 300 + 3;
    unsigned char want[40 * 300] = { 0 }, map[40 * 300];
    multiply(&p, true);
    matrix_check_map(&p.C, p.alpha, &p.A, &p.B, p.beta, &p.C0, memset(map, 0xff, sizeof map));
    cr_expect_arr_eq(map, want, sizeof map, "of a right product");
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        matrix_set(&p.C, wrong[i][0], wrong[i][1], 1000);
        want[wrong[i][0] * 300 + wrong[i][1]] = MATRIX_WRONG;
    }
    matrix_fill_nan(&poison.C);
    ((float *)p.C.data)[unwritten] = ((float *)poison.C.data)[unwritten];
    want[unwritten] = MATRIX_UNWRITTEN;
    // As it happens, the right value of this one is that of the poison.
    matrix_set(&p.C0, 20, 7, matrix_get(&poison.C, 20, 7) / 2);
    ((float *)p.C.data)[20 * 300 + 7] = ((float *)poison.C.data)[20 * 300 + 7];
    want[20 * 300 + 7] = MATRIX_UNWRITTEN;
    struct matrix_verdict v = matrix_check_map(&p.C, p.alpha, &p.A, &p.B, p.beta, &p.C0, map);
    cr_expect(!v.right && v.row == 0 && v.col == 0, "found [%d][%d]", v.row, v.col);
    cr_expect_arr_eq(map, want, sizeof map);
    problem_free(&p);
    problem_free(&poison);
}

Test(matrix_check, refuses_swapped_rows_and_a_transposed_result)
{
    struct problem p = problem_new(DEV_F32, 33, 33, 40, 1, 0, 3);
    multiply(&p, true);
    for (int j = 0; j < p.n; j++) {
        double x = matrix_get(&p.C, 20, j);
        matrix_set(&p.C, 20, j, matrix_get(&p.C, 21, j));
        matrix_set(&p.C, 21, j, x);
    }
    struct matrix_verdict v = check(&p);
    cr_expect(!v.right && v.row == 20, "rows 20 and 21 are swapped, found row %d", v.row);
    multiply(&p, true);
    for (int i = 0; i < p.m; i++) {
        for (int j = 0; j < i; j++) {
            double x = matrix_get(&p.C, i, j);
            matrix_set(&p.C, i, j, matrix_get(&p.C, j, i));
            matrix_set(&p.C, j, i, x);
        }
    }
    v = check(&p);
    cr_expect(!v.right && v.row == 0 && v.col == 1, "C is transposed, found [%d][%d]", v.row, v.col);
    problem_free(&p);
}

Test(matrix_check, knows_an_element_that_nobody_wrote)
{
    for (int type = DEV_F32; type <= DEV_F16; type++) {
        struct problem p = problem_new((enum dev_type)type, 20, 21, 22, 1, 0, 3), poison;
        poison = problem_new((enum dev_type)type, 20, 21, 22, 1, 0, 3);
        multiply(&p, true);
        matrix_fill_nan(&poison.C);
        size_t size = type_size(p.C.type), at = (19 * 21 + 7) * size;
        memcpy((char *)p.C.data + at, (char *)poison.C.data + at, size);
        struct matrix_verdict v = check(&p), w = check_large(&p, 1);
        cr_expect(!v.right && v.poison && v.row == 19 && v.col == 7, "%s", type_name(p.C.type));
        cr_expect(!w.right && w.poison && w.row == 19 && w.col == 7, "%s, large", type_name(p.C.type));
        matrix_set(&p.C, 19, 7, NAN);
        v = check(&p);
        cr_expect(!v.right && !v.poison, "another NaN of %s", type_name(p.C.type));
        problem_free(&p);
        problem_free(&poison);
    }
}

Test(matrix_check, c0_is_not_read_where_beta_is_0)
{
    struct problem p = problem_new(DEV_F32, 10, 10, 10, 1, 0, 3);
    multiply(&p, true);
    matrix_fill_nan(&p.C0);
    struct matrix_verdict v = matrix_check(&p.C, 1, &p.A, &p.B, 0, &p.C0);
    cr_expect(v.right, "NaN in C0 spread to the reference");
    cr_expect(matrix_check_large(&p.C, 1, &p.A, &p.B, 0, &p.C0, 1).right, "NaN in C0 spread to Freivalds' check");
    problem_free(&p);
}

Test(matrix_check, infinities_and_overflow_must_be_the_same_in_c)
{
    for (int type = DEV_F32; type <= DEV_F64; type++) {
        double huge = type == DEV_F32 ? 0x1p127 : 0x1p1023;
        struct problem p = problem_new((enum dev_type)type, 4, 4, 4, 1, 0, 7);
        matrix_set(&p.A, 1, 2, INFINITY);  // row 1 of C: infinities of the signs of B's row 2
        matrix_set(&p.A, 2, 0, NAN);       // row 2 of C: NaN
        matrix_set(&p.A, 3, 0, huge);      // row 3: overflows where |B[0][j]| is 2 and more
        matrix_set(&p.B, 0, 3, -4);
        multiply(&p, true);
        cr_assert(isinf(matrix_get(&p.C, 1, 0)) && isnan(matrix_get(&p.C, 2, 0)));
        cr_assert_eq(matrix_get(&p.C, 3, 3), -INFINITY);
        cr_expect(check(&p).right, "%s: C has the infinities and NaN that belong there", type_name(p.C.type));
        cr_expect(check_large(&p, 1).right, "%s, large", type_name(p.C.type));
        matrix_set(&p.C, 1, 0, -matrix_get(&p.C, 1, 0));
        cr_expect_not(check(&p).right, "%s: an infinity of the wrong sign", type_name(p.C.type));
        multiply(&p, true);
        matrix_set(&p.C, 2, 0, 1);
        cr_expect_not(check(&p).right, "%s: a number where NaN belongs", type_name(p.C.type));
        multiply(&p, true);
        matrix_set(&p.C, 0, 0, INFINITY);
        cr_expect_not(check(&p).right, "%s: infinity where a small number belongs", type_name(p.C.type));
        cr_expect_not(check_large(&p, 1).right, "%s, large: infinity where a small number belongs",
                      type_name(p.C.type));
        problem_free(&p);
    }
}

// --- Freivalds ---

Test(matrix_check_large, sees_one_wrong_element_by_as_little_as_one_product)
{
    for (int type = DEV_F32; type <= DEV_F64; type++) {
        struct problem p = problem_new((enum dev_type)type, 300, 400, 500, 1, 0, 11);
        multiply(&p, true);
        cr_assert(check_large(&p, 0).right);
        int caught = 0, seeds = sample_asked() == SAMPLE_ALL ? 60 : 15;
        for (int seed = 0; seed < seeds; seed++) {
            // Away from the edges, which are compared one by one; products of the data have a standard deviation of 1.
            int row = (int)(matrix_hash(1, (uint64_t)seed) % 299), col = (int)(matrix_hash(2, (uint64_t)seed) % 399);
            double right = matrix_get(&p.C, row, col);
            matrix_set(&p.C, row, col, right + (seed % 2 ? 1 : -1));
            struct matrix_verdict v = check_large(&p, (uint64_t)seed);
            caught += !v.right && v.row == row && v.col == col;
            matrix_set(&p.C, row, col, right);
        }
        cr_expect_eq(caught, seeds, "%s: %d of %d wrong elements were caught", type_name(p.C.type), caught, seeds);
        problem_free(&p);
    }
}

Test(matrix_check_large, sees_a_single_nan_and_a_single_infinity)
{
    struct problem p = problem_new(DEV_F32, 300, 400, 30, 1, 0, 13);
    multiply(&p, true);
    double right = matrix_get(&p.C, 150, 201);
    for (uint64_t seed = 0; seed < 10; seed++) {
        const double wrong[] = { NAN, INFINITY, -INFINITY };
        for (int i = 0; i < 3; i++) {
            matrix_set(&p.C, 150, 201, wrong[i]);
            struct matrix_verdict v = check_large(&p, seed);
            cr_expect(!v.right && v.row == 150 && v.col == 201, "%g was not seen with seed %d", wrong[i], (int)seed);
        }
    }
    matrix_set(&p.C, 150, 201, right);
    cr_expect(check_large(&p, 1).right);
    problem_free(&p);
}

Test(matrix_check_large, sees_two_errors_that_cancel_in_a_plain_sum_more_often_than_not)
{
    // Two rounds of random signs see it with a probability of 3/4; 60 seeds then see fewer than 30 once in 30,000 runs,
    // and these seeds are fixed.
    struct problem p = problem_new(DEV_F32, 300, 400, 30, 1, 0, 14);
    multiply(&p, true);
    double x = matrix_get(&p.C, 150, 201), y = matrix_get(&p.C, 150, 302);
    matrix_set(&p.C, 150, 201, y);
    matrix_set(&p.C, 150, 302, x);
    int caught = 0;
    for (uint64_t seed = 0; seed < 60; seed++)
        caught += !check_large(&p, seed).right;
    cr_expect_geq(caught, 30, "two swapped elements were seen with %d of 60 seeds", caught);
    problem_free(&p);
}

Test(matrix_check_large, compares_the_edges_one_by_one)
{
    // Twice the bound of one element is too little for a sum over a row; at the edges it is seen all the same.
    struct problem p = problem_new(DEV_F32, 90, 700, 60, 1, 1, 12);
    multiply(&p, true);
    const int edges[][2] = { { 0, 0 }, { 89, 0 }, { 0, 699 }, { 89, 699 }, { 89, 333 }, { 44, 699 } };
    for (size_t i = 0; i < sizeof edges / sizeof edges[0]; i++) {
        double right = matrix_get(&p.C, edges[i][0], edges[i][1]);
        matrix_set(&p.C, edges[i][0], edges[i][1], NAN);
        struct matrix_verdict v = check(&p);
        matrix_set(&p.C, edges[i][0], edges[i][1], right + 2 * v.bound);
        v = check_large(&p, 5);
        cr_expect(!v.right && v.row == edges[i][0] && v.col == edges[i][1], "an error at [%d][%d] was not seen",
                  edges[i][0], edges[i][1]);
        matrix_set(&p.C, edges[i][0], edges[i][1], right);
    }
    problem_free(&p);
}
