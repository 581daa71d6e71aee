// Step 03: 1D thread tile. A thread computes TM rows of one column, so each value of B it reads serves TM products.
#ifndef REAL
#define REAL float
#endif

// --- Tile sizes ---
constexpr int BM = 64, BN = 64, BK = 8;  // block tile
constexpr int TM = 8;                     // thread tile
constexpr int THREADS = BM / TM * BN;

// Row-major X is rows x cols. Outside the matrix, load reads 0 and store does nothing.
__device__ REAL load(const REAL *X, int rows, int cols, int row, int col)
{
    return row < rows && col < cols ? X[size_t(row) * cols + col] : 0;
}

// beta = 0 must not read C: it may hold NaN, or nothing yet.
__device__ void store(REAL *C, int M, int N, int row, int col, REAL alpha, REAL acc, REAL beta)
{
    if (row < M && col < N) {
        REAL *c = &C[size_t(row) * N + col];
        *c = beta == 0 ? alpha * acc : alpha * acc + beta * *c;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
gemm(int M, int N, int K, REAL alpha, const REAL *A, const REAL *B, REAL beta, REAL *C)
{
    __shared__ REAL As[BM][BK];
    __shared__ REAL Bs[BK][BN];

    // --- Who am I? ---
    const int tid = threadIdx.x;
    const int brow = blockIdx.y * BM, bcol = blockIdx.x * BN;  // first row and column of the block's tile of C
    const int row = tid / BN * TM;
    const int col = tid % BN;

    // --- Accumulators ---
    REAL acc[TM] = {};

    for (int k0 = 0; k0 < K; k0 += BK) {
        // --- Load ---
        for (int i = tid; i < BM * BK; i += THREADS)
            As[i / BK][i % BK] = load(A, M, K, brow + i / BK, k0 + i % BK);
        for (int i = tid; i < BK * BN; i += THREADS)
            Bs[i / BN][i % BN] = load(B, K, N, k0 + i / BN, bcol + i % BN);
        __syncthreads();  // both tiles are complete before anyone reads them

        // --- Compute ---
        for (int k = 0; k < BK; k++)
            for (int i = 0; i < TM; i++)
                acc[i] += As[row + i][k] * Bs[k][col];
        __syncthreads();  // everyone has read the tiles before they are overwritten
    }

    // --- Store ---
    for (int i = 0; i < TM; i++)
        store(C, M, N, brow + row + i, bcol + col, alpha, acc[i], beta);
}
