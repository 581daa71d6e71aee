// The sizes of the products that cause.c tries: as small as they show the error.
#pragma once

#include <stdbool.h>

#include "geometry.h"

struct size {
    int m, n, k;
};

enum { SIZE_COST = 1 << 27 };  // multiply-adds of a product that is tried as it is

// A small product with the same rests by the kernel's tiles as this one: two blocks each way, and enough rows and
// columns to see each k (look.h). Blocks that share a tile have several tiles along K each, and are seen in one tile of
// C.
struct size size_small(const struct size *whole, const struct geometry *g);

struct size size_whole(const struct size *s, const struct geometry *g);  // the same in whole tiles
bool size_same(const struct size *a, const struct size *b);
double size_cost(const struct size *s);
