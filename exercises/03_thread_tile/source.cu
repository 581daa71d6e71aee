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
    const int row = tid / BN * TM, col = tid % BN;
    float acc[TM] = {};
    // --- stub
    //| const int row = tid / BN, col = tid % BN;
    //| float acc = 0;
    // --- bug TM forgotten in row: "C[15][0]" "1568 of 2048 elements of C are never written"
    //| const int row = tid / BN, col = tid % BN;
    //| float acc[TM] = {};
    // --- bug divided by the rows: "out of bounds" "of Bs (shared memory)"
    //| const int row = tid / BM * TM, col = tid % BM;
    //| float acc[TM] = {};
    // --- bug columns in place of rows: "right result, but" "32 sectors" "a thread has rows"
    //| const int row = tid / (BN / TM), col = tid % (BN / TM) * TM;
    //| float acc[TM] = {};
    // --- bug lanes down the rows: "right result, but" "bank conflicts" "look at which of row and col"
    //| const int row = tid % (BM / TM) * TM, col = tid / (BM / TM);
    //| float acc[TM] = {};
    // --- bug sums in shared memory: "right result, but" "reads of shared memory" "(TM + 1) / TM"
    //| const int row = tid / BN * TM, col = tid % BN;
    //| __shared__ float acc[TM][THREADS];
    //| for (int i = 0; i < TM; i++)
    //|     acc[i][tid] = 0;
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
        for (int k = 0; k < BK; k++) {
            const float b = Bs[k][col];
            for (int i = 0; i < TM; i++)
                acc[i] += As[row + i][k] * b;
        }
        // --- stub
//| #pragma unroll
        //| for (int k = 0; k < BK; k++)
        //|     acc += As[row][k] * Bs[k][col];
        // --- bug the product takes one row of A for all: "one row of A is used for 8 of them"
//| #pragma unroll
        //| for (int k = 0; k < BK; k++) {
        //|     const float b = Bs[k][col];
        //|     for (int i = 0; i < TM; i++)
        //|         acc[i] += As[row][k] * b;
        //| }
        // --- bug the sums start at 0 in each tile: "only the last tile's 8 are there"
        //| for (int i = 0; i < TM; i++)
        //|     acc[i] = 0;
//| #pragma unroll
        //| for (int k = 0; k < BK; k++) {
        //|     const float b = Bs[k][col];
        //|     for (int i = 0; i < TM; i++)
        //|         acc[i] += As[row + i][k] * b;
        //| }
        // --- bug columns in place of rows: "right result, but" "32 sectors" "a thread has rows"
//| #pragma unroll
        //| for (int k = 0; k < BK; k++) {
        //|     const float a = As[row][k];
        //|     for (int i = 0; i < TM; i++)
        //|         acc[i] += a * Bs[k][col + i];
        //| }
        // --- bug A from global memory: "right result, but" "look at the product"
//| #pragma unroll
        //| for (int k = 0; k < BK; k++) {
        //|     const float b = Bs[k][col];
        //|     for (int i = 0; i < TM; i++)
        //|         acc[i] += (brow + row + i < M && k < left ? A[(row + i) * K + k] : 0) * b;
        //| }
        // --- bug sums in shared memory: "right result, but" "reads of shared memory" "(TM + 1) / TM"
//| #pragma unroll
        //| for (int k = 0; k < BK; k++) {
        //|     const float b = Bs[k][col];
        //|     for (int i = 0; i < TM; i++)
        //|         acc[i][tid] += As[row + i][k] * b;
        //| }
        // <<<
        __syncthreads();  // everyone has read the tiles before they are overwritten
    }

    // --- Store ---
    // >>> yours, 2 lines: all TM elements
    for (int i = 0; i < TM; i++)
        store(C, M, N, brow + row + i, bcol + col, alpha, acc[i], beta);
    // --- stub
    //| store(C, M, N, brow + row, bcol + col, alpha, acc, beta);
    // --- bug the store takes one row for all: "1792 of 2048 elements of C are never written"
    //| for (int i = 0; i < TM; i++)
    //|     store(C, M, N, brow + row, bcol + col, alpha, acc[i], beta);
    // --- bug columns in place of rows: "right result, but" "32 sectors" "a thread has rows"
    //| for (int i = 0; i < TM; i++)
    //|     store(C, M, N, brow + row, bcol + col + i, alpha, acc[i], beta);
    // --- bug sums in shared memory: "right result, but" "reads of shared memory" "(TM + 1) / TM"
    //| for (int i = 0; i < TM; i++)
    //|     store(C, M, N, brow + row + i, bcol + col, alpha, acc[i][tid], beta);
    // <<<
}
