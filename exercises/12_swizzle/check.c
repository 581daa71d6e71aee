// The check of exercise 12.
#include <stdio.h>

#include "../exercise.h"

enum { ROWS = 32, CHUNK = 8, PLACES = 8, HALVES = 2, MOST = ROWS * 128, WARP = 32, IDEAL = 4 };

static const int pitches[] = { 16, 32, 64, 128 };
enum { PITCHES = sizeof pitches / sizeof *pitches };

static struct {
    int B, M, S, place[MOST];
} answer;

// What the learner's table and swizzle() say for a pitch.
static void ask(struct ex *x, int pitch)
{
    char kernel[32];
    dev_ptr out = ex_buffer(x, "places", NULL, sizeof answer);
    const struct dev_arg args[] = { DEV_ARG(out) };
    snprintf(kernel, sizeof kernel, "places_%d", pitch);
    ex_launch(x, kernel, &(struct dev_launch){ .block = { WARP }, .args = args, .n_args = 1 });
    ex_read(x, &answer, out, (size_t)(3 + ROWS * pitch) * sizeof(int));
}

static const struct profile *launch(struct ex *x, int pitch, unsigned short *back, bool again)
{
    unsigned short numbers[MOST];
    char kernel[32];
    for (int i = 0; i < ROWS * pitch; i++)
        numbers[i] = back[i] = (unsigned short)i;
    const size_t bytes = (size_t)(ROWS * pitch) * HALVES;
    dev_ptr in = ex_buffer(x, "in", numbers, bytes), out = ex_buffer(x, "out", NULL, bytes);
    const struct dev_arg args[] = { DEV_ARG(in), DEV_ARG(out) };
    const struct dev_launch l = { .block = { WARP }, .args = args, .n_args = 2 };
    snprintf(kernel, sizeof kernel, "pitch_%d", pitch);
    const struct profile *p = again ? ex_relaunch(x, kernel, &l) : ex_launch(x, kernel, &l);
    ex_read(x, back, out, bytes);
    return p;
}

// Do the places of this pitch's chunks make a tile of whole chunks, each in its own row? Else nothing follows.
static bool in_order(int pitch)
{
    bool taken[MOST] = { false };
    for (int i = 0; i < ROWS * pitch; i++) {
        const int at = answer.place[i];
        if (at < 0 || at / pitch != i / pitch || at % CHUNK != i % CHUNK || taken[at])
            return false;
        taken[at] = true;
    }
    return true;
}

Test(check, 1_every_chunk_of_8_halves_stays_whole)
{
    static const char *const why =
        "An 8 x 8 matrix has rows of 8 halves, 16 bytes, which ldmatrix takes as they lie, from a multiple of 16 bytes "
        "on. Which bits of an index number the halves of a chunk? M is the first bit above them";
    struct ex x = ex_open(DEV_SIM);
    for (int p = 0; p < PITCHES; p++) {
        const int pitch = pitches[p];
        ask(&x, pitch);
        for (int i = 0; i < ROWS * pitch; i++) {
            const int first = answer.place[i / CHUNK * CHUNK], chunk = i % pitch / CHUNK, e = i % CHUNK;
            cr_assert(first % CHUNK == 0,
                      "at a pitch of %d halves, B = %d, M = %d, S = %d, chunk %d of row %d is torn: it begins at half "
                      "%d of the tile, no multiple of %d. %s",
                      pitch, answer.B, answer.M, answer.S, chunk, i / pitch, first, CHUNK, why);
            cr_assert(answer.place[i] == first + e,
                      "at a pitch of %d halves, B = %d, M = %d, S = %d, chunk %d of row %d is torn: it begins at half "
                      "%d of the tile, but its half %d lies at %d. %s",
                      pitch, answer.B, answer.M, answer.S, chunk, i / pitch, first, e, answer.place[i], why);
        }
    }
    ex_close(&x);
}

Test(check, 2_every_half_has_a_place_of_its_own_in_the_tile)
{
    struct ex x = ex_open(DEV_SIM);
    for (int p = 0; p < PITCHES; p++) {
        const int pitch = pitches[p];
        int holds[MOST];
        ask(&x, pitch);
        for (int i = 0; i < ROWS * pitch; i++)
            holds[i] = -1;
        for (int i = 0; i < ROWS * pitch; i++) {
            const int at = answer.place[i];
            cr_assert(at >= 0 && at < ROWS * pitch,
                      "at a pitch of %d halves, row %d, column %d lies outside of the tile, at %d of %d halves. A "
                      "swizzle changes the order within the tile: not a byte more",
                      pitch, i / pitch, i % pitch, at, ROWS * pitch);
            cr_assert(
                holds[at] < 0,
                "at a pitch of %d halves, row %d, column %d and row %d, column %d lie in one place. XOR with bits "
                "that stay as they are can be undone, so that no two meet; OR and + cannot",
                pitch, holds[at] / pitch, holds[at] % pitch, i / pitch, i % pitch);
            holds[at] = i;
        }
    }
    ex_close(&x);
}

Test(check, 3_every_chunk_stays_in_its_row)
{
    struct ex x = ex_open(DEV_SIM);
    for (int p = 0; p < PITCHES; p++) {
        const int pitch = pitches[p];
        ask(&x, pitch);
        for (int i = 0; i < ROWS * pitch; i += CHUNK)
            cr_assert_eq(answer.place[i] / pitch, i / pitch,
                         "at a pitch of %d halves, B = %d, M = %d, S = %d, chunk %d of row %d leaves its row for row "
                         "%d. Which bits of the index number the %d chunk%s of a row? B says how many may change",
                         pitch, answer.B, answer.M, answer.S, i % pitch / CHUNK, i / pitch, answer.place[i] / pitch,
                         pitch / CHUNK, pitch / CHUNK > 1 ? "s" : "");
    }
    ex_close(&x);
}

static void comes_back(enum dev_kind kind)
{
    unsigned short back[MOST];
    struct ex x = ex_open(kind);
    for (int p = 0; p < PITCHES; p++) {
        const int pitch = pitches[p];
        ask(&x, pitch);
        if (!in_order(pitch))
            cr_skip_test("first every chunk needs a place of its own, in its row");
        launch(&x, pitch, back, false);
        for (int i = 0; i < ROWS * pitch; i++)
            cr_assert_eq(back[i], i,
                         "on %s, at a pitch of %d halves: what came out as row %d, column %d holds the half of row %d, "
                         "column %d. The tile is written through swizzle(), each chunk by the index of its first half: "
                         "is that the index by which it is read, row, column and all, before the swizzle?",
                         dev_about(x.dev)->name, pitch, i / pitch, i % pitch, back[i] / pitch, back[i] % pitch);
    }
    ex_close(&x);
}

Test(check, 4_the_tile_comes_back_as_it_was)
{
    comes_back(DEV_SIM);
}

Test(check, 5_the_tile_comes_back_on_the_GPU)
{
    comes_back(DEV_GPU);
}

Test(check, 6_ldmatrix_and_the_stores_have_no_conflicts)
{
    unsigned short back[MOST];
    struct ex x = ex_open(DEV_SIM);
    for (int p = 0; p < PITCHES; p++) {
        const int pitch = pitches[p];
        ask(&x, pitch);
        const struct profile *count = launch(&x, pitch, back, true);
        const uint64_t tiles = (uint64_t)(ROWS / 16 * pitch / 16);
        const uint64_t waves = count->total[METRIC_LDSM_WAVE], conflicts = count->total[METRIC_SST_CONF];
        char places[2 * PLACES + 1];
        for (int r = 0; r < PLACES; r++) {
            places[2 * r] = ' ';
            places[2 * r + 1] = (char)('0' + answer.place[r * pitch] / CHUNK % PLACES);
        }
        places[2 * PLACES] = '\0';
        for (int i = 0; i < ROWS * pitch; i++)
            if (back[i] != i)
                cr_skip_test("first the tile has to come back as it was");
        cr_assert_eq(count->total[METRIC_LDSM_INST], tiles, "each 16 x 16 tile takes one ldmatrix.x4");
        cr_assert_eq(
            waves, IDEAL * tiles,
            "right result, but at a pitch of %d halves, B = %d, M = %d, S = %d, one ldmatrix.x4 takes %" PRIu64
            " wavefronts where %d are possible. 128 bytes, all the banks, have eight places of 16 bytes: chunk "
            "0 of rows 0 to 7 lies at places%s. Which bits of the index tell those rows apart that meet? S is "
            "how far they are above the bits of the place, B how many there are",
            pitch, answer.B, answer.M, answer.S, waves / tiles, IDEAL, places);
        cr_assert_eq(conflicts, 0,
                     "right result, but at a pitch of %d halves the stores have %" PRIu64 " conflicts: 8 lanes write "
                     "chunks that should fill 128 bytes",
                     pitch, conflicts);
    }
    ex_close(&x);
}

Test(check, 7_and_not_a_byte_more)
{
    unsigned short back[MOST];
    struct ex x = ex_open(DEV_SIM);
    for (int p = 0; p < PITCHES; p++) {
        const int pitch = pitches[p];
        const unsigned bytes = (unsigned)(ROWS * pitch * HALVES);
        const struct profile *count = launch(&x, pitch, back, true);
        cr_assert_eq(count->shared, bytes,
                     "at a pitch of %d halves the tile takes %u bytes where its %d x %d halves are %u", pitch,
                     count->shared, ROWS, pitch, bytes);
    }
    ex_close(&x);
}
