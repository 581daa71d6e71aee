// What of cuBLAS is not there says so by its name, and the program gets cuBLAS's own status. Without its headers, since
// here the arguments do not matter.
#include "note.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static int not_there(const char *name, bool *said)
{
    enum { NOT_SUPPORTED = 15 };  // CUBLAS_STATUS_NOT_SUPPORTED
    char function[64];
    snprintf(function, sizeof function, "%.*s", (int)strcspn(name, "_"), name);
    if (!*said)
        __cudartSay(function, "it is not there yet");
    *said = true;
    return NOT_SUPPORTED;
}

#define MISSING(name)                                                                                                  \
    int name(void);                                                                                                    \
    int name(void)                                                                                                     \
    {                                                                                                                  \
        static bool said;                                                                                              \
        return not_there(#name, &said);                                                                                \
    }
#include "blas_missing.def"
