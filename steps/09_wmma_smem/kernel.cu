// Step 09: WMMA from shared memory. A block stages tiles of A and B, as in step 07, and its warps load fragments there.
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

// --- Tile sizes ---
constexpr int BM = 128, BN = 256, BK = 32;  // block tile
constexpr int WM = 64, WN = 64;             // warp tile
constexpr int THREADS = BM / WM * (BN / WN) * 32;
// Elements from one row of a shared tile to the next.
constexpr int LDA = BK, LDB = BN, LDC = BN;
constexpr int BROWS = THREADS / (BN / 8);  // rows of BN elements that the block copies at once, 8 a thread
constexpr int AROWS = THREADS / (BK / 8);  // rows of BK elements, the same
static_assert(BM % AROWS == 0 && BK % BROWS == 0, "every thread copies the same number of elements");
constexpr int ACOPIES = BM / AROWS, COPIES = ACOPIES + BK / BROWS;  // a thread's share of A's tile, and of both
constexpr int PARTS = BK / 16 - (BK > 16);  // one in each 16 of K; the last 16 have the barrier, and no copies
static_assert(COPIES % PARTS == 0, "all parts are of the same number of copies");
constexpr int STAGE = BM * LDA + BK * LDB;  // halves in As[BM][LDA] and Bs[BK][LDB] together
constexpr int PART = BM / WM * 16 * LDC * 4;  // bytes: the part of the tile of C that is stored at once
constexpr int SHARED = 4 * STAGE > PART ? 4 * STAGE : PART;  // bytes: two stages, or the part of C
__constant__ int geometry[] = { BM, BN, BK, THREADS, SHARED, 0, 0, WM, WN };  // read by the driver

using half8 = uint4;  // 8 neighbours in a row: 16 bytes, the widest copy there is

// The first n of 8 neighbours, and 0 for the others: a tile may reach past the edge of its matrix.
// WIDE: rows start at multiples of 16 bytes, so that all 8 are there or none, and one copy takes them. It passes L1 by
// (__ldcg: cached in L2 only), since a block copies no element twice.
template <bool WIDE> __device__ half8 load(const half *x, int n)
{
    if constexpr (WIDE)
        return n > 0 ? __ldcg(reinterpret_cast<const half8 *>(x)) : half8();
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
    extern __shared__ __align__(32) half8 shared[];  // two stages of As and Bs; at the end a part of the tile of C
    half *As = reinterpret_cast<half *>(shared), *Bs = As + BM * LDA;
    float *Cs = reinterpret_cast<float *>(shared) + (STAGE - BM / WM * 16 * LDC);  // ends where shared ends

    // --- Who am I? ---
    // The warps divide the work three times, each time anew: to copy tiles in, to multiply, and to copy C out.
    const int tid = threadIdx.x;
    const int warp = tid / 32;
    const int brow = blockIdx.y * BM, bcol = blockIdx.x * BN;  // first row and column of the block's tile of C
    const int row = warp / (BN / WN) * WM, col = warp % (BN / WN) * WN;  // multiply: a warp tile each
    const int arow = tid / (BK / 8), acol = tid % (BK / 8) * 8;          // copy rows of BK elements, As
    const int crow = tid / (BN / 8), ccol = tid % (BN / 8) * 8;          // copy rows of BN elements: a warp each

    // --- Accumulators ---
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc[WM / 16][WN / 16] = {};

    // --- Load ---
    // A and B move along K, tile by tile; left is how much of K is still to come. As in 07 the first tile is the short
    // one, and copies past an edge clamp, since what comes of them is not stored: wide copies need not ask.
    A += size_t(brow + arow) * K + acol;                                     // BM x K: the block's rows
    B += size_t(crow) * N + (WIDE ? min(bcol + ccol, N - 8) : bcol + ccol);  // K x BN: the block's columns
    int left = K, depth = (K - 1) % BK + 1;                                  // depth of the tile that is copied next
    const int rows = M - brow - arow, cols = WIDE ? 8 : N - bcol - ccol;
    half8 copies[COPIES];  // on their way: first those of A, then those of B
    auto fetch = [&](int from, int to, bool whole) {
        for (int c = from; c < to && c < ACOPIES; c++)
            copies[c] = load<WIDE>(&A[ptrdiff_t(min(c * AROWS, rows - 1)) * K], whole ? 8 : depth - acol);
        for (int c = max(from, ACOPIES); c < to; c++) {
            const int i = (c - ACOPIES) * BROWS;
            copies[c] = load<WIDE>(&B[size_t(i) * N], whole ? 8 : i < depth - crow ? cols : 0);
        }
    };
    auto advance = [&] { left -= depth, A += depth, B += size_t(depth) * N, depth = BK; };
    auto put = [&](int stage, int from, int to) {
        for (int c = from; c < to && c < ACOPIES; c++)
            *reinterpret_cast<half8 *>(&As[stage + (arow + c * AROWS) * LDA + acol]) = copies[c];
        for (int c = max(from, ACOPIES); c < to; c++)
            *reinterpret_cast<half8 *>(&Bs[stage + (crow + (c - ACOPIES) * BROWS) * LDB + ccol]) = copies[c];
    };
    fetch(0, COPIES, false);
    advance();
    put(0, 0, COPIES);
    if (left > 0)
        fetch(0, COPIES, WIDE);
    advance();
    __syncthreads();  // the first tiles are complete before anyone reads them

    // A fragment is loaded again as soon as it has been used: the tensor cores need not wait for the next 16 of K.
    int stage = 0;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a[WM / 16];
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b[WN / 16];
    auto load_a = [&](int i, int k) { wmma::load_matrix_sync(a[i], &As[stage + (row + i * 16) * LDA + k], LDA); };
    auto load_b = [&](int j, int k) { wmma::load_matrix_sync(b[j], &Bs[stage + k * LDB + col + j * 16], LDB); };
    for (int i = 0; i < WM / 16; i++)
        load_a(i, 0);
    for (int j = 0; j < WN / 16; j++)
        load_b(j, 0);
    for (int tile = 0; tile <= (K - 1) / BK; tile++) {
        // --- Compute ---
#pragma unroll
        for (int k = 0; k < BK; k += 16) {
            if (k / 16 != PARTS) {
                const int from = k / 16 * COPIES / PARTS, to = from + COPIES / PARTS;
                put(STAGE - stage, from, to);  // tile + 1 into the other stage,
                if (left > 0)
                    fetch(from, to, WIDE);  // and tile + 2 is on its way while this one is multiplied
                if (to == COPIES)
                    advance();
            }
            if (k + 16 == BK) {
                __syncthreads();  // tile + 1 is complete, and everyone has read this one to its end
                stage = STAGE - stage;
            }
            const int next = (k + 16) % BK;
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
    // Chosen once, so that no copy has to ask how rows are aligned.
    if (K % 8 == 0 && N % 8 == 0)
        product<true>(M, N, K, alpha, A, B, beta, C);
    else
        product<false>(M, N, K, alpha, A, B, beta, C);
}
