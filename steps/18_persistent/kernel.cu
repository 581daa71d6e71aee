// Step 18: a block for each SM. It computes one tile of C after the other, and the producer is already asking for the
// next while this one is stored.
#include "edges.cuh"
#include "hopper.cuh"

// --- Tile sizes ---
constexpr int BM = 128, BN = 256, BK = 64;  // block tile
constexpr int WM = 16, WN = BN, GM = 4 * WM;  // warp tile, and the rows of a warpgroup: its 4 warps multiply together
constexpr int STAGES = 4;                   // tiles in shared memory: one is multiplied, the others are being copied
constexpr int CONSUMERS = BM / WM * (BN / WN) * 32;  // threads that multiply and store
constexpr int THREADS = CONSUMERS + 128;             // and a warpgroup, the producer, that asks for tiles
static_assert(BM % WM == 0 && BN % WN == 0 && BK % 16 == 0, "a block has whole warp tiles, a tile whole fragments");
constexpr int BOX = 64;                    // halves in a row of a box: 128 bytes, as many as are swizzled together
constexpr int LDA = BOX, LDB = BOX;        // tiles are As[BM][LDA] and Bs[BN / BOX][BK][LDB]
constexpr int PART = BN / 2;               // columns of C that are stored at once: beside the stages is no room for more
constexpr int LDC = PART;                  // elements from one row of a shared tile to the next
constexpr int CROWS = GM;                  // rows of C that a warpgroup stores: its own
constexpr int BROWS = 128 / (PART / 8);    // rows of PART elements that it copies at once, 8 a thread
constexpr int GROUP = 16;                  // rows of tiles that are computed together: what they share stays in L2
constexpr int STAGE = BM * BK + BK * BN;   // halves of a tile of A and one of B
constexpr int SHARED = 2 * (STAGES * STAGE + BM * LDC);  // bytes of all stages, and of a part of C
static_assert(BK == BOX && BN % BOX == 0, "a box is as wide as the tile of A");
static_assert(BN == 256 && BM % GM == 0, "wgmma() has 64 rows and 256 columns");
static_assert(128 * 40 + CONSUMERS * 232 <= 65536 / THREADS / 8 * 8 * THREADS, "a block has no more registers");
static_assert(CROWS % BROWS == 0, "every thread stores the same number of rows");
__constant__ int geometry[] = { BM, BN, BK, THREADS, SHARED, 0, 0, WM, WN, BOX, 1 };  // read by the driver

// The index of (row, col) in a tile with rows of LD halves, if its chunks of 8 halves change places within each 128
// bytes: bits 3 to 5 of the index are XORed with the row's number.
template <int LD> __device__ int swizzle(int row, int col)
{
    return row * LD + (col ^ row % 8 * 8);
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)  // 1 block an SM: at most 255 registers a thread
gemm(int M, int N, int K, float alpha, const __grid_constant__ CUtensorMap A, const __grid_constant__ CUtensorMap B,
     float beta, half *C)
{
    extern __shared__ __align__(1024) half8 shared[];  // a swizzled box begins at a multiple of 1024 bytes
    half *As = reinterpret_cast<half *>(shared), *Bs = As + BM * LDA;  // STAGES of both
    half *Cs = As + STAGES * STAGE;
    __shared__ uint64_t full[STAGES], empty[STAGES];  // barriers: a tile has come; all consumers have multiplied it

    // --- Who am I? ---
    const int tid = threadIdx.x;
    const int warp = __shfl_sync(~0u, tid / 32, 0), lane = tid % 32;  // now the compiler knows: a warp has one number
    const int group = warp / 4;  // warpgroup
    const int row = warp / (BN / WN) * WM, col = warp % (BN / WN) * WN;  // multiply: a warp tile each
    const int crow = group * GM + tid % 128 / (PART / 8), ccol = tid % (PART / 8) * 8;  // copy rows of PART elements
    const int across = (N - 1) / BN + 1, down = (M - 1) / BM + 1;                   // tiles of C

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

    // --- Load ---
    const int tiles = (K - 1) / BK + 1;
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
    __syncthreads();  // the barriers exist before anyone else uses them
    if (tid >= CONSUMERS) {
        fewer_registers<40>();
        for (int i = blockIdx.x; tid == CONSUMERS && i < across * down; i += gridDim.x) {
            place(i, brow, bcol);
            for (int tile = 0; tile < tiles; tile++, next()) {
                mbarrier_wait(&empty[s], parity ^ 1);  // in a new barrier, the phase of parity 1 counts as ended
                copy(tile, s);
            }
        }
        return;
    }
    more_registers<232>();

    // --- Compute ---
    const uint64_t a_tile = wgmma_descriptor(&As[row / GM * GM * LDA], 16, 1024);  // in stage 0; in units of 16 bytes
    const uint64_t b_tile = wgmma_descriptor(Bs, BK * 128, 1024);
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
        }
        wgmma_wait<0>();
        if (tid % 128 == 0)
            mbarrier_arrive(&empty[before]);
    };

    for (int i = blockIdx.x; i < across * down; i += gridDim.x) {
        place(i, brow, bcol);
        multiply();

        // --- Store ---
        // Through shared memory, so that a warp stores whole rows. Each warpgroup has rows of its own.
#pragma unroll
        for (int c = 0; c < BN; c += PART) {
            named_barrier(1 + group, 128);  // the part before this one is stored, before it is overwritten
#pragma unroll
            for (int j = 0; j < PART / 16; j++)
                for (int q = 0; q < 4; q++) {  // the four matrices of a tile, in the order of a fragment of A
                    const int r = q % 2 * 8 + lane / 4, k = j * 16 + q / 2 * 8 + lane % 4 * 2;
                    half2 v;
                    scale<2>(reinterpret_cast<half *>(&v), C, M, N, brow + row + r, bcol + col + c + k, alpha,
                             &acc[c / 2 + j * 8 + q * 2], beta);
                    *reinterpret_cast<half2 *>(&Cs[swizzle<LDC>(row + r, k)]) = v;
                }
            named_barrier(1 + group, 128);  // these rows are complete before anyone reads them
            for (int r = crow; N % 8 == 0 && r < crow + CROWS; r += BROWS)
                store8<true>(C, M, N, brow + r, bcol + c + ccol,
                             *reinterpret_cast<half8 *>(&Cs[swizzle<LDC>(r, ccol)]));
#pragma unroll 1
            for (int e = tid % 128; N % 8 && e < CROWS * PART; e += 128) {  // one by one: neighbouring lanes store neighbours
                const int r = group * GM + e / PART, k = c + e % PART;
                if (brow + r < M && bcol + k < N)
                    C[size_t(brow + r) * N + bcol + k] = Cs[swizzle<LDC>(r, e % PART)];
            }
        }
    }
}
