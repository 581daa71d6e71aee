// Exercise 16: roles. A warpgroup of its own asks for tiles, two multiply them, and no barrier of the block stands in
// the loop.
#include "hopper.cuh"

constexpr int BM = 128, BN = 256, BK = 64;   // block tile
constexpr int STAGES = 3;                    // tiles in shared memory
constexpr int CONSUMERS = BM / 64 * 128;     // threads that multiply: 64 rows a warpgroup
constexpr int THREADS = CONSUMERS + 128;     // and a warpgroup, the producer, that asks for tiles
constexpr int BOX = 64;                      // halves in a row of a box: 128 bytes, swizzled by 128 bytes
constexpr int STAGE = BM * BK + BK * BN;     // halves in As[BM][BOX] and Bs[BN / BOX][BK][BOX] together
constexpr int SHARED = 2 * STAGES * STAGE;   // bytes of all stages
__constant__ int geometry[] = { BM, BN, BK, THREADS, SHARED, 0, 0, 16, BN, BOX };  // read by the check
static_assert(BM == 128 && BN == 256 && BK == BOX, "wgmma() has 64 rows and 256 columns");

// M is a multiple of 128 and N of 256 here: this exercise is about who does what, not about edges.
extern "C" __global__ void __launch_bounds__(THREADS, 1)
gemm(int M, int N, int K, float alpha, const __grid_constant__ CUtensorMap A, const __grid_constant__ CUtensorMap B,
     float beta, half *C)
{
    extern __shared__ __align__(1024) half shared[];
    half *As = shared, *Bs = As + BM * BK;            // STAGES of both
    __shared__ uint64_t full[STAGES], empty[STAGES];  // barriers: a tile has come; both warpgroups have multiplied it

    // --- Who am I? ---
    const int tid = threadIdx.x;
    const int warp = tid / 32, lane = tid % 32;
    const int brow = blockIdx.y * BM, bcol = blockIdx.x * BN;  // first row and column of the block's tile of C
    const int row = tid / 128 * 64;                            // multiply: 64 rows a warpgroup
    const int tiles = (K - 1) / BK + 1;
    float acc[BN / 2];

    // Asks for a tile, to be run by one thread: its bytes arrive at full[tile % STAGES].
    auto load = [&](int tile) {
        const int s = tile % STAGES;
        mbarrier_expect(&full[s], 2 * STAGE);
        tma_load(&As[s * STAGE], &A, &full[s], brow, tile * BK);
        for (int j = 0; j < BN; j += BOX)
            tma_load(&Bs[s * STAGE + j * BK], &B, &full[s], tile * BK, bcol + j);
    };
    // Issues the products of a tile, to be run by whole warpgroups: a group of products that nobody has waited for.
    auto multiply = [&](int tile) {
        const int s = tile % STAGES;
        wgmma_fence();
#pragma unroll
        for (int k = 0; k < BK; k += 16)
            wgmma(acc, wgmma_descriptor(&As[s * STAGE + row * BOX + k], 16, 1024),
                  wgmma_descriptor(&Bs[s * STAGE + k * BOX], BK * 128, 1024), tile + k);
        wgmma_commit();
    };

    if (tid == 0) {
        for (int s = 0; s < STAGES; s++) {
            mbarrier_init(&full[s], 1);
            // >>> yours, 1 line: how many arrive when a tile is multiplied?
            mbarrier_init(&empty[s], CONSUMERS / 128);
            // --- stub
            //| mbarrier_init(&empty[s], 1);  // not used yet
            // --- bug one consumer is enough: "race" "wgmma may still read this tile"
            //| mbarrier_init(&empty[s], 1);
            // --- bug all threads are counted: "endless" "254 arrivals are missing"
            //| mbarrier_init(&empty[s], CONSUMERS);
            // <<<
        }
        mbarrier_init_fence();
    }
    __syncthreads();  // the barriers exist before anyone uses them

    // >>> yours, 9 lines: the producer, all threads from CONSUMERS on: it asks for every tile, and ends
    if (tid >= CONSUMERS) {
        fewer_registers<40>();
        for (int tile = 0; tid == CONSUMERS && tile < tiles; tile++) {
            mbarrier_wait(&empty[tile % STAGES], tile / STAGES % 2 ^ 1);
            load(tile);
        }
        return;
    }
    more_registers<232>();
    // --- stub
    // --- bug the other parity: "endless" "2 arrivals are missing"
    //| if (tid >= CONSUMERS) {
    //|     fewer_registers<40>();
    //|     for (int tile = 0; tid == CONSUMERS && tile < tiles; tile++) {
    //|         mbarrier_wait(&empty[tile % STAGES], tile / STAGES % 2);
    //|         load(tile);
    //|     }
    //|     return;
    //| }
    //| more_registers<232>();
    // --- bug does not wait until a stage is empty: "more arrivals than the mbarrier expects"
    //| if (tid >= CONSUMERS) {
    //|     fewer_registers<40>();
    //|     for (int tile = 0; tid == CONSUMERS && tile < tiles; tile++)
    //|         load(tile);
    //|     return;
    //| }
    //| more_registers<232>();
    // --- bug waits as if each stage were new: "more arrivals than the mbarrier expects"
    //| if (tid >= CONSUMERS) {
    //|     fewer_registers<40>();
    //|     for (int tile = 0; tid == CONSUMERS && tile < tiles; tile++) {
    //|         mbarrier_wait(&empty[tile % STAGES], 1);
    //|         load(tile);
    //|     }
    //|     return;
    //| }
    //| more_registers<232>();
    // --- bug all threads of the producer ask: "more arrivals than the mbarrier expects"
    //| if (tid >= CONSUMERS) {
    //|     fewer_registers<40>();
    //|     for (int tile = 0; tile < tiles; tile++) {
    //|         mbarrier_wait(&empty[tile % STAGES], tile / STAGES % 2 ^ 1);
    //|         load(tile);
    //|     }
    //|     return;
    //| }
    //| more_registers<232>();
    // --- bug the producer keeps its registers: "asks for 232 registers a thread"
    //| if (tid >= CONSUMERS) {
    //|     for (int tile = 0; tid == CONSUMERS && tile < tiles; tile++) {
    //|         mbarrier_wait(&empty[tile % STAGES], tile / STAGES % 2 ^ 1);
    //|         load(tile);
    //|     }
    //|     return;
    //| }
    //| more_registers<232>();
    // --- bug one thread gives registers back: "setmaxnreg"
    //| if (tid >= CONSUMERS) {
    //|     if (tid == CONSUMERS)
    //|         fewer_registers<40>();
    //|     for (int tile = 0; tid == CONSUMERS && tile < tiles; tile++) {
    //|         mbarrier_wait(&empty[tile % STAGES], tile / STAGES % 2 ^ 1);
    //|         load(tile);
    //|     }
    //|     return;
    //| }
    //| more_registers<232>();
    // --- bug one tile too few: "endless" "1 arrival is missing"
    //| if (tid >= CONSUMERS) {
    //|     fewer_registers<40>();
    //|     for (int tile = 0; tid == CONSUMERS && tile < tiles - 1; tile++) {
    //|         mbarrier_wait(&empty[tile % STAGES], tile / STAGES % 2 ^ 1);
    //|         load(tile);
    //|     }
    //|     return;
    //| }
    //| more_registers<232>();
    // <<<

    for (int tile = 0; tile < tiles; tile++) {
        // >>> yours, 5 lines: wait for the tile, multiply it, and say so of the tile before it
        mbarrier_wait(&full[tile % STAGES], tile / STAGES % 2);
        multiply(tile);
        wgmma_wait<1>();
        if (tile > 0 && tid % 128 == 0)
            mbarrier_arrive(&empty[(tile - 1) % STAGES]);
        // --- stub
        //| if (tid == 0)
        //|     load(tile);
        //| mbarrier_wait(&full[tile % STAGES], tile / STAGES % 2);
        //| if (tid < CONSUMERS) {
        //|     multiply(tile);
        //|     wgmma_wait<0>();
        //| }
        //| __syncthreads();  // everyone has multiplied this tile
        // --- bug frees the tile just issued: "race" "wgmma may still read this tile"
        //| mbarrier_wait(&full[tile % STAGES], tile / STAGES % 2);
        //| multiply(tile);
        //| wgmma_wait<1>();
        //| if (tid % 128 == 0)
        //|     mbarrier_arrive(&empty[tile % STAGES]);
        // --- bug frees the tile before without a wait: "race" "wgmma may still read this tile"
        //| mbarrier_wait(&full[tile % STAGES], tile / STAGES % 2);
        //| multiply(tile);
        //| if (tile > 0 && tid % 128 == 0)
        //|     mbarrier_arrive(&empty[(tile - 1) % STAGES]);
        // --- bug does not wait for the tile: "copy not waited for"
        //| multiply(tile);
        //| wgmma_wait<1>();
        //| if (tile > 0 && tid % 128 == 0)
        //|     mbarrier_arrive(&empty[(tile - 1) % STAGES]);
        // --- bug waits for the parity before: "copy not waited for"
        //| mbarrier_wait(&full[tile % STAGES], tile / STAGES % 2 ^ 1);
        //| multiply(tile);
        //| wgmma_wait<1>();
        //| if (tile > 0 && tid % 128 == 0)
        //|     mbarrier_arrive(&empty[(tile - 1) % STAGES]);
        // --- bug frees nothing: "endless" "2 arrivals are missing"
        //| mbarrier_wait(&full[tile % STAGES], tile / STAGES % 2);
        //| multiply(tile);
        //| wgmma_wait<1>();
        // --- bug every thread frees: "endless" "2 arrivals are missing"
        //| mbarrier_wait(&full[tile % STAGES], tile / STAGES % 2);
        //| multiply(tile);
        //| wgmma_wait<1>();
        //| if (tile > 0)
        //|     mbarrier_arrive(&empty[(tile - 1) % STAGES]);
        // --- bug one consumer frees: "endless" "1 arrival is missing"
        //| mbarrier_wait(&full[tile % STAGES], tile / STAGES % 2);
        //| multiply(tile);
        //| wgmma_wait<1>();
        //| if (tile > 0 && tid == 0)
        //|     mbarrier_arrive(&empty[(tile - 1) % STAGES]);
        // --- bug all products are waited for: "right result, but" "leave those of the last tile open"
        //| mbarrier_wait(&full[tile % STAGES], tile / STAGES % 2);
        //| multiply(tile);
        //| wgmma_wait<0>();
        //| if (tid % 128 == 0)
        //|     mbarrier_arrive(&empty[tile % STAGES]);
        // --- bug the consumers meet in each tile: "right result, but" "`full` and `empty` say all"
        //| mbarrier_wait(&full[tile % STAGES], tile / STAGES % 2);
        //| multiply(tile);
        //| wgmma_wait<1>();
        //| named_barrier(1, CONSUMERS);
        //| if (tile > 0 && tid % 128 == 0)
        //|     mbarrier_arrive(&empty[(tile - 1) % STAGES]);
        // --- bug a barrier of the block: "never come"
        //| mbarrier_wait(&full[tile % STAGES], tile / STAGES % 2);
        //| multiply(tile);
        //| wgmma_wait<1>();
        //| __syncthreads();
        //| if (tile > 0 && tid % 128 == 0)
        //|     mbarrier_arrive(&empty[(tile - 1) % STAGES]);
        // <<<
    }
    wgmma_wait<0>();
    if (tid >= CONSUMERS)
        return;

    // --- Store ---
#pragma unroll
    for (int n = 0; n < BN / 2; n += 2) {
        const int r = warp * 16 + n / 2 % 2 * 8 + lane / 4, c = n / 4 * 8 + lane % 4 * 2;
        half2 *to = reinterpret_cast<half2 *>(&C[size_t(brow + r) * N + bcol + c]);
        const float2 old = beta == 0 ? float2{ 0, 0 } : __half22float2(*to);
        *to = __floats2half2_rn(alpha * acc[n] + beta * old.x, alpha * acc[n + 1] + beta * old.y);
    }
}
