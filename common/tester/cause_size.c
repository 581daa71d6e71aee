// See cause_size.h.
#include "cause_size.h"

// A size with the same rest by its tile, of at least least, not above size.
static int shrink(int size, int tile, int least)
{
    const int rest = size % tile, tiles = least > rest ? (least - rest + tile - 1) / tile : 0;
    const int s = rest + tiles * tile;
    return s && s < size ? s : size;
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

enum { STEPS = 3, PART_STEPS = 2, DEPTH = 48, STEP = 16 };  // tiles along K, for all or for each part; K at least

struct size size_small(const struct size *whole, const struct geometry *g)
{
    const int step = g->bk ? g->bk : STEP, steps = g->parts > 1 ? PART_STEPS * g->parts : STEPS;
    struct size s;
    s.k = shrink(whole->k, step, g->bk ? larger(steps * g->bk, DEPTH) : DEPTH);
    if (whole->k < g->bk)  // a rest behind whole tiles tells the loop over tiles from a store that leaves them out
        s.k += steps * g->bk;
    const int seen = g->parts > 1 ? 0 : s.k;
    s.m = shrink(whole->m, g->bm, larger(seen, g->bm + 1));
    s.n = shrink(whole->n, g->bn, larger(seen, g->bn + 1));
    return s;
}

static int round_up(int size, int tile)
{
    return tile ? (size + tile - 1) / tile * tile : size;
}

struct size size_whole(const struct size *s, const struct geometry *g)
{
    return (struct size){ round_up(s->m, g->bm), round_up(s->n, g->bn), round_up(s->k, g->bk) };
}

bool size_same(const struct size *a, const struct size *b)
{
    return a->m == b->m && a->n == b->n && a->k == b->k;
}

double size_cost(const struct size *s)
{
    return (double)s->m * s->n * s->k;
}
