// Streams through L2 and DRAM: how fast reads and writes are together, with few bytes under way, and from arrays about
// as large as L2.
#include "timing.h"

uint4 *field;

constexpr int THREADS = 512, BATCH = 8;
enum { READS, WRITES, COPIES, SUMS };  // SUMS: two are read for one that is written
static const char *const names[] = { "read", "write", "copy", "sum" };

// A thread has BATCH accesses of 16 bytes under way. n: pieces of 16 bytes of an array.
template <int WHAT> __global__ void __launch_bounds__(THREADS, 2) stream(uint4 *a, uint4 *b, uint4 *c, unsigned n)
{
    const unsigned step = gridDim.x * THREADS;
    unsigned sum = 0;
    for (unsigned at = blockIdx.x * THREADS + threadIdx.x; at < n; at += BATCH * step) {
        uint4 v[BATCH], w[BATCH];
#pragma unroll
        for (int i = 0; i < BATCH; i++)
            v[i] = w[i] = make_uint4(0, 0, 0, 0);
#pragma unroll
        for (int i = 0; i < BATCH; i++) {
            if (WHAT != WRITES && at + i * step < n)
                v[i] = __ldcg(&a[at + i * step]);
            if (WHAT == SUMS && at + i * step < n)
                w[i] = __ldcg(&b[at + i * step]);
        }
#pragma unroll
        for (int i = 0; i < BATCH; i++) {
            if (WHAT == READS)
                sum ^= v[i].x ^ v[i].y ^ v[i].z ^ v[i].w;
            else if (at + i * step < n)
                c[at + i * step] = make_uint4(v[i].x ^ w[i].x, v[i].y ^ w[i].y, v[i].z ^ w[i].z, v[i].w ^ w[i].w);
        }
    }
    if (sum == 1)
        c[0].x = sum;
}

void fill_l2(before what)
{
    const size_t bytes = size_t(256) << 20;
    uint4 *far = field + (FIELD - bytes) / 16;
    if (what == WRITTEN)
        CHECK(cudaMemset(far, 0, bytes));
    if (what == READ)
        stream<READS><<<2 * sms, THREADS>>>(far, far, far, bytes / 16);
}

template <int WHAT> static void sizes()
{
    for (int mb : { 4, 16, 32, 64, 128, 512 })
        for (before what : { WRITTEN, READ, ITSELF }) {
            const unsigned n = unsigned(mb) << 16;
            const double us = time_us(
                [&] { stream<WHAT><<<2 * sms, THREADS>>>(field, field + (32 << 20), field + (64 << 20), n); }, what);
            static const char *const befores[] = { "after_writes", "after_reads", "again" };
            row("stream_" + std::string(names[WHAT]) + "_" + std::to_string(mb) + "_mb_" + befores[what], "us", us);
        }
}

// Every thread has one access of WORDS words under way: it goes on if the value is 0, as it is.
template <int WORDS> struct words;
template <> struct words<1> {
    typedef unsigned type;
};
template <> struct words<2> {
    typedef uint2 type;
};
template <> struct words<4> {
    typedef uint4 type;
};

__device__ __forceinline__ unsigned any(unsigned v)
{
    return v;
}
__device__ __forceinline__ unsigned any(uint2 v)
{
    return v.x ^ v.y;
}
__device__ __forceinline__ unsigned any(uint4 v)
{
    return v.x ^ v.y ^ v.z ^ v.w;
}

// n: a power of two. STORES: what is loaded is stored elsewhere.
template <int WORDS, bool STORES>
__global__ void __launch_bounds__(1024, 2) one_by_one(const uint4 *from, uint4 *to, unsigned n, int rounds)
{
    typedef typename words<WORDS>::type word;
    const word *in = reinterpret_cast<const word *>(from);
    word *out = reinterpret_cast<word *>(to);
    unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
    for (int i = 0; i < rounds; i++) {
        const word v = __ldcg(&in[at & (n - 1)]);
        if (STORES)
            out[at & (n - 1)] = v;
        if (any(v))
            break;
        at += gridDim.x * blockDim.x;
    }
    if (at == 1)
        to[0].x = at;
}

// From `mb` MB, over and over.
template <int WORDS, bool STORES> static void few_under_way(int mb, int blocks)
{
    for (int warps : { 1, 2, 4, 8, 16, 24, 32, 48, 64 }) {
        const int each = warps > 32 ? 2 : 1, threads = warps * 32 / each;
        const double round = double(blocks) * each * threads * WORDS * 4;
        const int rounds = int((blocks == 1 ? 4e6 : mb > 64 ? 5e8 : 2e8) / round);
        const unsigned n = unsigned((size_t(mb) << 18) / WORDS);
        const double us = time_us(
            [&] { one_by_one<WORDS, STORES><<<each * blocks, threads>>>(field, field + (64 << 20), n, rounds); },
            mb > 64 ? READ : ITSELF, 3);
        row("one_by_one_" + std::string(STORES ? "copy_" : "read_") + std::to_string(mb) + "_mb_" +
                std::to_string(4 * WORDS) + "_bytes_" + std::to_string(blocks) + "_sms_" + std::to_string(warps) +
                "_warps",
            "bytes a cycle and SM at 1.98 GHz", round * rounds / (us - 3) / 1980 / blocks * (STORES ? 2 : 1));
    }
}

// Passes over arrays about as large as L2: all SMs read different parts of it, the same ones in each pass or others.
__global__ void __launch_bounds__(THREADS, 2) pass(const uint4 *data, unsigned n, int passes, unsigned shift, uint4 *to)
{
    unsigned sum = 0;
    for (int p = 0; p < passes; p++) {
        const unsigned block = (blockIdx.x + p * shift) % gridDim.x;
        for (unsigned at = block * THREADS + threadIdx.x; at < n; at += BATCH * gridDim.x * THREADS) {
            uint4 v[BATCH];
#pragma unroll
            for (int i = 0; i < BATCH; i++) {
                const unsigned j = at + i * gridDim.x * THREADS;
                v[i] = __ldcg(&data[j < n ? j : at]);
            }
#pragma unroll
            for (int i = 0; i < BATCH; i++)
                sum ^= v[i].x ^ v[i].y ^ v[i].z ^ v[i].w;
        }
    }
    if (sum == 1)
        to[0].x = sum;
}

static void about_l2()
{
    for (unsigned shift : { 0, 37 })
        for (int mb : { 8, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60, 64, 80, 128 }) {
            const int few = 2, many = 10;
            const unsigned n = unsigned(mb) << 16;
            double us[2];
            for (int i = 0; i < 2; i++)
                us[i] = time_us([&] { pass<<<2 * sms, THREADS>>>(field, n, i ? many : few, shift, field); }, READ, 3);
            row("passes_" + std::to_string(mb) + "_mb" + (shift ? "_by_others" : ""),
                "bytes a cycle and SM at 1.98 GHz", double(n) * 16 * (many - few) / (us[1] - us[0]) / 1980 / sms);
        }
}

// The first warp walks along pointers that L1 holds, while the others load from DRAM: does a hit wait for the misses
// before it? In cycles[1]: the same within a warp, a load that hits right behind one that misses.
template <bool CACHED> __global__ void hits(const uint4 *data, uint4 *room, int links, u64 *cycles)
{
    __shared__ volatile int done;
    u64 *ring = reinterpret_cast<u64 *>(room);
    done = 0;
    for (unsigned i = threadIdx.x; i < 512; i += blockDim.x)
        ring[i] = u64(ring + (i + 67) % 512);
    __syncthreads();
    unsigned sum = 0;
    if (threadIdx.x == 0) {
        u64 p = u64(ring), begin = 0;
        for (int pass = 0; pass < 2; pass++) {
            begin = clock64();
            for (int i = 0; i < links; i++)
                asm volatile("ld.global.ca.u64 %0, [%0];" : "+l"(p)::"memory");
            cycles[0] = clock64() - begin;
        }
        unsigned miss;
        begin = clock64();
        asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(miss) : "l"(data + (size_t(100) << 20)) : "memory");
        asm volatile("ld.global.ca.u64 %0, [%0];" : "+l"(p)::"memory");
        if (p == 1)
            begin = 0;
        cycles[1] = clock64() - begin;
        sum = miss;
        done = 1;
    } else if (threadIdx.x >= 32) {
        for (size_t at = threadIdx.x; !done; at = (at + 1024) % (64 << 20)) {
            uint4 v;
            if (CACHED)
                asm volatile("ld.global.ca.v4.u32 {%0, %1, %2, %3}, [%4];"
                             : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                             : "l"(data + at));
            else
                v = __ldcg(&data[at]);
            sum += any(v);
        }
    }
    if (sum == 1)
        room[1000].x = sum;
}

template <bool CACHED> static void hits_and_misses()
{
    for (int warps : { 1, 2, 5, 17, 32 }) {
        fill_l2(READ);
        hits<CACHED><<<1, 32 * warps>>>(field, field + (127 << 20), 2000, cycles);
        const std::string with = std::to_string(warps - 1) + (CACHED ? "_loads_in_l1" : "_loads_past_l1");
        row("hit_beside_" + with, "cycles", taken() / 2000);
        u64 behind = 0;
        CHECK(cudaMemcpy(&behind, cycles + 1, sizeof behind, cudaMemcpyDeviceToHost));
        row("hit_behind_miss_" + with, "cycles", double(behind));
    }
}

void measure_streams()
{
    hits_and_misses<false>();
    hits_and_misses<true>();
    sizes<READS>();
    sizes<WRITES>();
    sizes<COPIES>();
    sizes<SUMS>();
    few_under_way<1, false>(1024, sms);
    few_under_way<2, false>(1024, sms);
    few_under_way<4, false>(1024, sms);
    few_under_way<1, true>(1024, sms);
    few_under_way<4, true>(1024, sms);
    few_under_way<1, false>(8, sms);
    few_under_way<4, false>(8, sms);
    few_under_way<4, true>(8, sms);
    few_under_way<1, false>(8, 1);
    few_under_way<4, false>(8, 1);
    few_under_way<4, false>(1024, 1);
    few_under_way<4, true>(1024, 1);
    about_l2();
}
