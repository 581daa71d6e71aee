// Exercise 01: which thread computes which element, so that the lanes of a warp read neighbours.
constexpr int BM = 16, BN = 32;  // block tile
constexpr int THREADS = BM * BN;
__constant__ int geometry[] = { BM, BN, 0, THREADS };  // read by the check

extern "C" __global__ void __launch_bounds__(THREADS)
gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C)
{
    // --- Who am I? ---
    const int tid = threadIdx.x;  // 0 to 511; the lanes of a warp are 32 neighbours, from a multiple of 32 on
    // >>> yours, 2 lines: the row and the column of C that this thread computes, so that a warp reads one line of B
    const int row = blockIdx.y * BM + tid / BN;
    const int col = blockIdx.x * BN + tid % BN;
    // --- stub
    //| const int row = blockIdx.y * BM + tid % BM;
    //| const int col = blockIdx.x * BN + tid / BM;
    // --- bug lanes along a column: "right result, but" "16 for A and 1 for B" "row and col"
    //| const int row = blockIdx.y * BM + tid % BM;
    //| const int col = blockIdx.x * BN + tid / BM;
    // --- bug divided by the rows: "C[0][16]" "256 of 512 elements of C are never written"
    //| const int row = blockIdx.y * BM + tid / BM;
    //| const int col = blockIdx.x * BN + tid % BM;
    // --- bug the grid swapped: "1024 of 3072 elements of C are never written" "look at the grid"
    //| const int row = blockIdx.x * BM + tid / BN;
    //| const int col = blockIdx.y * BN + tid % BN;
    // --- bug lanes four columns apart: "right result, but" "4 for A and 4 for B" "16 sectors"
    //| const int row = blockIdx.y * BM + tid / 8 % BM;
    //| const int col = blockIdx.x * BN + tid % 8 * 4 + tid / 128;
    // <<<

    // >>> yours, 2 lines: a thread past the edge of C has nothing to compute
    if (row >= M || col >= N)
        return;
    // --- stub
    // --- bug no guard: "out of bounds" "the bounds check of this access"
    // --- bug a guard for the rows alone: "out of bounds" "of B"
    //| if (row >= M)
    //|     return;
    // --- bug one too far: "out of bounds" "the bounds check of this access"
    //| if (row > M || col > N)
    //|     return;
    // <<<

    // --- Accumulators ---
    float acc = 0;

    // --- Compute ---
    for (int k = 0; k < K; k++) {
        const float a = A[row * K + k];
        const float b = B[k * N + col];
        acc += a * b;
    }

    // --- Store ---
    float *c = &C[row * N + col];
    *c = beta == 0 ? alpha * acc : alpha * acc + beta * *c;
}
