// Exercise 14: TMA. One thread asks for whole tiles; barriers in shared memory say when a tile has come, and when every
// thread has read it.
#include "hopper.cuh"

constexpr int BM = 64, BN = 64, BK = 32;      // block tile
constexpr int TM = 4, TN = 4;                 // thread tile
constexpr int THREADS = BM / TM * (BN / TN);  // 256: 8 warps
constexpr int BOX = 32;                       // floats in a row of a box: 128 bytes
constexpr int STAGES = 2;                     // tiles in shared memory
__constant__ int geometry[] = { BM, BN, BK, THREADS, 0, TM, TN, 0, 0, BOX };  // read by the check
static_assert(BK == BOX && BN % BOX == 0, "a box is as wide as the tile of A");

__shared__ __align__(1024) float As[STAGES][BM * BOX];            // one box
__shared__ __align__(1024) float Bs[STAGES][BN / BOX][BK * BOX];  // a box for each 32 columns
__shared__ uint64_t full[STAGES], empty[STAGES];                  // a tile has come; every thread has read it

// Where (row, col) of a box is: TMA swizzles rows of 128 bytes, as step 12 does. 4 floats stay together.
__device__ int in_box(int row, int col)
{
    return row * BOX + (col ^ row % 8 * 4);
}

// K and N are multiples of 4 here, as a tensor map of floats wants it; M is any.
extern "C" __global__ void __launch_bounds__(THREADS)
gemm(int M, int N, int K, float alpha, const __grid_constant__ CUtensorMap A, const __grid_constant__ CUtensorMap B,
     float beta, float *C)
{
    // --- Who am I? ---
    const int tid = threadIdx.x;
    const int brow = blockIdx.y * BM, bcol = blockIdx.x * BN;          // first row and column of the block's tile of C
    const int row = tid / (BN / TN) * TM, col = tid % (BN / TN) * TN;  // this thread's patch

    // --- Accumulators ---
    float acc[TM][TN] = {};

    // --- Load ---
    const int tiles = (K - 1) / BK + 1;
    if (tid == 0) {
        // >>> yours, 5 lines: how many arrive at each of the barriers? Then the copies are to know of them
        for (int s = 0; s < STAGES; s++) {
            mbarrier_init(&full[s], 1);
            mbarrier_init(&empty[s], THREADS);
        }
        mbarrier_init_fence();
        // --- stub
        // --- bug no fence: "proxy fence" "fence.mbarrier_init"
        //| for (int s = 0; s < STAGES; s++) {
        //|     mbarrier_init(&full[s], 1);
        //|     mbarrier_init(&empty[s], THREADS);
        //| }
        // --- bug a thread of each warp is to arrive: "endless" "is it the parity of another phase"
        //| for (int s = 0; s < STAGES; s++) {
        //|     mbarrier_init(&full[s], 1);
        //|     mbarrier_init(&empty[s], THREADS / 32);
        //| }
        //| mbarrier_init_fence();
        // <<<
    }
    __syncthreads();  // the barriers exist before anyone uses them
    auto load = [&](int tile, int s) {
        // >>> yours, 4 lines: say how many bytes will come, and ask for the boxes of A and of B
        mbarrier_expect(&full[s], (BM * BK + BK * BN) * sizeof(float));
        tma_load(As[s], &A, &full[s], brow, tile * BK);
        for (int j = 0; j < BN / BOX; j++)
            tma_load(Bs[s][j], &B, &full[s], tile * BK, bcol + j * BOX);
        // --- stub
        // --- bug floats in place of bytes: "endless" "12288 bytes more than were expected have come"
        //| mbarrier_expect(&full[s], BM * BK + BK * BN);
        //| tma_load(As[s], &A, &full[s], brow, tile * BK);
        //| for (int j = 0; j < BN / BOX; j++)
        //|     tma_load(Bs[s][j], &B, &full[s], tile * BK, bcol + j * BOX);
        // --- bug the bytes of one box of B: "bytes of a phase" "4096 bytes are still on their way"
        //| mbarrier_expect(&full[s], (BM * BK + BK * BOX) * sizeof(float));
        //| tma_load(As[s], &A, &full[s], brow, tile * BK);
        //| for (int j = 0; j < BN / BOX; j++)
        //|     tma_load(Bs[s][j], &B, &full[s], tile * BK, bcol + j * BOX);
        // --- bug one box of B: "endless" "4096 bytes are missing"
        //| mbarrier_expect(&full[s], (BM * BK + BK * BN) * sizeof(float));
        //| tma_load(As[s], &A, &full[s], brow, tile * BK);
        //| tma_load(Bs[s][0], &B, &full[s], tile * BK, bcol);
        // --- bug no bytes: "copy not waited for" "wait on the copy's mbarrier"
        //| mbarrier_arrive(&full[s]);
        //| tma_load(As[s], &A, &full[s], brow, tile * BK);
        //| for (int j = 0; j < BN / BOX; j++)
        //|     tma_load(Bs[s][j], &B, &full[s], tile * BK, bcol + j * BOX);
        // --- bug row and column of A swapped: "K 64" "for A[0][32] it takes A[32][0]"
        //| mbarrier_expect(&full[s], (BM * BK + BK * BN) * sizeof(float));
        //| tma_load(As[s], &A, &full[s], tile * BK, brow);
        //| for (int j = 0; j < BN / BOX; j++)
        //|     tma_load(Bs[s][j], &B, &full[s], tile * BK, bcol + j * BOX);
        // --- bug row and column of B swapped: "C[0][32] is 0"
        //| mbarrier_expect(&full[s], (BM * BK + BK * BN) * sizeof(float));
        //| tma_load(As[s], &A, &full[s], brow, tile * BK);
        //| for (int j = 0; j < BN / BOX; j++)
        //|     tma_load(Bs[s][j], &B, &full[s], bcol + j * BOX, tile * BK);
        // --- bug the same columns of B twice: "the column of B is off by -32"
        //| mbarrier_expect(&full[s], (BM * BK + BK * BN) * sizeof(float));
        //| tma_load(As[s], &A, &full[s], brow, tile * BK);
        //| for (int j = 0; j < BN / BOX; j++)
        //|     tma_load(Bs[s][j], &B, &full[s], tile * BK, bcol);
        // <<<
    };
    // >>> yours, 3 lines: one thread asks for the first tiles, one a stage, as far as K has them
    if (tid == 0)
        for (int tile = 0; tile < min(STAGES, tiles); tile++)
            load(tile, tile);
    // --- stub
    //| if (tid == 0)
    //|     load(0, 0);
    // --- bug every thread asks: "more arrivals than the mbarrier expects"
    //| for (int tile = 0; tile < min(STAGES, tiles); tile++)
    //|     load(tile, tile);
    // --- bug past the end of K: "K 32" "copy left behind"
    //| if (tid == 0)
    //|     for (int tile = 0; tile < STAGES; tile++)
    //|         load(tile, tile);
    // <<<
    for (int tile = 0; tile < tiles; tile++) {
        const int s = tile % STAGES;
        // >>> yours, 1 line: wait until this tile has come
        mbarrier_wait(&full[s], tile / STAGES % 2);
        // --- stub
        // --- bug no wait: "copy not waited for" "wait on the copy's mbarrier"
        // --- bug the first parity always: "K 224" "is it the parity of another phase"
        //| mbarrier_wait(&full[s], 0);
        // --- bug the other parity: "copy not waited for" "wait on the copy's mbarrier"
        //| mbarrier_wait(&full[s], 1 - tile / STAGES % 2);
        // --- bug the parity of the tile: "K 64" "copy not waited for" "wait on the copy's mbarrier"
        //| mbarrier_wait(&full[s], tile % 2);
        // <<<

        // --- Compute ---
        for (int k = 0; k < BK; k++) {
            float a[TM], b[TN];
            for (int i = 0; i < TM; i++)
                a[i] = As[s][in_box(row + i, k)];
            *reinterpret_cast<float4 *>(b) = *reinterpret_cast<float4 *>(&Bs[s][col / BOX][in_box(k, col % BOX)]);
            for (int i = 0; i < TM; i++)
                for (int j = 0; j < TN; j++)
                    acc[i][j] += a[i] * b[j];
        }
        // >>> yours, 5 lines: all say that they have read the tile; then one thread asks for a later one
        mbarrier_arrive(&empty[s]);
        if (tid == 0 && tile + STAGES < tiles) {
            mbarrier_wait(&empty[s], tile / STAGES % 2);
            load(tile + STAGES, s);
        }
        // --- stub
        // --- bug no wait for the readers: "K 224" "copy not waited for"
        //| mbarrier_arrive(&empty[s]);
        //| if (tid == 0 && tile + STAGES < tiles)
        //|     load(tile + STAGES, s);
        // --- bug the other parity of empty: "K 224" "copy not waited for"
        //| mbarrier_arrive(&empty[s]);
        //| if (tid == 0 && tile + STAGES < tiles) {
        //|     mbarrier_wait(&empty[s], 1 - tile / STAGES % 2);
        //|     load(tile + STAGES, s);
        //| }
        // --- bug nobody arrives: "endless" "1 arrival is missing"
        //| if (tid == 0 && tile + STAGES < tiles) {
        //|     mbarrier_wait(&empty[s], tile / STAGES % 2);
        //|     load(tile + STAGES, s);
        //| }
        // --- bug a thread of each warp arrives: "endless" "248 arrivals are missing"
        //| __syncwarp();
        //| if (tid % 32 == 0)
        //|     mbarrier_arrive(&empty[s]);
        //| if (tid == 0 && tile + STAGES < tiles) {
        //|     mbarrier_wait(&empty[s], tile / STAGES % 2);
        //|     load(tile + STAGES, s);
        //| }
        // --- bug into the other stage: "K 224" "copy not waited for"
        //| mbarrier_arrive(&empty[s]);
        //| if (tid == 0 && tile + STAGES < tiles) {
        //|     mbarrier_wait(&empty[s], tile / STAGES % 2);
        //|     load(tile + STAGES, (tile + 1) % STAGES);
        //| }
        // --- bug a barrier of all threads: "right result, but" "6 barriers"
        //| __syncthreads();
        //| if (tid == 0 && tile + STAGES < tiles)
        //|     load(tile + STAGES, s);
        // <<<
    }

    // --- Store ---
    for (int i = 0; i < TM; i++)
        for (int j = 0; j < TN; j++) {
            const int r = brow + row + i, c = bcol + col + j;
            if (r < M && c < N)
                C[r * N + c] = alpha * acc[i][j] + (beta == 0 ? 0 : beta * C[r * N + c]);
        }
}
