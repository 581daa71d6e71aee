// Step 07: early loads and two buffers. While the block multiplies one pair of tiles, the next is on its way.
#include "edges.cuh"

// --- Tile sizes ---
constexpr int BM = 128, BN = 128, BK = 8;  // block tile
constexpr int WM = 64, WN = 32;            // warp tile
constexpr int TM = 8, TN = 8;              // thread tile: pieces of 4 x 4, DM rows and DN columns apart
constexpr int DM = WM / (TM / 4), DN = WN / (TN / 4);
constexpr int THREADS = BM / TM * (BN / TN);
constexpr int AROWS = THREADS / (BK / 4), BROWS = THREADS / (BN / 4);  // rows that the block copies at once
constexpr int PAD = 4;  // shifts the rows of As by four banks: its transposed stores do not conflict
static_assert(BM % WM == 0 && BN % WN == 0 && WM == 8 * TM && WN == 4 * TN, "a block has whole warp tiles");
static_assert(BM % AROWS == 0 && BK % BROWS == 0, "every thread copies the same number of elements");
__constant__ int geometry[] = { BM, BN, BK, THREADS, 0, TM, TN, WM, WN };  // read by the driver

__shared__ __align__(16) float As[2][BK][BM + PAD];  // transposed: a column of A's tile lies in a row
__shared__ __align__(16) float Bs[2][BK][BN];

template <bool WIDE>
__device__ void product(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C)
{
    // --- Who am I? ---
    const int tid = threadIdx.x;
    const int brow = blockIdx.y * BM, bcol = blockIdx.x * BN;  // first row and column of the block's tile of C
    const int warp = tid / 32, lane = tid % 32;
    // A warp's lanes are 8 rows by 4 columns of pieces. Bit 0 of the lane chooses the column and bit 1 the row: then
    // one wavefront serves half a warp, whether it reads As or Bs.
    const int row = warp / (BN / WN) * WM + lane / 2 % 8 * 4;
    const int col = warp % (BN / WN) * WN + (lane % 2 + lane / 16 * 2) * 4;
    const int arow = tid / (BK / 4), acol = tid % (BK / 4) * 4;  // copy: the first 4 elements of A's tile
    const int crow = tid / (BN / 4), ccol = tid % (BN / 4) * 4;  // and of B's tile

    // --- Accumulators ---
    float acc[TM][TN] = {};

    // --- Load ---
    // A and B move along K, tile by tile. If BK does not divide K, the first tile is the short one.
    A += size_t(clamp(brow + arow, M)) * K + acol;                           // BM x K: the block's rows
    B += size_t(crow) * N + (WIDE ? min(bcol + ccol, N - 4) : bcol + ccol);  // K x BN: the block's columns
    const int rows = M - brow - arow, cols = WIDE ? 4 : N - bcol - ccol;     // how many are left from there on
    int left = K, depth = (K - 1) % BK + 1;  // left of K, and of it in the next tile
    float4 a_copies[BM / AROWS], b_copies[BK / BROWS];  // on their way
    auto fetch = [&](bool whole) {
        for (int i = 0; i < BK; i += BROWS)
            b_copies[i / BROWS] = load4<WIDE>(&B[size_t(i) * N], whole || crow + i < depth ? cols : 0);
        for (int i = 0; i < BM; i += AROWS)
            a_copies[i / AROWS] = load4<WIDE>(&A[size_t(i) * K], i > 0 && i >= rows ? 0 : whole ? 4 : depth - acol);
        A += depth, B += size_t(depth) * N, left -= depth, depth = BK;
    };
    auto put = [&](int stage) {
        for (int i = 0; i < BM; i += AROWS)
            for (int e = 0; e < 4; e++)
                As[stage][acol + e][arow + i] = (&a_copies[i / AROWS].x)[e];
        for (int i = 0; i < BK; i += BROWS)
            *reinterpret_cast<float4 *>(&Bs[stage][crow + i][ccol]) = b_copies[i / BROWS];
    };
    fetch(false);
    put(0);
    __syncthreads();  // the first tiles are complete before anyone reads them
#pragma unroll 2  // so that stage is a constant
    for (int tile = 0; tile <= (K - 1) / BK; tile++) {
        const int stage = tile % 2;
        if (left > 0)
            fetch(true);  // the next tiles are on their way while these are multiplied

        // --- Compute ---
#pragma unroll
        for (int k = 0; k < BK; k++) {
            float a[TM], b[TN];
            for (int i = 0; i < TM; i += 4)
                *reinterpret_cast<float4 *>(&a[i]) = *reinterpret_cast<float4 *>(&As[stage][k][row + i / 4 * DM]);
            for (int j = 0; j < TN; j += 4)
                *reinterpret_cast<float4 *>(&b[j]) = *reinterpret_cast<float4 *>(&Bs[stage][k][col + j / 4 * DN]);
            for (int i = 0; i < TM; i++)
                for (int z = 0; z < TN; z++) {
                    const int j = i % 2 ? z : TN - 1 - z;  // there and back: the next product finds its b in place
                    acc[i][j] += a[i] * b[j];
                }
        }
        put(1 - stage);
        __syncthreads();  // the next tiles are complete, and everyone has read these to their end
    }

    // --- Store ---
    for (int i = 0; i < TM; i++)
        for (int j = 0; j < TN; j += 4)
            store4<WIDE>(C, M, N, brow + row + i / 4 * DM + i % 4, bcol + col + j / 4 * DN, alpha, &acc[i][j], beta);
}

extern "C" __global__ void __launch_bounds__(THREADS, 2)  // 2 blocks an SM: at most 128 registers a thread
gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C)
{
    // Two bodies: one that tests the alignment of each load is 5 % slower.
    K % 4 || N % 4 ? product<false>(M, N, K, alpha, A, B, beta, C) : product<true>(M, N, K, alpha, A, B, beta, C);
}
