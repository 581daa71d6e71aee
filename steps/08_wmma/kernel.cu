// Step 08: WMMA. A warp computes a 64 x 64 tile of C on the tensor cores, with fragments straight from global memory.
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

// --- Tile sizes ---
constexpr int BM = 128, BN = 256, BK = 32;  // block tile
constexpr int WM = 64, WN = 64;             // warp tile
constexpr int THREADS = BM / WM * (BN / WN) * 32;
// Elements from one row of a shared tile to the next.
constexpr int LDC = BN;
constexpr int BROWS = THREADS / (BN / 8);  // rows of BN elements that the block copies at once, 8 a thread
constexpr int SHARED = BM / WM * 16 * LDC * 4;  // bytes: a part of the tile of C
__constant__ int geometry[] = { BM, BN, BK, THREADS, SHARED, 0, 0, WM, WN };  // read by the driver

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

// A fragment from rows that lie ld apart. Only where all of it is there, and rows start at multiples of 16 bytes, can
// it be loaded from where it is. Otherwise the warp copies it to Ps[16][16] first, with zeros for what is missing.
// WHOLE: all fragments of the block are there.
template <bool WIDE, bool WHOLE, class F>
__device__ void load(F &fragment, const half *x, int ld, int rows, int cols, half *Ps)
{
    if (WHOLE || (WIDE && rows >= 16 && cols >= 16))
        return wmma::load_matrix_sync(fragment, x, ld);
    const int lane = threadIdx.x % 32, row = lane / 2, col = lane % 2 * 8;  // two lanes a row
    __syncwarp();  // every lane has read the patch before it is overwritten
    *reinterpret_cast<half8 *>(&Ps[row * 16 + col]) =
        load<WIDE>(&x[size_t(row) * ld + col], row < rows ? cols - col : 0);
    __syncwarp();  // the patch is complete before any lane reads it
    wmma::load_matrix_sync(fragment, Ps, 16);
}

template <bool WIDE, bool WHOLE>
__device__ void product(int M, int N, int K, float alpha, const half *A, const half *B, float beta, half *C)
{
    extern __shared__ __align__(32) half8 shared[];  // a patch for each warp; at the end a part of the tile of C
    half *Ps = reinterpret_cast<half *>(shared) + threadIdx.x / 32 * 16 * 16;  // Ps[16][16]
    float *Cs = reinterpret_cast<float *>(shared);

    // --- Who am I? ---
    const int tid = threadIdx.x;
    const int warp = tid / 32;
    const int brow = blockIdx.y * BM, bcol = blockIdx.x * BN;  // first row and column of the block's tile of C
    const int row = warp / (BN / WN) * WM, col = warp % (BN / WN) * WN;  // multiply: a warp tile each
    const int crow = tid / (BN / 8), ccol = tid % (BN / 8) * 8;          // copy rows of BN elements: a warp each

    // --- Accumulators ---
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc[WM / 16][WN / 16] = {};

    // --- Load ---
    // A and B move along K, tile by tile; left is how much of K is still to come.
    A += size_t(brow + row) * K;  // WM x K: the warp's rows
    B += bcol + col;              // K x WN: the warp's columns
    int left = K;
    const int rows = M - brow - row, cols = N - bcol - col;

    // A fragment is loaded again as soon as it has been used: the tensor cores need not wait for the next 16 of K.
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a[WM / 16];
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b[WN / 16];
    auto load_a = [&](int i, int k) {
        load<WIDE, WHOLE>(a[i], &A[size_t(i) * 16 * K + k], K, rows - i * 16, left - k, Ps);
    };
    auto load_b = [&](int j, int k) {
        load<WIDE, WHOLE>(b[j], &B[size_t(k) * N + j * 16], N, left - k, cols - j * 16, Ps);
    };
    for (int i = 0; i < WM / 16; i++)
        load_a(i, 0);
    for (int j = 0; j < WN / 16; j++)
        load_b(j, 0);
    for (int tile = 0; tile <= (K - 1) / BK; tile++) {
        // --- Compute ---
#pragma unroll
        for (int k = 0; k < BK; k += 16) {
            if (k + 16 == BK && left > BK)  // on to the next tile; after the last, its beginning once more
                left -= BK, A += BK, B += size_t(BK) * N;
            const int next = (k + 16) % BK;
            for (int i = 0; i < WM / 16; i++) {
                for (int z = 0; z < WN / 16; z++) {
                    const int j = i % 2 ? WN / 16 - 1 - z : z;  // there and back: the next product finds its b in place
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
        for (int r = crow; r < crow + BM / WM * 16; r += BROWS) {
            const int to = brow + r / 16 * WM + i * 16 + r % 16;
            half8 v;
            finish(reinterpret_cast<half *>(&v), 8, C, M, N, to, bcol + ccol, alpha, &Cs[r * LDC + ccol], beta);
            store<WIDE>(C, M, N, to, bcol + ccol, v);
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)  // 1 block an SM: at most 255 registers a thread
gemm(int M, int N, int K, float alpha, const half *A, const half *B, float beta, half *C)
{
    // Chosen once, so that no copy has to ask how rows are aligned, and no fragment whether it is there.
    const bool whole = K % BK == 0 && int(blockIdx.y + 1) * BM <= M && int(blockIdx.x + 1) * BN <= N;
    if (K % 8 == 0 && N % 8 == 0)
        whole ? product<true, true>(M, N, K, alpha, A, B, beta, C)
              : product<true, false>(M, N, K, alpha, A, B, beta, C);
    else
        product<false, false>(M, N, K, alpha, A, B, beta, C);
}
