// The check of exercise 17: the order of the tiles is read from the kernel named order and judged here.
#include <math.h>
#include <stdlib.h>

#include "../exercise.h"

enum { BM = 8, BN = 16, ROOM = 320 };

static const struct ex_gemm gemm = { DEV_F32, { .bm = BM, .bn = BN, .threads = BM * BN }, owner_by_patches };

struct order {
    int M, N, rows, cols, n;  // rows x cols = n tiles
    int (*begins)[2];         // first row and column of each block's tile
};

static struct order order_of(enum dev_kind kind, int M, int N)
{
    struct order o = { M, N, (M + BM - 1) / BM, (N + BN - 1) / BN, 0, NULL };
    ex_needs(&gemm.given);
    o.n = o.rows * o.cols;
    const size_t bytes = (size_t)o.n * sizeof *o.begins;
    o.begins = malloc(bytes);
    cr_assert(o.begins, "out of memory");
    struct ex x = ex_open(kind);
    const dev_ptr begins = ex_buffer(&x, "begins", NULL, bytes);
    const struct dev_arg args[] = { DEV_ARG(M), DEV_ARG(N), DEV_ARG(begins) };
    ex_launch(&x, "order", &(struct dev_launch){ .grid = { (unsigned)o.n }, .args = args, .n_args = 3 });
    ex_read(&x, o.begins, begins, bytes);
    ex_close(&x);
    return o;
}

// Whether every tile has its block: there are as many blocks as tiles, so none may have two. Else what is wrong, and
// where to look.
static bool complete(const struct order *o, char wrong[ROOM])
{
    int *taker = calloc((size_t)o->n, sizeof *taker);  // of tile (i, j) at i * cols + j: its block + 1
    cr_assert(taker, "out of memory");
    *wrong = 0;
    for (int p = 0; p < o->n && !*wrong; p++) {
        const int row = o->begins[p][0], col = o->begins[p][1], i = row / BM, j = col / BN;
        const bool inside = row >= 0 && col >= 0 && i < o->rows && j < o->cols;
        int used = snprintf(wrong, ROOM, "M %d, N %d: block %d of %d begins at row %d, column %d", o->M, o->N, p, o->n,
                            row, col);
        char *rest = wrong + used;
        const size_t room = ROOM - (size_t)used;
        if (row % BM || col % BN)
            snprintf(rest, room,
                     ", where no tile begins: rows go in steps of %d, columns in steps of %d. Look at how many tiles a "
                     "row of C has where N is no multiple of BN",
                     BM, BN);
        else if (!inside)
            snprintf(rest, room,
                     ", but C has %d rows and %d columns of tiles. Look at how many tiles a row of C has, with the one "
                     "that sticks out, and at the last group, which may be lower than the others",
                     o->rows, o->cols);
        else if (taker[i * o->cols + j])
            snprintf(rest, room,
                     ", tile (%d, %d), as block %d does. Look at how many tiles a row of C has, and which of BM and BN "
                     "belongs to rows",
                     i, j, taker[i * o->cols + j] - 1);
        else {
            taker[i * o->cols + j] = p + 1;
            *wrong = 0;
        }
    }
    free(taker);
    return !*wrong;
}

// On average over all windows of so many consecutive blocks: how many rows and columns of tiles they touch.
static void touched(const struct order *o, int window, double *rows, double *cols)
{
    int *in_row = calloc((size_t)o->rows, sizeof *in_row), *in_col = calloc((size_t)o->cols, sizeof *in_col);
    cr_assert(in_row && in_col, "out of memory");
    double sum_rows = 0, sum_cols = 0;
    int n_rows = 0, n_cols = 0;
    for (int p = 0; p < o->n; p++) {
        n_rows += !in_row[o->begins[p][0] / BM]++;
        n_cols += !in_col[o->begins[p][1] / BN]++;
        if (p >= window) {
            n_rows -= !--in_row[o->begins[p - window][0] / BM];
            n_cols -= !--in_col[o->begins[p - window][1] / BN];
        }
        sum_rows += p >= window - 1 ? n_rows : 0;
        sum_cols += p >= window - 1 ? n_cols : 0;
    }
    *rows = sum_rows / (o->n - window + 1);
    *cols = sum_cols / (o->n - window + 1);
    free(in_row);
    free(in_col);
}

static const int ragged[][2] = { { BM, BN }, { 2 * BM, 3 * BN }, { 21 * BM, 13 * BN },       { 37, 75 },
                                 { 5, 500 }, { 300, 9 },         { 19 * BM + 1, 6 * BN - 1 } };

Test(check, 1_every_tile_has_one_block)
{
    char text[ROOM];
    for (size_t i = 0; i < sizeof ragged / sizeof *ragged; i++) {
        struct order o = order_of(DEV_SIM, ragged[i][0], ragged[i][1]);
        cr_assert(complete(&o, text), "%s", text);
        free(o.begins);
    }
}

Test(check, 2_the_product_is_right)
{
    static const int shapes[][3] = { { 37, 75, 20 }, { 10 * BM, 3 * BN, 7 } };
    char text[ROOM];
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct order o = order_of(DEV_SIM, shapes[i][0], shapes[i][1]);
        if (!complete(&o, text))
            cr_skip_test("first every tile has to have one block");
        free(o.begins);
        ex_is_right(&gemm, shapes[i][0], shapes[i][1], shapes[i][2], i ? -0.5 : 1, i ? 2 : 0);
    }
}

// A patch of h x w = window tiles needs h BM rows of A and w BN columns of B, at best 2 sqrt(window BM BN) in all. Half
// more is granted for what is not square, and for windows that begin in one group and end in the next.
static void is_compact(int window)
{
    static const int large[][2] = { { 61 * BM - 3, 67 * BN - 5 }, { 96 * BM, 40 * BN } };
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        char text[ROOM];
        double rows, cols;
        struct order o = order_of(DEV_SIM, large[i][0], large[i][1]);
        if (!complete(&o, text))
            cr_skip_test("first every tile has to have one block");
        touched(&o, window, &rows, &cols);
        free(o.begins);
        const double best = 2 * sqrt((double)window * BM * BN), seen = rows * BM + cols * BN;
        cr_assert_leq(seen, 1.5 * best,
                      "M %d, N %d: every tile once, but %d consecutive blocks touch on average %.1f rows and %.1f "
                      "columns of tiles. They need %.0f rows of A and columns of B, where %.0f would do for a square "
                      "patch and %.0f are allowed. The patch is too %s: look at which of row and col changes from a "
                      "block to the next, and for how long",
                      o.M, o.N, window, rows, cols, seen, best, 1.5 * best, rows * BM < cols * BN ? "wide" : "tall");
    }
}

Test(check, 3_windows_of_16_blocks_share_rows_and_columns)
{
    is_compact(16);
}

Test(check, 4_so_do_132_blocks_one_for_each_SM_of_an_H200)
{
    is_compact(132);
}

Test(check, 5_a_GPU_says_the_same)
{
    for (size_t i = 0; i < sizeof ragged / sizeof *ragged; i++) {
        struct order gpu = order_of(DEV_GPU, ragged[i][0], ragged[i][1]);
        struct order sim = order_of(DEV_SIM, ragged[i][0], ragged[i][1]);
        for (int p = 0; p < sim.n; p++)
            cr_assert(gpu.begins[p][0] == sim.begins[p][0] && gpu.begins[p][1] == sim.begins[p][1],
                      "M %d, N %d: block %d begins at row %d, column %d on the GPU, at row %d, column %d on the "
                      "simulated one: is a variable used that nobody set?",
                      sim.M, sim.N, p, gpu.begins[p][0], gpu.begins[p][1], sim.begins[p][0], sim.begins[p][1]);
        free(gpu.begins);
        free(sim.begins);
    }
}
