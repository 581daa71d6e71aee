// The check of exercise 13.
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "../exercise.h"

enum { BM = 64, BN = 64, BK = 16, TM = 4, TN = 4, PAD = 4, THREADS = BM / TM * (BN / TN), STAGES = 3 };
enum { M = 128, N = 64, K = 80, BLOCKS = (M / BM) * (N / BN), TILES = K / BK };

static const struct ex_gemm gemm = { DEV_F32,
                                     { .bm = BM, .bn = BN, .bk = BK, .threads = THREADS, .tm = TM, .tn = TN },
                                     owner_by_patches };

// More tiles than stages, as many, fewer.
Test(check, 1_the_result_is_right)
{
    ex_is_right(&gemm, 64, 64, 16, 1, 0);
    ex_is_right(&gemm, 64, 128, 32, 1, 0);
    ex_is_right(&gemm, 64, 64, 48, 1, 0);
    ex_is_right(&gemm, 128, 64, 112, -0.5, 2);
}

Test(check, 2_there_are_three_stages_of_each_tile)
{
    char have[TEXT_GROUPED], want[TEXT_GROUPED];
    const unsigned stage = (BM * (BK + PAD) + BK * BN) * sizeof(float);
    const struct profile *p = ex_count(&gemm, M, N, K);
    cr_assert_eq(p->shared, STAGES * stage,
                 "right result, but the tiles take %s bytes of shared memory, and three stages of them %s; look at "
                 "STAGES",
                 text_grouped(p->shared, have), text_grouped(STAGES * stage, want));
}

Test(check, 3_a_block_meets_at_one_barrier_a_tile)
{
    const struct profile *p = ex_count(&gemm, M, N, K);
    const uint64_t barriers = p->total[METRIC_BAR] / (BLOCKS * THREADS / 32);
    cr_assert_leq(barriers, TILES,
                  "right result, but a block meets at %" PRIu64 " barriers for %d tiles, where %d suffice. Behind the "
                  "one after the wait, this tile is complete, and everyone has read the tile before it: whose stage is "
                  "free then?",
                  barriers, TILES, TILES);
}

Test(check, 4_nothing_but_copies_stores_to_shared_memory)
{
    const struct profile *p = ex_count(&gemm, M, N, K);
    cr_assert_eq(p->total[METRIC_SST_INST], 0,
                 "right result, but %" PRIu64 " ordinary stores go to shared memory: cp.async puts a tile there",
                 p->total[METRIC_SST_INST]);
}

// No counter shows how long a wait takes, so the PTX is read: is there a wait that leaves a group open?
Test(check, 5_a_tile_is_on_its_way_while_one_is_multiplied)
{
    static const char wait[] = "cp.async.wait_group";
    bool leaves_one = false;
    ex_count(&gemm, M, N, K);
    char *ptx = file_read(EX_PTX);
    cr_assert_not_null(ptx);
    for (const char *p = ptx; (p = strstr(p, wait));) {
        p += strlen(wait);
        leaves_one |= p[strspn(p, " \t")] > '0';
    }
    free(ptx);
    cr_assert(leaves_one,
              "right result, but every wait is for all groups, also for the one that has only just set off. "
              "Which of the groups does the next tile need, and how many are younger?");
}
