// The check of exercise 02.
#include "../exercise.h"

enum { BM = 16, BN = 32, BK = 16, THREADS = BM * BN };

static const struct ex_gemm gemm = { DEV_F32, { .bm = BM, .bn = BN, .bk = BK, .threads = THREADS }, owner_by_patches };

static const int shapes[][3] = { { 16, 32, 64 }, { 37, 75, 90 } };

static uint64_t up(int a, int b)
{
    return (uint64_t)((a + b - 1) / b);
}

Test(check, 1_the_result_is_right_and_nothing_races)
{
    ex_is_right(&gemm, BM, BN, BK, 1, 0);  // one block, one tile
    ex_is_right(&gemm, BM, BN, 3 * BK, 1, 0);
    ex_is_right(&gemm, 37, 75, 41, -0.5, 2);
}

Test(check, 2_the_product_reads_the_tiles)
{
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const int m = shapes[i][0], n = shapes[i][1], k = shapes[i][2];
        const struct profile *p = ex_count(&gemm, m, n, k);
        const double tiles = (double)(up(m, BM) * up(n, BN) * up(k, BK));
        const int wanted = BM * BK / 32 + BK * BN / 32;  // of 32 lanes each
        cr_assert_leq(
            p->total[METRIC_GLD_REQ], tiles * wanted,
            "right result, but a block makes %.3g requests to A and B for a tile, where the %d of its copies do: "
            "look at where the product reads, and whether each element is copied once",
            p->total[METRIC_GLD_REQ] / tiles, wanted);
    }
}

Test(check, 3_there_are_two_barriers_for_a_tile)
{
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const int m = shapes[i][0], n = shapes[i][1], k = shapes[i][2];
        const struct profile *p = ex_count(&gemm, m, n, k);
        const uint64_t tiles = up(m, BM) * up(n, BN) * up(k, BK), seen = p->total[METRIC_BAR] / (THREADS / 32);
        cr_assert_leq(seen, 2 * tiles, "right result, but a warp waits at %.3g barriers for a tile where 2 do: %s",
                      (double)seen / tiles,
                      seen < BK * tiles ? "one barrier too many. Which one can you take out without a race?"
                                        : "look at the loop over k, where nobody writes to the tiles");
    }
}
