// What the fuzzers (fuzz_load.c, fuzz_run.c) and test_fuzz.c do with one text: any bytes may be refused, with one line
// that says why, but must not crash the simulated GPU, hang it or make it use much memory. A broken promise aborts.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// Loads text, and looks at every kernel that was refused. True if at least one kernel was not.
bool fuzz_load(const char *text, size_t bytes);
// Loads text and launches its kernels in several shapes with a small budget. True if at least one ran to its end.
bool fuzz_run(const char *text, size_t bytes);
