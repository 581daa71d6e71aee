// Exercise 19b: C in two parts. Half the room is enough for C, and what that saves is a third stage.
#include "hopper.cuh"

constexpr int BM = 64, BN = 128, BK = 64;  // block tile
constexpr int THREADS = 128;               // one warpgroup
constexpr int BOX = 64;                    // halves in a row of a box: 128 bytes, swizzled by 128 bytes
constexpr int STAGE = BM * BK + BK * BN;   // halves of a tile of A and one of B
// >>> yours, 2 lines: three stages, and as many columns of C at once as leave room for them
constexpr int STAGES = 3;
constexpr int PART = BN / 2;
// --- stub
//| constexpr int STAGES = 2;
//| constexpr int PART = BN;
// --- bug three stages, and C whole: "90,112 bytes"
//| constexpr int STAGES = 3;
//| constexpr int PART = BN;
// --- bug two stages, and half of C: "57,344 bytes" "another stage"
//| constexpr int STAGES = 2;
//| constexpr int PART = BN / 2;
// <<<
constexpr int SHARED = 2 * (STAGES * STAGE + BM * PART);  // bytes of all stages, and of Cs[PART / BOX][BM][BOX]
// Read by the check: 1 block for each SM, and boxes of C of BM rows.
__constant__ int geometry[] = { BM, BN, BK, THREADS, SHARED, 0, 0, 16, BN, BOX, 1, BM };
static_assert(BM == 64 && BN == 128 && BK == 64, "the accumulators of this exercise are for these sizes");
static_assert(PART % BOX == 0 && BN % PART == 0, "a part has whole boxes, and C whole parts");

// beta is 0, and N and K are multiples of 8 here; M is any.
extern "C" __global__ void __launch_bounds__(THREADS)
gemm(int M, int N, int K, float alpha, const __grid_constant__ CUtensorMap A, const __grid_constant__ CUtensorMap B,
     float beta, half *C, const __grid_constant__ CUtensorMap Cmap)
{
    extern __shared__ __align__(1024) half shared[];
    half *As = shared, *Bs = As + BM * BK, *Cs = shared + STAGES * STAGE;  // STAGES of A and B
    __shared__ uint64_t full[STAGES];                                      // barriers: a tile has come

    // --- Who am I? ---
    const int tid = threadIdx.x;
    const int warp = tid / 32, lane = tid % 32;
    const int across = (N - 1) / BN + 1, down = (M - 1) / BM + 1;  // tiles of C
    const int tiles = (K - 1) / BK + 1;                            // tiles along K

    // --- Accumulators ---
    float acc[BN / 2];
    // Where the element in row r and column c of a part lies: which box, and which place in it.
    auto at = [&](int r, int c) { return &Cs[c / BOX * BM * BOX + r * BOX + (c % BOX ^ r % 8 * 8)]; };

    // --- Load ---
    // Thread 0 asks for the next tile of A and B: first along K, then for the next tile of C.
    int c_tile = blockIdx.x, k_tile = 0, stage = 0;
    auto ask = [&]() {
        if (c_tile >= across * down)
            return;
        mbarrier_expect(&full[stage], 2 * STAGE);
        tma_load(&As[stage * STAGE], &A, &full[stage], c_tile / across * BM, k_tile * BK);
        for (int j = 0; j < BN; j += BOX)
            tma_load(&Bs[stage * STAGE + j * BK], &B, &full[stage], k_tile * BK, c_tile % across * BN + j);
        stage = (stage + 1) % STAGES;
        k_tile = (k_tile + 1) % tiles;
        c_tile += k_tile == 0 ? gridDim.x : 0;
    };
    if (tid == 0) {
        for (int s = 0; s < STAGES; s++)
            mbarrier_init(&full[s], 1);
        mbarrier_init_fence();
    }
    __syncthreads();  // the barriers exist before anyone uses them
    for (int s = 0; s < STAGES; s++)
        if (tid == 0)
            ask();

    int s = 0, parity = 0;  // the stage of the next tile, and the parity of its phase
    for (int i = blockIdx.x; i < across * down; i += gridDim.x) {
        const int brow = i / across * BM, bcol = i % across * BN;  // first row and column of the tile of C

        // --- Compute ---
        for (int tile = 0; tile < tiles; tile++) {
            mbarrier_wait(&full[s], parity);
            wgmma_fence();
#pragma unroll
            for (int k = 0; k < BK; k += 16)
                wgmma(acc, wgmma_descriptor(&As[s * STAGE + k], 16, 1024),
                      wgmma_descriptor(&Bs[s * STAGE + k * BOX], BK * 128, 1024), tile + k);
            wgmma_commit();
            wgmma_wait<0>();
            __syncthreads();  // everyone has multiplied this tile: its stage is free
            if (tid == 0)
                ask();
            s = (s + 1) % STAGES;
            parity ^= s == 0;
        }

        // --- Store ---
        // This lane's two neighbours of matrix q of the 16 x 16 elements from column j of the tile on.
        auto pair = [&](int j, int q) {
            const float *two = &acc[j / 2 + q * 2];
            return __floats2half2_rn(alpha * two[0], alpha * two[1]);
        };
        // >>> yours, 18 lines: the same for one part of C after the other
#pragma unroll
        for (int c = 0; c < BN; c += PART) {
            if (tid == 0)
                bulk_wait_read<0>();
            __syncthreads();
#pragma unroll
            for (int j = 0; j < PART; j += 16) {
                const half2 v[4] = { pair(c + j, 0), pair(c + j, 1), pair(c + j, 2), pair(c + j, 3) };
                stmatrix(at(warp * 16 + lane % 16, j + lane / 16 * 8), v);
            }
            proxy_fence();
            __syncthreads();
            if (tid == 0) {
                for (int j = 0; j < PART; j += BOX)
                    tma_store(&Cmap, at(0, j), brow, bcol + c + j);
                bulk_commit();
            }
        }
        // --- stub
        //| if (tid == 0)
        //|     bulk_wait_read<0>();  // the tile before this one has been read out of Cs
        //| __syncthreads();
        //| #pragma unroll
        //| for (int j = 0; j < BN; j += 16) {
        //|     const half2 v[4] = { pair(j, 0), pair(j, 1), pair(j, 2), pair(j, 3) };
        //|     stmatrix(at(warp * 16 + lane % 16, j + lane / 16 * 8), v);
        //| }
        //| proxy_fence();    // what TMA reads was written by ordinary stores
        //| __syncthreads();  // all of it is there
        //| if (tid == 0) {
        //|     for (int j = 0; j < BN; j += BOX)
        //|         tma_store(&Cmap, at(0, j), brow, bcol + j);
        //|     bulk_commit();
        //| }
        // --- bug three stages, and C whole: "90,112 bytes"
        //| if (tid == 0)
        //|     bulk_wait_read<0>();  // the tile before this one has been read out of Cs
        //| __syncthreads();
        //| #pragma unroll
        //| for (int j = 0; j < BN; j += 16) {
        //|     const half2 v[4] = { pair(j, 0), pair(j, 1), pair(j, 2), pair(j, 3) };
        //|     stmatrix(at(warp * 16 + lane % 16, j + lane / 16 * 8), v);
        //| }
        //| proxy_fence();    // what TMA reads was written by ordinary stores
        //| __syncthreads();  // all of it is there
        //| if (tid == 0) {
        //|     for (int j = 0; j < BN; j += BOX)
        //|         tma_store(&Cmap, at(0, j), brow, bcol + j);
        //|     bulk_commit();
        //| }
        // --- bug one wait for both parts: "race" "cp.async.bulk.wait_group.read"
        //| if (tid == 0)
        //|     bulk_wait_read<0>();
        //| __syncthreads();
        //| #pragma unroll
        //| for (int c = 0; c < BN; c += PART) {
        //| #pragma unroll
        //|     for (int j = 0; j < PART; j += 16) {
        //|         const half2 v[4] = { pair(c + j, 0), pair(c + j, 1), pair(c + j, 2), pair(c + j, 3) };
        //|         stmatrix(at(warp * 16 + lane % 16, j + lane / 16 * 8), v);
        //|     }
        //|     proxy_fence();
        //|     __syncthreads();
        //|     if (tid == 0) {
        //|         for (int j = 0; j < PART; j += BOX)
        //|             tma_store(&Cmap, at(0, j), brow, bcol + c + j);
        //|         bulk_commit();
        //|     }
        //| }
        // --- bug the latest part is not waited for: "race" "cp.async.bulk.wait_group.read"
        //| #pragma unroll
        //| for (int c = 0; c < BN; c += PART) {
        //|     if (tid == 0)
        //|         bulk_wait_read<1>();
        //|     __syncthreads();
        //| #pragma unroll
        //|     for (int j = 0; j < PART; j += 16) {
        //|         const half2 v[4] = { pair(c + j, 0), pair(c + j, 1), pair(c + j, 2), pair(c + j, 3) };
        //|         stmatrix(at(warp * 16 + lane % 16, j + lane / 16 * 8), v);
        //|     }
        //|     proxy_fence();
        //|     __syncthreads();
        //|     if (tid == 0) {
        //|         for (int j = 0; j < PART; j += BOX)
        //|             tma_store(&Cmap, at(0, j), brow, bcol + c + j);
        //|         bulk_commit();
        //|     }
        //| }
        // --- bug another thread waits: "race" "a wait by another thread waits for nothing"
        //| #pragma unroll
        //| for (int c = 0; c < BN; c += PART) {
        //|     if (tid == 32)
        //|         bulk_wait_read<0>();
        //|     __syncthreads();
        //| #pragma unroll
        //|     for (int j = 0; j < PART; j += 16) {
        //|         const half2 v[4] = { pair(c + j, 0), pair(c + j, 1), pair(c + j, 2), pair(c + j, 3) };
        //|         stmatrix(at(warp * 16 + lane % 16, j + lane / 16 * 8), v);
        //|     }
        //|     proxy_fence();
        //|     __syncthreads();
        //|     if (tid == 0) {
        //|         for (int j = 0; j < PART; j += BOX)
        //|             tma_store(&Cmap, at(0, j), brow, bcol + c + j);
        //|         bulk_commit();
        //|     }
        //| }
        // --- bug no barrier behind the wait: "race"
        //| #pragma unroll
        //| for (int c = 0; c < BN; c += PART) {
        //|     if (tid == 0)
        //|         bulk_wait_read<0>();
        //| #pragma unroll
        //|     for (int j = 0; j < PART; j += 16) {
        //|         const half2 v[4] = { pair(c + j, 0), pair(c + j, 1), pair(c + j, 2), pair(c + j, 3) };
        //|         stmatrix(at(warp * 16 + lane % 16, j + lane / 16 * 8), v);
        //|     }
        //|     proxy_fence();
        //|     __syncthreads();
        //|     if (tid == 0) {
        //|         for (int j = 0; j < PART; j += BOX)
        //|             tma_store(&Cmap, at(0, j), brow, bcol + c + j);
        //|         bulk_commit();
        //|     }
        //| }
        // --- bug a group for both parts: "race"
        //| #pragma unroll
        //| for (int c = 0; c < BN; c += PART) {
        //|     if (tid == 0)
        //|         bulk_wait_read<0>();
        //|     __syncthreads();
        //| #pragma unroll
        //|     for (int j = 0; j < PART; j += 16) {
        //|         const half2 v[4] = { pair(c + j, 0), pair(c + j, 1), pair(c + j, 2), pair(c + j, 3) };
        //|         stmatrix(at(warp * 16 + lane % 16, j + lane / 16 * 8), v);
        //|     }
        //|     proxy_fence();
        //|     __syncthreads();
        //|     if (tid == 0) {
        //|         for (int j = 0; j < PART; j += BOX)
        //|             tma_store(&Cmap, at(0, j), brow, bcol + c + j);
        //|     }
        //| }
        //| if (tid == 0)
        //|     bulk_commit();
        // --- bug no barrier before TMA reads: "race"
        //| #pragma unroll
        //| for (int c = 0; c < BN; c += PART) {
        //|     if (tid == 0)
        //|         bulk_wait_read<0>();
        //|     __syncthreads();
        //| #pragma unroll
        //|     for (int j = 0; j < PART; j += 16) {
        //|         const half2 v[4] = { pair(c + j, 0), pair(c + j, 1), pair(c + j, 2), pair(c + j, 3) };
        //|         stmatrix(at(warp * 16 + lane % 16, j + lane / 16 * 8), v);
        //|     }
        //|     proxy_fence();
        //|     if (tid == 0) {
        //|         for (int j = 0; j < PART; j += BOX)
        //|             tma_store(&Cmap, at(0, j), brow, bcol + c + j);
        //|         bulk_commit();
        //|     }
        //| }
        // --- bug one fence, behind both parts: "proxy fence" "fence.proxy.async"
        //| #pragma unroll
        //| for (int c = 0; c < BN; c += PART) {
        //|     if (tid == 0)
        //|         bulk_wait_read<0>();
        //|     __syncthreads();
        //| #pragma unroll
        //|     for (int j = 0; j < PART; j += 16) {
        //|         const half2 v[4] = { pair(c + j, 0), pair(c + j, 1), pair(c + j, 2), pair(c + j, 3) };
        //|         stmatrix(at(warp * 16 + lane % 16, j + lane / 16 * 8), v);
        //|     }
        //|     __syncthreads();
        //|     if (tid == 0) {
        //|         for (int j = 0; j < PART; j += BOX)
        //|             tma_store(&Cmap, at(0, j), brow, bcol + c + j);
        //|         bulk_commit();
        //|     }
        //| }
        //| proxy_fence();
        // --- bug the left half twice: "not yet: the result is right"
        //| #pragma unroll
        //| for (int c = 0; c < BN; c += PART) {
        //|     if (tid == 0)
        //|         bulk_wait_read<0>();
        //|     __syncthreads();
        //| #pragma unroll
        //|     for (int j = 0; j < PART; j += 16) {
        //|         const half2 v[4] = { pair(j, 0), pair(j, 1), pair(j, 2), pair(j, 3) };
        //|         stmatrix(at(warp * 16 + lane % 16, j + lane / 16 * 8), v);
        //|     }
        //|     proxy_fence();
        //|     __syncthreads();
        //|     if (tid == 0) {
        //|         for (int j = 0; j < PART; j += BOX)
        //|             tma_store(&Cmap, at(0, j), brow, bcol + c + j);
        //|         bulk_commit();
        //|     }
        //| }
        // --- bug both parts to the left half of C: "C[0][64]"
        //| #pragma unroll
        //| for (int c = 0; c < BN; c += PART) {
        //|     if (tid == 0)
        //|         bulk_wait_read<0>();
        //|     __syncthreads();
        //| #pragma unroll
        //|     for (int j = 0; j < PART; j += 16) {
        //|         const half2 v[4] = { pair(c + j, 0), pair(c + j, 1), pair(c + j, 2), pair(c + j, 3) };
        //|         stmatrix(at(warp * 16 + lane % 16, j + lane / 16 * 8), v);
        //|     }
        //|     proxy_fence();
        //|     __syncthreads();
        //|     if (tid == 0) {
        //|         for (int j = 0; j < PART; j += BOX)
        //|             tma_store(&Cmap, at(0, j), brow, bcol + j);
        //|         bulk_commit();
        //|     }
        //| }
        // --- bug the right part put behind the left one: "out of bounds"
        //| #pragma unroll
        //| for (int c = 0; c < BN; c += PART) {
        //|     if (tid == 0)
        //|         bulk_wait_read<0>();
        //|     __syncthreads();
        //| #pragma unroll
        //|     for (int j = 0; j < PART; j += 16) {
        //|         const half2 v[4] = { pair(c + j, 0), pair(c + j, 1), pair(c + j, 2), pair(c + j, 3) };
        //|         stmatrix(at(warp * 16 + lane % 16, c + j + lane / 16 * 8), v);
        //|     }
        //|     proxy_fence();
        //|     __syncthreads();
        //|     if (tid == 0) {
        //|         for (int j = 0; j < PART; j += BOX)
        //|             tma_store(&Cmap, at(0, c + j), brow, bcol + c + j);
        //|         bulk_commit();
        //|     }
        //| }
        // <<<
    }
    bulk_wait_read<0>();  // shared memory must last until TMA has read it
}
