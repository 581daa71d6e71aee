// See draw_case.h.
#include "draw_case.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ptx_file.h"
#include "xml.h"

const struct draw_step draw_steps[DRAW_STEPS_ALL] = {
    { "01_naive", 4, owner_by_patches },          { "02_smem_tile", 4, owner_by_patches },
    { "03_thread_tile_1d", 4, owner_by_patches }, { "04_thread_tile_2d", 4, owner_by_patches },
    { "05_vectorized", 4, owner_by_patches },     { "06_warp_tile", 4, owner_by_pieces },
    { "07_double_buffer", 4, owner_by_pieces },   { "08_wmma", 2, owner_by_fragments },
    { "09_wmma_smem", 2, owner_by_fragments },    { "10_wmma_padding", 2, owner_by_fragments },
    { "11_mma_ptx", 2, owner_by_fragments },      { "12_mma_swizzle", 2, owner_by_fragments },
    { "13_async_copy", 2, owner_by_fragments },   { "15_wgmma", 2, owner_by_fragments },
};

static struct simt_matrix matrix(struct draw_bench *b, const char *name, int rows, int columns,
                                 const struct draw_step *step)
{
    const size_t bytes = (size_t)(rows * columns) * step->element;
    uint64_t p;
    cr_assert(simt_alloc(b->s, name, bytes, &p, b->error) && simt_clear(b->s, p, bytes, b->error), "%s", b->error);
    return (struct simt_matrix){ name, p, (uint64_t)rows, (uint64_t)columns, (uint32_t)step->element };
}

static struct dev_tensor_map map_of(uint64_t array, int rows, int columns, int box_rows, int box)
{
    struct dev_tensor_map map;
    char error[DEV_ERROR_MAX];
    const struct dev_tensor t = dev_matrix(array, DEV_MAP_F16, (uint64_t)rows, (uint64_t)columns, (uint64_t)columns,
                                           (uint32_t)box_rows, (uint32_t)box, DEV_SWIZZLE_128);
    cr_assert(simt_tensor_map(&t, &map, error), "%s", error);
    return map;
}

void draw_bench_open(struct draw_bench *b, const struct draw_step *step, int tiles)
{
    char path[1000];
    size_t bytes;
    snprintf(path, sizeof path, "%s/%s/%s.ptx", STEPS_PTX, step->name, step->name);
    *b = (struct draw_bench){ .s = simt_open(), .alpha = 1 };
    cr_assert(geometry_read(path, &b->g, b->error), "%s", b->error);
    b->m = b->g.bm, b->n = 2 * b->g.bn, b->k = tiles * (b->g.bk ? b->g.bk : 16);
    char *text = ptx_file_read(path, &bytes, b->error);
    cr_assert(text, "%s", b->error);
    struct simt_module *m = simt_load(b->s, path, text, bytes, b->error);
    free(text);
    cr_assert(m, "%s", b->error);
    b->product = (struct simt_product){ matrix(b, "A", b->m, b->k, step), matrix(b, "B", b->k, b->n, step),
                                        matrix(b, "C", b->m, b->n, step) };
    uint64_t *A = &b->product.left.address, *B = &b->product.right.address, *C = &b->product.result.address;
    const struct dev_arg args[] = { DEV_ARG(b->m), DEV_ARG(b->n), DEV_ARG(b->k),    DEV_ARG(b->alpha),
                                    DEV_ARG(*A),   DEV_ARG(*B),   DEV_ARG(b->beta), DEV_ARG(*C) };
    memcpy(b->args, args, sizeof args);
    if (b->g.box) {
        b->maps[0] = map_of(*A, b->m, b->k, b->g.bm, b->g.box);
        b->maps[1] = map_of(*B, b->k, b->n, b->g.bk, b->g.box);
        b->args[4] = (struct dev_arg)DEV_ARG(b->maps[0]);
        b->args[5] = (struct dev_arg)DEV_ARG(b->maps[1]);
    }
    struct simt_kernel *k = simt_kernel(m, "gemm");
    b->how = (struct dev_launch){ .grid = { 2, 1, 1 },
                                  .block = { (unsigned)b->g.threads, 1, 1 },
                                  .shared = (size_t)b->g.shared,
                                  .args = b->args,
                                  .n_args = 8 };
    b->place.block[0] = 1;
    b->place.product = &b->product;
    b->launch = (struct draw_launch){ b->s, k, &b->how, &b->place };
}

void draw_bench_close(struct draw_bench *b)
{
    simt_close(b->s);
}

char *draw_bench_draw(struct draw_bench *b, enum simt_view view)
{
    b->place.view = view;
    char *text = simt_draw(b->s, b->launch.kernel, &b->how, &b->place, b->error);
    if (text)
        check_xml(text);
    return text;
}
