// The plain C triple loop that the benchmark compares with, compiled with -O2 whatever the rest is built with.
#pragma once

// C (m x n) = A (m x k) * B (k x n), row-major.
void plain_gemm(int m, int n, int k, const float *A, const float *B, float *C);
