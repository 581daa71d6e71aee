// What a right step runs once more: shapes by rule from the geometry, and that a mistake which one shape hides is
// found.
#include <criterion/criterion.h>

#include "tester/again.h"

static int ceil_div(int a, int b)
{
    return (a - 1) / b + 1;
}

// The same of all files: edges of both kinds, blocks next to each other each way, and a rest along K.
static bool is_far(const struct again_shape *s)
{
    return s->first_row || s->first_col;
}

static void holds_for(const struct geometry *g, enum dev_type type, int stages)
{
    const struct geometries all = { .n = 1, .all = { *g } };
    struct again_shape s[AGAIN_SHAPES];
    const int unit = 16 / (int)type_size(type), depth = g->bk ? g->bk : 16;
    const size_t n = again_shapes(&all, type, s);
    bool wide = false, odd = false, deep = false, down = false, walks = !g->blocks, far_rows = false, far_cols = false;
    for (size_t i = 0; i < n; i++) {
        const int rows = ceil_div(s[i].m, g->bm), columns = ceil_div(s[i].n, g->bn), tiles = ceil_div(s[i].k, depth);
        const bool edges = (g->blocks || rows > 1) && s[i].m % g->bm && columns > 1 && s[i].n % g->bn;
        cr_assert(s[i].k % depth || is_far(&s[i]), "K = %d has no rest", s[i].k);
        far_rows |= s[i].first_row >= 1 << 16 && s[i].first_row % g->bm == 0 && s[i].m - s[i].first_row < g->bm;
        far_cols |= s[i].first_col >= 1 << 16 && s[i].first_col % g->bn == 0 && s[i].n - s[i].first_col < g->bn;
        if (is_far(&s[i]))
            continue;
        wide |= edges && s[i].n % unit == 0 && s[i].k % unit == 0;
        odd |= edges && s[i].n % 2 && s[i].k % unit == 0;
        deep |= tiles > stages + (g->blocks ? 0 : 3) && s[i].n % unit == 0 && s[i].k % 2;
        down |= rows > 1;
        walks |= s[i].sms == 1 && rows * columns == 2 * g->blocks && tiles >= stages;
    }
    cr_assert(wide && odd && deep && down && walks, "%d x %d x %d: %d %d %d %d %d", g->bm, g->bn, g->bk, wide, odd,
              deep, down, walks);
    cr_assert(far_rows && far_cols, "%d x %d x %d: %d %d", g->bm, g->bn, g->bk, far_rows, far_cols);
}

Test(again, asks_for_edges_stages_and_a_second_tile)
{
    const struct geometry naive = { .bm = 32, .bn = 32, .threads = 1024 };
    const struct geometry tiles = { .bm = 128, .bn = 128, .bk = 8, .threads = 256 };
    const struct geometry staged = {
        .bm = 128, .bn = 256, .bk = 64, .threads = 256, .shared = 4 * 49152 + 1024, .box = 64
    };
    struct geometry walking = staged;
    walking.blocks = 1;
    holds_for(&naive, DEV_F32, 1);
    holds_for(&naive, DEV_F64, 1);
    holds_for(&tiles, DEV_F32, 2);
    holds_for(&staged, DEV_F16, 4);
    holds_for(&walking, DEV_F16, 4);
    walking.blocks = 2;
    holds_for(&walking, DEV_F16, 4);
}

Test(again, asks_each_kernel_of_a_file_and_the_most_parts_of_a_tile)
{
    const struct geometry first = { .bm = 128, .bn = 256, .bk = 64, .threads = 256, .kernel = "gemm" };
    const struct geometry second = { .bm = 64, .bn = 64, .bk = 64, .threads = 128, .kernel = "gemm_64x64" };
    struct geometry third = second;
    third.split = 1;
    const struct geometries all = { .n = 3, .all = { first, second, third } };
    struct again_shape s[AGAIN_SHAPES];
    const size_t n = again_shapes(&all, DEV_F16, s);
    cr_assert_eq(n, 7);
    cr_assert_str_eq(s[5].geometry.kernel, "gemm_64x64");
    cr_assert_eq(s[6].geometry.parts, 8);
    const int tiles = ceil_div(s[6].k, 64);
    cr_assert(tiles > 8 && tiles % 8, "some blocks have more tiles along K than others");
}
