// The check of exercise 19b.
#include "../exercise.h"

enum { BM = 64, BN = 128, BK = 64, THREADS = 128, BOX = 64, STAGES = 3, PART = 64 };
enum { STAGE = 2 * (BM * BK + BK * BN), ROOM = STAGES * STAGE + 2 * BM * PART };  // bytes
enum { M = 128, N = 256, K = 64, BOXES = M / BM * (N / BOX) };

static const struct ex_gemm gemm = {
    DEV_F16,
    { .bm = BM,
      .bn = BN,
      .bk = BK,
      .threads = THREADS,
      .shared = ROOM,
      .wm = 16,
      .wn = BN,
      .box = BOX,
      .blocks = 1,
      .cbox = BM },
    owner_by_fragments,
};

// One tile for a block, several, more tiles along K than stages, and tiles of which a part is outside.
Test(check, 1_the_result_is_right)
{
    ex_is_right(&gemm, BM, BN, BK, 1, 0);
    ex_is_right(&gemm, 4 * BM, 2 * BN, BK, 1, 0);
    ex_is_right(&gemm, 2 * BM, BN, 7 * BK, 1, 0);
    ex_is_right(&gemm, 3 * BM + 5, BN + 72, 2 * BK + 8, -0.5, 0);
}

Test(check, 2_there_is_room_for_three_stages)
{
    char has[TEXT_GROUPED], may[TEXT_GROUPED];
    const int shared = ex_geometry().shared;
    text_grouped((uint64_t)shared, has);
    text_grouped(ROOM, may);
    cr_assert_leq(shared, ROOM,
                  "a block takes %s bytes of shared memory, and may have %s: how many columns of C lie there at once?",
                  has, may);
    cr_assert_geq(shared, ROOM,
                  "a block takes %s bytes of shared memory, and may have %s: is there room for another stage, or for "
                  "more of C?",
                  has, may);
}

Test(check, 3_each_box_of_C_is_stored_once_and_put_without_conflicts)
{
    char have[TEXT_GROUPED], want[TEXT_GROUPED];
    const struct profile *p = ex_count(&gemm, M, N, K);
    const uint64_t least = (uint64_t)M * N * 2 / 128, waves = p->total[METRIC_STSM_WAVE];
    cr_assert_eq(p->total[METRIC_TMA_ST], BOXES, "right result, but TMA stores %s boxes where C has %s",
                 text_grouped(p->total[METRIC_TMA_ST], have), text_grouped(BOXES, want));
    cr_assert_eq(waves, least,
                 "right result, but stmatrix takes %s wavefronts where %s hold all of C: is each part put once, and do "
                 "eight rows of a matrix lie in eight different places?",
                 text_grouped(waves, have), text_grouped(least, want));
}
