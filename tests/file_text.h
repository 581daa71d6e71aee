// A text file as a whole.
#ifndef TESTS_FILE_TEXT_H
#define TESTS_FILE_TEXT_H

char *file_text(const char *path);  // ended by a NUL; the caller frees it. Fails the test if it is missing or empty

#endif
