// The story that the chapters tell, as counters of the simulated GPU: where ldmatrix conflicts come from and what takes
// them away, on one tile and on the whole steps. Nsight Compute counted the same on an H200 (tests/truth, chapters).
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/matrix.h"
#include "base/profile.h"
#include "base/source.h"
#include "compiler.h"
#include "ptx_case.h"
#include "sample.h"
#include "shapes.h"
#include "tools/steps.h"

enum { LDSM_PLAIN = 43520 };  // ldmatrix conflicts of 09 and of 11 without padding, at 256 cubed

// Runs one of the 16 x 16 x 16 kernels and checks its product; the profile is the device's.
static const struct profile *run_tile(struct dev *d, const char *name)
{
    struct matrix A = matrix_new(DEV_F16, 16, 16), B = matrix_new(DEV_F16, 16, 16), C = matrix_new(DEV_F16, 16, 16);
    dev_ptr a, b, c;
    matrix_fill_random(&A, 1);
    matrix_fill_random(&B, 2);
    struct dev_module *m = dev_load(d, TILE_PTX);
    struct dev_kernel *k = m ? dev_kernel(d, m, name) : NULL;
    cr_assert(dev_alloc(d, "A", 512, &a) && dev_alloc(d, "B", 512, &b) && dev_alloc(d, "C", 512, &c) &&
                  dev_upload(d, a, A.data, 512) && dev_upload(d, b, B.data, 512),
              "%s", dev_error(d));
    struct dev_arg args[] = { DEV_ARG(c), DEV_ARG(a), DEV_ARG(b) };
    struct dev_launch launch = { .grid = { 1 }, .block = { 32 }, .args = args, .n_args = 3 };
    cr_assert(k && dev_launch(d, k, &launch) && dev_sync(d) && dev_download(d, C.data, c, 512), "%s: %s", name,
              dev_error(d));
    for (int row = 0; row < 16; row++) {
        for (int col = 0; col < 16; col++) {
            double sum = 0, size = 0;
            for (int i = 0; i < 16; i++) {
                sum += matrix_get(&A, row, i) * matrix_get(&B, i, col);
                size += fabs(matrix_get(&A, row, i) * matrix_get(&B, i, col));
            }
            cr_assert(fabs(matrix_get(&C, row, col) - sum) <= size * 0x1p-9, "%s: C[%d][%d] is %g, not %g", name, row,
                      col, matrix_get(&C, row, col), sum);
        }
    }
    matrix_free(&A);
    matrix_free(&B);
    matrix_free(&C);
    const struct profile *p = dev_profile(d);
    cr_assert_not_null(p);
    return p;
}

static void expect_tile(const char *name, uint64_t ldsm, uint64_t store)
{
    struct dev *d = ptx_simulator();
    const struct profile *p = run_tile(d, name);
    cr_expect_eq(p->total[METRIC_LDSM_CONF], ldsm, "%s: %llu ldmatrix conflicts, not %llu", name,
                 (unsigned long long)p->total[METRIC_LDSM_CONF], (unsigned long long)ldsm);
    cr_expect_eq(p->total[METRIC_SST_CONF], store, "%s: %llu store conflicts, not %llu", name,
                 (unsigned long long)p->total[METRIC_SST_CONF], (unsigned long long)store);
    cr_expect_eq(p->total[METRIC_HMMA], 2);
    dev_close(d);
}

Test(story, one_tile_has_eight_ldmatrix_conflicts_unpadded_and_none_padded_or_swizzled)
{
    expect_tile("wmma_plain", 8, 4);    // 4 of A, 4 of B; the tile of C conflicts when it is stored
    expect_tile("wmma_padded", 0, 12);  // the copies of A and B into padded rows do now: 4 + 4
    expect_tile("mma_plain", 8, 0);
    expect_tile("mma_padded", 0, 8);
    expect_tile("mma_swizzled", 0, 0);
}

// --- the steps at 256 cubed ---

static const struct step *step_named(const char *name)
{
    for (size_t i = 0; i < n_steps; i++)
        if (!strcmp(steps[i]->name, name))
            return steps[i];
    cr_assert_fail("there is no step %s", name);
    return NULL;
}

// Runs a step; the device has its counters.
static struct tester *run_shape(struct dev *d, const struct step *s, int m, int n, int k)
{
    struct tester_options o = tester_defaults;
    struct tester_result result;
    char error[DEV_ERROR_MAX] = "";
    o.m = m;
    o.n = n;
    o.k = k;
    struct tester *t = tester_open(d, s->type, &o, error);
    cr_assert(t && tester_step(t, s, &result, error), "%s: %s", s->name, error);
    cr_assert_eq(result.verdict, TESTER_RIGHT, "%s: %s", s->name, result.what);
    return t;
}

// At 256 cubed.
static struct tester *run_step(struct dev *d, const struct step *s)
{
    return run_shape(d, s, 256, 256, 256);
}

// The counters of a step, or of its kernel built otherwise, whose PTX is given.
static struct profile profile_of(const char *name, const char *ptx)
{
    struct step s = *step_named(name);
    struct dev *d = ptx_simulator();
    s.ptx = ptx ? ptx : s.ptx;
    struct tester *t = run_step(d, &s);
    struct profile p = *dev_profile(d);
    p.lines = NULL;
    tester_close(t);
    dev_close(d);
    return p;
}

static uint64_t of(const struct profile *p, enum profile_metric m)
{
    return p->total[m];
}

Test(story, shared_loads_are_those_of_the_machine_code)
{
    static const struct {
        const char *name;
        uint64_t loads, waves, conflicts;  // as Nsight Compute counted them on an H200
    } steps_read[] = {
        { "02_smem_tile", 655360, 786432, 0 },      { "02_smem_tile_double", 786432, 1572864, 0 },
        { "03_thread_tile_1d", 196608, 327680, 0 }, { "04_thread_tile_2d", 32768, 163840, 65536 },
        { "05_vectorized", 32768, 163840, 65536 },
    };
    for (size_t i = 0; i < sizeof steps_read / sizeof *steps_read; i++) {
        struct profile p = profile_of(steps_read[i].name, NULL);
        cr_expect_eq(of(&p, METRIC_SLD_INST), steps_read[i].loads, "%s", steps_read[i].name);
        cr_expect_eq(of(&p, METRIC_SLD_WAVE), steps_read[i].waves, "%s", steps_read[i].name);
        cr_expect_eq(of(&p, METRIC_SLD_CONF), steps_read[i].conflicts, "%s", steps_read[i].name);
    }
}

Test(story, padding_frees_the_stores_of_05_and_warp_tiles_free_the_loads_of_06_and_07)
{
    static const char *const names[] = { "05_vectorized", "06_warp_tile", "07_double_buffer" };
    uint64_t before = UINT64_MAX;
    for (int i = 0; i < 3; i++) {
        struct profile p = profile_of(names[i], NULL);
        const uint64_t past_the_end = i == 2 ? 4 * 8 * 8 : 0;  // 07: the first operands of the tile after the last
        cr_expect_eq(of(&p, METRIC_SST_CONF), 0, "%s", names[i]);
        if (i > 0) {
            cr_expect_eq(of(&p, METRIC_SLD_CONF), 0, "%s", names[i]);
            cr_expect_eq(of(&p, METRIC_WAVE), of(&p, METRIC_WAVE_IDEAL), "%s", names[i]);
        }
        cr_expect_leq(of(&p, METRIC_SLD_WAVE) - past_the_end, before, "%s", names[i]);
        before = of(&p, METRIC_SLD_WAVE);
    }
}

Test(story, padding_or_a_swizzle_takes_the_ldmatrix_conflicts_away)
{
    struct profile plain = profile_of("09_wmma_smem", NULL), padded = profile_of("10_wmma_padding", NULL);
    struct profile mma = profile_of("11_mma_ptx", NULL), swizzled = profile_of("12_mma_swizzle", NULL);
    struct profile mma_plain = profile_of("11_mma_ptx", UNPADDED_PTX);
    cr_expect_eq(of(&plain, METRIC_LDSM_CONF), LDSM_PLAIN);
    cr_expect_eq(of(&mma_plain, METRIC_LDSM_CONF), LDSM_PLAIN, "11 with PAD = 0");
    cr_expect_eq(of(&padded, METRIC_LDSM_CONF), 0);
    cr_expect_eq(of(&mma, METRIC_LDSM_CONF), 0);
    cr_expect_eq(of(&swizzled, METRIC_LDSM_CONF), 0);
    cr_expect_eq(of(&swizzled, METRIC_SST_CONF), 0);
    cr_expect_eq(of(&swizzled, METRIC_WAVE), of(&swizzled, METRIC_WAVE_IDEAL));
    cr_expect_eq(of(&mma, METRIC_SST_CONF), 0, "the copies are numbered so that their stores have none either");
    for (const struct profile *const *p = (const struct profile *[]){ &plain, &padded, &mma, &swizzled, NULL }; *p; p++)
        cr_expect_eq(of(*p, METRIC_HMMA), 256 * 256 * 256 / (16 * 8 * 16), "m16n8k16 is one instruction");
}

Test(story, the_swizzle_needs_no_bytes)
{
    struct step deep = *step_named("12_mma_swizzle");
    const struct geometry padded = geometry_of(step_named("11_mma_ptx")), swizzled = geometry_of(&deep);
    deep.ptx = DEEP_PTX;
    const int twice = geometry_of(&deep).shared;
    struct profile p = profile_of("12_mma_swizzle", DEEP_PTX);
    cr_expect_eq(swizzled.shared, 2 * 2 * (128 * 32 + 32 * 256),
                 "two stages of 11's tiles, in halves, and nothing else");
    cr_expect_lt(swizzled.shared, padded.shared, "12 needs %d bytes, 11 needs %d", swizzled.shared, padded.shared);
    cr_expect_eq(of(&p, METRIC_LDSM_CONF) + of(&p, METRIC_SST_CONF), 0, "with tiles twice as deep");
    cr_expect_eq(twice, 2 * swizzled.shared);
    cr_expect_leq(twice, 99 * 1024, "an RTX 30 or 40 has no more");
}

// An H200 counted the same (steps/results): the copies of zeros past the end of K make no request.
Test(story, asynchronous_copies_read_what_loads_read)
{
    const struct profile loads = profile_of("12_mma_swizzle", NULL), copies = profile_of("13_async_copy", NULL);
    cr_expect_eq(copies.total[METRIC_GLD_REQ], 768, "%zu", (size_t)copies.total[METRIC_GLD_REQ]);
    cr_expect_eq(copies.total[METRIC_GLD_SEC], loads.total[METRIC_GLD_SEC]);
    cr_expect_eq(copies.total[METRIC_SST_INST], 1024, "C alone is stored to shared memory");
}

// What a header does is counted for the line of the kernel that calls it. clang does not say which one that is: there
// the header's own lines come last.
Test(story, no_line_of_a_header_heads_the_hot_lines)
{
    for (size_t i = 0; i < n_steps; i++) {
        if (!sample_brief(i, 4))
            continue;
        char *text;
        size_t size;
        struct dev *d = ptx_simulator();
        struct tester *t = run_step(d, steps[i]);
        const struct profile *p = dev_profile(d);
        size_t in_headers = 0;
        for (size_t j = 0; j < p->n_lines; j++)
            in_headers += source_is_header(p->lines[j].file);
        cr_expect(!in_headers || !BY_NVCC, "%s: %zu lines are a header's", steps[i]->name, in_headers);
        FILE *out = open_memstream(&text, &size);
        cr_assert(out);
        profile_print_lines(out, p, 1);
        fclose(out);
        // With one file its name is in the headline, and the row has a number alone.
        const char *row = strstr(text, "line  source\n");
        cr_expect(row && (strstr(row, "kernel.cu:") || strstr(text, "kernel.cu (inst")), "%s:\n%s", steps[i]->name,
                  text);
        free(text);
        tester_close(t);
        dev_close(d);
    }
}

// Hopper's steps are left out where the compiler does not know them.
Test(story, tma_takes_the_loads_of_a_block_and_its_barriers_away)
{
    const struct step *tma = NULL;
    for (size_t i = 0; i < n_steps; i++)
        if (!strcmp(steps[i]->name, "14_tma"))
            tma = steps[i];
    if (!tma)
        cr_skip_test("14_tma is not built");
    const struct profile copies = profile_of("13_async_copy", NULL), boxes = profile_of("14_tma", NULL);
    cr_expect_eq(boxes.total[METRIC_GLD_REQ] + boxes.total[METRIC_LDGSTS_WAVE], 0);
    cr_expect_eq(boxes.total[METRIC_HMMA], copies.total[METRIC_HMMA]);
    cr_expect_eq(boxes.total[METRIC_LDSM_INST], copies.total[METRIC_LDSM_INST]);
    cr_expect_eq(boxes.total[METRIC_LDSM_CONF], 0, "TMA swizzles as step 12 does");
    cr_expect_eq(boxes.total[METRIC_BAR], 2 * 8 * (1 + 2 * 4),
                 "of 8 warps in 2 blocks: one, and two for each 16 rows of C");
    cr_expect_lt(boxes.total[METRIC_INST], copies.total[METRIC_INST]);
}

static void needs_step(const char *name)
{
    bool built = false;
    for (size_t i = 0; i < n_steps; i++)
        built |= !strcmp(steps[i]->name, name);
    if (!built)
        cr_skip_test("%s is not built", name);
}

Test(story, roles_take_the_barrier_out_of_the_loop)
{
    needs_step("16_warp_roles");
    const struct profile all = profile_of("15_wgmma", NULL), roles = profile_of("16_warp_roles", NULL);
    cr_expect_eq(all.total[METRIC_BAR], 2 * 8 * (1 + 256 / 64 + 2),
                 "of 8 warps in 2 blocks: one, one a tile, two for C");
    cr_expect_eq(roles.total[METRIC_BAR], 2 * (12 + 8 * 2), "of 12 warps in 2 blocks: one, and two for C of 8 warps");
    cr_expect_eq(roles.total[METRIC_GMMA], all.total[METRIC_GMMA]);
    cr_expect_eq(roles.total[METRIC_TMA_LD_BYTES], all.total[METRIC_TMA_LD_BYTES]);
    cr_expect_eq(roles.total[METRIC_SST_WAVE], all.total[METRIC_SST_WAVE], "C leaves as before");
}

static void expect_same_work(const struct profile *one, const struct profile *other)
{
    static const enum profile_metric same[] = { METRIC_GMMA,    METRIC_TMA_LD,   METRIC_TMA_LD_BYTES,
                                                METRIC_GST_SEC, METRIC_SST_WAVE, METRIC_SLD_WAVE };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        cr_expect_eq(one->total[same[i]], other->total[same[i]], "%s", profile_metric_name(same[i]));
}

Test(story, another_order_of_tiles_is_the_same_work)
{
    needs_step("17_tile_order");
    const struct profile by_rows = profile_of("16_warp_roles", NULL), by_groups = profile_of("17_tile_order", NULL);
    expect_same_work(&by_groups, &by_rows);
    cr_expect_eq(by_groups.total[METRIC_BAR], by_rows.total[METRIC_BAR]);
}

Test(story, a_block_for_each_sm_does_the_same_work)
{
    needs_step("18_persistent");
    const struct profile many = profile_of("17_tile_order", NULL), few = profile_of("18_persistent", NULL);
    expect_same_work(&few, &many);
    cr_expect_eq(few.total[METRIC_BAR], many.total[METRIC_BAR] + 2 * 8 * 2,
                 "two more for the second part of C, of 8 warps in 2 blocks");
}

Test(story, tma_stores_what_stmatrix_puts_without_conflicts)
{
    needs_step("19_tma_store");
    const struct profile by_threads = profile_of("18_persistent", NULL), by_tma = profile_of("19_tma_store", NULL);
    cr_expect_eq(by_tma.total[METRIC_GST_INST] + by_tma.total[METRIC_SST_INST] + by_tma.total[METRIC_SLD_INST], 0,
                 "no thread stores C, and none loads it back");
    cr_expect_eq(by_tma.total[METRIC_TMA_ST_BYTES], 32 * by_threads.total[METRIC_GST_SEC], "TMA stores all of it");
    cr_expect_eq(by_tma.total[METRIC_TMA_ST], 256 * 256 / (64 * 64), "in boxes of 64 x 64");
    cr_expect_eq(by_tma.total[METRIC_STSM_WAVE], 256 * 256 * 2 / 128, "stmatrix takes 128 bytes a wavefront");
    cr_expect_eq(by_tma.total[METRIC_STSM_CONF], 0);
    cr_expect_eq(by_tma.total[METRIC_GMMA], by_threads.total[METRIC_GMMA]);
    cr_expect_eq(by_tma.total[METRIC_TMA_LD], by_threads.total[METRIC_TMA_LD]);
    cr_expect_eq(by_tma.total[METRIC_TMA_LD_BYTES], by_threads.total[METRIC_TMA_LD_BYTES]);
    cr_expect_eq(by_tma.total[METRIC_BAR], by_threads.total[METRIC_BAR] + 8 * 2,
                 "one more to go first, of 8 warps in 2 blocks");
    cr_expect_lt(10 * by_tma.total[METRIC_INST], 8 * by_threads.total[METRIC_INST], "a fifth fewer, or more");
}

Test(story, smaller_tiles_load_more_for_the_same_products)
{
    needs_step("20_any_shape");
    const struct profile large = profile_of("19_tma_store", NULL), small = profile_of("20_any_shape", NULL);
    const uint64_t matrix = 256 * 256 * 2;
    cr_expect_eq(large.total[METRIC_TMA_LD_BYTES], matrix * (256 / 256 + 256 / 128), "A once, B twice");
    cr_expect_eq(small.total[METRIC_TMA_LD_BYTES], matrix * (256 / 64 + 256 / 64), "tiles of 64 x 64");
    cr_expect_eq(small.total[METRIC_GMMA], 4 * large.total[METRIC_GMMA], "64 columns in place of 256");
    cr_expect_eq(small.total[METRIC_TMA_ST_BYTES], large.total[METRIC_TMA_ST_BYTES]);
    cr_expect_eq(small.total[METRIC_STSM_CONF], 0);
}

Test(story, a_cluster_reads_each_sum_once_without_conflicts)
{
    needs_step("20_any_shape");
    enum { SIZE = 64, K = 2048, PARTS = 8, SUMS = PARTS * SIZE * SIZE };
    struct dev *d = ptx_simulator();
    struct tester *t = run_shape(d, step_named("20_any_shape"), SIZE, SIZE, K);
    const struct profile *p = dev_profile(d);
    cr_assert_str_eq(p->kernel, "gemm_64x64_split");
    cr_expect_eq(p->total[METRIC_TMA_LD_BYTES], 2 * 2 * SIZE * K, "no part loads what another one does");
    cr_expect_eq(p->total[METRIC_SST_INST], SUMS / (32 * 2), "two floats a lane");
    cr_expect_eq(p->total[METRIC_SLD_INST], SUMS / (32 * 4), "four floats a lane");
    cr_expect_eq(p->total[METRIC_SST_CONF] + p->total[METRIC_SLD_CONF], 0);
    cr_expect_eq(p->total[METRIC_GST_INST], SIZE * SIZE / 32, "C is stored once");
    tester_close(t);
    dev_close(d);
}
