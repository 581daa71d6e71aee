// Exercise 10: rows of a shared tile padded so that ldmatrix meets no bank conflicts, and not a byte more than that.
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

// >>> yours, 1 line: how many halves to add to a row of a tile that has n of them; n is a multiple of 8
__host__ __device__ constexpr int padding(int n)
{
    return n / 8 % 2 ? 0 : 8;
}
// --- stub
//| __host__ __device__ constexpr int padding(int n)
//| {
//|     return 0;
//| }
// --- bug one more element, as for a column of floats: "not a multiple of 16"
//| __host__ __device__ constexpr int padding(int n)
//| {
//|     return 1;
//| }
// --- bug 8 bytes: "not a multiple of 16" "writes 16 bytes"
//| __host__ __device__ constexpr int padding(int n)
//| {
//|     return 4;
//| }
// --- bug 8 halves whatever the row: "right result, but" "padding(40) = 8" "Every fourth row" "look at Bs"
//| __host__ __device__ constexpr int padding(int n)
//| {
//|     return 8;
//| }
// --- bug 16 halves: "right result, but" "padding(32) = 16" "at places 0 6 4 2 0 6 4 2"
//| __host__ __device__ constexpr int padding(int n)
//| {
//|     return 16;
//| }
// --- bug whole lines of 128 bytes: "right result, but" "at places 0 0 0 0 0 0 0 0. Each row"
//| __host__ __device__ constexpr int padding(int n)
//| {
//|     return (64 - n % 64) % 64;
//| }
// --- bug a line of 128 bytes and a chunk: "no conflicts, but" "bytes more than needed"
//| __host__ __device__ constexpr int padding(int n)
//| {
//|     return (64 - n % 64) % 64 + 8;
//| }
// --- bug down to an odd row: "padding(16) = -8: a row cannot be shorter than its data"
//| __host__ __device__ constexpr int padding(int n)
//| {
//|     return n / 8 % 2 ? 0 : -8;
//| }
// --- bug an odd row is padded too: "no conflicts, but" "padding(40) = 16 where 0 will do"
//| __host__ __device__ constexpr int padding(int n)
//| {
//|     return n / 8 % 2 ? 16 : 8;
//| }
// <<<

// C = A * B. A block computes BM x BN elements, each of its two warps 32 rows of them, in fragments of 32 x 8.
// M, N and K are multiples of BM, BN and BK: this exercise is about rows, not about edges.
constexpr int BM = 64, THREADS = 64;

template <int BN, int BK> __device__ void product(int N, int K, const half *A, const half *B, float *C)
{
    constexpr int LDA = BK + padding(BK), LDB = BN + padding(BN);  // halves from one row of a tile to the next
    __shared__ __align__(32) half As[BM][LDA];
    __shared__ __align__(32) half Bs[BK][LDB];

    // --- Who am I? ---
    const int tid = threadIdx.x, warp = tid / 32;
    const int brow = blockIdx.y * BM, bcol = blockIdx.x * BN;  // first row and column of the block's tile of C

    // --- Accumulators ---
    wmma::fragment<wmma::accumulator, 32, 8, 16, float> acc[BN / 8];
    for (auto &c : acc)
        wmma::fill_fragment(c, 0);

    for (int k0 = 0; k0 < K; k0 += BK) {
        // --- Load ---
        // 8 halves, 16 bytes, at a time.
        for (int i = tid * 8; i < BM * BK; i += THREADS * 8)
            *reinterpret_cast<uint4 *>(&As[i / BK][i % BK]) =
                *reinterpret_cast<const uint4 *>(&A[(brow + i / BK) * K + k0 + i % BK]);
        for (int i = tid * 8; i < BK * BN; i += THREADS * 8)
            *reinterpret_cast<uint4 *>(&Bs[i / BN][i % BN]) =
                *reinterpret_cast<const uint4 *>(&B[(k0 + i / BN) * N + bcol + i % BN]);
        __syncthreads();  // both tiles are complete before anyone reads them

        // --- Compute ---
        for (int k = 0; k < BK; k += 16) {
            wmma::fragment<wmma::matrix_a, 32, 8, 16, half, wmma::row_major> a;
            wmma::fragment<wmma::matrix_b, 32, 8, 16, half, wmma::row_major> b;
            // >>> yours, 1 line: a fragment of A. How many halves from one of its rows to the next?
            wmma::load_matrix_sync(a, &As[warp * 32][k], LDA);
            // --- stub
            //| wmma::load_matrix_sync(a, &As[warp * 32][k], BK);
            // --- bug A's fragments at the old pitch: "not initialised" "of As"
            //| wmma::load_matrix_sync(a, &As[warp * 32][k], BK);
            // --- bug k is forgotten: "the first wrong element" "begin at its warp's rows and at k"
            //| wmma::load_matrix_sync(a, &As[warp * 32][0], LDA);
            // <<<
            for (int j = 0; j < BN / 8; j++) {
                // >>> yours, 1 line: the same of B
                wmma::load_matrix_sync(b, &Bs[k][j * 8], LDB);
                // --- stub
                //| wmma::load_matrix_sync(b, &Bs[k][j * 8], BN);
                // --- bug B's fragments at A's pitch: "not initialised" "of Bs"
                //| wmma::load_matrix_sync(b, &Bs[k][j * 8], LDA);
                // <<<
                wmma::mma_sync(acc[j], a, b, acc[j]);
            }
        }
        __syncthreads();  // everyone has read the tiles before they are overwritten
    }

    // --- Store ---
    for (int j = 0; j < BN / 8; j++)
        wmma::store_matrix_sync(&C[(brow + warp * 32) * N + bcol + j * 8], acc[j], N, wmma::mem_row_major);
}

// The same kernel for three shapes of a tile: 64 x BN, BK deep.
extern "C" __global__ void __launch_bounds__(THREADS)
gemm_64x32(int N, int K, const half *A, const half *B, float *C)
{
    product<64, 32>(N, K, A, B, C);
}

extern "C" __global__ void __launch_bounds__(THREADS)
gemm_40x64(int N, int K, const half *A, const half *B, float *C)
{
    product<40, 64>(N, K, A, B, C);
}

extern "C" __global__ void __launch_bounds__(THREADS)
gemm_72x16(int N, int K, const half *A, const half *B, float *C)
{
    product<72, 16>(N, K, A, B, C);
}

// What padding() answers, for the check.
extern "C" __global__ void paddings(int *out)
{
    out[threadIdx.x] = padding(8 * threadIdx.x);
}
