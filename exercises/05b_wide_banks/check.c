// The check of exercise 5b.
#include <stdio.h>

#include "../exercise.h"

enum { WARP = 32, WORDS = 32 * 34, PATTERNS = 8 };

static int pairs(int lane)
{
    return 2 * lane;
}
static int fours_8_apart(int lane)
{
    return 8 * lane;
}
static int fours_again(int lane)
{
    return 4 * (lane % 8);
}
static int fours_shared(int lane)
{
    return 4 * (lane / 2);
}
static int column_of_16(int lane)
{
    return 2 * 16 * lane;
}
static int column_of_17(int lane)
{
    return 2 * 17 * lane;
}
static int rows_of_24(int lane)
{
    return 24 / 2 * (lane / 2) + 8 / 2 * (lane % 2);
}

// What the task says of each pattern, and what to think about where the prediction is too low or too high.
static const struct pattern {
    const char *name;
    bool store;
    int words;               // that a lane accesses
    int (*first)(int lane);  // of them
    const char *low, *high;
} patterns[PATTERNS] = {
    { "load, 64 bits", false, 2, pairs,
      "A warp asks for 32 times 8 bytes, and a wavefront brings one word of each bank. That is why 64 bits are served "
      "in "
      "half-warps",
      "They are served in half-warps: in which banks are the words of lanes 0 to 15? Does a bank come twice?" },
    { "load, 128 bits", false, 4, fours_8_apart,
      "128 bits are served in quarter-warps, lanes 0 to 7 first. Lane 0 wants words 0 to 3, lane 1 words 8 to 11: "
      "which "
      "of the 8 lanes come back to banks 0 to 3? That many wavefronts, for each quarter",
      "128 bits are served in quarter-warps, lanes 0 to 7 first. Which of lanes 0, 4, 8, ... 28, that share bank 0, "
      "are "
      "in one quarter? Only those wait for each other" },
    { "load, 128 bits", false, 4, fours_again,
      "The warp wants no more than 128 bytes, but 128 bits are served one quarter after the other. Two quarters become "
      "one only where every lane i finds lane i ^ 1, or every lane i finds lane i ^ 2, at its own address. Is lane 1 "
      "or "
      "lane 2 at lane 0's?",
      "In one quarter, lanes 0 to 7, how many different words meet in a bank?" },
    { "load, 128 bits", false, 4, fours_shared,
      "Two quarter-warps may be served as one, but not all four: lanes 0 to 15, then lanes 16 to 31",
      "Every lane i finds lane i ^ 1 at its own address, and for a load two quarter-warps are then served as one. How "
      "many times is that, and how many different words meet in a bank each time?" },
    { "store, 128 bits", true, 4, fours_shared,
      "Only loads are served two quarters at a time where lanes share addresses; the quarters of a store are never "
      "merged",
      "Lanes 0 to 7 store to four places, two lanes to each. Two lanes at one word are no conflict: how many different "
      "words meet in a bank?" },
    { "load, 64 bits", false, 2, column_of_16,
      "16 doubles are 32 words: in which banks do rows 0, 1, 2, ... 15 begin? So many words meet for lanes 0 to 15, "
      "and "
      "lanes 16 to 31 come after them",
      "More than one wavefront for each lane? A double is two words, in two different banks" },
    { "load, 64 bits", false, 2, column_of_17, "64 bits are served in half-warps, even where no two words meet",
      "17 doubles are 34 words: row 1 begins in bank 2, row 2 in bank 4. Do lanes 0 to 15 come back to a bank?" },
    { "store, 128 bits", true, 4, rows_of_24,
      "A quarter-warp stores four rows of 32 bytes, 48 bytes apart: bytes 0 to 31, 48 to 79, 96 to 127, and then? Take "
      "these modulo 128, the width of the banks",
      "A quarter-warp stores four rows of 32 bytes, 48 bytes apart. How many different words meet in the fullest bank? "
      "Those of the other quarters do not count there" },
};

static const struct profile *launch(struct ex *x, int i, int words[WORDS])
{
    char kernel[32];
    const size_t bytes = (size_t)(patterns[i].store ? WORDS : WARP * patterns[i].words) * sizeof(int);
    dev_ptr out = ex_buffer(x, "out", NULL, bytes);
    const struct dev_arg args[] = { DEV_ARG(out) };
    snprintf(kernel, sizeof kernel, "pattern_%d", i + 1);
    const struct profile *p =
        ex_launch(x, kernel, &(struct dev_launch){ .block = { WARP }, .args = args, .n_args = 1 });
    ex_read(x, words, out, bytes);
    return p;
}

// Each kernel accesses what the task says: else a right prediction would be one for something else.
static void are_as_described(enum dev_kind kind)
{
    struct ex x = ex_open(kind);
    for (int i = 0; i < PATTERNS; i++) {
        const struct pattern *p = &patterns[i];
        int got[WORDS], want[WORDS], n = p->store ? WORDS : WARP * p->words;
        for (int w = 0; w < WORDS; w++)
            want[w] = -1;
        for (int lane = 0; lane < WARP; lane++)
            for (int e = 0; e < p->words; e++)
                want[p->store ? p->first(lane) + e : lane * p->words + e] = p->first(lane) + e;
        launch(&x, i, got);
        for (int w = 0; w < n; w++)
            cr_assert_eq(got[w], want[w],
                         "on %s pattern_%d is not the pattern of the task: word %d of out is %d and should be %d. Only "
                         "the predictions are yours to change",
                         dev_about(x.dev)->name, i + 1, w, got[w], want[w]);
    }
    ex_close(&x);
}

Test(check, 01_the_patterns_are_those_of_the_task)
{
    are_as_described(DEV_SIM);
}

Test(check, 02_the_patterns_on_the_GPU)
{
    are_as_described(DEV_GPU);
}

static void is_predicted(int number)
{
    int predicted[PATTERNS], words[WORDS];
    const struct pattern *p = &patterns[number - 1];
    struct ex x = ex_open(DEV_SIM);
    dev_ptr out = ex_buffer(&x, "predictions", NULL, sizeof predicted);
    const struct dev_arg args[] = { DEV_ARG(out) };
    ex_launch(&x, "predictions", &(struct dev_launch){ .block = { PATTERNS }, .args = args, .n_args = 1 });
    ex_read(&x, predicted, out, sizeof predicted);

    const struct profile *count = launch(&x, number - 1, words);
    const int said = predicted[number - 1];
    const int counted = (int)ex_on_lines(count, p->store ? METRIC_SST_WAVE : METRIC_SLD_WAVE, "// the access");
    const uint64_t inst = ex_on_lines(count, p->store ? METRIC_SST_INST : METRIC_SLD_INST, "// the access");
    cr_assert_eq(inst, 1, "pattern_%d is not one access any more, but %" PRIu64, number, inst);
    cr_assert_neq(said, 0, "pattern %d (%s): no prediction yet", number, p->name);
    cr_assert_eq(said, counted, "pattern %d (%s): not %d. %s", number, p->name, said,
                 said < counted ? p->low : p->high);
    ex_close(&x);
}

Test(check, 03_pattern_1_doubles_side_by_side)
{
    is_predicted(1);
}
Test(check, 04_pattern_2_float4s_8_floats_apart)
{
    is_predicted(2);
}
Test(check, 05_pattern_3_lanes_8_apart_share_a_float4)
{
    is_predicted(3);
}
Test(check, 06_pattern_4_neighbours_share_a_float4)
{
    is_predicted(4);
}
Test(check, 07_pattern_5_neighbours_store_to_one_place)
{
    is_predicted(5);
}
Test(check, 08_pattern_6_a_column_of_a_tile_of_doubles)
{
    is_predicted(6);
}
Test(check, 09_pattern_7_the_same_with_padded_rows)
{
    is_predicted(7);
}
Test(check, 10_pattern_8_rows_of_halves_padded_to_24)
{
    is_predicted(8);
}
