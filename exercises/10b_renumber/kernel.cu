// Exercise 10b: renumber a copy. The rows are padded for ldmatrix; now the copy that fills them has conflicts of its own.
#include <cuda_fp16.h>

constexpr int BM = 64, BK = 32;         // the tile of A: 64 rows of 32 halves
constexpr int PAD = 8, LD = BK + PAD;   // halves from one row of the shared tile to the next: 80 bytes
constexpr int THREADS = 128;
constexpr int CHUNKS = BK / 8;          // pieces of 8 halves, 16 bytes, in a row: a thread copies one at a time
constexpr int ROWS = THREADS / CHUNKS;  // rows that the block copies at once

__shared__ __align__(128) half As[BM][LD];

// Which chunk a thread copies: its row, 0 to ROWS - 1, and its first column, a multiple of 8.
__device__ void place(int tid, int *row, int *col)
{
    // >>> yours, 2 lines: 8 lanes store together, 128 bytes. Let them go to 32 different banks
    *row = tid / CHUNKS;
    *col = tid % CHUNKS * 8;
    // <<<
}

// Copies BM x BK halves of A, whose rows are K long, into As, and As to out.
extern "C" __global__ void __launch_bounds__(THREADS) copy(int K, const half *A, half *out)
{
    int row, col;
    place(threadIdx.x, &row, &col);
    for (int i = 0; i < BM; i += ROWS)
        *reinterpret_cast<uint4 *>(&As[row + i][col]) = *reinterpret_cast<const uint4 *>(&A[(row + i) * K + col]);  // the copy
    __syncthreads();  // the tile is complete before anyone reads it
    for (int i = threadIdx.x; i < BM * BK; i += THREADS)
        out[i] = As[i / BK][i % BK];
}

// Where the threads copy, for the check.
extern "C" __global__ void places(int *out)
{
    place(threadIdx.x, &out[2 * threadIdx.x], &out[2 * threadIdx.x + 1]);
}
