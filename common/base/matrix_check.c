// Is C = alpha * A * B + beta * C0, up to rounding? A reference product, the bound, and Freivalds' check.
//
// The bound. A kernel rounds each element K times while it accumulates (one fused multiply-add a product; with separate
// multiplications and additions the first sum is exact, so K again), once when it scales by alpha, once for beta * C0,
// once when it adds the two. So at most n = K + 3 roundings lie between an input and the result, in whatever order the
// sum is taken. In the standard model each multiplies by 1 + d, |d| <= u, and
//
//     |C - exact| <= e(c u) * S,    S = |alpha| |A| |B| + |beta| |C0|,    e(x) = exp(x) - 1,    c = n,
//
// where e(n u) stands for the usual n u / (1 - n u): it bounds (1 + u)^n - 1 too, and for every n. With c = n the bound
// is of no use at K = 4096: in f32 it lets a whole product go missing. So for large n, c = LAMBDA * sqrt(n) is used:
// - Higham and Mary (2019, "A new approach to probabilistic rounding error analysis") show that it holds, but for a
//   probability of 2 exp(-LAMBDA^2 / 2) an inner product, when the d have mean zero and do not depend on each other.
// - Where roundings are biased (tensor cores cut towards zero), it holds if the data have random signs, as the tester's
//   do: partial sums then stay below about LAMBDA sqrt(n) times a term, and n roundings of them add up to c u S again.
// With the tester's data both apply, and the errors stay near 1 / sqrt(K) of the bound.
//
// u is the accumulator's: 2^-24 for f32, 2^-53 for f64, and 2^-23 (cut, not rounded) for f16, which accumulates in f32
// and then rounds once more to f16. Results below the smallest normal number err by up to half its last bit, eta / 2,
// instead: K such errors pass through alpha, three do not.
//
// The reference. For f32 and f16 inputs a product is exact in double and the sum errs by at most K 2^-53 S, below a
// thousandth of the bound. For f64 that would be the kernel's own error, so the sum is kept as an unevaluated pair of
// doubles (Ogita, Rump and Oishi 2005, algorithm Dot2): each product and each sum leaves its rounding error behind
// exactly, and the errors are added up apart. The result is as good as one computed with 106 bits. Long double would
// do on x86 but is plain double or software elsewhere, and does not vectorise.
#include "matrix.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#if FLT_EVAL_METHOD != 0
#error "the exact products and sums here need doubles that are rounded to double"
#endif

#define LAMBDA 5.0

// The same sums in wider vectors where the processor has them: products of floats are exact, so it does not matter
// whether they are fused with their sums. The choice at the start of a program does not get along with
// AddressSanitizer.
#if defined __x86_64__ && defined __gnu_linux__ && !defined __clang__ && !defined __SANITIZE_ADDRESS__
#define WIDE_VECTORS __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define WIDE_VECTORS
#endif

enum { ROWS = 64, COLS = 64, DEPTH = 64, LANES = 8, UNROLL = 4 };  // a block of the reference fits the L2 cache
enum { ROUNDS = 2, PATCHES = 512 };                                // of Freivalds' check; of LANES elements each

struct pair {
    double hi, lo;  // stands for hi + lo; hi alone is what plain double arithmetic would give
};

struct product {
    const struct matrix *C, *A, *B, *C0;
    double alpha, beta;
    double relative, absolute;          // the bound is relative * S + absolute
    double out_relative, out_absolute;  // and the output's rounding, where the accumulator is wider than it
    unsigned char *map;                 // a mark for each element of C, or NULL
};

// The reference for a block of at most ROWS x COLS elements, before alpha.
struct block {
    double a[ROWS][DEPTH], b[DEPTH][COLS];
    double hi[ROWS][COLS], lo[ROWS][COLS], size[ROWS][COLS];  // A B as pairs, |A| |B|
};

double matrix_scalar(enum dev_type type, double value)
{
    return type == DEV_F64 ? value : (float)value;
}

// --- Pairs ---

// The upper 26 bits of x: products of two such are exact. By masking, so that it cannot overflow.
static inline double upper(double x)
{
    union {
        double d;
        uint64_t u;
    } v = { .d = x };
    v.u &= ~UINT64_C(0x7ffffff);
    return v.d;
}

// hi + lo += x. The new lo is NaN when hi is not finite.
static inline void pair_add(double *hi, double *lo, double x)
{
    double sum = *hi + x, part = sum - *hi;
    double left = *hi - (sum - part), right = x - part;
    *hi = sum;
    *lo += left + right;
}

static inline void pair_add_product(double *hi, double *lo, double a, double b)
{
    double p = a * b, ah = upper(a), bh = upper(b), al = a - ah, bl = b - bh;
    double rest = ah * bh - p;
    rest += ah * bl;
    rest += al * bh;
    rest += al * bl;
    pair_add(hi, lo, p);
    *lo += rest;
}

// scale * x added to sum.
static void pair_add_scaled(struct pair *sum, double scale, struct pair x)
{
    pair_add_product(&sum->hi, &sum->lo, scale, x.hi);
    sum->lo += scale * x.lo;
}

// --- The bound ---

static struct product product_of(const struct matrix *C, double alpha, const struct matrix *A, const struct matrix *B,
                                 double beta, const struct matrix *C0)
{
    struct product p = { .C = C, .A = A, .B = B, .C0 = C0 };
    p.alpha = matrix_scalar(C->type, alpha);
    p.beta = C0 ? matrix_scalar(C->type, beta) : 0;
    double n = A->cols + 3.0, c = fmin(n, LAMBDA * sqrt(n));
    double u = C->type == DEV_F16 ? 0x1p-23 : type_roundoff(C->type);
    double eta = C->type == DEV_F64 ? 0x1p-1074 : 0x1p-149;
    p.relative = expm1(c * u);
    p.absolute = (A->cols * fmax(1, fabs(p.alpha)) + 3) * eta;  // eta, not its half: the reference may underflow too
    if (C->type == DEV_F16) {
        p.out_relative = type_roundoff(DEV_F16);
        p.out_absolute = 0x1p-25;
    }
    return p;
}

static double bound_of(const struct product *p, double size, double want)
{
    double bound = p->relative * size + p->absolute;
    return bound + p->out_relative * (fabs(want) + bound) + p->out_absolute;
}

static double largest(enum dev_type type)
{
    return type == DEV_F64 ? DBL_MAX : type == DEV_F32 ? FLT_MAX : 65504;
}

// |got - want| / bound, or 0 or infinity where that is no number. NaN never passes for a number.
static double error_ratio(const struct product *p, double got, struct pair want, double bound)
{
    if (isnan(want.hi))
        return isnan(got) ? 0 : INFINITY;
    if (isinf(want.hi))
        return got == want.hi ? 0 : INFINITY;
    if (isinf(got))  // overflow is right where rounding may have led there
        return signbit(got) == signbit(want.hi) && fabs(want.hi) + bound >= largest(p->C->type) ? 0 : INFINITY;
    double ratio = fabs((got - want.hi) - want.lo) / bound;
    return isnan(ratio) ? INFINITY : ratio;
}

// --- The reference ---

static int padded(int n, int to)
{
    return (n + to - 1) / to * to;
}

static void load_block(struct block *w, const struct product *p, int row, int rows, int col, int cols, int k, int depth)
{
    // Padding with zeros on both sides adds 0 * 0.
    for (int i = 0; i < rows; i++) {
        matrix_get_row(p->A, row + i, k, depth, w->a[i]);
        for (int l = depth; l < padded(depth, UNROLL); l++)
            w->a[i][l] = 0;
    }
    for (int l = 0; l < padded(depth, UNROLL); l++) {
        if (l < depth)
            matrix_get_row(p->B, k + l, col, cols, w->b[l]);
        for (int j = l < depth ? cols : 0; j < padded(cols, LANES); j++)
            w->b[l][j] = 0;
    }
}

WIDE_VECTORS static void multiply_exact(struct block *w, int rows, int cols, int depth)
{
    for (int i = 0; i < rows; i++) {
        for (int k = 0; k < depth; k += UNROLL) {
            const double a0 = w->a[i][k], a1 = w->a[i][k + 1], a2 = w->a[i][k + 2], a3 = w->a[i][k + 3];
            const double *b0 = w->b[k], *b1 = b0 + COLS, *b2 = b1 + COLS, *b3 = b2 + COLS;
            double *restrict hi = w->hi[i], *restrict size = w->size[i];
            for (int j = 0; j < cols; j++) {
                const double p0 = a0 * b0[j], p1 = a1 * b1[j], p2 = a2 * b2[j], p3 = a3 * b3[j];
                hi[j] += (p0 + p1) + (p2 + p3);
                size[j] += (fabs(p0) + fabs(p1)) + (fabs(p2) + fabs(p3));
            }
        }
    }
}

static void multiply_pairs(struct block *w, int rows, int cols, int depth)
{
    for (int i = 0; i < rows; i++) {
        for (int k = 0; k < depth; k++) {
            double a = w->a[i][k];
            for (int j = 0; j < cols; j += LANES) {
                double *restrict hi = &w->hi[i][j], *restrict lo = &w->lo[i][j], *restrict size = &w->size[i][j];
                const double *b = &w->b[k][j];
                for (int l = 0; l < LANES; l++) {
                    pair_add_product(&hi[l], &lo[l], a, b[l]);
                    size[l] += fabs(a * b[l]);
                }
            }
        }
    }
}

static void note(struct matrix_verdict *v, const struct product *p, int row, int col, struct pair want, double bound)
{
    double got = matrix_get(p->C, row, col), ratio = error_ratio(p, got, want, bound);
    v->worst = fmax(v->worst, ratio);
    if (p->map)
        p->map[(size_t)row * (size_t)p->C->cols + (size_t)col] = matrix_is_poison(p->C, row, col) ? MATRIX_UNWRITTEN
                                                                 : ratio <= 1                     ? MATRIX_RIGHT
                                                                                                  : MATRIX_WRONG;
    if (ratio <= 1 || (!v->right && (row > v->row || (row == v->row && col > v->col))))
        return;
    v->right = false;
    v->row = row;
    v->col = col;
    v->got = got;
    v->want = want.hi + want.lo;
    if (isnan(want.lo))
        v->want = want.hi;
    v->bound = bound;
    v->poison = matrix_is_poison(p->C, row, col);
}

// Compares the elements of a block of at most ROWS x COLS.
static void check_block(struct matrix_verdict *v, const struct product *p, int row, int rows, int col, int cols)
{
    struct block w;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < padded(cols, LANES); j++)
            w.hi[i][j] = w.lo[i][j] = w.size[i][j] = 0;
    for (int k = 0; k < p->A->cols; k += DEPTH) {
        int depth = p->A->cols - k < DEPTH ? p->A->cols - k : DEPTH;
        load_block(&w, p, row, rows, col, cols, k, depth);
        if (p->A->type == DEV_F64)
            multiply_pairs(&w, rows, padded(cols, LANES), depth);
        else
            multiply_exact(&w, rows, padded(cols, LANES), padded(depth, UNROLL));
    }
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < cols; j++) {
            struct pair want = { 0, 0 };
            double size = fabs(p->alpha) * w.size[i][j];
            pair_add_scaled(&want, p->alpha, (struct pair){ w.hi[i][j], w.lo[i][j] });
            if (p->beta != 0) {
                double c = matrix_get(p->C0, row + i, col + j);
                pair_add_product(&want.hi, &want.lo, p->beta, c);
                size += fabs(p->beta * c);
            }
            note(v, p, row + i, col + j, want, bound_of(p, size, want.hi));
        }
    }
}

// Compares the elements of a rectangle; stops after the band of rows in which it finds a wrong one, unless there is a
// map to fill.
static void check_rectangle(struct matrix_verdict *v, const struct product *p, int row, int rows, int col, int cols)
{
    for (int i = 0; i < rows; i += ROWS) {
        for (int j = 0; j < cols; j += COLS)
            check_block(v, p, row + i, rows - i < ROWS ? rows - i : ROWS, col + j, cols - j < COLS ? cols - j : COLS);
        if (!v->right && !p->map)
            return;
    }
}

struct matrix_verdict matrix_check(const struct matrix *C, double alpha, const struct matrix *A, const struct matrix *B,
                                   double beta, const struct matrix *C0)
{
    return matrix_check_map(C, alpha, A, B, beta, C0, NULL);
}

struct matrix_verdict matrix_check_map(const struct matrix *C, double alpha, const struct matrix *A,
                                       const struct matrix *B, double beta, const struct matrix *C0, unsigned char *map)
{
    struct product p = product_of(C, alpha, A, B, beta, C0);
    struct matrix_verdict v = { .right = true };
    p.map = map;
    check_rectangle(&v, &p, 0, C->rows, 0, C->cols);
    return v;
}

// --- Freivalds' check ---
//
// For random signs x, C x is compared with alpha A (B x) + beta C0 x, which takes three matrix-vector products. A row
// of C whose errors are within their bounds b_j misses by a sum of N numbers with random signs, which stays below the
// root of the sum of b_j^2: the b_j are LAMBDA standard deviations wide (and wider where c = n) before the signs are
// even drawn. That root needs no |A| |B|: by the triangle inequality, the row i of |A| |B| has a 2-norm of at most the
// sum over k of |a_ik| times the 2-norm of the row k of B. A row that is refused is then compared element by element,
// which decides.

struct row_sums {
    struct pair dot;  // of a row and the signs x
    double norm;      // the row's 2-norm
};

struct freivalds {
    const struct product *p;
    double *x;            // N signs
    struct row_sums *bx;  // for each row of B
    double *row;          // room for a row of any matrix
};

static struct row_sums sum_row(struct freivalds *f, const struct matrix *m, int row)
{
    struct row_sums s = { { 0, 0 }, 0 };
    matrix_get_row(m, row, 0, m->cols, f->row);
    for (int j = 0; j < m->cols; j++) {
        pair_add(&s.dot.hi, &s.dot.lo, f->x[j] * f->row[j]);
        s.norm += f->row[j] * f->row[j];
    }
    s.norm = sqrt(s.norm);
    return s;
}

static bool row_passes(struct freivalds *f, int row)
{
    const struct product *p = f->p;
    struct pair ab = { 0, 0 }, want = { 0, 0 };
    double size = 0;
    matrix_get_row(p->A, row, 0, p->A->cols, f->row);
    for (int k = 0; k < p->A->cols; k++) {
        pair_add_product(&ab.hi, &ab.lo, f->row[k], f->bx[k].dot.hi);
        ab.lo += f->row[k] * f->bx[k].dot.lo;
        size += fabs(f->row[k]) * f->bx[k].norm;
    }
    size *= fabs(p->alpha);
    pair_add_scaled(&want, p->alpha, ab);
    if (p->beta != 0) {
        struct row_sums c0 = sum_row(f, p->C0, row);
        pair_add_scaled(&want, p->beta, c0.dot);
        size += fabs(p->beta) * c0.norm;
    }
    struct row_sums c = sum_row(f, p->C, row);
    double root = sqrt(p->C->cols);
    double bound = p->relative * size + p->absolute * root;
    bound += p->out_relative * (c.norm + bound) + p->out_absolute * root;
    double error = fabs((c.dot.hi - want.hi) + (c.dot.lo - want.lo));
    return error <= bound;  // not where either is NaN
}

static void freivalds(struct matrix_verdict *v, struct freivalds *f, uint64_t seed)
{
    const struct product *p = f->p;
    for (int round = 0; round < ROUNDS; round++) {
        for (int j = 0; j < p->C->cols; j++)
            f->x[j] = matrix_hash(seed + (uint64_t)round, (uint64_t)j) >> 63 ? -1 : 1;
        for (int k = 0; k < p->B->rows; k++)
            f->bx[k] = sum_row(f, p->B, k);
        int rows = v->right ? p->C->rows : v->row;  // only an earlier row matters once one is wrong
        for (int i = 0; i < rows; i++) {
            if (row_passes(f, i))
                continue;
            check_rectangle(v, p, i, 1, 0, p->C->cols);
            if (!v->right)
                break;
        }
    }
}

// The corners and edges of C, and PATCHES runs of elements that seed picks.
static void check_sample(struct matrix_verdict *v, const struct product *p, uint64_t seed)
{
    int M = p->C->rows, N = p->C->cols, width = N < LANES ? N : LANES;
    check_rectangle(v, p, 0, 1, 0, width);
    for (uint64_t i = 0; i < PATCHES; i++) {
        int row = (int)(matrix_hash(seed, 2 * i) % (uint64_t)M);
        int col = (int)(matrix_hash(seed, 2 * i + 1) % (uint64_t)(N - width + 1));
        check_rectangle(v, p, row, 1, col, width);
    }
    check_rectangle(v, p, M - 1, 1, 0, N);
    check_rectangle(v, p, 0, M, N - 1, 1);
}

struct matrix_verdict matrix_check_large(const struct matrix *C, double alpha, const struct matrix *A,
                                         const struct matrix *B, double beta, const struct matrix *C0, uint64_t seed)
{
    struct product p = product_of(C, alpha, A, B, beta, C0);
    struct matrix_verdict v = { .right = true };
    int N = C->cols, K = A->cols;
    struct freivalds f = { .p = &p };
    f.x = malloc((size_t)N * sizeof *f.x);
    f.bx = malloc((size_t)K * sizeof *f.bx);
    f.row = malloc((size_t)(N > K ? N : K) * sizeof *f.row);
    if (f.x && f.bx && f.row) {
        check_sample(&v, &p, seed);
        freivalds(&v, &f, seed);
    } else {
        check_rectangle(&v, &p, 0, C->rows, 0, N);  // slow, but needs no memory
    }
    free(f.x);
    free(f.bx);
    free(f.row);
    return v;
}
