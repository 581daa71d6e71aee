// Step 02: shared-memory tiles. A block stages tiles of A and B in shared memory, and each element is used many times.
#include "edges.cuh"
#ifndef REAL
#define REAL float
#endif

// --- Tile sizes ---
constexpr int BM = 32, BN = 32, BK = 64;  // block tile
constexpr int THREADS = BM * BN;
constexpr int AROWS = THREADS / BK, BROWS = THREADS / BN;  // rows that the block copies at once
static_assert(BM % AROWS == 0 && BK % BROWS == 0, "every thread copies the same number of elements");
__constant__ int geometry[] = { BM, BN, BK, THREADS };  // read by the driver

__shared__ REAL As[BM][BK];
__shared__ REAL Bs[BK][BN];

extern "C" __global__ void __launch_bounds__(THREADS, 2)  // 2 blocks an SM: at most 32 registers a thread
gemm(int M, int N, int K, REAL alpha, const REAL *A, const REAL *B, REAL beta, REAL *C)
{
    // --- Who am I? ---
    const int tid = threadIdx.x;
    const int brow = blockIdx.y * BM, bcol = blockIdx.x * BN;  // first row and column of the block's tile of C
    const int row = tid / BN, col = tid % BN;
    const int arow = tid / BK, acol = tid % BK;  // copy: the first element of A's tile
    const int crow = tid / BN, ccol = tid % BN;  // and of B's tile

    // --- Accumulators ---
    REAL acc = 0;

    // --- Load ---
    // A and B move along K, tile by tile. If BK does not divide K, the first tile is the short one.
    A += size_t(brow) * K;  // BM x K: the block's rows
    B += bcol;              // K x BN: the block's columns
    int left = K, depth = (K - 1) % BK + 1;  // left of K, and of it in the next tile
    auto copy = [&] {
        for (int i = 0; i < BM; i += AROWS)
            As[arow + i][acol] = load(&A[size_t(clamp(arow + i, M - brow)) * K + acol], acol < depth);
        for (int i = 0; i < BK; i += BROWS)
            Bs[crow + i][ccol] = load(&B[size_t(crow + i) * N + clamp(ccol, N - bcol)], crow + i < depth);
        A += depth, B += size_t(depth) * N, left -= depth, depth = BK;
    };
    for (int tile = 0; tile <= (K - 1) / BK; tile++) {
        copy();
        __syncthreads();  // both tiles are complete before anyone reads them

        // --- Compute ---
#pragma unroll
        for (int k = 0; k < BK; k++)
            acc += As[row][k] * Bs[k][col];
        __syncthreads();  // everyone has read the tiles before they are overwritten
    }

    // --- Store ---
    store(C, M, N, brow + row, bcol + col, alpha, acc, beta);
}
