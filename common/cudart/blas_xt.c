// cublasXt: a product of matrices of the host's. They are copied to the device as a whole, and C back.
#include <cublasXt.h>

#include "blas.h"

cublasStatus_t cublasXtCreate(cublasXtHandle_t *h)
{
    return cublasCreate((cublasHandle_t *)h);
}

cublasStatus_t cublasXtDestroy(cublasXtHandle_t h)
{
    return cublasDestroy((cublasHandle_t)h);
}

// There is one device, and no tiles are cut.
cublasStatus_t cublasXtDeviceSelect(cublasXtHandle_t h, int n, int devices[])
{
    return h && n == 1 && devices && !devices[0] ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasXtSetBlockDim(cublasXtHandle_t h, int size)
{
    return h && size > 0 ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

static float *copy_of(const float *x, size_t ld, size_t columns)
{
    const size_t bytes = ld * columns * sizeof *x;
    float *copy = NULL;
    if (cudaMalloc((void **)&copy, bytes) || cudaMemcpy(copy, x, bytes, cudaMemcpyDefault)) {
        cudaFree(copy);
        return NULL;
    }
    return copy;
}

cublasStatus_t cublasXtSgemm(cublasXtHandle_t h, cublasOperation_t op_a, cublasOperation_t op_b, size_t m, size_t n,
                             size_t k, const float *alpha, const float *A, size_t lda, const float *B, size_t ldb,
                             const float *beta, float *C, size_t ldc)
{
    float *a = copy_of(A, lda, op_a == CUBLAS_OP_N ? k : m), *b = copy_of(B, ldb, op_b == CUBLAS_OP_N ? n : k),
          *c = copy_of(C, ldc, n);
    cublasStatus_t s = CUBLAS_STATUS_ALLOC_FAILED;
    if (a && b && c)
        s = cublasSgemm((cublasHandle_t)h, op_a, op_b, (int)m, (int)n, (int)k, alpha, a, (int)lda, b, (int)ldb, beta, c,
                        (int)ldc);
    if (!s && cudaMemcpy(C, c, ldc * n * sizeof *C, cudaMemcpyDefault))
        s = CUBLAS_STATUS_EXECUTION_FAILED;
    cudaFree(a);
    cudaFree(b);
    cudaFree(c);
    return s;
}
