// The check of exercise 04.
#include "../exercise.h"

enum { BM = 64, BN = 64, BK = 8, TM = 8, TN = 4, THREADS = BM / TM * (BN / TN) };

static const struct ex_gemm gemm = { DEV_F32,
                                     { .bm = BM, .bn = BN, .bk = BK, .threads = THREADS, .tm = TM, .tn = TN },
                                     owner_by_patches };

Test(check, 1_the_result_is_right)
{
    ex_is_right_at_edges(&gemm);
}

Test(check, 2_the_product_reads_the_tiles)
{
    ex_reads_the_tiles(&gemm);
}

Test(check, 3_each_value_is_read_once_for_a_k)
{
    for (int i = 0; i < EX_WHOLE_SHAPES; i++) {
        const double reads = ex_reads_for_a_multiply_add(&gemm, i);
        const double wanted = (double)(TM + TN) / (TM * TN);
        cr_assert_leq(
            reads, wanted,
            "right result, but a multiply-add takes %.4g reads of shared memory where (TM + TN) / (TM TN) = "
            "%.4g do: for each k TM values of As and TN of Bs, and from them TM TN products. Look at the shape "
            "of a thread's patch, and whether a value is read again",
            reads, wanted);
    }
}

Test(check, 4_the_lanes_of_a_warp_read_without_conflicts)
{
    char number[TEXT_GROUPED];
    for (int i = 0; i < EX_WHOLE_SHAPES; i++) {
        const struct profile *p = ex_count_whole(&gemm, i);
        const uint64_t conflicts = p->total[METRIC_SLD_CONF];
        const uint64_t of_A = ex_on_lines(p, METRIC_SLD_CONF, "As["), of_B = ex_on_lines(p, METRIC_SLD_CONF, "Bs[");
        cr_assert_eq(
            conflicts, 0,
            "right result, but the reads of the tiles have %s bank conflicts, in %s: with patches of TN = 4 columns "
            "side by side, 8 lanes read 32 neighbours in a row of Bs, and 16 lanes the same word of As. Look at "
            "which of row and col changes from lane to lane, by how much, and whether the loop over k is still "
            "unrolled",
            text_grouped(conflicts, number),
            of_B == 0   ? "As"
            : of_A == 0 ? "Bs"
                        : "As and in Bs");
    }
}

Test(check, 5_the_values_of_a_thread_are_in_registers)
{
    ex_keeps_to_registers(&gemm);
}
