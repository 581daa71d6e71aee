// What qsort compares with, and medians.
#pragma once

#include <stddef.h>

int by_value(const void *a, const void *b);   // doubles
int by_number(const void *a, const void *b);  // uint64_t
double median(double *all, size_t n);  // of n > 0, which are sorted; of an even number the mean of the middle two
