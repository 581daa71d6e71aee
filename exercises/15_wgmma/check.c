// The check of exercise 15.

#include "../exercise.h"

enum { BM = 128, BN = 128, BK = 64, THREADS = 128, BOX = 64, WARPS = THREADS / 32 };
enum { M = 256, N = 128, K = 192, BLOCKS = (M / BM) * (N / BN), TILES = K / BK };
enum { PRODUCTS = BK / 16 * BM / 64 };  // of a tile: m64n128k16

// A warp has 16 rows of each half of the tile.
static int owner(const struct geometry *g, int row, int col)
{
    return owner_by_fragments(g, row % 64, col);
}

static const struct ex_gemm gemm = {
    DEV_F16, { .bm = BM, .bn = BN, .bk = BK, .threads = THREADS, .wm = 16, .wn = BN, .box = BOX }, owner
};

// One tile, more of them, and a last one that K does not fill.
Test(check, 1_the_result_is_right)
{
    ex_is_right(&gemm, BM, BN, BK, 1, 0);
    ex_is_right(&gemm, BM, BN, 3 * BK, 1, 0);
    ex_is_right(&gemm, 2 * BM, BN, BK + 8, 1, 0);
    ex_is_right(&gemm, BM, 2 * BN, 200, -0.5, 2);
}

Test(check, 2_the_tensor_cores_multiply)
{
    char have[TEXT_GROUPED], want[TEXT_GROUPED];
    const struct profile *p = ex_count(&gemm, M, N, K);
    const uint64_t wanted = (uint64_t)BLOCKS * TILES * PRODUCTS * WARPS;
    cr_assert_eq(
        p->total[METRIC_GMMA], wanted,
        "right result, but the tensor cores get %s instructions where %s are needed: for each tile %d wgmma by "
        "%d warps, two for each 16 of K",
        text_grouped(p->total[METRIC_GMMA], have), text_grouped(wanted, want), PRODUCTS, WARPS);
}

Test(check, 3_no_thread_reads_the_tiles)
{
    char reads[TEXT_GROUPED];
    const struct profile *p = ex_count(&gemm, M, N, K);
    const uint64_t n = ex_shared_reads(p) + p->total[METRIC_LDSM_INST];
    cr_assert_eq(n, 0,
                 "right result, but warps read shared memory with %s instructions of their own: wgmma finds A and B "
                 "there by its descriptors",
                 text_grouped(n, reads));
}

// A line that waits may hold another instruction of the learner's, so only twice as many are too many.
Test(check, 4_a_tile_is_one_group)
{
    const struct profile *p = ex_count(&gemm, M, N, K);
    const uint64_t waits = ex_on_lines(p, METRIC_INST, "wgmma_wait<") / (BLOCKS * WARPS);
    cr_assert_leq(waits, 2 * TILES,
                  "right result, but a warp waits %" PRIu64 " times for its wgmma in %d tiles, where %d waits suffice: "
                  "the products of a tile may run one after the other without anyone waiting in between",
                  waits, TILES, TILES);
}
