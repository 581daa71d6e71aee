// Step 04: 2D thread tile. A thread computes a TM x TN patch: TM + TN values read serve TM * TN products.
// --- Tile sizes ---
constexpr int BM = 128, BN = 128, BK = 8;  // block tile
constexpr int TM = 8, TN = 8;              // thread tile
constexpr int THREADS = BM / TM * (BN / TN);
static_assert(BM * BK == 4 * THREADS && BK * BN == 4 * THREADS, "every thread copies 4 elements of each tile");
__constant__ int geometry[] = { BM, BN, BK, THREADS, 0, TM, TN };  // read by the driver

__shared__ float As[BM][BK];
__shared__ float Bs[BK][BN];

// A tile may reach past the edge of its matrix. Along M, clamp repeats the last row: what comes of it is never stored.
// So along N, with the last column. Along K it would join the sums, so load puts 0 there.
__device__ int clamp(int i, int n)
{
    return min(i, n - 1);
}

__device__ float load(const float *x, bool inside)
{
    return inside ? *x : 0;
}

// Neighbours in a row of C. beta = 0 must not read C: it may hold NaN, or nothing yet.
__device__ void store(float *C, int M, int N, int row, int col, float alpha, const float *acc, float beta)
{
    const int n = row < M ? N - col : 0;  // so many are inside
    float *c = &C[size_t(row) * N + col];
    for (int j = 0; j < TN; j++)
        if (j < n)
            c[j] = beta == 0 ? alpha * acc[j] : alpha * acc[j] + beta * c[j];
}

extern "C" __global__ void __launch_bounds__(THREADS, 2)  // 2 blocks an SM: at most 128 registers a thread
gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C)
{
    // --- Who am I? ---
    const int tid = threadIdx.x;
    const int brow = blockIdx.y * BM, bcol = blockIdx.x * BN;  // first row and column of the block's tile of C
    const int row = tid / (BN / TN) * TM;
    const int col = tid % (BN / TN) * TN;

    // --- Accumulators ---
    float acc[TM][TN] = {};

    // A and B move along K, tile by tile; left is how much of K is still to come.
    A += size_t(brow) * K;  // BM x K: the block's rows
    B += bcol;              // K x BN: the block's columns
    for (int left = K; left > 0; left -= BK, A += BK, B += size_t(BK) * N) {
        // --- Load ---
        auto copy = [&](bool whole) {  // whole: neither tile reaches past K
            for (int i = 0; i < BK * BN; i += THREADS) {
                const int r = (tid + i) / BN, c = (tid + i) % BN;
                Bs[r][c] = load(&B[size_t(r) * N + clamp(c, N - bcol)], whole ? true : r < left);
            }
            for (int i = 0; i < BM * BK; i += THREADS) {
                const int r = (tid + i) / BK, c = (tid + i) % BK;
                As[r][c] = load(&A[size_t(clamp(r, M - brow)) * K + c], whole ? true : c < left);
            }
        };
        if (left >= BK)
            copy(true);  // asked once a tile: asked of every element, it slows the loop down
        else
            copy(false);
        __syncthreads();  // both tiles are complete before anyone reads them

        // --- Compute ---
#pragma unroll
        for (int k = 0; k < BK; k++) {
            float a[TM], b[TN];
            for (int i = 0; i < TM; i++)
                a[i] = As[row + i][k];
            for (int j = 0; j < TN; j++)
                b[j] = Bs[k][col + j];
            for (int i = 0; i < TM; i++)
                for (int z = 0; z < TN; z++) {
                    const int j = i % 2 ? z : TN - 1 - z;  // there and back: the next product finds its b in place
                    acc[i][j] += a[i] * b[j];
                }
        }
        __syncthreads();  // everyone has read the tiles before they are overwritten
    }

    // --- Store ---
    for (int i = 0; i < TM; i++)
        store(C, M, N, brow + row + i, bcol + col, alpha, acc[i], beta);
}
