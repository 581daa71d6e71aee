// The tensor core: D = A B + C of m16n8 (or m8n8) tiles. Compiled for each instruction set (isa.h).
//
// exec_sum.c has the sums of f16, bf16 and tf32. f64 is a chain of fma in ascending order of k; integers wrap around or
// saturate.
//
// The lanes' registers hold the operands as 8 x 4 pack matrices by rows (exec_matrix.c): 16 bytes each row of A, or
// column of B.
#include <string.h>

#include "simt/code/alu_math.h"
#include "exec_sum.h"

// Is what lies in the n registers what the source had?
static bool is_made_of(const struct mma_source *x, enum mma_type type, uint32_t k, const unsigned char *regs,
                       const uint32_t *slot, uint32_t n)
{
    bool same = x->type == type && x->k == k;
    for (uint32_t i = 0; i < n; i++)
        same = same && !memcmp(x->regs[i], regs + slot[i], sizeof x->regs[i]);
    return same;
}

static void keep(struct mma_source *x, enum mma_type type, uint32_t k, const unsigned char *regs, const uint32_t *slot,
                 uint32_t n)
{
    x->type = type;
    x->k = k;
    for (uint32_t i = 0; i < n; i++)
        memcpy(x->regs[i], regs + slot[i], sizeof x->regs[i]);
}

// A, as the sums take it.
static const struct sum_left *left_of(struct warp *w, const struct sum *s, const uint32_t *a, uint32_t n)
{
    struct mma_last *last = &w->block->worker->last;
    unsigned char rows[SUM_ROWS][SUM_BYTES] = { { 0 } };
    if (is_made_of(&last->a, s->a, s->k, w->regs, a, n))
        return &last->left;
    keep(&last->a, s->a, s->k, w->regs, a, n);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t row = 0; row < 8; row++)
            memcpy(rows[i % 2 * 8 + row] + i / 2 * 16, w->regs + a[i] + 16 * row, 16);
    ISA(sum_left)(s, &last->left, rows, false);
    return &last->left;
}

// And B.
static const struct sum_right *right_of(struct warp *w, const struct sum *s, const uint32_t *b, uint32_t n)
{
    struct mma_last *last = &w->block->worker->last;
    const uint32_t place = b[0] / (2 * LANES * sizeof(u32)) % MMA_RIGHTS;
    unsigned char columns[SUM_COLUMNS * SUM_BYTES] = { 0 };
    if (is_made_of(&last->b[place], s->b, s->k, w->regs, b, n))
        return &last->right[place];
    keep(&last->b[place], s->b, s->k, w->regs, b, n);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t column = 0; column < SUM_COLUMNS; column++)
            memcpy(columns + SUM_BYTES * column + 16 * i, w->regs + b[i] + column * 16, 16);
    ISA(sum_right)(s, &last->right[place], columns, false);
    return &last->right[place];
}

static void multiply(struct warp *w, const struct warpop *op)
{
    const struct mma *m = op->more;
    const uint32_t *a = op->in, *b = a + m->na, *c = b + m->nb;
    struct sum s = { m->a, m->b, m->k, m->block, m->fraction, m->half, NULL, NULL };
    s.left = left_of(w, &s, a, m->na);
    s.right = right_of(w, &s, b, m->nb);
    ISA(sum_add)(&s, w->regs, c, op->out);
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
    f64 reals[SUM_ROWS][SUM_COLUMNS];
    u32 integers[SUM_ROWS][SUM_COLUMNS];
    for (unsigned row = 0; row < rows; row++) {
        for (unsigned col = 0; col < SUM_COLUMNS; col++) {
            if (real)
                reals[row][col] = product_f64(w, op, row, col);
            else
                integers[row][col] = product_integers(w, op, row, col);
        }
    }
    for (unsigned row = 0; row < rows; row++) {
        for (unsigned col = 0; col < SUM_COLUMNS; col++) {
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
    case MMA_BF16:
    case MMA_TF32:
        multiply(w, op);
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
