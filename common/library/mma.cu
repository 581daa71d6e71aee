// The library's kernel for halves or bf16 whose rows may begin anywhere, for A and B in either order, batches, and an epilogue:
// step 13 with a small tile. So no copy has to be made first, which takes longer than a small product itself. K may be cut into
// parts, each a block's. modules.c makes bf16 of the types of mma.
#include "ampere.cuh"
#include "library/copy.cuh"
#include "library/epilogue.cuh"

// --- Tile sizes ---
constexpr int BM = 64, BN = 64, BK = 32;  // block tile
constexpr int WM = 32, WN = 32;           // warp tile
constexpr int THREADS = BM / WM * (BN / WN) * 32;
constexpr int STAGES = 4;  // tiles: one is multiplied, the others are on their way
constexpr int PAD = 8;     // rows of shared memory begin 16 bytes further each: ldmatrix has no conflicts
constexpr int LEAST = 4;   // blocks of an SM, which limits the registers of a thread
__constant__ int geometry[] = { BM, BN, BK, THREADS, 0, 0, 0, WM, WN };  // read by the library

// An operand's tiles, SPAN rows of A, or columns of B, by BK along K, as they lie.
template <int SPAN, bool ALONG_K> struct Copies {
    static constexpr int WIDTH = ALONG_K ? BK : SPAN, HEIGHT = ALONG_K ? SPAN : BK, LD = WIDTH + PAD;
    const half *x;
    int64_t ld;
    int left, wide;  // rows or columns from the tile's first on; neighbours that are copied at once
    half v[WIDTH * HEIGHT / THREADS];  // on their way, where cp.async cannot copy: it takes four bytes at least

    // The operand has `span` rows or columns, of which the tile begins at the `first`; lines are ld elements apart.
    __device__ Copies(const void *x, int64_t from, int64_t ld, int first, int span, int wide) : ld(ld), left(span - first), wide(wide)
    {
        this->x = static_cast<const half *>(x) + from + (ALONG_K ? first * ld : first);
    }
    // Copies of W neighbours: the threads have neighbours, and then the next lines. f(i, j, from, inside): the i-th, which
    // goes to j.
    template <int W, class F> __device__ void each(int depth, F f)
    {
        constexpr int LINE = WIDTH / W, LINES = THREADS / LINE;
        static_assert(THREADS % LINE == 0 && HEIGHT % LINES == 0, "every thread copies the same number of elements");
        const int line = threadIdx.x / LINE, at = threadIdx.x % LINE * W, height = ALONG_K ? left : depth;
        const bool across = at < (ALONG_K ? depth : left);
        const half *from = x + line * ld + at;
#pragma unroll
        for (int i = 0; i < HEIGHT / LINES; i++, from += LINES * ld) {
            const bool inside = across && line + i * LINES < height;
            f(i, (line + i * LINES) * LD + at, inside ? from : x, inside);
        }
    }
    template <int W> __device__ void copy(half *s, int depth)
    {
        each<W>(depth, [&](int, int j, const half *from, bool inside) { copy_async<2 * W>(&s[j], from, inside); });
    }
    // Begins to copy the next tile, of which `depth` elements are inside of K.
    __device__ void begin(half *s, int depth)
    {
        if (wide == 8)
            copy<8>(s, depth);
        else if (wide == 4)
            copy<4>(s, depth);
        else if (wide == 2)
            copy<2>(s, depth);
        else
            each<1>(depth, [&](int i, int, const half *from, bool inside) { v[i] = load(from, inside); });
        x += ALONG_K ? BK : BK * ld;
    }
    __device__ void end(half *s)
    {
        if (wide == 1)
            each<1>(0, [&](int i, int j, const half *, bool) { s[j] = v[i]; });
    }
};

template <bool TURN_A, bool TURN_B> __device__ void product(const args &p)
{
    using CopiesA = Copies<BM, !TURN_A>;
    using CopiesB = Copies<BN, TURN_B>;

    // --- Who am I? ---
    const int tid = threadIdx.x, warp = tid / 32, lane = tid % 32;
    const Place<BM, BN> at(p);
    const int row = warp / (BN / WN) * WM, col = warp % (BN / WN) * WN;
    __shared__ __align__(16) half As[STAGES][CopiesA::HEIGHT * CopiesA::LD], Bs[STAGES][CopiesB::HEIGHT * CopiesB::LD];

    // --- Accumulators ---
    float acc[WM / 16 * (WN / 16) * 8] = {};

    // --- Load ---
    const int first = at.part * p.part, K = min(p.part, p.k - first), tiles = (K + BK - 1) / BK;
    CopiesA a(p.A, at.z * p.a_next + first * (TURN_A ? p.a_col : 1), TURN_A ? p.a_col : p.a_row, at.row, p.m, p.wide_a);
    CopiesB b(p.B, at.z * p.b_next + first * (TURN_B ? 1 : p.b_row), TURN_B ? p.b_col : p.b_row, at.col, p.n, p.wide_b);
    auto begin = [&](int tile) {
        if (tile < tiles) {
            a.begin(As[tile % STAGES], K - tile * BK);
            b.begin(Bs[tile % STAGES], K - tile * BK);
        }
        end_group();
    };
    auto end = [&](int tile) {
        if (tile < tiles) {
            a.end(As[tile % STAGES]);
            b.end(Bs[tile % STAGES]);
        }
    };
#pragma unroll 1
    for (int tile = 0; tile < STAGES - 1; tile++) {
        begin(tile);
        end(tile);
    }
#pragma unroll 1
    for (int tile = 0; tile < tiles; tile++) {
        wait_groups<STAGES - 2>();
        __syncthreads();  // the tile is complete, and everyone has read the one before
        begin(tile + STAGES - 1);

        // --- Compute ---
        const half *A = As[tile % STAGES], *B = Bs[tile % STAGES];
#pragma unroll
        for (int k = 0; k < BK; k += 16) {
            unsigned x[WM / 16][4], y[WN / 16][4];
            const int half_row = lane % 8 + lane / 16 * 8, half_col = lane / 8 % 2 * 8;  // matrices 1 and 2 change places
#pragma unroll
            for (int i = 0; i < WM / 16; i++)
                if (TURN_A)
                    ldmatrix_trans(x[i], &A[(k + half_row) * CopiesA::LD + row + i * 16 + half_col]);
                else
                    ldmatrix(x[i], &A[(row + i * 16 + lane % 16) * CopiesA::LD + k + lane / 16 * 8]);
#pragma unroll
            for (int j = 0; j < WN / 16; j++)
                if (TURN_B)
                    ldmatrix(y[j], &B[(col + j * 16 + half_row) * CopiesB::LD + k + half_col]);
                else
                    ldmatrix_trans(y[j], &B[(k + lane % 16) * CopiesB::LD + col + j * 16 + lane / 16 * 8]);
#pragma unroll
            for (int i = 0; i < WM / 16; i++)
#pragma unroll
                for (int j = 0; j < WN / 16; j++)
                    mma(reinterpret_cast<float(&)[8]>(acc[(i * (WN / 16) + j) * 8]), x[i], y[j]);
        }
        end(tile + STAGES - 1);
    }

    // --- Store ---
    if (p.parts > 1 && !meet<THREADS>(acc, p, at))
        return;
    // Lanes 2 * i and 2 * i + 1 have two neighbours each in two rows: one takes four of the upper row, the other of the lower.
    const bool lower = lane % 2;
    float all[WM / 16 * (WN / 16) * 8];  // in local memory, so that one piece of code does for all
#pragma unroll
    for (int j = 0; j < WM / 16 * (WN / 16) * 8; j += 4)
        for (int e = 0; e < 2; e++) {
            const float other = __shfl_xor_sync(~0u, lower ? acc[j + e] : acc[j + 2 + e], 1);
            all[j + e] = lower ? other : acc[j + e], all[j + 2 + e] = lower ? acc[j + 2 + e] : other;
        }
#pragma unroll 1
    for (int j = 0; j < WM / 16 * (WN / 8); j++)
        finish4(p, at.z, at.row + row + j / (WN / 8) * 16 + lane / 4 + (lower ? 8 : 0),
                at.col + col + j % (WN / 8) * 8 + lane / 2 % 2 * 4, &all[j * 4]);
}

// Blocks: tiles of C, each p.parts times, of all matrices.
#define KERNEL(name, TURN_A, TURN_B)                                                                                   \
    extern "C" __global__ void __launch_bounds__(THREADS, LEAST) name(const __grid_constant__ args p)                  \
    {                                                                                                                  \
        product<TURN_A, TURN_B>(p);                                                                                    \
    }
KERNEL(gemm_nn, false, false)
KERNEL(gemm_nt, false, true)
KERNEL(gemm_tn, true, false)
KERNEL(gemm_tt, true, true)
