// wgmma: a warp's 16 rows of D = A B + D, of 64 x n. Compiled for each instruction set (isa.h). exec_sum.c has the
// sums; integers wrap around or saturate.
#include <string.h>

#include "exec_sum.h"
#include "simt/code/access.h"
#include "simt/code/wgmma.h"

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

// 8 columns of B from column col on, 32 bytes each; or, transposed, 16 bytes for each k.
static bool load_right(struct warp *w, const struct wgmma_job *job, const struct wgmma_matrix *b, uint32_t col,
                       unsigned char numbers[SUM_COLUMNS * SUM_BYTES])
{
    for (uint32_t i = 0; i < SUM_COLUMNS * SUM_BYTES / 16; i++) {
        const uint32_t row = b->trans ? i : col + i / 2, chunk = b->trans ? col / 8 : i % 2;
        const unsigned char *p = chunk_at(w, b, row, chunk);
        if (!p)
            return out_of_bounds(w, job->u, b, row, chunk);
        memcpy(numbers + 16 * i, p, 16);
    }
    return true;
}

// --- the whole product ---

static bool multiply(struct warp *w)
{
    const struct wgmma_job *job = w->wgmmas->current;
    const struct warpop *op = job->u->warp;
    const struct wgmma *m = op->more;
    const struct wgmma_matrix b = wgmma_describe(job->b, m->trans_b);
    unsigned char rows[SUM_ROWS][SUM_BYTES], numbers[SUM_COLUMNS * SUM_BYTES];
    struct sum s;
    s.a = m->a;
    s.b = m->b;
    s.k = s.block = m->k;
    s.fraction = m->a >= MMA_E4M3 ? 13 : 25;
    s.half = m->half;
    if (!load_left(w, job, rows))
        return false;
    ISA(sum_left)(&s, rows, m->negate);
    for (uint32_t col = 0; col < m->n; col += SUM_COLUMNS) {
        const uint32_t *slot = op->wide_out + col / SUM_COLUMNS * (m->half ? 2 : 4);
        if (!load_right(w, job, &b, col, numbers))
            return false;
        ISA(sum_right)(&s, numbers, m->trans_b);
        ISA(sum_add)(&s, w->regs, job->add ? slot : NULL, slot);
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
    unsigned char rows[SUM_ROWS][SUM_BYTES], numbers[SUM_COLUMNS * SUM_BYTES];
    if (!load_left(w, job, rows))
        return false;
    for (uint32_t col = 0; col < m->n; col += SUM_COLUMNS) {
        if (!load_right(w, job, &b, col, numbers))
            return false;
        for (unsigned row = 0; row < SUM_ROWS; row++) {
            for (unsigned i = 0; i < SUM_COLUMNS; i++) {
                s32 *d = (s32 *)(w->regs + op->wide_out[col / SUM_COLUMNS * 4 + row / 8 * 2 + i % 2]) + row % 8 * 4;
                int64_t all = job->add ? d[i / 2] : 0;
                for (unsigned k = 0; k < SUM_BYTES; k++)
                    all += byte_of(m->a, rows[row][k]) * byte_of(m->b, numbers[SUM_BYTES * i + k]);
                if (m->saturate)
                    all = all > INT32_MAX ? INT32_MAX : all < INT32_MIN ? INT32_MIN : all;
                d[i / 2] = (s32)(uint32_t)all;
            }
        }
    }
    return true;
}

bool ISA(exec_wgmma)(struct warp *w)
{
    const enum mma_type type = ((const struct wgmma *)w->wgmmas->current->u->warp->more)->a;
    return type == MMA_S8 || type == MMA_U8 ? multiply_integers(w) : multiply(w);
}
