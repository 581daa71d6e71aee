// Granules that are alike, kept as one (simt/check/fold.h): whatever is folded and unfolded, each granule keeps what it
// was given.
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "simt/check/fold.h"

enum { BYTES = 1024, SHIFTS = 5, ROUNDS = 20000 };

static struct granule granules[BYTES];
static uint32_t redundant[BYTES];
static unsigned char folded[BYTES];
static struct granule wholes[BYTES];
static uint32_t whole_redundant_in[BYTES];

static struct block_check fresh(void)
{
    memset(granules, 0, sizeof granules);
    memset(redundant, 0, sizeof redundant);
    memset(folded, 0, sizeof folded);
    memset(wholes, 0, sizeof wholes);
    memset(whole_redundant_in, 0, sizeof whole_redundant_in);
    return (struct block_check){ .granules = granules,
                                 .redundant_in = redundant,
                                 .folded = folded,
                                 .wholes = wholes,
                                 .whole_redundant_in = whole_redundant_in };
}

// What a granule says, without a change: its fold speaks for it while that is folded.
static uint32_t value_of(const struct block_check *k, unsigned shift, uint32_t g)
{
    return fold_granule(k, shift, g)->write_at;
}

static void set(struct block_check *k, unsigned shift, uint32_t g, uint32_t value)
{
    fold_open(k, shift, g, g + 1);
    k->granules[g].write_at = value;
}

// As bulk copies do: a fold that lies within stays one.
static void set_range(struct block_check *k, unsigned shift, uint32_t g, uint32_t end, uint32_t value)
{
    for (uint32_t n; g < end; g += n) {
        n = fold_size(k, shift, g, end);
        cr_assert(n && n <= end - g, "%u granules from %u on, before %u", n, g, end);
        fold_granule(k, shift, g)->write_at = value;
    }
}

Test(fold, keeps_what_each_granule_was_given)
{
    srand(1);
    for (unsigned shift = 0; shift < SHIFTS; shift++) {
        static uint32_t want[BYTES];
        struct block_check k = fresh();
        const uint32_t n = BYTES >> shift;
        memset(want, 0, sizeof want);
        for (uint32_t round = 1; round <= ROUNDS; round++) {
            const uint32_t g = (uint32_t)rand() % n, end = g + 1 + (uint32_t)rand() % (n - g);
            const int what = rand() % 4;
            if (what == 0)
                set(&k, shift, g, round);
            else if (what == 1)
                fold_open(&k, shift, g, end);
            else
                set_range(&k, shift, g, end, round);
            if (what == 3)
                fold_close(&k, shift, g, end);
            for (uint32_t i = g; what != 1 && i < (what ? end : g + 1); i++)
                want[i] = round;
            for (uint32_t i = 0; i < n; i++)
                cr_assert_eq(value_of(&k, shift, i), want[i], "%u bytes, round %u: granule %u says %u, not %u",
                             1u << shift, round, i, value_of(&k, shift, i), want[i]);
        }
    }
}

// 4 granules of 4 bytes are a fold.
Test(fold, folds_whole_ones_and_unfolds_what_is_touched)
{
    struct block_check k = fresh();
    fold_close(&k, 2, 3, 17);
    cr_expect(k.folds);
    for (uint32_t g = 0; g < 24; g++)
        cr_expect_eq(fold_holds(&k, 2, g), g >= 4 && g < 16, "granule %u", g);
    cr_expect_eq(fold_size(&k, 2, 4, 16), 4);
    cr_expect_eq(fold_size(&k, 2, 3, 16), 1);
    cr_expect_eq(fold_size(&k, 2, 4, 7), 1, "a part of a fold");
    cr_expect(!fold_holds(&k, 2, 4) && fold_holds(&k, 2, 8), "it alone is unfolded");
    cr_expect_eq(fold_size(&k, 2, 9, 16), 1, "not the first of a fold");
    cr_expect(!fold_holds(&k, 2, 8) && fold_holds(&k, 2, 12));
    fold_open(&k, 2, 10, 12);
    cr_expect(fold_holds(&k, 2, 12), "the next one is not touched");
    fold_open(&k, 2, 15, 16);
    cr_expect(!fold_holds(&k, 2, 12));
}

Test(fold, makes_its_granules_as_quiet_as_it_is)
{
    struct block_check k = fresh();
    fold_close(&k, 2, 4, 12);
    whole_redundant_in[1] = 7;
    fold_open(&k, 2, 4, 12);
    for (uint32_t g = 4; g < 12; g++)
        cr_expect_eq(redundant[g], g < 8 ? 7 : 0, "granule %u", g);
}

// A kernel that never folds pays nothing: a fold that is too short to be one is none.
Test(fold, nothing_is_folded_where_no_fold_fits)
{
    struct block_check k = fresh();
    fold_close(&k, 2, 1, 7);
    fold_close(&k, 2, 4, 7);
    cr_expect(!k.folds && !fold_holds(&k, 2, 0) && !fold_holds(&k, 2, 4));
}
