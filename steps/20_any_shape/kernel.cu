// Step 20: the tile follows the shape of C. If C is small, its tiles are smaller, and the blocks of a cluster share one:
// each multiplies a part of K, and they add up what they have. The driver picks the kernel.
#include "edges.cuh"
#include "hopper.cuh"

// --- Tile sizes ---
constexpr int BK = 64;                     // depth of a block tile
constexpr int WM = 16, GM = 4 * WM;        // rows of a warp, and of a warpgroup: its 4 warps multiply together
constexpr int BOX = 64;                    // halves in a row of a box: 128 bytes, as many as are swizzled together
constexpr int LDA = BOX, LDB = BOX;        // tiles are As[BM][LDA] and Bs[BN / BOX][BK][LDB]
constexpr int GROUP = 2048;                // rows of C that are computed together: what they share stays in L2
struct Row { int n[13]; };  // read by the driver
template <int BM, int BN, int STAGES, bool SPLIT> struct Tile {  // SPLIT: the blocks of a cluster share a tile
    static constexpr int CONSUMERS = BM / WM * 32;    // threads that multiply and store
    static constexpr int THREADS = CONSUMERS + 128;   // and a warpgroup, the producer, that asks for tiles
    static constexpr int REGISTERS = CONSUMERS <= 256 ? 232 : 152;  // of a thread that multiplies
    static constexpr int STAGE = BM * BK + BK * BN;   // halves of a tile of A and one of B
    static constexpr int TURNS = BN % (2 * BOX) ? 1 : 2;  // parts of C that wait to be stored: each is a box
    static constexpr int SHARED = 2 * (STAGES * STAGE + TURNS * BM * BOX);  // bytes of all stages, and of parts of C
    static constexpr Row row = { { BM, BN, BK, THREADS, SHARED, 0, 0, WM, BN, BOX, 1, GM, SPLIT } };
    static_assert(BK == BOX && BN % BOX == 0, "a box is as wide as the tile of A");
    static_assert(BN <= 256 && BN % 64 == 0 && BM % GM == 0, "wgmma() has 64 rows, and 64, 128, 192 or 256 columns");
    static_assert(128 * 40 + CONSUMERS * REGISTERS <= 65536, "an SM has the registers that the warpgroups take");
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

// --- Add up: the blocks of a cluster have a sum each, of the same tile of C ---
// Each writes its own to Ps[BM][BN + 8] in its shared memory, where the stages were, and stores a share of the elements.
template <int BM, int BN, int CONSUMERS>
__device__ inline void add_up(float *Ps, const float (&acc)[BN / 2], half *C, int M, int N, int brow, int bcol,
                              float alpha, float beta)
{
    const int tid = threadIdx.x, lane = tid % 32, parts = cluster_size(), LD = BN + 8;  // + 8: no bank conflicts
    named_barrier(1, CONSUMERS);  // all have multiplied: the stages are free
#pragma unroll
    for (int j = 0; j < BN / 2; j += 2)
        *reinterpret_cast<float2 *>(&Ps[(tid / 32 * 16 + lane / 4 + j / 2 % 2 * 8) * LD + j / 4 * 8 + lane % 4 * 2]) = {
            acc[j], acc[j + 1]
        };
    cluster_barrier();  // all sums are there
#pragma unroll 2
    for (int i = (cluster_rank() * CONSUMERS + tid) * 4; i < BM * BN; i += parts * CONSUMERS * 4) {
        float sum[4] = {};
#pragma unroll 4
        for (int rank = 0; rank < parts; rank++) {
            const float4 x = load_from(&Ps[i / BN * LD + i % BN], rank);
            for (int e = 0; e < 4; e++)
                sum[e] += (&x.x)[e];
        }
        for (int e = 0; e < 4; e++) {
            half v;
            scale<1>(&v, C, M, N, brow + i / BN, bcol + i % BN + e, alpha, &sum[e], beta);
            if (brow + i / BN < M && bcol + i % BN + e < N)
                C[size_t(brow + i / BN) * N + bcol + i % BN + e] = v;
        }
    }
    cluster_barrier();  // shared memory must last until all have read it
}

template <int BM, int BN, int STAGES, bool SPLIT>
__device__ __forceinline__ void product(int M, int N, int K, float alpha, const CUtensorMap &A, const CUtensorMap &B,
                                        float beta, half *C, const CUtensorMap &Cmap)
{
    using T = Tile<BM, BN, STAGES, SPLIT>;
    constexpr int WN = BN, CONSUMERS = T::CONSUMERS, STAGE = T::STAGE, TURNS = T::TURNS;
    extern __shared__ __align__(1024) half8 shared[];  // a swizzled box begins at a multiple of 1024 bytes
    half *As = reinterpret_cast<half *>(shared), *Bs = As + BM * LDA;  // STAGES of both
    __shared__ uint64_t full[STAGES], empty[STAGES];  // barriers: a tile has come; both warpgroups have multiplied it

    // --- Who am I? ---
    const int tid = threadIdx.x;
    const int warp = __shfl_sync(~0u, tid / 32, 0), lane = tid % 32;  // now the compiler knows: a warp has one number
    const int group = CONSUMERS == 128 ? 0 : warp / 4;  // warpgroup, of those that multiply
    const int row = warp / (BN / WN) * WM, col = warp % (BN / WN) * WN;  // multiply: a warp tile each
    const int across = (N - 1) / BN + 1, down = (M - 1) / BM + 1;  // tiles of C

    const int rank = SPLIT ? cluster_rank() : 0, parts = SPLIT ? cluster_size() : 1;  // this block's part of K

    // The first row and column of a tile of C: GROUP / BM rows of tiles, column by column, then the next ones.
    auto place = [&](unsigned i, int &brow, int &bcol) {
        const unsigned all = GROUP / BM * across, first = i / all * (GROUP / BM), rows = min(GROUP / BM, down - first);
        brow = (first + i % all % rows) * BM;
        bcol = i % all / rows * BN;
    };
    int brow, bcol, s = 0, parity = 0;  // the stage of the next tile, and the parity of its phase
    auto next = [&]() { s = s + 1 < STAGES ? s + 1 : 0, parity ^= s == 0; };

    // --- Accumulators ---
    float acc[WN / 2];
    half *Cs = As + STAGES * STAGE + group * TURNS * GM * BOX;  // this warpgroup's rows

    // --- Load ---
    const int all = (K - 1) / BK + 1, skip = all * rank / parts;  // tiles along K: those of the ranks before come first
    const int tiles = all * (rank + 1) / parts - skip;
    if (tid == CONSUMERS) {
        for (int s = 0; s < STAGES; s++)
            mbarrier_init(&full[s], 1);  // the thread that asks for the tile
        for (int s = 0; s < STAGES; s++)
            mbarrier_init(&empty[s], CONSUMERS / 128);  // a thread of each warpgroup
        mbarrier_init_fence();
    }
    auto copy = [&](int tile, int s) {
        mbarrier_expect(&full[s], 2 * STAGE);
        tma_load(&As[s * STAGE], &A, &full[s], brow, tile * BK);
        for (int j = 0; j < BN; j += BOX)
            tma_load(&Bs[s * STAGE + j * BK], &B, &full[s], tile * BK, bcol + j);
    };
    place(blockIdx.x / parts, brow, bcol);
    for (int tile = 0; tid == CONSUMERS && tile < min(STAGES, tiles); tile++)
        copy(skip + tile, tile);  // the stages are free: the producer waits for nobody
    __syncthreads();  // the barriers exist before anyone else uses them
    if (tid >= CONSUMERS) {
        fewer_registers<40>();
        int early = STAGES;  // tiles that were asked for above
        for (int i = blockIdx.x / parts; tid == CONSUMERS && i < across * down; i += gridDim.x / parts) {
            place(i, brow, bcol);
            for (int tile = 0; tile < tiles; tile++, next())
                if (tile >= early) {
                    mbarrier_wait(&empty[s], parity ^ 1);  // a new barrier counts as one whose phase 1 has ended
                    copy(skip + tile, s);
                }
            early = 0;
        }
        return;
    }
    more_registers<T::REGISTERS>();

    // --- Compute ---
    const uint64_t a_tile = wgmma_descriptor<true>(&As[group * GM * LDA], 16, 1024);  // in stage 0
    const uint64_t b_tile = wgmma_descriptor<true>(Bs, BK * 128, 1024);
    auto multiply = [&]() {
        int before = 0;  // the stage of the tile before
        for (int tile = 0; tile < tiles; tile++, before = s, next()) {
            mbarrier_wait(&full[s], parity);
            wgmma_fence();
#pragma unroll
            for (int k = 0; k < BK; k += 16)
                wgmma(acc, a_tile + s * (STAGE / 8) + k / 8, b_tile + s * (STAGE / 8) + k * LDB / 8,
                      tile > 0 || k > 0);
            wgmma_commit();
            wgmma_wait<1>();  // the tile before this one is multiplied: it may be overwritten
            if (tile > 0 && tid % 128 == 0)
                mbarrier_arrive(&empty[before]);
        }
        wgmma_wait<0>();
        if (tid % 128 == 0)
            mbarrier_arrive(&empty[before]);
    };

    for (int i = blockIdx.x / parts; i < across * down; i += gridDim.x / parts) {
        place(i, brow, bcol);
        multiply();

        if (SPLIT) {
            add_up<BM, BN, CONSUMERS>(reinterpret_cast<float *>(shared), acc, C, M, N, brow, bcol, alpha, beta);
            return;
        }

        // --- Store ---
        scale_all(acc, C, M, N, brow + row + lane / 4, bcol + col + lane % 4 * 2, alpha, beta);
        const bool last = i + gridDim.x >= across * down;
#pragma unroll
        for (int c = 0; c < BN; c += BOX) {
            // This warpgroup's rows of A lie in each stage. After the last tile nobody needs them: C has room there.
            half *box = last ? &As[c / BOX * STAGE + group * GM * LDA] : &Cs[c / BOX % TURNS * GM * BOX];
            if (!last && tid % 128 == 0)
                bulk_wait_read<TURNS - 1>();  // the part that was there has been read
            named_barrier(1 + group, 128);
#pragma unroll
            for (int j = 0; j < BOX / 16; j++) {
                half2 v[4];
                for (int q = 0; q < 4; q++)  // the four matrices of a tile, in the order of a fragment of A
                    v[q] = __floats2half2_rn(acc[c / 2 + j * 8 + q * 2], acc[c / 2 + j * 8 + q * 2 + 1]);
                stmatrix(&box[swizzle<BOX>(row % GM + lane % 16, j * 16 + lane / 16 * 8)], v);
            }
            proxy_fence();                  // what TMA reads was written by ordinary stores
            named_barrier(1 + group, 128);  // these rows are complete
            if (N % 8 == 0 && tid % 128 == 0) {
                tma_store(&Cmap, box, brow + group * GM, bcol + c);
                bulk_commit();
            }
            for (int e = tid % 128; N % 8 && e < GM * BOX; e += 128) {  // one by one: neighbouring lanes store neighbours
                const int r = brow + group * GM + e / BOX, k = bcol + c + e % BOX;
                if (r < M && k < N)
                    C[size_t(r) * N + k] = box[swizzle<BOX>(e / BOX, e % BOX)];
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
