// The library's kernel for everything: step 07 for floats, halves or bf16 (-DIN), which it multiplies as floats, for A and B in
// either order, with gaps between rows, batches, and an epilogue. Elements are copied one by one and asynchronously, as in step
// 13, so that no row has to begin anywhere; several tiles are on their way. K may be cut into parts, each a block's: the last
// block that is done with its part of a tile adds up. Compiled for several sizes of tiles.
#include "library/copy.cuh"
#include "library/epilogue.cuh"

// --- Tile sizes ---
#ifndef TILE_M
#define TILE_M 64
#define TILE_N 64
#define TILE_K 8
#define PATCH 8
#define LEAST 6
#define IN float
#endif
constexpr int BM = TILE_M, BN = TILE_N, BK = TILE_K;  // block tile
#ifndef PATCH_M
#define PATCH_M PATCH
#endif
constexpr int TM = PATCH_M, TN = PATCH;               // thread tile: pieces of 4 x 4, DM rows and DN columns apart
constexpr int WM = 8 * TM, WN = 4 * TN;               // warp tile
constexpr int DM = WM / (TM / 4), DN = WN / (TN / 4);
constexpr int THREADS = BM / TM * (BN / TN);
constexpr int STAGES = 4;  // tiles: one is multiplied, the others are on their way
constexpr int PAD = 4;     // shifts rows by four banks: transposed stores do not conflict
constexpr int LD = WN + 8;  // floats from a row to the next where a warp puts its sums
static_assert(BM % WM == 0 && BN % WN == 0, "a block has whole warp tiles");
__constant__ int geometry[] = { BM, BN, BK, THREADS, 0, TM, TN, WM, WN };  // read by the library

// Shared tiles: what is side by side in a row of C, or in a column, is side by side.
template <int SPAN> using Stage = float[BK][SPAN + PAD];

__device__ inline void copy(float *to, const IN *from, bool inside)
{
    if constexpr (sizeof(IN) == 4)
        copy_async<4>(to, from, inside);
    else
        *to = inside ? widen(*from) : 0;
}

// An operand's tiles: SPAN rows of A, or columns of B, by BK along K. ALONG_K: neighbours in memory are neighbours along K, and
// become neighbours in a column of the stage.
template <int SPAN, bool ALONG_K> struct Copies {
    static constexpr int WIDTH = ALONG_K ? BK : SPAN < THREADS ? SPAN : THREADS;  // threads that copy neighbours
    static constexpr int LINES = THREADS / WIDTH, TIMES = SPAN * BK / THREADS;
    static_assert(THREADS % WIDTH == 0 && SPAN * BK % THREADS == 0, "every thread copies the same number of elements");
    const IN *x;
    int64_t ld;
    int line, at, lines;  // the thread's first line, its place there; lines from there on that are inside, along K: all

    // The operand has `span` rows or columns, of which the tile begins at the `first`; lines are ld elements apart.
    __device__ Copies(const IN *x, int64_t ld, int first, int span) : ld(ld)
    {
        line = threadIdx.x / WIDTH, at = threadIdx.x % WIDTH;
        lines = ALONG_K ? span - first - line : first + at < span ? BK : 0;
        this->x = x + (ALONG_K ? int64_t(first + line) * ld + at : int64_t(line) * ld + first + at);
    }
    // The next tile, of which `depth` elements are inside of K.
    __device__ void fetch(Stage<SPAN> &s, int depth)
    {
        const int n = ALONG_K ? (at < depth ? lines : 0) : min(lines, depth - line);
#pragma unroll
        for (int i = 0; i < TIMES; i++)
            copy(ALONG_K ? &s[at][line + i * LINES] : &s[line + i * LINES][at], x + i * LINES * ld, i * LINES < n);
        x += ALONG_K ? BK : BK * ld;
    }
};

template <bool TURN_A, bool TURN_B> __device__ void product(const args &p)
{
    // --- Who am I? ---
    const int tid = threadIdx.x, warp = tid / 32, lane = tid % 32;
    const Place<BM, BN> at(p);
    // A warp's lanes are 8 rows by 4 columns of pieces. Lanes i and i ^ 1 read the same rows of As, and so do lanes 16
    // apart: each quarter of the warp asks for 64 bytes of As and 32 of Bs.
    const int row = warp / (BN / WN) * WM + lane / 2 % 8 * 4;
    const int col = warp % (BN / WN) * WN + (lane % 2 + lane / 16 * 2) * 4;
    __shared__ __align__(16) Stage<BM> As[STAGES];
    __shared__ __align__(16) Stage<BN> Bs[STAGES];

    // --- Accumulators ---
    float acc[TM * TN] = {};

    // --- Load ---
    const int first = at.part * p.part, K = min(p.part, p.k - first), tiles = (K + BK - 1) / BK;
    Copies<BM, !TURN_A> a(static_cast<const IN *>(p.A) + at.z * p.a_next + first * (TURN_A ? p.a_col : 1),
                          TURN_A ? p.a_col : p.a_row, at.row, p.m);
    Copies<BN, TURN_B> b(static_cast<const IN *>(p.B) + at.z * p.b_next + first * (TURN_B ? 1 : p.b_row),
                         TURN_B ? p.b_col : p.b_row, at.col, p.n);
    auto fetch = [&](int tile) {
        if (tile < tiles) {
            a.fetch(As[tile % STAGES], K - tile * BK);
            b.fetch(Bs[tile % STAGES], K - tile * BK);
        }
        end_group();
    };
    for (int tile = 0; tile < STAGES - 1; tile++)
        fetch(tile);
#pragma unroll 1  // more code than this would not stay in the instruction cache
    for (int tile = 0; tile < tiles; tile++) {
        wait_groups<STAGES - 2>();
        __syncthreads();  // the tile is complete, and everyone has read the one before
        fetch(tile + STAGES - 1);

        // --- Compute ---
#pragma unroll 8
        for (int k = 0; k < BK; k++) {
            float x[TM], y[TN];
            for (int i = 0; i < TM; i += 4)
                *reinterpret_cast<float4 *>(&x[i]) = *reinterpret_cast<float4 *>(&As[tile % STAGES][k][row + i / 4 * DM]);
            for (int j = 0; j < TN; j += 4)
                *reinterpret_cast<float4 *>(&y[j]) = *reinterpret_cast<float4 *>(&Bs[tile % STAGES][k][col + j / 4 * DN]);
            for (int j = 0; j < TN; j++)
                for (int z = 0; z < TM; z++) {
                    const int i = j % 2 ? z : TM - 1 - z;  // there and back: the next product finds its x in place
                    acc[i * TN + j] += x[i] * y[j];
                }
        }
    }

    // --- Store ---
    if (p.parts > 1 && !meet<THREADS>(acc, p, at))
        return;
    __align__(16) float all[TM * TN];  // in local memory, so that one piece of code does for all
#pragma unroll
    for (int i = 0; i < TM * TN; i++)
        all[i] = acc[i];
    if (p.wide_c) {
#pragma unroll 1
        for (int i = 0; i < TM * TN; i += 4)
            finish4(p, at.z, at.row + row + i / TN / 4 * DM + i / TN % 4, at.col + col + i % TN / 4 * DN, &all[i]);
        return;
    }
    static_assert(sizeof As >= THREADS / 32 * 8 * LD * sizeof(float), "the sums have room where the stages were");
    float *sums = &As[0][0][0] + warp * 8 * LD;
    wait_groups<0>();
    __syncthreads();  // everyone has multiplied
#pragma unroll 1
    for (int i = 0; i < TM; i++) {  // a row of each lane: eight of the warp, four apart
        __syncwarp();
        for (int j = 0; j < TN; j += 4)
            *reinterpret_cast<float4 *>(&sums[lane / 2 % 8 * LD + (lane % 2 + lane / 16 * 2) * 4 + j / 4 * DN]) = *reinterpret_cast<float4 *>(&all[i * TN + j]);
        __syncwarp();
        store_by_column<8, WN, LD>(p, at.z, at.row + warp / (BN / WN) * WM + i / 4 * DM + i % 4, at.col + warp % (BN / WN) * WN, sums, 4);
    }
}

// LEAST blocks an SM, which limits the registers of a thread. Blocks: tiles of C, each p.parts times, of all matrices.
#define KERNEL(name, TURN_A, TURN_B)                                                                                   \
    extern "C" __global__ void __launch_bounds__(THREADS, LEAST) name(const __grid_constant__ args p)                  \
    {                                                                                                                  \
        product<TURN_A, TURN_B>(p);                                                                                    \
    }
KERNEL(gemm_nn, false, false)
KERNEL(gemm_nt, false, true)
KERNEL(gemm_tn, true, false)
KERNEL(gemm_tt, true, true)
