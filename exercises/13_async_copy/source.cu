// Exercise 13: asynchronous copies. Three stages: one tile is multiplied, two are on their way; one barrier a tile.
constexpr int BM = 64, BN = 64, BK = 16;      // block tile
constexpr int TM = 4, TN = 4;                 // thread tile
constexpr int THREADS = BM / TM * (BN / TN);  // 256: 4 elements of A's tile and of B's for each thread
constexpr int PAD = 4;
__constant__ int geometry[] = { BM, BN, BK, THREADS, 0, TM, TN };  // read by the check
static_assert(BM == 64 && BN == 64 && BK == 16, "the copies of this exercise are written for these sizes");

// >>> yours, 1 line: how many tiles are in shared memory
constexpr int STAGES = 3;
// --- stub
//| constexpr int STAGES = 1;
// --- bug two stages: "right result, but" "18,432 bytes" "27,648"
//| constexpr int STAGES = 2;
// <<<
__shared__ __align__(16) float As[STAGES][BM][BK + PAD];
__shared__ __align__(16) float Bs[STAGES][BK][BN];

// Begins to copy 16 bytes from global to shared memory.
__device__ void copy16(float *to, const float *from)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(unsigned(__cvta_generic_to_shared(to))), "l"(from)
                 : "memory");
}

// The copies that this thread began since the last call become a group. It may be empty.
__device__ void commit()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

// Waits until all of this thread's groups are complete, but for the latest n.
template <int n> __device__ void wait()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory");
}

// M and N are multiples of 64 and K of 16 here: this exercise is about time, not about edges.
extern "C" __global__ void __launch_bounds__(THREADS)
gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C)
{
    // --- Who am I? ---
    const int tid = threadIdx.x;
    const int brow = blockIdx.y * BM, bcol = blockIdx.x * BN;          // first row and column of the block's tile of C
    const int row = tid / (BN / TN) * TM, col = tid % (BN / TN) * TN;  // this thread's patch
    const int arow = tid / (BK / 4), acol = tid % (BK / 4) * 4;        // the 4 elements of A's tile to copy
    const int crow = tid / (BN / 4), ccol = tid % (BN / 4) * 4;        // and those of B's tile

    // --- Accumulators ---
    float acc[TM][TN] = {};

    // --- Load ---
    A += (brow + arow) * K + acol;
    B += crow * N + bcol + ccol;
    auto copy = [&](int stage) {  // begins the copies of the next tiles; it does not ask where K ends
        copy16(&As[stage][arow][acol], A);
        copy16(&Bs[stage][crow][ccol], B);
        A += BK, B += BK * N;
    };
    const int tiles = K / BK;
    // >>> yours, 5 lines: the first tiles set off, a group each, as far as K has them
    for (int s = 0; s < STAGES - 1; s++) {
        if (s < tiles)
            copy(s);
        commit();
    }
    // --- stub
    // --- bug one group for both: "copy not waited for" "cp.async.wait_group"
    //| for (int s = 0; s < STAGES - 1; s++)
    //|     if (s < tiles)
    //|         copy(s);
    //| commit();
    // --- bug past the end of K: "K 16" "out of bounds"
    //| for (int s = 0; s < STAGES - 1; s++) {
    //|     copy(s);
    //|     commit();
    //| }
    // <<<
    for (int tile = 0; tile < tiles; tile++) {
        // >>> yours, 6 lines: wait for this tile, meet, and let the copies of a later one set off, where there is one
        wait<STAGES - 2>();
        __syncthreads();  // this tile is complete, and everyone has read the one before it
        if (tile + STAGES - 1 < tiles)
            copy((tile + STAGES - 1) % STAGES);
        commit();
        const int stage = tile % STAGES;
        // --- stub
        //| const int stage = 0;
        //| copy(stage);
        //| commit();
        //| wait<0>();
        //| __syncthreads();  // both tiles are complete before anyone reads them
        // --- bug one group too few waited for: "copy not waited for" "cp.async.wait_group"
        //| wait<STAGES - 1>();
        //| __syncthreads();
        //| if (tile + STAGES - 1 < tiles)
        //|     copy((tile + STAGES - 1) % STAGES);
        //| commit();
        //| const int stage = tile % STAGES;
        // --- bug waits for all: "right result, but" "every wait is for all groups"
        //| wait<0>();
        //| __syncthreads();
        //| if (tile + STAGES - 1 < tiles)
        //|     copy((tile + STAGES - 1) % STAGES);
        //| commit();
        //| const int stage = tile % STAGES;
        // --- bug no commit: "copy not waited for"
        //| wait<STAGES - 2>();
        //| __syncthreads();
        //| if (tile + STAGES - 1 < tiles)
        //|     copy((tile + STAGES - 1) % STAGES);
        //| const int stage = tile % STAGES;
        // --- bug a group only where there are copies: "copy not waited for"
        //| wait<STAGES - 2>();
        //| __syncthreads();
        //| if (tile + STAGES - 1 < tiles) {
        //|     copy((tile + STAGES - 1) % STAGES);
        //|     commit();
        //| }
        //| const int stage = tile % STAGES;
        // --- bug the barrier before the wait: "race" "no barrier comes between"
        //| __syncthreads();
        //| wait<STAGES - 2>();
        //| if (tile + STAGES - 1 < tiles)
        //|     copy((tile + STAGES - 1) % STAGES);
        //| commit();
        //| const int stage = tile % STAGES;
        // --- bug no barrier: "race" "no barrier comes between"
        //| wait<STAGES - 2>();
        //| if (tile + STAGES - 1 < tiles)
        //|     copy((tile + STAGES - 1) % STAGES);
        //| commit();
        //| const int stage = tile % STAGES;
        // --- bug the copies before the barrier: "race"
        //| wait<STAGES - 2>();
        //| if (tile + STAGES - 1 < tiles)
        //|     copy((tile + STAGES - 1) % STAGES);
        //| __syncthreads();
        //| commit();
        //| const int stage = tile % STAGES;
        // --- bug into the stage that is read: "copy not waited for"
        //| wait<STAGES - 2>();
        //| __syncthreads();
        //| if (tile + STAGES - 1 < tiles)
        //|     copy(tile % STAGES);
        //| commit();
        //| const int stage = tile % STAGES;
        // <<<

        // --- Compute ---
        for (int k = 0; k < BK; k++) {
            float a[TM], b[TN];
            for (int i = 0; i < TM; i++)
                a[i] = As[stage][row + i][k];
            *reinterpret_cast<float4 *>(b) = *reinterpret_cast<float4 *>(&Bs[stage][k][col]);
            for (int i = 0; i < TM; i++)
                for (int j = 0; j < TN; j++)
                    acc[i][j] += a[i] * b[j];
        }
        // >>> yours: is a barrier needed here?
        // --- stub
        //| __syncthreads();  // everyone has read the tiles before they are overwritten
        // --- bug a barrier at each end: "right result, but" "10 barriers for 5 tiles, where 5 suffice"
        //| __syncthreads();
        // <<<
    }

    // --- Store ---
    for (int i = 0; i < TM; i++)
        for (int j = 0; j < TN; j++) {
            float *c = &C[(brow + row + i) * N + bcol + col + j];
            *c = alpha * acc[i][j] + (beta == 0 ? 0 : beta * *c);
        }
}
