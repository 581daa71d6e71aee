// A text file as a whole.
#pragma once

char *file_text(const char *path);  // ended by a NUL; the caller frees it. Fails the test if it is missing or empty

// The number of the first line that has these words; fails the test if there is none.
unsigned file_line_of(const char *path, const char *words);
