// The check of exercise 16.
#include "../exercise.h"

enum { BM = 128, BN = 256, BK = 64, STAGES = 3, THREADS = 384, BOX = 64, WARPS = THREADS / 32 };
enum { SHARED = 2 * STAGES * (BM * BK + BK * BN), FEW = 2, MANY = 8 };  // tiles along K

static const struct ex_gemm gemm = {
    DEV_F16,
    { .bm = BM, .bn = BN, .bk = BK, .threads = THREADS, .shared = SHARED, .wm = 16, .wn = BN, .box = BOX },
    owner_by_fragments,
};

// Fewer tiles than stages, more of them, and a last one that K does not fill.
Test(check, 1_the_result_is_right)
{
    ex_is_right(&gemm, BM, BN, BK, 1, 0);
    ex_is_right(&gemm, BM, BN, 8 * BK, 1, 0);
    ex_is_right(&gemm, 2 * BM, BN, 4 * BK + 8, 1, 0);
    ex_is_right(&gemm, BM, 2 * BN, 200, -0.5, 2);
}

Test(check, 2_no_barrier_stands_in_the_loop)
{
    const uint64_t few = ex_count(&gemm, BM, BN, FEW * BK)->total[METRIC_BAR];
    const uint64_t many = ex_count(&gemm, BM, BN, MANY * BK)->total[METRIC_BAR];
    cr_assert_leq(many, few,
                  "right result, but the warps of a block come to %" PRIu64 " barriers with %d tiles along K, and to "
                  "%" PRIu64 " with %d: `full` and `empty` say all that the roles have to know of each other",
                  few, FEW, many, MANY);
}

Test(check, 3_the_next_products_are_issued_before_the_last_ones_are_complete)
{
    const uint64_t few = ex_on_lines(ex_count(&gemm, BM, BN, FEW * BK), METRIC_INST, "wgmma_wait<0>");
    const uint64_t many = ex_on_lines(ex_count(&gemm, BM, BN, MANY * BK), METRIC_INST, "wgmma_wait<0>");
    cr_assert_leq(many, few,
                  "right result, but the warps wait for all their products %" PRIu64
                  " times with %d tiles along K, and "
                  "%" PRIu64 " times with %d: leave those of the last tile open, and free the tile before it",
                  few, FEW, many, MANY);
}
