// Tests of common/tester/cause_size: the sizes that are tried to find out why a result is wrong.
#include <criterion/criterion.h>

#include "tester/cause_size.h"

static const struct geometry tiles = { .bm = 128, .bn = 256, .bk = 32 }, naive = { .bm = 32, .bn = 32 };

Test(cause_size, has_the_rests_of_the_whole)
{
    const struct size whole = { 1000, 1000, 500 }, s = size_small(&whole, &tiles), w = size_whole(&s, &tiles);
    cr_expect(s.m % 128 == 1000 % 128 && s.n % 256 == 1000 % 256 && s.k % 32 == 500 % 32, "%d x %d x %d", s.m, s.n,
              s.k);
    cr_expect(s.m > 128 && s.n > 256 && s.k >= 3 * 32 && size_cost(&s) < size_cost(&whole) / 4);
    cr_expect(w.m % 128 == 0 && w.n % 256 == 0 && w.k % 32 == 0 && w.m >= s.m && w.n >= s.n && w.k >= s.k);
    cr_expect(!size_same(&s, &w));
}

Test(cause_size, shows_each_k_in_a_row_and_in_a_column)
{
    const struct size whole = { 4096, 4096, 4096 }, s = size_small(&whole, &naive);
    cr_expect(s.m >= s.k && s.n >= s.k && s.k >= 48, "%d x %d x %d", s.m, s.n, s.k);
}

Test(cause_size, gives_each_part_of_a_shared_tile_several_tiles)
{
    const struct geometry split = { .bm = 64, .bn = 64, .bk = 64, .blocks = 1, .split = 1, .parts = 8 };
    const struct size whole = { 64, 64, 2100 }, s = size_small(&whole, &split);
    cr_expect(s.m == 64 && s.n == 64 && s.k >= 8 * 2 * 64 && s.k % 64 == 2100 % 64, "%d x %d x %d", s.m, s.n, s.k);
}

Test(cause_size, is_the_whole_where_that_is_small)
{
    const struct size whole = { 20, 30, 100 }, s = size_small(&whole, &tiles);
    cr_expect(size_same(&s, &whole), "%d x %d x %d", s.m, s.n, s.k);
}

Test(cause_size, has_whole_tiles_before_a_rest_that_is_alone)
{
    const struct size whole = { 20, 30, 10 }, s = size_small(&whole, &tiles);
    cr_expect(s.m == 20 && s.n == 30 && s.k > 2 * 32 && s.k % 32 == 10, "%d x %d x %d", s.m, s.n, s.k);
}
