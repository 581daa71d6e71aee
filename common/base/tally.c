// See tally.h.
#include "tally.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static const char variable[] = "CUDART_TALLY";  // the number of the file's descriptor, which is inherited

static struct tally *map(int file)
{
    void *at = mmap(NULL, sizeof(struct tally), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    return at == MAP_FAILED ? NULL : at;
}

struct tally *tally_new(void)
{
    char number[16];
    FILE *f = tmpfile();  // stays open as long as this program runs
    if (!f || ftruncate(fileno(f), sizeof(struct tally)))
        return NULL;
    snprintf(number, sizeof number, "%d", fileno(f));
    return setenv(variable, number, 1) ? NULL : map(fileno(f));
}

struct tally *tally_given(void)
{
    const char *number = getenv(variable);
    return number ? map(atoi(number)) : NULL;
}
