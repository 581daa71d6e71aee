// The library on the simulated GPU: results, choices, errors. Its parts are linked in, so that a test can look inside.
#include <criterion/criterion.h>
#include <gemm-steps/gemm.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "library/handle.h"
#include "base/matrix.h"
#include "sample.h"

TestSuite(library);

static gemm_steps *h;

static void open_simulated(void)
{
    cr_assert_eq(gemm_steps_create(GEMM_STEPS_SIMULATED, &h), GEMM_STEPS_OK, "%s", gemm_steps_error(NULL));
}

static void close_it(void)
{
    gemm_steps_destroy(h);
}

TestSuite(library_products, .init = open_simulated, .fini = close_it);

// --- Products ---

struct product {
    enum dev_type type;
    int m, n, k;
    float alpha, beta;
    uint64_t seed;
};

static struct matrix A, B, C, C0;

static void make_matrices(const struct product *p)
{
    A = matrix_new(p->type, p->m, p->k);
    B = matrix_new(p->type, p->k, p->n);
    C = matrix_new(p->type, p->m, p->n);
    C0 = matrix_new(p->type, p->m, p->n);
    cr_assert(A.data && B.data && C.data && C0.data);
    matrix_fill_random(&A, p->seed);
    matrix_fill_random(&B, p->seed + 1);
    if (p->beta == 0)
        matrix_fill_nan(&C0);  // must not be read
    else
        matrix_fill_random(&C0, p->seed + 2);
    memcpy(C.data, C0.data, matrix_bytes(&C));
}

static void free_matrices(void)
{
    struct matrix *all[] = { &A, &B, &C, &C0 };
    for (int i = 0; i < 4; i++)
        matrix_free(all[i]);
}

static void expect_right(const struct product *p)
{
    const struct matrix_verdict v = matrix_check(&C, p->alpha, &A, &B, p->beta, p->beta == 0 ? NULL : &C0);
    cr_expect(v.right, "%s %dx%dx%d alpha %g beta %g by %s: row %d column %d is %g, not %g", type_name(p->type), p->m,
              p->n, p->k, p->alpha, p->beta, gemm_steps_kernel(h), v.row, v.col, v.got, v.want);
}

static void expect_ok(gemm_steps_status s)
{
    cr_assert_eq(s, GEMM_STEPS_OK, "status %d: %s", (int)s, gemm_steps_error(h));
}

static void on_host(const struct product *p)
{
    make_matrices(p);
    if (p->type == DEV_F16)
        expect_ok(gemm_steps_f16_host(h, p->m, p->n, p->k, p->alpha, A.data, B.data, p->beta, C.data));
    else
        expect_ok(gemm_steps_f32_host(h, p->m, p->n, p->k, p->alpha, A.data, B.data, p->beta, C.data));
    expect_right(p);
    free_matrices();
}

static int pick_size(uint64_t seed, uint64_t i)
{
    const int size = 1 + (int)(matrix_hash(seed, i) % 150);
    return matrix_hash(seed, i + 1) % 2 ? size : (size + 7) / 8 * 8;
}

static struct product random_product(enum dev_type type, uint64_t i)
{
    static const float factors[] = { 1, -0.5f, 2.25f, 0 }, kept[] = { 0, 0, 1, -0.75f };
    const uint64_t seed = 1000 * (uint64_t)type + i;
    return (struct product){ type,
                             pick_size(seed, 0),
                             pick_size(seed, 2),
                             pick_size(seed, 4),
                             factors[matrix_hash(seed, 6) % 4],
                             kept[matrix_hash(seed, 7) % 4],
                             seed };
}

// Not every compiler can compile it; what runs in its place needs no workspace.
static bool has_step_20(void)
{
    return *kernels[PTX_hopper_128x256].ptx;
}

// Random shapes by what an older card, or a handle without a workspace, runs.
static void try_shapes(enum dev_type type, int sm, size_t limit)
{
    const int n = sample_asked() == SAMPLE_ALL ? 100 : sample_asked() == SAMPLE_SOME ? 16 : 6;
    h->card.sm = sm;
    expect_ok(gemm_steps_set_workspace_limit(h, limit));
    for (int i = 0; i < n; i++) {
        const struct product p = random_product(type, (uint64_t)i);
        on_host(&p);
    }
}

Test(library_products, of_halves_are_right_on_hopper)
{
    try_shapes(DEV_F16, 90, SIZE_MAX);
}

Test(library_products, of_halves_are_right_without_a_workspace)
{
    try_shapes(DEV_F16, 90, 0);
    cr_expect_eq(gemm_steps_workspace(h), 0);
}

Test(library_products, of_halves_are_right_on_ampere)
{
    try_shapes(DEV_F16, 80, SIZE_MAX);
}

Test(library_products, of_halves_are_right_on_turing)
{
    try_shapes(DEV_F16, 75, SIZE_MAX);
}

Test(library_products, of_floats_are_right)
{
    try_shapes(DEV_F32, 90, SIZE_MAX);
}

Test(library_products, of_floats_are_right_without_a_workspace)
{
    try_shapes(DEV_F32, 75, 0);
    cr_expect_eq(gemm_steps_workspace(h), 0);
}

// Blocks share a tile, if there are few tiles and K is long.
Test(library_products, of_halves_with_a_long_k_are_right)
{
    if (!has_step_20())
        cr_skip_test("the kernels were compiled without step 20");
    on_host(&(struct product){ DEV_F16, 130, 70, 4096, 1, 0.5f, 1 });
    cr_expect(strstr(gemm_steps_kernel(h), "parts"), "%s", gemm_steps_kernel(h));
    on_host(&(struct product){ DEV_F16, 65, 63, 2047, 1, 0, 2 });
}

// More products than plans, and each twice: a plan that is used again has another alpha and beta.
Test(library_products, on_device_pointers_are_right_again_and_again)
{
    gemm_steps_ptr a, b, c;
    const struct product most = { .type = DEV_F32, .m = 100, .n = 100, .k = 100 };
    make_matrices(&most);
    expect_ok(gemm_steps_alloc(h, matrix_bytes(&A), &a));
    expect_ok(gemm_steps_alloc(h, matrix_bytes(&B), &b));
    expect_ok(gemm_steps_alloc(h, matrix_bytes(&C), &c));
    free_matrices();
    for (int i = 0; i < 2 * PLANS; i++) {
        const float beta = i % 2 ? 0.5f : 0;
        const struct product p = {
            DEV_F32, 100 - i / 2, 100 - i / 4, 100 - i / 2, 1 + (float)i / 8, beta, (uint64_t)i
        };
        make_matrices(&p);
        expect_ok(gemm_steps_upload(h, a, A.data, matrix_bytes(&A)));
        expect_ok(gemm_steps_upload(h, b, B.data, matrix_bytes(&B)));
        expect_ok(gemm_steps_upload(h, c, C.data, matrix_bytes(&C)));
        expect_ok(gemm_steps_f32(h, p.m, p.n, p.k, p.alpha, a, b, p.beta, c));
        expect_ok(gemm_steps_wait(h));
        expect_ok(gemm_steps_download(h, C.data, c, matrix_bytes(&C)));
        expect_right(&p);
        free_matrices();
    }
    expect_ok(gemm_steps_free(h, a));
    expect_ok(gemm_steps_free(h, b));
    expect_ok(gemm_steps_free(h, c));
}

// --- Threads ---

// Some products by a handle of the thread's own: whether all are right.
static void *multiply_alone(void *seed)
{
    enum { M = 33, N = 70, K = 600 };
    static _Thread_local float a[M * K], b[K * N], c[M * N];
    const struct matrix x = { DEV_F32, M, K, a }, y = { DEV_F32, K, N, b }, z = { DEV_F32, M, N, c };
    gemm_steps *own;
    bool right = gemm_steps_create(GEMM_STEPS_SIMULATED, &own) == GEMM_STEPS_OK;
    for (uint64_t i = 0; i < 4 && right; i++) {
        struct matrix all[] = { x, y };
        matrix_fill_random(&all[0], *(uint64_t *)seed + 2 * i);
        matrix_fill_random(&all[1], *(uint64_t *)seed + 2 * i + 1);
        right = gemm_steps_f32_host(own, M, N, K, 1, a, b, 0, c) == GEMM_STEPS_OK &&
                matrix_check(&z, 1, &x, &y, 0, NULL).right;
    }
    gemm_steps_destroy(own);
    return right ? seed : NULL;
}

Test(library, two_handles_work_in_two_threads)
{
    uint64_t seeds[] = { 1, 100 };
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        cr_assert(!pthread_create(&threads[i], NULL, multiply_alone, &seeds[i]));
    for (int i = 0; i < 2; i++) {
        void *right = NULL;
        pthread_join(threads[i], &right);
        cr_expect(right, "thread %d", i);
    }
}

// --- The workspace ---

static const struct product deep = { DEV_F32, 60, 61, 2000, 1, 0, 1 };  // K is split, and the sums need room

Test(library_products, the_workspace_grows_and_obeys_its_limit)
{
    const struct product flat = { DEV_F32, 64, 64, 16, 1, 0, 1 }, wide = { DEV_F32, 60, 600, 2000, 1, 0, 1 };
    on_host(&flat);
    cr_expect_eq(gemm_steps_workspace(h), 0);
    on_host(&deep);
    const size_t small = gemm_steps_workspace(h);
    cr_expect(small >= 2 * 60 * 61 * sizeof(float), "%zu bytes", small);
    on_host(&wide);
    cr_expect(gemm_steps_workspace(h) > small);
    expect_ok(gemm_steps_set_workspace_limit(h, small));
    cr_expect_eq(gemm_steps_workspace(h), 0, "more than the limit is kept");
    on_host(&deep);
    cr_expect_eq(gemm_steps_workspace(h), small);
    on_host(&wide);
    cr_expect_eq(gemm_steps_workspace(h), small);
}

// The caller's memory is used, and no more than there is.
Test(library_products, the_workspace_may_be_the_callers)
{
    enum { BYTES = 1 << 20 };
    gemm_steps_ptr memory;
    expect_ok(gemm_steps_alloc(h, BYTES, &memory));
    expect_ok(gemm_steps_set_workspace(h, memory, BYTES));
    cr_expect_eq(gemm_steps_workspace(h), BYTES);
    on_host(&deep);
    cr_expect(strstr(gemm_steps_kernel(h), "parts"), "%s", gemm_steps_kernel(h));
    cr_expect_eq(gemm_steps_workspace(h), BYTES);
    expect_ok(gemm_steps_set_workspace(h, memory, 1024));
    on_host(&deep);
    cr_expect(!strstr(gemm_steps_kernel(h), "parts"), "%s", gemm_steps_kernel(h));
    expect_ok(gemm_steps_set_workspace_limit(h, 0));
    expect_ok(gemm_steps_set_workspace(h, memory, BYTES));
    on_host(&deep);
    cr_expect(!strstr(gemm_steps_kernel(h), "parts"), "the limit is forgotten: %s", gemm_steps_kernel(h));
    expect_ok(gemm_steps_set_workspace_limit(h, SIZE_MAX));
    expect_ok(gemm_steps_set_workspace(h, 0, 0));
    cr_expect_eq(gemm_steps_workspace(h), 0);
    on_host(&deep);
    cr_expect(gemm_steps_workspace(h) > 0);
    expect_ok(gemm_steps_free(h, memory));
}

// A plan knows where the workspace is: when it moves, plans are made anew.
Test(library_products, plans_follow_the_workspace)
{
    enum { BYTES = 200 * 200 * 2 };
    gemm_steps_ptr a, b, c;
    static char zeros[BYTES];
    gemm_steps_ptr *all[] = { &a, &b, &c };
    for (int i = 0; i < 3; i++) {
        expect_ok(gemm_steps_alloc(h, BYTES, all[i]));
        expect_ok(gemm_steps_upload(h, *all[i], zeros, BYTES));
    }
    for (int i = 0; i < 2; i++) {
        expect_ok(gemm_steps_f16(h, 61, 61, 61, 1, a, b, 0, c));
        expect_ok(gemm_steps_f16(h, 161, 161, 161, 1, a, b, 0, c));
    }
}

// --- Choices ---

static struct problem settled(gemm_steps_type type, int m, int n, int k)
{
    const gemm_steps_problem given = problem_of(type, m, n, k, 1, 1 << 20, 1 << 20, 0, 1 << 20);
    struct problem p;
    char error[DEV_ERROR_MAX];
    cr_assert(problem_settle(&given, true, &p, error), "%s", error);
    return p;
}

static struct way pick(int sm, gemm_steps_type type, int m, int n, int k, size_t limit)
{
    const struct problem p = settled(type, m, n, k);
    return pick_way((struct pick_card){ sm, 132, 4800 }, &p, limit);
}

static enum kernel_id kernel(int sm, gemm_steps_type type, int m, int n, int k, size_t limit)
{
    return (enum kernel_id)(pick(sm, type, m, n, k, limit).kernel - kernels);
}

Test(library, halves_run_the_best_step_of_the_card)
{
    cr_expect_eq(kernel(75, GEMM_STEPS_F16, 512, 512, 512, SIZE_MAX), PTX_f16_padding);
    cr_expect_eq(kernel(80, GEMM_STEPS_F16, 4096, 4096, 4096, SIZE_MAX), PTX_f16_async);
    cr_expect_eq(kernel(89, GEMM_STEPS_F16, 2048, 2047, 2048, SIZE_MAX), PTX_mma);
    for (int size = 512; size <= 2048; size *= 2) {
        const enum kernel_kind kind = pick(90, GEMM_STEPS_F16, size, size, size, 0).kernel->kind;
        cr_expect(has_step_20() ? kind == KERNEL_HOPPER : kind == KERNEL_STEP || kind == KERNEL_MMA, "%d", size);
    }
    cr_expect(!has_step_20() || pick(90, GEMM_STEPS_BF16, 512, 512, 512, 0).kernel->kind == KERNEL_HOPPER);
    cr_expect_eq(pick(90, GEMM_STEPS_F16, 512, 512, 511, 0).kernel->kind, KERNEL_MMA);
    cr_expect_eq(kernel(100, GEMM_STEPS_F16, 4096, 4096, 4096, SIZE_MAX), PTX_f16_async);
}

Test(library, floats_run_the_best_tile)
{
    cr_expect_eq(kernel(90, GEMM_STEPS_F32, 4096, 4096, 4096, SIZE_MAX), PTX_f32_whole);
    cr_expect_eq(kernel(90, GEMM_STEPS_F32, 4096, 4096, 4096, 0), PTX_f32_whole);
    cr_expect_eq(pick(90, GEMM_STEPS_F32, 4095, 4095, 4095, SIZE_MAX).kernel->kind, KERNEL_ANY);
    cr_expect_eq(kernel(90, GEMM_STEPS_F32, 128, 128, 128, SIZE_MAX), PTX_any_f32_32x32x4);
    cr_expect_eq(kernel(90, GEMM_STEPS_F32, 1, 4096, 4096, SIZE_MAX), PTX_rows_f32);
    cr_expect_eq(kernel(90, GEMM_STEPS_F32, 4096, 1, 4096, SIZE_MAX), PTX_rows_f32);
}

Test(library, few_rows_or_columns_are_a_case_of_their_own)
{
    cr_expect_eq(kernel(90, GEMM_STEPS_F32, 8192, 2, 8192, SIZE_MAX), PTX_rows_f32);
    cr_expect_eq(kernel(90, GEMM_STEPS_F32, 1, 1001, 3001, SIZE_MAX), PTX_rows_f32);
    cr_expect_eq(kernel(90, GEMM_STEPS_F16, 1, 2049, 2047, SIZE_MAX), PTX_rows_f16);
    const struct way w = pick(90, GEMM_STEPS_F16, 28672, 4, 8192, SIZE_MAX);
    cr_expect(!has_step_20() || w.tall > 1);  // zeros beside the few columns of B take their time: blocks share it
}

Test(library, k_is_split_if_there_are_few_tiles)
{
    cr_expect_eq(pick(90, GEMM_STEPS_F32, 4096, 4096, 4096, SIZE_MAX).parts, 1);
    cr_expect(pick(90, GEMM_STEPS_F32, 256, 256, 2048, SIZE_MAX).parts > 1);
    cr_expect_eq(pick(90, GEMM_STEPS_F32, 256, 256, 2048, 0).parts, 1);
    cr_expect(pick(90, GEMM_STEPS_F32, 64, 64, 8192, SIZE_MAX).parts > 8);
    cr_expect_eq(pick(90, GEMM_STEPS_F32, 64, 64, 40, SIZE_MAX).parts, 1);
    cr_expect_eq(pick(90, GEMM_STEPS_F32, 64, 64, 8192, 4 * 64 * 64 * sizeof(float)).parts, 4);
}

// 1 if L2 need not keep A, 2 if it need not keep B, 3 if neither.
static int once(int m, int n, int k)
{
    const struct problem p = settled(GEMM_STEPS_F16, m, n, k);
    const struct way w = pick(90, GEMM_STEPS_F16, m, n, k, SIZE_MAX);
    return pick_once(&p, &w, 0) + 2 * pick_once(&p, &w, 1);
}

Test(library, what_is_large_and_wanted_once_need_not_stay_in_l2)
{
    if (!has_step_20())
        return;
    cr_expect_eq(once(16, 14336, 4096), 2);
    cr_expect_eq(once(14336, 16, 4096), 1);
    cr_expect_eq(once(128, 4096, 4096), 2, "two rows of tiles, computed at the same time");
    cr_expect_eq(once(16, 2048, 4096), 0, "may still be there for the next product");
    cr_expect_eq(once(16, 28672, 8192), 0, "drives out all of L2 in any case, and comes faster so");
    cr_expect_eq(once(8192, 8192, 4096), 0, "wanted again by later tiles");
    cr_expect_eq(once(16, 14335, 4096), 0, "a copy");
}

// What gemm_steps_prepare loads is what the product needs, wherever its matrices begin at multiples of 16 bytes.
Test(library, the_choice_is_the_same_for_all_pointers_at_multiples_of_16)
{
    char error[DEV_ERROR_MAX];
    for (uint64_t i = 0; i < 300; i++) {
        struct way ways[2];
        for (unsigned j = 0; j < 2; j++) {
            struct problem p;
            gemm_steps_problem given =
                problem_of(1 + i % 3, 1 + (int)(matrix_hash(i, 0) % 2048), 8 * (1 + (int)(matrix_hash(i, 1) % 256)),
                           8 * (1 + (int)(matrix_hash(i, 2) % 256)), 1, j ? 256 : 16, j ? 256 : 32, 0, j ? 256 : 48);
            given.transpose_b = (int)(i / 3 % 2);
            cr_assert(problem_settle(&given, true, &p, error), "%s", error);
            ways[j] = pick_way((struct pick_card){ 90, 132, 4800 }, &p, SIZE_MAX);
        }
        cr_expect(ways[0].kernel == ways[1].kernel && ways[0].parts == ways[1].parts &&
                      ways[0].blocks == ways[1].blocks,
                  "product %d: %s of %d x %d, or %s of %d x %d", (int)i, ways[0].kernel->step, ways[0].kernel->m,
                  ways[0].kernel->n, ways[1].kernel->step, ways[1].kernel->m, ways[1].kernel->n);
    }
}

Test(library, tensor_maps_of_a_handle_are_aligned)
{
    open_simulated();
    for (int i = 0; i < PLANS; i++)
        cr_expect_eq((uintptr_t)&h->plans[i].maps[0] % 64, 0, "plan %d", i);
    close_it();
}

Test(library, the_table_has_the_tiles_of_the_kernels)
{
    open_simulated();
    for (int i = 0; i < KERNELS; i++) {
        const struct kernel *k = &kernels[i];
        const struct geometry *g = &h->geometries[i];
        if (!*k->ptx || k->kind == KERNEL_PACK)
            continue;
        cr_assert(handle_module(h, (enum kernel_id)i, 0), "%s", gemm_steps_error(h));
        cr_expect(g->bm == k->m && g->bn == k->n && g->bk == k->k, "%s has a tile of %d x %d x %d, not %d x %d x %d",
                  k->file, g->bm, g->bn, g->bk, k->m, k->n, k->k);
    }
    close_it();
}

Test(library, every_kernel_can_be_loaded)
{
    open_simulated();
    for (int i = 0; i < KERNELS * WORDS; i++) {
        const struct kernel *k = &kernels[i / WORDS];
        const int words = i % WORDS, most = k->kind == KERNEL_HOPPER ? 7 : k->kind == KERNEL_MMA ? WORDS_BF16 : 0;
        if (!*k->ptx || words & ~most)
            continue;
        if (sample_brief((size_t)i, 3))
            cr_expect(handle_module(h, (enum kernel_id)(i / WORDS), words), "%s: %s", k->file, gemm_steps_error(h));
        cr_expect(words || !strchr(k->ptx, '/'), "%s has a path in it", k->file);
    }
    close_it();
}
