// How far a long launch on the simulated GPU has come: one line on the terminal, gone when it ends.
#ifndef COMMON_PROGRESS_H
#define COMMON_PROGRESS_H

#include <stdio.h>

#include "device.h"

// What dev_set_progress takes: shows the blocks on stderr, from two seconds after the launch began. NULL if stderr
// is no terminal.
dev_progress *progress_on_terminal(void);

// The line itself, of a launch that began seconds ago. Nothing in the first two; where done is total, the line is
// wiped.
void progress_line(FILE *out, uint64_t done, uint64_t total, double seconds);

#endif
