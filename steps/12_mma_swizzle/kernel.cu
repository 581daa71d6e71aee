// Step 12: XOR swizzle. In place of padding, each row puts its 16-byte chunks in another order: not one byte more.
#include "edges.cuh"
#include "ampere.cuh"

// --- Tile sizes ---
constexpr int BM = 128, BN = 256, BK = 32;  // block tile
constexpr int WM = 64, WN = 64;             // warp tile
constexpr int STAGES = 2;                   // tiles in shared memory: one is multiplied, the next is being copied
constexpr int THREADS = BM / WM * (BN / WN) * 32;
static_assert(BM % WM == 0 && BN % WN == 0 && BK % 16 == 0, "a block has whole warp tiles, a tile whole fragments");
constexpr int LDA = BK, LDB = BN;
constexpr int LDC = BN;                    // elements from one row of a shared tile to the next
constexpr int CROWS = BM / WM * 16;        // rows of C that are stored at once: 16 of each warp tile
constexpr int BROWS = THREADS / (BN / 8);  // rows of BN elements that the block copies at once, 8 a thread
constexpr int AROWS = THREADS / (BK / 8);  // rows of BK elements, the same
constexpr int ACOPIES = BM / AROWS, COPIES = ACOPIES + BK / BROWS;  // a thread's share of A's tile, and of both
constexpr int PARTS = BK > 16 ? BK / 16 - 1 : 1, PART = (COPIES + PARTS - 1) / PARTS;  // copies in each 16 of K
constexpr int STAGE = BM * LDA + BK * LDB;  // halves in As[BM][LDA] and Bs[BK][LDB] together
constexpr int SHARED = 2 * (STAGES * STAGE > CROWS * LDC ? STAGES * STAGE : CROWS * LDC);  // bytes: stages, or C
static_assert(AROWS % 8 == 0 && BROWS % 8 == 0 && 16 * LDA % 512 == 0, "a thread's rows are swizzled alike");
static_assert(BM % AROWS == 0 && BK % BROWS == 0, "every thread copies the same number of elements");
static_assert(CROWS % BROWS == 0, "every thread stores the same number of rows");
__constant__ int geometry[] = { BM, BN, BK, THREADS, SHARED, 0, 0, WM, WN };  // read by the driver

// The index of (row, col) in a tile with rows of LD halves, if its chunks of 8 halves change places within each 128
// bytes: bits 3 to 5 of the index are XORed with the row's number.
template <int LD> __device__ int swizzle(int row, int col)
{
    const unsigned i = row * LD + col;
    return i ^ i / (LD < 64 ? 64 : LD) % 8 * 8;  // if rows are shorter: the number of the 128 bytes
}

template <bool WIDE>
__device__ void product(int M, int N, int K, float alpha, const half *A, const half *B, float beta, half *C)
{
    extern __shared__ __align__(32) half8 shared[];
    half *As = reinterpret_cast<half *>(shared), *Bs = As + BM * LDA;  // STAGES of both
    half *Cs = As;

    // --- Who am I? ---
    const int tid = threadIdx.x;
    const int warp = tid / 32, lane = tid % 32;
    const int trow = lane % 16, tcol = lane / 16 * 8;          // whose address this lane gives of a 16 x 16 tile
    const int brow = blockIdx.y * BM, bcol = blockIdx.x * BN;  // first row and column of the block's tile of C
    const int row = warp / (BN / WN) * WM, col = warp % (BN / WN) * WN;  // multiply: a warp tile each
    const int arow = tid / (BK / 8), acol = tid % (BK / 8) * 8;          // copy rows of BK elements
    const int crow = tid / (BN / 8), ccol = tid % (BN / 8) * 8;          // copy rows of BN elements: 8 a thread

    // --- Accumulators ---
    float acc[WM / 16][WN / 16][8] = {};

    // --- Load ---
    // A and B move along K, tile by tile; left is how much of K is still to come.
    A += size_t(brow + arow) * K + acol;                                     // BM x K: the block's rows
    B += size_t(crow) * N + (WIDE ? min(bcol + ccol, N - 8) : bcol + ccol);  // K x BN: the block's columns
    int left = K;
    auto advance = [&](int depth) { left -= depth, A += depth, B += size_t(depth) * N; };
    const int rows = M - brow - arow, cols = WIDE ? 8 : N - bcol - ccol;
    half8 copies[COPIES] = {};  // on their way: first those of A, then those of B
    auto fetch = [&](int from, int to, int depth) {
        for (int c = from; c < to; c++) {
            const int i = c * AROWS, j = (c - ACOPIES) * BROWS;
            if (c >= ACOPIES)
                copies[c] = load8<WIDE>(&B[size_t(j) * N], depth == BK || crow + j < depth ? cols : 0);
            else if (i < rows)
                copies[c] = load8<WIDE>(&A[size_t(i) * K], depth == BK ? 8 : depth - acol);
        }
    };
    auto put = [&](int from, int to, int stage) {
        for (int c = from; c < min(to, ACOPIES); c++)
            *reinterpret_cast<half8 *>(&As[stage + swizzle<LDA>(arow, acol) + c * AROWS * LDA]) = copies[c];
        for (int c = max(from, ACOPIES); c < to; c++)
            *reinterpret_cast<half8 *>(&Bs[stage + swizzle<LDB>(crow, ccol) + (c - ACOPIES) * BROWS * LDB]) = copies[c];
    };
    fetch(0, COPIES, (K - 1) % BK + 1);  // the first tile is the short one, as in 07
    advance((K - 1) % BK + 1);
    put(0, COPIES, 0);
    if (left > 0)
        fetch(0, COPIES, BK);
    advance(BK);
    __syncthreads();  // the first tiles are complete before anyone reads them

    // A fragment is loaded again as soon as it has been used: the tensor cores need not wait for the next 16 of K.
    int stage = 0;
    unsigned a[WM / 16][4], b[WN / 16][4];
    const int ai = swizzle<LDA>(row + trow, tcol), bi = swizzle<LDB>(trow, col + tcol);  // across with ^, down with +
    auto load_a = [&](int i, int k) { ldmatrix(a[i], &As[stage + (ai ^ k) + i * 16 * LDA]); };
    auto load_b = [&](int j, int k) { ldmatrix_trans(b[j], &Bs[stage + (bi ^ j * 16) + k * LDB]); };
    for (int i = 0; i < WM / 16; i++)
        load_a(i, 0);
    for (int j = 0; j < WN / 16; j++)
        load_b(j, 0);
    for (int tile = 0; tile <= (K - 1) / BK; tile++) {
        // --- Compute ---
#pragma unroll
        for (int k = 0; k < BK; k += 16) {
            const int from = min(k / 16 * PART, COPIES), to = min(from + PART, COPIES);
            put(from, to, STAGE - stage);  // tile + 1 into the other stage,
            if (left > 0)
                fetch(from, to, BK);  // and tile + 2 is on its way while this one is multiplied
            if (k + 16 == BK) {
                __syncthreads();  // tile + 1 is complete, and everyone has read this one to its end
                stage = STAGE - stage;
                advance(BK);
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
            store8<WIDE>(C, M, N, to, bcol + ccol, *reinterpret_cast<half8 *>(&Cs[swizzle<LDC>(r, ccol)]));
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)  // 1 block an SM: at most 255 registers a thread
gemm(int M, int N, int K, float alpha, const half *A, const half *B, float beta, half *C)
{
    // Two bodies: one that tests the alignment of each copy is 8 to 27 % slower.
    K % 8 || N % 8 ? product<false>(M, N, K, alpha, A, B, beta, C) : product<true>(M, N, K, alpha, A, B, beta, C);
}
