// What can be said of a step's PTX file without a device.
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "step.h"

// Whether a file from elsewhere can be run as a step of this type: it has a geometry, and a kernel gemm that takes
// int M, int N, int K, float alpha, const T *A, const T *B, float beta, T *C (for f64, alpha and beta are double; with
// a BOX in its geometry, A and B are tensor maps, and with a CBOX, C's map comes last).
// False, with one line in error, if not. Syntax that the simulated GPU does not know is left to the device.
bool kernel_file_fits(const char *path, enum dev_type type, char error[DEV_ERROR_MAX]);

// Prints the step as one JSON object: name, type, ptx, geometry, constants (its __constant__ ints by name), and, if the
// simulated GPU can tell, static_shared in bytes. False, with one line in error, if its PTX has no geometry or out
// cannot be written.
bool kernel_file_describe(FILE *out, const struct step *step, char error[DEV_ERROR_MAX]);
