// The rule that picks a kernel by the shape of the product (tester/choose.h), on the tiles of step 20. What it picks is
// what a GPU was fastest with: the chapter has the measurements.
#include <criterion/criterion.h>

#include <string.h>

#include "tester/choose.h"

enum { SMS = 132 };

static const struct geometries tiles = {
    .n = 5,
    .all = { { .bm = 128, .bn = 256, .bk = 64, .kernel = "gemm" },
             { .bm = 128, .bn = 128, .bk = 64, .kernel = "gemm_128x128" },
             { .bm = 64, .bn = 128, .bk = 64, .kernel = "gemm_64x128" },
             { .bm = 128, .bn = 128, .bk = 64, .split = 1, .kernel = "gemm_128x128_split" },
             { .bm = 64, .bn = 64, .bk = 64, .split = 1, .kernel = "gemm_64x64_split" } },
};

static void expect_choice(int m, int n, int k, const char *kernel, int parts)
{
    const struct geometry g = choose_geometry(&tiles, m, n, k, SMS);
    const int have = g.parts > 1 ? g.parts : 1;
    cr_expect(!strcmp(g.kernel, kernel) && have == parts, "%d x %d x %d: %s, %d blocks a tile, not %s, %d", m, n, k,
              g.kernel, have, kernel, parts);
}

Test(choose, takes_small_tiles_while_they_fit_on_the_card_at_one_time)
{
    expect_choice(512, 512, 512, "gemm_64x128", 1);
    expect_choice(1024, 1024, 1024, "gemm_64x128", 1);
    expect_choice(2048, 2048, 2048, "gemm", 1);
    expect_choice(4096, 4096, 4096, "gemm", 1);
    expect_choice(8192, 8192, 8192, "gemm", 1);
}

Test(choose, splits_k_if_c_is_small_and_k_is_long)
{
    expect_choice(64, 64, 8192, "gemm_64x64_split", 8);
    expect_choice(256, 256, 8192, "gemm_64x64_split", 4);
    expect_choice(512, 512, 8192, "gemm_128x128_split", 4);
    expect_choice(2048, 128, 4096, "gemm_64x64_split", 2);
    expect_choice(512, 512, 512, "gemm_64x128", 1);
    expect_choice(64, 64, 64, "gemm_64x128", 1);
}

static const int sizes[] = { 1, 63, 64, 65, 200, 512, 1000, 1024, 1536, 2047, 4096, 8192 };
enum { SIZES = sizeof sizes / sizeof *sizes };

// Of this kernel, with all numbers of parts that it may have.
static double least_of(const struct geometry *g, int m, int n, int k)
{
    double least = 0;
    for (int parts = g->split ? 2 : 1; parts <= (g->split ? CHOOSE_PARTS : 1); parts *= 2) {
        struct geometry one = *g;
        one.parts = parts;
        const double cycles = choose_cycles(&one, m, n, k, SMS);
        least = parts <= 2 || cycles < least ? cycles : least;
    }
    return least;
}

Test(choose, takes_the_least_cycles)
{
    for (int i = 0; i < SIZES * SIZES * SIZES; i++) {
        const int m = sizes[i % SIZES], n = sizes[i / SIZES % SIZES], k = sizes[i / SIZES / SIZES];
        const struct geometry best = choose_geometry(&tiles, m, n, k, SMS);
        const double cycles = choose_cycles(&best, m, n, k, SMS);
        for (int t = 0; t < tiles.n; t++)
            cr_expect_leq(cycles, least_of(&tiles.all[t], m, n, k), "%d x %d x %d: %s is better than %s", m, n, k,
                          tiles.all[t].kernel, best.kernel);
    }
}

Test(choose, larger_products_take_no_fewer_cycles)
{
    for (int t = 0; t < tiles.n; t++)
        for (int i = 1; i < SIZES; i++) {
            const struct geometry *g = &tiles.all[t];
            const int less = sizes[i - 1], more = sizes[i];
            cr_expect_leq(choose_cycles(g, less, 500, 500, SMS), choose_cycles(g, more, 500, 500, SMS), "M %d", more);
            cr_expect_leq(choose_cycles(g, 500, less, 500, SMS), choose_cycles(g, 500, more, 500, SMS), "N %d", more);
            cr_expect_leq(choose_cycles(g, 500, 500, less, SMS), choose_cycles(g, 500, 500, more, SMS), "K %d", more);
        }
}

Test(choose, a_smaller_card_takes_larger_tiles_sooner)
{
    const struct geometry large = choose_geometry(&tiles, 1024, 1024, 1024, SMS);
    const struct geometry small = choose_geometry(&tiles, 1024, 1024, 1024, SMS / 4);
    cr_expect_gt(small.bm * small.bn, large.bm * large.bn);
}

Test(choose, of_one_kernel_there_is_no_choice)
{
    const struct geometries one = { .n = 1, .all = { { .bm = 32, .bn = 32, .kernel = "gemm" } } };  // no tiles along K
    cr_expect_str_eq(choose_geometry(&one, 5, 6, 7, SMS).kernel, "gemm");
}
