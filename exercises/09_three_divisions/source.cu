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
    const int warp = tid / 32;
    const int arow = tid / 4, acol = tid % 4 * 4;              // copy in: 4 neighbours of As,
    const int crow = tid / 16, ccol = tid % 16 * 2;            // and 2 of Bs
    const int row = warp / 2 * 16, col = warp % 2 * 16;        // multiply: a tile of 16 x 16 a warp
    const int orow = tid / 4, ocol = tid % 4 * 8;              // copy out: 8 neighbours of Cs
    // --- stub
    //| const int arow = tid % BM, acol = 0;  // the left edge of each tile, again and again
    //| const int crow = tid % BK, ccol = 0;
    //| const int row = 0, col = 0;
    //| const int orow = tid % BM, ocol = 0;
    // --- bug warps as 2 x 4: "out of bounds" "&Bs[0][col]"
    //| const int warp = tid / 32;
    //| const int arow = tid / 4, acol = tid % 4 * 4;
    //| const int crow = tid / 16, ccol = tid % 16 * 2;
    //| const int row = warp / 4 * 16, col = warp % 4 * 16;
    //| const int orow = tid / 4, ocol = tid % 4 * 8;
    // --- bug one division for everything: "not initialised" "of As"
    //| const int warp = tid / 32;
    //| const int arow = warp / 2 * 16 + tid % 32 / 4, acol = tid % 4 * 4;
    //| const int crow = tid / 16, ccol = tid % 16 * 2;
    //| const int row = warp / 2 * 16, col = warp % 2 * 16;
    //| const int orow = tid / 4, ocol = tid % 4 * 8;
    // --- bug 8 halves of As a thread: "out of bounds" "2048 of A,"
    //| const int warp = tid / 32;
    //| const int arow = tid / 2, acol = tid % 2 * 8;
    //| const int crow = tid / 16, ccol = tid % 16 * 2;
    //| const int row = warp / 2 * 16, col = warp % 2 * 16;
    //| const int orow = tid / 4, ocol = tid % 4 * 8;
    // --- bug rows counted across: "right result, but the loads of A take 256 sectors" "64 are" "arow and acol"
    //| const int warp = tid / 32;
    //| const int arow = tid % 64, acol = tid / 64 * 4;
    //| const int crow = tid / 16, ccol = tid % 16 * 2;
    //| const int row = warp / 2 * 16, col = warp % 2 * 16;
    //| const int orow = tid / 4, ocol = tid % 4 * 8;
    // --- bug B down its columns: "right result, but the loads of B take" "32 are possible" "crow and ccol"
    //| const int warp = tid / 32;
    //| const int arow = tid / 4, acol = tid % 4 * 4;
    //| const int crow = tid % 16, ccol = tid / 16 * 2;
    //| const int row = warp / 2 * 16, col = warp % 2 * 16;
    //| const int orow = tid / 4, ocol = tid % 4 * 8;
    // --- bug C down its columns: "right result, but the stores to C take" "128 are possible" "orow and ocol"
    //| const int warp = tid / 32;
    //| const int arow = tid / 4, acol = tid % 4 * 4;
    //| const int crow = tid / 16, ccol = tid % 16 * 2;
    //| const int row = warp / 2 * 16, col = warp % 2 * 16;
    //| const int orow = tid % 64, ocol = tid / 64 * 8;
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
    __shared__ __align__(32) half As[BM][BK];
    __shared__ __align__(32) half Bs[BK][BN];
    // --- stub
    //| __shared__ half factor[2];  // alpha and beta, converted once for the block
    //| __shared__ half As[BM][BK];
    //| __shared__ half Bs[BK][BN];
    // --- bug hunt, aligned to 2 bytes: "misaligned" "of As (shared memory)" "aligned to 2 bytes"
    //| __shared__ half factor[2];
    //| __shared__ half As[BM][BK];
    //| __shared__ half Bs[BK][BN];
    // --- bug hunt, right by luck: "ok  the hunted kernel is right" "As of hunt is aligned to 2 bytes" "is luck"
    //| __shared__ half As[BM][BK];
    //| __shared__ half Bs[BK][BN];
    //| __shared__ half factor[2];
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
        const int r = row % BM, c = col % BN;
        *reinterpret_cast<uint2 *>(&As[r][kcol]) = *reinterpret_cast<const uint2 *>(&A[row * K + k + kcol]);
        *reinterpret_cast<unsigned *>(&Bs[krow][c]) = *reinterpret_cast<const unsigned *>(&B[(k + krow) * N + col]);
        // --- stub
        //| *reinterpret_cast<uint4 *>(&As[row][kcol]) = *reinterpret_cast<const uint4 *>(&A[row * K + k + kcol]);
        //| *reinterpret_cast<uint4 *>(&Bs[krow][col]) = *reinterpret_cast<const uint4 *>(&B[(k + krow) * N + col]);
        // --- bug hunt, global row and column: "out of bounds" "As[row][kcol]" "the index into the shared array"
        //| *reinterpret_cast<uint2 *>(&As[row][kcol]) = *reinterpret_cast<const uint2 *>(&A[row * K + k + kcol]);
        //| *reinterpret_cast<unsigned *>(&Bs[krow][col]) = *reinterpret_cast<const unsigned *>(&B[(k + krow) * N + col]);
        // --- bug hunt, only the row is mended: "out of bounds" "Bs[krow][col]"
        //| *reinterpret_cast<uint2 *>(&As[row % BM][kcol]) = *reinterpret_cast<const uint2 *>(&A[row * K + k + kcol]);
        //| *reinterpret_cast<unsigned *>(&Bs[krow][col]) = *reinterpret_cast<const unsigned *>(&B[(k + krow) * N + col]);
        // --- bug hunt, 16 bytes for 4 and 2 halves: "misaligned" "reads 16 bytes" "&As[r][kcol]"
        //| const int r = row % BM, c = col % BN;
        //| *reinterpret_cast<uint4 *>(&As[r][kcol]) = *reinterpret_cast<const uint4 *>(&A[row * K + k + kcol]);
        //| *reinterpret_cast<uint4 *>(&Bs[krow][c]) = *reinterpret_cast<const uint4 *>(&B[(k + krow) * N + col]);
        // --- bug hunt, half by half: "right result, but a warp makes 6 requests" "where 2 suffice"
        //| const int r = row % BM, c = col % BN;
        //| for (int e = 0; e < 4; e++)
        //|     As[r][kcol + e] = A[row * K + k + kcol + e];
        //| for (int e = 0; e < 2; e++)
        //|     Bs[krow][c + e] = B[(k + krow) * N + col + e];
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
