// cuBLAS: vectors. One whose elements are inc apart is a matrix of one row whose leading dimension is inc, so that all
// of this is products.
#include <math.h>

#include "blas.h"

// Of what type a call's elements are, and what is said of it.
struct vectors {
    const char *function;
    cudaDataType type;
};

static size_t bytes_of(const struct vectors *v)
{
    return v->type == CUDA_R_64F ? sizeof(double) : sizeof(float);
}

static struct blas_matrix row(const struct vectors *v, const void *x, int64_t inc)
{
    return (struct blas_matrix){ .at = x, .type = v->type, .ld = inc };
}

static struct blas_matrix column(const struct vectors *v, const void *x, int64_t inc)
{
    struct blas_matrix m = row(v, x, inc);
    m.op = CUBLAS_OP_T;
    return m;
}

static struct blas_scalar number(const struct vectors *v, int which)  // 0 or 1
{
    static const float singles[] = { 0, 1 };
    static const double doubles[] = { 0, 1 };
    return (struct blas_scalar){ v->type == CUDA_R_64F ? (const void *)&doubles[which] : &singles[which], false };
}

static cublasStatus_t run(cublasHandle_t h, const struct vectors *v, const int64_t size[3], struct blas_scalar alpha,
                          struct blas_matrix a, struct blas_matrix b, struct blas_scalar beta, struct blas_matrix c)
{
    const struct blas_product p = { .function = v->function,
                                    .m = size[0],
                                    .n = size[1],
                                    .k = size[2],
                                    .batch = 1,
                                    .a = a,
                                    .b = b,
                                    .c = c,
                                    .alpha = alpha,
                                    .beta = beta,
                                    .compute = v->type == CUDA_R_64F ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F,
                                    .scale = v->type,
                                    .stream = h ? h->stream : NULL };
    if (a.ld < 1 || b.ld < 1 || c.ld < 1)
        return blas_refuse(v->function, "elements that lie backwards, or all at one place");
    return blas_run(h, &p);
}

// y^T = x^T * op(A)^T
static cublasStatus_t gemv(cublasHandle_t h, const struct vectors *v, cublasOperation_t op, int m, int n,
                           const void *alpha, const void *A, int lda, const void *x, int incx, const void *beta,
                           void *y, int incy)
{
    const bool turned = op != CUBLAS_OP_N;
    struct blas_matrix a = row(v, A, lda);
    a.op = turned ? CUBLAS_OP_N : CUBLAS_OP_T;
    return run(h, v, (int64_t[]){ 1, turned ? n : m, turned ? m : n }, blas_scalar_of(h, alpha), row(v, x, incx), a,
               blas_scalar_of(h, beta), row(v, y, incy));
}

static cublasStatus_t ger(cublasHandle_t h, const struct vectors *v, int m, int n, const void *alpha, const void *x,
                          int incx, const void *y, int incy, void *A, int lda)
{
    return run(h, v, (int64_t[]){ m, n, 1 }, blas_scalar_of(h, alpha), column(v, x, incx), row(v, y, incy),
               number(v, 1), row(v, A, lda));
}

// --- With a 1 on the device, and room for a result ---

char *blas_scratch(cublasHandle_t h)
{
    struct {
        float single;
        double whole, room;
    } ones = { 1, 1, 0 };
    enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    cudaThreadExchangeStreamCaptureMode(&mode);
    if (h && !h->scratch &&
        (cudaMalloc((void **)&h->scratch, sizeof ones) ||
         cudaMemcpyAsync(h->scratch, &ones, sizeof ones, cudaMemcpyHostToDevice, cudaStreamPerThread)))
        h->scratch = NULL;
    cudaThreadExchangeStreamCaptureMode(&mode);
    return h ? h->scratch : NULL;
}

static const void *one_of(const struct vectors *v, const char *scratch)
{
    return scratch + (v->type == CUDA_R_64F ? BLAS_ONE_F64 : BLAS_ONE_F32);
}

// y^T = alpha * 1 * x^T + y^T
static cublasStatus_t axpy(cublasHandle_t h, const struct vectors *v, int n, const void *alpha, const void *x, int incx,
                           void *y, int incy)
{
    const char *scratch = blas_scratch(h);
    return scratch ? run(h, v, (int64_t[]){ 1, n, 1 }, blas_scalar_of(h, alpha), row(v, one_of(v, scratch), 1),
                         row(v, x, incx), number(v, 1), row(v, y, incy))
                   : CUBLAS_STATUS_NOT_INITIALIZED;
}

// x^T = 0 * 1 * x^T + alpha * x^T: with a factor of 0 nothing of the product is read.
static cublasStatus_t scal(cublasHandle_t h, const struct vectors *v, int n, const void *alpha, void *x, int incx)
{
    const char *scratch = blas_scratch(h);
    const void *one = scratch ? one_of(v, scratch) : NULL;
    return scratch ? run(h, v, (int64_t[]){ 1, n, 1 }, number(v, 0), row(v, one, 1), row(v, one, incx),
                         blas_scalar_of(h, alpha), row(v, x, incx))
                   : CUBLAS_STATUS_NOT_INITIALIZED;
}

// x^T * y, and its root.
static cublasStatus_t dot(cublasHandle_t h, const struct vectors *v, int n, const void *x, int incx, const void *y,
                          int incy, void *result, bool root)
{
    char *scratch = blas_scratch(h);
    union {
        float single;
        double whole;
    } value;
    if (!scratch)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    const cublasStatus_t s = run(h, v, (int64_t[]){ 1, 1, n > 0 ? n : 0 }, number(v, 1), row(v, x, incx),
                                 column(v, y, incy), number(v, 0), row(v, scratch + BLAS_RESULT, 1));
    if (s)
        return s;
    if (cudaMemcpy(&value, scratch + BLAS_RESULT, bytes_of(v), cudaMemcpyDeviceToHost))
        return CUBLAS_STATUS_EXECUTION_FAILED;
    if (root && v->type == CUDA_R_64F)
        value.whole = sqrt(value.whole);
    else if (root)
        value.single = sqrtf(value.single);
    return cudaMemcpy(result, &value, bytes_of(v), cudaMemcpyDefault) ? CUBLAS_STATUS_EXECUTION_FAILED
                                                                      : CUBLAS_STATUS_SUCCESS;
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

#define VECTORS(L, T, cuda_type)                                                                                       \
    cublasStatus_t cublas##L##gemv(cublasHandle_t h, cublasOperation_t op, int m, int n, const T *alpha, const T *A,   \
                                   int lda, const T *x, int incx, const T *beta, T *y, int incy)                       \
    {                                                                                                                  \
        const struct vectors v = { "cublas" #L "gemv", cuda_type };                                                    \
        return gemv(h, &v, op, m, n, alpha, A, lda, x, incx, beta, y, incy);                                           \
    }                                                                                                                  \
    cublasStatus_t cublas##L##ger(cublasHandle_t h, int m, int n, const T *alpha, const T *x, int incx, const T *y,    \
                                  int incy, T *A, int lda)                                                             \
    {                                                                                                                  \
        const struct vectors v = { "cublas" #L "ger", cuda_type };                                                     \
        return ger(h, &v, m, n, alpha, x, incx, y, incy, A, lda);                                                      \
    }                                                                                                                  \
    cublasStatus_t cublas##L##axpy(cublasHandle_t h, int n, const T *alpha, const T *x, int incx, T *y, int incy)      \
    {                                                                                                                  \
        const struct vectors v = { "cublas" #L "axpy", cuda_type };                                                    \
        return axpy(h, &v, n, alpha, x, incx, y, incy);                                                                \
    }                                                                                                                  \
    cublasStatus_t cublas##L##scal(cublasHandle_t h, int n, const T *alpha, T *x, int incx)                            \
    {                                                                                                                  \
        const struct vectors v = { "cublas" #L "scal", cuda_type };                                                    \
        return scal(h, &v, n, alpha, x, incx);                                                                         \
    }                                                                                                                  \
    cublasStatus_t cublas##L##dot(cublasHandle_t h, int n, const T *x, int incx, const T *y, int incy, T *result)      \
    {                                                                                                                  \
        const struct vectors v = { "cublas" #L "dot", cuda_type };                                                     \
        return dot(h, &v, n, x, incx, y, incy, result, false);                                                         \
    }                                                                                                                  \
    cublasStatus_t cublas##L##nrm2(cublasHandle_t h, int n, const T *x, int incx, T *result)                           \
    {                                                                                                                  \
        const struct vectors v = { "cublas" #L "nrm2", cuda_type };                                                    \
        return dot(h, &v, n, x, incx, x, incx, result, true);                                                          \
    }                                                                                                                  \
    cublasStatus_t cublas##L##copy(cublasHandle_t h, int n, const T *x, int incx, T *y, int incy)                      \
    {                                                                                                                  \
        return !h ? CUBLAS_STATUS_NOT_INITIALIZED                                                                      \
                  : copy(y, incy * (int64_t)sizeof *y, x, incx * (int64_t)sizeof *x, sizeof *x, n, h->stream, false);  \
    }

VECTORS(S, float, CUDA_R_32F)
VECTORS(D, double, CUDA_R_64F)

// --- The same with types that the call names, where all of them are one ---

static bool alike(const struct vectors *v, cudaDataType a, cudaDataType b, cudaDataType execution)
{
    return (v->type == CUDA_R_32F || v->type == CUDA_R_64F) && v->type == a && v->type == b && v->type == execution;
}

static cublasStatus_t unlike(const struct vectors *v)
{
    return blas_refuse(v->function, "types that are not all float, or all double");
}

cublasStatus_t cublasAxpyEx(cublasHandle_t h, int n, const void *alpha, cudaDataType alpha_type, const void *x,
                            cudaDataType type, int incx, void *y, cudaDataType y_type, int incy, cudaDataType execution)
{
    const struct vectors v = { "cublasAxpyEx", type };
    return alike(&v, alpha_type, y_type, execution) ? axpy(h, &v, n, alpha, x, incx, y, incy) : unlike(&v);
}

cublasStatus_t cublasScalEx(cublasHandle_t h, int n, const void *alpha, cudaDataType alpha_type, void *x,
                            cudaDataType type, int incx, cudaDataType execution)
{
    const struct vectors v = { "cublasScalEx", type };
    return alike(&v, alpha_type, type, execution) ? scal(h, &v, n, alpha, x, incx) : unlike(&v);
}

cublasStatus_t cublasDotEx(cublasHandle_t h, int n, const void *x, cudaDataType type, int incx, const void *y,
                           cudaDataType y_type, int incy, void *result, cudaDataType result_type,
                           cudaDataType execution)
{
    const struct vectors v = { "cublasDotEx", type };
    return alike(&v, y_type, result_type, execution) ? dot(h, &v, n, x, incx, y, incy, result, false) : unlike(&v);
}

cublasStatus_t cublasNrm2Ex(cublasHandle_t h, int n, const void *x, cudaDataType type, int incx, void *result,
                            cudaDataType result_type, cudaDataType execution)
{
    const struct vectors v = { "cublasNrm2Ex", type };
    return alike(&v, type, result_type, execution) ? dot(h, &v, n, x, incx, x, incx, result, true) : unlike(&v);
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
