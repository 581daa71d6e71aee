// Step 14: tensor maps. One thread asks for whole tiles. Barriers in shared memory say when one has come.
#include "edges.cuh"
#include "ampere.cuh"
#include "hopper.cuh"

// --- Tile sizes ---
constexpr int BM = 128, BN = 256, BK = 64;  // block tile
constexpr int WM = 64, WN = 64;             // warp tile
constexpr int STAGES = 4;                   // tiles in shared memory: one is multiplied, the others are being copied
constexpr int THREADS = BM / WM * (BN / WN) * 32;
static_assert(BM % WM == 0 && BN % WN == 0 && BK % 16 == 0, "a block has whole warp tiles, a tile whole fragments");
constexpr int BOX = 64;                    // halves in a row of a box: 128 bytes, as many as are swizzled together
constexpr int LDA = BOX, LDB = BOX;        // tiles are As[BM][LDA] and Bs[BN / BOX][BK][LDB]
constexpr int LDC = BN;                    // elements from one row of a shared tile to the next
constexpr int CROWS = BM / WM * 16;        // rows of C that are stored at once: 16 of each warp tile
constexpr int BROWS = THREADS / (BN / 8);  // rows of BN elements that the block copies at once, 8 a thread
constexpr int STAGE = BM * BK + BK * BN;   // halves of a tile of A and one of B
constexpr int SHARED = 2 * (STAGES * STAGE > CROWS * LDC ? STAGES * STAGE : CROWS * LDC);  // bytes: stages, or C
static_assert(BK == BOX && BN % BOX == 0 && WN == BOX, "a box is as wide as the tile of A, and as a warp tile");
static_assert(CROWS % BROWS == 0, "every thread stores the same number of rows");
__constant__ int geometry[] = { BM, BN, BK, THREADS, SHARED, 0, 0, WM, WN, BOX };  // read by the driver

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
    half *Cs = As;
    __shared__ uint64_t full[STAGES], empty[STAGES];  // barriers: a tile has come; every thread has read it

    // --- Who am I? ---
    const int tid = threadIdx.x;
    const int warp = tid / 32, lane = tid % 32;
    const int trow = lane % 16, tcol = lane / 16 * 8;          // whose address this lane gives of a 16 x 16 tile
    const int brow = blockIdx.y * BM, bcol = blockIdx.x * BN;  // first row and column of the block's tile of C
    const int row = warp / (BN / WN) * WM, col = warp % (BN / WN) * WN;  // multiply: a warp tile each
    const int crow = tid / (BN / 8), ccol = tid % (BN / 8) * 8;          // copy rows of BN elements: 8 a thread

    // --- Accumulators ---
    float acc[WM / 16][WN / 16][8] = {};

    // --- Load ---
    const int tiles = (K - 1) / BK + 1;
    if (tid == 0) {
        for (int s = 0; s < STAGES; s++)
            mbarrier_init(&full[s], 1);  // the thread that asks for the tile
        for (int s = 0; s < STAGES; s++)
            mbarrier_init(&empty[s], THREADS);  // all of them
        mbarrier_init_fence();
    }
    auto copy = [&](int tile, int s) {
        mbarrier_wait(&empty[s], tile / STAGES % 2 ^ 1);  // in a new barrier, the phase of parity 1 counts as ended
        mbarrier_expect(&full[s], 2 * STAGE);
        tma_load(&As[s * STAGE], &A, &full[s], brow, tile * BK);
        for (int j = 0; j < BN; j += BOX)
            tma_load(&Bs[s * STAGE + j * BK], &B, &full[s], tile * BK, bcol + j);
    };
    for (int tile = 0; tid == 0 && tile < min(STAGES - 1, tiles); tile++)
        copy(tile, tile);
    __syncthreads();  // the barriers exist before anyone else uses them

    // A fragment is loaded again as soon as it has been used: the tensor cores need not wait for the next 16 of K.
    int stage = 0;
    unsigned a[WM / 16][4], b[WN / 16][4];
    const int ai = swizzle<LDA>(row + trow, tcol), bi = col * BK + swizzle<LDB>(trow, tcol);  // across with ^, down +
    auto load_a = [&](int i, int k) { ldmatrix(a[i], &As[stage + (ai ^ k) + i * 16 * LDA]); };
    auto load_b = [&](int j, int k) { ldmatrix_trans(b[j], &Bs[stage + (bi ^ j * 16) + k * LDB]); };
    mbarrier_wait(&full[0], 0);
    for (int i = 0; i < WM / 16; i++)
        load_a(i, 0);
    for (int j = 0; j < WN / 16; j++)
        load_b(j, 0);
    for (int tile = 0; tile < tiles; tile++) {
        if (tid == 0 && tile + STAGES - 1 < tiles)
            copy(tile + STAGES - 1, (tile + STAGES - 1) % STAGES);  // to where the tile before this one was
        // --- Compute ---
#pragma unroll
        for (int k = 0; k < BK; k += 16) {
            if (k + 16 == BK && tile + 1 < tiles) {
                mbarrier_arrive(&empty[tile % STAGES]);  // this thread has read the tile to its end
                mbarrier_wait(&full[(tile + 1) % STAGES], (tile + 1) / STAGES % 2);
                stage = (tile + 1) % STAGES * STAGE;
            }
            const int next = (k + 16) % BK;
#pragma unroll
            for (int i = 0; i < WM / 16; i++) {
                for (int j = 0; j < WN / 16; j++) {
                    mma(acc[i][j], a[i], b[j]);
                    if (i == WM / 16 - 1)
                        load_b(j, next);
                }
                load_a(i, next);
            }
        }
    }

    // --- Store ---
    // Through shared memory, so that a warp stores whole rows: 16 rows of each warp tile at a time.
#pragma unroll
    for (int i = 0; i < WM / 16; i++) {
        __syncthreads();  // everyone has read what was here, before it is overwritten
#pragma unroll
        for (int j = 0; j < WN / 16; j++)
            for (int q = 0; q < 4; q++) {  // the four matrices of a tile, in the order of a fragment of A
                const int r = q % 2 * 8 + lane / 4, c = j * 16 + q / 2 * 8 + lane % 4 * 2;
                half2 v;
                scale<2>(reinterpret_cast<half *>(&v), C, M, N, brow + row + i * 16 + r, bcol + col + c, alpha,
                         &acc[i][j][q * 2], beta);
                *reinterpret_cast<half2 *>(&Cs[swizzle<LDC>(row / WM * 16 + r, col + c)]) = v;
            }
        __syncthreads();  // these rows are complete before anyone reads them
        for (int r = crow; r < crow + CROWS; r += BROWS) {
            const int to = brow + r / 16 * WM + i * 16 + r % 16;
            store8(C, M, N, to, bcol + ccol, *reinterpret_cast<half8 *>(&Cs[swizzle<LDC>(r, ccol)]));
        }
    }
}
