// cuBLAS as it was before it had handles (cublas.h): the calls of today's, by a handle that all share. A failure is
// kept for cublasGetError.
#include <ctype.h>

#include <cublas.h>

static cublasHandle_t shared;
static cublasStatus_t last;

static cublasHandle_t handle(void)
{
    if (!shared)
        cublasCreate_v2(&shared);
    return shared;
}

static void keep(cublasStatus_t s)
{
    if (s)
        last = s;
}

cublasStatus cublasInit(void)
{
    return handle() ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}

cublasStatus cublasShutdown(void)
{
    const cublasStatus_t s = shared ? cublasDestroy_v2(shared) : CUBLAS_STATUS_NOT_INITIALIZED;
    shared = NULL;
    return s;
}

cublasStatus cublasGetError(void)
{
    const cublasStatus_t s = last;
    last = CUBLAS_STATUS_SUCCESS;
    return s;
}

cublasStatus cublasGetVersion(int *version)
{
    return cublasGetVersion_v2(handle(), version);
}

cublasStatus cublasSetKernelStream(cudaStream_t stream)
{
    return cublasSetStream_v2(handle(), stream);
}

cublasStatus cublasAlloc(int n, int size, void **p)
{
    if (n <= 0 || size <= 0)
        return CUBLAS_STATUS_INVALID_VALUE;
    return cudaMalloc(p, (size_t)n * (size_t)size) ? CUBLAS_STATUS_ALLOC_FAILED : CUBLAS_STATUS_SUCCESS;
}

cublasStatus cublasFree(void *p)
{
    return cudaFree(p) ? CUBLAS_STATUS_INTERNAL_ERROR : CUBLAS_STATUS_SUCCESS;
}

static cublasOperation_t operation(char c)
{
    const int letter = toupper((unsigned char)c);
    return letter == 'N' ? CUBLAS_OP_N : letter == 'T' ? CUBLAS_OP_T : CUBLAS_OP_C;
}

#define TYPE(L, l, T)                                                                                                  \
    void cublas##L##gemm(char a, char b, int m, int n, int k, T alpha, const T *A, int lda, const T *B, int ldb,       \
                         T beta, T *C, int ldc)                                                                        \
    {                                                                                                                  \
        keep(                                                                                                          \
            cublas##L##gemm_v2(handle(), operation(a), operation(b), m, n, k, &alpha, A, lda, B, ldb, &beta, C, ldc)); \
    }                                                                                                                  \
    void cublas##L##gemv(char a, int m, int n, T alpha, const T *A, int lda, const T *x, int incx, T beta, T *y,       \
                         int incy)                                                                                     \
    {                                                                                                                  \
        keep(cublas##L##gemv_v2(handle(), operation(a), m, n, &alpha, A, lda, x, incx, &beta, y, incy));               \
    }                                                                                                                  \
    void cublas##L##ger(int m, int n, T alpha, const T *x, int incx, const T *y, int incy, T *A, int lda)              \
    {                                                                                                                  \
        keep(cublas##L##ger_v2(handle(), m, n, &alpha, x, incx, y, incy, A, lda));                                     \
    }                                                                                                                  \
    void cublas##L##axpy(int n, T alpha, const T *x, int incx, T *y, int incy)                                         \
    {                                                                                                                  \
        keep(cublas##L##axpy_v2(handle(), n, &alpha, x, incx, y, incy));                                               \
    }                                                                                                                  \
    void cublas##L##scal(int n, T alpha, T *x, int incx)                                                               \
    {                                                                                                                  \
        keep(cublas##L##scal_v2(handle(), n, &alpha, x, incx));                                                        \
    }                                                                                                                  \
    void cublas##L##copy(int n, const T *x, int incx, T *y, int incy)                                                  \
    {                                                                                                                  \
        keep(cublas##L##copy_v2(handle(), n, x, incx, y, incy));                                                       \
    }                                                                                                                  \
    void cublas##L##swap(int n, T *x, int incx, T *y, int incy)                                                        \
    {                                                                                                                  \
        keep(cublas##L##swap_v2(handle(), n, x, incx, y, incy));                                                       \
    }                                                                                                                  \
    T cublas##L##dot(int n, const T *x, int incx, const T *y, int incy)                                                \
    {                                                                                                                  \
        T result = 0;                                                                                                  \
        keep(cublas##L##dot_v2(handle(), n, x, incx, y, incy, &result));                                               \
        return result;                                                                                                 \
    }                                                                                                                  \
    T cublas##L##nrm2(int n, const T *x, int incx)                                                                     \
    {                                                                                                                  \
        T result = 0;                                                                                                  \
        keep(cublas##L##nrm2_v2(handle(), n, x, incx, &result));                                                       \
        return result;                                                                                                 \
    }                                                                                                                  \
    T cublas##L##asum(int n, const T *x, int incx)                                                                     \
    {                                                                                                                  \
        T result = 0;                                                                                                  \
        keep(cublas##L##asum_v2(handle(), n, x, incx, &result));                                                       \
        return result;                                                                                                 \
    }                                                                                                                  \
    int cublasI##l##amax(int n, const T *x, int incx)                                                                  \
    {                                                                                                                  \
        int result = 0;                                                                                                \
        keep(cublasI##l##amax_v2(handle(), n, x, incx, &result));                                                      \
        return result;                                                                                                 \
    }                                                                                                                  \
    int cublasI##l##amin(int n, const T *x, int incx)                                                                  \
    {                                                                                                                  \
        int result = 0;                                                                                                \
        keep(cublasI##l##amin_v2(handle(), n, x, incx, &result));                                                      \
        return result;                                                                                                 \
    }

TYPE(S, s, float)
TYPE(D, d, double)
