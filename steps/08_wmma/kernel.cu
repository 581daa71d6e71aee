// Step 08: WMMA. A warp computes a 16 x 16 tile of C on the tensor cores, with fragments straight from global memory.
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

// --- Tile sizes ---
constexpr int BM = 64, BN = 32, BK = 16;  // block tile
constexpr int WM = 16, WN = 16;           // warp tile
constexpr int THREADS = BM / WM * (BN / WN) * 32;
// Elements from one row of a shared tile to the next.
constexpr int LDA = BK, LDB = WN, LDC = BN;
constexpr int PATCH = WM * LDA + BK * LDB;  // halves in As[WM][LDA] and Bs[BK][LDB] together

using half8 = uint4;  // 8 neighbours in a row: 16 bytes, the widest copy there is

// The first n of 8 neighbours, and 0 for the others: a tile may reach past the edge of its matrix.
// WIDE: rows start at multiples of 16 bytes, so that all 8 are there or none, and one copy takes them.
template <bool WIDE> __device__ half8 load(const half *x, int n)
{
    if constexpr (WIDE)
        return n > 0 ? *reinterpret_cast<const half8 *>(x) : half8();
    alignas(16) half v[8] = {};
    for (int e = 0; e < 8; e++)
        if (e < n)
            v[e] = x[e];
    return *reinterpret_cast<half8 *>(v);
}

template <bool WIDE> __device__ void store(half *C, int M, int N, int row, int col, half8 v)
{
    half *c = &C[size_t(row) * N + col];
    for (int e = 0; e < (WIDE ? 1 : 8); e++)
        if (row < M && col + e < N) {
            if constexpr (WIDE)
                *reinterpret_cast<half8 *>(c) = v;
            else
                c[e] = reinterpret_cast<half *>(&v)[e];
        }
}

// n results in a row. beta = 0 must not read C: it may hold NaN, or nothing yet.
__device__ void finish(half *v, int n, const half *C, int M, int N, int row, int col, float alpha, const float *acc,
                       float beta)
{
    float x[8];  // all reads first, so that they become 128 bits wide
    for (int e = 0; e < n; e++)
        x[e] = acc[e];
    for (int e = 0; e < n; e++)
        v[e] = alpha * x[e];
    for (int e = 0; e < n && beta != 0; e++)
        if (row < M && col + e < N)
            v[e] = alpha * x[e] + beta * float(C[size_t(row) * N + col + e]);
}

template <bool WIDE>
__device__ void product(int M, int N, int K, float alpha, const half *A, const half *B, float beta, half *C)
{
    extern __shared__ __align__(32) half8 shared[];  // As and Bs for each warp; at the end the tile of C
    float *Cs = reinterpret_cast<float *>(shared);

    // --- Who am I? ---
    const int tid = threadIdx.x;
    const int warp = tid / 32, lane = tid % 32;
    const int brow = blockIdx.y * BM, bcol = blockIdx.x * BN;  // first row and column of the block's tile of C
    const int row = warp / (BN / WN) * WM, col = warp % (BN / WN) * WN;  // multiply: a warp tile each
    const int crow = lane / (WN / 8), ccol = lane % (WN / 8) * 8;        // copy: two lanes a row of the warp tile
    half *As = reinterpret_cast<half *>(shared) + warp * PATCH, *Bs = As + WM * LDA;

    // --- Accumulators ---
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc[WM / 16][WN / 16];
    for (int i = 0; i < WM / 16; i++)
        for (int j = 0; j < WN / 16; j++)
            wmma::fill_fragment(acc[i][j], 0);

    // --- Load ---
    // A and B move along K, tile by tile; left is how much of K is still to come.
    A += size_t(brow + row) * K;  // WM x K: the warp's rows
    B += bcol + col;              // K x WN: the warp's columns
    const int rows = M - brow - row, cols = N - bcol - col;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a[WM / 16];
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b[WN / 16];
    for (int left = K; left > 0; left -= BK, A += BK, B += size_t(BK) * N) {
        if (WIDE && rows >= WM && cols >= WN && left >= BK) {
            wmma::load_matrix_sync(a[0], A, K);
            wmma::load_matrix_sync(b[0], B, N);
        } else {
            // A fragment can only be loaded where the whole tile is there, and rows start at multiples of 16 bytes.
            __syncwarp();  // every lane has read the last tiles before they are overwritten
            *reinterpret_cast<half8 *>(&As[crow * LDA + ccol]) =
                load<WIDE>(&A[size_t(crow) * K + ccol], crow < rows ? left - ccol : 0);
            *reinterpret_cast<half8 *>(&Bs[crow * LDB + ccol]) =
                load<WIDE>(&B[size_t(crow) * N + ccol], crow < left ? cols - ccol : 0);
            __syncwarp();  // the tiles are complete before any lane reads them
            wmma::load_matrix_sync(a[0], As, LDA);
            wmma::load_matrix_sync(b[0], Bs, LDB);
        }

        // --- Compute ---
        wmma::mma_sync(acc[0][0], a[0], b[0], acc[0][0]);
    }

    // --- Store ---
    // Through shared memory, as WMMA alone knows who holds what: Cs[BM / WM * 16][LDC], 16 rows of each warp tile.
#pragma unroll
    for (int i = 0; i < WM / 16; i++) {
        __syncthreads();  // every warp has read its tiles before they are overwritten
        for (int j = 0; j < WN / 16; j++)
            wmma::store_matrix_sync(&Cs[row / WM * 16 * LDC + col + j * 16], acc[i][j], LDC, wmma::mem_row_major);
        __syncwarp();  // the warp tile is complete before any lane reads it
        for (int r = row + crow; r < row + WM; r += 16) {
            const int to = brow + r / 16 * WM + i * 16 + r % 16, at = col + ccol;
            half8 v;
            finish(reinterpret_cast<half *>(&v), 8, C, M, N, to, bcol + at, alpha, &Cs[r * LDC + at], beta);
            store<WIDE>(C, M, N, to, bcol + at, v);
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, 4)  // 4 blocks an SM: at most 64 registers a thread
gemm(int M, int N, int K, float alpha, const half *A, const half *B, float beta, half *C)
{
    // Chosen once, so that no copy has to ask how rows are aligned.
    if (K % 8 == 0 && N % 8 == 0)
        product<true>(M, N, K, alpha, A, B, beta, C);
    else
        product<false>(M, N, K, alpha, A, B, beta, C);
}
