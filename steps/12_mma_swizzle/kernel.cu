// Step 12: XOR swizzle. In place of padding, each row puts its 16-byte chunks in another order: not one byte more.
#include <cuda_fp16.h>

// --- Tile sizes ---
constexpr int BM = 128, BN = 256, BK = 64;  // block tile
constexpr int WM = 64, WN = 64;             // warp tile
constexpr int THREADS = BM / WM * (BN / WN) * 32;
constexpr int BROWS = THREADS / (BN / 8);  // rows of BN elements that the block copies at once, 8 a thread
constexpr int AROWS = THREADS / (BK / 8);  // rows of BK elements, the same
static_assert(AROWS % 8 == 0 && BROWS % 8 == 0, "the swizzle moves all rows of a thread alike");
static_assert(BM % AROWS == 0 && BK % BROWS == 0, "every thread copies the same number of elements");
constexpr int ACOPIES = BM / AROWS, COPIES = ACOPIES + BK / BROWS;  // a thread's share of A's tile, and of both
constexpr int PARTS = BK / 16 - (BK > 16);  // one in each 16 of K; the last 16 have the barrier, and no copies
static_assert(COPIES % PARTS == 0, "all parts are of the same number of copies");
constexpr int STAGE = BM * BK + BK * BN;  // halves in As[BM][BK] and Bs[BK][BN] together
constexpr int PART = BM / WM * 16 * BN * 2;  // bytes: the part of the tile of C that is stored at once
constexpr int SHARED = 4 * STAGE > PART ? 4 * STAGE : PART;  // bytes: two stages, or the part of C
__constant__ int geometry[] = { BM, BN, BK, THREADS, SHARED, 0, 0, WM, WN };  // read by the driver

using half8 = uint4;  // 8 neighbours in a row: 16 bytes, the widest copy there is

// The first n of 8 neighbours, and 0 for the others: a tile may reach past the edge of its matrix.
// WIDE: rows start at multiples of 16 bytes, so that all 8 are there or none, and one copy takes them. It passes L1 by
// (__ldcg: cached in L2 only), since a block copies no element twice.
template <bool WIDE> __device__ half8 load(const half *x, int n)
{
    if constexpr (WIDE)
        return n > 0 ? __ldcg(reinterpret_cast<const half8 *>(x)) : half8();
    alignas(16) half v[8] = {};
    for (int e = 0; e < 8; e++)
        if (e < n)
            v[e] = x[e];
    return *reinterpret_cast<half8 *>(v);
}

template <bool WIDE> __device__ void store(half *C, int M, int N, int row, int col, half8 v)
{
    half *c = &C[size_t(row) * N + col];
    for (int e = 0; e < (WIDE ? 1 : 8); e++)
        if (row < M && col + e < N) {
            if constexpr (WIDE)
                *reinterpret_cast<half8 *>(c) = v;
            else
                c[e] = reinterpret_cast<half *>(&v)[e];
        }
}

// n results in a row. beta = 0 must not read C: it may hold NaN, or nothing yet.
__device__ void finish(half *v, int n, const half *C, int M, int N, int row, int col, float alpha, const float *acc,
                       float beta)
{
    float x[8];  // all reads first, so that they become 128 bits wide
    for (int e = 0; e < n; e++)
        x[e] = acc[e];
    for (int e = 0; e < n; e++)
        v[e] = alpha * x[e];
    for (int e = 0; e < n && beta != 0; e++)
        if (row < M && col + e < N)
            v[e] = alpha * x[e] + beta * float(C[size_t(row) * N + col + e]);
}

// Index i with bits M to M + B - 1 XORed with the B bits that lie S higher. M = 3 keeps chunks of 8 halves whole. B = 3
// moves them among the 8 places of 128 bytes, all the banks. S says by what: by the row, which starts at bit 6 of an
// index into As[BM][BK] (S = 3), at bit 8 in Bs[BK][BN] and Cs[BM / WM * 16][BN] (S = 5).
template <int B, int M, int S> __device__ int swizzle(int i)
{
    return i ^ (i >> S & ((1 << B) - 1) << M);
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

template <bool WIDE>
__device__ void product(int M, int N, int K, float alpha, const half *A, const half *B, float beta, half *C)
{
    extern __shared__ __align__(32) half8 shared[];  // two stages of As and Bs; at the end a part of the tile of C
    half *As = reinterpret_cast<half *>(shared), *Bs = As + BM * BK;
    half *Cs = As;

    // --- Who am I? ---
    // The warps divide the work three times, each time anew: to copy tiles in, to multiply, and to copy C out.
    const int tid = threadIdx.x;
    const int warp = tid / 32, lane = tid % 32;
    const int trow = lane % 16, tcol = lane / 16 * 8;          // whose address this lane gives of a 16 x 16 tile
    const int brow = blockIdx.y * BM, bcol = blockIdx.x * BN;  // first row and column of the block's tile of C
    const int row = warp / (BN / WN) * WM, col = warp % (BN / WN) * WN;  // multiply: a warp tile each
    const int arow = tid / (BK / 8), acol = tid % (BK / 8) * 8;          // copy rows of BK elements, As
    const int crow = tid / (BN / 8), ccol = tid % (BN / 8) * 8;          // copy rows of BN elements: a warp each
    // Where they begin in As and Bs. next and j * 16 set only bits that are 0 before the swizzle: XOR sets them after.
    const int at = swizzle<3, 3, 3>(arow * BK + acol), bt = swizzle<3, 3, 5>(crow * BN + ccol);
    const int ai = swizzle<3, 3, 3>((row + trow) * BK + tcol), bi = swizzle<3, 3, 5>(trow * BN + col + tcol);

    // --- Accumulators ---
    float acc[WM / 16][WN / 16][8] = {};

    // --- Load ---
    // A and B move along K, tile by tile; left is how much of K is still to come. As in 07 the first tile is the short
    // one, and copies past the right edge clamp, since what comes of them is not stored: wide copies need not ask.
    A += size_t(brow + arow) * K + acol;                                     // BM x K: the block's rows
    B += size_t(crow) * N + (WIDE ? min(bcol + ccol, N - 8) : bcol + ccol);  // K x BN: the block's columns
    int left = K, depth = (K - 1) % BK + 1;                                  // depth of the tile that is copied next
    const int rows = M - brow - arow, cols = WIDE ? 8 : N - bcol - ccol;
    half8 copies[COPIES];  // on their way: first those of A, then those of B
    auto fetch = [&](int from, int to, bool whole) {
        for (int c = from; c < to && c < ACOPIES; c++)
            if (!whole)
                copies[c] = load<WIDE>(&A[size_t(c * AROWS) * K], c * AROWS < rows ? depth - acol : 0);
            else if (c * AROWS < rows)  // past the lower edge it stays 0: faster here than to clamp, as 11 does
                copies[c] = load<WIDE>(&A[size_t(c * AROWS) * K], 8);
        for (int c = max(from, ACOPIES); c < to; c++) {
            const int i = (c - ACOPIES) * BROWS;
            copies[c] = load<WIDE>(&B[size_t(i) * N], whole ? 8 : i < depth - crow ? cols : 0);
        }
    };
    auto advance = [&] { left -= depth, A += depth, B += size_t(depth) * N, depth = BK; };
    auto put = [&](int stage, int from, int to) {
        for (int c = from; c < to && c < ACOPIES; c++)
            *reinterpret_cast<half8 *>(&As[stage + at + c * AROWS * BK]) = copies[c];
        for (int c = max(from, ACOPIES); c < to; c++)
            *reinterpret_cast<half8 *>(&Bs[stage + bt + (c - ACOPIES) * BROWS * BN]) = copies[c];
    };
    fetch(0, COPIES, false);
    advance();
    put(0, 0, COPIES);
    if (left > 0)
        fetch(0, COPIES, WIDE);
    advance();
    __syncthreads();  // the first tiles are complete before anyone reads them

    // A fragment is loaded again as soon as it has been used: the tensor cores need not wait for the next 16 of K.
    int stage = 0;
    unsigned a[WM / 16][4], b[WN / 16][4];
    auto load_a = [&](int i, int k) { ldmatrix(a[i], &As[stage + (ai ^ k) + i * 16 * BK]); };
    auto load_b = [&](int j, int k) { ldmatrix_trans(b[j], &Bs[stage + (bi ^ j * 16) + k * BN]); };
    for (int i = 0; i < WM / 16; i++)
        load_a(i, 0);
    for (int j = 0; j < WN / 16; j++)
        load_b(j, 0);
    for (int tile = 0; tile <= (K - 1) / BK; tile++) {
        // --- Compute ---
#pragma unroll
        for (int k = 0; k < BK; k += 16) {
            if (k / 16 != PARTS) {
                const int from = k / 16 * COPIES / PARTS, to = from + COPIES / PARTS;
                put(STAGE - stage, from, to);  // tile + 1 into the other stage,
                if (left > 0)
                    fetch(from, to, WIDE);  // and tile + 2 is on its way while this one is multiplied
                if (to == COPIES)
                    advance();
            }
            if (k + 16 == BK) {
                __syncthreads();  // tile + 1 is complete, and everyone has read this one to its end
                stage = STAGE - stage;
            }
            const int next = (k + 16) % BK;
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
        for (int j = 0; j < WN / 16; j++)
            for (int q = 0; q < 4; q++) {  // the four matrices of a tile, in the order of a fragment of A
                const int r = q % 2 * 8 + lane / 4, c = j * 16 + q / 2 * 8 + lane % 4 * 2;
                half2 v;
                finish(reinterpret_cast<half *>(&v), 2, C, M, N, brow + row + i * 16 + r, bcol + col + c, alpha,
                       &acc[i][j][q * 2], beta);
                *reinterpret_cast<half2 *>(&Cs[swizzle<3, 3, 5>((row / WM * 16 + r) * BN + col + c)]) = v;
            }
        __syncthreads();  // these rows are complete before anyone reads them
        for (int r = crow; r < crow + BM / WM * 16; r += BROWS) {
            const int to = brow + r / 16 * WM + i * 16 + r % 16;
            const half8 v = *reinterpret_cast<half8 *>(&Cs[swizzle<3, 3, 5>(r * BN + ccol)]);
            store<WIDE>(C, M, N, to, bcol + ccol, v);
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)  // 1 block an SM: at most 255 registers a thread
gemm(int M, int N, int K, float alpha, const half *A, const half *B, float beta, half *C)
{
    // Chosen once, so that no copy has to ask how rows are aligned.
    if (K % 8 == 0 && N % 8 == 0)
        product<true>(M, N, K, alpha, A, B, beta, C);
    else
        product<false>(M, N, K, alpha, A, B, beta, C);
}
