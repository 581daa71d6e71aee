// The steps of the course, in order. The build writes the arrays (steps.c) from the list in steps/meson.build.
#pragma once

#include <stddef.h>

#include "tester/tester.h"

extern const struct step *const steps[];
extern const size_t n_steps;
