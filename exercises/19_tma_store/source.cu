// Exercise 19: C by TMA. stmatrix puts a tile of C into swizzled boxes, and one thread hands them to TMA, which stores
// them while the next tile is multiplied.
#include "hopper.cuh"

constexpr int BM = 64, BN = 128, BK = 64;  // block tile
constexpr int THREADS = 128;               // one warpgroup
constexpr int BOX = 64;                    // halves in a row of a box: 128 bytes, swizzled by 128 bytes
// Read by the check: 1 block for each SM, and boxes of C of BM rows.
__constant__ int geometry[] = { BM, BN, BK, THREADS, 0, 0, 0, 16, BN, BOX, 1, BM };
static_assert(BM == 64 && BN == 128 && BK == 64, "the accumulators of this exercise are for these sizes");

// Tiles as TMA brings them: As[BM][BOX], and Bs[BN / BOX][BK][BOX]. C is to lie in Cs[BN / BOX][BM][BOX].
__shared__ __align__(1024) half As[BM * BOX], Bs[BK * BN], Cs[BM * BN];

// wgmma of hopper.cuh: d[64][128] = a[64][16] * b[16][128], + d if add is not 0. d[4 * j + 2 * h + e] of lane l of warp
// w is the element in row 16 * w + 8 * h + l / 4, column 8 * j + l % 4 * 2 + e.

// beta is 0, and N and K are multiples of 8 here; M is any.
extern "C" __global__ void __launch_bounds__(THREADS)
gemm(int M, int N, int K, float alpha, const __grid_constant__ CUtensorMap A, const __grid_constant__ CUtensorMap B,
     float beta, half *C, const __grid_constant__ CUtensorMap Cmap)
{
    __shared__ uint64_t full;  // barrier: the tiles have come

    // --- Who am I? ---
    const int tid = threadIdx.x;
    const int warp = tid / 32, lane = tid % 32;
    const int across = (N - 1) / BN + 1, down = (M - 1) / BM + 1;  // tiles of C
    int parity = 0;                                                // of the next phase of full

    // --- Accumulators ---
    float acc[BN / 2];

    if (tid == 0) {
        mbarrier_init(&full, 1);
        mbarrier_init_fence();
    }
    __syncthreads();  // the barrier exists before anyone uses it
    for (int i = blockIdx.x; i < across * down; i += gridDim.x) {
        const int brow = i / across * BM, bcol = i % across * BN;  // first row and column of the tile of C
        for (int tile = 0; tile < (K - 1) / BK + 1; tile++, parity ^= 1) {
            // --- Load ---
            if (tid == 0) {
                mbarrier_expect(&full, sizeof As + sizeof Bs);
                tma_load(As, &A, &full, brow, tile * BK);
                for (int j = 0; j < BN; j += BOX)
                    tma_load(&Bs[j * BK], &B, &full, tile * BK, bcol + j);
            }
            mbarrier_wait(&full, parity);

            // --- Compute ---
            wgmma_fence();
#pragma unroll
            for (int k = 0; k < BK; k += 16)
                wgmma(acc, wgmma_descriptor(&As[k], 16, 1024), wgmma_descriptor(&Bs[k * BOX], BK * 128, 1024),
                      tile + k);
            wgmma_commit();
            wgmma_wait<0>();
            __syncthreads();  // everyone has multiplied the tiles before they are overwritten
        }

        // --- Store ---
        // This lane's two neighbours of matrix q of the 16 x 16 elements from column j on. The matrices of 8 x 8: 0 and
        // 1 are rows 0 to 7 and 8 to 15 of the warp's 16, columns j to j + 7; 2 and 3 are the next 8 columns.
        auto pair = [&](int j, int q) {
            const float *two = &acc[j / 2 + q * 2];
            return __floats2half2_rn(alpha * two[0], alpha * two[1]);
        };
        // >>> yours, 17 lines: wait until Cs may be overwritten; put the tile there; hand its boxes to TMA
        if (tid == 0)
            bulk_wait_read<0>();
        __syncthreads();
#pragma unroll
        for (int j = 0; j < BN; j += 16) {
            const half2 v[4] = { pair(j, 0), pair(j, 1), pair(j, 2), pair(j, 3) };
            const int r = warp * 16 + lane % 16, c = j + lane / 16 * 8;
            stmatrix(&Cs[c / BOX * BM * BOX + r * BOX + (c % BOX ^ r % 8 * 8)], v);
        }
        proxy_fence();
        __syncthreads();
        if (tid == 0) {
            for (int j = 0; j < BN; j += BOX)
                tma_store(&Cmap, &Cs[j * BM], brow, bcol + j);
            bulk_commit();
        }
        // --- stub
        //| #pragma unroll
        //| for (int n = 0; n < BN / 4; n++) {  // two neighbours of a row, straight to C
        //|     const int r = brow + warp * 16 + n % 2 * 8 + lane / 4, c = bcol + n / 2 * 8 + lane % 4 * 2;
        //|     if (r < M && c < N)
        //|         *reinterpret_cast<half2 *>(&C[size_t(r) * N + c]) = pair(n / 4 * 16, n % 4);
        //| }
        // --- bug no fence: "proxy fence" "fence.proxy.async"
        //| if (tid == 0)
        //|     bulk_wait_read<0>();
        //| __syncthreads();
        //| #pragma unroll
        //| for (int j = 0; j < BN; j += 16) {
        //|     const half2 v[4] = { pair(j, 0), pair(j, 1), pair(j, 2), pair(j, 3) };
        //|     const int r = warp * 16 + lane % 16, c = j + lane / 16 * 8;
        //|     stmatrix(&Cs[c / BOX * BM * BOX + r * BOX + (c % BOX ^ r % 8 * 8)], v);
        //| }
        //| __syncthreads();
        //| if (tid == 0) {
        //|     for (int j = 0; j < BN; j += BOX)
        //|         tma_store(&Cmap, &Cs[j * BM], brow, bcol + j);
        //|     bulk_commit();
        //| }
        // --- bug one thread fences for all, before the barrier: "proxy fence" "fence.proxy.async"
        //| if (tid == 0)
        //|     bulk_wait_read<0>();
        //| __syncthreads();
        //| #pragma unroll
        //| for (int j = 0; j < BN; j += 16) {
        //|     const half2 v[4] = { pair(j, 0), pair(j, 1), pair(j, 2), pair(j, 3) };
        //|     const int r = warp * 16 + lane % 16, c = j + lane / 16 * 8;
        //|     stmatrix(&Cs[c / BOX * BM * BOX + r * BOX + (c % BOX ^ r % 8 * 8)], v);
        //| }
        //| if (tid == 0)
        //|     proxy_fence();
        //| __syncthreads();
        //| if (tid == 0) {
        //|     for (int j = 0; j < BN; j += BOX)
        //|         tma_store(&Cmap, &Cs[j * BM], brow, bcol + j);
        //|     bulk_commit();
        //| }
        // --- bug no barrier before TMA reads: "race"
        //| if (tid == 0)
        //|     bulk_wait_read<0>();
        //| __syncthreads();
        //| #pragma unroll
        //| for (int j = 0; j < BN; j += 16) {
        //|     const half2 v[4] = { pair(j, 0), pair(j, 1), pair(j, 2), pair(j, 3) };
        //|     const int r = warp * 16 + lane % 16, c = j + lane / 16 * 8;
        //|     stmatrix(&Cs[c / BOX * BM * BOX + r * BOX + (c % BOX ^ r % 8 * 8)], v);
        //| }
        //| proxy_fence();
        //| if (tid == 0) {
        //|     for (int j = 0; j < BN; j += BOX)
        //|         tma_store(&Cmap, &Cs[j * BM], brow, bcol + j);
        //|     bulk_commit();
        //| }
        // --- bug nobody waits for TMA: "race" "cp.async.bulk.wait_group.read"
        //| __syncthreads();
        //| #pragma unroll
        //| for (int j = 0; j < BN; j += 16) {
        //|     const half2 v[4] = { pair(j, 0), pair(j, 1), pair(j, 2), pair(j, 3) };
        //|     const int r = warp * 16 + lane % 16, c = j + lane / 16 * 8;
        //|     stmatrix(&Cs[c / BOX * BM * BOX + r * BOX + (c % BOX ^ r % 8 * 8)], v);
        //| }
        //| proxy_fence();
        //| __syncthreads();
        //| if (tid == 0) {
        //|     for (int j = 0; j < BN; j += BOX)
        //|         tma_store(&Cmap, &Cs[j * BM], brow, bcol + j);
        //|     bulk_commit();
        //| }
        // --- bug another thread waits: "race" "a wait by another thread waits for nothing"
        //| if (tid == 32)
        //|     bulk_wait_read<0>();
        //| __syncthreads();
        //| #pragma unroll
        //| for (int j = 0; j < BN; j += 16) {
        //|     const half2 v[4] = { pair(j, 0), pair(j, 1), pair(j, 2), pair(j, 3) };
        //|     const int r = warp * 16 + lane % 16, c = j + lane / 16 * 8;
        //|     stmatrix(&Cs[c / BOX * BM * BOX + r * BOX + (c % BOX ^ r % 8 * 8)], v);
        //| }
        //| proxy_fence();
        //| __syncthreads();
        //| if (tid == 0) {
        //|     for (int j = 0; j < BN; j += BOX)
        //|         tma_store(&Cmap, &Cs[j * BM], brow, bcol + j);
        //|     bulk_commit();
        //| }
        // --- bug no barrier after the wait: "race"
        //| if (tid == 0)
        //|     bulk_wait_read<0>();
        //| #pragma unroll
        //| for (int j = 0; j < BN; j += 16) {
        //|     const half2 v[4] = { pair(j, 0), pair(j, 1), pair(j, 2), pair(j, 3) };
        //|     const int r = warp * 16 + lane % 16, c = j + lane / 16 * 8;
        //|     stmatrix(&Cs[c / BOX * BM * BOX + r * BOX + (c % BOX ^ r % 8 * 8)], v);
        //| }
        //| proxy_fence();
        //| __syncthreads();
        //| if (tid == 0) {
        //|     for (int j = 0; j < BN; j += BOX)
        //|         tma_store(&Cmap, &Cs[j * BM], brow, bcol + j);
        //|     bulk_commit();
        //| }
        // --- bug the wait comes after the next tile is put: "race" "cp.async.bulk.wait_group.read"
        //| #pragma unroll
        //| for (int j = 0; j < BN; j += 16) {
        //|     const half2 v[4] = { pair(j, 0), pair(j, 1), pair(j, 2), pair(j, 3) };
        //|     const int r = warp * 16 + lane % 16, c = j + lane / 16 * 8;
        //|     stmatrix(&Cs[c / BOX * BM * BOX + r * BOX + (c % BOX ^ r % 8 * 8)], v);
        //| }
        //| if (tid == 0)
        //|     bulk_wait_read<0>();
        //| __syncthreads();
        //| proxy_fence();
        //| __syncthreads();
        //| if (tid == 0) {
        //|     for (int j = 0; j < BN; j += BOX)
        //|         tma_store(&Cmap, &Cs[j * BM], brow, bcol + j);
        //|     bulk_commit();
        //| }
        // --- bug no commit: "copy left behind" "cp.async.bulk.commit_group"
        //| if (tid == 0)
        //|     bulk_wait_read<0>();
        //| __syncthreads();
        //| #pragma unroll
        //| for (int j = 0; j < BN; j += 16) {
        //|     const half2 v[4] = { pair(j, 0), pair(j, 1), pair(j, 2), pair(j, 3) };
        //|     const int r = warp * 16 + lane % 16, c = j + lane / 16 * 8;
        //|     stmatrix(&Cs[c / BOX * BM * BOX + r * BOX + (c % BOX ^ r % 8 * 8)], v);
        //| }
        //| proxy_fence();
        //| __syncthreads();
        //| if (tid == 0) {
        //|     for (int j = 0; j < BN; j += BOX)
        //|         tma_store(&Cmap, &Cs[j * BM], brow, bcol + j);
        //| }
        // --- bug one group may be open: "race" "cp.async.bulk.wait_group.read"
        //| if (tid == 0)
        //|     bulk_wait_read<1>();
        //| __syncthreads();
        //| #pragma unroll
        //| for (int j = 0; j < BN; j += 16) {
        //|     const half2 v[4] = { pair(j, 0), pair(j, 1), pair(j, 2), pair(j, 3) };
        //|     const int r = warp * 16 + lane % 16, c = j + lane / 16 * 8;
        //|     stmatrix(&Cs[c / BOX * BM * BOX + r * BOX + (c % BOX ^ r % 8 * 8)], v);
        //| }
        //| proxy_fence();
        //| __syncthreads();
        //| if (tid == 0) {
        //|     for (int j = 0; j < BN; j += BOX)
        //|         tma_store(&Cmap, &Cs[j * BM], brow, bcol + j);
        //|     bulk_commit();
        //| }
        // --- bug no swizzle: "the swizzle differs"
        //| if (tid == 0)
        //|     bulk_wait_read<0>();
        //| __syncthreads();
        //| #pragma unroll
        //| for (int j = 0; j < BN; j += 16) {
        //|     const half2 v[4] = { pair(j, 0), pair(j, 1), pair(j, 2), pair(j, 3) };
        //|     const int r = warp * 16 + lane % 16, c = j + lane / 16 * 8;
        //|     stmatrix(&Cs[c / BOX * BM * BOX + r * BOX + c % BOX], v);
        //| }
        //| proxy_fence();
        //| __syncthreads();
        //| if (tid == 0) {
        //|     for (int j = 0; j < BN; j += BOX)
        //|         tma_store(&Cmap, &Cs[j * BM], brow, bcol + j);
        //|     bulk_commit();
        //| }
        // --- bug rows of the whole tile, no boxes: "not yet: the result is right"
        //| if (tid == 0)
        //|     bulk_wait_read<0>();
        //| __syncthreads();
        //| #pragma unroll
        //| for (int j = 0; j < BN; j += 16) {
        //|     const half2 v[4] = { pair(j, 0), pair(j, 1), pair(j, 2), pair(j, 3) };
        //|     const int r = warp * 16 + lane % 16, c = j + lane / 16 * 8;
        //|     stmatrix(&Cs[r * BN + (c ^ r % 8 * 8)], v);
        //| }
        //| proxy_fence();
        //| __syncthreads();
        //| if (tid == 0) {
        //|     for (int j = 0; j < BN; j += BOX)
        //|         tma_store(&Cmap, &Cs[j * BM], brow, bcol + j);
        //|     bulk_commit();
        //| }
        // --- bug the lanes of matrices 1 and 2 swapped: "not yet: the result is right"
        //| if (tid == 0)
        //|     bulk_wait_read<0>();
        //| __syncthreads();
        //| #pragma unroll
        //| for (int j = 0; j < BN; j += 16) {
        //|     const half2 v[4] = { pair(j, 0), pair(j, 1), pair(j, 2), pair(j, 3) };
        //|     const int r = warp * 16 + lane % 8 + lane / 16 * 8, c = j + lane / 8 % 2 * 8;
        //|     stmatrix(&Cs[c / BOX * BM * BOX + r * BOX + (c % BOX ^ r % 8 * 8)], v);
        //| }
        //| proxy_fence();
        //| __syncthreads();
        //| if (tid == 0) {
        //|     for (int j = 0; j < BN; j += BOX)
        //|         tma_store(&Cmap, &Cs[j * BM], brow, bcol + j);
        //|     bulk_commit();
        //| }
        // --- bug one box: "C[0][64]"
        //| if (tid == 0)
        //|     bulk_wait_read<0>();
        //| __syncthreads();
        //| #pragma unroll
        //| for (int j = 0; j < BN; j += 16) {
        //|     const half2 v[4] = { pair(j, 0), pair(j, 1), pair(j, 2), pair(j, 3) };
        //|     const int r = warp * 16 + lane % 16, c = j + lane / 16 * 8;
        //|     stmatrix(&Cs[c / BOX * BM * BOX + r * BOX + (c % BOX ^ r % 8 * 8)], v);
        //| }
        //| proxy_fence();
        //| __syncthreads();
        //| if (tid == 0) {
        //|     tma_store(&Cmap, Cs, brow, bcol);
        //|     bulk_commit();
        //| }
        // --- bug row and column swapped: "not yet: the result is right"
        //| if (tid == 0)
        //|     bulk_wait_read<0>();
        //| __syncthreads();
        //| #pragma unroll
        //| for (int j = 0; j < BN; j += 16) {
        //|     const half2 v[4] = { pair(j, 0), pair(j, 1), pair(j, 2), pair(j, 3) };
        //|     const int r = warp * 16 + lane % 16, c = j + lane / 16 * 8;
        //|     stmatrix(&Cs[c / BOX * BM * BOX + r * BOX + (c % BOX ^ r % 8 * 8)], v);
        //| }
        //| proxy_fence();
        //| __syncthreads();
        //| if (tid == 0) {
        //|     for (int j = 0; j < BN; j += BOX)
        //|         tma_store(&Cmap, &Cs[j * BM], bcol + j, brow);
        //|     bulk_commit();
        //| }
        // --- bug boxes of B's size: "not yet: the result is right"
        //| if (tid == 0)
        //|     bulk_wait_read<0>();
        //| __syncthreads();
        //| #pragma unroll
        //| for (int j = 0; j < BN; j += 16) {
        //|     const half2 v[4] = { pair(j, 0), pair(j, 1), pair(j, 2), pair(j, 3) };
        //|     const int r = warp * 16 + lane % 16, c = j + lane / 16 * 8;
        //|     stmatrix(&Cs[c / BOX * BM * BOX + r * BOX + (c % BOX ^ r % 8 * 8)], v);
        //| }
        //| proxy_fence();
        //| __syncthreads();
        //| if (tid == 0) {
        //|     for (int j = 0; j < BN; j += BOX)
        //|         tma_store(&Cmap, &Cs[j], brow, bcol + j);
        //|     bulk_commit();
        //| }
        // --- bug ordinary stores into the boxes: "right result, but" "stmatrix"
        //| if (tid == 0)
        //|     bulk_wait_read<0>();
        //| __syncthreads();
        //| #pragma unroll
        //| for (int n = 0; n < BN / 4; n++) {
        //|     const int r = warp * 16 + n % 2 * 8 + lane / 4, c = n / 2 * 8 + lane % 4 * 2;
        //|     half *to = &Cs[c / BOX * BM * BOX + r * BOX + (c % BOX ^ r % 8 * 8)];
        //|     *reinterpret_cast<half2 *>(to) = pair(n / 4 * 16, n % 4);
        //| }
        //| proxy_fence();
        //| __syncthreads();
        //| if (tid == 0) {
        //|     for (int j = 0; j < BN; j += BOX)
        //|         tma_store(&Cmap, &Cs[j * BM], brow, bcol + j);
        //|     bulk_commit();
        //| }
        // <<<
    }
    bulk_wait<0>();  // shared memory must last until TMA has read it
}
