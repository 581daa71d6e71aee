// The step that a test program tries. One program serves all steps: the environment's STEP names the step, as in
// STEP=05_vectorized build/tests/test_steps. Meson sets it for each test.
#pragma once

#include <stdbool.h>

#include "tester/step.h"

// That step. Fails the test if the environment names none, or one that is not in the list.
const struct step *step_asked(void);
#define STEP (*step_asked())

// These stay valid until the process ends.
const char *step_folder(void);  // its folder in the sources
const char *step_kernel(void);  // its kernel.cu
const char *step_driver(void);  // its program

// Compiles a .cu file as the build compiles the step's kernel. Returns whether the compiler takes it; *said is what it
// says, to be freed. Fails the test if the compiler cannot be started.
bool step_compile(const char *cu, const char *ptx, char **said);
