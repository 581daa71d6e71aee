// Exercise 03: a thread computes TM rows of one column, so that a value of B is read once for TM products.
constexpr int BM = 64, BN = 32, BK = 8;  // block tile
constexpr int TM = 8;                    // thread tile: TM rows, one column
constexpr int THREADS = BM / TM * BN;    // 256: 8 warps for 64 x 32 elements
__constant__ int geometry[] = { BM, BN, BK, THREADS, 0, TM, 1 };  // read by the check

__shared__ float As[BM][BK];
__shared__ float Bs[BK][BN];

// Stores an element of C, if C has it.
__device__ void store(float *C, int M, int N, int row, int col, float alpha, float acc, float beta)
{
    if (row < M && col < N) {
        float *c = &C[row * N + col];
        *c = beta == 0 ? alpha * acc : alpha * acc + beta * *c;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C)
{
    // --- Who am I? ---
    const int tid = threadIdx.x;
    const int brow = blockIdx.y * BM, bcol = blockIdx.x * BN;  // first row and column of the block's tile of C
    // >>> yours, 2 lines: where this thread's TM elements of the tile begin, and their sums
    const int row = tid / BN, col = tid % BN;
    float acc = 0;
    // <<<

    A += brow * K;
    B += bcol;
    for (int left = K; left > 0; left -= BK, A += BK, B += BK * N) {
        // --- Load ---
        for (int i = tid; i < BM * BK; i += THREADS) {
            const int r = i / BK, c = i % BK;
            As[r][c] = brow + r < M && c < left ? A[r * K + c] : 0;
        }
        for (int i = tid; i < BK * BN; i += THREADS) {
            const int r = i / BN, c = i % BN;
            Bs[r][c] = r < left && bcol + c < N ? B[r * N + c] : 0;
        }
        __syncthreads();  // both tiles are complete before anyone reads them

        // --- Compute ---
        // >>> yours, 4 lines: TM products for each k, with TM + 1 reads of the tiles
#pragma unroll
        for (int k = 0; k < BK; k++)
            acc += As[row][k] * Bs[k][col];
        // <<<
        __syncthreads();  // everyone has read the tiles before they are overwritten
    }

    // --- Store ---
    // >>> yours, 2 lines: all TM elements
    store(C, M, N, brow + row, bcol + col, alpha, acc, beta);
    // <<<
}
