// The steps of the course, in order. The build writes the arrays (steps.c) from the list in steps/meson.build.
#ifndef STEPS_STEPS_H
#define STEPS_STEPS_H

#include <stddef.h>

#include "tester/tester.h"

extern const struct step *const steps[];
extern const size_t n_steps;

#endif
