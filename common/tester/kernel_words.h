// Words of a kernel's text: what the files of kernel_text.h share.
#pragma once

#include <stdbool.h>
#include <stddef.h>

bool kernel_is_word(char c);

// The next place of the name as a whole word, before a comment; NULL: there is none.
const char *kernel_find_word(const char *text, const char *name);

// Whether an operator stands behind a place of the name: "=", and no "==", or "+=".
bool kernel_has_behind(const char *text, const char *name, const char *operator);

// Whether the line is the head of a for loop whose counter the text has.
bool kernel_counts(const char *line, const char *text);

// The statement that has this line, in one line of text, without comments; where it begins.
unsigned kernel_statement(const char *file, unsigned line, char *text, size_t size);
