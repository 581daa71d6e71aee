// The library's kernel for Hopper's tensor cores: step 20 for halves or bf16, for A and B in either order, batches, and an
// epilogue. With ACROSS it computes C^T = B^T * A^T: the 64 rows of a product of wgmma run along C's columns, and its N along C's
// rows, of which a tile can then have any multiple of 16. Where there is about one tile for each SM, its size decides.
//
// The blocks of a cluster share tiles of A and B: those beside each other have the same rows of A, those below each other the same
// columns of B, and each loads a share of them for all, because L2 is slow, most of all where rows begin in the midst of its lines.
// And they share a tile of C, where tiles are few, and multiply a part of K each.
#include "ampere.cuh"
#include "hopper.cuh"
#include "library/epilogue.cuh"
#include "library/wgmma.cuh"
#include "library/words.cuh"

// --- Tile sizes ---
constexpr int BM = TILE_M, BN = TILE_N, BK = 64;  // block tile
constexpr int GM = 64;                            // rows of a product, which are a warpgroup's
constexpr int BOX = 64;                           // elements in a row of a box: 128 bytes, as many as are swizzled together
constexpr int MOST = 8;                           // blocks of a cluster
constexpr int GROUP = 16;         // rows or columns of tiles that are computed together: what they share stays in L2
constexpr int ROWS = ACROSS ? BN : BM, COLUMNS = ACROSS ? BM : BN;  // of the products of all warpgroups
constexpr int CONSUMERS = ROWS / GM * 128, THREADS = CONSUMERS + 128;
constexpr int REGISTERS = CONSUMERS <= 256 ? 232 : CONSUMERS <= 384 ? 152 : 104;  // of a thread that multiplies
constexpr bool TALL = BM > BN, EDGES = BM > 96;  // EDGES: where a step along K leaves the loader time for them

// Of the columns of a warpgroup's products, those that are on their way to C at a time.
constexpr int part_to_store()
{
    int part = COLUMNS < 128 ? COLUMNS : 128;
    while (COLUMNS % part || ROWS * part > 128 * 128)
        part -= ACROSS ? 16 : BOX;
    return part;
}

constexpr int ROOM = 225 * 1024, STAGES_MOST = 12;  // bytes of shared memory, without barriers
constexpr int STAGE = BM * BK + BK * BN, PART = part_to_store(), FIT = (ROOM / 2 - ROWS * PART) / STAGE;
constexpr int STAGES = FIT < STAGES_MOST ? FIT : STAGES_MOST, SHARED = 2 * (STAGES * STAGE + ROWS * PART);
__constant__ int geometry[] = { BM, BN, BK, THREADS, SHARED, 0, 0, BM, BN, BOX, 1, ACROSS ? PART : GM, 0 };  // read by the library
static_assert(BK == BOX && BN % BOX == 0 && BM % (ACROSS ? 16 : GM) == 0 && COLUMNS <= 256, "wgmma has 64 rows, 16 to 256 columns");
static_assert(128 * 40 + CONSUMERS * REGISTERS <= 65536 / THREADS / 8 * 8 * THREADS, "a block has no more registers");

// The index of (row, col) in a tile with rows of BOX elements, whose chunks of 8 change places by the row's number.
__device__ inline int swizzle(int row, int col)
{
    return row * BOX + (col ^ row % 8 * 8);
}

// Boxes of matrix z of a batch, as in hopper.cuh.
__device__ inline void load_box(void *to, const CUtensorMap *map, uint64_t *barrier, int row, int col, int z, uint64_t policy)
{
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1, {%2, %3, "
                 "%4}], [%5], %6;" ::"r"(shared_address(to)),
                 "l"(map), "r"(col), "r"(row), "r"(z), "r"(shared_address(barrier)), "l"(policy)
                 : "memory");
}

// What L2 does with lines that are loaded. Those that are wanted once go first when it needs room, so that what was written before
// need not go to memory for them; others stay as they are.
__device__ inline uint64_t l2_policy(bool once)
{
    uint64_t first, unchanged;
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(first));
    asm("createpolicy.fractional.L2::evict_unchanged.b64 %0, 1.0;" : "=l"(unchanged));
    return once ? first : unchanged;
}

__device__ inline void prefetch_map(const CUtensorMap *map)
{
    asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

// The number of this block's cluster, and how many there are; without clusters, of the block.
NUMBER(cluster, "mov.u32 %0, %%clusterid.x;")
NUMBER(clusters, "mov.u32 %0, %%nclusterid.x;")

// The same, to the same place in the blocks of a cluster whose bits are set.
__device__ inline void load_box_for(int blocks, void *to, const CUtensorMap *map, uint64_t *barrier, int row, int col, int z,
                                    uint64_t policy)
{
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint [%0], "
                 "[%1, {%2, %3, %4}], [%5], %6, %7;" ::"r"(shared_address(to)),
                 "l"(map), "r"(col), "r"(row), "r"(z), "r"(shared_address(barrier)), "h"(uint16_t(blocks)), "l"(policy)
                 : "memory");
}

// Where another block of the cluster has what this one has at p.
__device__ inline unsigned address_in(const void *p, int rank)
{
    unsigned at;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"(shared_address(p)), "r"(rank));
    return at;
}

// Arrives at a barrier of another block of the cluster. What it tells is that wgmma has read: no writes have to be seen before, so
// no release of the cluster's scope is asked, which takes 1,000 cycles.
__device__ inline void mbarrier_arrive_at(unsigned barrier)
{
    asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(barrier) : "memory");
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

// The same as stmatrix, of matrices whose rows become columns.
__device__ inline void stmatrix_trans(half *row, const half2 (&v)[4])
{
    const unsigned *x = reinterpret_cast<const unsigned *>(v);
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(shared_address(row)),
                 "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3])
                 : "memory");
}

// The descriptor of what lies so many units of 16 bytes further: the address in its lower half does not overflow.
__device__ inline uint64_t further(uint64_t descriptor, unsigned units)
{
    return descriptor & 0xffffffff00000000 | (unsigned(descriptor) + units);
}

// --- The epilogue ---

// If C is floats, or if blocks of a cluster have a part each of the sums of the same tile: each
// writes its own to its shared memory, where the stages were, and stores a share of the elements. at: the first of these blocks; from
// one to the next it is as many as the cluster has tiles.
__device__ __forceinline__ void add_up(float *Ps, const float (&acc)[COLUMNS / 2], const args &p, int part, int at, int z, int brow, int bcol)
{
    constexpr int LD = BN + (ACROSS ? 4 : 8);  // no bank conflicts
    const int tid = threadIdx.x, lane = tid % 32;
    auto meet = [&]() { p.parts > 1 ? cluster_barrier() : named_barrier(1, CONSUMERS); };
    named_barrier(1, CONSUMERS);  // all have multiplied: the stages are free
#pragma unroll
    for (int j = 0; j < COLUMNS / 2; j += 2) {
        const int r = tid / 32 * 16 + lane / 4 + j / 2 % 2 * 8, c = j / 4 * 8 + lane % 4 * 2;  // of the products
        if (ACROSS)
            Ps[c * LD + r] = acc[j], Ps[(c + 1) * LD + r] = acc[j + 1];
        else
            *reinterpret_cast<float2 *>(&Ps[r * LD + c]) = { acc[j], acc[j + 1] };
    }
    meet();  // all sums are there
#pragma unroll 1
    for (int i = (part * CONSUMERS + tid) * 4; i < BM * BN; i += p.parts * CONSUMERS * 4) {
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

// A warpgroup stores a part of its part of C: neighbours store neighbours, two each. at(r, c): where the numbers are.
template <int ROWS, int COLUMNS, class F> __device__ __forceinline__ void store_rows(const args &p, int z, int row, int col, F at)
{
    constexpr int DOWN = 256 / COLUMNS;  // rows from one of a thread's to the next: even, so that all its places are alike
    const int c = threadIdx.x * 2 % COLUMNS, first = threadIdx.x % 128 / (COLUMNS / 2), rows = min(ROWS, p.m - row), n = p.n - col - c;
    half *to = static_cast<half *>(p.C) + z * p.c_next + (row + first) * p.c_row + col + c;
    const bool two = n > 1 && reinterpret_cast<uintptr_t>(to) % 4 == 0;
#pragma unroll 4
    for (int r = first; r < rows; r += DOWN, to += DOWN * p.c_row) {
        const half2 v = *reinterpret_cast<half2 *>(at(r, c));
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

// The other way round: what C was, and zeros outside. The loads of a round do not wait for each other, so none may change what another
// has loaded.
template <int ROWS, int COLUMNS, class F> __device__ __forceinline__ void load_rows(const args &p, int z, int row, int col, F at)
{
    constexpr int DOWN = 256 / COLUMNS, ROUND = ROWS / DOWN % 8 ? 4 : 8;
    const int c = threadIdx.x * 2 % COLUMNS, first = threadIdx.x % 128 / (COLUMNS / 2), rows = p.m - row, n = p.n - col - c;
    const half *from = static_cast<const half *>(p.C) + z * p.c_next + row * p.c_row + col + c;
    const bool pairs = reinterpret_cast<uintptr_t>(p.C) % 4 == 0 && (p.c_row | p.c_next | p.n) % 2 == 0;
#pragma unroll 1
    for (int top = first; top < ROWS; top += ROUND * DOWN) {
        half2 v[ROUND] = {};
        if (pairs) {
#pragma unroll
            for (int e = 0; e < ROUND; e++)
                if (top + e * DOWN < rows && n > 0)
                    v[e] = *reinterpret_cast<const half2 *>(from + (top + e * DOWN) * p.c_row);
        } else {
            half x[ROUND] = {}, y[ROUND] = {};
#pragma unroll
            for (int e = 0; e < ROUND; e++) {
                if (top + e * DOWN < rows && n > 0)
                    x[e] = from[(top + e * DOWN) * p.c_row];
                if (top + e * DOWN < rows && n > 1)
                    y[e] = from[(top + e * DOWN) * p.c_row + 1];
            }
            for (int e = 0; e < ROUND; e++)
                v[e] = __halves2half2(x[e], y[e]);
        }
#pragma unroll
        for (int e = 0; e < ROUND; e++)
            *reinterpret_cast<half2 *>(at(top + e * DOWN, c)) = v[e];
    }
}

// Each of these is a kernel of its own, because code has to come from memory before a small product can use it. ALONE: C is
// alpha * A * B, TMA stores it, and blocks share nothing. PLAIN: TMA cannot store it, or blocks share. ADJUSTED: with a bias or an
// activation, too. WITH_BETA: with what C was, too. ADDED_UP: by add_up.
enum { ALONE, PLAIN, ADJUSTED, WITH_BETA, ADDED_UP };

// What a lane's sums become: a lane has fours of them, two neighbours in a row of the product and the two that lie eight rows below.
// row, col: of the product, at the first of the warp.
template <class T, int HOW> __device__ __forceinline__ void add_all(float (&acc)[COLUMNS / 2], const args &p, int z, int row, int col)
{
    const T *bias = static_cast<const T *>(p.bias);
    auto one = [&](bool along_c, int i) {
        return p.bias_kind == (along_c ? ARGS_BIAS_ROW : ARGS_BIAS_COLUMN) && i < (along_c ? p.n : p.m) ? widen(bias[i]) : 0;
    };
    row += threadIdx.x % 32 / 4, col += threadIdx.x % 4 * 2;
    const float alpha = HOW == WITH_BETA ? 1 : p.alpha, of_rows[2] = { one(ACROSS, row), one(ACROSS, row + 8) };
#pragma unroll
    for (int j = 0; j < COLUMNS / 2; j += 4, col += 8) {
        const float of_columns[2] = { one(!ACROSS, col), one(!ACROSS, col + 1) };
        for (int e = 0; e < 4; e++)
            acc[j + e] = alpha * acc[j + e] + of_rows[e / 2] + of_columns[e % 2];
    }
}

template <int HOW> __device__ __forceinline__ void adjust(float (&acc)[COLUMNS / 2], const args &p, int z, int row, int col)
{
    auto activate_all = [&](int activation) {
#pragma unroll
        for (int j = 0; j < COLUMNS / 2; j++)
            acc[j] = activate(acc[j], activation);
    };
    if (p.c_type == ARGS_F16)
        add_all<half, HOW>(acc, p, z, row, col);
    else
        add_all<bf16, HOW>(acc, p, z, row, col);
    if (p.activation == ARGS_RELU)
        activate_all(ARGS_RELU);
    else if (p.activation == ARGS_GELU)
        activate_all(ARGS_GELU);
}

template <int HOW>
__device__ __forceinline__ void product(const args &p, const CUtensorMap &A, const CUtensorMap &B, const CUtensorMap &Cmap,
                                        const CUtensorMap &last)
{
    extern __shared__ __align__(1024) half8 shared[];  // a swizzled box begins at a multiple of 1024 bytes
    half *As = reinterpret_cast<half *>(shared), *Bs = As + BM * BK;  // STAGES of both
    __shared__ uint64_t full[STAGES], empty[STAGES];  // barriers: a tile has come; all consumers have multiplied it
    __shared__ uint64_t old[CONSUMERS / 128];         // WITH_BETA: what C was has come

    // --- Who am I? ---
    const int tid = threadIdx.x;
    const int warp = __shfl_sync(~0u, tid / 32, 0), lane = tid % 32;  // now the compiler knows: a warp has one number
    const int group = warp / 4;                                       // warpgroup
    const int tall = HOW == ALONE ? 1 : 1 << p.tall, broad = HOW == ALONE ? 1 : 1 << p.broad, tiles = tall * broad;
    const int parts = HOW == ALONE ? 1 : p.parts, rank = HOW == ALONE ? 0 : cluster_rank();
    const int j = rank & broad - 1, i = rank >> p.broad & tall - 1, part = HOW == ALONE ? 0 : rank >> p.tall + p.broad;  // part of K; place in the cluster
    // A thread of one warp asks for the boxes of A, the same one or a thread of the next warp for those of B. If blocks share, one alone
    // takes longer for a step than the products do; if not, two were slower, because the second has to wait for the barriers.
    const int loaders = tiles > 1 ? 2 : 1;
    const bool loads_a = warp == CONSUMERS / 32, loads_b = warp == CONSUMERS / 32 + loaders - 1, loads = loads_a || loads_b;
    const int steps = (p.k - 1) / BK + 1, skip = parts > 1 ? steps * part / parts : 0;
    const int deep = parts > 1 ? steps * (part + 1) / parts - skip : steps;

    // The matrix, the first row and column of this block's tile. Neighbours share the operand of which a tile has more: what SMs near
    // each other ask for at the same time comes from L2 once. So tiles lie below each other, or beside each other if they are tall, GROUP
    // of them, then the next column or row of them, and so on.
    auto place = [&](unsigned unit, int &brow, int &bcol, int &z) {
        z = 0;
        if (p.batch > 1)  // a division takes longer than all else here
            z = unit / (p.across * p.down), unit %= p.across * p.down;
        const int near = TALL ? p.across : p.down, far = TALL ? p.down : p.across, span = GROUP >> (TALL ? p.broad : p.tall);
        const int top = near > span ? unit / (span * far) * span : 0;
        const unsigned n = min(span, near - top), of_group = unit - top * far, a = top + of_group % n, b = of_group / n;
        brow = ((TALL ? b : a) * tall + i) * BM, bcol = ((TALL ? a : b) * broad + j) * BN;
    };
    int brow, bcol, z, s = 0, parity = 0;  // s: the stage of the next tile along K, and the parity of its phase
    auto next = [&]() { s = s + 1 < STAGES ? s + 1 : 0, parity ^= s == 0; };

    // --- Accumulators ---
    float acc[COLUMNS / 2];
    half *Cs = As + STAGES * STAGE + group * GM * PART;  // this warpgroup's
    auto at = [&](int r, int c) { return &Cs[c / BOX * GM * BOX + swizzle(r, c % BOX)]; };

    // The row of four matrices that this lane has the address of; they are 16 of a warp's columns, or rows, from j on.
    auto lane_at = [&](int j) {
        return ACROSS ? at(j + lane / 16 * 8 + lane % 8, warp % 4 * 16 + lane / 8 % 2 * 8) : at(warp % 4 * 16 + lane % 16, j + lane / 16 * 8);
    };

    // --- Load ---
    const int sharers = tall + broad - 1;  // blocks that read what this one loads, or load what it reads
    const int first = part * tiles + i * broad, below = part * tiles + j;  // of them: in its row of the cluster, in its column
    if (loads_a && elected()) {
        prefetch_map(&A), prefetch_map(&B);
        for (int stage = 0; stage < STAGES; stage++) {
            mbarrier_init(&full[stage], loaders);                     // the threads that ask for the tile
            mbarrier_init(&empty[stage], CONSUMERS / 128 * sharers);  // a thread of each warpgroup that reads what it loads
        }
        for (int i = 0; HOW == WITH_BETA && i < CONSUMERS / 128; i++)
            mbarrier_init(&old[i], 1);
        mbarrier_init_fence();
    }
    // Of a box that several blocks need, each loads some rows.
    const uint64_t policy_a = l2_policy(p.once_a), policy_b = l2_policy(p.once_b);
    auto load = [&](const CUtensorMap &map, int blocks, half *to, int row, int col, int z, int share, uint64_t policy) {
        blocks ? load_box_for(blocks, to + share * BOX, &map, &full[s], row, col, z, policy)
               : load_box(to, &map, &full[s], row, col, z, policy);
    };
    const int b_share = (BOX >> p.tall) * i;
    const int a_blocks = broad > 1 ? ((1 << broad) - 1) << first : 0;
    const int b_blocks = tall > 1 ? (1 | 1 << broad | (tall > 2) * (1 << 2 * broad | 1 << 3 * broad)) << below : 0;
    // Rows of A and columns of B that are loaded. What is outside would be zeros, which take TMA longer than what it reads: with EDGES
    // the last tiles have a box of fewer rows, and fewer boxes.
    int rows, columns;
    auto measure = [&](bool few) {
        rows = !EDGES || !few || brow == 0 || brow + BM <= p.m ? p.a_rows : brow < p.m ? p.a_last : 0;
        columns = EDGES && few ? min(BN, max(0, p.n - bcol + BOX - 1) / BOX * BOX) : BN;
    };
    auto copy = [&](int step) {
        const int k = (skip + step) * BK, za = p.a_next ? z : 0, zb = p.b_next ? z : 0;
        const int a_share = ((turn_a() ? BOX : rows) >> p.broad) * j;
        half *a = &As[s * STAGE], *b = &Bs[s * STAGE];
        mbarrier_expect(&full[s], 2 * BK * (loads_a * rows + loads_b * columns));
        if (turn_a())
            for (int c = 0; loads_a && c < rows; c += BOX)
                load(A, a_blocks, &a[c * BK], k + a_share, brow + c, za, a_share, policy_a);
        else if (loads_a && rows == p.a_rows)
            load(A, a_blocks, a, brow + a_share, k, za, a_share, policy_a);
        else if (loads_a && rows)
            load(last, a_blocks, a, brow + a_share, k, za, a_share, policy_a);
#pragma unroll
        for (int c = 0; c < BN; c += BOX)
            if (loads_b && c < columns)
                load(B, b_blocks, &b[c * BK], (turn_b() ? bcol + c : k) + b_share, turn_b() ? k : bcol + c, zb, b_share, policy_b);
    };
    if (tiles > 1)
        cluster_meets();  // the barriers of all blocks exist
    place(cluster(), brow, bcol, z);
    measure(true);
    int early = min(STAGES, deep);  // steps of the first tile that are asked for before the block meets: their stages are free
    if (loads && elected()) {
        launch_wait();  // A or B may be a copy, which the launch before this one makes
#pragma unroll 1
        for (; s < early; s++)
            copy(s);
        s = 0;
    }
    if (rows < BM || columns < BN) {  // what no copy brings before the first product
#pragma unroll 1
        for (int stage = 0; stage < STAGES; stage++) {
            half8 *tile = &shared[stage * (STAGE / 8)];
#pragma unroll 1
            for (int i = rows * BK / 8 + tid; i < BM * BK / 8; i += THREADS)
                tile[i] = {};
#pragma unroll 1
            for (int i = (BM + columns) * BK / 8 + tid; i < STAGE / 8; i += THREADS)
                tile[i] = {};
        }
        proxy_fence();
    }
    __syncthreads();  // the barriers exist before anyone else uses them
    if (tid >= CONSUMERS) {
        fewer_registers<40>();
        if (!loads || !elected())
            return;
        for (int unit = cluster(); unit < p.units; early = 0) {
#pragma unroll 1
            for (int step = 0; step < deep; step++, next()) {
                if (step < early)
                    continue;  // its stage may have been used and given back by now: no wait for it
                mbarrier_wait(&empty[s], parity ^ 1);  // in a new barrier, the phase of parity 1 counts as ended
                copy(step);
            }
            if ((unit += clusters()) < p.units) {
                place(unit, brow, bcol, z);
                measure(deep >= STAGES);  // else some stages would be used for the first time
            }
        }
        for (int stage = 0; stage < STAGES; stage++, next())
            mbarrier_wait(&empty[s], parity ^ 1);  // shared memory must last until the other blocks have given back their stages
        return;
    }
    more_registers<REGISTERS>();

    // --- Compute ---
    const half *X = ACROSS ? Bs : As, *Y = ACROSS ? As : Bs;  // the products' first and second operand
    const bool x_along = ACROSS ? turn_b() : !turn_a(), y_along = ACROSS ? !turn_a() : turn_b();  // its lines lie along K
    const uint64_t x_tile = wgmma_descriptor<true>(&X[group * GM * BK], 16, 1024);  // in stage 0; in units of 16 bytes
    const uint64_t y_tile = wgmma_descriptor<true>(Y, y_along ? 16 : BK * 128, 1024);
    const int x_step = (x_along ? 1 : BOX) * 16 / 8, y_step = (y_along ? 1 : BOX) * 16 / 8;  // 16 further along K
    constexpr int LEAD = STAGES - 1;  // tiles that the other warpgroups have left when warpgroup 0 has none
    const int other = tid % 128;  // a block of the cluster: if it writes to the stages, this thread tells it that they are free
    const bool tells = other < tiles && (other >> p.broad == i || (other & broad - 1) == j);
    const unsigned its_empty = address_in(empty, tells ? part * tiles + other : 0);
    auto give_back = [&](int stage) {  // with branches in it, a step takes some 100 cycles longer
        if (tells && HOW == ALONE)
            mbarrier_arrive(&empty[stage]);
        else if (tells)
            mbarrier_arrive_at(its_empty + stage * sizeof *empty);
    };
    auto multiply = [&]() {
        int before = 0;  // the stage of the tile before
#pragma unroll 1
        for (int tile = 0; tile < deep; tile++, before = s, next()) {
            mbarrier_wait(&full[s], parity);
            wgmma_fence();
#pragma unroll
            for (int k = 0; k < BK / 16; k++)
                wgmma_any(acc, further(x_tile, s * (STAGE / 8) + k * x_step), further(y_tile, s * (STAGE / 8) + k * y_step),
                          tile > 0 || k > 0);
            wgmma_commit();
            wgmma_wait<1>();  // the tile before this one is multiplied: it may be overwritten
            if (tile > 0)
                give_back(before);
            if (CONSUMERS > 128 && HOW != ADDED_UP && tile + 1 == (group == 0 ? deep : max(1, deep - LEAD)))
                named_barrier(5, CONSUMERS);  // warpgroup 0 goes first: it stores while the others multiply their last
        }
        wgmma_wait<0>();
        give_back(before);
    };

    // The first row and column of a part of C.
    auto row_of = [&](int c) { return brow + (ACROSS ? c : group * GM); };
    auto col_of = [&](int c) { return bcol + (ACROSS ? group * GM : c); };
    auto each_box = [&](auto f) {
        for (int j = 0; j < (ACROSS ? BOX : PART); j += BOX)
            f(j);
    };
    // What a part of C was comes by TMA, if it goes by TMA, to where it is stored from: the first one while the products are computed.
    auto ask_for_old = [&](int c) {
        if (tid % 128 == 0) {
            bulk_wait_read<0>();
            mbarrier_expect(&old[group], 2 * GM * PART);
            each_box([&](int j) { load_box(at(0, j), &Cmap, &old[group], row_of(c), col_of(c) + j, z, l2_policy(false)); });
        }
    };
    int old_parity = 0;
    // Of type's type, and added where the sums are.
    auto add_old = [&](auto type) {
#pragma unroll
        for (int c = 0; c < COLUMNS; c += PART) {
            if (p.stored) {
                if (c > 0) {
                    named_barrier(1 + group, 128);
                    ask_for_old(c);
                }
                mbarrier_wait(&old[group], old_parity);
                old_parity ^= 1;
            } else {
                named_barrier(1 + group, 128);
                load_rows<ACROSS ? PART : GM, ACROSS ? GM : PART>(p, z, row_of(c), col_of(c), at);
                named_barrier(1 + group, 128);
            }
#pragma unroll
            for (int j = 0; j < PART; j += 16) {
                unsigned v[4];
                ACROSS ? ldmatrix_trans(v, lane_at(j)) : ldmatrix(v, lane_at(j));
                for (int e = 0; e < 8; e++) {
                    float &x = acc[(c + j) / 2 + e];
                    x = p.alpha * x + p.beta * widen(reinterpret_cast<const decltype(type) *>(v)[e]);
                }
            }
        }
    };

    for (int unit = cluster(); unit < p.units;) {
        if (HOW == WITH_BETA && p.stored)
            ask_for_old(0);
        multiply();
        if (HOW == ADDED_UP) {
            add_up(reinterpret_cast<float *>(shared), acc, p, part, rank % tiles, z, brow, bcol);
            break;  // there is one tile for each block
        }
        if (HOW == WITH_BETA && p.c_type == ARGS_F16)
            add_old(half());
        else if (HOW == WITH_BETA)
            add_old(bf16());
        if (HOW == ADJUSTED || HOW == WITH_BETA)
            adjust<HOW>(acc, p, z, (ACROSS ? bcol : brow) + warp * 16, ACROSS ? brow : bcol);

        // --- Store ---
        const bool stored = HOW == ALONE || p.stored;
        const float alpha = HOW == ADJUSTED || HOW == WITH_BETA ? 1 : p.alpha;
#pragma unroll
        for (int c = 0; c < COLUMNS; c += PART) {
            const int row = row_of(c), col = col_of(c);
            if (tid % 128 == 0)
                bulk_wait_read<0>();  // the part before this one has been read out of Cs
            named_barrier(1 + group, 128);
#pragma unroll
            for (int j = 0; j < PART; j += 16) {
                half2 v[4];
                for (int q = 0; q < 4; q++)  // the four matrices of a tile, in the order of a fragment of A
                    v[q] = both(alpha * acc[(c + j) / 2 + q * 2], alpha * acc[(c + j) / 2 + q * 2 + 1]);
                ACROSS ? stmatrix_trans(lane_at(j), v) : stmatrix(lane_at(j), v);
            }
            proxy_fence();                  // what TMA reads was written by ordinary stores
            named_barrier(1 + group, 128);  // this part is complete
            if (stored && tid % 128 == 0) {
                each_box([&](int j) { store_box(&Cmap, at(0, j), row, col + j, z); });
                bulk_commit();
            }
            if (!stored)
                store_rows<ACROSS ? PART : GM, ACROSS ? GM : PART>(p, z, row, col, at);
        }
        if ((unit += clusters()) < p.units)
            place(unit, brow, bcol, z);
    }
    bulk_wait_read<0>();  // shared memory must last until it has been read
}

#define KERNEL(name, how)                                                                                              \
    extern "C" __global__ void __launch_bounds__(THREADS, 1)                                                           \
    name(const __grid_constant__ args p, const __grid_constant__ CUtensorMap A, const __grid_constant__ CUtensorMap B, \
         const __grid_constant__ CUtensorMap C, const __grid_constant__ CUtensorMap last)                              \
    {                                                                                                                  \
        product<how>(p, A, B, C, last);                                                                                \
    }
KERNEL(gemm_alone, ALONE)
KERNEL(gemm, PLAIN)
KERNEL(gemm_adjusted, ADJUSTED)
KERNEL(gemm_with_beta, WITH_BETA)
KERNEL(gemm_added_up, ADDED_UP)
