// The library's kernel for halves or bf16 whose rows may begin anywhere, for A and B in either order, batches, and an epilogue:
// step 13 with a small tile, in two sizes. So no copy has to be made first, which takes longer than a small product itself. K may
// be cut into parts, each a block's. kernels.c makes bf16 of the types of mma.
#include "ampere.cuh"
#include "library/copy.cuh"
#include "library/epilogue.cuh"
#include "library/words.cuh"

// --- Tile sizes ---
constexpr int BM = TILE, BN = TILE, BK = 2048 / TILE;  // block tile
constexpr int WM = TILE / 2, WN = TILE / 2;            // warp tile
constexpr int THREADS = BM / WM * (BN / WN) * 32;
constexpr int STAGES = 4;  // tiles: one is multiplied, the others are on their way
constexpr int PAD = 8;     // rows of shared memory begin 16 bytes further each: ldmatrix has no conflicts
constexpr int LEAST = 4;   // blocks of an SM, which limits the registers of a thread
constexpr int ROOM = 24 * 1024 - 8;  // halves, more than the stages need: a fifth block on an SM would take the L1 cache from all
constexpr int LD = WN + 8;  // numbers from a row to the next where a warp puts its sums
__constant__ int geometry[] = { BM, BN, BK, THREADS, 0, 0, 0, WM, WN };  // read by the library

// An operand's tiles, SPAN rows of A, or columns of B, by BK along K, as they lie.
template <bool A, int SPAN, bool ALONG_K> struct Copies {
    static constexpr int WIDTH = ALONG_K ? BK : SPAN, HEIGHT = ALONG_K ? SPAN : BK, LD = WIDTH + PAD;
    using Kept = half[WIDTH * HEIGHT / THREADS];  // on their way, where cp.async cannot copy: it takes four bytes at least
    const half *x;
    int64_t ld;
    int left;  // rows or columns from the tile's first on
    static __device__ int wide() { return A ? wide_a() : wide_b(); }

    // The operand has `span` rows or columns, of which the tile begins at the `first`; lines are ld elements apart.
    __device__ Copies(const void *x, int64_t from, int64_t ld, int first, int span) : ld(ld), left(span - first)
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
    __device__ void begin_async(half *s, int depth)
    {
        if (wide() == 8)
            copy<8>(s, depth);
        else if (wide() == 4)
            copy<4>(s, depth);
        else
            copy<2>(s, depth);
        x += ALONG_K ? BK : BK * ld;
    }
    __device__ void begin_one_by_one(int depth, Kept &v)
    {
        each<1>(depth, [&](int i, int, const half *from, bool inside) { v[i] = load(from, inside); });
        x += ALONG_K ? BK : BK * ld;
    }
    __device__ void begin(half *s, int depth, Kept &v)
    {
        if (wide() > 1)
            begin_async(s, depth);
        else
            begin_one_by_one(depth, v);
    }
    // The first tiles: all of them, and only then somebody waits for one.
    template <int n> __device__ void begin_first(half (&s)[STAGES][HEIGHT * LD], int K, Kept (&v)[n])
    {
        if (wide() > 1)
#pragma unroll 1
            for (int tile = 0; tile < n && tile * BK < K; tile++)
                begin_async(s[tile], K - tile * BK);
        else
#pragma unroll
            for (int tile = 0; tile < n; tile++)
                if (tile * BK < K)
                    begin_one_by_one(K - tile * BK, v[tile]);
    }
    __device__ void end(half *s, const Kept &v)
    {
        if (wide() == 1)
            each<1>(0, [&](int i, int j, const half *, bool) { s[j] = v[i]; });
    }
};

// Where a warp puts the j-th of a lane's sums, and its neighbour in the row.
__device__ inline int place_of(int j, int lane)
{
    return (j / (WN / 2) * 16 + lane / 4 + j / 2 % 2 * 8) * LD + j / 4 % (WN / 8) * 8 + lane % 4 * 2;
}

// A warp stores its sums, which its lanes have put into shared memory: neighbours store neighbours, so that memory gets whole 32 bytes.
__device__ inline void store_by_column(const args &p, int z, int row, int col, const float *sums)
{
    auto each = [&](int i, bool plain) {
        const int r = row + i / WN, c = col + i % WN;
        const float sum = sums[i / WN * LD + i % WN];
        if (r < p.m && c < p.n)
            put(p.C, z * p.c_next + r * p.c_row + c, p.c_type, plain ? p.alpha * sum : finished(p, z, r, c, sum));
    };
    if (p.beta == 0 && !p.bias_kind && !p.activation)
#pragma unroll 4
        for (int i = threadIdx.x % 32; i < WM * WN; i += 32)
            each(i, true);
    else
#pragma unroll 1
        for (int i = threadIdx.x % 32; i < WM * WN; i += 32)
            each(i, false);
}

// Each order of A and B is two kernels. ALONE: C is alpha * A * B, of the type of A and B, and K is one part.
template <bool TURN_A, bool TURN_B, bool ALONE> __device__ void product(const args &p, half *room)
{
    using CopiesA = Copies<true, BM, !TURN_A>;
    using CopiesB = Copies<false, BN, TURN_B>;
    using KeptA = typename CopiesA::Kept;
    using KeptB = typename CopiesB::Kept;

    // --- Who am I? ---
    const int tid = threadIdx.x, warp = tid / 32, lane = tid % 32;
    const Place<BM, BN> at(p, ALONE);
    const int row = warp / (BN / WN) * WM, col = warp % (BN / WN) * WN;
    struct Stages { half A[STAGES][CopiesA::HEIGHT * CopiesA::LD], B[STAGES][CopiesB::HEIGHT * CopiesB::LD]; } &s = *reinterpret_cast<Stages *>(room);
    static_assert(sizeof s <= ROOM * sizeof(half) && sizeof s >= THREADS / 32 * WM * LD * sizeof(float), "the sums have room where the stages were");

    // --- Accumulators ---
    float acc[WM / 16 * (WN / 16) * 8] = {};

    // --- Load ---
    const int first = ALONE ? 0 : at.part * p.part, K = ALONE ? p.k : min(p.part, p.k - first), tiles = (K + BK - 1) / BK;
    CopiesA a(p.A, at.z * p.a_next + first * (TURN_A ? p.a_col : 1), TURN_A ? p.a_col : p.a_row, at.row, p.m);
    CopiesB b(p.B, at.z * p.b_next + first * (TURN_B ? 1 : p.b_row), TURN_B ? p.b_col : p.b_row, at.col, p.n);
    auto end = [&](int tile, const KeptA &x, const KeptB &y) {
        if (tile < tiles) {
            a.end(s.A[tile % STAGES], x);
            b.end(s.B[tile % STAGES], y);
        }
    };
    {
        KeptA x[STAGES - 1];
        KeptB y[STAGES - 1];
        a.begin_first(s.A, K, x);
        b.begin_first(s.B, K, y);
#pragma unroll
        for (int tile = 0; tile < STAGES - 1; tile++) {
            end_group();  // the first has them all
            end(tile, x[tile], y[tile]);
        }
    }
#pragma unroll 1
    for (int tile = 0; tile < tiles; tile++) {
        KeptA of_a;
        KeptB of_b;
        wait_groups<STAGES - 2>();
        __syncthreads();  // the tile is complete, and everyone has read the one before
        const int next = tile + STAGES - 1;
        if (next < tiles) {
            a.begin(s.A[next % STAGES], K - next * BK, of_a);
            b.begin(s.B[next % STAGES], K - next * BK, of_b);
        }
        end_group();

        // --- Compute ---
        const half *A = s.A[tile % STAGES], *B = s.B[tile % STAGES];
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
        end(next, of_a, of_b);
    }

    // --- Store ---
    if (!ALONE && p.parts > 1 && !meet<THREADS>(acc, p, at))
        return;
    wait_groups<0>();
    __syncthreads();  // everyone has multiplied: the stages are free
    if (ALONE) {
        half *sums = room + warp * WM * LD;
#pragma unroll
        for (int j = 0; j < WM / 16 * (WN / 16) * 8; j += 2)  // two neighbours in one of two rows
            *reinterpret_cast<half2 *>(&sums[place_of(j, lane)]) = both(p.alpha * acc[j], p.alpha * acc[j + 1]);
        __syncwarp();
        half *C = static_cast<half *>(p.C) + at.z * p.c_next + (at.row + row) * p.c_row + at.col + col;
        const int down = p.m - at.row - row, across = p.n - at.col - col;
        if (p.wide_c && p.n % 4 == 0)
#pragma unroll
            for (int i = lane * 4; i < WM * WN; i += 4 * 32) {
                if (i / WN < down && i % WN < across)
                    *reinterpret_cast<uint2 *>(&C[i / WN * p.c_row + i % WN]) = *reinterpret_cast<uint2 *>(&sums[i / WN * LD + i % WN]);
            }
        else
#pragma unroll 4
            for (int i = lane; i < WM * WN; i += 32)
                if (i / WN < down && i % WN < across)
                    C[i / WN * p.c_row + i % WN] = sums[i / WN * LD + i % WN];
        return;
    }
    float *sums = reinterpret_cast<float *>(room) + warp * WM * LD;
#pragma unroll
    for (int j = 0; j < WM / 16 * (WN / 16) * 8; j += 2)
        *reinterpret_cast<float2 *>(&sums[place_of(j, lane)]) = { acc[j], acc[j + 1] };
    __syncwarp();
    if (!p.wide_c)
        return store_by_column(p, at.z, at.row + row, at.col + col, sums);
#pragma unroll 1
    for (int i = lane * 4; i < WM * WN; i += 4 * 32)
        finish4(p, at.z, at.row + row + i / WN, at.col + col + i % WN, &sums[i / WN * LD + i % WN]);
}

// Blocks: tiles of C, each p.parts times, of all matrices.
#define KERNEL(name, ALONE)                                                                                            \
    extern "C" __global__ void __launch_bounds__(THREADS, LEAST) name(const __grid_constant__ args p)                  \
    {                                                                                                                  \
        __shared__ __align__(16) half room[ROOM];                                                                      \
        if (turn_a())                                                                                                  \
            turn_b() ? product<true, true, ALONE>(p, room) : product<true, false, ALONE>(p, room);                     \
        else                                                                                                           \
            turn_b() ? product<false, true, ALONE>(p, room) : product<false, false, ALONE>(p, room);                   \
    }
KERNEL(gemm, false)
KERNEL(gemm_alone, true)
