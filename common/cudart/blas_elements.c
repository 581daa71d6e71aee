// cuBLAS: what goes once over a matrix or a vector, by the kernels of plain.cu.
#include "blas_plain.h"

static cublasStatus_t add(cublasHandle_t h, const char *function, bool doubles, cublasOperation_t op_a,
                          cublasOperation_t op_b, int m, int n, const void *alpha, const void *A, int lda,
                          const void *beta, const void *B, int ldb, void *C, int ldc)
{
    const cudaDataType type = doubles ? CUDA_R_64F : CUDA_R_32F;
    struct plain_add p = { .m = m, .n = n, .A = A, .B = B, .C = C };
    const struct blas_scalar a = blas_scalar_of(h, alpha), b = blas_scalar_of(h, beta);
    if (!h)
        return blas_fail(CUBLAS_STATUS_NOT_INITIALIZED, function, "there is no handle: cublasCreate makes one");
    if (m < 0 || n < 0 || lda < 1 || ldb < 1 || ldc < m || !alpha || !beta)
        return blas_fail(CUBLAS_STATUS_INVALID_VALUE, function,
                         "a size is negative, a leading dimension too small, or alpha or beta a null pointer");
    if (!blas_read(&a, type, &p.alpha) || !blas_read(&b, type, &p.beta))
        return CUBLAS_STATUS_EXECUTION_FAILED;
    p.a = blas_plain_steps(lda, op_a != CUBLAS_OP_N, 0), p.b = blas_plain_steps(ldb, op_b != CUBLAS_OP_N, 0),
    p.c = blas_plain_steps(ldc, false, 0);
    return m && n
               ? blas_plain_launch(h, function, doubles ? "add_f64" : "add_f32", (int64_t)m * n, 1, 1, (void *[]){ &p })
               : CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t swap(cublasHandle_t h, const char *function, const char *kernel, int n, void *x, int incx,
                           void *y, int incy)
{
    long long many = n, x_step = incx, y_step = incy;
    if (!h || n <= 0)
        return h ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
    if (incx < 1 || incy < 1)
        return blas_refuse(function, "elements that lie backwards, or all at one place");
    return blas_plain_launch(h, function, kernel, n, 1, 1, (void *[]){ &many, &x, &x_step, &y, &y_step });
}

static cublasStatus_t search(cublasHandle_t h, const char *function, const char *kernel, int n, const void *x, int incx,
                             enum plain_search what, void *result, size_t bytes)
{
    long long step = incx;
    const int many = n < 0 || incx < 1 ? 0 : n;
    char *scratch = blas_scratch(h);
    void *out = scratch ? scratch + BLAS_RESULT : NULL;
    if (!out)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    const cublasStatus_t s =
        blas_plain_launch(h, function, kernel, 1, 1, 1, (void *[]){ (void *)&many, &x, &step, &what, &out });
    return s                                                   ? s
           : cudaMemcpy(result, out, bytes, cudaMemcpyDefault) ? CUBLAS_STATUS_EXECUTION_FAILED
                                                               : CUBLAS_STATUS_SUCCESS;
}

#define TYPE(L, l, T, kernels, doubles)                                                                                \
    cublasStatus_t cublas##L##geam(cublasHandle_t h, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n,     \
                                   const T *alpha, const T *A, int lda, const T *beta, const T *B, int ldb, T *C,      \
                                   int ldc)                                                                            \
    {                                                                                                                  \
        return add(h, "cublas" #L "geam", doubles, op_a, op_b, m, n, alpha, A, lda, beta, B, ldb, C, ldc);             \
    }                                                                                                                  \
    cublasStatus_t cublas##L##swap(cublasHandle_t h, int n, T *x, int incx, T *y, int incy)                            \
    {                                                                                                                  \
        return swap(h, "cublas" #L "swap", "swap_" #kernels, n, x, incx, y, incy);                                     \
    }                                                                                                                  \
    cublasStatus_t cublas##L##asum(cublasHandle_t h, int n, const T *x, int incx, T *result)                           \
    {                                                                                                                  \
        return search(h, "cublas" #L "asum", "search_" #kernels, n, x, incx, PLAIN_SUM, result, sizeof *result);       \
    }                                                                                                                  \
    cublasStatus_t cublasI##l##amax(cublasHandle_t h, int n, const T *x, int incx, int *result)                        \
    {                                                                                                                  \
        return search(h, "cublasI" #l "amax", "search_" #kernels, n, x, incx, PLAIN_LARGEST, result, sizeof *result);  \
    }                                                                                                                  \
    cublasStatus_t cublasI##l##amin(cublasHandle_t h, int n, const T *x, int incx, int *result)                        \
    {                                                                                                                  \
        return search(h, "cublasI" #l "amin", "search_" #kernels, n, x, incx, PLAIN_SMALLEST, result, sizeof *result); \
    }

TYPE(S, s, float, f32, false)
TYPE(D, d, double, f64, true)
