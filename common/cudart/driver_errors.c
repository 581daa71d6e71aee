// The names of the driver's errors, which have the numbers of the runtime's, and their words.
#include "driver.h"

CUresult cuGetErrorName(CUresult e, const char **name)
{
#define NAME(error)                                                                                                    \
    case CUDA_ERROR_##error:                                                                                           \
        *name = "CUDA_ERROR_" #error;                                                                                  \
        return CUDA_SUCCESS;
    switch ((int)e) {
    case CUDA_SUCCESS:
        *name = "CUDA_SUCCESS";
        return CUDA_SUCCESS;
#include "driver_errors.def"
    default:
        *name = NULL;
        return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult cuGetErrorString(CUresult e, const char **text)
{
    const char *name;
    const CUresult known = cuGetErrorName(e, &name);
    *text = known ? NULL : cudaGetErrorString((cudaError_t)e);
    return known;
}
