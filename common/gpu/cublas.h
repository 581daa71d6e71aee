// cuBLAS as the baseline, opened at run time.
#pragma once

#include "base/device.h"
#include "cuda.h"

struct cublas;

// Opens libcublas.so.13, .12 or .11 and a handle on the stream. NULL, with one line in error, if there is none.
struct cublas *cublas_open(cu_stream stream, char error[DEV_ERROR_MAX]);
void cublas_close(struct cublas *b);
const char *cublas_name(const struct cublas *b);  // "cuBLAS 13.1.0"

// C (M x N) = alpha * A (M x K) * B (K x N) + beta * C, row-major; queued on the stream. f32 is computed in f32, not in
// TF32; f16 accumulates in f32. False, with one line in error, if cuBLAS refuses.
bool cublas_gemm(struct cublas *b, enum dev_type type, int M, int N, int K, double alpha, cu_ptr A, cu_ptr B,
                 double beta, cu_ptr C, char error[DEV_ERROR_MAX]);
