// The check of exercise 19.
#include "../exercise.h"

enum { BM = 64, BN = 128, BK = 64, THREADS = 128, BOX = 64, WARPS = THREADS / 32 };
enum { M = 128, N = 256, K = 64, TILES = (M / BM) * (N / BN) };

static const struct ex_gemm gemm = {
    DEV_F16,
    { .bm = BM, .bn = BN, .bk = BK, .threads = THREADS, .wm = 16, .wn = BN, .box = BOX, .blocks = 1, .cbox = BM },
    owner_by_fragments,
};

// One tile for a block, several, and tiles of which a part is outside.
Test(check, 1_the_result_is_right)
{
    ex_is_right(&gemm, BM, BN, BK, 1, 0);
    ex_is_right(&gemm, 4 * BM, 2 * BN, BK, 1, 0);
    ex_is_right(&gemm, 3 * BM + 5, BN + 72, 2 * BK + 8, -0.5, 0);
}

Test(check, 2_no_thread_stores_to_C)
{
    char stores[TEXT_GROUPED];
    const struct profile *p = ex_count(&gemm, M, N, K);
    cr_assert_eq(p->total[METRIC_GST_INST], 0,
                 "right result, but warps store to C with %s instructions of their own: tma_store takes whole boxes of "
                 "Cs, and one thread asks",
                 text_grouped(p->total[METRIC_GST_INST], stores));
}

Test(check, 3_stmatrix_puts_C_without_conflicts)
{
    char have[TEXT_GROUPED], want[TEXT_GROUPED];
    const struct profile *p = ex_count(&gemm, M, N, K);
    const uint64_t least = (uint64_t)TILES * BM * BN * 2 / 128, waves = p->total[METRIC_STSM_WAVE];
    cr_assert_eq(p->total[METRIC_SST_INST], 0,
                 "right result, but warps store to shared memory with %s instructions for two halves a lane: stmatrix "
                 "takes eight",
                 text_grouped(p->total[METRIC_SST_INST], have));
    cr_assert_eq(waves, least,
                 "right result, but stmatrix takes %s wavefronts where %s hold all of C: do eight rows "
                 "of a matrix lie in eight different places?",
                 text_grouped(waves, have), text_grouped(least, want));
}
