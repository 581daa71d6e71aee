// The sizes that every step is tested on, and the devices.
#pragma once

#include "tester/tester.h"

struct shape {
    int m, n, k;
};

#define SHAPES_MAX 64

// Fills out with the shapes for a step: one element, primes, one less and one more than each of its tile sizes, tall,
// flat, K = 1, odd everywhere, multiples of the tile. Returns how many. With SAMPLE_BRIEF (sample.h) it is one in six
// of them.
size_t shapes_of(const struct step *step, struct shape out[SHAPES_MAX]);

// Opens a device of that kind; skips the test if there is no GPU, or only one that is too old for the step.
struct dev *device_or_skip(enum dev_kind kind, const struct step *step);

// The geometry in the step's PTX; fails the test if there is none.
struct geometry geometry_of(const struct step *step);
