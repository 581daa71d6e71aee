// Kernels of CUB as its users write them, for test_cub.c: a block's sort, scan, sum and histogram, the least of all with
// its place, and a scan over many blocks, each of which waits for those before it.
#include <cub/cub.cuh>

constexpr int THREADS = 128, ITEMS = 4, TILE = THREADS * ITEMS;

struct Plus {
    __device__ int operator()(int a, int b) const
    {
        return a + b;
    }
};

struct Larger {
    __device__ int operator()(int a, int b) const
    {
        return a > b ? a : b;
    }
};

#define KERNEL(name) extern "C" __global__ void __launch_bounds__(THREADS) name(int *out, int *in)

static __device__ void load(int (&items)[ITEMS], const int *in)
{
    cub::LoadDirectBlocked(threadIdx.x, in + blockIdx.x * TILE, items);
}

static __device__ void store(int *out, int (&items)[ITEMS])
{
    cub::StoreDirectBlocked(threadIdx.x, out + blockIdx.x * TILE, items);
}

KERNEL(sort)
{
    using Sort = cub::BlockRadixSort<int, THREADS, ITEMS>;
    __shared__ typename Sort::TempStorage room;
    int keys[ITEMS];
    load(keys, in);
    Sort(room).Sort(keys);
    store(out, keys);
}

// Its merge reads the next key ahead, at the end of a part beyond it: nothing may have written there, and what is read is
// not used.
struct Less {
    __device__ bool operator()(int a, int b) const
    {
        return a < b;
    }
};

KERNEL(merge_sort)
{
    using Sort = cub::BlockMergeSort<int, THREADS, ITEMS>;
    __shared__ typename Sort::TempStorage room;
    int keys[ITEMS];
    load(keys, in);
    Sort(room).Sort(keys, Less());
    store(out, keys);
}

// Ranks by votes within a warp, as the sort of a whole device does: where each key goes.
KERNEL(ranks)
{
    using Rank = cub::BlockRadixRankMatch<THREADS, 5, false>;
    __shared__ typename Rank::TempStorage room;
    unsigned keys[ITEMS];
    int ranks[ITEMS];
    cub::LoadDirectWarpStriped(threadIdx.x, (const unsigned *)in + blockIdx.x * TILE, keys);
    Rank(room).RankKeys(keys, ranks, cub::BFEDigitExtractor<unsigned>(0, 5));
    for (int i = 0; i < ITEMS; i++)
        out[blockIdx.x * TILE + ranks[i]] = keys[i] & 31;
}

KERNEL(scan)
{
    using Scan = cub::BlockScan<int, THREADS, cub::BLOCK_SCAN_WARP_SCANS>;
    __shared__ typename Scan::TempStorage room;
    int items[ITEMS];
    load(items, in);
    Scan(room).InclusiveSum(items, items);
    store(out, items);
}

KERNEL(sum)
{
    using Reduce = cub::BlockReduce<int, THREADS>;
    __shared__ typename Reduce::TempStorage room;
    int items[ITEMS];
    load(items, in);
    const int sum = Reduce(room).Sum(items);
    if (threadIdx.x == 0)
        out[blockIdx.x] = sum;
}

KERNEL(warp_maximum)
{
    using Reduce = cub::WarpReduce<int>;
    __shared__ typename Reduce::TempStorage room[THREADS / 32];
    const int i = blockIdx.x * THREADS + threadIdx.x;
    const int most = Reduce(room[threadIdx.x / 32]).Reduce(in[i], Larger{});
    if (threadIdx.x % 32 == 0)
        out[i / 32] = most;
}

template <cub::BlockHistogramAlgorithm how> static __device__ void count(int *out, const int *in)
{
    using Histogram = cub::BlockHistogram<unsigned char, THREADS, ITEMS, 32, how>;
    __shared__ typename Histogram::TempStorage room;
    __shared__ int bins[32];
    unsigned char samples[ITEMS];
    for (int i = 0; i < ITEMS; i++)
        samples[i] = in[blockIdx.x * TILE + threadIdx.x * ITEMS + i] & 31;
    Histogram(room).Histogram(samples, bins);
    __syncthreads();
    if (threadIdx.x < 32)
        atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}

KERNEL(histogram_by_atomics)
{
    count<cub::BLOCK_HISTO_ATOMIC>(out, in);
}

KERNEL(histogram_by_sorting)
{
    count<cub::BLOCK_HISTO_SORT>(out, in);
}

// Decoupled look-back: each block waits for the sums of those before it. state is behind the results.
using State = cub::ScanTileState<int>;

static __device__ State state_of(int *out)
{
    State state;
    state.Init(gridDim.x, out + gridDim.x * TILE, 1 << 20);
    return state;
}

KERNEL(scan_begins)
{
    if (blockIdx.x == 0)
        state_of(out).InitializeStatus(gridDim.x);
}

KERNEL(scan_all)
{
    using Scan = cub::BlockScan<int, THREADS>;
    using Prefix = cub::TilePrefixCallbackOp<int, Plus, State>;
    __shared__ union {
        typename Scan::TempStorage scan;
        struct {
            typename Scan::TempStorage scan;
            typename Prefix::TempStorage prefix;
        } later;
    } room;
    State state = state_of(out);
    int items[ITEMS];
    load(items, in);
    if (blockIdx.x == 0) {
        int total;
        Scan(room.scan).InclusiveSum(items, items, total);
        if (threadIdx.x == 0 && gridDim.x > 1)
            state.SetInclusive(0, total);
    } else {
        Prefix prefix(state, room.later.prefix, Plus{}, blockIdx.x);
        Scan(room.later.scan).InclusiveScan(items, items, Plus{}, prefix);
    }
    store(out, items);
}

using Pair = cub::KeyValuePair<int, double>;
using Least = cub::BlockReduce<Pair, THREADS>;

static __device__ Pair *pairs(int *out)
{
    return reinterpret_cast<Pair *>(out + gridDim.x * TILE);
}

KERNEL(least_of_blocks)
{
    __shared__ typename Least::TempStorage room;
    const int first = blockIdx.x * TILE + threadIdx.x * ITEMS;
    Pair best(first, in[first]);
    for (int i = 1; i < ITEMS; i++)
        best = cub::ArgMin()(best, Pair(first + i, in[first + i]));
    best = Least(room).Reduce(best, cub::ArgMin());
    if (!threadIdx.x)
        pairs(out)[blockIdx.x] = best;
}

KERNEL(least_of_all)
{
    __shared__ typename Least::TempStorage room;
    Pair best(0, 0);
    if (threadIdx.x < gridDim.x)
        best = cub::ThreadLoad<cub::LOAD_LDG>(pairs(out) + threadIdx.x);
    best = Least(room).Reduce(best, cub::ArgMin(), gridDim.x);
    if (blockIdx.x || threadIdx.x)
        return;
    out[0] = best.key;
    out[1] = static_cast<int>(best.value);
}
