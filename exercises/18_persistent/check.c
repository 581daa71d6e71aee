// The check of exercise 18.
#include "../exercise.h"

enum { BM = 64, BN = 64, BK = 64, THREADS = 256, BOX = 64 };
enum { M = 320, N = 192, K = 192, BOXES = (M / BM) * (N / BN) * (K / BK) * 2 };

static const struct ex_gemm gemm = {
    DEV_F16,
    { .bm = BM, .bn = BN, .bk = BK, .threads = THREADS, .wm = 16, .wn = BN, .box = BOX, .blocks = 1 },
    owner_by_fragments,
};

// A tile of C for a block; several, with one, two and three tiles along K; a last group of fewer rows, and tiles of
// which a part is outside.
Test(check, 1_the_result_is_right)
{
    ex_is_right(&gemm, BM, 2 * BN, BK, 1, 0);
    ex_is_right(&gemm, 2 * BM, 2 * BN, BK, 1, 0);
    ex_is_right(&gemm, 2 * BM, 3 * BN, 2 * BK, 1, 0);
    ex_is_right(&gemm, 5 * BM, 3 * BN, 3 * BK, 1, 0);
    ex_is_right(&gemm, 5 * BM + 7, 2 * BN + 24, BK + 8, -0.5, 0);
}

Test(check, 2_each_tile_is_computed_once)
{
    char have[TEXT_GROUPED], want[TEXT_GROUPED];
    const struct profile *p = ex_count(&gemm, M, N, K);
    cr_assert_eq(
        p->total[METRIC_TMA_LD], BOXES,
        "right result, but the blocks ask for %s boxes where all tiles together need %s: which block has which "
        "tile of C?",
        text_grouped(p->total[METRIC_TMA_LD], have), text_grouped(BOXES, want));
}
