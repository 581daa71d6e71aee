// Step 04: 2D thread tile. A thread computes a TM x TN patch: TM + TN values read serve TM * TN products.
#include "edges.cuh"

// --- Tile sizes ---
constexpr int BM = 128, BN = 128, BK = 8;  // block tile
constexpr int TM = 8, TN = 8;              // thread tile
constexpr int THREADS = BM / TM * (BN / TN);
constexpr int AROWS = THREADS / BK, BROWS = THREADS / BN;  // rows that the block copies at once
static_assert(BM % TM == 0 && BN % TN == 0, "a block has whole thread tiles");
static_assert(BM % AROWS == 0 && BK % BROWS == 0, "every thread copies the same number of elements");
__constant__ int geometry[] = { BM, BN, BK, THREADS, 0, TM, TN };  // read by the driver

__shared__ float As[BM][BK];
__shared__ __align__(16) float Bs[BK][BN];

extern "C" __global__ void __launch_bounds__(THREADS, 2)  // 2 blocks an SM: at most 128 registers a thread
gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C)
{
    // --- Who am I? ---
    const int tid = threadIdx.x;
    const int brow = blockIdx.y * BM, bcol = blockIdx.x * BN;  // first row and column of the block's tile of C
    const int row = tid / (BN / TN) * TM;
    const int col = tid % (BN / TN) * TN;
    const int arow = tid / BK, acol = tid % BK;  // copy: the first element of A's tile
    const int crow = tid / BN, ccol = tid % BN;  // and of B's tile

    // --- Accumulators ---
    float acc[TM][TN] = {};

    // --- Load ---
    // A and B move along K, tile by tile. If BK does not divide K, the first tile is the short one.
    A += size_t(brow) * K;  // BM x K: the block's rows
    B += bcol;              // K x BN: the block's columns
    int left = K, depth = (K - 1) % BK + 1;  // left of K, and of it in the next tile
    auto copy = [&](bool whole) {
        for (int i = 0; i < BK; i += BROWS)
            Bs[crow + i][ccol] = load(&B[size_t(crow + i) * N + clamp(ccol, N - bcol)], whole || crow + i < depth);
        for (int i = 0; i < BM; i += AROWS)
            As[arow + i][acol] = load(&A[size_t(clamp(arow + i, M - brow)) * K + acol], whole || acol < depth);
        A += depth, B += size_t(depth) * N, left -= depth, depth = BK;
    };
    copy(false);
    for (int tile = 0; tile <= (K - 1) / BK; tile++) {
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
        if (left > 0)
            copy(true);
    }

    // --- Store ---
    for (int i = 0; i < TM; i++)
        for (int j = 0; j < TN; j += 4)
            store4<false>(C, M, N, brow + row + i, bcol + col + j, alpha, &acc[i][j], beta);
}
