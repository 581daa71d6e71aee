// wgmma: a warp's 16 rows of D = A B + D, of 64 x n. Compiled for each instruction set (isa.h).
//
// The arithmetic is that of mma.sync (exec_mma.c): exact products, aligned to the largest exponent and cut toward zero
// after 25 bits, summed exactly. e4m3 and e5m2 keep 13 bits, of the sum as of the f32 result (MMA-Sim, arXiv
// 2511.10909). Nearly always the numbers' exponents are so close together that products are exact as floats; then one
// multiplication aligns a product. Otherwise significands and exponents are kept apart.
#include <string.h>

#include "isa.h"
#include "simt/check/check.h"
#include "simt/code/access.h"
#include "simt/code/wgmma.h"
#include "vector8.h"

#define ROWS 16
#define K_MAX 32
#define NARROW 45  // exponents up to this size: a product of two is exact in a float, and so is its shift
#define LEAST (-100)

struct format {
    int fraction, range, bias, sign;  // bits of the fraction; the exponent of Inf and NaN; bias; place of the sign
};

static inline struct format format_of(enum mma_type t)
{
    switch (t) {
    case MMA_F16:
        return (struct format){ 10, 31, 15, 15 };
    case MMA_BF16:
        return (struct format){ 7, 255, 127, 15 };
    case MMA_TF32:
        return (struct format){ 10, 255, 127, 18 };
    case MMA_E4M3:
        return (struct format){ 3, 15, 7, 7 };
    default:
        return (struct format){ 2, 31, 15, 7 };
    }
}

struct block8 {  // 8 columns of B, or 8 numbers of a row of A at a time
    v8f value;
    v8i exponent;
};

struct left {  // this warp's rows of A
    float value[ROWS][K_MAX];
    int32_t exponent[ROWS][K_MAX];
    uint32_t bits[ROWS][K_MAX];
};

struct job {
    const struct wgmma *m;
    enum mma_type a, b;
    unsigned k;
    int fraction;       // bits that aligned terms keep
    bool narrow;        // values are kept whole; else as significands
    bool special_left;  // A holds Inf or NaN
    struct left left;
    v8i bits[K_MAX];  // of 8 columns of B
    struct block8 right[K_MAX];
};

// Significands as whole numbers, and exponents. Sets bits of *special and *wide where a number is Inf or NaN, or has a
// large exponent.
static inline struct block8 unpack8(enum mma_type t, v8i bits, v8i *special, v8i *wide)
{
    const struct format f = format_of(t);
    const v8i e = bits >> f.fraction & f.range, low = bits & ((1 << f.fraction) - 1);
    const v8i s = low | ((e != 0) & (1 << f.fraction)), negative = -(bits >> f.sign & 1);
    struct block8 r = { __builtin_convertvector((s ^ negative) - negative, v8f),
                        select8(s != 0, e + ((e == 0) & 1) - f.bias, (v8i){ 0 } + NONE) };
    *special |= t == MMA_E4M3 ? (e == f.range) & (low == 7) : e == f.range;
    *wide |= (s != 0) & ((r.exponent > NARROW) | (r.exponent < -NARROW));
    return r;
}

static inline v8f whole(enum mma_type t, struct block8 x)  // the values themselves
{
    return scaled(x.value, x.exponent - format_of(t).fraction + 127);
}

// The numbers in rows of 32 bytes as whole numbers of their bits.
static inline uint32_t number_at(enum mma_type t, const unsigned char *row, unsigned k)
{
    if (t == MMA_TF32)
        return ((const u32 *)row)[k] >> 13;
    return t == MMA_F16 || t == MMA_BF16 ? ((const u16 *)row)[k] : row[k];
}

static inline void unpack_left(struct job *j, enum mma_type t, const unsigned char rows[ROWS][K_MAX], v8i *wide)
{
    const uint32_t sign = j->m->negate ? 1u << format_of(t).sign : 0;
    v8i special = { 0 };
    for (unsigned row = 0; row < ROWS; row++) {
        for (unsigned k = 0; k < j->k; k += N) {
            v8i bits;
            for (unsigned i = 0; i < N; i++)
                bits[i] = (int32_t)(number_at(t, rows[row], k + i) ^ sign);
            const struct block8 x = unpack8(t, bits, &special, wide);
            memcpy(&j->left.value[row][k], &x.value, sizeof x.value);
            memcpy(&j->left.exponent[row][k], &x.exponent, sizeof x.exponent);
            memcpy(&j->left.bits[row][k], &bits, sizeof bits);
        }
    }
    j->special_left = any8(special);
}

static inline void make_whole(struct job *j, enum mma_type t)
{
    for (unsigned row = 0; row < ROWS; row++) {
        for (unsigned k = 0; k < j->k; k += N) {
            struct block8 x;
            memcpy(&x.value, &j->left.value[row][k], sizeof x.value);
            memcpy(&x.exponent, &j->left.exponent[row][k], sizeof x.exponent);
            x.value = whole(t, x);
            memcpy(&j->left.value[row][k], &x.value, sizeof x.value);
        }
    }
}

// --- sums ---

// A row: c + the products with 8 columns, aligned and cut, as a whole number of 2^(most - fraction).
static inline v8d sum_narrow(const struct job *j, unsigned row, unsigned k_all, v8f c, v8i c_bits)
{
    const float *a = j->left.value[row];
    const int32_t *ea = j->left.exponent[row];
    v8i most = max8((c_bits >> 23 & 255) - 127, (v8i){ 0 } + LEAST);
    for (unsigned k = 0; k < k_all; k++)
        most = max8(most, j->right[k].exponent + ea[k]);
    const v8i power = (j->fraction + 127 - most) << 23;
    const v8f scale = (v8f)power;
    v8i low = __builtin_convertvector(c * scale, v8i), high = { 0 };
    for (unsigned k = 0; k < k_all; k += 2) {
        low += __builtin_convertvector(j->right[k].value * a[k] * scale, v8i);
        high += __builtin_convertvector(j->right[k + 1].value * a[k + 1] * scale, v8i);
    }
    const v8l unit = __builtin_convertvector(most - j->fraction + 1023, v8l) << 52;
    return (__builtin_convertvector(low, v8d) + __builtin_convertvector(high, v8d)) * (v8d)unit;
}

static inline v8d sum_wide(const struct job *j, unsigned row, unsigned k_all, v8f c, v8i c_bits)
{
    const float *a = j->left.value[row];
    const int32_t *ea = j->left.exponent[row];
    const int product = format_of(j->a).fraction + format_of(j->b).fraction;
    const v8i e = c_bits >> 23 & 255, f = c_bits & 0x7fffff, negative = c_bits >> 31;
    const v8i s = f | ((e != 0) & 0x800000), ec = select8(s != 0, e + ((e == 0) & 1) - 127, (v8i){ 0 } + NONE);
    v8i most = ec;
    (void)c;
    for (unsigned k = 0; k < k_all; k++)
        most = max8(most, j->right[k].exponent + ea[k]);
    const v8i of_c = ec - most + (j->fraction - 23 + 127), of_product = (j->fraction - product + 127) - most;
    const v8f whole_c = __builtin_convertvector((s ^ negative) - negative, v8f);
    v8i low = __builtin_convertvector(scaled(whole_c, of_c), v8i), high = { 0 };
    for (unsigned k = 0; k < k_all; k += 2) {
        low +=
            __builtin_convertvector(scaled(j->right[k].value * a[k], of_product + ea[k] + j->right[k].exponent), v8i);
        high += __builtin_convertvector(
            scaled(j->right[k + 1].value * a[k + 1], of_product + ea[k + 1] + j->right[k + 1].exponent), v8i);
    }
    const v8i least = max8(most - j->fraction, (v8i){ 0 } - 1022) + 1023;
    const v8l unit = __builtin_convertvector(least, v8l) << 52;
    return (__builtin_convertvector(low, v8d) + __builtin_convertvector(high, v8d)) * (v8d)unit;
}

// --- Inf and NaN: what IEEE 754 says of the terms decides ---

static double value_of(enum mma_type t, uint32_t bits)
{
    const struct format f = format_of(t);
    const int e = (int)(bits >> f.fraction) & f.range, low = (int)bits & ((1 << f.fraction) - 1);
    const double sign = bits >> f.sign & 1 ? -1 : 1;
    if (t == MMA_E4M3 ? e == f.range && low == 7 : e == f.range)
        return t != MMA_E4M3 && !low ? sign * __builtin_inf() : __builtin_nan("");
    return sign * __builtin_ldexp(e ? low + (1 << f.fraction) : low, (e ? e : 1) - f.bias - f.fraction);
}

static v8d put_special(const struct job *j, unsigned row, v8f c, v8d result)
{
    for (unsigned col = 0; col < N; col++) {
        double special = __builtin_isfinite(c[col]) ? 0 : (double)c[col];
        for (unsigned k = 0; k < j->k; k++) {
            const double p = value_of(j->a, j->left.bits[row][k]) * value_of(j->b, (uint32_t)j->bits[k][col]);
            special += __builtin_isfinite(p) ? 0 : p;
        }
        result[col] = __builtin_isfinite(special) ? result[col] : special;
    }
    return result;
}

// Where all products are 0, a tiny c is kept as it is; the quick way has cut it off.
static inline v8d keep_tiny(const struct job *j, unsigned row, unsigned k_all, v8f c, v8d d)
{
    for (unsigned col = 0; col < N; col++) {
        int32_t most = NONE;
        for (unsigned k = 0; k < k_all; k++) {
            const int32_t e = j->left.exponent[row][k] + j->right[k].exponent[col];
            most = e > most ? e : most;
        }
        if (most <= NONE / 2)
            d[col] = c[col];
    }
    return d;
}

// The 8 columns of B in j->right: all rows. narrow is constant: were both kinds of sums in one function, the compiler
// would compute what they share ahead of both, and run out of registers.
static inline void sum_rows(const struct job *j, bool narrow, unsigned k_all, unsigned char *regs, const uint32_t *slot,
                            bool add, bool special_right)
{
    for (unsigned row = 0; row < ROWS; row++) {
        const v8f c = add ? read_row(regs, slot, row, j->m->half) : (v8f){ 0 };
        const v8i bits = (v8i)c;
        const v8i size = bits & 0x7fffffff;
        const bool special = j->special_left || special_right || any8(size >= 0x7f800000);
        const bool tiny = any8((size != 0) & (size < (127 + LEAST) << 23));  // below what the quick way aligns
        v8d d = narrow ? sum_narrow(j, row, k_all, c, bits) : sum_wide(j, row, k_all, c, bits);
        if (narrow && tiny)
            d = keep_tiny(j, row, k_all, c, d);
        if (special)
            d = put_special(j, row, c, d);
        write_row(regs, slot, row, d, special, j->m->half, j->fraction);
    }
}

static void __attribute__((noinline)) sum_narrow_block(const struct job *j, unsigned k_all, unsigned char *regs,
                                                       const uint32_t *slot, bool add, bool special_right)
{
    if (k_all == 16)  // of halves: worth a function of its own
        sum_rows(j, true, 16, regs, slot, add, special_right);
    else
        sum_rows(j, true, k_all, regs, slot, add, special_right);
}

static void __attribute__((noinline)) sum_wide_block(const struct job *j, unsigned k_all, unsigned char *regs,
                                                     const uint32_t *slot, bool add, bool special_right)
{
    sum_rows(j, false, k_all, regs, slot, add, special_right);
}

// --- operands ---

// 16 bytes of a matrix in shared memory, or NULL where they are out of bounds.
static inline const unsigned char *chunk_at(const struct warp *w, const struct wgmma_matrix *m, uint32_t row,
                                            uint32_t chunk)
{
    const struct worker *worker = w->block->worker;
    const uint32_t at = wgmma_chunk(m, row, chunk), limit = worker->grid->shared_bytes;
    return at <= limit && 16 <= limit - at ? worker->shared + at : NULL;
}

static bool out_of_bounds(struct warp *w, const struct uop *u, const struct wgmma_matrix *m, uint32_t row,
                          uint32_t chunk)
{
    return access_fault(w, u, FAULT_BOUNDS, false, 0, wgmma_chunk(m, row, chunk) + w->block->window, 16, SPACE_SHARED);
}

// This warp's rows of A, 32 bytes each.
static bool load_left(struct warp *w, const struct wgmma_job *job, unsigned char rows[ROWS][K_MAX])
{
    const struct wgmma *m = job->u->warp->more;
    const struct wgmma_matrix a = wgmma_describe(job->a, m->trans_a);
    const uint32_t first = w->index % 4 * ROWS;
    for (uint32_t i = 0; i < 2 * ROWS; i++) {
        const uint32_t row = i / 2, chunk = i % 2;
        if (m->a_in_registers) {
            memcpy(rows[row] + 16 * chunk, job->regs + 128 * (2 * chunk + row / 8) + row % 8 * 16, 16);
            continue;
        }
        const uint32_t k = i / 2, along = (first + 8 * chunk) / 8;  // transposed: 8 rows of one k
        const unsigned char *p = m->trans_a ? chunk_at(w, &a, k, along) : chunk_at(w, &a, first + row, chunk);
        if (!p)
            return out_of_bounds(w, job->u, &a, m->trans_a ? k : first + row, m->trans_a ? along : chunk);
        if (!m->trans_a)
            memcpy(rows[row] + 16 * chunk, p, 16);
        for (uint32_t r = 0; m->trans_a && r < 8; r++)
            memcpy(rows[8 * chunk + r] + 2 * k, p + 2 * r, 2);
    }
    return true;
}

// The bits of 8 columns of B from column col on, by k.
static inline bool load_right(struct warp *w, const struct wgmma_job *job, enum mma_type t, unsigned k_all,
                              const struct wgmma_matrix *b, uint32_t col, v8i bits[K_MAX])
{
    unsigned char rows[N][K_MAX];
    if (b->trans) {
        for (uint32_t k = 0; k < k_all; k++) {
            const unsigned char *p = chunk_at(w, b, k, col / 8);
            v8h halves;
            if (!p)
                return out_of_bounds(w, job->u, b, k, col / 8);
            memcpy(&halves, p, sizeof halves);
            bits[k] = __builtin_convertvector(halves, v8i);
        }
        return true;
    }
    for (uint32_t i = 0; i < 2 * N; i++) {
        const unsigned char *p = chunk_at(w, b, col + i / 2, i % 2);
        if (!p)
            return out_of_bounds(w, job->u, b, col + i / 2, i % 2);
        memcpy(rows[i / 2] + i % 2 * 16, p, 16);
    }
    for (unsigned k = 0; k < k_all; k++) {
        int32_t of_k[N];
        for (unsigned i = 0; i < N; i++)
            of_k[i] = (int32_t)number_at(t, rows[i], k);
        memcpy(&bits[k], of_k, sizeof of_k);
    }
    return true;
}

// --- the whole product, for constant types and k ---

static inline bool multiply(struct warp *w, enum mma_type ta, enum mma_type tb, unsigned k_all)
{
    const struct wgmma_job *job = w->wgmmas->current;
    const struct warpop *op = job->u->warp;
    const struct wgmma *m = op->more;
    const struct wgmma_matrix b = wgmma_describe(job->b, m->trans_b);
    const unsigned per_block = m->half ? 2 : 4;
    unsigned char rows[ROWS][K_MAX];
    struct job j = { .m = m, .a = ta, .b = tb, .k = k_all, .fraction = ta >= MMA_E4M3 ? 13 : 25 };
    v8i wide_left = { 0 };
    if (!load_left(w, job, rows))
        return false;
    unpack_left(&j, ta, rows, &wide_left);
    const bool may_be_narrow = !any8(wide_left);
    const struct left split_left = j.left;
    make_whole(&j, ta);
    const struct left whole_left = j.left;
    bool was_narrow = true;
    for (uint32_t col = 0; col < m->n; col += N) {
        v8i special = { 0 }, wide = { 0 };
        if (!load_right(w, job, tb, k_all, &b, col, j.bits))
            return false;
        for (unsigned k = 0; k < k_all; k++)
            j.right[k] = unpack8(tb, j.bits[k], &special, &wide);
        j.narrow = may_be_narrow && !any8(wide);
        for (unsigned k = 0; j.narrow && k < k_all; k++)
            j.right[k].value = whole(tb, j.right[k]);
        if (j.narrow != was_narrow)
            j.left = j.narrow ? whole_left : split_left;
        was_narrow = j.narrow;
        const uint32_t *slot = op->wide_out + col / N * per_block;
        (j.narrow ? sum_narrow_block : sum_wide_block)(&j, k_all, w->regs, slot, job->add, any8(special));
    }
    return true;
}

static int64_t byte_of(enum mma_type t, uint32_t x)
{
    return t == MMA_S8 ? (int8_t)x : (int64_t)(x & 255);
}

static bool multiply_integers(struct warp *w)
{
    const struct wgmma_job *job = w->wgmmas->current;
    const struct warpop *op = job->u->warp;
    const struct wgmma *m = op->more;
    const struct wgmma_matrix b = wgmma_describe(job->b, false);
    unsigned char rows[ROWS][K_MAX];
    if (!load_left(w, job, rows))
        return false;
    for (uint32_t col = 0; col < m->n; col += N) {
        v8i bits[K_MAX];
        if (!load_right(w, job, m->b, K_MAX, &b, col, bits))
            return false;
        for (unsigned k = 0; k < K_MAX; k++)
            for (unsigned i = 0; i < N; i++)
                bits[k][i] = (int32_t)byte_of(m->b, (uint32_t)bits[k][i]);
        for (unsigned row = 0; row < ROWS; row++) {
            v8i sum = { 0 };
            for (unsigned k = 0; k < K_MAX; k++)
                sum += bits[k] * (int32_t)byte_of(m->a, rows[row][k]);
            for (unsigned i = 0; i < N; i++) {
                s32 *d = (s32 *)(w->regs + op->wide_out[col / N * 4 + row / 8 * 2 + i % 2]) + row % 8 * 4 + i / 2;
                int64_t all = (int64_t)sum[i] + (job->add ? *d : 0);
                if (m->saturate)
                    all = all > INT32_MAX ? INT32_MAX : all < INT32_MIN ? INT32_MIN : all;
                *d = (s32)(uint32_t)all;
            }
        }
    }
    return true;
}

bool ISA(exec_wgmma)(struct warp *w)
{
    const struct wgmma *m = w->wgmmas->current->u->warp->more;
    switch (m->a) {
    case MMA_F16:
        return multiply(w, MMA_F16, MMA_F16, 16);
    case MMA_BF16:
        return multiply(w, MMA_BF16, MMA_BF16, 16);
    case MMA_TF32:
        return multiply(w, MMA_TF32, MMA_TF32, 8);
    case MMA_E4M3:
        return m->b == MMA_E4M3 ? multiply(w, MMA_E4M3, MMA_E4M3, 32) : multiply(w, MMA_E4M3, MMA_E5M2, 32);
    case MMA_E5M2:
        return m->b == MMA_E4M3 ? multiply(w, MMA_E5M2, MMA_E4M3, 32) : multiply(w, MMA_E5M2, MMA_E5M2, 32);
    default:
        return multiply_integers(w);
    }
}
