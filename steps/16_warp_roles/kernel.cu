// Step 16: roles. A warpgroup of its own asks for the tiles, two multiply them, and they meet at barriers in shared
// memory alone: the next products are issued before the last ones are complete.
#include "edges.cuh"
#include "hopper.cuh"

// --- Tile sizes ---
constexpr int BM = 128, BN = 256, BK = 64;   // block tile
constexpr int WM = 64, WN = BN;              // the tile of a warpgroup
constexpr int STAGES = 4;                    // tiles in shared memory: one is multiplied, the others are being copied
constexpr int CONSUMERS = BM / WM * 128;     // threads that multiply and store
constexpr int THREADS = CONSUMERS + 128;     // and a warpgroup, the producer, that asks for tiles
constexpr int BOX = 64;                      // halves in a row of a box: 128 bytes, as many as are swizzled together
constexpr int LDC = BN;                      // elements from one row of C in shared memory to the next
constexpr int BROWS = CONSUMERS / (BN / 8);  // rows of BN elements that they store at once, 8 a thread
constexpr int STAGE = BM * BK + BK * BN;     // halves in As[BM][BOX] and Bs[BN / BOX][BK][BOX] together
constexpr int SHARED = 2 * STAGES * STAGE;   // bytes of all stages
static_assert(BK == BOX && BN % BOX == 0, "a box is as wide as the tile of A");
static_assert(BN == 256 && BM % WM == 0, "wgmma() has 64 rows and 256 columns");
static_assert(128 * 40 + CONSUMERS * 232 <= 65536, "an SM has the registers that the warpgroups take");
static_assert(BM * LDC <= STAGES * STAGE && BM % BROWS == 0, "C fits, and every thread stores as many of its rows");
__constant__ int geometry[] = { BM, BN, BK, THREADS, SHARED, 0, 0, 16, WN, BOX };  // read by the driver

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
    extern __shared__ __align__(1024) half shared[];  // a swizzled box begins at a multiple of 1024 bytes
    half *As = shared, *Bs = As + BM * BK;            // STAGES of both
    half *Cs = shared;
    __shared__ uint64_t full[STAGES], empty[STAGES];  // barriers: a tile has come; both warpgroups have multiplied it

    // --- Who am I? ---
    const int tid = threadIdx.x;
    const int warp = tid / 32, lane = tid % 32;
    const int brow = blockIdx.y * BM, bcol = blockIdx.x * BN;    // first row and column of the block's tile of C
    const int row = tid / 128 * WM;                              // multiply: a warpgroup tile each
    const int crow = tid / (BN / 8), ccol = tid % (BN / 8) * 8;  // store rows of BN elements: 8 a thread

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
        for (int tile = 0; tid == CONSUMERS && tile < tiles; tile++) {
            const int s = tile % STAGES;
            mbarrier_wait(&empty[s], tile / STAGES % 2 ^ 1);  // a new barrier counts as one whose phase 1 has ended
            mbarrier_expect(&full[s], 2 * STAGE);
            tma_load(&As[s * STAGE], &A, &full[s], brow, tile * BK);
            for (int j = 0; j < BN; j += BOX)
                tma_load(&Bs[s * STAGE + j * BK], &B, &full[s], tile * BK, bcol + j);
        }
        return;
    }
    more_registers<232>();

    // --- Accumulators ---
    float acc[WN / 2];

    for (int tile = 0; tile < tiles; tile++) {
        // --- Compute ---
        const int s = tile % STAGES;
        mbarrier_wait(&full[s], tile / STAGES % 2);
        wgmma_fence();
#pragma unroll
        for (int k = 0; k < BK; k += 16)
            wgmma(acc, wgmma_descriptor(&As[s * STAGE + row * BOX + k], 16, 1024),
                  wgmma_descriptor(&Bs[s * STAGE + k * BOX], BK * 128, 1024), tile + k);
        wgmma_commit();
        wgmma_wait<1>();  // the tile before this one is multiplied: it may be overwritten
        if (tile > 0 && tid % 128 == 0)
            mbarrier_arrive(&empty[(tile - 1) % STAGES]);
    }
    wgmma_wait<0>();
    named_barrier(1, CONSUMERS);  // both warpgroups have multiplied the last tile

    // --- Store ---
    // Through shared memory, so that a warp stores whole rows.
#pragma unroll
    for (int j = 0; j < BN / 8; j++)
        for (int h = 0; h < 2; h++) {  // two neighbours in each of two rows
            const int r = warp * 16 + h * 8 + lane / 4, c = j * 8 + lane % 4 * 2;
            half2 v;
            scale<2>(reinterpret_cast<half *>(&v), C, M, N, brow + r, bcol + c, alpha, &acc[j * 4 + h * 2], beta);
            *reinterpret_cast<half2 *>(&Cs[swizzle<LDC>(r, c)]) = v;
        }
    named_barrier(1, CONSUMERS);  // C is complete before anyone reads it
    if (N % 8 == 0)
        for (int r = crow; r < BM; r += BROWS)
            store8<true>(C, M, N, brow + r, bcol + ccol, *reinterpret_cast<half8 *>(&Cs[swizzle<LDC>(r, ccol)]));
    else  // element by element, so that neighbouring lanes store neighbours
        for (int i = tid; i < BM * BN; i += CONSUMERS)
            if (brow + i / BN < M && bcol + i % BN < N)
                C[size_t(brow + i / BN) * N + bcol + i % BN] = Cs[swizzle<LDC>(i / BN, i % BN)];
}
