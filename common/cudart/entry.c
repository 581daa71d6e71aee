// The functions of the driver's API for which a program asks the runtime by name: the one that driver.c has.
#include <cuda.h>
#include <string.h>

#include "cudart.h"

cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned version,
                                             unsigned long long flags, enum cudaDriverEntryPointQueryResult *result)
{
    const bool found = !strcmp(name, "cuTensorMapEncodeTiled");
    *function = found ? (void *)cuTensorMapEncodeTiled : NULL;
    if (result)
        *result = found ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
    if (!found)
        fprintf(stderr, "cudart: %s is not there yet\n", name);
    return cudaSuccess;  // as CUDA does: the function is NULL
}

cudaError_t cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long flags,
                                    enum cudaDriverEntryPointQueryResult *result)
{
    return cudaGetDriverEntryPointByVersion(name, function, CUDART_VERSION, flags, result);
}
