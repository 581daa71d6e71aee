// See cublas.h. Signatures as in NVIDIA's cuBLAS reference.
#include "cublas.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OP_N = 0, TYPE_F32 = 0, TYPE_F64 = 1, TYPE_F16 = 2, COMPUTE_F32 = 68, COMPUTE_F64 = 70, ALGO_DEFAULT = -1 };

struct cublas {
    void *library, *handle;
    char name[64];
    int (*create)(void **);
    int (*destroy)(void *);
    int (*set_stream)(void *, cu_stream);
    int (*version)(void *, int *);
    int (*gemm)(void *, int, int, int, int, int, const void *, const void *, int, int, const void *, int, int,
                const void *, void *, int, int, int, int);
    const char *(*status)(int);
};

static void *open_library(void)
{
    static const char *const names[] = { "libcublas.so.13", "libcublas.so.12", "libcublas.so.11" };
    const char *const places[] = { "", getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda" };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        for (size_t j = 0; places[i] && j < sizeof names / sizeof *names; j++) {
            char path[1024];
            snprintf(path, sizeof path, *places[i] ? "%s/lib64/%s" : "%s%s", places[i], names[j]);
            void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
            if (library)
                return library;
        }
    }
    return NULL;
}

static bool find(struct cublas *b, const char *name, void *slot)
{
    void *symbol = dlsym(b->library, name);
    memcpy(slot, &symbol, sizeof symbol);
    return symbol != NULL;
}

static bool failed(const struct cublas *b, const char *call, int status, char error[DEV_ERROR_MAX])
{
    if (status)
        snprintf(error, DEV_ERROR_MAX, "%s: %s", call, b->status(status));
    return status != 0;
}

struct cublas *cublas_open(cu_stream stream, char error[DEV_ERROR_MAX])
{
    struct cublas *b = calloc(1, sizeof *b);
    int version = 0;
    if (!b || !(b->library = open_library())) {
        snprintf(error, DEV_ERROR_MAX,
                 "cuBLAS was not found: libcublas.so.13, .12 or .11 in the loader's path, "
                 "$CUDA_HOME/lib64, $CUDA_PATH/lib64 or /usr/local/cuda/lib64");
        cublas_close(b);
        return NULL;
    }
    if (!find(b, "cublasCreate_v2", &b->create) || !find(b, "cublasDestroy_v2", &b->destroy) ||
        !find(b, "cublasSetStream_v2", &b->set_stream) || !find(b, "cublasGetVersion_v2", &b->version) ||
        !find(b, "cublasGemmEx", &b->gemm) || !find(b, "cublasGetStatusName", &b->status)) {
        snprintf(error, DEV_ERROR_MAX, "this libcublas lacks functions of cuBLAS 11.4");
        cublas_close(b);
        return NULL;
    }
    if (failed(b, "cublasCreate", b->create(&b->handle), error) ||
        failed(b, "cublasSetStream", b->set_stream(b->handle, stream), error) ||
        failed(b, "cublasGetVersion", b->version(b->handle, &version), error)) {
        cublas_close(b);
        return NULL;
    }
    // 130100 is 13.1.0; up to cuBLAS 11 the thousands were the major number: 11402 is 11.4.2.
    if (version >= 100000)
        snprintf(b->name, sizeof b->name, "cuBLAS %d.%d.%d", version / 10000, version / 100 % 100, version % 100);
    else
        snprintf(b->name, sizeof b->name, "cuBLAS %d.%d.%d", version / 1000, version / 100 % 10, version % 100);
    return b;
}

void cublas_close(struct cublas *b)
{
    if (b && b->handle)
        b->destroy(b->handle);
    free(b);  // the library stays: like the driver's, it has exit handlers in this process
}

const char *cublas_name(const struct cublas *b)
{
    return b->name;
}

bool cublas_gemm(struct cublas *b, enum dev_type type, int M, int N, int K, double alpha, cu_ptr A, cu_ptr B,
                 double beta, cu_ptr C, char error[DEV_ERROR_MAX])
{
    float alpha32 = (float)alpha, beta32 = (float)beta;
    bool wide = type == DEV_F64;
    int element = wide ? TYPE_F64 : type == DEV_F16 ? TYPE_F16 : TYPE_F32;
    const void *pa = wide ? (const void *)&alpha : &alpha32, *pb = wide ? (const void *)&beta : &beta32;
    // cuBLAS is column-major: a row-major matrix is its transpose there, and C^T = B^T * A^T.
    int status =
        b->gemm(b->handle, OP_N, OP_N, N, M, K, pa, (const void *)(uintptr_t)B, element, N, (const void *)(uintptr_t)A,
                element, K, pb, (void *)(uintptr_t)C, element, N, wide ? COMPUTE_F64 : COMPUTE_F32, ALGO_DEFAULT);
    return !failed(b, "cublasGemmEx", status, error);
}
