// The library's kernel for floats: step 07, whose rows may be further apart than they are long, and which can split K:
// blocks z = 0, 1, ... compute sums of their own part of K, and sum4 adds them. Compiled for several sizes of tiles.
#include "edges.cuh"

// --- Tile sizes ---
#ifndef TILE_M
#define TILE_M 128
#define TILE_N 128
#define TILE_K 8
#define LEAST 2
#endif
constexpr int BM = TILE_M, BN = TILE_N, BK = TILE_K;  // block tile
constexpr int WM = 64, WN = 32;            // warp tile
constexpr int TM = 8, TN = 8;              // thread tile: pieces of 4 x 4, DM rows and DN columns apart
constexpr int DM = WM / (TM / 4), DN = WN / (TN / 4);
constexpr int THREADS = BM / TM * (BN / TN);
constexpr int AROWS = THREADS / (BK / 4), BROWS = THREADS / (BN / 4);  // rows that the block copies at once
constexpr int PAD = 4;  // shifts the rows of As by four banks: its transposed stores do not conflict
static_assert(BM % WM == 0 && BN % WN == 0 && WM == 8 * TM && WN == 4 * TN, "a block has whole warp tiles");
static_assert(BM % AROWS == 0 && BK % BROWS == 0, "every thread copies the same number of elements");
__constant__ int geometry[] = { BM, BN, BK, THREADS, 0, TM, TN, WM, WN };  // read by the library

__shared__ __align__(16) float As[2][BK][BM + PAD];  // transposed: a column of A's tile lies in a row
__shared__ __align__(16) float Bs[2][BK][BN];

// Columns n to n + 3 of C's row, which has ldc columns from row to row; C is M x N.
__device__ void store(float *C, int M, int N, int ldc, int row, int col, float alpha, const float *acc, float beta)
{
    float *c = &C[size_t(row) * ldc + col];
    if (row < M && col + 3 < N && ldc % 4 == 0) {
        float4 v = { alpha * acc[0], alpha * acc[1], alpha * acc[2], alpha * acc[3] };
        if (beta != 0) {
            const float4 old = *reinterpret_cast<float4 *>(c);
            v = { alpha * acc[0] + beta * old.x, alpha * acc[1] + beta * old.y, alpha * acc[2] + beta * old.z,
                  alpha * acc[3] + beta * old.w };
        }
        *reinterpret_cast<float4 *>(c) = v;
        return;
    }
    for (int j = 0; j < 4; j++)
        if (row < M && col + j < N)
            c[j] = beta == 0 ? alpha * acc[j] : alpha * acc[j] + beta * c[j];
}

// WIDE: the rows of A and B begin at multiples of 16 bytes, and K is a multiple of 4. The first `skip` columns of A are 0;
// the rows of B that they would be multiplied with do not exist.
template <bool WIDE>
__device__ void product(int M, int N, int K, int skip, float alpha, const float *A, int lda, const float *B, int ldb,
                        float beta, float *C, int ldc)
{
    // --- Who am I? ---
    const int tid = threadIdx.x;
    const int brow = blockIdx.y * BM, bcol = blockIdx.x * BN;  // first row and column of the block's tile of C
    const int warp = tid / 32, lane = tid % 32;
    // A warp's lanes are 8 rows by 4 columns of pieces. Lanes i and i ^ 1 read the same rows of As, and so do lanes 16
    // apart: each quarter of the warp asks for 64 bytes of As and 32 of Bs.
    const int row = warp / (BN / WN) * WM + lane / 2 % 8 * 4;
    const int col = warp % (BN / WN) * WN + (lane % 2 + lane / 16 * 2) * 4;
    const int arow = tid / (BK / 4), acol = tid % (BK / 4) * 4;  // copy: the first 4 elements of A's tile
    const int crow = tid / (BN / 4), ccol = tid % (BN / 4) * 4;  // and of B's tile

    // --- Accumulators ---
    float acc[TM][TN] = {};

    // --- Load ---
    // A and B move along K, tile by tile. If BK does not divide K, the first tile is the short one.
    A += size_t(clamp(brow + arow, M)) * lda + acol;                             // BM x K: the block's rows
    B += size_t(crow) * ldb + (WIDE ? min(bcol + ccol, ldb - 4) : bcol + ccol);  // K x BN: the block's columns
    const int rows = M - brow - arow, cols = WIDE ? 4 : N - bcol - ccol;         // how many are left from there on
    int left = K, depth = (K - 1) % BK + 1;  // left of K, and of it in the next tile
    float4 a_copies[BM / AROWS], b_copies[BK / BROWS];  // on their way
    auto fetch = [&](bool whole) {
        for (int i = 0; i < BK; i += BROWS)
            b_copies[i / BROWS] = load4<WIDE>(&B[size_t(i) * ldb], whole || (crow + i >= skip && crow + i < depth) ? cols : 0);
        for (int i = 0; i < BM; i += AROWS)
            a_copies[i / AROWS] = load4<WIDE>(&A[size_t(i) * lda], i > 0 && i >= rows ? 0 : whole ? 4 : depth - acol);
        A += depth, B += size_t(depth) * ldb, left -= depth, depth = BK;
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
            for (int j = 0; j < TN; j++)
                for (int z = 0; z < TM; z++) {
                    const int i = j % 2 ? z : TM - 1 - z;  // there and back: the next product finds its a in place
                    acc[i][j] += a[i] * b[j];
                }
        }
        put(1 - stage);
        __syncthreads();  // the next tiles are complete, and everyone has read these to their end
    }

    // --- Store ---
#pragma unroll  // acc is in registers
    for (int i = 0; i < TM; i++)
#pragma unroll
        for (int j = 0; j < TN; j += 4)
            store(C, M, N, ldc, brow + row + i / 4 * DM + i % 4, bcol + col + j / 4 * DN, alpha, &acc[i][j], beta);
}

// C is M x N, B has K rows. A has lda columns: K, or some of 0 before them. Block z has columns z * part to
// z * part + part - 1 of A, and stores to the z-th of matrices of M x ldc. part is a multiple of 4.
extern "C" __global__ void __launch_bounds__(THREADS, LEAST)  // LEAST blocks an SM: so many registers a thread may have
gemm(int M, int N, int K, float alpha, const float *A, int lda, const float *B, int ldb, float beta, float *C, int ldc,
     int part)
{
    const int first = blockIdx.z * part, zeros = lda - K, skip = first == 0 ? zeros : 0;
    A += first, B += (ptrdiff_t(first) - zeros) * ldb, C += size_t(blockIdx.z) * M * ldc;
    K = min(part, lda - first);
    lda % 4 || ldb % 4 ? product<false>(M, N, K, skip, alpha, A, lda, B, ldb, beta, C, ldc)
                       : product<true>(M, N, K, skip, alpha, A, lda, B, ldb, beta, C, ldc);
}
