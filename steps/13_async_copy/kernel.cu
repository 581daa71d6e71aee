// Step 13: asynchronous copies. cp.async copies from global to shared memory without registers, so several tiles can be
// on their way while one is multiplied.
#include "edges.cuh"

// --- Tile sizes ---
constexpr int BM = 256, BN = 128, BK = 32;  // block tile
constexpr int WM = 64, WN = 64;             // warp tile
constexpr int STAGES = 4;                   // tiles in shared memory: one is multiplied, others are on their way
constexpr int THREADS = BM / WM * (BN / WN) * 32;
static_assert(BM % WM == 0 && BN % WN == 0 && BK % 16 == 0, "a block has whole warp tiles, a tile whole fragments");
constexpr int LDA = BK, LDB = BN;
constexpr int LDC = BN;                     // elements from one row of a shared tile to the next
constexpr int CROWS = BM / WM * 16;         // rows of C that are stored at once: 16 of each warp tile
constexpr int BROWS = THREADS / (BN / 8);   // rows of BN elements that the block copies at once, 8 a thread
constexpr int AROWS = THREADS / (BK / 8);   // rows of BK elements, the same
constexpr int STAGE = BM * LDA + BK * LDB;  // halves in As[BM][LDA] and Bs[BK][LDB] together
constexpr int SHARED = 2 * (STAGES * STAGE > CROWS * LDC ? STAGES * STAGE : CROWS * LDC);  // bytes: stages, or C
static_assert(AROWS % 8 == 0 && BROWS % 8 == 0, "the swizzle moves all rows of a thread alike");
static_assert(16 * LDA % 512 == 0, "the swizzle moves rows of A that are 16 apart alike");
static_assert(BM % AROWS == 0 && BK % BROWS == 0, "every thread copies the same number of elements");
static_assert(CROWS % BROWS == 0, "every thread stores the same number of rows");
__constant__ int geometry[] = { BM, BN, BK, THREADS, SHARED, 0, 0, WM, WN };  // read by the driver

// The index of (row, col) in a tile with rows of LD halves, if its chunks of 8 halves change places within each 128
// bytes: bits 3 to 5 of the index are XORed with the row's number (that of the 128 bytes, if rows are shorter).
template <int LD> __device__ int swizzle(int row, int col)
{
    const unsigned i = row * LD + col;
    return i ^ i / (LD < 64 ? 64 : LD) % 8 * 8;
}

// Fragments. Of an 8 x 8 matrix of halves each lane holds a register: lane 4 * r + c / 2 has columns c, c + 1 of row r.
// A 16 x 16 tile is four matrices: x[0] top left, x[1] bottom left, x[2] top right, x[3] bottom right. Lane 8 * i + r
// gives the address of row r of matrix i, so lane l that of row l % 16, column l / 16 * 8 of the tile.
__device__ void ldmatrix(unsigned (&x)[4], const half *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                 : "r"(unsigned(__cvta_generic_to_shared(row))));
}

// The same with each matrix transposed, as mma wants B: lane 4 * c + r / 2 has rows r, r + 1 of column c.
__device__ void ldmatrix_trans(unsigned (&x)[4], const half *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                 : "r"(unsigned(__cvta_generic_to_shared(row))));
}

// d[16][8] += a[16][16] * b[16][8], for the left half of b and the right one. Lane 4 * r + c / 2 has columns c, c + 1
// of the left half of d: row r in d[0], d[1] and row r + 8 in d[2], d[3]. The right half is in d[4] to d[7].
__device__ void mma(float (&d)[8], const unsigned (&a)[4], const unsigned (&b)[4])
{
    for (int h = 0; h < 2; h++)
        asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
            : "+f"(d[h * 4]), "+f"(d[h * 4 + 1]), "+f"(d[h * 4 + 2]), "+f"(d[h * 4 + 3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[h * 2]), "r"(b[h * 2 + 1]));
}

// Copies the first n of 8 neighbours from global to shared memory, and 0 for the others. A wide copy only begins here:
// it is complete after a wait for its group. The narrow one is a load and a store: cp.async copies 4 bytes at least.
template <bool WIDE> __device__ void copy8(half *to, const half *from, int n)
{
    if constexpr (WIDE)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"  // reads %2 bytes, and fills up with 0
                     :
                     : "r"(unsigned(__cvta_generic_to_shared(to))), "l"(from), "r"(n > 0 ? 16 : 0)
                     : "memory");
    else
        *reinterpret_cast<half8 *>(to) = load8<false>(from, n);
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
    const int crow = tid / (BN / 8), ccol = tid % (BN / 8) * 8;          // copy rows of BN elements: a warp each

    // --- Accumulators ---
    float acc[WM / 16][WN / 16][8] = {};

    // --- Load ---
    // A and B move along K, tile by tile; left is how much of K is still to come.
    A += size_t(brow + arow) * K + acol;                                     // BM x K: the block's rows
    B += size_t(crow) * N + (WIDE ? min(bcol + ccol, N - 8) : bcol + ccol);  // K x BN: the block's columns
    int left = K;
    auto advance = [&](int depth) { commit(), left -= depth, A += depth, B += size_t(depth) * N; };
    const int rows = M - brow - arow, cols = WIDE ? 8 : N - bcol - ccol;
    auto copy = [&](int stage, int depth) {  // past the end of K, nothing is read, and the tile is 0
        const int n = depth == BK ? 8 : depth - acol;
        for (int i = 0; i < BM; i += AROWS)
            copy8<WIDE>(&As[stage + swizzle<LDA>(arow, acol) + i * LDA], &A[i < rows ? size_t(i) * K : 0],
                        i < rows && left > 0 ? n : 0);
        for (int j = 0; j < BK; j += BROWS)
            copy8<WIDE>(&Bs[stage + swizzle<LDB>(crow, ccol) + j * LDB], &B[size_t(j) * N],
                        left > 0 && (depth == BK || crow + j < depth) ? cols : 0);
    };
    copy(0, (K - 1) % BK + 1);  // the first tile is the short one, as in 07
    advance((K - 1) % BK + 1);
    for (int s = 1; s < STAGES - 1; s++) {
        copy(s * STAGE, BK);
        advance(BK);
    }
    wait<STAGES - 2>();
    __syncthreads();  // the first tile is complete before anyone reads it

    // A fragment is loaded again as soon as it has been used: the tensor cores need not wait for the next 16 of K.
    int stage = 0, free = (STAGES - 1) * STAGE;  // where this tile is, and where the next copies go
    unsigned a[WM / 16][4], b[WN / 16][4];
    const int ai = swizzle<LDA>(row + trow, tcol), bi = swizzle<LDB>(trow, col + tcol);  // across with ^, down with +
    auto load_a = [&](int i, int k) { ldmatrix(a[i], &As[stage + (ai ^ k) + i * 16 * LDA]); };
    auto load_b = [&](int j, int k) { ldmatrix_trans(b[j], &Bs[stage + (bi ^ j * 16) + k * LDB]); };
    for (int i = 0; i < WM / 16; i++)
        load_a(i, 0);
    for (int j = 0; j < WN / 16; j++)
        load_b(j, 0);
    for (int tile = 0; tile <= (K - 1) / BK; tile++) {
        copy(free, BK);  // tile + STAGES - 1 sets off
        advance(BK);
        // --- Compute ---
#pragma unroll
        for (int k = 0; k < BK; k += 16) {
            if (k + 16 == BK) {
                wait<STAGES - 2>();
                __syncthreads();  // tile + 1 is complete, and everyone has read this one to its end
                free = stage;
                stage = (stage + STAGE) % (STAGES * STAGE);
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
    wait<0>();  // no copy is on its way to where C goes
    // Through shared memory, so that a warp stores whole rows: 16 rows of each warp tile at a time.
#pragma unroll
    for (int i = 0; i < WM / 16; i++) {
        __syncthreads();  // everyone has read what was here, before it is overwritten
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
    if (K % 8 == 0 && N % 8 == 0)
        product<true>(M, N, K, alpha, A, B, beta, C);
    else
        product<false>(M, N, K, alpha, A, B, beta, C);
}
