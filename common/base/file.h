// Whole text files, and files that live as long as a program needs them.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// A whole file, ended by a NUL, to be freed; NULL, with errno, where it cannot be read.
char *file_read(const char *path);
char *file_read_bytes(const char *path, size_t *bytes);  // how many there are before the NUL, too
bool file_write(const char *path, const char *text);     // false, with errno, where it cannot be written
// Whether path can be written, with errno where it cannot: asked before long work. It is neither made nor changed.
bool file_may_write(const char *path);

struct scratch {
    char folder[32], path[64];
};
// A new folder, and in it the path of a file with this name and text; a NULL text leaves it to be written. False, with
// errno, where that fails; scratch_close removes both.
bool scratch_open(struct scratch *s, const char *name, const char *text);
void scratch_close(struct scratch *s);
