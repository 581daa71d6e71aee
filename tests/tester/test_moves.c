// Tests of common/tester/moves: elements that are used in the wrong place, by every law that there is and by none.
#include <criterion/criterion.h>

#include <stdlib.h>

#include "base/matrix.h"
#include "tester/moves.h"

enum { ROWS = 64, COLS = 128, TILE_Y = 16, TILE_X = 64 };

typedef void move_by(int *y, int *x);

static enum law law_of(move_by *by_law, int *by, struct move *example)
{
    struct move *all = malloc(ROWS * COLS * sizeof *all);
    struct moves m = {
        .all = all, .tile_y = TILE_Y, .tile_x = TILE_X, .length = COLS, .chunk = 8, .along_y = true, .depth = ROWS
    };
    cr_assert(all);
    for (int y = 0; y < ROWS; y++)
        for (int x = 0; x < COLS; x++) {
            struct move e = { y, x, y, x };
            by_law(&e.to_y, &e.to_x);
            if (e.to_y >= 0 && e.to_y < ROWS && e.to_x >= 0 && e.to_x < COLS)
                all[m.n++] = e;
        }
    const enum law law = moves_law(&m, by, example);
    free(all);
    return law;
}

static void in_place(int *y, int *x)
{
    (void)y, (void)x;
}

static void transposed(int *y, int *x)
{
    const int r = *y % 16, c = *x % 16;
    *y += c - r;
    *x += r - c;
}

static void whole_transposed(int *y, int *x)
{
    const int r = *y;
    *y = *x;
    *x = r;
}

static void boxes(int *y, int *x)
{
    const int r = *y, c = *x;
    *y = c - c % 32 + r % 32;
    *x = r - r % 32 + c % 32;
}

static void quarters(int *y, int *x)
{
    const int both = (*y ^ *x) & 8;
    *y ^= both;
    *x ^= both;
}

static void first_rows(int *y, int *x)
{
    (void)x;
    *y %= TILE_Y;
}

static void next_tile(int *y, int *x)
{
    (void)x;
    *y ^= TILE_Y;
}

static void shifted(int *y, int *x)
{
    (void)y;
    *x += 3;
}

// K goes down the rows: some columns are 16 of them ahead, and at the end there is nothing more.
static void ahead(int *y, int *x)
{
    *y += *x % 64 < 16 ? 0 : *y + 16 < ROWS ? 16 : -*y;
}

static void same_row(int *y, int *x)
{
    (void)x;
    *y -= *y % 8;
}

static void first_columns(int *y, int *x)
{
    (void)y;
    *x = *x - *x % TILE_X + *x % 4;
}

static void exchanged(int *y, int *x)
{
    (void)y;
    *x ^= 32;
}

static void chunks(int *y, int *x)
{
    *x ^= *y % 8 * 8;
}

static void at_place(int *y, int *x, int place, int length)
{
    *y = place / length;
    *x = place % length;
}

static void stride(int *y, int *x)
{
    at_place(y, x, *y * 96 + *x, COLS);
}

static void stride_swapped(int *y, int *x)
{
    at_place(y, x, *x * 61 + *y, COLS);
}

static void in_tile(int *y, int *x, int place, int length)
{
    const int first_y = *y - *y % TILE_Y, first_x = *x - *x % TILE_X;
    at_place(y, x, place % (TILE_Y * length), length);
    *y += first_y;
    *x += first_x;
}

static void tile_stride(int *y, int *x)
{
    in_tile(y, x, *y % TILE_Y * 32 + *x % TILE_X, TILE_X);
}

static void tile_swapped(int *y, int *x)
{
    in_tile(y, x, *x % TILE_X * 16 + *y % TILE_Y, TILE_X);
}

static void padded(int *y, int *x)
{
    in_tile(y, x, *y % TILE_Y * TILE_X + *x % TILE_X, TILE_X + 8);
}

static void stepped(int *y, int *x)
{
    const int tile = *y / TILE_Y;
    at_place(y, x, *y % TILE_Y * COLS + *x + tile * 64, COLS);
}

static void other_rows(int *y, int *x)
{
    (void)x;
    *y = *y - *y % TILE_Y + *y * *y % TILE_Y;
}

static void pieces(int *y, int *x)
{
    const uint64_t random = matrix_hash((uint64_t)*y, (uint64_t)(*x / 8));
    *y = (int)(random % ROWS);
    *x = (int)(random / ROWS % (COLS / 8)) * 8 + *x % 8;
}

static void mixed(int *y, int *x)  // rows 1 and 2 with columns 2 and 16
{
    const int r = *y, c = *x;
    *y = (r & ~3) | (c >> 1 & 1) | (c >> 4 & 1) << 1;
    *x = (c & ~18) | (r & 1) << 4 | (r >> 1 & 1) << 1;
}

static void scattered(int *y, int *x)
{
    const uint64_t random = matrix_hash((uint64_t)*y, (uint64_t)*x);
    *y = (int)(random % ROWS);
    *x = (int)(random / ROWS % COLS);
}

static const struct {
    const char *name;
    move_by *move;
    enum law law;
    int by;  // -1: the law has no number
} laws[] = {
    { "in place", in_place, LAW_NONE, -1 },
    { "transposed", transposed, LAW_TRANSPOSED, 16 },
    { "transposed as a whole", whole_transposed, LAW_TRANSPOSED, 0 },
    { "boxes", boxes, LAW_BOXES, 32 },
    { "quarters", quarters, LAW_QUARTERS, 8 },
    { "first rows", first_rows, LAW_FIRST_TILE_Y, -1 },
    { "next tile", next_tile, LAW_TILE_Y, -1 },
    { "shifted", shifted, LAW_SHIFT_X, 3 },
    { "ahead", ahead, LAW_AHEAD, 16 },
    { "same row", same_row, LAW_SAME_Y, 8 },
    { "first columns", first_columns, LAW_REST_X, 4 },
    { "exchanged", exchanged, LAW_XOR_X, 32 },
    { "chunks", chunks, LAW_CHUNKS, -1 },
    { "stride", stride, LAW_STRIDE, 96 },
    { "stride, swapped", stride_swapped, LAW_SWAPPED, 61 },
    { "tile stride", tile_stride, LAW_TILE_STRIDE, 32 },
    { "tile swapped", tile_swapped, LAW_TILE_SWAPPED, 16 },
    { "padded", padded, LAW_PADDED, 8 },
    { "stepped", stepped, LAW_STEP, 64 },
    { "other rows", other_rows, LAW_ORDER_Y, -1 },
    { "pieces", pieces, LAW_PIECES, -1 },
    { "mixed", mixed, LAW_MIXED, -1 },
    { "scattered", scattered, LAW_NONE, -1 },
};

Test(moves, follow_their_law_and_no_other)
{
    for (size_t i = 0; i < sizeof laws / sizeof *laws; i++) {
        int by;
        struct move e;
        const enum law law = law_of(laws[i].move, &by, &e);
        cr_expect_eq(law, laws[i].law, "%s: %d, not %d", laws[i].name, (int)law, (int)laws[i].law);
        cr_expect(laws[i].by < 0 || by == laws[i].by, "%s: by %d, not %d", laws[i].name, by, laws[i].by);
        if (laws[i].move != in_place)
            cr_expect(e.to_y != e.y || e.to_x != e.x, "%s: the example did not move", laws[i].name);
    }
}

static void mostly_shifted(int *y, int *x)
{
    *x += *y < 60 ? 3 : *y - 60;
}

static void partly_shifted(int *y, int *x)
{
    *x += *y % 4 ? 3 : 1 + *y / 4 % 2;
}

// The ends of K, or the edges of C, may be exceptions.
Test(moves, may_break_a_law_one_time_in_ten)
{
    int by;
    struct move e;
    cr_expect_eq(law_of(mostly_shifted, &by, &e), LAW_SHIFT_X);
    cr_expect_eq(by, 3);
    cr_expect_neq(law_of(partly_shifted, &by, &e), LAW_SHIFT_X);
}
