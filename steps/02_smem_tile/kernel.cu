// Step 02: shared-memory tiles. A block stages tiles of A and B in shared memory, and each element is used many times.
#ifndef REAL
#define REAL float
#endif

// --- Tile sizes ---
constexpr int BM = 32, BN = 32, BK = 64;  // block tile
constexpr int THREADS = BM * BN;
static_assert(BM * BK % THREADS == 0 && BK * BN % THREADS == 0, "every thread copies the same number of elements");
__constant__ int geometry[] = { BM, BN, BK, THREADS };  // read by the driver

__shared__ REAL As[BM][BK];
__shared__ REAL Bs[BK][BN];

// A tile may reach past the edge of its matrix. Along M and N, clamp repeats the last row or column: what comes of it
// is never stored. Along K it would join the sums, so load puts 0 there.
__device__ int clamp(int i, int n)
{
    return min(i, n - 1);
}

__device__ REAL load(const REAL *x, bool inside)
{
    return inside ? *x : 0;
}

// beta = 0 must not read C: it may hold NaN, or nothing yet.
__device__ void store(REAL *C, int M, int N, int row, int col, REAL alpha, REAL acc, REAL beta)
{
    if (row < M && col < N) {
        REAL *c = &C[size_t(row) * N + col];
        *c = beta == 0 ? alpha * acc : alpha * acc + beta * *c;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, 2)  // 2 blocks an SM: at most 32 registers a thread
gemm(int M, int N, int K, REAL alpha, const REAL *A, const REAL *B, REAL beta, REAL *C)
{
    // --- Who am I? ---
    const int tid = threadIdx.x;
    const int brow = blockIdx.y * BM, bcol = blockIdx.x * BN;  // first row and column of the block's tile of C
    const int row = tid / BN;
    const int col = tid % BN;

    // --- Accumulators ---
    REAL acc = 0;

    // A and B move along K, tile by tile; left is how much of K is still to come.
    A += size_t(brow) * K;  // BM x K: the block's rows
    B += bcol;              // K x BN: the block's columns
    for (int left = K; left > 0; left -= BK, A += BK, B += size_t(BK) * N) {
        // --- Load ---
        for (int i = 0; i < BM * BK; i += THREADS) {
            const int r = (tid + i) / BK, c = (tid + i) % BK;
            As[r][c] = load(&A[size_t(clamp(r, M - brow)) * K + c], c < left);
        }
        for (int i = 0; i < BK * BN; i += THREADS) {
            const int r = (tid + i) / BN, c = (tid + i) % BN;
            Bs[r][c] = load(&B[size_t(r) * N + clamp(c, N - bcol)], r < left);
        }
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
