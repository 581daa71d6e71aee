// Step 19: C goes through shared memory in two halves, and a fourth stage takes the room. What alpha and beta ask for
// is done once for all of the tile, before it is stored.
#include "edges.cuh"
#include "hopper.cuh"

// --- Tile sizes ---
constexpr int BM = 128, BN = 256, BK = 64;  // block tile
constexpr int WM = 64, WN = BN;             // the tile of a warpgroup
constexpr int STAGES = 4;                   // tiles in shared memory: one is multiplied, the others are being copied
constexpr int CONSUMERS = BM / WM * 128;    // threads that multiply and store
constexpr int THREADS = CONSUMERS + 128;    // and a warpgroup, the producer, that asks for tiles
constexpr int BOX = 64;                     // halves in a row of a box: 128 bytes, as many as are swizzled together
constexpr int GROUP = 8;                    // rows of tiles that are computed together: what they share stays in L2
constexpr int PART = BN / 2;                // columns of C that are stored together
constexpr int STAGE = BM * BK + BK * BN;    // halves in As[BM][BOX] and Bs[BN / BOX][BK][BOX] together
constexpr int SHARED = 2 * (STAGES * STAGE + BM * PART);  // bytes of all stages, and of Cs[BM / WM][PART / BOX][WM][BOX]
static_assert(BK == BOX && BN % BOX == 0, "a box is as wide as the tile of A");
static_assert(BN == 256 && BM % WM == 0, "wgmma() has 64 rows and 256 columns");
static_assert(128 * 40 + CONSUMERS * 232 <= 65536, "an SM has the registers that the warpgroups take");
__constant__ int geometry[] = { BM, BN, BK, THREADS, SHARED, 0, 0, 16, WN, BOX, 1, WM };  // read by the driver

extern "C" __global__ void __launch_bounds__(THREADS, 1)  // 1 block an SM: at most 255 registers a thread
gemm(int M, int N, int K, float alpha, const __grid_constant__ CUtensorMap A, const __grid_constant__ CUtensorMap B,
     float beta, half *C, const __grid_constant__ CUtensorMap Cmap)
{
    extern __shared__ __align__(1024) half shared[];  // a swizzled box begins at a multiple of 1024 bytes
    half *As = shared, *Bs = As + BM * BK;            // STAGES of both
    __shared__ uint64_t full[STAGES], empty[STAGES];  // barriers: a tile has come; both warpgroups have multiplied it

    // --- Who am I? ---
    const int tid = threadIdx.x;
    const int warp = tid / 32, lane = tid % 32;
    const int group = tid / 128, row = group * WM;                 // multiply and store: a warpgroup tile each
    const int across = (N - 1) / BN + 1, down = (M - 1) / BM + 1;  // tiles of C

    // The first row and column of a tile of C: GROUP rows of tiles, column by column, then the next GROUP.
    auto place = [&](int i, int &brow, int &bcol) {
        const int first = i / (GROUP * across) * GROUP, rows = min(GROUP, down - first);
        brow = (first + i % (GROUP * across) % rows) * BM;
        bcol = i % (GROUP * across) / rows * BN;
    };
    int brow, bcol, s = 0, parity = 0;  // the stage of the next tile, and the parity of its phase
    auto next = [&]() { s = (s + 1) % STAGES, parity ^= s == 0; };

    // --- Load ---
    const int tiles = (K - 1) / BK + 1;
    if (tid == 0) {
        for (int s = 0; s < STAGES; s++) {
            mbarrier_init(&full[s], 1);                 // the thread that asks for the tile
            mbarrier_init(&empty[s], CONSUMERS / 128);  // a thread of each warpgroup
        }
        mbarrier_init_fence();
    }
    __syncthreads();  // the barriers exist before anyone uses them
    if (tid >= CONSUMERS) {
        fewer_registers<40>();
        for (int i = blockIdx.x; tid == CONSUMERS && i < across * down; i += gridDim.x) {
            place(i, brow, bcol);
            for (int tile = 0; tile < tiles; tile++, next()) {
                mbarrier_wait(&empty[s], parity ^ 1);  // a new barrier counts as one whose phase 1 has ended
                mbarrier_expect(&full[s], 2 * STAGE);
                tma_load(&As[s * STAGE], &A, &full[s], brow, tile * BK);
                for (int j = 0; j < BN; j += BOX)
                    tma_load(&Bs[s * STAGE + j * BK], &B, &full[s], tile * BK, bcol + j);
            }
        }
        return;
    }
    more_registers<232>();

    // --- Accumulators ---
    float acc[WN / 2];
    half *Cs = shared + STAGES * STAGE + row * PART;  // this warpgroup's rows
    auto at = [&](int r, int c) { return &Cs[c / BOX * WM * BOX + r * BOX + (c % BOX ^ r % 8 * 8)]; };

    for (int i = blockIdx.x; i < across * down; i += gridDim.x) {
        place(i, brow, bcol);
        auto free = [&](int s) {
            if (tid % 128 == 0)
                mbarrier_arrive(&empty[s]);
        };
        for (int tile = 0; tile < tiles; tile++, next()) {
            // --- Compute ---
            mbarrier_wait(&full[s], parity);
            wgmma_fence();
#pragma unroll
            for (int k = 0; k < BK; k += 16)
                wgmma(acc, wgmma_descriptor(&As[s * STAGE + row * BOX + k], 16, 1024),
                      wgmma_descriptor(&Bs[s * STAGE + k * BOX], BK * 128, 1024), tile + k);
            wgmma_commit();
            wgmma_wait<1>();  // the tile before this one is multiplied: it may be overwritten
            if (tile > 0)
                free((s + STAGES - 1) % STAGES);
        }
        wgmma_wait<0>();
        free((s + STAGES - 1) % STAGES);

        // --- Store ---
        scale_all(acc, C, M, N, brow + warp * 16 + lane / 4, bcol + lane % 4 * 2, alpha, beta);
#pragma unroll
        for (int c = 0; c < BN; c += PART) {
            if (tid % 128 == 0)
                bulk_wait_read<0>();  // the part before this one has been read out of Cs
            named_barrier(1 + group, 128);
#pragma unroll
            for (int j = 0; j < PART; j += 16) {
                half2 v[4];
                for (int q = 0; q < 4; q++)  // the four matrices of a tile, in the order of a fragment of A
                    v[q] = __floats2half2_rn(acc[(c + j) / 2 + q * 2], acc[(c + j) / 2 + q * 2 + 1]);
                stmatrix(at(warp % 4 * 16 + lane % 16, j + lane / 16 * 8), v);
            }
            proxy_fence();                  // what TMA reads was written by ordinary stores
            named_barrier(1 + group, 128);  // these rows are complete
            if (N % 8 == 0 && tid % 128 == 0) {
                for (int j = 0; j < PART; j += BOX)
                    tma_store(&Cmap, at(0, j), brow + row, bcol + c + j);
                bulk_commit();
            }
            for (int i = tid % 128; N % 8 && i < WM * PART;
                 i += 128)  // there is no map of such rows: element by element
                if (brow + row + i / PART < M && bcol + c + i % PART < N)
                    C[size_t(brow + row + i / PART) * N + bcol + c + i % PART] = *at(i / PART, i % PART);
        }
    }
    bulk_wait_read<0>();  // shared memory must last until it has been read
}
