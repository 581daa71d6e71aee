// What the tests of the tester, its options and its driver share: steps that a fake device runs, and command lines.
#pragma once

#include "tester/step.h"

extern const struct step step_f32, step_f64;

enum { WORDS = 16 };

struct words {
    int n;
    char *word[WORDS + 1], copy[4096];
};

// Splits a command line at blanks; what begins with a single quote is one word up to the next. Returns w.
struct words *split(struct words *w, const char *line);

// Bad command lines, and what the one line about each must say.
struct bad_line {
    const char *line, *says[3];
};
extern const struct bad_line bad_lines[];
extern const size_t n_bad_lines;
