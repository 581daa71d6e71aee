// The names of C++ functions and variables as they stand in the source. Source: the Itanium C++ ABI, chapter 5.1.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define DEMANGLED_MAX 512  // bytes, the terminating NUL included

// "_Z5scaleIfLi4EEvPT_i" -> "scale<float, 4>(float*, int)": no return type. False, and out is a copy (cut to fit), for
// a name that is not mangled, or in a way that is not known here.
bool demangle(const char *mangled, char out[DEMANGLED_MAX]);

// Looks for query among n names, as they stand in the PTX or in the source: the whole name, then without its
// parameters, then without namespaces and template arguments, then any part of it. The index of the only one that fits
// best; -1 if none does, with the first of all names in list; -2, with the first of them in list, if several do.
#define NAME_NONE (-1)
#define NAME_SEVERAL (-2)
int name_find(const char *query, const char *const *names, size_t n, char *list, size_t size);
