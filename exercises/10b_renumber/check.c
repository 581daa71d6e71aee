// The check of exercise 10b.
#include <stdio.h>
#include <stdlib.h>

#include "../exercise.h"

enum { BM = 64, BK = 32, LD = 40, THREADS = 128, CHUNK = 8, ROWS = THREADS / (BK / CHUNK), K = 96, PLACES = 8 };
enum { SECTORS = BM * BK * 2 / 32 };

static void read_places(enum dev_kind kind, int out[THREADS][2])
{
    struct ex x = ex_open(kind);
    dev_ptr p = ex_buffer(&x, "out", NULL, sizeof(int[THREADS][2]));
    const struct dev_arg args[] = { DEV_ARG(p) };
    ex_launch(&x, "places", &(struct dev_launch){ .block = { THREADS }, .args = args, .n_args = 1 });
    ex_read(&x, out, p, sizeof(int[THREADS][2]));
    ex_close(&x);
}

Test(check, 1_every_chunk_has_one_thread)
{
    int places[THREADS][2], taker[ROWS][BK / CHUNK] = { 0 };
    read_places(DEV_SIM, places);
    for (int t = 0; t < THREADS; t++) {
        const int row = places[t][0], col = places[t][1];
        cr_assert(
            row >= 0 && row < ROWS,
            "thread %d copies row %d, but the block copies rows 0 to %d at once. A row has %d chunks: how many threads "
            "does a row take?",
            t, row, ROWS - 1, BK / CHUNK);
        cr_assert(col >= 0 && col < BK && col % CHUNK == 0,
                  "thread %d begins at column %d: a chunk begins at a multiple of 8, up to %d", t, col, BK - CHUNK);
        int *other = &taker[row][col / CHUNK];
        cr_assert(!*other, "row %d, column %d is the chunk of thread %d, and is also that of thread %d", row, col, t,
                  *other - 1);
        *other = t + 1;
    }
}

// The counters of a copy. Fails where the tile is wrong.
static const struct profile *copied(struct ex *x)
{
    uint16_t A[BM * K], out[BM * BK];
    for (int i = 0; i < BM * K; i++)
        A[i] = (uint16_t)i;
    dev_ptr a = ex_buffer(x, "A", A, sizeof A), o = ex_buffer(x, "out", NULL, sizeof out);
    const int k = K;
    const struct dev_arg args[] = { DEV_ARG(k), DEV_ARG(a), DEV_ARG(o) };
    const struct profile *p =
        ex_launch(x, "copy", &(struct dev_launch){ .block = { THREADS }, .args = args, .n_args = 3 });
    ex_read(x, out, o, sizeof out);
    for (int i = 0; i < BM * BK; i++)
        cr_assert_eq(out[i], A[i / BK * K + i % BK], "on %s row %d, column %d of As is not what A has there",
                     dev_about(x->dev)->name, i / BK, i % BK);
    return p;
}

Test(check, 2_the_tile_is_right)
{
    struct ex x = ex_open(DEV_SIM);
    copied(&x);
    ex_close(&x);
}

Test(check, 3_the_tile_is_right_on_the_GPU)
{
    struct ex x = ex_open(DEV_GPU);
    copied(&x);
    ex_close(&x);
}

// A right copy cannot do with less than this; without its mark the line is not counted.
static void expect_the_mark(uint64_t seen, uint64_t least)
{
    cr_assert_geq(seen, least, "the line that copies has lost its mark, // the copy: it says which line is counted");
}

Test(check, 4_A_is_read_by_whole_sectors)
{
    struct ex x = ex_open(DEV_SIM);
    const uint64_t sectors = ex_on_lines(copied(&x), METRIC_GLD_SEC, "// the copy");
    expect_the_mark(sectors, SECTORS);
    cr_assert_leq(sectors, SECTORS,
                  "right result, but the tile is read in %" PRIu64
                  " sectors of 32 bytes, where %d hold it: each is fetched "
                  "twice. Two neighbours of a row, 32 bytes, belong to lanes of the same warp",
                  sectors, SECTORS);
    ex_close(&x);
}

Test(check, 5_the_stores_have_no_conflicts)
{
    int places[THREADS][2];
    struct ex x = ex_open(DEV_SIM);
    const struct profile *p = copied(&x);
    const uint64_t conflicts = ex_on_lines(p, METRIC_SST_CONF, "// the copy");
    const uint64_t waves = ex_on_lines(p, METRIC_SST_WAVE, "// the copy");
    ex_close(&x);
    expect_the_mark(waves, BM * BK * 2 / 128);
    if (!conflicts)
        return;
    read_places(DEV_SIM, places);
    for (int first = 0; first < THREADS; first += PLACES) {
        char list[4 * PLACES] = "";
        int taken[PLACES] = { 0 }, twice = -1;
        for (int t = first; t < first + PLACES; t++) {
            const int place = (places[t][0] * LD + places[t][1]) / CHUNK % PLACES;
            snprintf(list + 2 * (t - first), 4, " %d", place);
            if (taken[place]++)
                twice = place;
        }
        cr_assert(
            twice < 0,
            "right result, but the stores of the copy take %" PRIu64 " wavefronts, of which %" PRIu64
            " are bank conflicts. 8 lanes store together. 128 bytes, all the banks, have eight places of 16 bytes: "
            "lanes %d to %d store to places%s, so place %d comes twice. Which row, of those near row %d, has its four "
            "chunks in the other places?",
            waves, conflicts, first, first + PLACES - 1, list, twice, places[first][0]);
    }
    cr_assert(false, "right result, but the stores of the copy have %" PRIu64 " bank conflicts", conflicts);
}

Test(check, 6_and_not_a_byte_more)
{
    struct ex x = ex_open(DEV_SIM);
    const unsigned shared = copied(&x)->shared, wanted = BM * LD * 2;
    ex_close(&x);
    cr_assert_eq(shared, wanted, "the tile takes %u bytes of shared memory, and %u with the padding that was given",
                 shared, wanted);
}
