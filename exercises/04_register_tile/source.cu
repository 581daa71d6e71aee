// Exercise 04: a thread computes a TM x TN patch, so that TM + TN values read serve TM * TN products.
constexpr int BM = 64, BN = 64, BK = 8;       // block tile
constexpr int TM = 8, TN = 4;                 // thread tile: TM rows, TN columns
constexpr int THREADS = BM / TM * (BN / TN);  // 128: 4 warps for 64 x 64 elements
__constant__ int geometry[] = { BM, BN, BK, THREADS, 0, TM, TN };  // read by the check

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
    // >>> yours, 2 lines: where this thread's patch of the tile begins, and its sums
    const int row = tid / (BN / TN) * TM, col = tid % (BN / TN) * TN;
    float acc[TM][TN] = {};
    // --- stub
    //| const int row = tid / BN * TM, col = tid % BN;  // one column, as in 03
    //| float acc[TM] = {};
    // --- bug sums that begin with nothing: "uninitialised" "acc[i][j] +=" "is there an initialiser"
    //| const int row = tid / (BN / TN) * TM, col = tid % (BN / TN) * TN;
    //| float acc[TM][TN];
    // --- bug divided by the threads of a column: "out of bounds" "As[row + i][k]"
    //| const int row = tid / (BM / TM) * TM, col = tid % (BM / TM) * TN;
    //| float acc[TM][TN] = {};
    // --- bug TN forgotten in col: "C[0][19]" "2880 of 4096 elements of C are never written"
    //| const int row = tid / (BN / TN) * TM, col = tid % (BN / TN);
    //| float acc[TM][TN] = {};
    // --- bug a column of TM x TN rows: "right result, but" "1.031 reads" "(TM + TN) / (TM TN)"
    //| const int row = tid / BN * (TM * TN), col = tid % BN;
    //| float acc[TM * TN] = {};
    // --- bug lanes down the rows: "right result, but" "bank conflicts, in As:" "which of row and col"
    //| const int row = tid % (BM / TM) * TM, col = tid / (BM / TM) * TN;
    //| float acc[TM][TN] = {};
    // --- bug TN rows and TM columns: "right result, but" "bank conflicts, in As and in Bs:" "which of row and col"
    //| const int row = tid / (BN / TM) * TN, col = tid % (BN / TM) * TM;
    //| float acc[TN][TM] = {};
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
#pragma unroll  // ptxas merges the reads of neighbouring k
        // >>> yours, 9 lines: TM * TN products for each k, with TM + TN reads of the tiles
        for (int k = 0; k < BK; k++) {
            float a[TM], b[TN];
            for (int i = 0; i < TM; i++)
                a[i] = As[row + i][k];
            for (int j = 0; j < TN; j++)
                b[j] = Bs[k][col + j];
            for (int i = 0; i < TM; i++)
                for (int j = 0; j < TN; j++)
                    acc[i][j] += a[i] * b[j];
        }
        // --- stub
        //| for (int k = 0; k < BK; k++) {
        //|     const float b = Bs[k][col];
        //|     for (int i = 0; i < TM; i++)
        //|         acc[i] += As[row + i][k] * b;
        //| }
        // --- bug one value of b for all columns: "one column of B is used for 4 of them"
        //| for (int k = 0; k < BK; k++) {
        //|     float a[TM], b[TN];
        //|     for (int i = 0; i < TM; i++)
        //|         a[i] = As[row + i][k];
        //|     for (int j = 0; j < TN; j++)
        //|         b[j] = Bs[k][col];
        //|     for (int i = 0; i < TM; i++)
        //|         for (int j = 0; j < TN; j++)
        //|             acc[i][j] += a[i] * b[j];
        //| }
        // --- bug one value of a for all rows: "one row of A is used for 8 of them"
        //| for (int k = 0; k < BK; k++) {
        //|     float a[TM], b[TN];
        //|     for (int i = 0; i < TM; i++)
        //|         a[i] = As[row][k];
        //|     for (int j = 0; j < TN; j++)
        //|         b[j] = Bs[k][col + j];
        //|     for (int i = 0; i < TM; i++)
        //|         for (int j = 0; j < TN; j++)
        //|             acc[i][j] += a[i] * b[j];
        //| }
        // --- bug a column of TM x TN rows: "right result, but" "1.031 reads" "(TM + TN) / (TM TN)"
        //| for (int k = 0; k < BK; k++) {
        //|     const float b = Bs[k][col];
        //|     for (int i = 0; i < TM * TN; i++)
        //|         acc[i] += As[row + i][k] * b;
        //| }
        // --- bug TN rows and TM columns: "right result, but" "bank conflicts, in As and in Bs:" "which of row and col"
        //| for (int k = 0; k < BK; k++) {
        //|     float a[TN], b[TM];
        //|     for (int i = 0; i < TN; i++)
        //|         a[i] = As[row + i][k];
        //|     for (int j = 0; j < TM; j++)
        //|         b[j] = Bs[k][col + j];
        //|     for (int i = 0; i < TN; i++)
        //|         for (int j = 0; j < TM; j++)
        //|             acc[i][j] += a[i] * b[j];
        //| }
        // --- bug the values are volatile: "right result, but" "local memory"
        //| for (int k = 0; k < BK; k++) {
        //|     volatile float a[TM], b[TN];
        //|     for (int i = 0; i < TM; i++)
        //|         a[i] = As[row + i][k];
        //|     for (int j = 0; j < TN; j++)
        //|         b[j] = Bs[k][col + j];
        //|     for (int i = 0; i < TM; i++)
        //|         for (int j = 0; j < TN; j++)
        //|             acc[i][j] += a[i] * b[j];
        //| }
        // --- bug B from global memory: "right result, but" "look at the product"
        //| for (int k = 0; k < BK; k++) {
        //|     float a[TM], b[TN];
        //|     for (int i = 0; i < TM; i++)
        //|         a[i] = As[row + i][k];
        //|     for (int j = 0; j < TN; j++)
        //|         b[j] = k < left && bcol + col + j < N ? B[k * N + col + j] : 0;
        //|     for (int i = 0; i < TM; i++)
        //|         for (int j = 0; j < TN; j++)
        //|             acc[i][j] += a[i] * b[j];
        //| }
        // <<<
        __syncthreads();  // everyone has read the tiles before they are overwritten
    }

    // --- Store ---
    // >>> yours, 3 lines: all TM * TN elements
    for (int i = 0; i < TM; i++)
        for (int j = 0; j < TN; j++)
            store(C, M, N, brow + row + i, bcol + col + j, alpha, acc[i][j], beta);
    // --- stub
    //| for (int i = 0; i < TM; i++)
    //|     store(C, M, N, brow + row + i, bcol + col, alpha, acc[i], beta);
    // --- bug i and j swapped in the store: "race (racecheck)" "brow + row + j, bcol + col + i" "is the index right?"
    //| for (int i = 0; i < TM; i++)
    //|     for (int j = 0; j < TN; j++)
    //|         store(C, M, N, brow + row + j, bcol + col + i, alpha, acc[i][j], beta);
    // --- bug a column of TM x TN rows: "right result, but" "1.031 reads" "(TM + TN) / (TM TN)"
    //| for (int i = 0; i < TM * TN; i++)
    //|     store(C, M, N, brow + row + i, bcol + col, alpha, acc[i], beta);
    // --- bug TN rows and TM columns: "right result, but" "bank conflicts, in As and in Bs:" "which of row and col"
    //| for (int i = 0; i < TN; i++)
    //|     for (int j = 0; j < TM; j++)
    //|         store(C, M, N, brow + row + i, bcol + col + j, alpha, acc[i][j], beta);
    // <<<
}
