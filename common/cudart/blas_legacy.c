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

void cublasSgemm(char a, char b, int m, int n, int k, float alpha, const float *A, int lda, const float *B, int ldb,
                 float beta, float *C, int ldc)
{
    keep(cublasSgemm_v2(handle(), operation(a), operation(b), m, n, k, &alpha, A, lda, B, ldb, &beta, C, ldc));
}

void cublasSgemv(char a, int m, int n, float alpha, const float *A, int lda, const float *x, int incx, float beta,
                 float *y, int incy)
{
    keep(cublasSgemv_v2(handle(), operation(a), m, n, &alpha, A, lda, x, incx, &beta, y, incy));
}

void cublasSger(int m, int n, float alpha, const float *x, int incx, const float *y, int incy, float *A, int lda)
{
    keep(cublasSger_v2(handle(), m, n, &alpha, x, incx, y, incy, A, lda));
}

void cublasSaxpy(int n, float alpha, const float *x, int incx, float *y, int incy)
{
    keep(cublasSaxpy_v2(handle(), n, &alpha, x, incx, y, incy));
}

void cublasSscal(int n, float alpha, float *x, int incx)
{
    keep(cublasSscal_v2(handle(), n, &alpha, x, incx));
}

void cublasScopy(int n, const float *x, int incx, float *y, int incy)
{
    keep(cublasScopy_v2(handle(), n, x, incx, y, incy));
}

float cublasSdot(int n, const float *x, int incx, const float *y, int incy)
{
    float result = 0;
    keep(cublasSdot_v2(handle(), n, x, incx, y, incy, &result));
    return result;
}

float cublasSnrm2(int n, const float *x, int incx)
{
    float result = 0;
    keep(cublasSnrm2_v2(handle(), n, x, incx, &result));
    return result;
}
