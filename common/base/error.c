// See error.h.
#include "error.h"

#include <stdarg.h>
#include <stdio.h>

bool error_set(char error[DEV_ERROR_MAX], const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(error, DEV_ERROR_MAX, format, args);
    va_end(args);
    return false;
}
