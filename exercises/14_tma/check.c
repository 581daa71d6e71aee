// The check of exercise 14.
#include "../exercise.h"

enum { BM = 64, BN = 64, BK = 32, TM = 4, TN = 4, THREADS = BM / TM * (BN / TN), BOX = 32 };

static const struct ex_gemm gemm = {
    DEV_F32,
    { .bm = BM, .bn = BN, .bk = BK, .threads = THREADS, .tm = TM, .tn = TN, .box = BOX },
    owner_by_patches,
};

// More tiles than stages, as many, fewer; and tiles of which a part is outside.
Test(check, 1_the_result_is_right)
{
    ex_is_right(&gemm, 64, 64, 32, 1, 0);
    ex_is_right(&gemm, 64, 128, 64, 1, 0);
    ex_is_right(&gemm, 128, 64, 224, -0.5, 2);
    ex_is_right(&gemm, 67, 36, 100, 1, 0);
}

Test(check, 2_a_block_meets_once_and_not_in_every_tile)
{
    const struct profile *p = ex_count(&gemm, 64, 64, 160);
    const uint64_t barriers = p->total[METRIC_BAR] / (THREADS / 32);
    cr_assert_leq(barriers, 1,
                  "right result, but a block meets at %" PRIu64
                  " barriers, where the one that makes the mbarriers known "
                  "suffices: `empty` says when every warp has read a tile, and only the thread that asks has to know",
                  barriers);
}
