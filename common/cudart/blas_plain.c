// cuBLAS: what the library has not, by the kernels of plain.cu.
#include <stdlib.h>
#include <string.h>

#include <cuda.h>

#include "blas.h"
#include "plain.h"

extern const char kernel_plain[];
extern const size_t kernel_plain_bytes;

// --- Launches ---

static CUfunction find(struct cublasContext *h, const char *kernel)
{
    CUfunction f = NULL;
    char *text = h->plain ? NULL : strndup(kernel_plain, kernel_plain_bytes);
    if (text && cuModuleLoadData((CUmodule *)&h->plain, text))
        h->plain = NULL;
    free(text);
    return h->plain && !cuModuleGetFunction(&f, (CUmodule)h->plain, kernel) ? f : NULL;
}

// So many threads for each of the elements, which a kernel's block has side by side; y: of the grid.
static cublasStatus_t launch(struct cublasContext *h, const char *function, const char *kernel, int64_t elements,
                             unsigned threads, unsigned y, void **arguments)
{
    CUfunction f = find(h, kernel);
    const unsigned in_a_block = PLAIN_THREADS / threads;
    if (!f)
        return blas_fail(CUBLAS_STATUS_NOT_INITIALIZED, function, "its kernel was not loaded");
    __cudartNote(function);
    const CUresult e = cuLaunchKernel(f, (unsigned)((elements + in_a_block - 1) / in_a_block), y, 1, threads,
                                      in_a_block, 1, 0, h->stream, arguments, NULL);
    __cudartNote(NULL);
    return e ? CUBLAS_STATUS_EXECUTION_FAILED : CUBLAS_STATUS_SUCCESS;
}

static struct plain_steps steps(int64_t ld, bool turned, int64_t stride)
{
    return turned ? (struct plain_steps){ ld, 1, stride } : (struct plain_steps){ 1, ld, stride };
}

static struct plain_steps steps_of(const struct blas_matrix *x)
{
    return steps(x->ld, (x->op != CUBLAS_OP_N) ^ x->by_rows, x->stride);
}

// --- Products of doubles ---

// Few elements with long sums have a warp each.
cublasStatus_t blas_plain_product(struct cublasContext *h, const struct blas_product *p, double alpha, double beta)
{
    enum { FEW = 4096, LONG = 256, MOST = 65535 };
    struct plain_gemm q = { .m = p->m,
                            .n = p->n,
                            .k = p->k,
                            .batch = p->batch,
                            .alpha = alpha,
                            .beta = beta,
                            .A = p->a.at,
                            .B = p->b.at,
                            .C = (double *)p->c.at,
                            .a = steps_of(&p->a),
                            .b = steps_of(&p->b),
                            .c = steps_of(&p->c) };
    const int64_t elements = p->m * p->n;
    return launch(h, p->function, "gemm_f64", elements, elements <= FEW && p->k >= LONG ? 32 : 1,
                  (unsigned)(p->batch < MOST ? p->batch : MOST), (void *[]){ &q });
}

// --- Once over a matrix or a vector ---

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
    p.a = steps(lda, op_a != CUBLAS_OP_N, 0), p.b = steps(ldb, op_b != CUBLAS_OP_N, 0), p.c = steps(ldc, false, 0);
    return m && n ? launch(h, function, doubles ? "add_f64" : "add_f32", (int64_t)m * n, 1, 1, (void *[]){ &p })
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
    return launch(h, function, kernel, n, 1, 1, (void *[]){ &many, &x, &x_step, &y, &y_step });
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
    const cublasStatus_t s = launch(h, function, kernel, 1, 1, 1, (void *[]){ (void *)&many, &x, &step, &what, &out });
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
