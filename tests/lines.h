// Lines of the tables in tests/truth, and texts that a test puts together.
//
//   lines_cut                   a line of tab-separated cells
//   say                         appends to a text
#ifndef TESTS_LINES_H
#define TESTS_LINES_H

#include <stddef.h>

// The cells of a line, at most that many: cell[i] points into line, which is cut at its tabs and its end. Returns how
// many there are.
size_t lines_cut(char *line, char *cell[], size_t most);

struct text {
    char p[1 << 14];  // ends with '\0'
    size_t n;         // characters
};

// Like printf, at the end of the text. What does not fit is an error of the test.
__attribute__((format(printf, 2, 3))) void say(struct text *t, const char *format, ...);

#endif
