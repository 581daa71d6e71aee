// The library's kernel for Hopper's tensor cores: step 20 for halves or bf16, for A and B in either order, batches, and an
// epilogue. The blocks of a cluster share a tile, and multiply a part of K each; or they are a pair, with tiles below each
// other, and load B for both, because L2 is slow where rows of A and B begin in the midst of its lines.
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

// The number of this block's cluster, and how many there are; without clusters, of the block.
__device__ inline int cluster()
{
    int i;
    asm("mov.u32 %0, %%clusterid.x;" : "=r"(i));
    return i;
}

__device__ inline int clusters()
{
    int n;
    asm("mov.u32 %0, %%nclusterid.x;" : "=r"(n));
    return n;
}

// The same, to the same place in both blocks of a cluster.
__device__ inline void load_box_for_both(void *to, const CUtensorMap *map, uint64_t *barrier, int row, int col, int z)
{
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, "
                 "{%2, %3, %4}], [%5], %6;" ::"r"(shared_address(to)),
                 "l"(map), "r"(col), "r"(row), "r"(z), "r"(shared_address(barrier)), "h"(uint16_t(3))
                 : "memory");
}

// Arrives at the barrier that another block of the cluster has where this one has this. What it tells is that wgmma has read: no
// writes have to be seen before, so no release of the cluster's scope is asked, which takes 1,000 cycles.
__device__ inline void mbarrier_arrive_at(uint64_t *barrier, int rank)
{
    asm volatile("{\n.reg .b32 at;\nmapa.shared::cluster.u32 at, %0, %1;\n"
                 "mbarrier.arrive.shared::cluster.b64 _, [at];\n}" ::"r"(shared_address(barrier)),
                 "r"(rank)
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
// j / 4 * 8 + j % 2 from (row, col). ---

// acc += factor * x, where x is C or a bias: the first element is x[at], rows are `down` elements apart, columns `across`.
template <int n>
__device__ __forceinline__ void add(float (&acc)[n], const args &p, const void *x, int64_t at, int64_t down, int across,
                                    float factor, int row, int col)
{
#pragma unroll
    for (int j = 0; j < n; j++) {
        const int r = j / 2 % 2 * 8, c = j / 4 * 8 + j % 2;
        if (row + r < p.m && col + c < p.n)
            acc[j] += factor * get(x, at + r * down + c * across, p.c_type);
    }
}

// at: where C[row][col] is.
template <int n> __device__ __forceinline__ void finish_all(float (&acc)[n], const args &p, int64_t at, int row, int col)
{
    if (p.alpha != 1)
        for (int j = 0; j < n; j++)
            acc[j] *= p.alpha;
#pragma unroll 1  // one piece of code for both: registers are few
    for (int i = 0; i < 2; i++) {
        const bool across = p.bias_kind == ARGS_BIAS_ROW;
        if (i == 0 ? p.beta != 0 : p.bias_kind != 0)
            add(acc, p, i ? p.bias : p.C, i == 0 ? at : across ? col : row, i == 0 ? p.c_row : !across, i == 0 || across,
                i == 0 ? p.beta : 1, row, col);
    }
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

// The blocks of a cluster have a part each of the sums of a tile: each writes its own to its shared memory, where the stages
// were, and stores a share of the elements.
template <int BM, int BN, int CONSUMERS>
__device__ __forceinline__ void add_up(float *Ps, const float (&acc)[BN / 2], const args &p, int z, int brow, int bcol)
{
    const int tid = threadIdx.x, lane = tid % 32, LD = BN + 8;  // + 8: no bank conflicts
    named_barrier(1, CONSUMERS);                               // all have multiplied: the stages are free
#pragma unroll
    for (int j = 0; j < BN / 2; j += 2)
        *reinterpret_cast<float2 *>(&Ps[(tid / 32 * WM + lane / 4 + j / 2 % 2 * 8) * LD + j / 4 * 8 + lane % 4 * 2]) = {
            acc[j], acc[j + 1]
        };
    cluster_barrier();  // all sums are there
    for (int i = (cluster_rank() * CONSUMERS + tid) * 4; i < BM * BN; i += p.parts * CONSUMERS * 4) {
        float sum[4] = {};
        if (brow + i / BN >= p.m || bcol + i % BN >= p.n)
            continue;
#pragma unroll 1
        for (int rank = 0; rank < p.parts; rank++) {
            const float4 x = load_from(&Ps[i / BN * LD + i % BN], rank);
            for (int e = 0; e < 4; e++)
                sum[e] += (&x.x)[e];
        }
        finish4(p, z, brow + i / BN, bcol + i % BN, sum);
    }
    cluster_barrier();  // shared memory must last until all have read it
}

// Stores two neighbours, or the first n of them.
__device__ inline void store_two(half *to, half2 v, int n)
{
    if (n > 1 && reinterpret_cast<uintptr_t>(to) % 4 == 0) {
        *reinterpret_cast<half2 *>(to) = v;
        return;
    }
    if (n > 0)
        to[0] = v.x;
    if (n > 1)
        to[1] = v.y;
}

template <int BM, int BN, int STAGES>
__device__ __forceinline__ void product(const args &p, const CUtensorMap &A, const CUtensorMap &B, const CUtensorMap &Cmap)
{
    using T = Tile<BM, BN, STAGES>;
    constexpr int CONSUMERS = T::CONSUMERS, STAGE = T::STAGE, PART = T::PART;
    extern __shared__ __align__(1024) half8 shared[];  // a swizzled box begins at a multiple of 1024 bytes
    half *As = reinterpret_cast<half *>(shared), *Bs = As + BM * BK;  // STAGES of both
    __shared__ uint64_t full[STAGES], empty[STAGES];  // barriers: a tile has come; all consumers have multiplied it

    // --- Who am I? ---
    const int tid = threadIdx.x;
    const int warp = __shfl_sync(~0u, tid / 32, 0), lane = tid % 32;  // now the compiler knows: a warp has one number
    const int group = warp / 4;                                       // warpgroup
    const int row = warp * WM;
    const int pair = p.pair, parts = p.parts, rank = cluster_rank();
    const int steps = (p.k - 1) / BK + 1, skip = pair ? 0 : steps * rank / parts;  // along K: this block's part
    const int deep = pair ? steps : steps * (rank + 1) / parts - skip;

    // The matrix, the first row and column of a tile: GROUP rows of tiles, column by column, then the next GROUP.
    auto place = [&](unsigned i, int &brow, int &bcol, int &z) {
        z = i / (p.across * p.down), i %= p.across * p.down;
        const int span = GROUP >> pair, top = i / (span * p.across) * span, rows = min(span, p.down - top);
        brow = (((top + i % (span * p.across) % rows) << pair) + (pair ? rank : 0)) * BM;
        bcol = i % (span * p.across) / rows * BN;
    };
    int brow, bcol, z, s = 0, parity = 0;  // s: the stage of the next tile along K, and the parity of its phase
    auto next = [&]() { s = s + 1 < STAGES ? s + 1 : 0, parity ^= s == 0; };

    // --- Accumulators ---
    float acc[BN / 2];
    half *Cs = As + STAGES * STAGE + group * GM * PART;  // this warpgroup's rows
    auto at = [&](int r, int c) { return &Cs[c / BOX * GM * BOX + swizzle(r, c % BOX)]; };

    // --- Load ---
    if (tid == CONSUMERS) {
        for (int i = 0; i < STAGES; i++)
            mbarrier_init(&full[i], 1);  // the thread that asks for the tile
        for (int i = 0; i < STAGES; i++)
            mbarrier_init(&empty[i], CONSUMERS / 128 << pair);  // a thread of each warpgroup that reads what comes
        mbarrier_init_fence();
        launch_wait();  // A or B may be a copy, which the launch before this one makes
    }
    if (p.a_rows < BM) {  // rows that no copy brings, for all of C has fewer
        for (int i = tid; i < STAGES * (BM - p.a_rows) * 8; i += T::THREADS)
            reinterpret_cast<half8 *>(As + i / 8 / (BM - p.a_rows) * STAGE + p.a_rows * BK)[i % ((BM - p.a_rows) * 8)] = {};
        proxy_fence();
    }
    // A pair of blocks has tiles below each other: each loads a half of B's boxes for both.
    auto copy = [&](int step) {
        const int k = (skip + step) * BK, za = p.a_next ? z : 0, zb = p.b_next ? z : 0;
        half *a = &As[s * STAGE], *b = &Bs[s * STAGE];
        mbarrier_expect(&full[s], 2 * (p.a_rows * BK + BK * BN));
        if (turn_a())
            for (int i = 0; i < BM; i += BOX)
                load_box(&a[i * BK], &A, &full[s], k, brow + i, za);
        else
            load_box(a, &A, &full[s], brow, k, za);
        for (int j = pair ? rank * BOX : 0; j < BN; j += BOX << pair) {
            const int r = turn_b() ? bcol + j : k, c = turn_b() ? k : bcol + j;
            pair ? load_box_for_both(&b[j * BK], &B, &full[s], r, c, zb) : load_box(&b[j * BK], &B, &full[s], r, c, zb);
        }
    };
    if (pair)
        cluster_barrier();  // the barriers of both blocks exist
    place(cluster(), brow, bcol, z);
    int early = min(STAGES, deep);  // steps of the first tile that are asked for before the block meets: their stages are free
    if (tid == CONSUMERS) {
        for (; s < early; s++)
            copy(s);
        s = 0;
    }
    __syncthreads();  // the barriers exist before anyone else uses them
    if (tid >= CONSUMERS) {
        fewer_registers<40>();
        for (int i = cluster(); tid == CONSUMERS && i < p.units; i += clusters(), early = 0) {
            place(i, brow, bcol, z);
            for (int step = 0; step < deep; step++, next()) {
                if (step < early)
                    continue;  // its stage may have been used and given back by now: no wait for it
                mbarrier_wait(&empty[s], parity ^ 1);  // in a new barrier, the phase of parity 1 counts as ended
                copy(step);
            }
        }
        return;
    }
    more_registers<T::REGISTERS>();

    // --- Compute ---
    const uint64_t a_tile = wgmma_descriptor<true>(&As[row / GM * GM * BK], 16, 1024);  // in stage 0; in units of 16 bytes
    const uint64_t b_tile = wgmma_descriptor<true>(Bs, turn_b() ? 16 : BK * 128, 1024);
    const int a_step = turn_a() ? BOX * 16 / 8 : 16 / 8, b_step = turn_b() ? 16 / 8 : BOX * 16 / 8;  // 16 further along K
    constexpr int LEAD = STAGES - 1;  // tiles that the other warpgroups have left when warpgroup 0 has none
    auto give_back = [&](int stage) {  // a thread for its warpgroup, to all who write there
        if (pair)
            for (int i = 0; i < 2; i++)
                mbarrier_arrive_at(&empty[stage], i);
        else
            mbarrier_arrive(&empty[stage]);
    };
    auto multiply = [&]() {
        int before = 0;  // the stage of the tile before
        for (int tile = 0; tile < deep; tile++, before = s, next()) {
            mbarrier_wait(&full[s], parity);
            wgmma_fence();
#pragma unroll
            for (int k = 0; k < BK / 16; k++)
                wgmma_any(acc, further(a_tile, s * (STAGE / 8) + k * a_step), further(b_tile, s * (STAGE / 8) + k * b_step),
                          tile > 0 || k > 0);
            wgmma_commit();
            wgmma_wait<1>();  // the tile before this one is multiplied: it may be overwritten
            if (tile > 0 && tid % 128 == 0)
                give_back(before);
            if (CONSUMERS > 128 && tile + 1 == (group == 0 ? deep : max(1, deep - LEAD)))
                named_barrier(4, CONSUMERS);  // warpgroup 0 goes first: it stores while the others multiply their last
        }
        wgmma_wait<0>();
        if (tid % 128 == 0)
            give_back(before);
    };

    for (int i = cluster(); i < p.units; i += clusters()) {
        multiply();
        place(i, brow, bcol, z);
        if (parts > 1) {
            add_up<BM, BN, CONSUMERS>(reinterpret_cast<float *>(shared), acc, p, z, brow, bcol);
            return;
        }

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
#pragma unroll 4
            for (int e = tid % 128; !p.stored && e < GM * PART / 2; e += 128) {  // lanes store neighbours
                const int r = brow + group * GM + e / (PART / 2), k = e % (PART / 2) * 2;
                half *to = static_cast<half *>(p.C) + z * p.c_next + r * p.c_row + bcol + c + k;
                if (r < p.m)
                    store_two(to, *reinterpret_cast<half2 *>(at(e / (PART / 2), k)), p.n - bcol - c - k);
            }
        }
    }
    bulk_wait_read<0>();  // shared memory must last until it has been read
    if (pair)
        cluster_barrier();  // or until the other block has given back its stages
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
