// Exercise 02: shared tiles, and the two barriers that keep them whole.
constexpr int BM = 16, BN = 32, BK = 16;  // block tile
constexpr int THREADS = BM * BN;          // 512: 16 warps
__constant__ int geometry[] = { BM, BN, BK, THREADS };  // read by the check

__shared__ float As[BM][BK];
__shared__ float Bs[BK][BN];

extern "C" __global__ void __launch_bounds__(THREADS)
gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C)
{
    // --- Who am I? ---
    const int tid = threadIdx.x;
    const int brow = blockIdx.y * BM, bcol = blockIdx.x * BN;  // first row and column of the block's tile of C
    const int row = tid / BN, col = tid % BN;

    // --- Accumulators ---
    float acc = 0;

    A += brow * K;
    B += bcol;
    for (int left = K; left > 0; left -= BK, A += BK, B += BK * N) {
        // >>> yours, 2 lines more: every warp runs at its own pace, so where do they have to wait for each other?
        // --- Load ---
        for (int i = tid; i < BM * BK; i += THREADS) {
            const int r = i / BK, c = i % BK;
            As[r][c] = brow + r < M && c < left ? A[r * K + c] : 0;
        }
        for (int i = tid; i < BK * BN; i += THREADS) {
            const int r = i / BN, c = i % BN;
            Bs[r][c] = r < left && bcol + c < N ? B[r * N + c] : 0;
        }

        // --- Compute ---
        for (int k = 0; k < BK; k++)
            acc += As[row][k] * Bs[k][col];
        // <<<
    }

    // --- Store ---
    if (brow + row < M && bcol + col < N) {
        float *c = &C[(brow + row) * N + bcol + col];
        *c = beta == 0 ? alpha * acc : alpha * acc + beta * *c;
    }
}
