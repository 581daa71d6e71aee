// The library's kernel for everything: step 07 for floats, halves or bf16 (-DIN), which it multiplies as floats, for A and B in
// either order, with gaps between rows, batches, and an epilogue. K may be cut into parts, each a block's: the last block
// that is done with its part of a tile adds up. Compiled for several sizes of tiles.
#include "library/epilogue.cuh"

// --- Tile sizes ---
#ifndef TILE_M
#define TILE_M 64
#define TILE_N 64
#define TILE_K 8
#define LEAST 8
#define IN float
#endif
constexpr int BM = TILE_M, BN = TILE_N, BK = TILE_K;  // block tile
constexpr int WM = 64, WN = 32;            // warp tile
constexpr int TM = 8, TN = 8;              // thread tile: pieces of 4 x 4, DM rows and DN columns apart
constexpr int DM = WM / (TM / 4), DN = WN / (TN / 4);
constexpr int THREADS = BM / TM * (BN / TN);
constexpr int PAD = 4;  // shifts rows by four banks: transposed stores do not conflict
static_assert(BM % WM == 0 && BN % WN == 0 && WM == 8 * TM && WN == 4 * TN, "a block has whole warp tiles");
__constant__ int geometry[] = { BM, BN, BK, THREADS, 0, TM, TN, WM, WN };  // read by the library

// Shared tiles: what is side by side in a row of C, or in a column, is side by side.
template <int SPAN> using Stage = float[BK][SPAN + PAD];

// The first n of four neighbours, and 0 for the others.
template <bool WIDE> __device__ inline float4 load4(const IN *x, int n)
{
    if constexpr (WIDE) {
        if (n <= 0)
            return {};
        alignas(4 * sizeof(IN)) IN v[4];
        if constexpr (sizeof(IN) == 4)
            *reinterpret_cast<float4 *>(v) = *reinterpret_cast<const float4 *>(x);
        else
            *reinterpret_cast<uint2 *>(v) = *reinterpret_cast<const uint2 *>(x);
        return { widen(v[0]), widen(v[1]), widen(v[2]), widen(v[3]) };
    }
    float4 v = {};
    for (int e = 0; e < 4; e++)
        (&v.x)[e] = e < n ? widen(x[e]) : 0;
    return v;
}

// The copies of an operand's tiles: SPAN rows of A, or columns of B, by BK along K. ALONG_K: neighbours in memory are
// neighbours along K, and become neighbours in a column of the stage. WIDE: four of them can be loaded at once.
template <int SPAN, bool ALONG_K, bool WIDE> struct Copies {
    static constexpr int CHUNKS = (ALONG_K ? BK : SPAN) / 4;  // of four neighbours, in a line
    static constexpr int LINES = THREADS / CHUNKS, TIMES = (ALONG_K ? SPAN : BK) / LINES;
    static_assert(LINES * TIMES == (ALONG_K ? SPAN : BK), "every thread copies the same number of elements");
    const IN *x;
    int64_t ld, step;
    int line, at, lines, inside;  // the thread's first line, its place there; lines and neighbours that are inside
    float4 v[TIMES];              // on their way

    // The operand has `span` rows or columns, of which the tile begins at the `first`; lines are ld elements apart.
    __device__ Copies(const IN *x, int64_t ld, int first, int span) : ld(ld)
    {
        line = threadIdx.x / CHUNKS, at = threadIdx.x % CHUNKS * 4;
        const int left = WIDE && !ALONG_K ? (span - first + 3) / 4 * 4 : span - first;  // copies have whole 16 bytes
        lines = ALONG_K ? left - line : BK;
        inside = ALONG_K ? 4 : left - at;
        if (ALONG_K)
            this->x = x + int64_t(first + min(line, left - 1)) * ld + at;
        else
            this->x = x + int64_t(line) * ld + first + (WIDE ? min(at, left - 4) : at);
        step = ALONG_K ? BK : BK * ld;
    }
    // From k on; the whole tile is inside of K, or `depth` of it.
    template <bool WHOLE> __device__ void fetch(int64_t k, int depth)
    {
        const IN *from = x + (ALONG_K ? k : k * ld);
        for (int i = 0; i < TIMES; i++) {
            const int n = ALONG_K ? (i > 0 && i * LINES >= lines ? 0 : WHOLE ? 4 : depth - at)
                                  : (WHOLE || line + i * LINES < depth ? inside : 0);
            // In the last tile of K, four neighbours along K may reach past it.
            v[i] = load4 < WIDE && (WHOLE || !ALONG_K) > (&from[i * LINES * ld], WIDE && !ALONG_K && n != 0 ? 4 : n);
        }
    }
    __device__ void put(Stage<SPAN> &s) const
    {
        for (int i = 0; i < TIMES; i++)
            if (ALONG_K)
                for (int e = 0; e < 4; e++)
                    s[at + e][line + i * LINES] = (&v[i].x)[e];
            else
                *reinterpret_cast<float4 *>(&s[line + i * LINES][at]) = v[i];
    }
};

// Which tile of C is this block's, of which matrix, and which part of K?
struct Place {
    int tile, z, part, row, col;

    __device__ Place(const args &p)
    {
        const int across = (p.n - 1) / BN + 1, of_one = across * ((p.m - 1) / BM + 1);
        part = blockIdx.x % p.parts, tile = blockIdx.x / p.parts;
        z = tile / of_one;
        row = tile % of_one / across * BM, col = tile % of_one % across * BN;
    }
};

// The sums of all parts of the tile, if this block is the last that has one. Eight parts are added up by the last of them, and
// eight such sums by the last of these.
__device__ inline bool meet(float (&acc)[TM][TN], const args &p, const Place &at)
{
    __shared__ int seen;
    const int tid = threadIdx.x;
    auto each = [&](int part, auto f) {
        float4 *sums = static_cast<float4 *>(p.sums) + (size_t(at.tile) * p.parts + part) * (TM * TN / 4 * THREADS) + tid;
#pragma unroll
        for (int i = 0; i < TM; i++)
#pragma unroll
            for (int j = 0; j < TN; j += 4)
                f(&acc[i][j], &sums[(i * TN + j) / 4 * THREADS]);
    };
    for (int apart = 1, counter = at.tile * ARGS_MEETINGS; apart < p.parts; apart *= 8, counter += 8) {
        const int first = at.part / (8 * apart) * 8 * apart, end = min(first + 8 * apart, p.parts);
        each(at.part / apart * apart, [](float *a, float4 *x) { *x = { a[0], a[1], a[2], a[3] }; });
        if (!last_part(p.counters, counter + first / (8 * apart), (end - first - 1) / apart + 1, tid, &seen,
                       []() { __syncthreads(); }))
            return false;
        for (int part = first; part < end; part += apart)
            each(part, [&](float *a, float4 *x) {
                const float4 v = __ldcg(x);
                for (int e = 0; e < 4; e++)
                    a[e] = (part > first ? a[e] : 0) + (&v.x)[e];
            });
    }
    return true;
}

// Four neighbours in a row of C, of a product of floats that has no bias and no activation.
__device__ inline void store4(const args &p, int z, int row, int col, const float *acc)
{
    float *c = static_cast<float *>(p.C) + z * p.c_next + row * p.c_row + col;
    float4 v = { p.alpha * acc[0], p.alpha * acc[1], p.alpha * acc[2], p.alpha * acc[3] };
    if (p.beta != 0) {
        const float4 old = *reinterpret_cast<float4 *>(c);
        v = { v.x + p.beta * old.x, v.y + p.beta * old.y, v.z + p.beta * old.z, v.w + p.beta * old.w };
    }
    *reinterpret_cast<float4 *>(c) = v;
}

// The thread's elements begin at (row, col).
__device__ inline void store(const args &p, int z, int row, int col, const float (&acc)[TM][TN])
{
    if (p.wide_c && p.c_type == ARGS_F32 && p.n % 4 == 0 && !p.bias_kind && !p.activation) {
#pragma unroll  // acc is in registers
        for (int i = 0; i < TM; i++)
#pragma unroll
            for (int j = 0; j < TN; j += 4) {
                const int r = row + i / 4 * DM + i % 4, c = col + j / 4 * DN;
                if (r < p.m && c < p.n)
                    store4(p, z, r, c, &acc[i][j]);
            }
        return;
    }
    float all[TM * TN];  // in local memory, so that one piece of code does for all
#pragma unroll
    for (int i = 0; i < TM * TN; i++)
        all[i] = acc[i / TN][i % TN];
#pragma unroll 1
    for (int i = 0; i < TM * TN; i++) {
        const int r = row + i / TN / 4 * DM + i / TN % 4, c = col + i % TN / 4 * DN + i % 4;
        if (r < p.m && c < p.n)
            finish(p, z, r, c, all[i]);
    }
}

template <bool TURN_A, bool TURN_B, bool WIDE> __device__ void product(const args &p)
{
    // --- Who am I? ---
    const int tid = threadIdx.x, warp = tid / 32, lane = tid % 32;
    const Place at(p);
    // A warp's lanes are 8 rows by 4 columns of pieces. Lanes i and i ^ 1 read the same rows of As, and so do lanes 16
    // apart: each quarter of the warp asks for 64 bytes of As and 32 of Bs.
    const int row = warp / (BN / WN) * WM + lane / 2 % 8 * 4;
    const int col = warp % (BN / WN) * WN + (lane % 2 + lane / 16 * 2) * 4;
    __shared__ __align__(16) Stage<BM> As[2];
    __shared__ __align__(16) Stage<BN> Bs[2];

    // --- Accumulators ---
    float acc[TM][TN] = {};

    // --- Load ---
    // The last tile along K comes first: it may be a short one.
    const int first = at.part * p.part, K = min(p.part, p.k - first), tiles = (K - 1) / BK;  // tiles: before the last
    Copies<BM, !TURN_A, WIDE> a(static_cast<const IN *>(p.A) + at.z * p.a_next + first * (TURN_A ? p.a_col : 1),
                                TURN_A ? p.a_col : p.a_row, at.row, p.m);
    Copies<BN, TURN_B, WIDE> b(static_cast<const IN *>(p.B) + at.z * p.b_next + first * (TURN_B ? 1 : p.b_row),
                               TURN_B ? p.b_col : p.b_row, at.col, p.n);
    a.template fetch<false>(tiles * BK, K - tiles * BK);
    b.template fetch<false>(tiles * BK, K - tiles * BK);
    a.put(As[0]);
    b.put(Bs[0]);
    __syncthreads();  // the first tiles are complete before anyone reads them
#pragma unroll 2  // so that stage is a constant
    for (int tile = 0; tile <= tiles; tile++) {
        const int stage = tile % 2;
        if (tile < tiles) {  // the next tiles are on their way while these are multiplied
            a.template fetch<true>(0, BK);
            b.template fetch<true>(0, BK);
            a.x += a.step, b.x += b.step;
        }

        // --- Compute ---
#pragma unroll 8
        for (int k = 0; k < BK; k++) {
            float x[TM], y[TN];
            for (int i = 0; i < TM; i += 4)
                *reinterpret_cast<float4 *>(&x[i]) = *reinterpret_cast<float4 *>(&As[stage][k][row + i / 4 * DM]);
            for (int j = 0; j < TN; j += 4)
                *reinterpret_cast<float4 *>(&y[j]) = *reinterpret_cast<float4 *>(&Bs[stage][k][col + j / 4 * DN]);
            for (int j = 0; j < TN; j++)
                for (int z = 0; z < TM; z++) {
                    const int i = j % 2 ? z : TM - 1 - z;  // there and back: the next product finds its x in place
                    acc[i][j] += x[i] * y[j];
                }
        }
        a.put(As[1 - stage]);
        b.put(Bs[1 - stage]);
        __syncthreads();  // the next tiles are complete, and everyone has read these to their end
    }

    // --- Store ---
    if (p.parts > 1 && !meet(acc, p, at))
        return;
    store(p, at.z, at.row + row, at.col + col, acc);
}

// LEAST blocks an SM: so many registers a thread may have. Blocks: tiles of C, each p.parts times, of all matrices.
#define KERNEL(name, TURN_A, TURN_B)                                                                                   \
    extern "C" __global__ void __launch_bounds__(THREADS, LEAST) name(const __grid_constant__ args p)                  \
    {                                                                                                                  \
        p.wide ? product<TURN_A, TURN_B, true>(p) : product<TURN_A, TURN_B, false>(p);                                 \
    }
KERNEL(gemm_nn, false, false)
KERNEL(gemm_nt, false, true)
KERNEL(gemm_tn, true, false)
KERNEL(gemm_tt, true, true)
