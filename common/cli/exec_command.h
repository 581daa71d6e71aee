// simt exec and simt nvcc: a whole CUDA program on the simulated GPU. The program's calls come to common/cudart, a
// library that takes the place of CUDA's runtime; what the command line says goes to it through the environment.
#pragma once

#include <stdbool.h>

// Whether argv[1] is one of the two.
bool exec_is_meant(int argc, char **argv);
// Does what the command line says; the exit status.
int exec_command(int argc, char **argv);
