// cuBLAS: what the library has not, by the kernels of plain.cu: launches, and products of doubles.
#include <stdlib.h>
#include <string.h>

#include <cuda.h>

#include "blas_plain.h"

extern const char kernel_plain[];

// --- Launches ---

static CUfunction find(struct cublasContext *h, const char *kernel)
{
    CUfunction f = NULL;
    if (!h->plain && cuModuleLoadData((CUmodule *)&h->plain, kernel_plain))
        h->plain = NULL;
    return h->plain && !cuModuleGetFunction(&f, (CUmodule)h->plain, kernel) ? f : NULL;
}

cublasStatus_t blas_plain_launch(struct cublasContext *h, const char *function, const char *kernel, int64_t elements,
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

struct plain_steps blas_plain_steps(int64_t ld, bool turned, int64_t stride)
{
    return turned ? (struct plain_steps){ ld, 1, stride } : (struct plain_steps){ 1, ld, stride };
}

static struct plain_steps steps_of(const struct blas_matrix *x)
{
    return blas_plain_steps(x->ld, (x->op != CUBLAS_OP_N) ^ x->by_rows, x->stride);
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
    return blas_plain_launch(h, p->function, "gemm_f64", elements, elements <= FEW && p->k >= LONG ? 32 : 1,
                             (unsigned)(p->batch < MOST ? p->batch : MOST), (void *[]){ &q });
}
