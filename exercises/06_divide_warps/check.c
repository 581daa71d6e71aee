// The check of exercise 06.
#include "../exercise.h"

enum { BM = 128, BN = 128, BK = 8, WM = 32, WN = 64, TM = 8, TN = 8, THREADS = 256, PATCH = TM * TN };
enum { M = 128, N = 256, K = 24, WARPS = (M / BM) * (N / BN) * (THREADS / 32) };

static int owners[BM][BN];  // the thread that takes an element of the block's tile: the learner's own division

static int owner(const struct geometry *g, int row, int col)
{
    return g->bm == BM && g->bn == BN ? owners[row][col] : -1;
}

static const struct ex_gemm gemm = {
    DEV_F32, { .bm = BM, .bn = BN, .bk = BK, .threads = THREADS, .tm = TM, .tn = TN, .wm = WM, .wn = WN }, owner
};

struct place {
    int32_t row, col;
};

// Which elements of the block's tile the threads take, PATCH for each thread.
static void read_places(enum dev_kind kind, struct place all[THREADS * PATCH])
{
    struct ex x = ex_open(kind);
    ex_needs(&gemm.given);
    dev_ptr to = ex_buffer(&x, "all", NULL, THREADS * PATCH * sizeof *all);
    const struct dev_arg args[] = { DEV_ARG(to) };
    ex_launch(&x, "places", &(struct dev_launch){ .block = { THREADS }, .args = args, .n_args = 1 });
    ex_read(&x, all, to, THREADS * PATCH * sizeof *all);
    ex_close(&x);
}

Test(check, 1_every_element_of_the_tile_belongs_to_one_thread)
{
    static struct place all[THREADS * PATCH];
    static int taken[BM][BN];  // by this thread, and 1; 0: by nobody yet
    read_places(DEV_SIM, all);
    for (int i = 0; i < THREADS * PATCH; i++) {
        const int r = all[i].row, c = all[i].col, t = i / PATCH;
        cr_assert(
            r >= 0 && r < BM && c >= 0 && c < BN,
            "warp %d, lane %d takes C[%d][%d], outside of the block's tile of %d x %d: %d warp tiles of %d x %d lie "
            "below each other, %d side by side, and in each of them a lane is a number from 0 to 31; look at first()",
            t / 32, t % 32, r, c, BM, BN, BM / WM, WM, WN, BN / WN);
        const int other = taken[r][c] - 1;
        cr_assert(
            other < 0, "warp %d, lane %d and warp %d, lane %d both take C[%d][%d] of the block's tile; look at %s",
            t / 32, t % 32, other / 32, other % 32, r, c,
            other / 32 == t / 32 ? "how a lane's first piece follows from the lane, and at DM and DN: where the "
                                   "pieces of one lane end, the next lane's begin"
                                 : "how a warp's tile follows from the warp, in first(): the warps that lie side by "
                                   "side are counted first, then come those below them");
        taken[r][c] = t + 1;
    }
}

Test(check, 2_the_result_is_right)
{
    static struct place all[THREADS * PATCH];
    read_places(DEV_SIM, all);
    for (int i = 0; i < THREADS * PATCH; i++)
        if ((unsigned)all[i].row < BM && (unsigned)all[i].col < BN)
            owners[all[i].row][all[i].col] = i / PATCH;
    ex_is_right(&gemm, M, N, K, 1, 0);
    ex_is_right(&gemm, 256, 128, 8, -0.5, 2);
}

Test(check, 3_a_warp_owns_a_tile_that_is_as_square_as_can_be)
{
    static struct place all[THREADS * PATCH];
    read_places(DEV_SIM, all);
    for (int w = 0; w < THREADS / 32; w++) {
        bool row[BM] = { 0 }, col[BN] = { 0 };
        int rows = 0, cols = 0;
        for (int i = w * 32 * PATCH; i < (w + 1) * 32 * PATCH; i++) {
            if ((unsigned)all[i].row >= BM || (unsigned)all[i].col >= BN)
                cr_skip_test("first every element has to belong to one thread");
            rows += !row[all[i].row];
            row[all[i].row] = true;
            cols += !col[all[i].col];
            col[all[i].col] = true;
        }
        cr_assert_leq(
            rows + cols, WM + WN,
            "the lanes of warp %d own elements in %d rows and %d columns of C: the warp reads "
            "%.3g KB of a pair of tiles, and %d x %d elements need %.3g; look at how first() finds the warp and "
            "its tile, and at DM and DN",
            w, rows, cols, (rows + cols) * BK * 4 / 1024.0, WM, WN, (WM + WN) * BK * 4 / 1024.0);
    }
}

Test(check, 4_the_shared_tiles_are_read_without_conflicts)
{
    const struct profile *p = ex_count(&gemm, M, N, K);
    const uint64_t conflicts = p->total[METRIC_SLD_CONF] / (WARPS * K);
    const uint64_t of_A = ex_on_lines(p, METRIC_SLD_CONF, "As[k]"), of_B = ex_on_lines(p, METRIC_SLD_CONF, "Bs[k]");
    cr_assert_eq(
        conflicts, 0,
        "right result, but the shared loads of one k have %" PRIu64 " bank conflicts, in the reads of %s: the "
        "pieces of neighbouring lanes have to lie side by side, 4 floats apart, and a lane's own pieces DM rows "
        "and DN columns apart",
        conflicts,
        of_A && of_B ? "As and Bs"
        : of_A       ? "As"
                     : "Bs");
}

Test(check, 5_lanes_that_want_the_same_values_share_wavefronts)
{
    // Each load of 128 bits takes two wavefronts, one for 16 lanes: with 8 rows and 8 columns four loads a k.
    enum { BEST = (TM + TN) / 4 * 2 };
    const struct profile *p = ex_count(&gemm, M, N, K);
    const uint64_t waves = p->total[METRIC_SLD_WAVE] / (WARPS * K);
    const uint64_t of_A = ex_on_lines(p, METRIC_SLD_WAVE, "As[k]"), of_B = ex_on_lines(p, METRIC_SLD_WAVE, "Bs[k]");
    cr_assert_leq(
        waves, BEST,
        "right result, but the shared loads of one k take %" PRIu64 " wavefronts where %d are possible; look at "
        "%s: which lanes read the same piece of it? Two phases of 8 lanes become one only where lanes i and i ^ 1 "
        "read the same 16 bytes, or lanes i and i ^ 2, all over 16 lanes",
        waves, BEST,
        of_A == of_B  ? "As and Bs"
        : of_A > of_B ? "As"
                      : "Bs");
}

Test(check, 6_the_same_on_the_GPU)
{
    static struct place here[THREADS * PATCH], there[THREADS * PATCH];
    read_places(DEV_GPU, there);
    read_places(DEV_SIM, here);
    cr_assert(!memcmp(here, there, sizeof here), "the GPU divides the tile otherwise than the simulated one does");
}
