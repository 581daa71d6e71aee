// The check of exercise 03.
#include "../exercise.h"

enum { BM = 64, BN = 32, BK = 8, TM = 8, THREADS = BM / TM * BN };

static const struct ex_gemm gemm = { DEV_F32,
                                     { .bm = BM, .bn = BN, .bk = BK, .threads = THREADS, .tm = TM, .tn = 1 },
                                     owner_by_patches };

Test(check, 1_the_result_is_right)
{
    ex_is_right_at_edges(&gemm);
}

Test(check, 2_the_product_reads_the_tiles)
{
    ex_reads_the_tiles(&gemm);
}

Test(check, 3_a_multiply_add_takes_little_more_than_one_read)
{
    for (int i = 0; i < EX_WHOLE_SHAPES; i++) {
        const double reads = ex_reads_for_a_multiply_add(&gemm, i);
        cr_assert_leq(
            reads, (TM + 1.0) / TM,
            "right result, but a multiply-add takes %.4g reads of shared memory where (TM + 1) / TM = %.4g do: "
            "TM values of As and one of Bs for each k. Look at what the product reads besides: the value of "
            "Bs again, or its sums?",
            reads, (TM + 1.0) / TM);
    }
}

Test(check, 4_the_lanes_of_a_warp_read_without_conflicts)
{
    char number[TEXT_GROUPED];
    for (int i = 0; i < EX_WHOLE_SHAPES; i++) {
        const struct profile *p = ex_count_whole(&gemm, i);
        const uint64_t conflicts = p->total[METRIC_SLD_CONF];
        cr_assert_eq(
            conflicts, 0,
            "right result, but the reads of the tiles have %s bank conflicts: with neighbouring columns in the "
            "lanes of a warp, and the same rows, a read of As is one word for all and a read of Bs is 32 "
            "neighbours; look at which of row and col changes from lane to lane",
            text_grouped(conflicts, number));
    }
}

Test(check, 5_a_warp_stores_whole_lines_of_C)
{
    for (int i = 0; i < EX_WHOLE_SHAPES; i++) {
        const struct ex_shape s = ex_whole_shape(&gemm, i);
        const struct profile *p = ex_count_whole(&gemm, i);
        const double stores = (double)s.m * s.n / 32, seen = p->total[METRIC_GST_SEC] / stores;
        cr_assert_leq(seen, 4.0,
                      "right result, but a warp stores 32 elements of C to %.3g sectors, where 4 hold 32 neighbours: a "
                      "thread has rows of one column, so that its neighbour has the next column",
                      seen);
    }
}

Test(check, 6_the_values_of_a_thread_are_in_registers)
{
    ex_keeps_to_registers(&gemm);
}
