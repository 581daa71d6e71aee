// Step 08: WMMA. A warp computes a 64 x 64 tile of C on the tensor cores, with fragments straight from global memory.
#include <mma.h>
#include "edges.cuh"
using namespace nvcuda;

// --- Tile sizes ---
constexpr int BM = 128, BN = 256, BK = 32;  // block tile
constexpr int WM = 64, WN = 64;             // warp tile
constexpr int THREADS = BM / WM * (BN / WN) * 32;
static_assert(BM % WM == 0 && BN % WN == 0 && BK % 16 == 0, "a block has whole warp tiles, a tile whole fragments");
constexpr int LDC = BN;                    // elements from one row of a shared tile to the next
constexpr int CROWS = BM / WM * 16;        // rows of C that are stored at once: 16 of each warp tile
constexpr int BROWS = THREADS / (BN / 8);  // rows of BN elements that the block copies at once, 8 a thread
constexpr int SHARED = 4 * CROWS * LDC;  // bytes of C's rows
static_assert(CROWS % BROWS == 0, "every thread stores the same number of rows");
__constant__ int geometry[] = { BM, BN, BK, THREADS, SHARED, 0, 0, WM, WN };  // read by the driver

template <bool WIDE>
__device__ void product(int M, int N, int K, float alpha, const half *A, const half *B, float beta, half *C)
{
    extern __shared__ __align__(32) half8 shared[];
    half *Ps = reinterpret_cast<half *>(shared) + threadIdx.x / 32 * 16 * 16;  // Ps[16][16] of each warp, for edges
    float *Cs = reinterpret_cast<float *>(shared) + (SHARED / 4 - CROWS * LDC);  // rows of C, at the end

    // --- Who am I? ---
    const int tid = threadIdx.x;
    const int warp = tid / 32;
    const int brow = blockIdx.y * BM, bcol = blockIdx.x * BN;  // first row and column of the block's tile of C
    const int row = warp / (BN / WN) * WM, col = warp % (BN / WN) * WN;  // multiply: a warp tile each
    const int crow = tid / (BN / 8), ccol = tid % (BN / 8) * 8;          // copy rows of BN elements: 8 a thread

    // --- Accumulators ---
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc[WM / 16][WN / 16] = {};

    // --- Load ---
    // A and B move along K, tile by tile; left is how much of K is still to come.
    A += size_t(brow + row) * K;  // WM x K: the warp's rows
    B += bcol + col;              // K x WN: the warp's columns
    int left = K;
    auto advance = [&](int depth) { left -= depth, A += depth, B += size_t(depth) * N; };
    const int rows = M - brow - row, cols = N - bcol - col;

    // A fragment is loaded again as soon as it has been used: the tensor cores need not wait for the next 16 of K.
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a[WM / 16];
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b[WN / 16];
    auto load_a = [&](int i, int k) { load_fragment<WIDE>(a[i], A, i * 16, k, K, rows, left, Ps); };
    auto load_b = [&](int j, int k) { load_fragment<WIDE>(b[j], B, k, j * 16, N, left, cols, Ps); };
    for (int i = 0; i < WM / 16; i++)
        load_a(i, 0);
    for (int j = 0; j < WN / 16; j++)
        load_b(j, 0);
    for (int tile = 0; tile <= (K - 1) / BK; tile++) {
        // --- Compute ---
#pragma unroll
        for (int k = 0; k < BK; k += 16) {
            if (k + 16 == BK && left > BK) {  // on to the next tile; after the last, its beginning once more
                advance(BK);
            }
            const int next = (k + 16) % BK;
#pragma unroll
            for (int i = 0; i < WM / 16; i++) {
                for (int j = 0; j < WN / 16; j++) {
                    wmma::mma_sync(acc[i][j], a[i], b[j], acc[i][j]);
                    if (i == WM / 16 - 1)
                        load_b(j, next);
                }
                load_a(i, next);
            }
        }
    }

    // --- Store ---
    // Through shared memory, so that a warp stores whole rows: 16 rows of each warp tile at a time.
#pragma unroll
    for (int i = 0; i < WM / 16; i++) {
        __syncthreads();  // everyone has read what was here, before it is overwritten
        for (int j = 0; j < WN / 16; j++)
            wmma::store_matrix_sync(&Cs[row / WM * 16 * LDC + col + j * 16], acc[i][j], LDC, wmma::mem_row_major);
        __syncthreads();  // these rows are complete before anyone reads them
        for (int r = crow; r < crow + CROWS; r += BROWS) {
            const int to = brow + r / 16 * WM + i * 16 + r % 16;
            store8<WIDE>(C, M, N, to, bcol + ccol, alpha, &Cs[r * LDC + ccol], beta);
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)  // 1 block an SM: at most 255 registers a thread
gemm(int M, int N, int K, float alpha, const half *A, const half *B, float beta, half *C)
{
    // Two bodies: one that tests where each fragment lies is 42 % slower.
    K % BK == 0 && N % 8 == 0 && int(blockIdx.y + 1) * BM <= M && int(blockIdx.x + 1) * BN <= N ?
        product<true>(M, N, K, alpha, A, B, beta, C) : product<false>(M, N, K, alpha, A, B, beta, C);
}
