// Step 03: 1D thread tile. A thread computes TM rows of one column, so each value of B it reads serves TM products.
// --- Tile sizes ---
constexpr int BM = 64, BN = 64, BK = 8;  // block tile
constexpr int TM = 8;                    // thread tile
constexpr int THREADS = BM / TM * BN;
static_assert(BM * BK % THREADS == 0 && BK * BN % THREADS == 0, "every thread copies the same number of elements");
__constant__ int geometry[] = { BM, BN, BK, THREADS, 0, TM, 1 };  // read by the driver

__shared__ float As[BM][BK];
__shared__ float Bs[BK][BN];

// A tile may reach past the edge of its matrix. Along M and N, clamp repeats the last row or column: what comes of it
// is never stored. Along K it would join the sums, so load puts 0 there.
__device__ int clamp(int i, int n)
{
    return min(i, n - 1);
}

__device__ float load(const float *x, bool inside)
{
    return inside ? *x : 0;
}

// beta = 0 must not read C: it may hold NaN, or nothing yet.
__device__ void store(float *C, int M, int N, int row, int col, float alpha, float acc, float beta)
{
    if (row < M && col < N) {
        float *c = &C[size_t(row) * N + col];
        *c = beta == 0 ? alpha * acc : alpha * acc + beta * *c;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, 4)  // 4 blocks an SM: at most 32 registers a thread
gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C)
{
    // --- Who am I? ---
    const int tid = threadIdx.x;
    const int brow = blockIdx.y * BM, bcol = blockIdx.x * BN;  // first row and column of the block's tile of C
    const int row = tid / BN * TM;
    const int col = tid % BN;

    // --- Accumulators ---
    float acc[TM] = {};

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
        for (int k = 0; k < BK; k++) {
            const float b = Bs[k][col];
            for (int i = 0; i < TM; i++)
                acc[i] += As[row + i][k] * b;
        }
        __syncthreads();  // everyone has read the tiles before they are overwritten
    }

    // --- Store ---
    for (int i = 0; i < TM; i++)
        store(C, M, N, brow + row + i, bcol + col, alpha, acc[i], beta);
}
