// Runs another program and takes what it says.
#pragma once

#include <stdbool.h>

// Runs argv[0], found along the PATH, with no input and waits for it. *said is what it wrote to standard output and
// standard error, ended by a NUL; the caller frees it. *status: its exit status, 128 + the signal that ended it. False,
// with *said NULL, if it could not be started.
bool program_run(char *const argv[], char **said, int *status);
