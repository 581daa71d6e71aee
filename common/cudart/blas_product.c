// A product as cuBLAS states it, given to the library. What is column-major is, row-major, its transpose: for a C of
// columns the library computes C^T = op(B)^T * op(A)^T.
#include <stdio.h>
#include <string.h>

#include "base/matrix.h"
#include "blas.h"

// --- Types ---

static gemm_steps_type type_of(cudaDataType t)
{
    return t == CUDA_R_32F    ? GEMM_STEPS_F32
           : t == CUDA_R_16F  ? GEMM_STEPS_F16
           : t == CUDA_R_16BF ? GEMM_STEPS_BF16
                              : (gemm_steps_type)0;
}

static bool keeps_halves(cublasComputeType_t t)
{
    return t == CUBLAS_COMPUTE_16F || t == CUBLAS_COMPUTE_16F_PEDANTIC;
}

// As cuBLAS's documentation lists the types of a product (cublasLtMatmul, cublasGemmEx).
cublasStatus_t blas_supports(const struct blas_product *p, const char **why)
{
    *why = NULL;
    if (p->a.type == CUDA_R_64F && p->b.type == CUDA_R_64F && p->c.type == CUDA_R_64F && p->scale == CUDA_R_64F)
        *why = p->bias || p->activation ? "doubles with a bias or an activation" : NULL;
    else if (!type_of(p->a.type) || p->a.type != p->b.type)
        *why = "A and B have to be both floats, halves, bf16 or doubles";
    else if (p->c.type != CUDA_R_32F && p->c.type != p->a.type)
        *why = "C has to be of A's type, or of floats";
    else if (p->compute == CUBLAS_COMPUTE_64F || p->compute == CUBLAS_COMPUTE_64F_PEDANTIC ||
             p->compute == CUBLAS_COMPUTE_32I || p->compute == CUBLAS_COMPUTE_32I_PEDANTIC)
        *why = "sums are kept in floats, and not in integers, and in doubles if all else is doubles";
    else if (keeps_halves(p->compute) && (p->a.type != CUDA_R_16F || p->c.type != CUDA_R_16F))
        *why = "sums of halves are of halves, and C has halves, too";
    else if (p->scale != (keeps_halves(p->compute) ? CUDA_R_16F : CUDA_R_32F))
        *why = "alpha and beta have to be of the type of the sums";
    return *why ? CUBLAS_STATUS_NOT_SUPPORTED : CUBLAS_STATUS_SUCCESS;
}

// --- The library's product ---

static gemm_steps_problem problem_of(const struct blas_product *p, double alpha, double beta)
{
    const bool turned = p->c.by_rows;
    const struct blas_matrix *first = turned ? &p->a : &p->b, *second = turned ? &p->b : &p->a;
    gemm_steps_problem q = { .m = (int)(turned ? p->m : p->n),
                             .n = (int)(turned ? p->n : p->m),
                             .k = (int)(p->k ? p->k : 1),
                             .batch = (int)p->batch,
                             .type = type_of(p->a.type),
                             .type_c = type_of(p->c.type),
                             .alpha = p->k ? (float)alpha : 0,
                             .beta = (float)beta };
    q.transpose_a = (first->op != CUBLAS_OP_N) ^ first->by_rows ^ turned;
    q.transpose_b = (second->op != CUBLAS_OP_N) ^ second->by_rows ^ turned;
    q.A = (gemm_steps_ptr)(uintptr_t)first->at, q.lda = first->ld, q.stride_a = first->stride;
    q.B = (gemm_steps_ptr)(uintptr_t)second->at, q.ldb = second->ld, q.stride_b = second->stride;
    q.C = (gemm_steps_ptr)(uintptr_t)p->c.at, q.ldc = p->c.ld, q.stride_c = p->c.stride;
    q.bias = (gemm_steps_ptr)(uintptr_t)p->bias;
    q.bias_kind = !p->bias ? GEMM_STEPS_NO_BIAS : turned ? GEMM_STEPS_BIAS_COLUMN : GEMM_STEPS_BIAS_ROW;
    q.activation = p->activation;
    return q;
}

static cublasStatus_t status_of(struct cublasContext *h, const struct blas_product *p, gemm_steps_status s)
{
    static const cublasStatus_t all[] = { [GEMM_STEPS_OK] = CUBLAS_STATUS_SUCCESS,
                                          [GEMM_STEPS_BAD_ARGUMENT] = CUBLAS_STATUS_INVALID_VALUE,
                                          [GEMM_STEPS_NO_DEVICE] = CUBLAS_STATUS_NOT_INITIALIZED,
                                          [GEMM_STEPS_UNSUPPORTED] = CUBLAS_STATUS_ARCH_MISMATCH,
                                          [GEMM_STEPS_OUT_OF_MEMORY] = CUBLAS_STATUS_ALLOC_FAILED,
                                          [GEMM_STEPS_FAILED] = CUBLAS_STATUS_EXECUTION_FAILED,
                                          [GEMM_STEPS_NOT_PREPARED] = CUBLAS_STATUS_EXECUTION_FAILED };
    if (s == GEMM_STEPS_FAILED)
        return all[s];  // the launch, or whatever it was, has said why
    return s ? blas_fail(all[s], p->function, gemm_steps_error(h->library)) : CUBLAS_STATUS_SUCCESS;
}

// Prepared in another stream: that of the product may be captured, and then the library would not.
static cublasStatus_t run(struct cublasContext *h, const struct blas_product *p, const gemm_steps_problem *q)
{
    char call[192];
    enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    gemm_steps_set_stream(h->library, cudaStreamPerThread);
    cudaThreadExchangeStreamCaptureMode(&mode);
    gemm_steps_status s = gemm_steps_prepare(h->library, q);
    cudaThreadExchangeStreamCaptureMode(&mode);
    gemm_steps_set_stream(h->library, p->stream);
    snprintf(call, sizeof call, "%s (%s)", p->function, gemm_steps_kernel(h->library));
    __cudartNote(call);
    if (!s)
        s = gemm_steps_gemm(h->library, q);
    __cudartNote(NULL);
    return status_of(h, p, s);
}

// Whether a column of it, or a row, is no longer than the distance to the next.
static bool has_room(const struct blas_product *p, const struct blas_matrix *x, int64_t rows, int64_t columns,
                     char name)
{
    char why[96];
    const int64_t line = (x->op != CUBLAS_OP_N) ^ x->by_rows ? columns : rows;
    snprintf(why, sizeof why, "ld%c is %lld, and a %s of %c has %lld elements", name, (long long)x->ld,
             x->by_rows ? "row" : "column", name - 'a' + 'A', (long long)line);
    return x->ld >= line || (blas_fail(CUBLAS_STATUS_INVALID_VALUE, p->function, why), false);
}

cublasStatus_t blas_run(struct cublasContext *h, const struct blas_product *p)
{
    enum { MOST = 1 << 30 };
    const char *why;
    double alpha, beta;
    if (!h)
        return blas_fail(CUBLAS_STATUS_NOT_INITIALIZED, p->function, "there is no handle: cublasCreate makes one");
    if (blas_supports(p, &why))
        return blas_refuse(p->function, why);
    if (p->m < 0 || p->n < 0 || p->k < 0 || p->batch < 0 || p->m > MOST || p->n > MOST || p->k > MOST || !p->alpha.at ||
        !p->beta.at)
        return blas_fail(CUBLAS_STATUS_INVALID_VALUE, p->function,
                         "a size is negative or too large, or alpha or beta is a null pointer");
    if (!has_room(p, &p->a, p->m, p->k, 'a') || !has_room(p, &p->b, p->k, p->n, 'b') ||
        !has_room(p, &p->c, p->m, p->n, 'c'))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (!p->m || !p->n || !p->batch)
        return CUBLAS_STATUS_SUCCESS;
    if (!blas_read(&p->alpha, p->scale, &alpha) || !blas_read(&p->beta, p->scale, &beta))
        return CUBLAS_STATUS_EXECUTION_FAILED;
    if (p->a.type == CUDA_R_64F)
        return blas_plain_product(h, p, alpha, beta);
    const gemm_steps_problem q = problem_of(p, alpha, beta);
    return run(h, p, &q);
}
