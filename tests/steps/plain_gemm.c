// See plain_gemm.h.
#include "plain_gemm.h"

#include <stddef.h>

void plain_gemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < n; j++) {
            float sum = 0;
            for (int p = 0; p < k; p++)
                sum += A[(size_t)i * (size_t)k + (size_t)p] * B[(size_t)p * (size_t)n + (size_t)j];
            C[(size_t)i * (size_t)n + (size_t)j] = sum;
        }
    }
}
