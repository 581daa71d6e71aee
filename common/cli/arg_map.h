// A tensor map on the command line of `simt`. See args.h.
#pragma once

#include <stdbool.h>

#include "base/launch.h"

// "[ROWS,COLUMNS]box[ROWS,COLUMNS]swizzle128", of an array of count elements of that type, row-major and without gaps.
// False, with one line in error, if it makes no sense. The address is filled in later.
bool arg_map_parse(const char *text, const char *element, size_t count, struct dev_tensor *t,
                   char error[DEV_ERROR_MAX]);
