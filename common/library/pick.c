// See pick.h. Times and shares are of steps/results (H200); shapes between are not fitted one by one.
#include "pick.h"

#include <math.h>

// --- Halves ---
// Each step is faster than the ones before it wherever it runs, so the last one that the card can run is taken. There
// are two exceptions. TMA needs rows of whole 16 bytes, so 20 copies other matrices first; without a workspace it
// cannot. And if rows begin at odd places, 12 is faster than 13 (130 against 118 TFLOP/s at 4095): cp.async then
// copies 2 bytes at a time, which it cannot, and 13 goes through registers without 12's prefetch.

static enum kernel_id pick_f16(struct pick_card card, int n, int k, bool small)
{
    const bool wide = n % 8 == 0 && k % 8 == 0;
    if (card.sm == 90 && kernel_texts[KERNEL_f16_any_shape].ptx && (wide || !small))
        return KERNEL_f16_any_shape;
    if (card.sm >= 80)
        return wide ? KERNEL_f16_async : KERNEL_f16_swizzle;
    return KERNEL_f16_padding;
}

// --- Floats ---
// A model of the time, in cycles of an SM, tries every tile and split of K, with and without copies. Its numbers are
// round. They were fitted to 85 shapes between 64 and 8192, run in 1,925 ways on an H200. What the model picks took 2.4
// % longer there, in the mean, than the best way of each shape, and 23 % at worst; 2.4 and 18 % when all was run once
// more.

static const double FETCH = 530;       // cycles of a tile of K in which a block waits: its next tile is on its way
static const double ODD_FETCH = 840;   // the same, if floats are fetched one by one
static const double BLOCK = 2800;      // a block begins and ends
static const double SUM = 2400;        // one launch more, which adds up
static const double COPY = 8000;       // two launches more: most of it is the wait for the one before
static const double BYTES = 15;        // that a copy or a sum moves in a cycle, for each SM
enum { TILE_K = 8, LEAST_PART = 32 };  // depth of a tile; of a part of K

// LEAST: as in meson.build. full: multiply-adds of an SM that issues all the time, as a part of what it could.
static const struct tile {
    enum kernel_id kernel;
    int m, n, least;
    double full;
    bool whole;  // step 07 itself: for rows that begin at multiples of 16 bytes, and K in one part
} tiles[] = {
    { KERNEL_f32_whole, 128, 128, 2, 0.97, true },
    { KERNEL_f32_128x128, 128, 128, 2, 0.95, false },
    { KERNEL_f32_64x128, 64, 128, 4, 0.91, false },
    { KERNEL_f32_64x64, 64, 64, 8, 0.83, false },
};
enum { TILES = sizeof tiles / sizeof *tiles };

bool pick_tile(enum kernel_id kernel, int *m, int *n, int *k)
{
    for (const struct tile *t = tiles; t < tiles + TILES; t++)
        if (t->kernel == kernel) {
            *m = t->m, *n = t->n, *k = TILE_K;
            return true;
        }
    return false;
}

static const int splits[] = { 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64 };
enum { SPLITS = sizeof splits / sizeof *splits };

static double ceil_div(double a, double b)
{
    return ceil(a / b);
}

// Multiply-adds of floats that an SM issues in a cycle. Source: CUDA C++ Programming Guide, arithmetic instructions.
static double lanes(int sm)
{
    return sm == 75 || sm == 80 ? 64 : 128;
}

// A block takes turns with the others of its SM: with `together` of them, each takes that much longer.
static double block_cycles(struct pick_card card, const struct tile *t, double depth, bool odd, double together)
{
    const double work = (double)t->m * t->n * TILE_K / (lanes(card.sm) * t->full);
    return BLOCK + ceil_div(depth, TILE_K) * ((odd ? ODD_FETCH : FETCH) + together * work);
}

static double sum_cycles(struct pick_card card, struct floats_shape s, double parts)
{
    const double bytes = (2 * parts + 1) * sizeof(float) * s.m * s.n;
    return parts > 1 ? SUM + bytes / (BYTES * card.sms) : 0;
}

static double copy_cycles(struct pick_card card, int rows, int cols)
{
    return cols % 4 ? COPY + 2.0 * sizeof(float) * rows * cols / (BYTES * card.sms) : 0;
}

static double pick_cycles(struct pick_card card, struct floats_shape s, int tile, struct floats_way way)
{
    const struct tile *t = &tiles[tile];
    const double part = floats_part(s.k, way.parts), parts = ceil_div(s.k, part);
    const double blocks = ceil_div(s.m, t->m) * ceil_div(s.n, t->n) * parts, of_sm = ceil_div(blocks, card.sms);
    const double rounds = floor(of_sm / t->least), left = of_sm - rounds * t->least;
    const bool odd = !way.copy && (s.k % 4 || s.n % 4);
    const double copies = way.copy ? copy_cycles(card, s.m, s.k) + copy_cycles(card, s.k, s.n) : 0;
    return rounds * block_cycles(card, t, part, odd, t->least) +
           (left > 0 ? block_cycles(card, t, part, odd, left) : 0) + sum_cycles(card, s, parts) + copies;
}

static bool can(const struct tile *t, struct floats_shape s, struct floats_way way, size_t limit)
{
    const bool odd = s.k % 4 || s.n % 4;
    if (t->whole && (odd || way.parts > 1))
        return false;
    if (way.copy && !odd)
        return false;
    return (way.parts == 1 || s.k / way.parts >= LEAST_PART) && floats_room(s, way) <= limit;
}

static struct pick pick_f32(struct pick_card card, struct floats_shape s, size_t limit)
{
    struct pick best = { .kernel = KERNEL_f32_128x128, .way = { .parts = 1 } };
    double least = INFINITY;
    for (int tile = 0; tile < TILES; tile++)
        for (int split = 0; split < SPLITS; split++)
            for (int copy = 0; copy < 2; copy++) {
                const struct floats_way way = { copy, splits[split] };
                if (!can(&tiles[tile], s, way, limit))
                    continue;
                const double cycles = pick_cycles(card, s, tile, way);
                if (cycles >= least)
                    continue;
                least = cycles;
                best = (struct pick){ tiles[tile].kernel, way };
            }
    return best;
}

struct pick pick_kernel(struct pick_card card, enum dev_type type, int m, int n, int k, size_t limit)
{
    if (n > PICK_LONGEST || k > PICK_LONGEST)
        limit = 0;
    if (type == DEV_F16)
        return (struct pick){ .kernel = pick_f16(card, n, k, !limit) };
    return pick_f32(card, (struct floats_shape){ m, n, k }, limit);
}
