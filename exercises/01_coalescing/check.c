// The check of exercise 01.
#include "../exercise.h"

enum { BM = 16, BN = 32, THREADS = BM * BN };

static const struct ex_gemm gemm = { DEV_F32, { .bm = BM, .bn = BN, .threads = THREADS }, owner_by_patches };

Test(check, 1_the_result_is_right_past_every_edge)
{
    ex_is_right(&gemm, 16, 32, 20, 1, 0);  // one block
    ex_is_right(&gemm, 48, 64, 20, 1, 0);
    ex_is_right(&gemm, 37, 75, 19, -0.5, 2);
    ex_is_right(&gemm, 3, 1, 5, 1, 0);
}

// Whole tiles only: each warp has 32 elements to compute.
static const int shapes[][3] = { { 48, 32, 24 }, { 16, 96, 40 } };

Test(check, 2_a_warp_reads_one_line_of_B_and_one_element_of_A)
{
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const int m = shapes[i][0], n = shapes[i][1], k = shapes[i][2];
        const uint64_t turns = (uint64_t)m * n / 32 * k;  // of a warp round the loop over k
        const struct profile *p = ex_count(&gemm, m, n, k);
        const uint64_t seen = p->total[METRIC_GLD_SEC], wanted = turns * (1 + 32 * sizeof(float) / 32);
        cr_assert_leq(seen, wanted,
                      "right result, but for one k a warp fetches %.3g sectors of 32 bytes, %.3g for A and %.3g for B, "
                      "where 5 do: 1 for A, if all lanes want the same element, and 4 for B, if 32 lanes want 32 "
                      "neighbours. Which of row and col changes from one lane to the next?",
                      (double)seen / turns, (double)ex_on_lines(p, METRIC_GLD_SEC, "A[") / turns,
                      (double)ex_on_lines(p, METRIC_GLD_SEC, "B[") / turns);
    }
}

Test(check, 3_a_warp_stores_one_line_of_C)
{
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const int m = shapes[i][0], n = shapes[i][1], k = shapes[i][2];
        const struct profile *p = ex_count(&gemm, m, n, k);
        const uint64_t warps = (uint64_t)m * n / 32, seen = p->total[METRIC_GST_SEC];
        cr_assert_leq(seen, warps * 4,
                      "right result, but a warp stores its 32 elements of C to %.3g sectors of 32 bytes, where 4 hold "
                      "them: neighbouring lanes want neighbouring columns",
                      (double)seen / warps);
    }
}
