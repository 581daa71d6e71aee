// What the calls of cuBLAS say, and the numbers that they are given.
#include <string.h>

#include "base/matrix.h"
#include "blas.h"

cublasStatus_t blas_fail(cublasStatus_t s, const char *function, const char *why)
{
    __cudartSay(function, why);
    return s;
}

cublasStatus_t blas_refuse(const char *function, const char *why)
{
    enum { SAID = 64 };
    static const char *said[SAID];
    static unsigned n;
    for (unsigned i = 0; i < n; i++)
        if (!strcmp(said[i], function))
            return CUBLAS_STATUS_NOT_SUPPORTED;
    if (n < SAID)
        said[n++] = function;
    return blas_fail(CUBLAS_STATUS_NOT_SUPPORTED, function, why);
}

struct blas_scalar blas_scalar_of(cublasHandle_t h, const void *at)
{
    return (struct blas_scalar){ at, h && h->pointers == CUBLAS_POINTER_MODE_DEVICE };
}

bool blas_read(const struct blas_scalar *from, cudaDataType type, double *to)
{
    union {
        uint16_t half;
        float single;
        double whole;
    } value;
    const size_t bytes = type == CUDA_R_16F   ? sizeof value.half
                         : type == CUDA_R_64F ? sizeof value.whole
                                              : sizeof value.single;
    if (from->on_device && cudaMemcpyAsync(&value, from->at, bytes, cudaMemcpyDeviceToHost, cudaStreamPerThread))
        return false;
    if (!from->on_device)
        memcpy(&value, from->at, bytes);
    *to = type == CUDA_R_16F ? half_to_double(value.half) : type == CUDA_R_64F ? value.whole : (double)value.single;
    return true;
}
