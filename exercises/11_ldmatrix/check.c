// The check of exercise 11.
#include <stdio.h>

#include "../exercise.h"

enum { WARP = 32, SIDE = 16, HALVES = SIDE * SIDE, MATRIX = 8 };

static const struct ex_gemm gemm = { DEV_F16,
                                     { .bm = 32, .bn = 32, .bk = 32, .threads = 4 * WARP, .wm = 16, .wn = 16 },
                                     owner_by_fragments };

// Runs one of the kernels that answer, by one warp.
static const struct profile *ask(struct ex *x, const char *kernel, void *answer, size_t bytes, bool again)
{
    dev_ptr out = ex_buffer(x, "out", NULL, bytes);
    const struct dev_arg args[] = { DEV_ARG(out) };
    const struct dev_launch l = { .block = { WARP }, .args = args, .n_args = 1 };
    const struct profile *p = again ? ex_relaunch(x, kernel, &l) : ex_launch(x, kernel, &l);
    ex_read(x, answer, out, bytes);
    return p;
}

// Row and column of a 16 x 16 tile at which row r of matrix i begins.
static int row_of(int i, int r)
{
    return i % 2 * MATRIX + r;
}
static int col_of(int i)
{
    return i / 2 * MATRIX;
}

// The first lane that gives another address, or WARP.
static int wrong_lane(struct ex *x, int *row, int *col)
{
    enum { LD = 40 };
    int address[WARP], lane = 0;
    ask(x, "addresses", address, sizeof address, false);
    while (lane < WARP && address[lane] == row_of(lane / MATRIX, lane % MATRIX) * LD + col_of(lane / MATRIX))
        lane++;
    if (lane < WARP)
        *row = address[lane] / LD, *col = address[lane] % LD;
    return lane;
}

Test(check, 1_each_lane_gives_the_address_of_its_row)
{
    int row, col;
    struct ex x = ex_open(DEV_SIM);
    const int lane = wrong_lane(&x, &row, &col);
    cr_assert_eq(
        lane, WARP,
        "row_of: lane %d gives row %d, column %d. ldmatrix takes from this lane the address of row %d of matrix "
        "%d: at which row and column of the 16 x 16 tile does that matrix begin?",
        lane, row, col, lane % MATRIX, lane / MATRIX);
    ex_close(&x);
}

// "columns 2 and 3 of row 0", from the indices of two halves
static void describe(char text[64], unsigned first, unsigned second)
{
    const unsigned row = first / SIDE, col = first % SIDE;
    if (second == first + 1 && col + 1 < SIDE)
        snprintf(text, 64, "columns %u and %u of row %u", col, col + 1, row);
    else if (second == first + SIDE)
        snprintf(text, 64, "rows %u and %u of column %u", row, row + 1, col);
    else
        snprintf(text, 64, "row %u, column %u and row %u, column %u", row, col, second / SIDE, second % SIDE);
}

static void holds(const char *kernel, char name, bool columns)
{
    unsigned x[4][WARP];
    int row, col;
    struct ex e = ex_open(DEV_SIM);
    const bool addresses_right = wrong_lane(&e, &row, &col) == WARP;
    ask(&e, kernel, x, sizeof x, !addresses_right);
    for (int q = 0; q < 4; q++)
        for (int lane = 0; lane < WARP; lane++) {
            const int along = lane % 4 * 2, across = lane / 4;
            const int first =
                (row_of(q, 0) + (columns ? along : across)) * SIDE + col_of(q) + (columns ? across : along);
            const int second = first + (columns ? SIDE : 1);
            const unsigned lo = x[q][lane] & 0xffff, hi = x[q][lane] >> 16;
            char got[64], want[64];
            if (lo == (unsigned)first && hi == (unsigned)second)
                continue;
            if (!addresses_right)
                cr_skip_test("first each lane has to give the address of its row");
            describe(got, lo, hi);
            describe(want, (unsigned)first, (unsigned)second);
            cr_assert(
                false,
                "%c's fragment: lane %d holds in x[%d] %s, and mma wants %s there. In shared memory neighbours of a "
                "row lie side by side; a register of %c is to hold neighbours of a %s: plain or transposed?",
                name, lane, q, got, want, name, columns ? "column" : "row");
        }
    ex_close(&e);
}

Test(check, 2_each_lane_holds_its_part_of_A)
{
    holds("fragment_a", 'A', false);
}

Test(check, 3_each_lane_holds_its_part_of_B)
{
    holds("fragment_b", 'B', true);
}

// The first half of C's tile that is in the wrong place, or HALVES; tile has what is where.
static int wrong_half(struct ex *x, unsigned short tile[HALVES], bool again)
{
    int i = 0;
    ask(x, "rows_c", tile, HALVES * sizeof *tile, again);
    while (i < HALVES && tile[i] == i)
        i++;
    return i;
}

Test(check, 4_the_parts_of_C_come_back_to_their_rows)
{
    unsigned short tile[HALVES];
    int row, col;
    struct ex x = ex_open(DEV_SIM);
    const bool addresses_right = wrong_lane(&x, &row, &col) == WARP;
    const int i = wrong_half(&x, tile, !addresses_right);
    if (i < HALVES) {
        if (!addresses_right)
            cr_skip_test("first each lane has to give the address of its row");
        const int r = i / SIDE % MATRIX, matrix = i / SIDE / MATRIX + i % SIDE / MATRIX * 2;
        cr_assert(
            false,
            "C's rows: row %d, column %d of the tile is the half of row %d, column %d. It is in row %d of matrix %d, "
            "which lane %d stores, and it comes from x[%d] of lane %d. In a shuffle the lane that is asked offers "
            "the register that it names itself, not the one that the asker names: who asks whom, and for which?",
            i / SIDE, i % SIDE, tile[i] / SIDE, tile[i] % SIDE, r, matrix, matrix * MATRIX + r, matrix,
            r * 4 + i % MATRIX / 2);
    }
    ex_close(&x);
}

Test(check, 5_the_product_is_right)
{
    unsigned short tile[HALVES];
    struct ex x = ex_open(DEV_SIM);
    if (wrong_half(&x, tile, true) < HALVES)
        cr_skip_test("first the parts of C have to come back to their rows");
    ex_close(&x);
    ex_is_right(&gemm, 64, 32, 64, 1, 0);
    ex_is_right(&gemm, 32, 96, 32, -0.5, 2);
}

Test(check, 6_a_fragment_is_one_ldmatrix)
{
    enum { M = 64, N = 32, K = 96 };
    static const char *const kernels[] = { "fragment_a", "fragment_b" };
    unsigned words[4 * WARP];
    const struct profile *p = ex_count(&gemm, M, N, K);
    const uint64_t products = (M / SIDE) * (N / SIDE) * (K / SIDE), seen = p->total[METRIC_LDSM_INST];
    const uint64_t conflicts = p->total[METRIC_LDSM_CONF];
    struct ex x = ex_open(DEV_SIM);
    for (int i = 0; i < 2; i++) {
        p = ask(&x, kernels[i], words, sizeof words, true);
        cr_assert(p->total[METRIC_LDSM_INST] == 1 && !p->total[METRIC_SLD_INST],
                  "right result, but load_%c reads its fragment in %" PRIu64 " ordinary loads and %" PRIu64
                  " ldmatrix, where one ldmatrix.x4 does it all",
                  "ab"[i], p -> total[METRIC_SLD_INST], p -> total[METRIC_LDSM_INST]);
    }
    cr_assert_eq(seen, 2 * products,
                 "right result, but %" PRIu64 " ldmatrix.x4 for %" PRIu64 " products of 16 x 16 x 16", seen, products);
    cr_assert_eq(conflicts, 0, "right result, but ldmatrix has %" PRIu64 " conflicts: are its rows LD apart?",
                 conflicts);
    ex_close(&x);
}

Test(check, 7_a_row_of_a_matrix_is_one_store)
{
    unsigned short tile[HALVES];
    ex_count(&gemm, 32, 32, 32);  // is it right?
    struct ex x = ex_open(DEV_SIM);
    const struct profile *p = ask(&x, "rows_c", tile, sizeof tile, true);
    cr_assert_eq(p->total[METRIC_SST_INST], 1,
                 "right result, but store_c takes %" PRIu64
                 " stores where 1 of 128 bits will do: lane 8 i + r stores row "
                 "r of matrix i. Its 8 halves are in registers x[i] of four lanes; let shuffles bring them together",
                 p->total[METRIC_SST_INST]);
    cr_assert_eq(p->total[METRIC_SST_CONF], 0, "right result, but the store has %" PRIu64 " bank conflicts",
                 p->total[METRIC_SST_CONF]);
    ex_close(&x);
}
