// See sort.h.
#include "sort.h"

#include <stdint.h>
#include <stdlib.h>

int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

double median(double *all, size_t n)
{
    qsort(all, n, sizeof *all, by_value);
    return (all[(n - 1) / 2] + all[n / 2]) / 2;
}
