// Step 15: products of a warpgroup. wgmma multiplies matrices that lie in shared memory: no fragments are loaded, and
// one instruction of 128 threads does what took each of their warps 32 of mma.sync.
#include "edges.cuh"
#include "hopper.cuh"

// --- Tile sizes ---
constexpr int BM = 128, BN = 256, BK = 64;  // block tile
constexpr int WM = 64, WN = BN;             // the tile of a warpgroup
constexpr int STAGES = 4;                   // tiles in shared memory: one is multiplied, the others are being copied
constexpr int THREADS = BM / WM * 128;
constexpr int BOX = 64;                     // halves in a row of a box: 128 bytes, as many as are swizzled together
constexpr int LDC = BN;                     // elements from one row of C in shared memory to the next
constexpr int BROWS = THREADS / (BN / 8);   // rows of BN elements that the block stores at once, 8 a thread
constexpr int STAGE = BM * BK + BK * BN;    // halves in As[BM][BOX] and Bs[BN / BOX][BK][BOX] together
constexpr int SHARED = 2 * STAGES * STAGE;  // bytes of all stages
static_assert(BK == BOX && BN % BOX == 0, "a box is as wide as the tile of A");
static_assert(BN == 256 && BM % WM == 0, "wgmma() has 64 rows and 256 columns");
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
    __shared__ uint64_t full[STAGES];  // barriers: a tile has come

    // --- Who am I? ---
    const int tid = threadIdx.x;
    const int warp = tid / 32, lane = tid % 32;
    const int brow = blockIdx.y * BM, bcol = blockIdx.x * BN;    // first row and column of the block's tile of C
    const int row = tid / 128 * WM;                              // multiply: a warpgroup tile each
    const int crow = tid / (BN / 8), ccol = tid % (BN / 8) * 8;  // store rows of BN elements: 8 a thread

    // --- Accumulators ---
    float acc[WN / 2];

    // --- Load ---
    const int tiles = (K - 1) / BK + 1;
    if (tid == 0) {
        for (int s = 0; s < STAGES; s++)
            mbarrier_init(&full[s], 1);  // the thread that asks for the tile
        mbarrier_init_fence();
    }
    __syncthreads();  // the barriers exist before anyone uses them
    auto load = [&](int tile) {
        const int s = tile % STAGES;
        mbarrier_expect(&full[s], 2 * STAGE);
        tma_load(&As[s * STAGE], &A, &full[s], brow, tile * BK);
        for (int j = 0; j < BN; j += BOX)
            tma_load(&Bs[s * STAGE + j * BK], &B, &full[s], tile * BK, bcol + j);
    };
    for (int tile = 0; tid == 0 && tile < min(STAGES - 1, tiles); tile++)
        load(tile);

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
        wgmma_wait<0>();
        __syncthreads();  // everyone has multiplied this tile: it may be overwritten
        if (tid == 0 && tile + STAGES - 1 < tiles)
            load(tile + STAGES - 1);
    }

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
    __syncthreads();  // C is complete before anyone reads it
    if (N % 8 == 0)
        for (int r = crow; r < BM; r += BROWS)
            store8<true>(C, M, N, brow + r, bcol + ccol, *reinterpret_cast<half8 *>(&Cs[swizzle<LDC>(r, ccol)]));
    else  // element by element, so that neighbouring lanes store neighbours
        for (int i = tid; i < BM * BN; i += THREADS)
            if (brow + i / BN < M && bcol + i % BN < N)
                C[size_t(brow + i / BN) * N + bcol + i % BN] = Cs[swizzle<LDC>(i / BN, i % BN)];
}
