// cuBLAS: handles, and products of matrices.
#include "blas.h"

#include <stdlib.h>
#include <string.h>

#include <cublasLt.h>
#include <cuda.h>

// --- Handles ---

cublasStatus_t cublasCreate(cublasHandle_t *out)
{
    struct cublasContext *h = calloc(1, sizeof *h);
    *out = NULL;
    if (h && !cudaFree(NULL) && !gemm_steps_create(GEMM_STEPS_CURRENT, &h->library)) {
        *out = h;
        return CUBLAS_STATUS_SUCCESS;
    }
    free(h);
    return blas_fail(CUBLAS_STATUS_NOT_INITIALIZED, "cublasCreate", gemm_steps_error(NULL));
}

cublasStatus_t cublasDestroy(cublasHandle_t h)
{
    if (!h)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    gemm_steps_destroy(h->library);
    cudaFree(h->scratch);
    if (h->plain)
        cuModuleUnload((CUmodule)h->plain);
    free(h);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtCreate(cublasLtHandle_t *h)
{
    return cublasCreate((cublasHandle_t *)h);
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t h)
{
    return cublasDestroy((cublasHandle_t)h);
}

// A setting of the handle's, of that type.
#define SETTING(type, field, set, get)                                                                                 \
    cublasStatus_t set(cublasHandle_t h, type v)                                                                       \
    {                                                                                                                  \
        if (h)                                                                                                         \
            h->field = v;                                                                                              \
        return h ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;                                              \
    }                                                                                                                  \
    cublasStatus_t get(cublasHandle_t h, type *v)                                                                      \
    {                                                                                                                  \
        if (h)                                                                                                         \
            *v = h->field;                                                                                             \
        return h ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;                                              \
    }

SETTING(cudaStream_t, stream, cublasSetStream, cublasGetStream)
SETTING(cublasPointerMode_t, pointers, cublasSetPointerMode, cublasGetPointerMode)
SETTING(cublasMath_t, math, cublasSetMathMode, cublasGetMathMode)
SETTING(cublasAtomicsMode_t, atomics, cublasSetAtomicsMode, cublasGetAtomicsMode)
// Floats are multiplied as such: what would be put together of narrower numbers is allowed to be as exact.
SETTING(cublasEmulationStrategy_t, emulation, cublasSetEmulationStrategy, cublasGetEmulationStrategy)

// The library has a workspace of its own.
cublasStatus_t cublasSetWorkspace(cublasHandle_t h, void *memory, size_t bytes)
{
    return h ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}

cublasStatus_t cublasGetVersion(cublasHandle_t h, int *version)
{
    *version = CUBLAS_VERSION;
    return CUBLAS_STATUS_SUCCESS;
}

size_t cublasLtGetVersion(void)
{
    return CUBLAS_VERSION;
}

size_t cublasGetCudartVersion(void)
{
    return CUDART_VERSION;
}

size_t cublasLtGetCudartVersion(void)
{
    return CUDART_VERSION;
}

cublasStatus_t cublasGetProperty(libraryPropertyType which, int *value)
{
    *value = which == MAJOR_VERSION ? CUBLAS_VER_MAJOR : which == MINOR_VERSION ? CUBLAS_VER_MINOR : CUBLAS_VER_PATCH;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtGetProperty(libraryPropertyType which, int *value)
{
    return cublasGetProperty(which, value);
}

// X(status, without CUBLAS_STATUS_, in words)
#define STATUSES(X)                                                                                                    \
    X(SUCCESS, "success")                                                                                              \
    X(NOT_INITIALIZED, "the library was not initialized")                                                              \
    X(ALLOC_FAILED, "the resource allocation failed")                                                                  \
    X(INVALID_VALUE, "an unsupported value or parameter was passed to the function")                                   \
    X(ARCH_MISMATCH, "the function requires a feature absent from the device architecture")                            \
    X(MAPPING_ERROR, "an access to GPU memory space failed")                                                           \
    X(EXECUTION_FAILED, "the GPU program failed to execute")                                                           \
    X(INTERNAL_ERROR, "an internal cuBLAS operation failed")                                                           \
    X(NOT_SUPPORTED, "the functionality requested is not supported")                                                   \
    X(LICENSE_ERROR, "the functionality requested requires some license")

const char *cublasGetStatusName(cublasStatus_t s)
{
#define NAME(status, text)                                                                                             \
    case CUBLAS_STATUS_##status:                                                                                       \
        return "CUBLAS_STATUS_" #status;
    switch (s) {
        STATUSES(NAME)
    default:
        return "CUBLAS_STATUS_UNKNOWN";
    }
}

const char *cublasGetStatusString(cublasStatus_t s)
{
#define TEXT(status, text)                                                                                             \
    case CUBLAS_STATUS_##status:                                                                                       \
        return text;
    switch (s) {
        STATUSES(TEXT)
    default:
        return "unknown status";
    }
}

const char *cublasLtGetStatusName(cublasStatus_t s)
{
    return cublasGetStatusName(s);
}

const char *cublasLtGetStatusString(cublasStatus_t s)
{
    return cublasGetStatusString(s);
}

// --- Products ---

static struct blas_product product(cublasHandle_t h, const char *function, int64_t m, int64_t n, int64_t k,
                                   const void *alpha, const void *beta, cublasComputeType_t compute)
{
    const bool halves = compute == CUBLAS_COMPUTE_16F || compute == CUBLAS_COMPUTE_16F_PEDANTIC;
    const bool doubles = compute == CUBLAS_COMPUTE_64F || compute == CUBLAS_COMPUTE_64F_PEDANTIC;
    return (struct blas_product){ .function = function,
                                  .m = m,
                                  .n = n,
                                  .k = k,
                                  .batch = 1,
                                  .alpha = blas_scalar_of(h, alpha),
                                  .beta = blas_scalar_of(h, beta),
                                  .compute = compute,
                                  .scale = halves    ? CUDA_R_16F
                                           : doubles ? CUDA_R_64F
                                                     : CUDA_R_32F,
                                  .stream = h ? h->stream : NULL };
}

// How cuBLAS's functions list what they take: x is the type of a matrix's elements.
#define SIZES cublasHandle_t h, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k
#define MATRICES(function, compute)                                                                                    \
    struct blas_product p = product(h, #function, m, n, k, alpha, beta, compute);                                      \
    p.a = (struct blas_matrix){ .at = A, .type = type_a, .ld = lda, .op = op_a };                                      \
    p.b = (struct blas_matrix){ .at = B, .type = type_b, .ld = ldb, .op = op_b };                                      \
    p.c = (struct blas_matrix){ .at = C, .type = type_c, .ld = ldc };
#define STRIDED                                                                                                        \
    p.batch = batch;                                                                                                   \
    p.a.stride = stride_a, p.b.stride = stride_b, p.c.stride = stride_c;

// All of one type.
#define GEMM(letter, x, cuda_type, compute)                                                                            \
    cublasStatus_t cublas##letter##gemm(SIZES, const x *alpha, const x *A, int lda, const x *B, int ldb,               \
                                        const x *beta, x *C, int ldc)                                                  \
    {                                                                                                                  \
        const cudaDataType type_a = cuda_type, type_b = type_a, type_c = type_a;                                       \
        MATRICES(cublas##letter##gemm, compute)                                                                        \
        return blas_run(h, &p);                                                                                        \
    }                                                                                                                  \
    cublasStatus_t cublas##letter##gemmStridedBatched(SIZES, const x *alpha, const x *A, int lda, long long stride_a,  \
                                                      const x *B, int ldb, long long stride_b, const x *beta, x *C,    \
                                                      int ldc, long long stride_c, int batch)                          \
    {                                                                                                                  \
        const cudaDataType type_a = cuda_type, type_b = type_a, type_c = type_a;                                       \
        MATRICES(cublas##letter##gemmStridedBatched, compute)                                                          \
        STRIDED                                                                                                        \
        return blas_run(h, &p);                                                                                        \
    }                                                                                                                  \
    cublasStatus_t cublas##letter##gemmBatched(SIZES, const x *alpha, const x *const A[], int lda, const x *const B[], \
                                               int ldb, const x *beta, x *const C[], int ldc, int batch)               \
    {                                                                                                                  \
        const cudaDataType type_a = cuda_type, type_b = type_a, type_c = type_a;                                       \
        MATRICES(cublas##letter##gemmBatched, compute)                                                                 \
        return each(h, &p, batch);                                                                                     \
    }

// Of a batch whose matrices are listed on the device.
static cublasStatus_t each(cublasHandle_t h, struct blas_product *p, int batch)
{
    const void *const lists[] = { p->a.at, p->b.at, p->c.at };
    const void **all = calloc(3 * (size_t)(batch > 0 ? batch : 0) + 1, sizeof *all);
    cublasStatus_t s = all ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
    for (int i = 0; !s && i < 3; i++)
        if (batch > 0 && cudaMemcpyAsync(all + (size_t)i * (size_t)batch, lists[i], (size_t)batch * sizeof *all,
                                         cudaMemcpyDeviceToHost, cudaStreamPerThread))
            s = CUBLAS_STATUS_EXECUTION_FAILED;
    for (int i = 0; !s && i < batch; i++) {
        p->a.at = all[i], p->b.at = all[batch + i], p->c.at = all[2 * batch + i];
        s = blas_run(h, p);
    }
    free(all);
    return s;
}

GEMM(S, float, CUDA_R_32F, CUBLAS_COMPUTE_32F)
GEMM(D, double, CUDA_R_64F, CUBLAS_COMPUTE_64F)
// Halves as their bits: C has no name for them.
GEMM(H, uint16_t, CUDA_R_16F, CUBLAS_COMPUTE_16F)

cublasStatus_t cublasSgemmEx(SIZES, const float *alpha, const void *A, cudaDataType type_a, int lda, const void *B,
                             cudaDataType type_b, int ldb, const float *beta, void *C, cudaDataType type_c, int ldc)
{
    MATRICES(cublasSgemmEx, CUBLAS_COMPUTE_32F)
    return blas_run(h, &p);
}

cublasStatus_t cublasGemmEx(SIZES, const void *alpha, const void *A, cudaDataType type_a, int lda, const void *B,
                            cudaDataType type_b, int ldb, const void *beta, void *C, cudaDataType type_c, int ldc,
                            cublasComputeType_t compute, cublasGemmAlgo_t algo)
{
    MATRICES(cublasGemmEx, compute)
    return blas_run(h, &p);
}

cublasStatus_t cublasGemmStridedBatchedEx(SIZES, const void *alpha, const void *A, cudaDataType type_a, int lda,
                                          long long stride_a, const void *B, cudaDataType type_b, int ldb,
                                          long long stride_b, const void *beta, void *C, cudaDataType type_c, int ldc,
                                          long long stride_c, int batch, cublasComputeType_t compute,
                                          cublasGemmAlgo_t algo)
{
    MATRICES(cublasGemmStridedBatchedEx, compute)
    STRIDED
    return blas_run(h, &p);
}

cublasStatus_t cublasGemmBatchedEx(SIZES, const void *alpha, const void *const A[], cudaDataType type_a, int lda,
                                   const void *const B[], cudaDataType type_b, int ldb, const void *beta,
                                   void *const C[], cudaDataType type_c, int ldc, int batch,
                                   cublasComputeType_t compute, cublasGemmAlgo_t algo)
{
    MATRICES(cublasGemmBatchedEx, compute)
    return each(h, &p, batch);
}
