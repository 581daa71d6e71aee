// A failure is one line of text for people, in a buffer of DEV_ERROR_MAX bytes that the caller has.
#pragma once

#include <stdbool.h>

#define DEV_ERROR_MAX 1024  // bytes, the terminating NUL included

// Writes the formatted line to error and returns false, so that a function can end with it.
bool error_set(char error[DEV_ERROR_MAX], const char *format, ...) __attribute__((format(printf, 2, 3)));
