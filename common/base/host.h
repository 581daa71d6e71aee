// What the host tells a program: the time, its processors, where the program is.
#pragma once

#include <stdbool.h>
#include <stddef.h>

double host_seconds(void);       // from a moment that stays the same while the host runs
unsigned host_processors(void);  // 1 where the host does not say
// NAME beside this program, which need not exist; false where the host does not say, or it does not fit.
bool host_beside(const char *name, char *path, size_t size);
