// The check of exercise 09.
#include <string.h>

#include "../exercise.h"
#include "base/file.h"
#include "base/matrix.h"

enum { BM = 64, BN = 32, BK = 16, THREADS = 256, WARPS = THREADS / 32 };
enum { M = 128, N = 96, K = 48, BLOCKS = (M / BM) * (N / BN), TILES = K / BK };

static const struct ex_gemm gemm = { DEV_F16,
                                     { .bm = BM, .bn = BN, .bk = BK, .threads = THREADS, .wm = 16, .wn = 16 },
                                     owner_by_fragments };

Test(check, 1_the_result_is_right)
{
    ex_is_right(&gemm, 64, 32, 16, 1, 0);
    ex_is_right(&gemm, M, N, K, 1, 0);
    ex_is_right(&gemm, 64, 128, 32, -0.5, 2);
}

// Sectors of the lines that hold text, for one tile of each block, against what its bytes need.
static void expect_sectors(enum profile_metric metric, const char *text, int tiles, int halves, const char *what,
                           const char *where)
{
    const struct profile *p = ex_count(&gemm, M, N, K);
    const uint64_t sectors = ex_on_lines(p, metric, text) / (uint64_t)(BLOCKS * tiles);
    const uint64_t want = (uint64_t)halves * 2 / 32;
    cr_assert_eq(sectors, want,
                 "right result, but %s take %" PRIu64 " sectors of 32 bytes for a tile of a block, where %" PRIu64
                 " are possible; look at %s: lanes that follow each other should take what follows in a row of the "
                 "matrix, and only then go on to the next row",
                 what, sectors, want, where);
}

Test(check, 2_the_tiles_are_copied_in_by_whole_sectors)
{
    expect_sectors(METRIC_GLD_SEC, "a_next", TILES, BM * BK, "the loads of A", "arow and acol");
    expect_sectors(METRIC_GLD_SEC, "b_next", TILES, BK * BN, "the loads of B", "crow and ccol");
}

Test(check, 3_the_result_is_copied_out_by_whole_sectors)
{
    expect_sectors(METRIC_GST_SEC, NULL, 1, BM * BN, "the stores to C", "orow and ocol");
}

// --- The bug hunt ---

static struct matrix random_matrix(int rows, int cols, uint64_t seed)
{
    struct matrix x = matrix_new(DEV_F16, rows, cols);
    cr_assert(x.data, "out of memory");
    matrix_fill_random(&x, seed);
    return x;
}

// C = alpha * A * B + beta * C with the kernel hunt. Fails where it is wrong or something was found.
static const struct profile *hunted(struct ex *x, int m, int n, int k, float alpha, float beta)
{
    const struct geometry g = ex_geometry();
    struct matrix A = random_matrix(m, k, 1), B = random_matrix(k, n, 2), C0 = random_matrix(m, n, 3);
    struct matrix C = matrix_new(DEV_F16, m, n);
    cr_assert(C.data, "out of memory");
    dev_ptr a = ex_buffer(x, "A", A.data, matrix_bytes(&A)), b = ex_buffer(x, "B", B.data, matrix_bytes(&B));
    dev_ptr c = ex_buffer(x, "C", C0.data, matrix_bytes(&C0));
    const struct dev_arg args[] = { DEV_ARG(m), DEV_ARG(n), DEV_ARG(k),    DEV_ARG(alpha),
                                    DEV_ARG(a), DEV_ARG(b), DEV_ARG(beta), DEV_ARG(c) };
    const struct dev_launch launch = {
        .grid = { (unsigned)(n / g.bn), (unsigned)(m / g.bm) },
        .block = { (unsigned)g.threads },
        .args = args,
        .n_args = 8,
    };
    const struct profile *p = ex_launch(x, "hunt", &launch);
    ex_read(x, C.data, c, matrix_bytes(&C));
    const struct matrix_verdict v = matrix_check(&C, alpha, &A, &B, beta, &C0);
    cr_assert(v.right,
              "hunt, M %d, N %d, K %d: nothing was found, but C[%d][%d] is %g, want %g; look at the copies to As "
              "and Bs",
              m, n, k, v.row, v.col, v.got, v.want);
    matrix_free(&A);
    matrix_free(&B);
    matrix_free(&C0);
    matrix_free(&C);
    return p;
}

Test(check, 4_the_hunted_kernel_is_right_with_one_load_for_a_share)
{
    struct ex x = ex_open(DEV_SIM);
    ex_needs(&gemm.given);
    hunted(&x, 128, 32, 32, -0.5F, 2);  // blocks below each other, which leave the columns of B alone
    const uint64_t requests = hunted(&x, M, N, K, 1, 0)->total[METRIC_GLD_REQ] / (BLOCKS * TILES * WARPS);
    cr_assert_eq(requests, 2,
                 "right result, but a warp makes %" PRIu64 " requests for a tile of A and one of B, where 2 suffice: a "
                 "thread's share is %d neighbours of A and %d of B, each one load of so many bytes",
                 requests, BM * BK / THREADS, BK * BN / THREADS);
    ex_close(&x);
}

// The bytes to which the PTX aligns a shared array of a kernel; 0 where it has no such array.
static int alignment(const char *ptx, const char *kernel, const char *array)
{
    char name[64];
    int bytes = 0;
    snprintf(name, sizeof name, "_ZZ%zu%sE%zu%s[", strlen(kernel), kernel, strlen(array), array);
    const char *at = strstr(ptx, name);
    while (at && at > ptx && at[-1] != '\n')
        at--;
    return at && sscanf(at, " .shared .align %d", &bytes) == 1 ? bytes : 0;
}

Test(check, 5_its_shared_arrays_are_aligned)
{
    static const char *const arrays[] = { "As", "Bs" };
    char *ptx = file_read(EX_PTX);
    cr_assert(ptx, "%s cannot be read", EX_PTX);
    for (int i = 0; i < 2; i++) {
        const int bytes = alignment(ptx, "hunt", arrays[i]);
        cr_assert(bytes,
                  "hunt has no shared array %s of its own any more: leave As and Bs where they are declared, and mend "
                  "the declaration",
                  arrays[i]);
        cr_assert_geq(
            bytes, 32,
            "%s of hunt is aligned to %d bytes, so where it begins is luck: it depends on what else lies in shared "
            "memory. The copies want as many bytes as they move, and load_matrix_sync 32; look at the "
            "declaration, and at that of gemm",
            arrays[i], bytes);
    }
    free(ptx);
}

Test(check, 6_the_hunted_kernel_is_right_on_the_GPU)
{
    struct ex x = ex_open(DEV_GPU);
    hunted(&x, M, N, K, -0.5F, 2);
    ex_close(&x);
}
