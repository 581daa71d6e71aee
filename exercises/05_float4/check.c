// The check of exercise 05.
#include "../exercise.h"

// A thread's patch: pieces of 4 x 4, wherever the learner put them; named for messages only as far as its rows go.
static const struct ex_gemm gemm = { DEV_F32, { .bm = 64, .bn = 64, .bk = 8, .threads = 64, .tm = 8, .tn = 8 }, NULL };

enum { M = 128, N = 64, K = 64, WARPS = (M / 64) * (N / 64) * 2, TILES = K / 8 };

Test(check, 1_the_result_is_right)
{
    ex_is_right(&gemm, M, N, K, 1, 0);
    ex_is_right(&gemm, 64, 192, 8, -0.5, 2);
}

Test(check, 2_every_load_from_A_and_B_is_128_bits_wide)
{
    const struct profile *p = ex_count(&gemm, M, N, K);
    const uint64_t requests = p->total[METRIC_GLD_REQ] / (WARPS * TILES);
    const uint64_t of_A = ex_on_lines(p, METRIC_GLD_REQ, "A["), of_B = ex_on_lines(p, METRIC_GLD_REQ, "B[");
    cr_assert_eq(requests, 4,
                 "right result, but a warp makes %" PRIu64
                 " requests for a tile of A and one of B, where 4 of 128 bits "
                 "do: look at the loads of %s",
                 requests,
                 of_A == of_B  ? "A and of B"
                 : of_A > of_B ? "A"
                               : "B");
}

Test(check, 3_the_stores_to_shared_memory_have_no_conflicts)
{
    char number[TEXT_GROUPED];
    const struct profile *p = ex_count(&gemm, M, N, K);
    const uint64_t conflicts = p->total[METRIC_SST_CONF];
    cr_assert_eq(conflicts, 0,
                 "right result, but the stores to As and Bs have %s bank conflicts: lanes 0 and 1 store 4 rows of As "
                 "apart. In which banks are they? See what PAD does to that",
                 text_grouped(conflicts, number));
}

Test(check, 4_the_shared_tiles_are_read_in_as_few_wavefronts_as_can_be)
{
    const struct profile *p = ex_count(&gemm, M, N, K);
    const uint64_t waves = p->total[METRIC_SLD_WAVE] / (WARPS * K);
    const uint64_t conflicts = p->total[METRIC_SLD_CONF] / (WARPS * K);
    const uint64_t of_B = ex_on_lines(p, METRIC_SLD_CONF, "Bs[k]");
    cr_assert_eq(
        conflicts, 0,
        "right result, but the shared loads of one k take %" PRIu64 " wavefronts where %" PRIu64
        " are possible; look at how %s is read: a load of 128 bits goes in phases of 8 lanes, and their 8 times "
        "16 bytes fill the 32 banks once if they lie side by side",
        waves, waves - conflicts, of_B ? "Bs" : "As");
}
