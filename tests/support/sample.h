// Some tests have more cases than fit into ten minutes. `meson test` tries a sample of them, chosen by the rules below,
// and `meson test --setup brief`, which is what .ci/run asks for, a smaller one; `meson test --setup long`, and a test
// program that is run by hand, try all. What waits is counted: a test of its own is skipped, and says how many.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

// What the test setup asks for.
enum sample { SAMPLE_ALL, SAMPLE_SOME, SAMPLE_BRIEF };

static inline enum sample sample_asked(void)
{
    const char *text = getenv("GEMM_STEPS_TESTS");
    return !text                    ? SAMPLE_ALL
           : !strcmp(text, "brief") ? SAMPLE_BRIEF
           : !strcmp(text, "some")  ? SAMPLE_SOME
                                    : SAMPLE_ALL;
}

// Whether the case at this place (from 0) among n alike is in the sample of a step or exercise: one of them is, another
// one for each number that the name begins with ("05_vectorized").
static inline bool sample_has(const char *name, size_t place, size_t n)
{
    return n && place == (size_t)atoi(name) % n;
}

// Whether brief has the case at this place (from 0) of a list: one in n.
static inline bool sample_brief(size_t place, size_t n)
{
    return sample_asked() != SAMPLE_BRIEF || place % n == 0;
}

// The same, and what meson test tries by default is as few.
static inline bool sample_some(size_t place, size_t n)
{
    return sample_asked() == SAMPLE_ALL || place % n == 0;
}

// Whether brief has a kind of test of this step or exercise: of one in six, from the one with the number first on.
// Different kinds begin with different steps.
static inline bool sample_brief_step(const char *name, int first)
{
    return sample_asked() != SAMPLE_BRIEF || atoi(name) % 6 == first;
}
