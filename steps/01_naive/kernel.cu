// Step 01: naive. One thread computes one element of C, straight from global memory.
#include "edges.cuh"
#ifndef REAL
#define REAL float
#endif

// --- Tile sizes ---
constexpr int BM = 32, BN = 32;  // block tile
constexpr int THREADS = BM * BN;
__constant__ int geometry[] = { BM, BN, 0, THREADS };  // read by the driver

extern "C" __global__ void __launch_bounds__(THREADS)
gemm(int M, int N, int K, REAL alpha, const REAL *A, const REAL *B, REAL beta, REAL *C)
{
    // --- Who am I? ---
    const int tid = threadIdx.x;
    const int brow = blockIdx.y * BM, bcol = blockIdx.x * BN;  // first row and column of the block's tile of C
    const int row = tid / BN, col = tid % BN;
    if (brow + row >= M || bcol + col >= N)
        return;  // past the edge of C: nothing to read, nothing to store

    // --- Accumulators ---
    REAL acc = 0;

    // --- Compute ---
    for (int k = 0; k < K; k++)
        acc += A[size_t(brow + row) * K + k] * B[size_t(k) * N + (bcol + col)];

    // --- Store ---
    store(C, M, N, brow + row, bcol + col, alpha, acc, beta);
}
