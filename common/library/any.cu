// The library's kernel for everything: step 07 for floats, halves or bf16 (-DIN), which it multiplies as floats, for A and B in
// either order, with gaps between rows, batches, and an epilogue. Elements are copied asynchronously, as in step 13, four at a
// time where rows begin at multiples of 16 bytes, else one by one; several tiles are on their way. The warps of a block may be
// SLICES groups, of which each multiplies a slice of every tile along K: so a small tile has many warps, and a thread many sums.
// K may also be cut into parts, each a block's: the last block that is done with its part of a tile adds up. Compiled for
// several sizes of tiles.
#include "library/copy.cuh"
#include "library/epilogue.cuh"

// --- Tile sizes ---
constexpr int BM = TILE_M, BN = TILE_N, BK = TILE_K;     // block tile
constexpr int TM = PATCH_M, TN = PATCH_N;                // thread tile
constexpr int WM = 8 * TM, WN = 4 * TN;                  // warp tile: lanes are 8 rows by 4 columns of pieces of 4 x 4
constexpr int DM = 32, DN = 16;                          // from a piece of a lane to the next
constexpr int SLICES = SLICE_K, DEPTH = BK / SLICES;     // groups of warps, and what each multiplies of a tile along K
constexpr int THREADS = 32 * (BM / WM) * (BN / WN) * SLICES;
constexpr int STAGES = DEEP;                             // tiles: one is multiplied, the others are on their way
constexpr int PAD = 4;                                   // shifts rows by four banks
constexpr int LDC = BN + 4;                              // floats from a row to the next where the sums meet
static_assert(BM % WM == 0 && BN % WN == 0 && BK % 8 == 0, "a block has whole warp tiles");
static_assert(THREADS % BN == 0, "a thread stores one column of the tile");

template <int EACH> __device__ inline void copy_floats(float *to, const IN *from, bool inside)
{
    if constexpr (sizeof(IN) == 4)
        copy_async<4 * EACH>(to, from, inside);
    else
        *to = inside ? widen(*from) : 0;
}

// An operand's tiles: SPAN rows of A, or columns of B, by BK along K. ALONG_K: neighbours in memory are neighbours along K, and
// become neighbours in a column of the tile. WIDE: four neighbours are copied at once. What is outside of the matrix is not
// read: its place has what lies at the edge, and the first tile has zeros if K is no multiple of BK.
template <int SPAN, bool ALONG_K, bool WIDE> struct Copies {
    static constexpr int OCTET = 8;  // of K: eight lanes that store them below each other, and four beside, use all banks
    static constexpr int EACH = WIDE ? 4 : 1, WIDTH = ALONG_K ? OCTET : SPAN / EACH, LINES = THREADS / WIDTH;
    static constexpr int ROWS = ALONG_K ? SPAN / LINES : 1, TIMES = SPAN * BK / EACH / THREADS;  // of a thread
    static_assert(THREADS % WIDTH == 0 && ROWS > 0 && SPAN * BK % (EACH * THREADS) == 0, "every thread copies as much");
    const IN *x[ROWS];
    int64_t ld;
    int line, at;

    // The operand has `span` rows or columns, of which the tile begins at the `first`; lines are ld elements apart.
    __device__ Copies(const IN *from, int64_t ld, int first, int span) : ld(ld)
    {
        line = threadIdx.x / WIDTH, at = threadIdx.x % WIDTH * EACH;
        for (int i = 0; i < ROWS; i++)
            x[i] = ALONG_K ? from + int64_t(min(first + line + i * LINES, span - 1)) * ld + at
                           : from + int64_t(line) * ld + min(first + at, span - EACH);
    }
    // The i-th copy of the next tile, of what is before `depth` along K: if not `some`, of all or nothing. They are asked for in
    // turn.
    __device__ void copy(float (*to)[SPAN + PAD], int i, bool some, int depth)
    {
        if (ALONG_K) {
            const int row = i / (BK / OCTET), k = i % (BK / OCTET) * OCTET;
            copy_floats<EACH>(&to[at + k][line + row * LINES], x[row] + k, some ? at + k < depth : depth > 0);
            x[row] += k + OCTET == BK ? BK : 0;
        } else {
            copy_floats<EACH>(&to[line + i * LINES][at], x[0], some ? line + i * LINES < depth : depth > 0);
            x[0] += LINES * ld;
        }
    }
    __device__ void back(int depth)
    {
        for (int i = 0; i < ROWS; i++)
            x[i] -= ALONG_K ? depth : depth * ld;
    }
};
constexpr int TILES = BK * (BM + BN + 2 * PAD);                           // floats of a stage
constexpr int LOADED = STAGES * TILES, SUMS = SLICES * BM * LDC;          // and of all of them, and of the sums later
constexpr int SHARED = (LOADED > SUMS ? LOADED : SUMS) * sizeof(float);  // bytes
__constant__ int geometry[] = { BM, BN, BK, THREADS, SHARED, TM, TN, WM, WN };  // read by the library
extern __shared__ __align__(16) float shared[];

template <bool TURN_A, bool TURN_B, bool WIDE> __device__ void product(const args &p)
{
    // --- Who am I? ---
    const int tid = threadIdx.x, lane = tid % 32, slice = tid / (THREADS / SLICES), warp = tid / 32 % (THREADS / 32 / SLICES);
    const Place<BM, BN> at(p);
    // A thread has pieces of 4 x 4, DM rows and DN columns apart. Lanes i and i ^ 1 read the same rows of As, and so do lanes 16
    // apart: each quarter of the warp asks for 64 bytes of As and 32 of Bs.
    const int row = warp / (BN / WN) * WM + lane / 2 % 8 * 4, col = warp % (BN / WN) * WN + (lane % 2 + lane / 16 * 2) * 4;
    auto As = [&](int stage) { return reinterpret_cast<float (*)[BM + PAD]>(shared + stage * TILES); };
    auto Bs = [&](int stage) { return reinterpret_cast<float (*)[BN + PAD]>(shared + stage * TILES + BK * (BM + PAD)); };

    // --- Accumulators ---
    float acc[TM * TN] = {};

    // --- Load ---
    const int first = at.part * p.part, K = min(p.part, p.k - first), tiles = (K + BK - 1) / BK;
    Copies<BM, !TURN_A, TURN_A && WIDE> a(static_cast<const IN *>(p.A) + at.z * p.a_next + first * (TURN_A ? p.a_col : 1),
                                          TURN_A ? p.a_col : p.a_row, at.row, p.m);
    Copies<BN, TURN_B, !TURN_B && WIDE> b(static_cast<const IN *>(p.B) + at.z * p.b_next + first * (TURN_B ? 1 : p.b_row),
                                          TURN_B ? p.b_col : p.b_row, at.col, p.n);
    auto fetch = [&](int stage, int i, int of, bool some, int depth) {  // the i-th share of a tile's copies
#pragma unroll
        for (int j = a.TIMES * i / of; j < a.TIMES * (i + 1) / of; j++)
            a.copy(As(stage), j, some, depth);
#pragma unroll
        for (int j = b.TIMES * i / of; j < b.TIMES * (i + 1) / of; j++)
            b.copy(Bs(stage), j, some, depth);
    };
    // If BK does not divide K, the first tile is the short one. Tiles that are not there are zeros.
    const int depth = K > 0 ? (K - 1) % BK + 1 : 0;
#pragma unroll 1
    for (int tile = 0; tile < STAGES - 1; tile++) {
        fetch(tile, 0, 1, true, tile == 0 ? depth : tile < tiles ? BK : 0);
        end_group();
        if (tile == 0)
            a.back(BK - depth), b.back(BK - depth);
    }
    int stage = 0, next = STAGES - 1;
#pragma unroll 1  // more code than this would not stay in the instruction cache
    for (int tile = 0; tile < tiles; tile++) {
        wait_groups<STAGES - 2>();
        __syncthreads();  // the tile is complete, and everyone has read the one before

        // --- Compute ---
        const float(*x_from)[BM + PAD] = &As(stage)[slice * DEPTH];
        const float(*y_from)[BN + PAD] = &Bs(stage)[slice * DEPTH];
        float x[2][TM], y[2][TN];
        auto read = [&](int k) {
            for (int i = 0; i < TM; i += 4)
                *reinterpret_cast<float4 *>(&x[k % 2][i]) = *reinterpret_cast<const float4 *>(&x_from[k][row + i / 4 * DM]);
            for (int j = 0; j < TN; j += 4)
                *reinterpret_cast<float4 *>(&y[k % 2][j]) = *reinterpret_cast<const float4 *>(&y_from[k][col + j / 4 * DN]);
        };
        read(0);
#pragma unroll
        for (int k = 0; k < DEPTH; k++) {
            if (k + 1 < DEPTH)
                read(k + 1);
            fetch(next, k, DEPTH, false, tile + STAGES - 1 < tiles);  // between the products: they do not wait for all copies
            for (int i = 0; i < TM; i++)
                for (int z = 0; z < TN; z++) {
                    const int j = i % 2 ? z : TN - 1 - z;  // there and back: the next product finds its y in place
                    acc[i * TN + j] += x[k % 2][i] * y[k % 2][j];
                }
        }
        end_group();
        stage = stage == STAGES - 1 ? 0 : stage + 1, next = next == STAGES - 1 ? 0 : next + 1;
    }

    // --- Add up the slices ---
    // Sums are multiplied by alpha before they are stored: of sums that are stored as they are, a thread would have four
    // neighbours in neighbouring registers, and the products find two of their operands in one bank of registers.
    wait_groups<0>();
    __syncthreads();  // everyone has multiplied
    for (int i = 0; i < TM; i++)
        for (int j = 0; j < TN; j += 4) {
            const float *x = &acc[i * TN + j];
            *reinterpret_cast<float4 *>(&shared[(slice * BM + row + i / 4 * DM + i % 4) * LDC + col + j / 4 * DN]) = {
                p.alpha * x[0], p.alpha * x[1], p.alpha * x[2], p.alpha * x[3]
            };
        }
    __syncthreads();
    constexpr int MINE = BM * BN / THREADS;  // sums of a thread from here on, in fours
    static_assert(MINE % 4 == 0, "every thread has as many fours");
    auto mrow = [&](int i) { return (tid + i / 4 * THREADS) / (BN / 4); };
    auto mcol = [&](int i) { return (tid + i / 4 * THREADS) % (BN / 4) * 4; };
    if (SLICES > 1 || p.parts > 1) {
        float mine[MINE] = {};
#pragma unroll
        for (int i = 0; i < MINE * SLICES; i++)
            mine[i % MINE] += shared[(i / MINE * BM + mrow(i % MINE)) * LDC + mcol(i % MINE) + i % 4];
        if (p.parts > 1 && !meet<THREADS>(mine, p, at))
            return;
#pragma unroll
        for (int i = 0; i < MINE; i++)
            shared[mrow(i) * LDC + mcol(i) + i % 4] = mine[i];
    }

    // --- Store ---
    args scaled = p;
    scaled.alpha = 1;
    const bool plain = p.c_type == ARGS_F32 && p.beta == 0 && !p.bias_kind && !p.activation;
    if (p.wide_c && !plain) {
#pragma unroll 1
        for (int i = 0; i < MINE; i += 4)
            finish4(scaled, at.z, at.row + mrow(i), at.col + mcol(i), &shared[mrow(i) * LDC + mcol(i)]);
        return;
    }
    __syncthreads();
    // Else a thread has a column: neighbours store neighbours, so that memory gets whole 32 bytes, wherever a row begins.
    constexpr int DOWN = THREADS / BN;
    const int over = tid / BN, c = tid % BN, rows = at.col + c < p.n ? min(BM, p.m - at.row) : 0;
    float *to = static_cast<float *>(p.C) + at.z * p.c_next + (at.row + over) * p.c_row + at.col + c;
    if (plain)
#pragma unroll 8
        for (int r = over; r < rows; r += DOWN, to += DOWN * p.c_row)
            *to = shared[r * LDC + c];
    else
        by_type(p.c_type, [&](auto type) {
            using T = decltype(type);
            constexpr int ROUND = 8;  // how many are asked for before the first is waited for
            T *to = static_cast<T *>(p.C) + at.z * p.c_next + at.row * p.c_row + at.col + c;
            const T *bias = static_cast<const T *>(p.bias) + (p.bias_kind == ARGS_BIAS_ROW ? at.col + c : at.row);
#pragma unroll 1
            for (int top = over; top < rows; top += ROUND * DOWN) {
                T old[ROUND] = {}, added[ROUND] = {};
#pragma unroll
                for (int e = 0, r = top; e < ROUND; e++, r += DOWN) {
                    if (p.beta != 0 && r < rows)
                        old[e] = to[r * p.c_row];
                    if (p.bias_kind && r < rows)
                        added[e] = bias[p.bias_kind == ARGS_BIAS_ROW ? 0 : r];
                }
#pragma unroll
                for (int e = 0, r = top; e < ROUND; e++, r += DOWN)
                    if (r < rows)
                        to[r * p.c_row] = T(activate(shared[r * LDC + c] + p.beta * widen(old[e]) + widen(added[e]), p.activation));
            }
        });
}

// Two bodies: what can be copied four at a time is.
template <bool TURN_A, bool TURN_B> __device__ void choose(const args &p)
{
    constexpr bool SOME = sizeof(IN) == 4 && (TURN_A || !TURN_B);
    if (SOME && (!TURN_A || p.wide_a == 4) && (TURN_B || p.wide_b == 4))
        product<TURN_A, TURN_B, SOME>(p);
    else
        product<TURN_A, TURN_B, false>(p);
}

// LEAST blocks an SM, which limits the registers of a thread. Blocks: tiles of C, each p.parts times, of all matrices.
#define KERNEL(name, TURN_A, TURN_B)                                                                                   \
    extern "C" __global__ void __launch_bounds__(THREADS, LEAST) name(const __grid_constant__ args p)                  \
    {                                                                                                                  \
        choose<TURN_A, TURN_B>(p);                                                                                     \
    }
KERNEL(gemm_nn, false, false)
KERNEL(gemm_nt, false, true)
KERNEL(gemm_tn, true, false)
KERNEL(gemm_tt, true, true)
