// Step 20: the tile follows the shape of C. If C is small, its tiles are smaller, and the blocks of a cluster share one:
// each multiplies a part of K, and they add up what they have. The driver picks the kernel.
#include "edges.cuh"
#include "hopper.cuh"
#include "add_up.cuh"  // behind what it needs

// --- Tile sizes ---
constexpr int BK = 64, WM = 16, GM = 4 * WM;  // depth of a block tile; rows of a warp, and of a warpgroup
constexpr int BOX = 64;                    // halves in a row of a box: 128 bytes, as many as are swizzled together
constexpr int LDA = BOX, LDB = BOX;        // tiles are As[BM][LDA] and Bs[BN / BOX][BK][LDB]
constexpr int GROUP = 16;                  // rows of tiles that are computed together: what they share stays in L2
struct Row { int n[13]; };  // read by the driver
template <int BM, int BN, int STAGES, bool SPLIT> struct Tile {  // SPLIT: the blocks of a cluster share a tile
    static constexpr int CONSUMERS = BM / WM * 32, THREADS = CONSUMERS + 128;
    static constexpr int REGISTERS = CONSUMERS <= 256 ? 232 : 152;  // of a thread that multiplies
    static constexpr int STAGE = BM * BK + BK * BN, PART = BN % (2 * BOX) ? BOX : 2 * BOX;
    static constexpr int SHARED = 2 * (STAGES * STAGE + BM * PART);
    static constexpr Row row = { { BM, BN, BK, THREADS, SHARED, 0, 0, WM, BN, BOX, 1, GM, SPLIT } };
    static_assert(BK == BOX && BN <= 256 && BN % BOX == 0 && BM % GM == 0, "wgmma() has 64 rows, 64 to 256 columns");
    static_assert(128 * 40 + CONSUMERS * REGISTERS <= 65536 / THREADS / 8 * 8 * THREADS, "a block has no more registers");
};
__constant__ Row geometry[] = { Tile<128, 256, 4, false>::row, Tile<192, 192, 4, false>::row,
                                Tile<128, 192, 5, false>::row, Tile<128, 128, 6, false>::row,
                                Tile<64, 128, 8, false>::row,  Tile<64, 64, 8, false>::row,
                                Tile<128, 128, 6, true>::row,  Tile<64, 64, 8, true>::row };

// The index of (row, col) in a tile with rows of LD halves, if its chunks of 8 halves change places within each 128
// bytes: bits 3 to 5 of the index are XORed with the row's number.
template <int LD> __device__ int swizzle(int row, int col)
{
    return row * LD + (col ^ row % 8 * 8);
}

template <int BM, int BN, int STAGES, bool SPLIT>
__device__ __forceinline__ void product(int M, int N, int K, float alpha, const CUtensorMap &A, const CUtensorMap &B,
                                        float beta, half *C, const CUtensorMap &Cmap)
{
    using T = Tile<BM, BN, STAGES, SPLIT>;
    constexpr int WN = BN, CONSUMERS = T::CONSUMERS, STAGE = T::STAGE, PART = T::PART;
    extern __shared__ __align__(1024) half8 shared[];  // a swizzled box begins at a multiple of 1024 bytes
    half *As = reinterpret_cast<half *>(shared), *Bs = As + BM * LDA;  // STAGES of both
    __shared__ uint64_t full[STAGES], empty[STAGES];  // barriers: a tile has come; all consumers have multiplied it

    // --- Who am I? ---
    const int tid = threadIdx.x;
    const int warp = __shfl_sync(~0u, tid / 32, 0), lane = tid % 32;  // now the compiler knows: a warp has one number
    const int group = warp / 4;  // warpgroup
    const int row = warp / (BN / WN) * WM, col = warp % (BN / WN) * WN;  // multiply: a warp tile each
    const int across = (N - 1) / BN + 1, down = (M - 1) / BM + 1;  // tiles of C
    const int rank = SPLIT ? cluster_rank() : 0, parts = SPLIT ? cluster_size() : 1;  // this block's part of K

    // The first row and column of a tile of C: GROUP rows of tiles, column by column, then the next GROUP.
    auto place = [&](unsigned i, int &brow, int &bcol) {
        const int first = i / (GROUP * across) * GROUP, rows = min(GROUP, down - first);
        brow = (first + i % (GROUP * across) % rows) * BM;
        bcol = i % (GROUP * across) / rows * BN;
    };
    int brow, bcol, s = 0, parity = 0;  // the stage of the next tile, and the parity of its phase
    auto next = [&]() { s = s + 1 < STAGES ? s + 1 : 0, parity ^= s == 0; };

    // --- Accumulators ---
    float acc[WN / 2];
    half *Cs = As + STAGES * STAGE + group * GM * PART;  // this warpgroup's rows
    auto at = [&](int r, int c) { return &Cs[c / BOX * GM * BOX + swizzle<BOX>(r, c % BOX)]; };

    // --- Load ---
    const int all = (K - 1) / BK + 1, skip = all * rank / parts;  // tiles along K: those of the ranks before come first
    const int tiles = all * (rank + 1) / parts - skip;
    if (tid == CONSUMERS) {
        for (int s = 0; s < STAGES; s++)
            mbarrier_init(&full[s], 1);  // the thread that asks for the tile
        for (int s = 0; s < STAGES; s++)
            mbarrier_init(&empty[s], CONSUMERS / 128);  // a thread of each warpgroup
        mbarrier_init_fence();
        if (K % 8 != 0 || N % 8 != 0)
            launch_wait();  // A or B is a copy, which the launch before this one makes
    }
    auto copy = [&](int tile, int s) {
        tile += skip;
        mbarrier_expect(&full[s], 2 * STAGE);
        tma_load(&As[s * STAGE], &A, &full[s], brow, tile * BK);
        for (int j = 0; j < BN; j += BOX)
            tma_load(&Bs[s * STAGE + j * BK], &B, &full[s], tile * BK, bcol + j);
    };
    place(blockIdx.x / parts, brow, bcol);
    for (int tile = 0; tid == CONSUMERS && tile < min(STAGES, tiles); tile++)
        copy(tile, tile);  // the stages are free: no need to wait
    __syncthreads();  // the barriers exist before anyone else uses them
    if (tid >= CONSUMERS) {
        fewer_registers<40>();
        int early = STAGES;  // tiles that were asked for above
        for (int i = blockIdx.x / parts; tid == CONSUMERS && i < across * down; i += gridDim.x) {
            place(i, brow, bcol);
            for (int tile = 0; tile < tiles; tile++, next()) {
                if (tile < early)
                    continue;  // its stage may have been used and given back by now: no wait for it
                mbarrier_wait(&empty[s], parity ^ 1);  // in a new barrier, the phase of parity 1 counts as ended
                copy(tile, s);
            }
            early = 0;
        }
        return;
    }
    more_registers<T::REGISTERS>();

    // --- Compute ---
    const uint64_t a_tile = wgmma_descriptor<SPLIT>(&As[row / GM * GM * LDA], 16, 1024);  // in stage 0; in 16 bytes
    const uint64_t b_tile = wgmma_descriptor<SPLIT>(Bs, BK * 128, 1024);
    constexpr int LEAD = STAGES - 1;  // tiles that the other warpgroups have left when warpgroup 0 has none
    auto multiply = [&]() {
        int before = 0;  // the stage of the tile before
        for (int tile = 0; tile < tiles; tile++, before = s, next()) {
            mbarrier_wait(&full[s], parity);
            wgmma_fence();
#pragma unroll
            for (int k = 0; k < BK; k += 16)
                wgmma(acc, a_tile + s * (STAGE / 8) + k / 8, b_tile + s * (STAGE / 8) + k * LDB / 8, tile > 0 || k > 0);
            wgmma_commit();
            wgmma_wait<1>();  // the tile before this one is multiplied: it may be overwritten
            if (tile > 0 && tid % 128 == 0)
                mbarrier_arrive(&empty[before]);
            if (tile + 1 == (group == 0 ? tiles : max(1, tiles - LEAD)))
                named_barrier(4, CONSUMERS);  // warpgroup 0 goes first: it stores while the others multiply their last
        }
        wgmma_wait<0>();
        if (tid % 128 == 0)
            mbarrier_arrive(&empty[before]);
    };

    for (int i = blockIdx.x / parts; i < across * down; i += gridDim.x) {
        place(i, brow, bcol);
        multiply();
        if (SPLIT) {
            add_up<BM, BN, CONSUMERS>(reinterpret_cast<float *>(shared), acc, C, M, N, brow, bcol, alpha, beta);
            return;
        }

        // --- Store ---
        scale_all(acc, C, M, N, brow + row + lane / 4, bcol + col + lane % 4 * 2, alpha, beta);
#pragma unroll
        for (int c = 0; c < BN; c += PART) {
            if (tid % 128 == 0)
                bulk_wait_read<0>();  // the part before this one has been read out of Cs
            named_barrier(1 + group, 128);
#pragma unroll
            for (int j = 0; j < PART / 16; j++) {
                half2 v[4];
                for (int q = 0; q < 4; q++)  // the four matrices of a tile, in the order of a fragment of A
                    v[q] = __floats2half2_rn(acc[c / 2 + j * 8 + q * 2], acc[c / 2 + j * 8 + q * 2 + 1]);
                stmatrix(at(row % GM + lane % 16, j * 16 + lane / 16 * 8), v);
            }
            proxy_fence();                  // what TMA reads was written by ordinary stores
            named_barrier(1 + group, 128);  // these rows are complete
            if (N % 8 == 0 && tid % 128 == 0) {
                for (int j = 0; j < PART; j += BOX)
                    tma_store(&Cmap, at(0, j), brow + group * GM, bcol + c + j);
                bulk_commit();
            }
#pragma unroll 1
            for (int e = tid % 128; N % 8 && e < GM * PART; e += 128) {  // one by one: neighbouring lanes store neighbours
                const int r = group * GM + e / PART, k = c + e % PART;
                if (brow + r < M && bcol + k < N)
                    C[size_t(brow + r) * N + bcol + k] = *at(e / PART, e % PART);
            }
        }
    }
    bulk_wait_read<0>();  // shared memory must last until it has been read
}

// --- A kernel for each row of geometry ---
#define KERNEL(name, BM, BN, STAGES, SPLIT)                                                                            \
    extern "C" __global__ void __launch_bounds__(Tile<BM, BN, STAGES, SPLIT>::THREADS, 1)                              \
    name(int M, int N, int K, float alpha, const __grid_constant__ CUtensorMap A,                                      \
         const __grid_constant__ CUtensorMap B, float beta, half *C, const __grid_constant__ CUtensorMap Cmap)         \
    {                                                                                                                  \
        product<BM, BN, STAGES, SPLIT>(M, N, K, alpha, A, B, beta, C, Cmap);                                           \
    }
KERNEL(gemm, 128, 256, 4, false)
KERNEL(gemm_192x192, 192, 192, 4, false)
KERNEL(gemm_128x192, 128, 192, 5, false)
KERNEL(gemm_128x128, 128, 128, 6, false)
KERNEL(gemm_64x128, 64, 128, 8, false)
KERNEL(gemm_64x64, 64, 64, 8, false)
KERNEL(gemm_128x128_split, 128, 128, 6, true)
KERNEL(gemm_64x64_split, 64, 64, 8, true)
