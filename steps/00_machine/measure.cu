// What the machine can do: latencies, bandwidths and rates of the GPU at hand, as CSV. It needs a GPU, and about half a
// minute. Close what else uses the GPU.
//
//   nvcc -O3 -std=c++17 -arch=native -o measure measure.cu && ./measure > mine.csv
//
// Cycles are those of an SM's own clock (clock64). A latency is the time of a chain in which each instruction needs the
// result of the one before. A rate is what one SM does in a cycle while all SMs work.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

typedef unsigned long long u64;

static void check(cudaError_t status, const char *what)
{
    if (status == cudaSuccess)
        return;
    fprintf(stderr, "measure: %s: %s\n", what, cudaGetErrorString(status));
    exit(1);
}
#define CHECK(call) check(call, #call)

static int attribute(cudaDeviceAttr which)
{
    int value = 0;
    CHECK(cudaDeviceGetAttribute(&value, which, 0));
    return value;
}

static void row(const char *name, const char *unit, double value)
{
    printf("%s,%s,%.5g\n", name, unit, value);
    fflush(stdout);
}

static int sms;
static u64 *cycles;     // device memory: a word for each block
static unsigned *sink;  // device memory: where kernels store what must not be optimised away

// --- latencies: one warp, a chain ---

constexpr int LINKS = 2048;  // of a chain

// The first of two rounds fills the instruction cache.
#define CHAIN(NAME, BEFORE, LINK)                                                                                      \
    __global__ void NAME(u64 *cycles, unsigned *sink)                                                                  \
    {                                                                                                                  \
        BEFORE;                                                                                                        \
        u64 begin = 0;                                                                                                 \
        for (int round = 0; round < 2; round++) {                                                                      \
            begin = clock64();                                                                                         \
            _Pragma("unroll 1") for (int i = 0; i < LINKS / 256; i++)                                                  \
            {                                                                                                          \
                _Pragma("unroll") for (int j = 0; j < 256; j++) LINK;                                                  \
            }                                                                                                          \
        }                                                                                                              \
        if (threadIdx.x == 0)                                                                                          \
            *cycles = clock64() - begin;                                                                               \
        sink[threadIdx.x] = unsigned(x);                                                                               \
    }

CHAIN(chain_fma, float x = threadIdx.x, asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(x)))
CHAIN(chain_fma64, double x = threadIdx.x, asm volatile("fma.rn.f64 %0, %0, %0, %0;" : "+d"(x)))
CHAIN(chain_half2, unsigned x = threadIdx.x, asm volatile("fma.rn.f16x2 %0, %0, %0, %0;" : "+r"(x)))
CHAIN(chain_mad, unsigned x = threadIdx.x, asm volatile("mad.lo.u32 %0, %0, %0, %0;" : "+r"(x)))
CHAIN(chain_shuffle, unsigned x = threadIdx.x, asm volatile("shfl.sync.bfly.b32 %0, %0, 1, 31, -1;" : "+r"(x)))
CHAIN(chain_barrier, unsigned x = threadIdx.x, __syncthreads())

// Shared memory holds its own address in each word, so that what is loaded is the next address.
#define SHARED_ADDRESS(EACH)                                                                                           \
    __shared__ __align__(16) unsigned words[32];                                                                       \
    unsigned x = unsigned(__cvta_generic_to_shared(&words[EACH]));                                                     \
    words[threadIdx.x] = x;                                                                                            \
    __syncthreads()
CHAIN(chain_shared, SHARED_ADDRESS(threadIdx.x), asm volatile("ld.shared.u32 %0, [%0];" : "+r"(x)))
CHAIN(chain_ldmatrix, SHARED_ADDRESS(0), asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%0];" : "+r"(x)))

__device__ void mma(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2])
{
#if __CUDA_ARCH__ >= 800
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9},"
                 "{%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}

#define FRAGMENTS                                                                                                      \
    unsigned a[4], b[2];                                                                                               \
    for (unsigned &r : a)                                                                                              \
        r = 0x34563211 ^ (threadIdx.x * 0x9e3779b1 & 0x83ff83ff);                                                      \
    for (unsigned &r : b)                                                                                              \
    r = 0x32113456 ^ (threadIdx.x * 0x85ebca6b & 0x83ff83ff)
CHAIN(chain_mma, FRAGMENTS; float c[4] = {}; float &x = c[0], mma(c, a, b))

static void latency(const char *name, void (*chain)(u64 *, unsigned *), int threads = 32)
{
    u64 taken = 0;
    chain<<<1, threads>>>(cycles, sink);
    CHECK(cudaMemcpy(&taken, cycles, sizeof taken, cudaMemcpyDeviceToHost));
    row(name, "cycles", double(taken) / LINKS);
}

// A walk along pointers. CACHED: L1 may keep what is loaded; else L2 is the nearest place.
template <bool CACHED> __global__ void walk(const u64 *start, int links, int rounds, u64 *cycles, unsigned *sink)
{
    u64 p = u64(start), begin = 0;
    for (int round = 0; round < rounds; round++) {
        begin = clock64();
        for (int i = 0; i < links; i += 16) {
#pragma unroll
            for (int j = 0; j < 16; j++) {
                if (CACHED)
                    asm volatile("ld.global.ca.u64 %0, [%0];" : "+l"(p));
                else
                    asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(p));
            }
        }
    }
    *sink = unsigned(p);
    *cycles = clock64() - begin;
}

// Fills L2 with something else.
static void empty_caches()
{
    const size_t bytes = 4 * size_t(attribute(cudaDevAttrL2CacheSize));
    void *other = nullptr;
    CHECK(cudaMalloc(&other, bytes));
    CHECK(cudaMemset(other, 1, bytes));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(other));
}

// The walk visits lines of 128 bytes in random order. More than one round: the last one finds them in a cache.
static void latency_of_walk(const char *name, size_t bytes, bool cached, int rounds)
{
    const size_t words = 16, lines = bytes / (words * sizeof(u64));
    std::vector<u64> host(lines * words);
    std::vector<unsigned> order(lines);
    std::iota(order.begin(), order.end(), 0u);
    std::shuffle(order.begin(), order.end(), std::mt19937(1));
    u64 *device = nullptr, taken = 0;
    CHECK(cudaMalloc(&device, bytes));
    for (size_t i = 0; i < lines; i++)
        host[order[i] * words] = u64(device + order[(i + 1) % lines] * words);
    CHECK(cudaMemcpy(device, host.data(), bytes, cudaMemcpyHostToDevice));
    const int links = int(std::min<size_t>(lines, 65536));
    u64 *first = device + order[0] * words;
    if (rounds == 1)
        empty_caches();
    if (cached)
        walk<true><<<1, 1>>>(first, links, rounds, cycles, sink);
    else
        walk<false><<<1, 1>>>(first, links, rounds, cycles, sink);
    CHECK(cudaMemcpy(&taken, cycles, sizeof taken, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(device));
    row(name, "cycles", double(taken) / links);
}

// --- rates: every SM has one block ---

// The cycles of a block, and how fast the SM's clock ran meanwhile.
struct stopwatch {
    u64 begin, begin_ns;
    __device__ static u64 ns()
    {
        u64 t;
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
        return t;
    }
    __device__ void start()
    {
        __syncthreads();
        begin_ns = ns();
        begin = clock64();
    }
    __device__ void stop(u64 *cycles)
    {
        __syncthreads();
        if (threadIdx.x == 0) {
            cycles[2 * blockIdx.x] = clock64() - begin;
            cycles[2 * blockIdx.x + 1] = ns() - begin_ns;
        }
    }
};

struct pace {
    double cycles, ghz;
};

static pace read_pace()
{
    std::vector<u64> host(2 * sms);
    CHECK(cudaMemcpy(host.data(), cycles, host.size() * sizeof(u64), cudaMemcpyDeviceToHost));
    double sum = 0, ns = 0;
    for (int i = 0; i < sms; i++) {
        sum += double(host[2 * i]);
        ns += double(host[2 * i + 1]);
    }
    return { sum / sms, sum / ns };
}

enum { FMA, FMA64, HALF2, PERMUTE };

// CHAINS independent sums in a thread.
template <int WHAT, int CHAINS> __global__ void rate(int rounds, u64 *cycles, unsigned *sink)
{
    double d[CHAINS];
    float f[CHAINS];
    unsigned u[CHAINS];
    for (int i = 0; i < CHAINS; i++)
        d[i] = f[i] = u[i] = threadIdx.x + i;
    const float a = 1e-3f * threadIdx.x;
    const double b = a;
    stopwatch watch;
    watch.start();
    for (int i = 0; i < rounds; i++) {
#pragma unroll
        for (int j = 0; j < 64; j++) {
            const int k = j % CHAINS;
            if (WHAT == FMA)
                asm volatile("fma.rn.f32 %0, %1, %1, %0;" : "+f"(f[k]) : "f"(a));
            else if (WHAT == FMA64)
                asm volatile("fma.rn.f64 %0, %1, %1, %0;" : "+d"(d[k]) : "d"(b));
            else if (WHAT == HALF2)
                asm volatile("fma.rn.f16x2 %0, %1, %1, %0;" : "+r"(u[k]) : "r"(0x2e66u + threadIdx.x));
            else
                asm volatile("prmt.b32 %0, %0, %1, %2;" : "+r"(u[k]) : "r"(rounds), "r"(threadIdx.x));
        }
    }
    watch.stop(cycles);
    unsigned sum = 0;
    for (int i = 0; i < CHAINS; i++)
        sum += unsigned(f[i]) + unsigned(d[i]) + u[i];
    sink[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

template <int WHAT, int CHAINS = 8> static pace rate_of(const char *name, int threads, int rounds)
{
    rate<WHAT, CHAINS><<<sms, threads>>>(rounds, cycles, sink);
    const pace p = read_pace();
    row(name, "a cycle and SM", 64.0 * rounds * threads / p.cycles);
    return p;
}

__global__ void rate_mma(int rounds, u64 *cycles, unsigned *sink)
{
    FRAGMENTS;
    float c[8][4] = {};
    stopwatch watch;
    watch.start();
    for (int i = 0; i < rounds; i++)
        for (auto &sum : c)
            mma(sum, a, b);
    watch.stop(cycles);
    float all = 0;
    for (auto &sum : c)
        all += sum[0] + sum[1] + sum[2] + sum[3];
    sink[blockIdx.x * blockDim.x + threadIdx.x] = unsigned(all);
}

constexpr int ROOM = 16384;  // bytes over which the lanes of rate_load are spread

// Loads of WIDTH bytes a lane, lanes STRIDE bytes apart; SHARED, or through the L1 cache from 28 KB that stay there.
// Each round reads elsewhere, step bytes on: a load of the same address would not be repeated.
template <bool SHARED, int WIDTH>
__global__ void rate_load(int stride, int step, int rounds, const unsigned *in, u64 *cycles, unsigned *sink)
{
    __shared__ __align__(16) unsigned words[ROOM / 4 * 2];
    for (int i = threadIdx.x; i < ROOM / 4 * 2; i += blockDim.x)
        words[i] = i;
    const unsigned there = unsigned(__cvta_generic_to_shared(words));
    unsigned at = threadIdx.x * stride % ROOM, sum = 0;
    stopwatch watch;
    watch.start();
    for (int i = 0; i < rounds; i++) {
        unsigned x[4][4] = {};
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const unsigned shared = there + at + j * 4096;
            const u64 global = u64(in) + at + j * 4096;
            if (SHARED && WIDTH == 4)
                asm volatile("ld.shared.u32 %0, [%1];" : "=r"(x[j][0]) : "r"(shared));
            else if (SHARED && WIDTH == 8)
                asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(x[j][0]), "=r"(x[j][1]) : "r"(shared));
            else if (SHARED)
                asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                             : "=r"(x[j][0]), "=r"(x[j][1]), "=r"(x[j][2]), "=r"(x[j][3])
                             : "r"(shared));
            else if (WIDTH == 4)
                asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(x[j][0]) : "l"(global));
            else
                asm volatile("ld.global.ca.v4.u32 {%0, %1, %2, %3}, [%4];"
                             : "=r"(x[j][0]), "=r"(x[j][1]), "=r"(x[j][2]), "=r"(x[j][3])
                             : "l"(global));
        }
        for (auto &four : x)
            sum ^= four[0] ^ four[1] ^ four[2] ^ four[3];
        at = (at + step) % ROOM;
    }
    watch.stop(cycles);
    sink[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// Cycles that the SM takes for one load instruction of a warp.
template <bool SHARED, int WIDTH> static double load(const char *name, int stride, const unsigned *in = nullptr)
{
    const int rounds = 4096, threads = 1024;
    rate_load<SHARED, WIDTH><<<sms, threads>>>(stride, 4096, rounds, in, cycles, sink);
    const double each = read_pace().cycles / (4.0 * rounds * threads / 32);
    row(name, "cycles an instruction", each);
    return each;
}

// --- bandwidth of L2 and of device memory ---

// The fastest of five runs, in seconds.
template <class LAUNCH> static double best(const LAUNCH &launch)
{
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    float least = 1e30f, ms = 0;
    for (int i = 0; i < 5; i++) {
        CHECK(cudaEventRecord(begin));
        launch();
        CHECK(cudaEventRecord(end));
        CHECK(cudaEventSynchronize(end));
        CHECK(cudaEventElapsedTime(&ms, begin, end));
        least = std::min(least, ms);
    }
    CHECK(cudaGetLastError());
    return least * 1e-3;
}

// Arrays of n pieces of 16 bytes, n a power of two, at most 2 GiB; at their end one begins again. A thread does
// `rounds` rounds.
struct stream {
    uint4 *from, *to;
    unsigned n;
    int rounds;

    __device__ unsigned begin() const
    {
        return blockIdx.x * blockDim.x + threadIdx.x;
    }
    __device__ unsigned step() const
    {
        return gridDim.x * blockDim.x;
    }
};

constexpr int BATCH = 8, THREADS = 512;  // accesses that a thread has in flight; threads of a block, two blocks an SM

// Past L1: ld.global.cg.
__global__ void __launch_bounds__(THREADS, 2) read_all(stream s, unsigned *sink)
{
    unsigned sum = 0;
    unsigned at = s.begin();
    for (int round = 0; round < s.rounds; round++) {
        uint4 v[BATCH];
        for (uint4 &each : v) {
            each = __ldcg(&s.from[at & (s.n - 1)]);
            at += s.step();
        }
        for (const uint4 &each : v)
            sum ^= each.x ^ each.y ^ each.z ^ each.w;
    }
    if (sum == 1)
        *sink = sum;
}

// Each lane reads one word; neighbours read words that lie stride words apart.
__global__ void __launch_bounds__(THREADS, 2) read_strided(stream s, int stride, unsigned *sink)
{
    const unsigned *words = reinterpret_cast<const unsigned *>(s.from);
    unsigned sum = 0;
    unsigned at = s.begin() * stride;
    for (int round = 0; round < s.rounds; round++) {
        unsigned v[BATCH];
        for (unsigned &each : v) {
            each = __ldcg(&words[at & (4 * s.n - 1)]);
            at += s.step() * stride;
        }
        for (unsigned each : v)
            sum ^= each;
    }
    if (sum == 1)
        *sink = sum;
}

__global__ void __launch_bounds__(THREADS, 2) copy_all(stream s)
{
    unsigned at = s.begin();
    for (int round = 0; round < s.rounds; round++) {
        uint4 v[BATCH];
        for (int i = 0; i < BATCH; i++)
            v[i] = __ldcg(&s.from[(at + i * s.step()) & (s.n - 1)]);
        for (int i = 0; i < BATCH; i++)
            s.to[(at + i * s.step()) & (s.n - 1)] = v[i];
        at += BATCH * s.step();
    }
}

// A thread has one load in flight: the next address needs the value, which is 0.
__global__ void __launch_bounds__(1024, 2) read_one_by_one(stream s, unsigned *sink)
{
    unsigned sum = 0;
    unsigned at = s.begin();
#pragma unroll 1
    for (int round = 0; round < s.rounds; round++) {
        const uint4 v = __ldcg(&s.from[at & (s.n - 1)]);
        at += s.step() + v.x;
        sum ^= v.y ^ v.z ^ v.w;
    }
    if (sum == 1)
        *sink = sum;
}

// total: the bytes that one pass goes over.
static void dram(const stream &s, double total)
{
    const int blocks = 2 * sms, threads = THREADS;
    stream t = s;
    t.rounds = int(total / (double(blocks) * threads * BATCH * 16));
    const double bytes = double(blocks) * threads * BATCH * 16 * t.rounds;
    row("dram_read", "GB/s", bytes / best([&] { read_all<<<blocks, threads>>>(t, sink); }) * 1e-9);
    row("dram_copy", "GB/s", 2 * bytes / best([&] { copy_all<<<blocks, threads>>>(t); }) * 1e-9);
    for (int stride = 1; stride <= 32; stride *= 2) {
        char name[40];
        snprintf(name, sizeof name, "dram_read_stride_%d", stride);
        t.rounds = int(total / (double(blocks) * threads * BATCH * 4 * stride));
        const double useful = double(blocks) * threads * BATCH * 4 * t.rounds;
        row(name, "useful GB/s", useful / best([&] { read_strided<<<blocks, threads>>>(t, stride, sink); }) * 1e-9);
    }
    for (int warps = 1; warps <= attribute(cudaDevAttrMaxThreadsPerMultiProcessor) / 32; warps *= 2) {
        const int each = warps > 32 ? 2 : 1, threads = warps * 32 / each;
        t.rounds = 32000 / warps;  // as many bytes each time, and more than L2 holds
        char name[40];
        snprintf(name, sizeof name, "dram_read_%d_warps", warps);
        const double time = best([&] { read_one_by_one<<<each * sms, threads>>>(t, sink); });
        row(name, "GB/s", double(sms) * each * threads * 16 * t.rounds / time * 1e-9);
    }
}

static void bandwidths()
{
    size_t free_bytes = 0, all_bytes = 0, bytes = size_t(1) << 31;
    CHECK(cudaMemGetInfo(&free_bytes, &all_bytes));
    while (2 * bytes > free_bytes)
        bytes /= 2;
    stream s = { nullptr, nullptr, unsigned(bytes / sizeof(uint4)), 0 };
    CHECK(cudaMalloc(&s.from, bytes));
    CHECK(cudaMalloc(&s.to, bytes));
    CHECK(cudaMemset(s.from, 0, bytes));
    CHECK(cudaMemset(s.to, 0, bytes));
    dram(s, double(bytes));
    s.rounds = 80;
    for (int mb : { 4, 16 }) {
        char name[40];
        snprintf(name, sizeof name, "l2_read_%d_mb", mb);
        s.n = unsigned(mb) << 16;
        const double time = best([&] { read_all<<<2 * sms, THREADS>>>(s, sink); });
        row(name, "GB/s", 2.0 * sms * THREADS * BATCH * 16 * s.rounds / time * 1e-9);
    }
    CHECK(cudaFree(s.from));
    CHECK(cudaFree(s.to));
}

// --- waves, launches ---

__global__ void spin(long long length)
{
    for (const long long begin = clock64(); clock64() - begin < length;)
        continue;
}

static void waves()
{
    const int shared = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);  // so that an SM has one block
    CHECK(cudaFuncSetAttribute(spin, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    const std::pair<const char *, int> cases[] = { { "wave_half", sms / 2 },
                                                   { "wave_full", sms },
                                                   { "wave_full_and_one", sms + 1 } };
    for (const auto &each : cases) {
        row(each.first, "us", best([&] { spin<<<each.second, 32, shared>>>(200000); }) * 1e6);
    }
    const double thousand = best([] {
        for (int i = 0; i < 1000; i++)
            spin<<<1, 32>>>(0);
    });
    row("launch", "us", thousand * 1e3);
}

static void describe()
{
    cudaDeviceProp p;
    CHECK(cudaGetDeviceProperties(&p, 0));
    printf("name,unit,value\ndevice,,%s\ncompute_capability,,%d.%d\n", p.name, p.major, p.minor);
    sms = p.multiProcessorCount;
    row("sms", "", sms);
    row("clock_max", "GHz", attribute(cudaDevAttrClockRate) * 1e-6);
    row("l2_size", "MiB", p.l2CacheSize / 1048576.0);
    row("shared_per_sm", "KiB", double(p.sharedMemPerMultiprocessor) / 1024);
    row("shared_per_block_most", "KiB", attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) / 1024.0);
    row("registers_per_sm", "", p.regsPerMultiprocessor);
    row("dram_size", "GiB", double(p.totalGlobalMem) / (1 << 30));
}

static void latencies()
{
    latency("latency_fma", chain_fma);
    latency("latency_fma_f64", chain_fma64);
    latency("latency_fma_half2", chain_half2);
    latency("latency_mad_integer", chain_mad);
    latency("latency_shuffle", chain_shuffle);
    latency("latency_shared", chain_shared);
    latency("latency_ldmatrix", chain_ldmatrix);
    if (attribute(cudaDevAttrComputeCapabilityMajor) >= 8)
        latency("latency_mma", chain_mma);
    latency("latency_barrier_32", chain_barrier, 32);
    latency("latency_barrier_256", chain_barrier, 256);
    latency("latency_barrier_1024", chain_barrier, 1024);
    const size_t mb = 1 << 20, l2 = size_t(attribute(cudaDevAttrL2CacheSize));
    latency_of_walk("latency_l1", 8192, true, 3);
    latency_of_walk("latency_l2", 4 * mb, false, 3);
    latency_of_walk("latency_dram", 8 * std::max(l2, 4 * mb), false, 1);
}

static void rates()
{
    rate_of<FMA>("rate_fma", 1024, 4000);
    rate_of<FMA64>("rate_fma_f64", 1024, 500);
    rate_of<HALF2>("rate_fma_half2", 1024, 4000);
    rate_of<PERMUTE>("rate_byte_permute", 1024, 4000);
    for (int warps = 4; warps <= 32; warps *= 2) {
        char name[40];
        snprintf(name, sizeof name, "rate_fma_chain_%d_warps", warps);
        rate_of<FMA, 1>(name, 32 * warps, 4000);
    }
    row("clock_fma", "GHz", rate_of<FMA>("rate_fma_long", 1024, 400000).ghz);
    if (attribute(cudaDevAttrComputeCapabilityMajor) < 8)
        return;
    const int rounds = 200000, warps = 16;
    rate_mma<<<sms, 32 * warps>>>(rounds, cycles, sink);
    const pace p = read_pace();
    const double each = p.cycles / (8.0 * rounds * warps);
    row("mma", "cycles of an SM", each);
    row("clock_mma", "GHz", p.ghz);
    row("mma_tflops", "TFLOP/s", 2.0 * 16 * 8 * 16 / each * p.ghz * sms * 1e-3);
}

static void loads()
{
    for (int stride = 1; stride <= 32; stride *= 2) {
        char name[40];
        snprintf(name, sizeof name, "shared_load_32_bits_stride_%d", stride);
        load<true, 4>(name, 4 * stride);
    }
    load<true, 4>("shared_load_32_bits_stride_33", 4 * 33);
    load<true, 8>("shared_load_64_bits", 8);
    row("shared_bandwidth", "bytes a cycle and SM", 512 / load<true, 16>("shared_load_128_bits", 16));
    unsigned *in = nullptr;
    CHECK(cudaMalloc(&in, 2 * ROOM));
    CHECK(cudaMemset(in, 0, 2 * ROOM));
    load<false, 4>("l1_load_32_bits", 4, in);
    row("l1_bandwidth", "bytes a cycle and SM", 512 / load<false, 16>("l1_load_128_bits", 16, in));
    CHECK(cudaFree(in));
}

int main()
{
    describe();
    CHECK(cudaMalloc(&cycles, 2 * sizeof(u64) * sms));
    CHECK(cudaMalloc(&sink, 4096 * sms));
    latencies();
    loads();
    rates();
    bandwidths();
    waves();
    CHECK(cudaDeviceSynchronize());
    return 0;
}
