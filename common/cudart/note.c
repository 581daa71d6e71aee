// See note.h.
#include "note.h"

#include "cudart.h"

static _Thread_local const char *part_of;

void __cudartNote(const char *call)
{
    part_of = call;
}

const char *cudart_note(void)
{
    return part_of;
}

void __cudartSay(const char *function, const char *why)
{
    const char *place = cudart_place_here(NULL);
    fprintf(stderr, "cudart: %s%s%s: %s\n", place, *place ? ": " : "", function, why);
}
