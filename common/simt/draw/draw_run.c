// See draw_run.h.
#include "draw_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "simt/record/trace.h"

// --- the product ---

const struct simt_product *draw_product(const struct draw_launch *l, char error[DEV_ERROR_MAX])
{
    if (!l->place->product)
        error_set(error, "the picture needs to know the matrices of a product");
    return l->place->product;
}

const struct simt_matrix *draw_element(const struct simt_product *p, uint64_t address, uint64_t *row, uint64_t *column)
{
    const struct simt_matrix *const all[] = { &p->left, &p->right, &p->result };
    for (int i = 0; i < 3; i++) {
        const struct simt_matrix *m = all[i];
        if (address < m->address || address >= m->address + m->rows * m->columns * m->bytes)
            continue;
        const uint64_t element = (address - m->address) / m->bytes;
        *row = element / m->columns;
        *column = element % m->columns;
        return m;
    }
    return NULL;
}

// --- the run ---

bool draw_known_place(const unsigned grid[3], const unsigned block[3], const struct simt_picture *p,
                      char error[DEV_ERROR_MAX])
{
    const uint64_t warps = ((uint64_t)block[0] * block[1] * block[2] + LANES - 1) / LANES;
    if (p->warp >= warps)
        return error_set(error, "--warp %" PRIu64 ": a block has %" PRIu64 " warp%s, numbered from 0", p->warp, warps,
                         text_plural(warps));
    for (int i = 0; i < 3; i++) {
        if (p->block[i] >= grid[i])
            return error_set(error,
                             "--block-index %" PRIu64 ",%" PRIu64 ",%" PRIu64
                             ": the grid has %u,%u,%u blocks, numbered from 0",
                             p->block[0], p->block[1], p->block[2], grid[0], grid[1], grid[2]);
    }
    return true;
}

bool draw_record(const struct draw_launch *l, struct record *r, char error[DEV_ERROR_MAX])
{
    const struct simt_picture *p = l->place;
    struct simt *s = l->simt;
    const unsigned *grid = l->how->grid, jobs = s->jobs;
    struct trace t = { .record = r };
    if (!draw_known_place(grid, l->how->block, p, error))
        return false;
    r->block = p->block[0] + grid[0] * (p->block[1] + (uint64_t)grid[1] * p->block[2]);
    s->trace = &t;
    s->jobs = 1;  // the record follows one block after the other
    const bool ok = simt_launch(s, l->kernel, l->how, error);
    s->jobs = jobs;
    s->trace = NULL;
    if (ok && r->failed)
        snprintf(error, DEV_ERROR_MAX, "out of memory for what the kernel does");
    return ok && !r->failed;
}
