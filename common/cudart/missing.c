// What is not there says so by its name, and the program gets CUDA's own error. Without CUDA's header, since here the
// arguments do not matter.
#include <stdio.h>

enum { NOT_SUPPORTED = 801 };  // cudaErrorNotSupported

#define MISSING(name)                                                                                                  \
    int name(void);                                                                                                    \
    int name(void)                                                                                                     \
    {                                                                                                                  \
        fprintf(stderr, "cudart: %s is not there yet\n", #name);                                                       \
        return NOT_SUPPORTED;                                                                                          \
    }
#include "missing.def"
