// The tables in tests/truth, and texts that a test puts together.
//
//   truth_open, truth_next      a table, row by row
//   say                         appends to a text
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/table.h"

// The table at path, open. One that cannot be read is an error of the test; table_close closes it.
void truth_open(struct table *t, const char *path);

// Its next row, in t->field; false at the end.
bool truth_next(struct table *t);

struct text {
    char p[1 << 14];  // ends with '\0'
    size_t n;         // characters
};

// Like printf, at the end of the text. What does not fit is an error of the test.
__attribute__((format(printf, 2, 3))) void say(struct text *t, const char *format, ...);
