// The tensor core: D = A B + C of m16n8 (or m8n8) tiles. Compiled for each instruction set (isa.h).
//
// What the hardware computes, found by Fasi et al. (2021) and Xie et al. (arXiv 2511.10909) and confirmed bit for bit
// on an H200 (tests/truth/h200_mma.tsv): products are exact and not normalised, their exponent is the sum of their
// factors'; all terms of a sum and C are aligned to the largest exponent and cut toward zero after 25 bits behind the
// point (sm_80: 24); the sum of what is left is exact; an f32 result is cut toward zero, an f16 result rounded to
// nearest even. An H200 sums all k products at once; sm_80 in blocks of 8 (tf32: 4) products, one after the other.
// f64 is a chain of fma in ascending order of k; integers wrap around or saturate.
//
// The lanes' registers hold the operands as 8 x 4 pack matrices by rows (exec_matrix.c), so that A and B unpack with
// plain loops; the loop over 8 columns is what the compiler vectorises.
#include <string.h>

#include "simt/code/alu_math.h"
#include "isa.h"
#include "simt/code/mma.h"
#include "vector8.h"

// An operand, unpacked: significands as whole numbers, with exponents. Rows of A, or columns of B; k along the other.
struct numbers {
    float significand[16][16];
    int32_t exponent[16][16];
    bool special;  // holds Inf or NaN
};

// bits: sign, exponent and fraction of the type in the low bits.
static inline v8i unpack(enum mma_type type, v8i bits, float significand[N], int32_t exponent[N])
{
    const int fraction = type == MMA_BF16 ? 7 : 10, range = type == MMA_F16 ? 31 : 255;
    const int bias = type == MMA_F16 ? 15 : 127, sign = type == MMA_TF32 ? 18 : 15;
    v8i e = bits >> fraction & range, f = bits & ((1 << fraction) - 1), s = f | ((e != 0) & (1 << fraction));
    v8i negative = -(bits >> sign & 1), x = (s ^ negative) - negative;
    v8f value = __builtin_convertvector(x, v8f);
    v8i power = select8(s != 0, e + ((e == 0) & 1) - bias, (v8i){ 0 } + NONE);
    memcpy(significand, &value, sizeof value);
    memcpy(exponent, &power, sizeof power);
    return e == range;
}

// An operand of 8 * groups rows (of A, or columns of B) and k numbers each; registers run along k last (A) or first.
static inline void unpack_all(enum mma_type type, const unsigned char *regs, const uint32_t *slot, unsigned groups,
                              unsigned k, bool is_a, struct numbers *n)
{
    const unsigned width = type == MMA_TF32 ? 4 : 8, along = k / width;
    v8i special = { 0 };
    for (unsigned g = 0; g < groups; g++) {
        for (unsigned b = 0; b < along; b++) {
            const unsigned char *p = regs + slot[is_a ? b * groups + g : g * along + b];
            for (unsigned q = 0; q < 8; q++) {
                float *s = &n->significand[8 * g + q][width * b];
                int32_t *e = &n->exponent[8 * g + q][width * b];
                if (type == MMA_TF32) {
                    v8i bits = { 0 };
                    float s8[N];
                    int32_t e8[N];
                    for (unsigned c = 0; c < 4; c++)
                        bits[c] = (int32_t)(((const u32 *)p)[4 * q + c] >> 13);
                    special |= unpack(type, bits, s8, e8);
                    memcpy(s, s8, 4 * sizeof *s);
                    memcpy(e, e8, 4 * sizeof *e);
                } else {
                    v8h bits;
                    memcpy(&bits, p + 16 * q, sizeof bits);
                    special |= unpack(type, __builtin_convertvector(bits, v8i), s, e);
                }
            }
        }
    }
    for (unsigned i = 0; i < N; i++)
        n->special |= special[i] != 0;
}

// One row: c[j] + the products first to last of a and column j of b; exact.
static inline v8d sum_row(const float *a, const int32_t *ea, const v8f *b, const v8i *eb, unsigned first, unsigned last,
                          int fraction, int product, v8f c)
{
    v8i bits, high = { 0 };
    memcpy(&bits, &c, sizeof bits);
    v8i e = bits >> 23 & 255, f = bits & 0x7fffff, negative = bits >> 31;
    v8i s = f | ((e != 0) & 0x800000), ec = select8(s != 0, e + ((e == 0) & 1) - 127, (v8i){ 0 } + NONE);
    v8i most = ec;
    for (unsigned k = first; k < last; k++)
        most = max8(most, eb[k] + ea[k]);
    const v8i of_c = ec - most + (fraction - 23 + 127), of_product = (fraction - product + 127) - most;
    v8i low = __builtin_convertvector(scaled(__builtin_convertvector((s ^ negative) - negative, v8f), of_c), v8i);
    // At most 8 terms below 2^(fraction + 2) to a 32-bit sum.
    const unsigned middle = last - first > 8 ? first + 8 : last;
    for (unsigned k = first; k < middle; k++)
        low += __builtin_convertvector(scaled(b[k] * a[k], of_product + ea[k] + eb[k]), v8i);
    for (unsigned k = middle; k < last; k++)
        high += __builtin_convertvector(scaled(b[k] * a[k], of_product + ea[k] + eb[k]), v8i);
    const v8i least = max8(most - fraction, (v8i){ 0 } - 1022) + 1023;
    const v8l power = __builtin_convertvector(least, v8l) << 52;
    v8d factor;
    memcpy(&factor, &power, sizeof factor);
    return (__builtin_convertvector(low, v8d) + __builtin_convertvector(high, v8d)) * factor;
}

// --- Inf and NaN: what IEEE 754 says of the terms decides, whatever the finite ones add up to ---

static double value_of(enum mma_type type, uint32_t bits)
{
    union {
        uint32_t u;
        float f;
    } v = { .u = type == MMA_F16 ? f32_of_f16(bits) : bits << 16 };
    if (type == MMA_TF32)
        v.u = bits << 13;
    return (double)v.f;
}

static uint32_t bits_at(enum mma_type type, const unsigned char *regs, const uint32_t *slot, unsigned groups,
                        unsigned k, bool is_a, unsigned row, unsigned col)
{
    const unsigned width = type == MMA_TF32 ? 4 : 8, along = k / width, g = row / 8, b = col / width;
    const unsigned char *p = regs + slot[is_a ? b * groups + g : g * along + b];
    unsigned at = row % 8 * width + col % width;
    return type == MMA_TF32 ? ((const u32 *)p)[at] >> 13 : ((const u16 *)p)[at];
}

struct job {
    const struct mma *m;
    const unsigned char *regs;
    const uint32_t *a, *b;
};

// Puts Inf and NaN in place of the results that have such a term.
static v8d put_special(const struct job *j, unsigned row, v8f c, v8d result)
{
    const struct mma *m = j->m;
    for (unsigned col = 0; col < N; col++) {
        double special = 0;
        for (unsigned k = 0; k < m->k; k++) {
            double a = value_of(m->a, bits_at(m->a, j->regs, j->a, m->rows / 8, m->k, true, row, k));
            double b = value_of(m->b, bits_at(m->b, j->regs, j->b, 1, m->k, false, col, k));
            special += __builtin_isfinite(a * b) ? 0 : a * b;
        }
        special += __builtin_isfinite(c[col]) ? 0 : (double)c[col];
        result[col] = __builtin_isfinite(special) ? result[col] : special;
    }
    return result;
}

static inline void multiply(struct warp *w, const struct warpop *op, enum mma_type type)
{
    const struct mma *m = op->more;
    const struct job job = { m, w->regs, op->in, op->in + m->na };
    const uint32_t *c = op->in + m->na + m->nb;
    const int product = type == MMA_BF16 ? 14 : 20;
    struct numbers a, b;
    v8f bt[16];
    v8i ebt[16];
    v8d result[16];
    bool special[16];
    a.special = b.special = false;
    unpack_all(type, w->regs, job.a, m->rows / 8, m->k, true, &a);
    unpack_all(type, w->regs, job.b, 1, m->k, false, &b);
    for (unsigned k = 0; k < m->k; k++) {
        for (unsigned j = 0; j < N; j++) {
            bt[k][j] = b.significand[j][k];
            ebt[k][j] = b.exponent[j][k];
        }
    }
    for (unsigned row = 0; row < m->rows; row++) {
        const v8f first = read_row(w->regs, c, row, m->half);
        v8f acc = first;
        v8i bits;
        memcpy(&bits, &first, sizeof bits);
        bits = (bits & 0x7f800000) == 0x7f800000;
        special[row] = a.special || b.special || any8(bits);
        if (m->k == 16 && m->block == 16)  // the most common, with loops that the compiler can unroll
            result[row] = sum_row(a.significand[row], a.exponent[row], bt, ebt, 0, 16, m->fraction, product, acc);
        for (unsigned k = m->k == 16 && m->block == 16 ? 16 : 0; k < m->k; k += m->block) {
            result[row] =
                sum_row(a.significand[row], a.exponent[row], bt, ebt, k, k + m->block, m->fraction, product, acc);
            if (k + m->block < m->k)
                acc = cut8(result[row]);
        }
        if (special[row])
            result[row] = put_special(&job, row, first, result[row]);
    }
    for (unsigned row = 0; row < m->rows; row++)
        write_row(w->regs, op->out, row, result[row], special[row], m->half, FRACTION_BITS);
}

// Element (row, col) of the accumulators in slot, each of the size given in bytes: a register has a column of its lane.
static void *element(const struct warp *w, const uint32_t *slot, unsigned row, unsigned col, unsigned bytes)
{
    return w->regs + slot[row / 8 * 2 + col % 2] + (row % 8 * 4 + col / 2) * bytes;
}

static double product_f64(const struct warp *w, const struct warpop *op, unsigned row, unsigned col)
{
    const struct mma *m = op->more;
    double sum = *(const f64 *)element(w, op->in + m->na + m->nb, row, col, sizeof(f64));
    for (unsigned k = 0; k < m->k; k++) {
        double a = ((const f64 *)(w->regs + op->in[k / 4 * (m->rows / 8) + row / 8]))[row % 8 * 4 + k % 4];
        double b = ((const f64 *)(w->regs + op->in[m->na + k / 4]))[col * 4 + k % 4];
        double next = __builtin_fma(a, b, sum);
        union {
            uint64_t u;
            double f;
        } nan = { .u = 0xfff8000000000000ull };
        sum = next == next ? next : nan.f;
    }
    return sum;
}

static int64_t byte_of(enum mma_type type, unsigned char x)
{
    return type == MMA_S8 ? (s8)x : x;
}

static u32 product_integers(const struct warp *w, const struct warpop *op, unsigned row, unsigned col)
{
    const struct mma *m = op->more;
    int64_t sum = *(const s32 *)element(w, op->in + m->na + m->nb, row, col, sizeof(s32));
    for (unsigned k = 0; k < m->k; k++)
        sum += byte_of(m->a, (w->regs + op->in[k / 16 * (m->rows / 8) + row / 8])[row % 8 * 16 + k % 16]) *
               byte_of(m->b, (w->regs + op->in[m->na + k / 16])[col * 16 + k % 16]);
    if (m->saturate)
        sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
    return (u32)sum;
}

// Of f64, or of integers: element by element. The results may lie in the registers of the operands.
static void multiply_elements(struct warp *w, const struct warpop *op, bool real)
{
    const unsigned rows = ((const struct mma *)op->more)->rows;
    f64 reals[16][N];
    u32 integers[16][N];
    for (unsigned row = 0; row < rows; row++) {
        for (unsigned col = 0; col < N; col++) {
            if (real)
                reals[row][col] = product_f64(w, op, row, col);
            else
                integers[row][col] = product_integers(w, op, row, col);
        }
    }
    for (unsigned row = 0; row < rows; row++) {
        for (unsigned col = 0; col < N; col++) {
            if (real)
                *(f64 *)element(w, op->out, row, col, sizeof(f64)) = reals[row][col];
            else
                *(u32 *)element(w, op->out, row, col, sizeof(u32)) = integers[row][col];
        }
    }
}

bool ISA(warp_mma)(struct warp *w, const struct uop *u, uint32_t active)
{
    const struct warpop *op = u->warp;
    (void)active;  // all of them
    switch (((const struct mma *)op->more)->a) {
    case MMA_F16:
        multiply(w, op, MMA_F16);
        break;
    case MMA_BF16:
        multiply(w, op, MMA_BF16);
        break;
    case MMA_TF32:
        multiply(w, op, MMA_TF32);
        break;
    case MMA_F64:
        multiply_elements(w, op, true);
        break;
    case MMA_E4M3:
    case MMA_E5M2:
        break;  // decode_mma.c lets none through
    case MMA_S8:
    case MMA_U8:
        multiply_elements(w, op, false);
        break;
    }
    return true;
}
