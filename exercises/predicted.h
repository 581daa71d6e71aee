// What a learner's kernel would take on a card, by the clock of the simulated GPU. It is told, and never graded.
#pragma once

#include <stdbool.h>

// Prints the predicted time of the kernel gemm of a PTX file, and what bounds it. False where none can be predicted,
// which it says.
bool predicted_print(const char *ptx);
