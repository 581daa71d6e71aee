// Exercise 15: wgmma. A warpgroup multiplies a tile of A, 128 rows, by a tile of B, straight from shared memory.
#include "hopper.cuh"

constexpr int BM = 128, BN = 128, BK = 64;  // block tile
constexpr int THREADS = 128;                // one warpgroup
constexpr int BOX = 64;                     // halves in a row of a box: 128 bytes, swizzled by 128 bytes
__constant__ int geometry[] = { BM, BN, BK, THREADS, 0, 0, 0, 16, BN, BOX };  // read by the check
static_assert(BM == 128 && BN == 128 && BK == 64, "the accumulators of this exercise are for these sizes");

// Tiles as TMA brings them: As[BM][BOX], and Bs[BN / BOX][BK][BOX]. Chunk c of row r is at place c ^ r % 8.
__shared__ __align__(1024) half As[BM * BOX], Bs[BK * BN];

// wgmma of hopper.cuh: d[64][128] = a[64][16] * b[16][128], + d if add is not 0. d[4 * j + 2 * h + e] of lane l of warp
// w is the element in row 16 * w + 8 * h + l / 4, column 8 * j + l % 4 * 2 + e.

// M and N are multiples of 128 here: this exercise is about the product, not about edges.
extern "C" __global__ void __launch_bounds__(THREADS)
gemm(int M, int N, int K, float alpha, const __grid_constant__ CUtensorMap A, const __grid_constant__ CUtensorMap B,
     float beta, half *C)
{
    __shared__ uint64_t full;  // barrier: the tiles have come

    // --- Who am I? ---
    const int tid = threadIdx.x;
    const int warp = tid / 32, lane = tid % 32;
    const int brow = blockIdx.y * BM, bcol = blockIdx.x * BN;  // first row and column of the block's tile of C

    // --- Accumulators ---
    // Two products of 64 rows: acc[0] has rows 0 to 63 of the tile, acc[1] rows 64 to 127.
    // >>> yours: does wgmma need the zeros?
    float acc[2][BN / 2];
    // --- stub
    //| float acc[2][BN / 2] = {};
    // --- bug no fence: "registers of wgmma" "no wgmma.fence comes between them"
    //| float acc[2][BN / 2] = {};
    // <<<
    auto row_of = [&](int i, int h) { return i * 64 + warp * 16 + h * 8 + lane / 4; };
    auto col_of = [&](int j) { return j * 8 + lane % 4 * 2; };

    // --- Load ---
    if (tid == 0) {
        mbarrier_init(&full, 1);
        mbarrier_init_fence();
    }
    __syncthreads();  // the barrier exists before anyone uses it
    for (int tile = 0; tile < (K - 1) / BK + 1; tile++) {
        if (tid == 0) {
            mbarrier_expect(&full, sizeof As + sizeof Bs);
            tma_load(As, &A, &full, brow, tile * BK);
            for (int j = 0; j < BN; j += BOX)
                tma_load(&Bs[j * BK], &B, &full, tile * BK, bcol + j);
        }
        mbarrier_wait(&full, tile % 2);

        // --- Compute ---
        // >>> yours, 9 lines: the same by wgmma. For each 16 of K two products, one for each half of the rows
        wgmma_fence();
#pragma unroll
        for (int k = 0; k < BK; k += 16)
#pragma unroll
            for (int i = 0; i < 2; i++)
                wgmma(acc[i], wgmma_descriptor(&As[i * 64 * BOX + k], 16, 1024),
                      wgmma_descriptor(&Bs[k * BOX], BK * 128, 1024), tile + k);
        wgmma_commit();
        wgmma_wait<0>();
        // --- stub
        //| for (int k = 0; k < BK; k++) {
        //| #pragma unroll
        //|     for (int n = 0; n < BN; n++) {
        //|         const int i = n / 64, h = n / 2 % 2, e = n % 2, j = n % 64 / 4;  // 2 x 16 x 2 x 2 elements
        //|         const int r = row_of(i, h), c = col_of(j) + e;
        //|         const half a = As[r * BOX + (k ^ r % 8 * 8)];
        //|         const half b = Bs[c / BOX * BK * BOX + k * BOX + (c % BOX ^ k % 8 * 8)];
        //|         acc[i][n % 64] += __half2float(a) * __half2float(b);
        //|     }
        //| }
        // --- bug no fence: "wgmma.fence between the line"
        //| #pragma unroll
        //| for (int k = 0; k < BK; k += 16)
        //| #pragma unroll
        //|     for (int i = 0; i < 2; i++)
        //|         wgmma(acc[i], wgmma_descriptor(&As[i * 64 * BOX + k], 16, 1024),
        //|               wgmma_descriptor(&Bs[k * BOX], BK * 128, 1024), tile + k);
        //| wgmma_commit();
        //| wgmma_wait<0>();
        // --- bug no wait: "which has not been waited for" "wgmma.wait_group"
        //| wgmma_fence();
        //| #pragma unroll
        //| for (int k = 0; k < BK; k += 16)
        //| #pragma unroll
        //|     for (int i = 0; i < 2; i++)
        //|         wgmma(acc[i], wgmma_descriptor(&As[i * 64 * BOX + k], 16, 1024),
        //|               wgmma_descriptor(&Bs[k * BOX], BK * 128, 1024), tile + k);
        //| wgmma_commit();
        // --- bug no commit: "not yet: the result is right" "look at"
        //| wgmma_fence();
        //| #pragma unroll
        //| for (int k = 0; k < BK; k += 16)
        //| #pragma unroll
        //|     for (int i = 0; i < 2; i++)
        //|         wgmma(acc[i], wgmma_descriptor(&As[i * 64 * BOX + k], 16, 1024),
        //|               wgmma_descriptor(&Bs[k * BOX], BK * 128, 1024), tile + k);
        //| wgmma_wait<0>();
        // --- bug a group is left open: "which has not been waited for" "wgmma.wait_group"
        //| wgmma_fence();
        //| #pragma unroll
        //| for (int k = 0; k < BK; k += 16)
        //| #pragma unroll
        //|     for (int i = 0; i < 2; i++)
        //|         wgmma(acc[i], wgmma_descriptor(&As[i * 64 * BOX + k], 16, 1024),
        //|               wgmma_descriptor(&Bs[k * BOX], BK * 128, 1024), tile + k);
        //| wgmma_commit();
        //| wgmma_wait<1>();
        // --- bug wrong stride of A: "C[8][0]" "for A[8][0] it takes A[1][0]"
        //| wgmma_fence();
        //| #pragma unroll
        //| for (int k = 0; k < BK; k += 16)
        //| #pragma unroll
        //|     for (int i = 0; i < 2; i++)
        //|         wgmma(acc[i], wgmma_descriptor(&As[i * 64 * BOX + k], 16, 128),
        //|               wgmma_descriptor(&Bs[k * BOX], BK * 128, 1024), tile + k);
        //| wgmma_commit();
        //| wgmma_wait<0>();
        // --- bug wrong stride of B: "out of bounds" "of Bs"
        //| wgmma_fence();
        //| #pragma unroll
        //| for (int k = 0; k < BK; k += 16)
        //| #pragma unroll
        //|     for (int i = 0; i < 2; i++)
        //|         wgmma(acc[i], wgmma_descriptor(&As[i * 64 * BOX + k], 16, 1024),
        //|               wgmma_descriptor(&Bs[k * BOX], BK * 128, 8192), tile + k);
        //| wgmma_commit();
        //| wgmma_wait<0>();
        // --- bug wrong leading offset of B: "C[0][64]" "for B[0][64] it takes B[1][0]"
        //| wgmma_fence();
        //| #pragma unroll
        //| for (int k = 0; k < BK; k += 16)
        //| #pragma unroll
        //|     for (int i = 0; i < 2; i++)
        //|         wgmma(acc[i], wgmma_descriptor(&As[i * 64 * BOX + k], 16, 1024),
        //|               wgmma_descriptor(&Bs[k * BOX], 128, 1024), tile + k);
        //| wgmma_commit();
        //| wgmma_wait<0>();
        // --- bug wrong step of K in A: "out of bounds" "of As"
        //| wgmma_fence();
        //| #pragma unroll
        //| for (int k = 0; k < BK; k += 16)
        //| #pragma unroll
        //|     for (int i = 0; i < 2; i++)
        //|         wgmma(acc[i], wgmma_descriptor(&As[i * 64 * BOX + k * BOX], 16, 1024),
        //|               wgmma_descriptor(&Bs[k * BOX], BK * 128, 1024), tile + k);
        //| wgmma_commit();
        //| wgmma_wait<0>();
        // --- bug wrong step of K in B: "chunks of B" "for B[16][0] it takes B[0][16]"
        //| wgmma_fence();
        //| #pragma unroll
        //| for (int k = 0; k < BK; k += 16)
        //| #pragma unroll
        //|     for (int i = 0; i < 2; i++)
        //|         wgmma(acc[i], wgmma_descriptor(&As[i * 64 * BOX + k], 16, 1024),
        //|               wgmma_descriptor(&Bs[k], BK * 128, 1024), tile + k);
        //| wgmma_commit();
        //| wgmma_wait<0>();
        // --- bug the same rows twice: "C[64][0]" "the row of A is off by -64"
        //| wgmma_fence();
        //| #pragma unroll
        //| for (int k = 0; k < BK; k += 16)
        //| #pragma unroll
        //|     for (int i = 0; i < 2; i++)
        //|         wgmma(acc[i], wgmma_descriptor(&As[k], 16, 1024),
        //|               wgmma_descriptor(&Bs[k * BOX], BK * 128, 1024), tile + k);
        //| wgmma_commit();
        //| wgmma_wait<0>();
        // --- bug always adds: "not yet: the result is right"
        //| wgmma_fence();
        //| #pragma unroll
        //| for (int k = 0; k < BK; k += 16)
        //| #pragma unroll
        //|     for (int i = 0; i < 2; i++)
        //|         wgmma(acc[i], wgmma_descriptor(&As[i * 64 * BOX + k], 16, 1024),
        //|               wgmma_descriptor(&Bs[k * BOX], BK * 128, 1024), 1);
        //| wgmma_commit();
        //| wgmma_wait<0>();
        // --- bug each tile begins anew: "K 192" "only the last tile's 64 are there"
        //| wgmma_fence();
        //| #pragma unroll
        //| for (int k = 0; k < BK; k += 16)
        //| #pragma unroll
        //|     for (int i = 0; i < 2; i++)
        //|         wgmma(acc[i], wgmma_descriptor(&As[i * 64 * BOX + k], 16, 1024),
        //|               wgmma_descriptor(&Bs[k * BOX], BK * 128, 1024), k);
        //| wgmma_commit();
        //| wgmma_wait<0>();
        // --- bug a wait for each 16 of K: "right result, but" "12 times" "3 waits suffice"
        //| #pragma unroll
        //| for (int k = 0; k < BK; k += 16) {
        //|     wgmma_fence();
        //| #pragma unroll
        //|     for (int i = 0; i < 2; i++)
        //|         wgmma(acc[i], wgmma_descriptor(&As[i * 64 * BOX + k], 16, 1024),
        //|               wgmma_descriptor(&Bs[k * BOX], BK * 128, 1024), tile + k);
        //|     wgmma_commit();
        //|     wgmma_wait<0>();
        //| }
        // <<<
        __syncthreads();  // everyone has multiplied the tiles before they are overwritten
    }

    // --- Store ---
#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
        for (int n = 0; n < BN / 2; n += 2) {
            half2 *c = reinterpret_cast<half2 *>(&C[size_t(brow + row_of(i, n / 2 % 2)) * N + bcol + col_of(n / 4)]);
            const float2 old = beta == 0 ? float2{ 0, 0 } : __half22float2(*c);
            *c = __floats2half2_rn(alpha * acc[i][n] + beta * old.x, alpha * acc[i][n + 1] + beta * old.y);
        }
}
