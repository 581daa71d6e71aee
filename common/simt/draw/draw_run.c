// See draw_run.h.
#include "draw_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "simt/machine/tensor_map.h"
#include "simt/record/trace.h"

// --- parameters ---

struct found {
    uint64_t sizes[3], arrays[3];
    int n_sizes, n_arrays;
};

static void take(struct found *f, const struct memory *memory, const struct ptx_var *v, const unsigned char *value)
{
    uint64_t x = 0;
    struct tensor_map map;
    if (v->bytes == DEV_MAP_BYTES && tensor_map_read(value, &map) && f->n_arrays < 3)
        f->arrays[f->n_arrays++] = map.address;
    if (v->bytes > 8 || v->type == PTX_F32 || v->type == PTX_F64)
        return;
    memcpy(&x, value, v->bytes);
    if (v->bytes == 4 && f->n_sizes < 3)
        f->sizes[f->n_sizes++] = x;
    if (v->bytes == 8 && f->n_arrays < 3 && x >> MEMORY_SHIFT && memory_at(memory, x, 1))
        f->arrays[f->n_arrays++] = x;
}

static bool fits(const struct memory *memory, struct draw_matrix *m, char error[DEV_ERROR_MAX])
{
    const uint64_t elements = m->rows * m->cols, bytes = memory->all[m->address >> MEMORY_SHIFT].bytes;
    const uint64_t each = elements ? bytes / elements : 0;
    if (!elements || bytes % elements || each > 8 || (each & (each - 1))) {
        snprintf(error, DEV_ERROR_MAX,
                 "array %c has %" PRIu64 " bytes, which is no matrix of %" PRIu64 " x %" PRIu64
                 " elements: the picture takes M, N, K for the first three integers and A, B, C for the first three "
                 "arrays among the parameters",
                 m->name, bytes, m->rows, m->cols);
        return false;
    }
    m->bytes = (uint32_t)each;
    return true;
}

static struct found look(const struct draw_launch *l)
{
    const struct ptx_func *f = l->kernel->func;
    struct found found = { 0 };
    uint64_t at = 0;
    for (uint32_t i = 0; i < f->n_params; i++) {
        const struct ptx_var *v = &l->kernel->module->ptx->vars[f->params[i]];
        at = (at + v->align - 1) / v->align * v->align;
        take(&found, &l->simt->memory, v, l->params + at);
        at += v->bytes;
    }
    return found;
}

bool draw_names_matrices(const struct draw_launch *l)
{
    const struct found found = look(l);
    return found.n_sizes == 3 && found.n_arrays == 3;
}

bool draw_find_matrices(const struct draw_launch *l, struct draw_matrices *out, char error[DEV_ERROR_MAX])
{
    const struct found found = look(l);
    if (found.n_sizes < 3 || found.n_arrays < 3) {
        snprintf(error, DEV_ERROR_MAX,
                 "kernel %.200s has %d integers and %d arrays among its parameters; the picture needs M, N, K and A, "
                 "B, C",
                 l->kernel->name, found.n_sizes, found.n_arrays);
        return false;
    }
    const uint64_t m = found.sizes[0], n = found.sizes[1], k = found.sizes[2];
    out->a = (struct draw_matrix){ .address = found.arrays[0], .rows = m, .cols = k, .name = 'A' };
    out->b = (struct draw_matrix){ .address = found.arrays[1], .rows = k, .cols = n, .name = 'B' };
    out->c = (struct draw_matrix){ .address = found.arrays[2], .rows = m, .cols = n, .name = 'C' };
    const struct memory *memory = &l->simt->memory;
    return fits(memory, &out->a, error) && fits(memory, &out->b, error) && fits(memory, &out->c, error);
}

const struct draw_matrix *draw_element(const struct draw_matrices *all, uint64_t address, uint64_t *row, uint64_t *col)
{
    const struct draw_matrix *each[] = { &all->a, &all->b, &all->c };
    for (int i = 0; i < 3; i++) {
        const struct draw_matrix *m = each[i];
        if (address < m->address || address >= m->address + m->rows * m->cols * m->bytes)
            continue;
        const uint64_t element = (address - m->address) / m->bytes;
        *row = element / m->cols;
        *col = element % m->cols;
        return m;
    }
    return NULL;
}

// --- the run ---

bool draw_known_place(const unsigned grid[3], const unsigned block[3], const struct simt_picture *p,
                      char error[DEV_ERROR_MAX])
{
    const uint64_t warps = ((uint64_t)block[0] * block[1] * block[2] + LANES - 1) / LANES;
    if (p->warp >= warps) {
        snprintf(error, DEV_ERROR_MAX, "--warp %" PRIu64 ": a block has %" PRIu64 " warp%s, numbered from 0", p->warp,
                 warps, text_plural(warps));
        return false;
    }
    for (int i = 0; i < 3; i++) {
        if (p->block[i] >= grid[i]) {
            snprintf(error, DEV_ERROR_MAX,
                     "--block-index %" PRIu64 ",%" PRIu64 ",%" PRIu64 ": the grid has %u,%u,%u blocks, numbered from 0",
                     p->block[0], p->block[1], p->block[2], grid[0], grid[1], grid[2]);
            return false;
        }
    }
    return true;
}

bool draw_record(const struct draw_launch *l, struct record *r, char error[DEV_ERROR_MAX])
{
    const struct simt_picture *p = l->place;
    struct simt *s = l->simt;
    const unsigned *grid = l->how->grid, jobs = s->jobs;
    struct trace t = { .record = r };
    s->faulted = false;
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
