// The rule that picks a kernel by the shape of the product (tester/choose.h), on the tiles of step 20. SHAPES_CSV has
// what an H200 needed for 41 shapes by each of them.
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "tester/choose.h"

enum { SMS = 132 };

static const struct geometries tiles = {
    8,
    { { .bm = 128, .bn = 256, .bk = 64, .kernel = "gemm" },
      { .bm = 192, .bn = 192, .bk = 64, .kernel = "gemm_192x192" },
      { .bm = 128, .bn = 192, .bk = 64, .kernel = "gemm_128x192" },
      { .bm = 128, .bn = 128, .bk = 64, .kernel = "gemm_128x128" },
      { .bm = 64, .bn = 128, .bk = 64, .kernel = "gemm_64x128" },
      { .bm = 64, .bn = 64, .bk = 64, .kernel = "gemm_64x64" },
      { .bm = 128, .bn = 128, .bk = 64, .split = 1, .kernel = "gemm_128x128_split" },
      { .bm = 64, .bn = 64, .bk = 64, .split = 1, .kernel = "gemm_64x64_split" } },
};

static int parts_of(const struct geometry *g)
{
    return g->parts > 1 ? g->parts : 1;
}

// On an H200, of what was measured there the fastest, or one within a tenth of it.
Test(choose, what_was_measured_fastest)
{
    static const struct {
        int m, n, k, parts;
        const char *kernel;
    } cases[] = {
        { 512, 512, 512, 1, "gemm_64x64" },        { 768, 768, 768, 1, "gemm_64x128" },
        { 1024, 1024, 1024, 1, "gemm_64x128" },    { 2048, 2048, 2048, 1, "gemm" },
        { 4096, 4096, 4096, 1, "gemm" },           { 8192, 8192, 8192, 1, "gemm" },
        { 1024, 1024, 8192, 1, "gemm_64x128" },    { 512, 512, 8192, 4, "gemm_128x128_split" },
        { 64, 64, 8192, 8, "gemm_64x64_split" },   { 256, 256, 1024, 1, "gemm_64x64" },
        { 3000, 3000, 3000, 1, "gemm_192x192" },   { 2048, 128, 4096, 2, "gemm_64x64_split" },
        { 256, 256, 8192, 4, "gemm_64x64_split" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct geometry g = choose_geometry(&tiles, cases[i].m, cases[i].n, cases[i].k, SMS);
        cr_expect(!strcmp(g.kernel, cases[i].kernel) && parts_of(&g) == cases[i].parts,
                  "%d x %d x %d: %s in %d, not %s in %d", cases[i].m, cases[i].n, cases[i].k, g.kernel, parts_of(&g),
                  cases[i].kernel, cases[i].parts);
    }
}

// --- against what an H200 measured ---

enum { SHAPES = 64, NAME = 24 };

struct shape {
    char name[NAME];
    int m, n, k;
    double best, picked;  // TFLOP/s
};

// "512", or "2048x128x4096".
static struct shape shape_of(const char *name)
{
    struct shape s = { 0 };
    snprintf(s.name, sizeof s.name, "%s", name);
    const int n = sscanf(name, "%dx%dx%d", &s.m, &s.n, &s.k);
    cr_assert(n == 1 || n == 3, "%s", name);
    if (n == 1)
        s.n = s.k = s.m;
    return s;
}

// The row's kernel: "64x64/4", where 4 blocks share a tile.
static bool is_of(const struct geometry *g, const char *kernel)
{
    char name[NAME];
    const int parts = parts_of(g);
    snprintf(name, sizeof name, parts > 1 ? "%dx%d/%d" : "%dx%d", g->bm, g->bn, parts);
    return !strcmp(name, kernel);
}

static int read_shapes(struct shape all[SHAPES])
{
    struct table t;
    char error[DEV_ERROR_MAX];
    bool more;
    int n = 0;
    cr_assert(table_open(&t, SHAPES_CSV, error), "%s", error);
    for (;;) {
        cr_assert(table_next(&t, &more), "%s", error);
        if (!more)
            break;
        if (!n || strcmp(all[n - 1].name, t.field[0]) != 0) {
            cr_assert_lt(n, SHAPES);
            all[n++] = shape_of(t.field[0]);
        }
        struct shape *s = &all[n - 1];
        const struct geometry g = choose_geometry(&tiles, s->m, s->n, s->k, SMS);
        const double tflops = strtod(t.field[3], NULL);
        s->best = fmax(s->best, tflops);
        if (is_of(&g, t.field[1]))
            s->picked = tflops;
    }
    table_close(&t);
    return n;
}

// The chapter says so.
Test(choose, is_hardly_slower_than_the_fastest)
{
    struct shape all[SHAPES];
    const int n = read_shapes(all);
    int slower = 0;
    double logs = 0;
    for (int i = 0; i < n; i++) {
        const double share = all[i].picked / all[i].best;
        cr_expect_gt(share, 0.9, "%s: %g TFLOP/s, and the best is %g", all[i].name, all[i].picked, all[i].best);
        slower += share < 0.98;
        logs += log(share);
    }
    cr_expect_eq(n, 41);
    cr_expect_leq(slower, 1, "%d shapes", slower);
    cr_expect_gt(exp(logs / n), 0.99, "%g", exp(logs / n));
}

// --- what holds for every shape ---

static const int sizes[] = { 1, 63, 64, 65, 200, 512, 1000, 1024, 1536, 2047, 4096, 8192 };
enum { SIZES = sizeof sizes / sizeof *sizes };

// No kernel takes fewer cycles, in as many parts as it may have: a part has a tile along K at least.
static void expect_least(double cycles, const struct geometry *g, int m, int n, int k)
{
    for (int parts = g->split ? 2 : 1; parts <= (g->split ? CHOOSE_PARTS : 1); parts *= 2) {
        struct geometry one = *g;
        one.parts = parts;
        if (parts == 1 || parts <= (k - 1) / g->bk + 1)
            cr_expect_leq(cycles, choose_cycles(&one, m, n, k, SMS), "%d x %d x %d: %s in %d is better", m, n, k,
                          g->kernel, parts);
    }
}

Test(choose, takes_the_least_cycles)
{
    for (int i = 0; i < SIZES * SIZES * SIZES; i++) {
        const int m = sizes[i % SIZES], n = sizes[i / SIZES % SIZES], k = sizes[i / SIZES / SIZES];
        const struct geometry best = choose_geometry(&tiles, m, n, k, SMS);
        for (int t = 0; t < tiles.n; t++)
            expect_least(choose_cycles(&best, m, n, k, SMS), &tiles.all[t], m, n, k);
    }
}

Test(choose, larger_products_take_no_fewer_cycles)
{
    for (int t = 0; t < tiles.n; t++)
        for (int i = 1; i < SIZES; i++) {
            const struct geometry *g = &tiles.all[t];
            const int less = sizes[i - 1], more = sizes[i];
            if (less % 8 == 0 && less % 64)
                continue;  // 1000 may take longer than 1024: its rows lie in two lines of L2
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

Test(choose, a_file_with_one_kernel_has_no_choice)
{
    const struct geometries one = { 1, { { .bm = 16, .bn = 16, .kernel = "gemm" } } };  // no tiles along K
    cr_expect_str_eq(choose_geometry(&one, 1, 1, 1, SMS).kernel, "gemm");
}
