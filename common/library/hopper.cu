// The library's kernel for Hopper's tensor cores: step 20 for halves or bf16, for A and B in either order, batches, and an
// epilogue. The blocks of a cluster share tiles of A and B: those beside each other have the same rows of A, those below each
// other the same columns of B, and each loads a share of them for all, because L2 is slow, most of all where rows begin in the
// midst of its lines. Or they share a tile of C, and multiply a part of K each.
#include "edges.cuh"
#include "hopper.cuh"
#include "library/epilogue.cuh"
#include "library/wgmma.cuh"

// --- Tile sizes ---
constexpr int BK = 64, WM = 16, GM = 4 * WM;  // depth of a block tile; rows of a warp, and of a warpgroup
constexpr int BOX = 64;                       // elements in a row of a box: 128 bytes, as many as are swizzled together
constexpr int MOST = 8;                       // blocks of a cluster
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
#ifndef TILE_M
#define TILE_M 128
#define TILE_N 256
#define STEPS 4  // along K that shared memory has room for
#endif
__constant__ Row geometry[] = { Tile<TILE_M, TILE_N, STEPS>::row };

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

__device__ inline void prefetch_map(const CUtensorMap *map)
{
    asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
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

// The same, to the same place in the blocks of a cluster whose bits are set.
__device__ inline void load_box_for(int blocks, void *to, const CUtensorMap *map, uint64_t *barrier, int row, int col, int z)
{
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, "
                 "{%2, %3, %4}], [%5], %6;" ::"r"(shared_address(to)),
                 "l"(map), "r"(col), "r"(row), "r"(z), "r"(shared_address(barrier)), "h"(uint16_t(blocks))
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

// A barrier of all threads of the cluster that says nothing of memory but what mbarrier_init_fence does: the wait for all that was
// written takes hundreds of cycles.
__device__ inline void cluster_meets()
{
    asm volatile("barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}

__device__ inline void store_box(const CUtensorMap *map, const void *from, int row, int col, int z)
{
    asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"(map), "r"(col),
                 "r"(row), "r"(z), "r"(shared_address(from))
                 : "memory");
}

// True in one thread of the warp, always the same. The compiler knows it: of other conditions it asks the warp's threads for each
// box which of them want it, and that takes longer than to ask for the box.
__device__ inline bool elected()
{
    int one;
    asm volatile("{\n.reg .pred one;\nelect.sync _|one, 0xffffffff;\nselp.b32 %0, 1, 0, one;\n}" : "=r"(one));
    return one;
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

// --- The epilogue ---

// If the product adds to C, or C is floats, or if blocks of a cluster have a part each of the sums of the same tile: each
// writes its own to its shared memory, where the stages were, and stores a share of the elements. at: the first of these blocks; from
// one to the next it is as many as the cluster has tiles.
template <int BM, int BN, int CONSUMERS>
__device__ __forceinline__ void add_up(float *Ps, const float (&acc)[BN / 2], const args &p, int part, int at, int z, int brow,
                                       int bcol)
{
    const int tid = threadIdx.x, lane = tid % 32, LD = BN + 8;  // + 8: no bank conflicts
    auto meet = [&]() { p.parts > 1 ? cluster_barrier() : named_barrier(1, CONSUMERS); };
    named_barrier(1, CONSUMERS);  // all have multiplied: the stages are free
#pragma unroll
    for (int j = 0; j < BN / 2; j += 2)
        *reinterpret_cast<float2 *>(&Ps[(tid / 32 * WM + lane / 4 + j / 2 % 2 * 8) * LD + j / 4 * 8 + lane % 4 * 2]) = {
            acc[j], acc[j + 1]
        };
    meet();  // all sums are there
    constexpr int EACH = 2;  // fours of C that a thread asks memory for before it waits
#pragma unroll 1
    for (int first = tid * 4; p.parts == 1 && first < BM * BN; first += EACH * CONSUMERS * 4) {
        float old[EACH][4] = {};
#pragma unroll
        for (int e = 0, i = first; e < EACH && i < BM * BN; e++, i += CONSUMERS * 4)
            old4(p, z, brow + i / BN, bcol + i % BN, old[e]);
#pragma unroll
        for (int e = 0, i = first; e < EACH && i < BM * BN; e++, i += CONSUMERS * 4)
            finish4(p, z, brow + i / BN, bcol + i % BN, &Ps[i / BN * LD + i % BN], old[e]);
    }
#pragma unroll 1
    for (int i = (part * CONSUMERS + tid) * 4; p.parts > 1 && i < BM * BN; i += p.parts * CONSUMERS * 4) {
        float sum[4] = {};
        float4 x[MOST];
        if (brow + i / BN >= p.m || bcol + i % BN >= p.n)
            continue;
#pragma unroll
        for (int other = 0; other < MOST; other++)  // all are asked for before one is waited for
            x[other] = other < p.parts ? load_from(&Ps[i / BN * LD + i % BN], at + (other << p.tall + p.broad)) : float4();
        for (int e = 0; e < 4 * MOST; e++)
            sum[e % 4] += (&x[e / 4].x)[e % 4];
        finish4(p, z, brow + i / BN, bcol + i % BN, sum);
    }
    meet();  // shared memory must last until all have read it
}

// A warpgroup stores its rows of a part of a tile: neighbours store neighbours, two each. of(r, c): C's numbers there.
template <int PART, class F> __device__ __forceinline__ void store_rows(const args &p, int z, int row, int col, F of)
{
    constexpr int DOWN = 256 / PART;  // rows from one of a thread's to the next: even, so that all its places are alike
    const int c = threadIdx.x * 2 % PART, first = threadIdx.x % 128 / (PART / 2), rows = min(GM, p.m - row), n = p.n - col - c;
    half *to = static_cast<half *>(p.C) + z * p.c_next + (row + first) * p.c_row + col + c;
    const bool two = n > 1 && reinterpret_cast<uintptr_t>(to) % 4 == 0;
#pragma unroll 4
    for (int r = first; r < rows; r += DOWN, to += DOWN * p.c_row) {
        const half2 v = of(r, c);
        if (two)
            *reinterpret_cast<half2 *>(to) = v;
        else {
            if (n > 0)
                to[0] = v.x;
            if (n > 1)
                to[1] = v.y;
        }
    }
}

// Multiplies the sums by alpha, and adds the bias and takes the activation, where they are: a lane has fours of them, two neighbours
// in a row and the two that lie eight rows below. row, col: C's at the first of the warp.
template <class T, int SUMS> __device__ __forceinline__ void add_bias(float (&acc)[SUMS], const args &p, int row, int col)
{
    const T *bias = static_cast<const T *>(p.bias);
    auto one = [&](int kind, int i, int end) { return p.bias_kind == kind && i < end ? widen(bias[i]) : 0; };
    row += threadIdx.x % 32 / 4, col += threadIdx.x % 4 * 2;
    const float of_rows[2] = { one(ARGS_BIAS_COLUMN, row, p.m), one(ARGS_BIAS_COLUMN, row + 8, p.m) };
#pragma unroll
    for (int j = 0; j < SUMS; j += 4, col += 8) {
        const float of_columns[2] = { one(ARGS_BIAS_ROW, col, p.n), one(ARGS_BIAS_ROW, col + 1, p.n) };
        for (int e = 0; e < 4; e++)
            acc[j + e] = p.alpha * acc[j + e] + of_rows[e / 2] + of_columns[e % 2];
    }
}

template <int SUMS> __device__ __forceinline__ void adjust(float (&acc)[SUMS], const args &p, int row, int col)
{
    auto activate_all = [&](int activation) {
#pragma unroll
        for (int j = 0; j < SUMS; j++)
            acc[j] = activate(acc[j], activation);
    };
    if (p.c_type == ARGS_F16)
        add_bias<half>(acc, p, row, col);
    else
        add_bias<bf16>(acc, p, row, col);
    if (p.activation == ARGS_RELU)
        activate_all(ARGS_RELU);
    else if (p.activation == ARGS_GELU)
        activate_all(ARGS_GELU);
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
    const bool loader = warp == CONSUMERS / 32;  // a thread of this warp asks for all boxes
    const int tall = 1 << p.tall, broad = 1 << p.broad, tiles = tall * broad, parts = p.parts, rank = cluster_rank();
    const int j = rank & broad - 1, i = rank >> p.broad & tall - 1, part = rank >> p.tall + p.broad;  // part of K; place in the cluster
    const int steps = (p.k - 1) / BK + 1, skip = parts > 1 ? steps * part / parts : 0;
    const int deep = parts > 1 ? steps * (part + 1) / parts - skip : steps;

    // The matrix, the first row and column of this block's tile: GROUP rows of tiles, column by column, then the next GROUP.
    auto place = [&](unsigned unit, int &brow, int &bcol, int &z) {
        z = 0;
        if (p.batch > 1)  // a division takes longer than all else here
            z = unit / (p.across * p.down), unit %= p.across * p.down;
        const int span = GROUP >> p.tall, top = p.down > span ? unit / (span * p.across) * span : 0;
        const unsigned rows = min(span, p.down - top), of_group = unit - top * p.across;
        brow = ((top + of_group % rows) * tall + i) * BM, bcol = (of_group / rows * broad + j) * BN;
    };
    int brow, bcol, z, s = 0, parity = 0;  // s: the stage of the next tile along K, and the parity of its phase
    auto next = [&]() { s = s + 1 < STAGES ? s + 1 : 0, parity ^= s == 0; };

    // --- Accumulators ---
    float acc[BN / 2];
    half *Cs = As + STAGES * STAGE + group * GM * PART;  // this warpgroup's rows
    auto at = [&](int r, int c) { return &Cs[c / BOX * GM * BOX + swizzle(r, c % BOX)]; };

    // --- Load ---
    const int sharers = tall + broad - 1;  // blocks that read what this one loads, or load what it reads
    const int first = part * tiles + i * broad, below = part * tiles + j;  // of them: in its row of the cluster, in its column
    if (loader && elected()) {
        prefetch_map(&A), prefetch_map(&B);
        for (int stage = 0; stage < STAGES; stage++) {
            mbarrier_init(&full[stage], 1);                           // the thread that asks for the tile
            mbarrier_init(&empty[stage], CONSUMERS / 128 * sharers);  // a thread of each warpgroup that reads what it loads
        }
        mbarrier_init_fence();
        launch_wait();  // A or B may be a copy, which the launch before this one makes
    }
    // Of a box that several blocks need, each loads some rows.
    auto load = [&](const CUtensorMap &map, int blocks, half *to, int row, int col, int z, int share) {
        blocks ? load_box_for(blocks, to + share * BOX, &map, &full[s], row, col, z) : load_box(to, &map, &full[s], row, col, z);
    };
    const int a_share = ((turn_a() ? BOX : p.a_rows) >> p.broad) * j, b_share = (BOX >> p.tall) * i;
    const int a_blocks = broad > 1 ? ((1 << broad) - 1) << first : 0;
    const int b_blocks = tall > 1 ? (1 | 1 << broad | (tall > 2) * (1 << 2 * broad | 1 << 3 * broad)) << below : 0;
    auto copy = [&](int step) {
        const int k = (skip + step) * BK, za = p.a_next ? z : 0, zb = p.b_next ? z : 0;
        half *a = &As[s * STAGE], *b = &Bs[s * STAGE];
        mbarrier_expect(&full[s], 2 * (p.a_rows * BK + BK * BN));
        if (turn_a())
            for (int c = 0; c < BM; c += BOX)
                load(A, a_blocks, &a[c * BK], k + a_share, brow + c, za, a_share);
        else
            load(A, a_blocks, a, brow + a_share, k, za, a_share);
        for (int c = 0; c < BN; c += BOX)
            load(B, b_blocks, &b[c * BK], (turn_b() ? bcol + c : k) + b_share, turn_b() ? k : bcol + c, zb, b_share);
    };
    if (tiles > 1)
        cluster_meets();  // the barriers of all blocks exist
    place(cluster(), brow, bcol, z);
    int early = min(STAGES, deep);  // steps of the first tile that are asked for before the block meets: their stages are free
    if (loader && elected()) {
#pragma unroll 1
        for (; s < early; s++)
            copy(s);
        s = 0;
    }
    if (p.a_rows < BM) {  // rows that no copy brings, for all of C has fewer
#pragma unroll 1
        for (int i = tid; i < STAGES * (BM - p.a_rows) * 8; i += T::THREADS)
            reinterpret_cast<half8 *>(As + i / 8 / (BM - p.a_rows) * STAGE + p.a_rows * BK)[i % ((BM - p.a_rows) * 8)] = {};
        proxy_fence();
    }
    __syncthreads();  // the barriers exist before anyone else uses them
    if (tid >= CONSUMERS) {
        fewer_registers<40>();
        if (!loader || !elected())
            return;
        for (int unit = cluster(); unit < p.units; early = 0) {
#pragma unroll 1
            for (int step = 0; step < deep; step++, next()) {
                if (step < early)
                    continue;  // its stage may have been used and given back by now: no wait for it
                mbarrier_wait(&empty[s], parity ^ 1);  // in a new barrier, the phase of parity 1 counts as ended
                copy(step);
            }
            if ((unit += clusters()) < p.units)
                place(unit, brow, bcol, z);
        }
        for (int stage = 0; stage < STAGES; stage++, next())
            mbarrier_wait(&empty[s], parity ^ 1);  // shared memory must last until the other blocks have given back their stages
        return;
    }
    more_registers<T::REGISTERS>();

    // --- Compute ---
    const uint64_t a_tile = wgmma_descriptor<true>(&As[row / GM * GM * BK], 16, 1024);  // in stage 0; in units of 16 bytes
    const uint64_t b_tile = wgmma_descriptor<true>(Bs, turn_b() ? 16 : BK * 128, 1024);
    const int a_step = turn_a() ? BOX * 16 / 8 : 16 / 8, b_step = turn_b() ? 16 / 8 : BOX * 16 / 8;  // 16 further along K
    constexpr int LEAD = STAGES - 1;  // tiles that the other warpgroups have left when warpgroup 0 has none
    const int other = tid % 128;  // a block of the cluster: if it writes to the stages, this thread tells it that they are free
    const bool tells = other < tiles && (other >> p.broad == i || (other & broad - 1) == j);
    auto give_back = [&](int stage) {
        if (tells && tiles > 1)
            mbarrier_arrive_at(&empty[stage], part * tiles + other);
        else if (tells)
            mbarrier_arrive(&empty[stage]);
    };
    auto multiply = [&]() {
        int before = 0;  // the stage of the tile before
#pragma unroll 1
        for (int tile = 0; tile < deep; tile++, before = s, next()) {
            mbarrier_wait(&full[s], parity);
            wgmma_fence();
#pragma unroll
            for (int k = 0; k < BK / 16; k++)
                wgmma_any(acc, further(a_tile, s * (STAGE / 8) + k * a_step), further(b_tile, s * (STAGE / 8) + k * b_step),
                          tile > 0 || k > 0);
            wgmma_commit();
            wgmma_wait<1>();  // the tile before this one is multiplied: it may be overwritten
            if (tile > 0)
                give_back(before);
            if (CONSUMERS > 128 && tile + 1 == (group == 0 ? deep : max(1, deep - LEAD)))
                named_barrier(4, CONSUMERS);  // warpgroup 0 goes first: it stores while the others multiply their last
        }
        wgmma_wait<0>();
        give_back(before);
    };

    // --- Store ---
    auto store = [&](float alpha) {
#pragma unroll
        for (int c = 0; c < BN; c += PART) {
            if (tid % 128 == 0)
                bulk_wait_read<0>();  // the part before this one has been read out of Cs
            named_barrier(1 + group, 128);
#pragma unroll
            for (int j = 0; j < PART / 16; j++) {
                half2 v[4];
                for (int q = 0; q < 4; q++)  // the four matrices of a tile, in the order of a fragment of A
                    v[q] = both(alpha * acc[c / 2 + j * 8 + q * 2], alpha * acc[c / 2 + j * 8 + q * 2 + 1]);
                stmatrix(at(row % GM + lane % 16, j * 16 + lane / 16 * 8), v);
            }
            proxy_fence();                  // what TMA reads was written by ordinary stores
            named_barrier(1 + group, 128);  // these rows are complete
            if (p.stored && tid % 128 == 0) {
                for (int j = 0; j < PART; j += BOX)
                    store_box(&Cmap, at(0, j), brow + group * GM, bcol + c + j, z);
                bulk_commit();
            }
            if (!p.stored)
                store_rows<PART>(p, z, brow + group * GM, bcol + c, [&](int r, int c) { return *reinterpret_cast<half2 *>(at(r, c)); });
        }
    };
    auto each_tile = [&](auto store_sums) {
        for (int unit = cluster(); unit < p.units;) {
            multiply();
            store_sums();
            if ((unit += clusters()) < p.units)
                place(unit, brow, bcol, z);
        }
    };

    // Code of the first way lies in one piece: to fetch it from memory takes longer than a small product.
    const bool straight = parts == 1 && p.beta == 0 && p.c_type != ARGS_F32, adjusted = p.bias_kind || p.activation;
    if (__builtin_expect(straight && !adjusted, 1))
        each_tile([&]() { store(p.alpha); });
    else if (straight)
        each_tile([&]() {
            adjust(acc, p, brow + row, bcol);
            store(1);
        });
    else {  // there is one tile for each block
        multiply();
        add_up<BM, BN, CONSUMERS>(reinterpret_cast<float *>(shared), acc, p, part, rank % tiles, z, brow, bcol);
    }
    bulk_wait_read<0>();  // shared memory must last until it has been read
}

extern "C" __global__ void __launch_bounds__(Tile<TILE_M, TILE_N, STEPS>::THREADS, 1)
gemm(const __grid_constant__ args p, const __grid_constant__ CUtensorMap A, const __grid_constant__ CUtensorMap B,
     const __grid_constant__ CUtensorMap C)
{
    product<TILE_M, TILE_N, STEPS>(p, A, B, C);
}
