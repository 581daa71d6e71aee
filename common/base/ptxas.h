// What ptxas, the assembler that comes with nvcc, warns of: a kernel that runs, but not as it was meant to.
#pragma once

#include <stdio.h>

const char *ptxas_program(void);  // how it is called: beside the nvcc of the build, or on the PATH

// The warnings among what ptxas, or the compiler in NVIDIA's driver, has said: a line each, without what stands before
// them ("ptxas warning :"), and each once. The caller frees it; NULL if there are none.
char *ptxas_pick_warnings(const char *said);

// Asks the ptxas beside the nvcc of the build, or the one on the PATH, about a kernel of a PTX file, for the GPU that
// the file is for. NULL where it warns of nothing, where there is none, and where it refuses the file. It takes half a
// second for a long kernel, so a file is left out whose instructions it has no warning of.
char *ptxas_warnings(const char *ptx, const char *kernel);

void ptxas_print(FILE *out, const char *before, const char *warnings);  // a line each, with that before it
