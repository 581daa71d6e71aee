// Exercise 20: any shape. C is small and K is long: the blocks of a cluster share a tile of C. Each multiplies a part
// of K, and then they add up what they have, through each other's shared memory.
#include "hopper.cuh"

constexpr int BM = 64, BN = 64, BK = 16;  // block tile
constexpr int TM = 4, TN = 4;             // thread tile
constexpr int THREADS = BM / TM * (BN / TN);

__shared__ float As[BM][BK + 1], Bs[BK][BN];  // + 1: fewer bank conflicts
__shared__ __align__(16) float Ps[BM][BN];    // for the sum of this block

// The grid has `parts` blocks for each tile of C, in z, and these are a cluster. stored counts the elements that each
// block of the grid stores, for the check.
extern "C" __global__ void __launch_bounds__(THREADS)
gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C, int *stored)
{
    // --- Who am I? ---
    const int tid = threadIdx.x, rank = cluster_rank(), parts = cluster_size();
    const int brow = blockIdx.y * BM, bcol = blockIdx.x * BN;  // first row and column of the tile of C
    const int row = tid / (BN / TN) * TM, col = tid % (BN / TN) * TN;

    // This block's part of K: from begin up to, and without, end (exercise 7b).
    const int tiles = (K - 1) / BK + 1, begin = tiles * rank / parts * BK, end = min(K, tiles * (rank + 1) / parts * BK);

    // --- Accumulators ---
    float acc[TM][TN] = {};

    for (int k0 = begin; k0 < end; k0 += BK) {
        // --- Load ---
        for (int i = tid; i < BM * BK; i += THREADS) {
            const int r = brow + i / BK, k = k0 + i % BK;
            As[i / BK][i % BK] = r < M && k < K ? A[size_t(r) * K + k] : 0;
        }
        for (int i = tid; i < BK * BN; i += THREADS) {
            const int k = k0 + i / BN, c = bcol + i % BN;
            Bs[i / BN][i % BN] = k < K && c < N ? B[size_t(k) * N + c] : 0;
        }
        __syncthreads();  // both tiles are complete before anyone reads them

        // --- Compute ---
        for (int k = 0; k < BK; k++)
            for (int i = 0; i < TM; i++)
                for (int j = 0; j < TN; j++)
                    acc[i][j] += As[row + i][k] * Bs[k][col + j];
        __syncthreads();  // everyone has read the tiles before they are overwritten
    }

    // --- Store ---
    // Stores alpha * sum + beta * C for four neighbours of row r of the tile, from column c on.
    auto put = [&](int r, int c, const float (&sum)[4]) {
        for (int e = 0; e < 4; e++)
            if (brow + r < M && bcol + c + e < N) {
                float *to = &C[size_t(brow + r) * N + bcol + c + e];
                *to = beta == 0 ? alpha * sum[e] : alpha * sum[e] + beta * *to;
                atomicAdd(&stored[(blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x], 1);
            }
    };
    // >>> yours, 14 lines: put this block's sum into Ps, add up a share of the tile, and put that into C
    for (int i = 0; i < TM; i++)
        *reinterpret_cast<float4 *>(&Ps[row + i][col]) = { acc[i][0], acc[i][1], acc[i][2], acc[i][3] };
    cluster_barrier();  // all sums are there
    for (int i = rank * THREADS + tid; i < BM * BN / 4; i += parts * THREADS) {
        const int r = i / (BN / 4), c = i % (BN / 4) * 4;
        float sum[4] = {};
        for (int p = 0; p < parts; p++) {
            const float4 x = load_from(&Ps[r][c], p);
            for (int e = 0; e < 4; e++)
                sum[e] += (&x.x)[e];
        }
        put(r, c, sum);
    }
    cluster_barrier();  // shared memory must last until all have read it
    // --- stub
    //| if (rank == 0)
    //|     for (int i = 0; i < TM; i++)
    //|         put(row + i, col, acc[i]);  // what this block has, and no other
    // --- bug the blocks do not meet before they add: "race"
    //| for (int i = 0; i < TM; i++)
    //|     *reinterpret_cast<float4 *>(&Ps[row + i][col]) = { acc[i][0], acc[i][1], acc[i][2], acc[i][3] };
    //| for (int i = rank * THREADS + tid; i < BM * BN / 4; i += parts * THREADS) {
    //|     const int r = i / (BN / 4), c = i % (BN / 4) * 4;
    //|     float sum[4] = {};
    //|     for (int p = 0; p < parts; p++) {
    //|         const float4 x = load_from(&Ps[r][c], p);
    //|         for (int e = 0; e < 4; e++)
    //|             sum[e] += (&x.x)[e];
    //|     }
    //|     put(r, c, sum);
    //| }
    //| cluster_barrier();  // shared memory must last until all have read it
    // --- bug the threads of a block meet, and the blocks do not: "race"
    //| for (int i = 0; i < TM; i++)
    //|     *reinterpret_cast<float4 *>(&Ps[row + i][col]) = { acc[i][0], acc[i][1], acc[i][2], acc[i][3] };
    //| __syncthreads();
    //| for (int i = rank * THREADS + tid; i < BM * BN / 4; i += parts * THREADS) {
    //|     const int r = i / (BN / 4), c = i % (BN / 4) * 4;
    //|     float sum[4] = {};
    //|     for (int p = 0; p < parts; p++) {
    //|         const float4 x = load_from(&Ps[r][c], p);
    //|         for (int e = 0; e < 4; e++)
    //|             sum[e] += (&x.x)[e];
    //|     }
    //|     put(r, c, sum);
    //| }
    //| cluster_barrier();  // shared memory must last until all have read it
    // --- bug a block ends while others read its sums: "life of a block"
    //| for (int i = 0; i < TM; i++)
    //|     *reinterpret_cast<float4 *>(&Ps[row + i][col]) = { acc[i][0], acc[i][1], acc[i][2], acc[i][3] };
    //| cluster_barrier();  // all sums are there
    //| for (int i = rank * THREADS + tid; i < BM * BN / 4; i += parts * THREADS) {
    //|     const int r = i / (BN / 4), c = i % (BN / 4) * 4;
    //|     float sum[4] = {};
    //|     for (int p = 0; p < parts; p++) {
    //|         const float4 x = load_from(&Ps[r][c], p);
    //|         for (int e = 0; e < 4; e++)
    //|             sum[e] += (&x.x)[e];
    //|     }
    //|     put(r, c, sum);
    //| }
    // --- bug at the end only the threads of a block meet: "life of a block"
    //| for (int i = 0; i < TM; i++)
    //|     *reinterpret_cast<float4 *>(&Ps[row + i][col]) = { acc[i][0], acc[i][1], acc[i][2], acc[i][3] };
    //| cluster_barrier();  // all sums are there
    //| for (int i = rank * THREADS + tid; i < BM * BN / 4; i += parts * THREADS) {
    //|     const int r = i / (BN / 4), c = i % (BN / 4) * 4;
    //|     float sum[4] = {};
    //|     for (int p = 0; p < parts; p++) {
    //|         const float4 x = load_from(&Ps[r][c], p);
    //|         for (int e = 0; e < 4; e++)
    //|             sum[e] += (&x.x)[e];
    //|     }
    //|     put(r, c, sum);
    //| }
    //| __syncthreads();
    // --- bug a block without a share goes home: "life of a block"
    //| for (int i = 0; i < TM; i++)
    //|     *reinterpret_cast<float4 *>(&Ps[row + i][col]) = { acc[i][0], acc[i][1], acc[i][2], acc[i][3] };
    //| cluster_barrier();  // all sums are there
    //| if (rank * THREADS >= BM * BN / 4)
    //|     return;
    //| for (int i = rank * THREADS + tid; i < BM * BN / 4; i += parts * THREADS) {
    //|     const int r = i / (BN / 4), c = i % (BN / 4) * 4;
    //|     float sum[4] = {};
    //|     for (int p = 0; p < parts; p++) {
    //|         const float4 x = load_from(&Ps[r][c], p);
    //|         for (int e = 0; e < 4; e++)
    //|             sum[e] += (&x.x)[e];
    //|     }
    //|     put(r, c, sum);
    //| }
    //| cluster_barrier();  // shared memory must last until all have read it
    // --- bug its own sum, again and again: "is wrong"
    //| for (int i = 0; i < TM; i++)
    //|     *reinterpret_cast<float4 *>(&Ps[row + i][col]) = { acc[i][0], acc[i][1], acc[i][2], acc[i][3] };
    //| cluster_barrier();  // all sums are there
    //| for (int i = rank * THREADS + tid; i < BM * BN / 4; i += parts * THREADS) {
    //|     const int r = i / (BN / 4), c = i % (BN / 4) * 4;
    //|     float sum[4] = {};
    //|     for (int p = 0; p < parts; p++) {
    //|         const float4 x = *reinterpret_cast<const float4 *>(&Ps[r][c]);
    //|         for (int e = 0; e < 4; e++)
    //|             sum[e] += (&x.x)[e];
    //|     }
    //|     put(r, c, sum);
    //| }
    //| cluster_barrier();  // shared memory must last until all have read it
    // --- bug always from the same block: "is wrong"
    //| for (int i = 0; i < TM; i++)
    //|     *reinterpret_cast<float4 *>(&Ps[row + i][col]) = { acc[i][0], acc[i][1], acc[i][2], acc[i][3] };
    //| cluster_barrier();  // all sums are there
    //| for (int i = rank * THREADS + tid; i < BM * BN / 4; i += parts * THREADS) {
    //|     const int r = i / (BN / 4), c = i % (BN / 4) * 4;
    //|     float sum[4] = {};
    //|     for (int p = 0; p < parts; p++) {
    //|         const float4 x = load_from(&Ps[r][c], rank);
    //|         for (int e = 0; e < 4; e++)
    //|             sum[e] += (&x.x)[e];
    //|     }
    //|     put(r, c, sum);
    //| }
    //| cluster_barrier();  // shared memory must last until all have read it
    // --- bug the first block is forgotten: "is wrong"
    //| for (int i = 0; i < TM; i++)
    //|     *reinterpret_cast<float4 *>(&Ps[row + i][col]) = { acc[i][0], acc[i][1], acc[i][2], acc[i][3] };
    //| cluster_barrier();  // all sums are there
    //| for (int i = rank * THREADS + tid; i < BM * BN / 4; i += parts * THREADS) {
    //|     const int r = i / (BN / 4), c = i % (BN / 4) * 4;
    //|     float sum[4] = {};
    //|     for (int p = 1; p < parts; p++) {
    //|         const float4 x = load_from(&Ps[r][c], p);
    //|         for (int e = 0; e < 4; e++)
    //|             sum[e] += (&x.x)[e];
    //|     }
    //|     put(r, c, sum);
    //| }
    //| cluster_barrier();  // shared memory must last until all have read it
    // --- bug only three of four blocks: "is wrong"
    //| for (int i = 0; i < TM; i++)
    //|     *reinterpret_cast<float4 *>(&Ps[row + i][col]) = { acc[i][0], acc[i][1], acc[i][2], acc[i][3] };
    //| cluster_barrier();  // all sums are there
    //| for (int i = rank * THREADS + tid; i < BM * BN / 4; i += parts * THREADS) {
    //|     const int r = i / (BN / 4), c = i % (BN / 4) * 4;
    //|     float sum[4] = {};
    //|     for (int p = 0; p < min(parts, 3); p++) {
    //|         const float4 x = load_from(&Ps[r][c], p);
    //|         for (int e = 0; e < 4; e++)
    //|             sum[e] += (&x.x)[e];
    //|     }
    //|     put(r, c, sum);
    //| }
    //| cluster_barrier();  // shared memory must last until all have read it
    // --- bug the sum does not start at 0: "is wrong"
    //| for (int i = 0; i < TM; i++)
    //|     *reinterpret_cast<float4 *>(&Ps[row + i][col]) = { acc[i][0], acc[i][1], acc[i][2], acc[i][3] };
    //| cluster_barrier();  // all sums are there
    //| float sum[4] = {};
    //| for (int i = rank * THREADS + tid; i < BM * BN / 4; i += parts * THREADS) {
    //|     const int r = i / (BN / 4), c = i % (BN / 4) * 4;
    //|     for (int p = 0; p < parts; p++) {
    //|         const float4 x = load_from(&Ps[r][c], p);
    //|         for (int e = 0; e < 4; e++)
    //|             sum[e] += (&x.x)[e];
    //|     }
    //|     put(r, c, sum);
    //| }
    //| cluster_barrier();  // shared memory must last until all have read it
    // --- bug the first block adds up everything: "right result, but block 0"
    //| for (int i = 0; i < TM; i++)
    //|     *reinterpret_cast<float4 *>(&Ps[row + i][col]) = { acc[i][0], acc[i][1], acc[i][2], acc[i][3] };
    //| cluster_barrier();  // all sums are there
    //| for (int i = tid; rank == 0 && i < BM * BN / 4; i += THREADS) {
    //|     const int r = i / (BN / 4), c = i % (BN / 4) * 4;
    //|     float sum[4] = {};
    //|     for (int p = 0; p < parts; p++) {
    //|         const float4 x = load_from(&Ps[r][c], p);
    //|         for (int e = 0; e < 4; e++)
    //|             sum[e] += (&x.x)[e];
    //|     }
    //|     put(r, c, sum);
    //| }
    //| cluster_barrier();  // shared memory must last until all have read it
    // --- bug every block adds up everything: "stores"
    //| for (int i = 0; i < TM; i++)
    //|     *reinterpret_cast<float4 *>(&Ps[row + i][col]) = { acc[i][0], acc[i][1], acc[i][2], acc[i][3] };
    //| cluster_barrier();  // all sums are there
    //| for (int i = tid; i < BM * BN / 4; i += THREADS) {
    //|     const int r = i / (BN / 4), c = i % (BN / 4) * 4;
    //|     float sum[4] = {};
    //|     for (int p = 0; p < parts; p++) {
    //|         const float4 x = load_from(&Ps[r][c], p);
    //|         for (int e = 0; e < 4; e++)
    //|             sum[e] += (&x.x)[e];
    //|     }
    //|     put(r, c, sum);
    //| }
    //| cluster_barrier();  // shared memory must last until all have read it
    // --- bug one by one: "right result, but"
    //| for (int i = 0; i < TM; i++)
    //|     *reinterpret_cast<float4 *>(&Ps[row + i][col]) = { acc[i][0], acc[i][1], acc[i][2], acc[i][3] };
    //| cluster_barrier();  // all sums are there
    //| for (int i = rank * THREADS + tid; i < BM * BN / 4; i += parts * THREADS) {
    //|     const int r = i / (BN / 4), c = i % (BN / 4) * 4;
    //|     float sum[4] = {};
    //|     for (int p = 0; p < parts; p++) {
    //|         for (int e = 0; e < 4; e++) {
    //|             const float4 x = load_from(&Ps[r][c], p);
    //|             sum[e] += (&x.x)[e];
    //|         }
    //|     }
    //|     put(r, c, sum);
    //| }
    //| cluster_barrier();  // shared memory must last until all have read it
    // --- bug not at a multiple of 16 bytes: "misaligned"
    //| for (int i = 0; i < TM; i++)
    //|     *reinterpret_cast<float4 *>(&Ps[row + i][col]) = { acc[i][0], acc[i][1], acc[i][2], acc[i][3] };
    //| cluster_barrier();  // all sums are there
    //| for (int i = rank * THREADS + tid; i < BM * BN / 4; i += parts * THREADS) {
    //|     const int r = i / (BN / 4), c = i % (BN / 4) * 4;
    //|     float sum[4] = {};
    //|     for (int p = 0; p < parts; p++) {
    //|         for (int e = 0; e < 4; e++)
    //|             sum[e] += load_from(&Ps[r][c + e], p).x;
    //|     }
    //|     put(r, c, sum);
    //| }
    //| cluster_barrier();  // shared memory must last until all have read it
    // --- bug columns counted in fours: "misaligned"
    //| for (int i = 0; i < TM; i++)
    //|     *reinterpret_cast<float4 *>(&Ps[row + i][col]) = { acc[i][0], acc[i][1], acc[i][2], acc[i][3] };
    //| cluster_barrier();  // all sums are there
    //| for (int i = rank * THREADS + tid; i < BM * BN / 4; i += parts * THREADS) {
    //|     const int r = i / (BN / 4), c = i % (BN / 4);
    //|     float sum[4] = {};
    //|     for (int p = 0; p < parts; p++) {
    //|         const float4 x = load_from(&Ps[r][c], p);
    //|         for (int e = 0; e < 4; e++)
    //|             sum[e] += (&x.x)[e];
    //|     }
    //|     put(r, c, sum);
    //| }
    //| cluster_barrier();  // shared memory must last until all have read it
    // --- bug the sums are those of the tile of A: "is wrong"
    //| for (int i = 0; i < TM; i++)
    //|     *reinterpret_cast<float4 *>(&Ps[col + i][row]) = { acc[i][0], acc[i][1], acc[i][2], acc[i][3] };
    //| cluster_barrier();  // all sums are there
    //| for (int i = rank * THREADS + tid; i < BM * BN / 4; i += parts * THREADS) {
    //|     const int r = i / (BN / 4), c = i % (BN / 4) * 4;
    //|     float sum[4] = {};
    //|     for (int p = 0; p < parts; p++) {
    //|         const float4 x = load_from(&Ps[r][c], p);
    //|         for (int e = 0; e < 4; e++)
    //|             sum[e] += (&x.x)[e];
    //|     }
    //|     put(r, c, sum);
    //| }
    //| cluster_barrier();  // shared memory must last until all have read it
    // <<<
}
