// Exercise 09: three divisions. Eight warps copy tiles in, multiply them, and copy the result out. And a bug hunt.
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

constexpr int BM = 64, BN = 32, BK = 16;  // block tile
constexpr int THREADS = 256;              // 8 warps: 4 x 2 tiles of 16 x 16
__constant__ int geometry[] = { BM, BN, BK, THREADS, 0, 0, 0, 16, 16 };  // read by the check
static_assert(BM == 64 && BN == 32 && BK == 16, "the copies of this exercise are written for these sizes");

// M is a multiple of 64, N of 32 and K of 16, in both kernels: they are about divisions, not about edges.
extern "C" __global__ void __launch_bounds__(THREADS)
gemm(int M, int N, int K, float alpha, const half *A, const half *B, float beta, half *C)
{
    __shared__ __align__(32) half As[BM][BK];
    __shared__ __align__(32) half Bs[BK][BN];
    __shared__ __align__(32) float Cs[BM][BN];

    // --- Who am I? ---
    const int tid = threadIdx.x;
    const int brow = blockIdx.y * BM, bcol = blockIdx.x * BN;  // first row and column of the block's tile of C
    // >>> yours, 5 lines: the three divisions, in rows and columns of the shared tiles
    const int arow = tid % BM, acol = 0;  // the left edge of each tile, again and again
    const int crow = tid % BK, ccol = 0;
    const int row = 0, col = 0;
    const int orow = tid % BM, ocol = 0;
    // <<<

    // --- Accumulators ---
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;
    wmma::fill_fragment(acc, 0.0f);

    for (int k = 0; k < K; k += BK) {
        // --- Load ---
        const uint2 a_next = *reinterpret_cast<const uint2 *>(&A[(brow + arow) * K + k + acol]);
        const unsigned b_next = *reinterpret_cast<const unsigned *>(&B[(k + crow) * N + bcol + ccol]);
        *reinterpret_cast<uint2 *>(&As[arow][acol]) = a_next;
        *reinterpret_cast<unsigned *>(&Bs[crow][ccol]) = b_next;
        __syncthreads();  // both tiles are complete before anyone reads them

        // --- Compute ---
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
        wmma::load_matrix_sync(a, &As[row][0], BK);
        wmma::load_matrix_sync(b, &Bs[0][col], BN);
        wmma::mma_sync(acc, a, b, acc);
        __syncthreads();  // everyone has read the tiles before they are overwritten
    }

    // --- Store ---
    wmma::store_matrix_sync(&Cs[row][col], acc, BN, wmma::mem_row_major);
    __syncthreads();  // the tile of C is complete before anyone reads it
    half *c = &C[(brow + orow) * N + bcol + ocol];
    __align__(16) half v[8];
    for (int e = 0; e < 8; e++)
        v[e] = alpha * Cs[orow][ocol + e] + (beta == 0 ? 0 : beta * float(c[e]));
    *reinterpret_cast<uint4 *>(c) = *reinterpret_cast<uint4 *>(v);
}

// The bug hunt: the same product, written by somebody else, with three bugs in the two places that are yours. Whatever
// else it does is right.
extern "C" __global__ void __launch_bounds__(THREADS)
hunt(int M, int N, int K, float alpha, const half *A, const half *B, float beta, half *C)
{
    // >>> yours: the shared arrays
    __shared__ half factor[2];  // alpha and beta, converted once for the block
    __shared__ half As[BM][BK];
    __shared__ half Bs[BK][BN];
    // <<<
    const int tid = threadIdx.x, warp = tid / 32, lane = tid % 32;
    const int row = blockIdx.y * BM + tid / 4, col = blockIdx.x * BN + tid % 16 * 2;  // of A and of B: what I copy
    const int kcol = tid % 4 * 4, krow = tid / 16;                                    // where in 16 of K
    if (tid < 2)
        factor[tid] = tid ? beta : alpha;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;
    wmma::fill_fragment(acc, 0.0f);
    for (int k = 0; k < K; k += BK) {
        // >>> yours: the copies to shared memory
        *reinterpret_cast<uint4 *>(&As[row][kcol]) = *reinterpret_cast<const uint4 *>(&A[row * K + k + kcol]);
        *reinterpret_cast<uint4 *>(&Bs[krow][col]) = *reinterpret_cast<const uint4 *>(&B[(k + krow) * N + col]);
        // <<<
        __syncthreads();  // the tiles and the factors are complete before anyone reads them
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
        wmma::load_matrix_sync(a, &As[warp / 2 * 16][0], BK);
        wmma::load_matrix_sync(b, &Bs[0][warp % 2 * 16], BN);
        wmma::mma_sync(acc, a, b, acc);
        __syncthreads();  // everyone has read the tiles before they are overwritten
    }
    __shared__ __align__(32) float Cs[BM][BN];
    wmma::store_matrix_sync(&Cs[warp / 2 * 16][warp % 2 * 16], acc, BN, wmma::mem_row_major);
    __syncthreads();  // the tile of C is complete before anyone reads it
    for (int i = warp; i < BM; i += THREADS / 32) {  // copy out: a row a warp, an element a lane
        half *c = &C[(blockIdx.y * BM + i) * N + blockIdx.x * BN + lane];
        *c = float(factor[0]) * Cs[i][lane] + (beta == 0 ? 0 : float(factor[1]) * float(*c));
    }
}
