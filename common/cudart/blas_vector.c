// cuBLAS: vectors. One whose elements are inc apart is a matrix of one row whose leading dimension is inc, so that all
// of this is products.
#include <math.h>

#include "blas.h"

static struct blas_matrix row(const void *x, int64_t inc)
{
    return (struct blas_matrix){ .at = x, .type = CUDA_R_32F, .ld = inc };
}

static struct blas_matrix column(const void *x, int64_t inc)
{
    struct blas_matrix m = row(x, inc);
    m.op = CUBLAS_OP_T;
    return m;
}

static cublasStatus_t run(cublasHandle_t h, const char *function, const int64_t size[3], struct blas_scalar alpha,
                          struct blas_matrix a, struct blas_matrix b, struct blas_scalar beta, struct blas_matrix c)
{
    const struct blas_product p = { .function = function,
                                    .m = size[0],
                                    .n = size[1],
                                    .k = size[2],
                                    .batch = 1,
                                    .a = a,
                                    .b = b,
                                    .c = c,
                                    .alpha = alpha,
                                    .beta = beta,
                                    .compute = CUBLAS_COMPUTE_32F,
                                    .scale = CUDA_R_32F,
                                    .stream = h ? h->stream : NULL };
    if (a.ld < 1 || b.ld < 1 || c.ld < 1)
        return blas_refuse(function, "elements that lie backwards, or all at one place");
    return blas_run(h, &p);
}

static const float number_0 = 0, number_1 = 1;
static const struct blas_scalar zero = { &number_0, false }, one = { &number_1, false };

// y^T = x^T * op(A)^T
cublasStatus_t cublasSgemv(cublasHandle_t h, cublasOperation_t op, int m, int n, const float *alpha, const float *A,
                           int lda, const float *x, int incx, const float *beta, float *y, int incy)
{
    const bool turned = op != CUBLAS_OP_N;
    struct blas_matrix a = row(A, lda);
    a.op = turned ? CUBLAS_OP_N : CUBLAS_OP_T;
    return run(h, "cublasSgemv", (int64_t[]){ 1, turned ? n : m, turned ? m : n }, blas_scalar_of(h, alpha),
               row(x, incx), a, blas_scalar_of(h, beta), row(y, incy));
}

cublasStatus_t cublasSger(cublasHandle_t h, int m, int n, const float *alpha, const float *x, int incx, const float *y,
                          int incy, float *A, int lda)
{
    return run(h, "cublasSger", (int64_t[]){ m, n, 1 }, blas_scalar_of(h, alpha), column(x, incx), row(y, incy), one,
               row(A, lda));
}

// --- A 1 on the device, and room for a result ---

static bool has_scratch(cublasHandle_t h)
{
    if (!h)
        return false;
    if (!h->scratch && (cudaMalloc((void **)&h->scratch, 2 * sizeof *h->scratch) ||
                        cudaMemcpy(h->scratch, &number_1, sizeof number_1, cudaMemcpyHostToDevice)))
        h->scratch = NULL;
    return h->scratch;
}

// y^T = alpha * 1 * x^T + y^T
cublasStatus_t cublasSaxpy(cublasHandle_t h, int n, const float *alpha, const float *x, int incx, float *y, int incy)
{
    return has_scratch(h) ? run(h, "cublasSaxpy", (int64_t[]){ 1, n, 1 }, blas_scalar_of(h, alpha), row(h->scratch, 1),
                                row(x, incx), one, row(y, incy))
                          : CUBLAS_STATUS_NOT_INITIALIZED;
}

// x^T = 0 * 1 * x^T + alpha * x^T: with a factor of 0 nothing of the product is read.
cublasStatus_t cublasSscal(cublasHandle_t h, int n, const float *alpha, float *x, int incx)
{
    return has_scratch(h) ? run(h, "cublasSscal", (int64_t[]){ 1, n, 1 }, zero, row(h->scratch, 1),
                                row(h->scratch, incx), blas_scalar_of(h, alpha), row(x, incx))
                          : CUBLAS_STATUS_NOT_INITIALIZED;
}

// x^T * y, and its root.
static cublasStatus_t dot(cublasHandle_t h, const char *function, int n, const float *x, int incx, const float *y,
                          int incy, float *result, bool root)
{
    float value = 0;
    if (!has_scratch(h))
        return CUBLAS_STATUS_NOT_INITIALIZED;
    const cublasStatus_t s = run(h, function, (int64_t[]){ 1, 1, n > 0 ? n : 0 }, one, row(x, incx), column(y, incy),
                                 zero, row(h->scratch + 1, 1));
    if (s)
        return s;
    if (cudaMemcpy(&value, h->scratch + 1, sizeof value, cudaMemcpyDeviceToHost))
        return CUBLAS_STATUS_EXECUTION_FAILED;
    value = root ? sqrtf(value) : value;
    return cudaMemcpy(result, &value, sizeof value, cudaMemcpyDefault) ? CUBLAS_STATUS_EXECUTION_FAILED
                                                                       : CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSdot(cublasHandle_t h, int n, const float *x, int incx, const float *y, int incy, float *result)
{
    return dot(h, "cublasSdot", n, x, incx, y, incy, result, false);
}

cublasStatus_t cublasSnrm2(cublasHandle_t h, int n, const float *x, int incx, float *result)
{
    return dot(h, "cublasSnrm2", n, x, incx, x, incx, result, true);
}

// --- Copies ---

static cublasStatus_t copy(void *to, int64_t to_pitch, const void *from, int64_t from_pitch, int64_t width, int64_t n,
                           cudaStream_t s, bool waits)
{
    if (n < 0 || width < 0 || to_pitch < width || from_pitch < width)
        return CUBLAS_STATUS_INVALID_VALUE;
    const cudaError_t e = waits ? cudaMemcpy2D(to, (size_t)to_pitch, from, (size_t)from_pitch, (size_t)width, (size_t)n,
                                               cudaMemcpyDefault)
                                : cudaMemcpy2DAsync(to, (size_t)to_pitch, from, (size_t)from_pitch, (size_t)width,
                                                    (size_t)n, cudaMemcpyDefault, s);
    return e ? CUBLAS_STATUS_MAPPING_ERROR : CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasScopy(cublasHandle_t h, int n, const float *x, int incx, float *y, int incy)
{
    return !h ? CUBLAS_STATUS_NOT_INITIALIZED
              : copy(y, incy * (int64_t)sizeof *y, x, incx * (int64_t)sizeof *x, sizeof *x, n, h->stream, false);
}

#define COPIES(name)                                                                                                   \
    cublasStatus_t cublas##name##Vector(int n, int size, const void *x, int incx, void *y, int incy)                   \
    {                                                                                                                  \
        return copy(y, (int64_t)incy * size, x, (int64_t)incx * size, size, n, NULL, true);                            \
    }                                                                                                                  \
    cublasStatus_t cublas##name##VectorAsync(int n, int size, const void *x, int incx, void *y, int incy,              \
                                             cudaStream_t s)                                                           \
    {                                                                                                                  \
        return copy(y, (int64_t)incy * size, x, (int64_t)incx * size, size, n, s, false);                              \
    }                                                                                                                  \
    cublasStatus_t cublas##name##Matrix(int rows, int columns, int size, const void *A, int lda, void *B, int ldb)     \
    {                                                                                                                  \
        return copy(B, (int64_t)ldb * size, A, (int64_t)lda * size, (int64_t)rows * size, columns, NULL, true);        \
    }                                                                                                                  \
    cublasStatus_t cublas##name##MatrixAsync(int rows, int columns, int size, const void *A, int lda, void *B,         \
                                             int ldb, cudaStream_t s)                                                  \
    {                                                                                                                  \
        return copy(B, (int64_t)ldb * size, A, (int64_t)lda * size, (int64_t)rows * size, columns, s, false);          \
    }

COPIES(Set)
COPIES(Get)
