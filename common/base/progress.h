// How far a long launch on the simulated GPU has come: one line on the terminal, gone when it ends; elsewhere one line
// that stays, where the launch will take minutes.
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "device.h"

// What dev_set_progress takes: shows the blocks on stderr, from two seconds after the launch began. If stderr is no
// terminal, it says once, ten seconds after the launch began, how long the rest takes, where that is more than a
// minute.
dev_progress *progress_shown(void);

// The line itself, of a launch that began seconds ago. Nothing in the first two; where done is total, the line is
// wiped.
void progress_line(FILE *out, uint64_t done, uint64_t total, double seconds);
// The line where there is no terminal. False where nothing is to be said yet.
bool progress_note(FILE *out, uint64_t done, uint64_t total, double seconds);
