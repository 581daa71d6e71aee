// What the tests of the runtime begin with. LIBRARIES: the folder of libcudart.so.13.
#pragma once

#include <stdlib.h>

// A program runs on the simulated GPU, and nothing of simt exec's environment is left.
static inline void cudart_prepare(void)
{
    setenv("LD_LIBRARY_PATH", LIBRARIES, 1);
    unsetenv("CUDART_CHECK");
    unsetenv("CUDART_PROFILE");
    unsetenv("CUDART_TALLY");
    unsetenv("CUDART_CARD");
}
