// What is not there says so by its name, and the program gets CUDA's own error. Without CUDA's header, since here the
// arguments do not matter.
#include <stdbool.h>

int cudart_not_there(const char *name, bool *said);  // errors.c

#define MISSING(name)                                                                                                  \
    int name(void);                                                                                                    \
    int name(void)                                                                                                     \
    {                                                                                                                  \
        static bool said;                                                                                              \
        return cudart_not_there(#name, &said);                                                                         \
    }
#include "missing.def"
