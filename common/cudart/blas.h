// cuBLAS on the library (gemm-steps/gemm.h): libcublas.so.13, of which libcublasLt.so.13 is another name. A handle has
// one of the library's, which opens libcuda.so.1 as on a card, so its kernels are launches of the program's like any
// other.
//
//   blas_product.c  a product as cuBLAS states it
//   blas.c          handles, and cublas...gemm...
//   blas_vector.c   vectors: products of one row or column; copies
//   blas_plain.c    what the library has not, by kernels of plain.cu: doubles; blas_elements.c sums and searches
//   blas_say.c      what calls say, and the numbers they are given
//   blas_lt.c       cublasLt
//   blas_xt.c       cublasXt
//   blas_legacy.c   cuBLAS before it had handles
//   blas_missing.c  what is not there, by its name
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <cublas_v2.h>

#include "library/gemm-steps/gemm.h"
#include "note.h"

struct cublasContext {  // also behind a cublasLtHandle_t
    gemm_steps *library;
    cudaStream_t stream;
    cublasPointerMode_t pointers;
    cublasMath_t math;
    cublasAtomicsMode_t atomics;
    cublasEmulationStrategy_t emulation;
    char *scratch;  // blas_scratch
    void *plain;    // the module of plain.cu; NULL until it is needed
};

struct blas_matrix {  // column-major, or by rows
    const void *at;
    cudaDataType type;
    int64_t ld, stride;  // stride: to the next of a batch
    cublasOperation_t op;
    bool by_rows;
};

struct blas_scalar {
    const void *at;
    bool on_device;
};

// C = activation(alpha * op(A) * op(B) + beta * C + bias); C is m x n, and bias has m elements of its type.
struct blas_product {
    const char *function;  // of the API
    int64_t m, n, k, batch;
    struct blas_matrix a, b, c;
    struct blas_scalar alpha, beta;
    cudaDataType scale;  // their type
    cublasComputeType_t compute;
    cudaStream_t stream;
    const void *bias;
    gemm_steps_activation activation;
};

struct blas_scalar blas_scalar_of(cublasHandle_t h, const void *at);  // as its pointer mode says
bool blas_read(const struct blas_scalar *from, cudaDataType type, double *to);

// On the device: a 1 as a float and as a double, and room for a result. NULL: there is no handle, or no memory.
enum { BLAS_ONE_F32 = 0, BLAS_ONE_F64 = 8, BLAS_RESULT = 16 };
char *blas_scratch(cublasHandle_t h);

// Whether the library has such products; if not, *why says what of them it has not.
cublasStatus_t blas_supports(const struct blas_product *p, const char **why);
cublasStatus_t blas_run(struct cublasContext *h, const struct blas_product *p);
cublasStatus_t blas_plain_product(struct cublasContext *h, const struct blas_product *p, double alpha, double beta);

// Says once for each function why it is not done.
cublasStatus_t blas_refuse(const char *function, const char *why);
cublasStatus_t blas_fail(cublasStatus_t s, const char *function, const char *why);  // says it each time
