// wgmma: D = A B + D, of 64 x n; of that each warp has 16 rows. Compiled for each instruction set (isa.h). exec_sum.c
// has the sums; integers wrap around or saturate.
//
// Warps that multiply by the same B do so together: it is loaded once.
#include <string.h>

#include "exec_sum.h"
#include "simt/code/access.h"
#include "simt/code/wgmma.h"

#define COLUMNS 256  // of B, at most
#define WARPGROUP 4  // warps

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
    return access_fault(w, u, FAULT_OUT_OF_BOUNDS, false, 0, wgmma_chunk(m, row, chunk) + w->block->window, 16,
                        SPACE_SHARED);
}

// This warp's rows of A, 32 bytes each.
static bool load_left(struct warp *w, const struct wgmma_job *job, unsigned char rows[SUM_ROWS][SUM_BYTES])
{
    const struct wgmma *m = job->u->warp->more;
    const struct wgmma_matrix a = wgmma_describe(job->a, m->trans_a);
    const uint32_t first = w->index % 4 * SUM_ROWS;
    for (uint32_t i = 0; i < 2 * SUM_ROWS; i++) {
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

// The columns of B, 32 bytes each; or, transposed, of each eight columns 16 bytes for each k.
static bool load_right(struct warp *w, const struct wgmma_job *job, unsigned char columns[COLUMNS][SUM_BYTES])
{
    const struct wgmma *m = job->u->warp->more;
    const struct wgmma_matrix b = wgmma_describe(job->b, m->trans_b);
    for (uint32_t i = 0; i < 2u * m->n; i++) {
        const uint32_t row = m->trans_b ? i % (2 * SUM_COLUMNS) : i / 2;
        const uint32_t chunk = m->trans_b ? i / (2 * SUM_COLUMNS) : i % 2;
        const unsigned char *p = chunk_at(w, &b, row, chunk);
        if (!p)
            return out_of_bounds(w, job->u, &b, row, chunk);
        memcpy(columns[i / 2] + 16 * (i % 2), p, 16);
    }
    return true;
}

// --- the whole product ---

// Eight columns, of all warps.
static void multiply_columns(struct warp *first, uint32_t n, struct sum *s, const struct sum_left left[], uint32_t col)
{
    for (uint32_t i = 0; i < n; i++) {
        struct warp *w = &first[i];
        const struct wgmma_job *job = w->wgmmas->current;
        const uint32_t *slot = job->u->warp->wide_out + col / SUM_COLUMNS * (s->half ? 2 : 4);
        s->left = &left[i];
        ISA(sum_add)(s, w->regs, job->add ? slot : NULL, slot);
    }
}

static bool multiply(struct warp *first, uint32_t n)
{
    const struct wgmma_job *job = first->wgmmas->current;
    const struct wgmma *m = job->u->warp->more;
    unsigned char rows[SUM_ROWS][SUM_BYTES], columns[COLUMNS][SUM_BYTES];
    struct sum_left left[WARPGROUP];
    struct sum_right right;
    struct sum s = { m->a, m->b, m->k, m->k, m->a >= MMA_E4M3 ? 13 : 25, m->half, left, &right };
    for (uint32_t i = 0; i < n; i++) {
        if (!load_left(&first[i], first[i].wgmmas->current, rows))
            return false;
        ISA(sum_left)(&s, &left[i], rows, m->negate);
    }
    if (!load_right(first, job, columns))
        return false;
    for (uint32_t col = 0; col < m->n; col += SUM_COLUMNS) {
        ISA(sum_right)(&s, &right, columns[col], m->trans_b);
        multiply_columns(first, n, &s, left, col);
    }
    return true;
}

static int64_t byte_of(enum mma_type t, uint32_t x)
{
    return t == MMA_S8 ? (int8_t)x : (int64_t)(x & 255);
}

static void multiply_integers_of(struct warp *w, const unsigned char rows[SUM_ROWS][SUM_BYTES],
                                 const unsigned char columns[COLUMNS][SUM_BYTES])
{
    const struct wgmma_job *job = w->wgmmas->current;
    const struct warpop *op = job->u->warp;
    const struct wgmma *m = op->more;
    for (uint32_t row = 0; row < SUM_ROWS; row++) {
        for (uint32_t col = 0; col < m->n; col++) {
            s32 *d = (s32 *)(w->regs + op->wide_out[col / SUM_COLUMNS * 4 + row / 8 * 2 + col % 2]) + row % 8 * 4;
            int64_t all = job->add ? d[col % SUM_COLUMNS / 2] : 0;
            for (unsigned k = 0; k < SUM_BYTES; k++)
                all += byte_of(m->a, rows[row][k]) * byte_of(m->b, columns[col][k]);
            if (m->saturate)
                all = all > INT32_MAX ? INT32_MAX : all < INT32_MIN ? INT32_MIN : all;
            d[col % SUM_COLUMNS / 2] = (s32)(uint32_t)all;
        }
    }
}

static bool multiply_integers(struct warp *first, uint32_t n)
{
    unsigned char rows[WARPGROUP][SUM_ROWS][SUM_BYTES], columns[COLUMNS][SUM_BYTES];
    for (uint32_t i = 0; i < n; i++)
        if (!load_left(&first[i], first[i].wgmmas->current, rows[i]))
            return false;
    if (!load_right(first, first->wgmmas->current, columns))
        return false;
    for (uint32_t i = 0; i < n; i++)
        multiply_integers_of(&first[i], rows[i], columns);
    return true;
}

bool ISA(exec_wgmma)(struct warp *first, uint32_t n)
{
    const enum mma_type type = ((const struct wgmma *)first->wgmmas->current->u->warp->more)->a;
    return type == MMA_S8 || type == MMA_U8 ? multiply_integers(first, n) : multiply(first, n);
}
