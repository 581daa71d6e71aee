// The library's kernel for Hopper's tensor cores: step 20 for halves or bf16, for A and B in either order, batches, and an
// epilogue. Tiles that would leave SMs idle are cut along K, so that all blocks
// get equally many steps of them; the last one that is done with its part of a tile adds up.
#include "edges.cuh"
#include "hopper.cuh"
#include "library/epilogue.cuh"
#include "library/wgmma.cuh"

// --- Tile sizes ---
constexpr int BK = 64, WM = 16, GM = 4 * WM;  // depth of a block tile; rows of a warp, and of a warpgroup
constexpr int BOX = 64;                       // elements in a row of a box: 128 bytes, as many as are swizzled together
constexpr int GROUP = 16;                     // rows of tiles that are computed together: what they share stays in L2
struct Row { int n[13]; };  // read by the library
template <int BM, int BN, int STAGES> struct Tile {
    static constexpr int CONSUMERS = BM / WM * 32, THREADS = CONSUMERS + 128;
    static constexpr int REGISTERS = CONSUMERS <= 256 ? 232 : 152;  // of a thread that multiplies
    static constexpr int STAGE = BM * BK + BK * BN, PART = BN % (2 * BOX) ? BOX : 2 * BOX;
    static constexpr int SHARED = 2 * (STAGES * STAGE + BM * PART);
    static constexpr Row row = { { BM, BN, BK, THREADS, SHARED, 0, 0, WM, BN, BOX, 1, GM, 0 } };
    static_assert(BK == BOX && BN <= 256 && BN % BOX == 0 && BM % GM == 0, "wgmma has 64 rows, 64 to 256 columns");
};
__constant__ Row geometry[] = { Tile<128, 256, 4>::row, Tile<192, 192, 4>::row, Tile<128, 192, 5>::row,
                                Tile<128, 128, 6>::row, Tile<64, 128, 8>::row,  Tile<64, 64, 12>::row };

// The index of (row, col) in a tile with rows of BOX elements, whose chunks of 8 change places by the row's number.
__device__ inline int swizzle(int row, int col)
{
    return row * BOX + (col ^ row % 8 * 8);
}

// Boxes of matrix z of a batch, as in hopper.cuh.
__device__ inline void load_box(void *to, const CUtensorMap *map, uint64_t *barrier, int row, int col, int z)
{
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];" ::"r"(
            shared_address(to)),
        "l"(map), "r"(col), "r"(row), "r"(z), "r"(shared_address(barrier))
        : "memory");
}

__device__ inline void store_box(const CUtensorMap *map, const void *from, int row, int col, int z)
{
    asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"(map), "r"(col),
                 "r"(row), "r"(z), "r"(shared_address(from))
                 : "memory");
}

// Whether A lies as k x m, and B as n x k: here they do not. modules.c writes 1 in place of these words when it loads the PTX,
// and the driver's compiler knows as much as if they were template parameters.
__device__ inline int turn_a()
{
    int turned;
    asm("mov.b32 %0, 0x00;" : "=r"(turned));
    return turned;
}

__device__ inline int turn_b()
{
    int turned;
    asm("mov.b32 %0, 0x000;" : "=r"(turned));
    return turned;
}

// Two floats as two halves; modules.c makes bf16 of them, as of the operands of wgmma.
__device__ inline half2 both(float a, float b)
{
    unsigned v;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(v) : "f"(b), "f"(a));
    return *reinterpret_cast<half2 *>(&v);
}

// The descriptor of what lies so many units of 16 bytes further: the address in its lower half does not overflow.
__device__ inline uint64_t further(uint64_t descriptor, unsigned units)
{
    return descriptor & 0xffffffff00000000 | (unsigned(descriptor) + units);
}

// --- The epilogue, on the elements that a lane has of a product of wgmma: acc[j] is in row j / 2 % 2 * 8 and column
// j / 4 * 8 + j % 2 from (row, col). Loads of 32 elements are on their way at once. ---

template <int n> __device__ __forceinline__ void add_old(float (&acc)[n], const args &p, int64_t at, int row, int col)
{
#pragma unroll
    for (int j = 0; j < n; j += 32) {
        float old[32];
#pragma unroll
        for (int e = 0; e < 32; e++) {
            const int r = e / 2 % 2 * 8, c = (j + e) / 4 * 8 + e % 2;
            old[e] = row + r < p.m && col + c < p.n ? get(p.C, at + r * p.c_row + c, p.c_type) : 0;
        }
#pragma unroll
        for (int e = 0; e < 32; e++)
            acc[j + e] += p.beta * old[e];
    }
}

template <int n> __device__ __forceinline__ void add_bias(float (&acc)[n], const args &p, int row, int col)
{
    float down[2];
    for (int i = 0; i < 2 && p.bias_kind == ARGS_BIAS_COLUMN; i++)
        down[i] = row + i * 8 < p.m ? get(p.bias, row + i * 8, p.c_type) : 0;
#pragma unroll
    for (int j = 0; j < n; j += 4)
        for (int e = 0; e < 2; e++) {
            const int c = col + j * 2 + e;
            const float across = p.bias_kind == ARGS_BIAS_ROW && c < p.n ? get(p.bias, c, p.c_type) : 0;
            acc[j + e] += p.bias_kind == ARGS_BIAS_ROW ? across : down[0];
            acc[j + e + 2] += p.bias_kind == ARGS_BIAS_ROW ? across : down[1];
        }
}

template <int n> __device__ __forceinline__ void finish_all(float (&acc)[n], const args &p, int64_t at, int row, int col)
{
    if (p.alpha != 1)
        for (int j = 0; j < n; j++)
            acc[j] *= p.alpha;
    if (p.beta != 0)
        add_old(acc, p, at, row, col);
    if (p.bias_kind)
        add_bias(acc, p, row, col);
    if (p.activation == ARGS_RELU)
        for (int j = 0; j < n; j++)
            acc[j] = activate(acc[j], ARGS_RELU);
    if (p.activation == ARGS_GELU)
        for (int j = 0; j < n; j++)
            acc[j] = activate(acc[j], ARGS_GELU);
}

// C as floats goes straight from the registers: four lanes store 32 bytes of a row.
template <int n> __device__ __forceinline__ void store_floats(const float (&acc)[n], const args &p, int64_t at, int row, int col)
{
    float *C = static_cast<float *>(p.C) + at;
#pragma unroll
    for (int j = 0; j < n; j += 2) {
        const int r = j / 2 % 2 * 8, c = j / 4 * 8;
        if (row + r >= p.m)
            continue;
        if (p.wide_c && col + c + 1 < p.n)
            *reinterpret_cast<float2 *>(&C[r * p.c_row + c]) = { acc[j], acc[j + 1] };
        else
            for (int e = 0; e < 2; e++)
                if (col + c + e < p.n)
                    C[r * p.c_row + c + e] = acc[j + e];
    }
}

// --- Pieces: what a block computes, one after the other ---

struct Piece {
    int tile, from, to;  // steps along K
    int part;            // of a tile that is cut: its number
};

// The p.parts first tiles are cut. Each has p.each parts of p.part steps, of a block each: what blocks read at the same time is
// at the same place along K. The rest of these tiles is shared by the blocks behind. Then come whole tiles.
struct Pieces {
    int deep, cut, each, part, rest, tiles;
    int tile, next, end;  // next to end: steps of rests, counted through all cut tiles
    bool own;

    __device__ Pieces(const args &p, int deep, int tiles)
        : deep(deep), cut(p.parts), each(p.each), part(p.part), rest(max(0, deep - p.each * p.part)), tiles(tiles)
    {
        const int block = int(blockIdx.x) - cut * each;
        own = block < 0, next = end = 0;
        if (!own && sharers() > 0) {
            next = int(uint64_t(cut * rest) * block / sharers());
            end = int(uint64_t(cut * rest) * (block + 1) / sharers());
        }
        tile = cut + blockIdx.x;
    }
    __device__ int sharers() const
    {
        return gridDim.x - cut * each;
    }
    __device__ int owner(int step) const  // of a step of a rest: which of the sharers
    {
        return int(((uint64_t(step) + 1) * sharers() - 1) / (cut * rest));
    }
    __device__ int parts(int tile) const
    {
        return each + (rest > 0 ? owner((tile + 1) * rest - 1) - owner(tile * rest) + 1 : 0);
    }
    __device__ bool take(Piece &piece)
    {
        if (own) {
            const int i = blockIdx.x / cut;
            piece = { int(blockIdx.x % cut), i * part, min(deep, (i + 1) * part), i };
            own = false;
            return true;
        }
        if (next < end) {
            const int tile = next / rest, from = each * part + next % rest, to = min(deep, from + end - next);
            piece = { tile, from, to, each + int(blockIdx.x) - cut * each - owner(tile * rest) };
            next += to - from;
            return true;
        }
        piece = { tile, 0, deep, 0 };
        tile += gridDim.x;
        return piece.tile < tiles;
    }
};

// The sums of a part, as the threads have them: four of each thread after four of the thread before.
template <int n, int threads, class F> __device__ __forceinline__ void each_four(float *sums, int thread, F f)
{
#pragma unroll
    for (int j = 0; j < n; j += 4)
        f(j, reinterpret_cast<float4 *>(sums) + j / 4 * threads + thread);
}

// Writes the sums of a piece, and says if all of its tile are there now: then acc has them, added in the order of the parts. Warps
// whose rows are outside of C have none.
template <int BM, int BN, int CONSUMERS>
__device__ __forceinline__ bool meet(float (&acc)[BN / 2], const args &p, const Pieces &pieces, const Piece &piece, int brow, int *seen)
{
    const int tid = threadIdx.x, group = tid / 128, parts = pieces.parts(piece.tile);
    const bool inside = brow + tid / 32 * WM < p.m;
    float *sums = static_cast<float *>(p.sums) + size_t(piece.tile) * (pieces.each + 2) * (BM * BN);  // two share a rest at most
    if (inside)
        each_four<BN / 2, CONSUMERS>(sums + piece.part * (BM * BN), tid,
                                     [&](int j, float4 *at) { *at = { acc[j], acc[j + 1], acc[j + 2], acc[j + 3] }; });
    if (!last_part(p.counters, piece.tile * (BM / GM) + group, parts, tid % 128, &seen[group],
                   [&]() { named_barrier(1 + group, 128); }))
        return false;
    for (int part = 0; inside && part < parts; part++)
        each_four<BN / 2, CONSUMERS>(sums + part * (BM * BN), tid, [&](int j, float4 *at) {
            const float4 x = __ldcg(at);
            for (int e = 0; e < 4; e++)
                acc[j + e] = (part ? acc[j + e] : 0) + (&x.x)[e];
        });
    return true;
}

template <int BM, int BN, int STAGES>
__device__ __forceinline__ void product(const args &p, const CUtensorMap &A, const CUtensorMap &B, const CUtensorMap &Cmap)
{
    using T = Tile<BM, BN, STAGES>;
    constexpr int CONSUMERS = T::CONSUMERS, STAGE = T::STAGE, PART = T::PART;
    extern __shared__ __align__(1024) half8 shared[];  // a swizzled box begins at a multiple of 1024 bytes
    half *As = reinterpret_cast<half *>(shared), *Bs = As + BM * BK;  // STAGES of both
    __shared__ uint64_t full[STAGES], empty[STAGES];  // barriers: a tile has come; all consumers have multiplied it
    __shared__ int seen[BM / GM];                     // parts of a tile that are there, by warpgroup

    // --- Who am I? ---
    const int tid = threadIdx.x;
    const int warp = __shfl_sync(~0u, tid / 32, 0), lane = tid % 32;  // now the compiler knows: a warp has one number
    const int group = warp / 4;                                       // warpgroup
    const int row = warp * WM;
    const int across = (p.n - 1) / BN + 1, down = (p.m - 1) / BM + 1, of_one = across * down;  // tiles of C
    const int deep = (p.k - 1) / BK + 1;                                                       // steps along K

    // The matrix, the first row and column of a tile: GROUP rows of tiles, column by column, then the next GROUP.
    auto place = [&](unsigned i, int &brow, int &bcol, int &z) {
        z = i / of_one, i %= of_one;
        const int first = i / (GROUP * across) * GROUP, rows = min(GROUP, down - first);
        brow = (first + i % (GROUP * across) % rows) * BM;
        bcol = i % (GROUP * across) / rows * BN;
    };
    int brow, bcol, z, s = 0, parity = 0;  // s: the stage of the next tile along K, and the parity of its phase
    auto next = [&]() { s = s + 1 < STAGES ? s + 1 : 0, parity ^= s == 0; };
    Pieces pieces(p, deep, of_one * p.batch);
    Piece piece;

    // --- Accumulators ---
    float acc[BN / 2];
    half *Cs = As + STAGES * STAGE + group * GM * PART;  // this warpgroup's rows
    auto at = [&](int r, int c) { return &Cs[c / BOX * GM * BOX + swizzle(r, c % BOX)]; };

    // --- Load ---
    if (tid == CONSUMERS) {
        for (int i = 0; i < STAGES; i++)
            mbarrier_init(&full[i], 1);  // the thread that asks for the tile
        for (int i = 0; i < STAGES; i++)
            mbarrier_init(&empty[i], CONSUMERS / 128);  // a thread of each warpgroup
        mbarrier_init_fence();
        launch_wait();  // A or B may be a copy, which the launch before this one makes
    }
    auto copy = [&](int step) {
        const int k = step * BK, za = p.a_next ? z : 0, zb = p.b_next ? z : 0;
        half *a = &As[s * STAGE], *b = &Bs[s * STAGE];
        mbarrier_expect(&full[s], 2 * STAGE);
        if (turn_a())
            for (int i = 0; i < BM; i += BOX)
                load_box(&a[i * BK], &A, &full[s], k, brow + i, za);
        else
            load_box(a, &A, &full[s], brow, k, za);
        if (turn_b())
            load_box(b, &B, &full[s], bcol, k, zb);
        else
            for (int j = 0; j < BN; j += BOX)
                load_box(&b[j * BK], &B, &full[s], k, bcol + j, zb);
    };
    bool more = pieces.take(piece);
    int early = 0;  // steps of the first piece that are asked for before the block meets: their stages are free
    if (tid == CONSUMERS && more) {
        place(piece.tile, brow, bcol, z);
        for (; early < min(STAGES, piece.to - piece.from); early++, s++)
            copy(piece.from + early);
        s = 0;
    }
    __syncthreads();  // the barriers exist before anyone else uses them
    if (tid >= CONSUMERS) {
        fewer_registers<40>();
        for (; tid == CONSUMERS && more; more = pieces.take(piece), early = 0) {
            place(piece.tile, brow, bcol, z);
            for (int step = piece.from; step < piece.to; step++, next()) {
                if (step - piece.from < early)
                    continue;  // its stage may have been used and given back by now: no wait for it
                mbarrier_wait(&empty[s], parity ^ 1);  // of a new barrier a phase of parity 1 counts as ended
                copy(step);
            }
        }
        return;
    }
    more_registers<T::REGISTERS>();

    // --- Compute ---
    const uint64_t a_tile = wgmma_descriptor(&As[row / GM * GM * BK], 16, 1024);  // in stage 0; in units of 16 bytes
    const uint64_t b_tile = wgmma_descriptor(Bs, turn_b() ? 16 : BK * 128, 1024);
    const int a_step = turn_a() ? BOX * 16 / 8 : 16 / 8, b_step = turn_b() ? 16 / 8 : BOX * 16 / 8;  // 16 further along K
    constexpr int LEAD = STAGES - 1;  // tiles that the other warpgroups have left when warpgroup 0 has none
    auto multiply = [&](int tiles) {
        int before = 0;  // the stage of the tile before
        for (int tile = 0; tile < tiles; tile++, before = s, next()) {
            mbarrier_wait(&full[s], parity);
            wgmma_fence();
#pragma unroll
            for (int k = 0; k < BK / 16; k++)
                wgmma_any(acc, further(a_tile, s * (STAGE / 8) + k * a_step), further(b_tile, s * (STAGE / 8) + k * b_step),
                          tile > 0 || k > 0);
            wgmma_commit();
            wgmma_wait<1>();  // the tile before this one is multiplied: it may be overwritten
            if (tile > 0 && tid % 128 == 0)
                mbarrier_arrive(&empty[before]);
            if (CONSUMERS > 128 && tile + 1 == (group == 0 ? tiles : max(1, tiles - LEAD)))
                named_barrier(4, CONSUMERS);  // warpgroup 0 goes first: it stores while the others multiply their last
        }
        wgmma_wait<0>();
        if (tid % 128 == 0)
            mbarrier_arrive(&empty[before]);
    };

    for (; more; more = pieces.take(piece)) {
        place(piece.tile, brow, bcol, z);
        multiply(piece.to - piece.from);
        if (piece.to - piece.from < deep && !meet<BM, BN, CONSUMERS>(acc, p, pieces, piece, brow, seen))
            continue;

        // --- Store ---
        const int r0 = brow + row + lane / 4, c0 = bcol + lane % 4 * 2;
        const int64_t c_at = z * p.c_next + r0 * p.c_row + c0;
        finish_all(acc, p, c_at, r0, c0);
        if (p.c_type == ARGS_F32) {
            store_floats(acc, p, c_at, r0, c0);
            continue;
        }
#pragma unroll
        for (int c = 0; c < BN; c += PART) {
            if (tid % 128 == 0)
                bulk_wait_read<0>();  // the part before this one has been read out of Cs
            named_barrier(1 + group, 128);
#pragma unroll
            for (int j = 0; j < PART / 16; j++) {
                half2 v[4];
                for (int q = 0; q < 4; q++)  // the four matrices of a tile, in the order of a fragment of A
                    v[q] = both(acc[c / 2 + j * 8 + q * 2], acc[c / 2 + j * 8 + q * 2 + 1]);
                stmatrix(at(row % GM + lane % 16, j * 16 + lane / 16 * 8), v);
            }
            proxy_fence();                  // what TMA reads was written by ordinary stores
            named_barrier(1 + group, 128);  // these rows are complete
            if (p.stored && tid % 128 == 0) {
                for (int j = 0; j < PART; j += BOX)
                    store_box(&Cmap, at(0, j), brow + group * GM, bcol + c + j, z);
                bulk_commit();
            }
#pragma unroll 1
            for (int e = tid % 128; !p.stored && e < GM * PART; e += 128) {  // one by one: neighbouring lanes store neighbours
                const int r = brow + group * GM + e / PART, k = bcol + c + e % PART;
                if (r < p.m && k < p.n)
                    static_cast<half *>(p.C)[z * p.c_next + r * p.c_row + k] = *at(e / PART, e % PART);
            }
        }
    }
    bulk_wait_read<0>();  // shared memory must last until it has been read
}

// --- A kernel for each row of geometry ---
#define KERNEL(name, BM, BN, STAGES)                                                                                   \
    extern "C" __global__ void __launch_bounds__(Tile<BM, BN, STAGES>::THREADS, 1)                                     \
    name(const __grid_constant__ args p, const __grid_constant__ CUtensorMap A, const __grid_constant__ CUtensorMap B, \
         const __grid_constant__ CUtensorMap C)                                                                        \
    {                                                                                                                  \
        product<BM, BN, STAGES>(p, A, B, C);                                                                           \
    }
KERNEL(gemm, 128, 256, 4)
KERNEL(gemm_192x192, 192, 192, 4)
KERNEL(gemm_128x192, 128, 192, 5)
KERNEL(gemm_128x128, 128, 128, 6)
KERNEL(gemm_64x128, 64, 128, 8)
KERNEL(gemm_64x64, 64, 64, 12)
