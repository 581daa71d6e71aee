// What became of alpha, of beta and of the last bits of the sums. See cause.h.
//
// With a hot A, and small whole numbers in B and C0, an element is p * product + q * C0, both of which are known. With
// alpha = 3 and beta = 5, p and q say what a kernel did: 3 and 5 are right, 1 is a factor left out, 15 both.
#include "cause.h"

#include <math.h>

#include "look.h"
#include "probe.h"

static const enum line_role at_the_store[] = { LINE_FACTORS, LINE_STORE_C, LINE_WRITE_C, LINE_ROLES };
static const enum line_role at_the_scaling[] = { LINE_FACTORS, LINE_SCALE, LINE_ROUND, LINE_ROLES };
static const enum line_role at_the_product[] = { LINE_MULTIPLY, LINE_ROLES };

enum { ALPHA = 3, BETA = 5, MOST = 7 };  // MOST: of the numbers in B and C0

struct numbers {
    struct matrix A, B, C0, C;
};

static double small_number(int row, int col, uint64_t seed)
{
    return (double)(1 + matrix_hash(seed, (uint64_t)row << 32 | (uint64_t)col) % MOST);
}

static bool make(struct numbers *x, enum dev_type type, int m, int n, int k)
{
    *x = (struct numbers){ matrix_new(type, m, k), matrix_new(type, k, n), matrix_new(type, m, n),
                           matrix_new(type, m, n) };
    if (!x->A.data || !x->B.data || !x->C0.data || !x->C.data)
        return false;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < k; j++)
            matrix_set(&x->A, i, j, i % k == j);
    for (int i = 0; i < k; i++)
        for (int j = 0; j < n; j++)
            matrix_set(&x->B, i, j, small_number(i, j, 1));
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            matrix_set(&x->C0, i, j, small_number(i, j, 2));
    return true;
}

static void release(struct numbers *x)
{
    matrix_free(&x->A);
    matrix_free(&x->B);
    matrix_free(&x->C0);
    matrix_free(&x->C);
}

// --- alpha and beta ---

static bool run(struct probe *p, struct numbers *x, double alpha, double beta, bool poisoned)
{
    const struct probe_product r = { alpha, beta, &x->A, &x->B, poisoned ? NULL : &x->C0 };
    return probe_run(p, &r, &x->C);
}

static double product_at(const struct numbers *x, int i, int j)
{
    return matrix_get(&x->B, i % x->A.cols, j);
}

static double old_at(const struct numbers *x, int i, int j)
{
    return matrix_get(&x->C0, i, j);
}

// Rows and columns of C.
struct part {
    int row, end_row, col, end_col;
};

// Whether this part of C is p * product + q * C0 with the same p and q. Two elements propose them.
static bool factors(const struct numbers *x, const struct part *of, double *p, double *q)
{
    const int row = of->row, col = of->col;
    const double a = product_at(x, row, col), b = old_at(x, row, col), v = matrix_get(&x->C, row, col);
    double det = 0;
    for (int j = col + 1; j < of->end_col && det == 0; j++) {
        const double c = product_at(x, row, j), d = old_at(x, row, j), w = matrix_get(&x->C, row, j);
        det = a * d - b * c;
        *p = (v * d - b * w) / det;
        *q = (a * w - v * c) / det;
    }
    if (det == 0 || !isfinite(*p) || !isfinite(*q))
        return false;
    *p = round(*p);
    *q = round(*q);
    for (int i = row; i < of->end_row; i++)
        for (int j = col; j < of->end_col; j++) {
            const double want = *p * product_at(x, i, j) + *q * old_at(x, i, j);
            if (!(fabs(matrix_get(&x->C, i, j) - want) <= 2 * type_roundoff(x->C.type) * fabs(want)))
                return false;
        }
    return true;
}

struct factor {
    double is;
    const char *says;
};

static const struct factor of_product[] = {
    { 0, "the product A * B is missing" },
    { 1, "alpha is missing: A * B is not multiplied by it" },
    { BETA, "beta stands where alpha belongs: it multiplies A * B" },
    { ALPHA * BETA, "beta multiplies A * B as well: it belongs to C alone" },
    { ALPHA * ALPHA, "alpha is applied twice to A * B" },
    { ALPHA * (1 + BETA), "the tile is computed and stored twice: to beta * C as the first time left it, it is added" },
};

static const struct factor of_old[] = {
    { 0, "beta * C0 is missing" },
    { 1, "beta is missing: C0 is added as it is" },
    { ALPHA, "alpha stands where beta belongs: it multiplies C0" },
    { ALPHA * BETA, "alpha multiplies beta * C0 as well: it belongs to A * B alone" },
    { BETA * BETA, "beta is applied twice to C0" },
    { 1 + BETA, "C0 is added once more, without beta" },
};

enum { FACTORS = sizeof of_old / sizeof *of_old };

// What the factor found means; NULL if it is none of them.
static const char *meaning(const struct factor factors[FACTORS], double found)
{
    for (int i = 0; i < FACTORS; i++)
        if (factors[i].is == found)
            return factors[i].says;
    return NULL;
}

// Whether alpha's power grows along K: sums of earlier tiles are multiplied once more.
static bool grows(const struct numbers *x)
{
    int powers = 0;
    for (int i = 0; i < x->C.rows && i < x->A.cols; i++) {
        const double power = log(matrix_get(&x->C, i, 0) / product_at(x, i, 0)) / log(ALPHA);
        if (!(fabs(power - round(power)) < 0.01))
            return false;
        powers += round(power) > 1;
    }
    return powers > 0;
}

// What the factors of a part of C tell, or NULL.
static const char *about_part(const struct numbers *x, const struct part *of)
{
    double f, q;
    if (!factors(x, of, &f, &q))
        return NULL;
    return f != ALPHA ? meaning(of_product, f) : q != BETA ? meaning(of_old, q) : NULL;
}

// The first block tile that is wrong where others are right, and what became of its factors; NULL: there is none.
static const char *about_tiles(const struct numbers *x, const struct geometry *g, struct part *first)
{
    const char *says = NULL;
    int right = 0;
    for (int row = 0; row < x->C.rows; row += g->bm)
        for (int col = 0; col < x->C.cols; col += g->bn) {
            const int end_row = row + g->bm < x->C.rows ? row + g->bm : x->C.rows;
            const int end_col = col + g->bn < x->C.cols ? col + g->bn : x->C.cols;
            const struct part tile = { row, end_row, col, end_col };
            const char *of_this = about_part(x, &tile);
            double f, q;
            right += factors(x, &tile, &f, &q) && f == ALPHA && q == BETA;
            if (of_this && !says) {
                says = of_this;
                *first = tile;
            }
        }
    return right ? says : NULL;
}

// Which element of C0 is added in place of another.
static void say_old(struct cause *c, struct probe *p, const struct numbers *x)
{
    struct look l = { .m = x->C.rows, .n = x->C.cols, .k = x->A.cols };
    bool told = !look_take_old(&l, p);
    for (int i = 0; i < l.m && !told; i++)
        for (int j = 0; j < l.n && !told; j++) {
            const double row = matrix_get(&l.C[LOOK_OLD_ROW], i, j), col = matrix_get(&l.C[LOOK_OLD_COL], i, j);
            told = row != i + 1 || col != j + 1;
            if (told && row >= 1 && row <= l.m && col >= 1 && col <= l.n)
                cause_say(c, " (for C[%d][%d] it takes C0[%.0f][%.0f])", i, j, row - 1, col - 1);
        }
    look_free(&l);
}

// Says what became of alpha and beta. False if nothing is known to be wrong with them. *sums: products may be scaled
// where they are added up.
static bool say_factors(struct cause *c, struct probe *p, struct numbers *x, bool *sums)
{
    const struct part all = { 0, x->C.rows, 0, x->C.cols };
    double f, q;
    const bool both = run(p, x, ALPHA, BETA, false), fits = both && factors(x, &all, &f, &q);
    struct part tile = all;
    const char *says = NULL;
    *sums = fits && f != ALPHA;
    if (fits && (f != ALPHA || q != BETA)) {
        says = about_part(x, &all);
    } else if (both && !fits && (says = about_tiles(x, &p->geometry, &tile))) {
        cause_say(c, "in the tile of C from C[%d][%d] on, and not in all others, ", tile.row, tile.col);
    } else if (both && run(p, x, ALPHA, 0, false)) {
        const bool known = factors(x, &all, &f, &q);
        *sums = !known && grows(x);
        says = known && f != ALPHA ? meaning(of_product, f)
               : *sums ? "alpha multiplies the sums more than once, the earlier the products the more often: "
                         "it belongs behind the loop over K"
                       : NULL;
        if (known && f == ALPHA && q == 0 && !fits) {
            cause_say(c, "what is added for beta is not beta times the same element of C");
            say_old(c, p, x);
            return true;
        }
    }
    if (!says && both && run(p, x, 1, 0, true) && isnan(matrix_get(&x->C, 0, 0)))
        says = "C is read although beta is 0: 0 * NaN is NaN, and C may hold NaN";
    if (says)
        cause_say(c, "%s", says);
    return says;
}

static bool of_factors(struct cause *c, struct probe *p, struct numbers *x)
{
    bool sums;
    if (!say_factors(c, p, x, &sums))
        return false;
    cause_look_at(c, c->lines.line[LINE_SCALE] ? at_the_scaling : at_the_store);
    if (sums)
        cause_look_at(c, at_the_product);
    return true;
}

// --- Last bits ---

// C[0][0] of a product whose sum is big, and then a 1 at every step-th k; *ones: how many.
static double big_and_ones(struct probe *p, const struct numbers *like, double big, int step, double alpha, int *ones)
{
    struct numbers x;
    const int m = like->C.rows, n = like->C.cols, k = like->A.cols;
    double got = NAN;
    *ones = 0;
    if (make(&x, p->type, m, n, k)) {
        for (int j = 0; j < k; j++) {
            const bool one = j > step && (j - 1) % step == 0;
            *ones += one;
            for (int i = 0; i < m; i++)
                matrix_set(&x.A, i, j, j == 0 ? big : one);
            for (int i = 0; i < n; i++)
                matrix_set(&x.B, j, i, 1);
        }
        if (run(p, &x, alpha, 0, true))
            got = matrix_get(&x.C, 0, 0);
    }
    release(&x);
    return got;
}

// C[0][0] where all elements of A are a, and all of B are b.
static double of_equal(struct probe *p, const struct numbers *like, double a, double b)
{
    struct numbers x;
    double got = NAN;
    if (make(&x, p->type, like->C.rows, like->C.cols, like->A.cols)) {
        for (int j = 0; j < x.A.cols; j++) {
            for (int i = 0; i < x.A.rows; i++)
                matrix_set(&x.A, i, j, a);
            for (int i = 0; i < x.B.cols; i++)
                matrix_set(&x.B, j, i, b);
        }
        if (run(p, &x, 1, 0, true))
            got = matrix_get(&x.C, 0, 0);
    }
    release(&x);
    return got;
}

// Elements of A or B that lose bits before they are multiplied: halves of 1, or what a narrower type leaves out.
static bool of_operands(struct cause *c, struct probe *p, const struct numbers *like)
{
    static const enum line_role lines[][6] = {
        { LINE_LOAD_A, LINE_WRITE_A, LINE_READ_A, LINE_MULTIPLY, LINE_ROLES },
        { LINE_LOAD_B, LINE_WRITE_B, LINE_READ_B, LINE_MULTIPLY, LINE_ROLES },
    };
    const double k = like->A.cols, more = p->type == DEV_F64 ? 1 + 0x1p-30 : 1 + 0x1p-12;
    for (int b = 0; b < 2; b++) {
        const bool whole = of_equal(p, like, b ? 1 : 0.5, b ? 0.5 : 1) == 0;
        if (!whole && (p->type == DEV_F16 || of_equal(p, like, b ? 1 : more, b ? more : 1) != k))
            continue;
        cause_say(c, "%c's elements are rounded to %s before they are multiplied, by the type of what takes them there",
                  "AB"[b],
                  whole                ? "whole numbers"
                  : p->type == DEV_F64 ? "float"
                                       : "half");
        cause_look_at(c, lines[b]);
        return true;
    }
    return false;
}

// Sums that are rounded to fewer bits, after each product, each 16 of them or each tile; and those that are rounded
// before alpha multiplies them.
static bool of_bits(struct cause *c, struct probe *p, const struct numbers *like)
{
    const bool wide = p->type == DEV_F64;
    const int steps[] = { 1, 16, p->geometry.bk };
    const double big = wide ? 0x1p24 : 0x1p11;  // with 1 more it needs a bit that float, or half, does not have
    const char *name = wide ? "float" : "half";
    int ones;
    for (int i = 0; i < 3; i++)
        if (steps[i] && big_and_ones(p, like, big, steps[i], 1, &ones) == big && ones >= 2) {
            cause_say(c, "the sum is rounded to %s on its way: %.0f + 1 + 1 + ... stays %.0f", name, big, big);
            cause_look_at(c, at_the_product);
            return true;
        }
    const int most = like->A.cols;
    if (big_and_ones(p, like, big, most > 1 ? most / 2 : 1, 3, &ones) == 3 * big && ones == 1) {
        cause_say(c, "the sum is rounded to %s before alpha multiplies it: 3 * (%.0f + 1) gives 3 * %.0f", name, big,
                  big);
        cause_look_at(c, c->lines.line[LINE_ROUND] ? at_the_scaling : at_the_store);
        return true;
    }
    return false;
}

bool cause_of_value(struct cause *c, struct probe *p, int m, int n, int k)
{
    struct numbers x;
    const bool told =
        make(&x, p->type, m, n, k) && (of_factors(c, p, &x) || of_operands(c, p, &x) || of_bits(c, p, &x));
    release(&x);
    return told;
}
