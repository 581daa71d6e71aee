// The clock's constants of what only Hopper has, read off the GPU at hand, as CSV: products of a warpgroup, barriers in
// shared memory, copies of the tensor memory accelerator. It needs a Hopper GPU and less than a minute. Close what else
// uses the GPU.
//
//   cd common/simt/clock/bench/hopper
//   nvcc -O3 -std=c++17 -gencode arch=compute_90a,code=sm_90a -I ../../../.. -o hopper hopper.cu && ./hopper > mine.csv
//
// Cycles are those of an SM's own clock (clock64), unless a row says otherwise.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <unistd.h>
#include <vector>

#include "hopper.cuh"

typedef unsigned long long u64;

static void check(int status, const char *what)
{
    if (!status)
        return;
    fprintf(stderr, "hopper: %s: error %d\n", what, status);
    exit(1);
}
#define CHECK(call) check(int(call), #call)

static void row(const std::string &name, const char *unit, double value)
{
    printf("%s,%s,%.5g\n", name.c_str(), unit, value);
    fflush(stdout);
}

enum { WORDS = 4096, SHARED = 200 * 1024, BOX_ROWS = 128, COLS = 4096, ROWS = 65536 };

static int sms;
static u64 *out;  // device memory: WORDS results

static std::vector<u64> results()
{
    std::vector<u64> all(WORDS);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(all.data(), out, sizeof(u64) * WORDS, cudaMemcpyDeviceToHost));
    return all;
}

template <typename KERNEL> static void allow_shared(KERNEL k)
{
    CHECK(cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED));
}

__device__ u64 nanoseconds()
{
    u64 ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

__device__ unsigned mixed(unsigned x)
{
    x ^= x >> 16, x *= 0x85ebca6b, x ^= x >> 13, x *= 0xc2b2ae35;
    return x ^ x >> 16;
}

// Nearly normal: what a matrix of a test holds. Power depends on the data.
__device__ half random_half(unsigned i)
{
    const unsigned h = mixed(i * 2654435761u + 1);
    float v = -2;
    for (int k = 0; k < 4; k++)
        v += float(h >> 8 * k & 255) / 127.5f;
    return __float2half(v * 0.86f);
}

__device__ void fill_shared(half *to, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        to[i] = random_half(i + blockIdx.x * 65536);
    proxy_fence();
    __syncthreads();
}

// --- wgmma ---

// d[64][64] += a[64][16] * b[16][64]
__device__ void wgmma64(float (&d)[32], uint64_t a, uint64_t b)
{
#define D(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {"
                 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
                 "%32, %33, 1, 1, 1, 0, 1;"
                 : D(0), D(4), D(8), D(12), D(16), D(20), D(24), D(28)
                 : "l"(a), "l"(b));
#undef D
}

// PER products, then a commit; at most LEFT groups are left under way. N columns.
template <int N, int PER, int LEFT> __global__ void __launch_bounds__(384, 1) run_wgmma(int rounds, u64 *out)
{
    extern __shared__ __align__(1024) half shared[];
    fill_shared(shared, 40 * 1024);
    const int group = threadIdx.x / 128;
    const uint64_t a = wgmma_descriptor(shared + group * 4096, 16, 1024),
                   b = wgmma_descriptor(shared + 12288, 8192, 1024);
    float d[N / 2] = {};
    u64 begin = 0;
    for (int pass = 0; pass < 2; pass++) {
        __syncthreads();
        begin = clock64();
#pragma unroll 1
        for (int i = 0; i < rounds; i++) {
            wgmma_fence();
#pragma unroll
            for (int j = 0; j < PER; j++)
                if constexpr (N == 256)
                    wgmma(d, a + j % 4 * 2, b + j % 4 * 128, 1);
                else
                    wgmma64(d, a + j % 4 * 2, b + j % 4 * 128);
            wgmma_commit();
            wgmma_wait<LEFT>();
        }
        wgmma_wait<0>();
    }
    __syncthreads();
    if (threadIdx.x == 0)
        out[0] = clock64() - begin;
    float sum = 0;
    for (float x : d)
        sum += x;
    if (sum == 12345)
        out[1] = 1;
}

template <int N, int PER, int LEFT> static void measure_wgmma(const char *name)
{
    const int rounds = 200;
    allow_shared(run_wgmma<N, PER, LEFT>);
    for (int groups = 1; groups <= 3; groups++) {
        run_wgmma<N, PER, LEFT><<<1, groups * 128, SHARED>>>(rounds, out);
        row(std::string("wgmma_") + name + "_" + std::to_string(groups) + "_warpgroups", "cycles a round",
            double(results()[0]) / rounds);
    }
}

// --- mbarrier, fences, named barriers ---

enum { TRY_WAIT, ARRIVE, FENCE, NAMED, GROUP_FENCE };

template <int WHAT> __global__ void run_barrier(int rounds, u64 *out)
{
    __shared__ uint64_t b;
    if (threadIdx.x == 0) {
        mbarrier_init(&b, WHAT == ARRIVE ? 1000000 : 1);
        mbarrier_init_fence();
        if (WHAT == TRY_WAIT)
            mbarrier_arrive(&b);  // phase 0 has ended
    }
    u64 begin = 0;
    for (int pass = 0; pass < 2; pass++) {
        __syncthreads();
        begin = clock64();
#pragma unroll 8
        for (int i = 0; i < rounds; i++) {
            if (WHAT == TRY_WAIT)
                mbarrier_wait(&b, 0);
            if (WHAT == ARRIVE)
                mbarrier_arrive(&b);
            if (WHAT == FENCE)
                proxy_fence();
            if (WHAT == NAMED)
                named_barrier(1, 128);
            if (WHAT == GROUP_FENCE)
                wgmma_fence();
        }
    }
    if (threadIdx.x == 0)
        out[0] = clock64() - begin;
}

template <int WHAT> static void measure_barrier(const char *name, int threads)
{
    run_barrier<WHAT><<<1, threads>>>(800, out);
    row(name, "cycles", double(results()[0]) / 800);
}

// Two warps hand over to each other.
__global__ void run_ping_pong(int rounds, u64 *out)
{
    __shared__ uint64_t b[2];
    const int warp = threadIdx.x / 32;
    if (threadIdx.x == 0) {
        mbarrier_init(&b[0], 1);
        mbarrier_init(&b[1], 1);
        mbarrier_init_fence();
    }
    __syncthreads();
    const u64 begin = clock64();
    if (threadIdx.x % 32 == 0)
#pragma unroll 1
        for (int i = 0; i < rounds; i++) {
            if (warp)
                mbarrier_wait(&b[0], i & 1);
            mbarrier_arrive(&b[warp]);
            if (!warp)
                mbarrier_wait(&b[1], i & 1);
        }
    if (threadIdx.x == 0)
        out[0] = clock64() - begin;
}

// --- TMA ---

// Box t of a matrix of COLS columns, BOX_ROWS x 64 halves each, is number t in reading order.
__device__ void load_box(half *to, const CUtensorMap *map, uint64_t *full, unsigned t, int rows)
{
    mbarrier_expect(full, rows * 128);
    tma_load(to, map, full, t / (COLS / 64) * rows, t % (COLS / 64) * 64);
}

// One box after the other; the second pass finds them in L2.
__global__ void run_tma_latency(const __grid_constant__ CUtensorMap map, int rows, int first, int boxes, u64 *out)
{
    extern __shared__ __align__(1024) half shared[];
    __shared__ uint64_t full;
    mbarrier_init(&full, 1);
    mbarrier_init_fence();
    int parity = 0;
    for (int pass = 0; pass < 2; pass++) {
        const u64 begin = clock64();
        for (int i = 0; i < boxes; i++, parity ^= 1) {
            load_box(shared, &map, &full, first + i * 67, rows);
            mbarrier_wait(&full, parity);
        }
        out[pass] = clock64() - begin;
    }
}

// As many at once as fit: how long a request of a small box keeps the unit busy.
__global__ void run_tma_issue(const __grid_constant__ CUtensorMap map, int rows, int boxes, u64 *out)
{
    extern __shared__ __align__(1024) half shared[];
    __shared__ uint64_t full;
    mbarrier_init(&full, boxes);
    mbarrier_init_fence();
    for (int pass = 0; pass < 2; pass++) {
        const u64 begin = clock64();
        for (int i = 0; i < boxes; i++)
            load_box(shared + i % 4 * rows * 64, &map, &full, i % 32, rows);
        out[2 * pass] = clock64() - begin;
        mbarrier_wait(&full, pass);
        out[2 * pass + 1] = clock64() - begin;
    }
}

enum { STAGES = 8 };

// Each SM streams boxes of 16 KB: 2^group neighbours the same ones, the last + 1 of them again and again.
__global__ void run_tma_stream(const __grid_constant__ CUtensorMap map, unsigned boxes, int group, unsigned last,
                               u64 *out)
{
    extern __shared__ __align__(1024) half shared[];
    __shared__ uint64_t full[STAGES];
    for (int s = 0; s < STAGES; s++)
        mbarrier_init(&full[s], 1);
    mbarrier_init_fence();
    auto load = [&](unsigned i) {
        const unsigned t = (blockIdx.x >> group) * (last + 1) + (i & last);
        load_box(shared + i % STAGES * BOX_ROWS * 64, &map, &full[i % STAGES], t, BOX_ROWS);
    };
    u64 begin = 0, ns = 0;
    for (unsigned i = 0; i < STAGES; i++)
        load(i);
    for (unsigned i = 0; i < boxes; i++) {
        if (i == boxes / 4)
            begin = clock64(), ns = nanoseconds();
        mbarrier_wait(&full[i % STAGES], i / STAGES & 1);
        if (i + STAGES < boxes)
            load(i + STAGES);
    }
    out[2 * blockIdx.x] = clock64() - begin;
    out[2 * blockIdx.x + 1] = nanoseconds() - ns;
}

// What a multiply of 128 x 256 tiles loads, without the multiply: the SM's box of A is shared by a row of SMs, its
// four of B, of 64 x 64, by a column.
__global__ void run_tma_gemm(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, int tiles,
                             u64 *out)
{
    extern __shared__ __align__(1024) half shared[];
    __shared__ uint64_t full[4];
    for (int s = 0; s < 4; s++)
        mbarrier_init(&full[s], 1);
    mbarrier_init_fence();
    auto load = [&](int i) {
        half *to = shared + i % 4 * 24576;
        mbarrier_expect(&full[i % 4], 49152);
        tma_load(to, &a, &full[i % 4], blockIdx.x % 8 * 128, i % 64 * 64);
        for (int j = 0; j < 4; j++)
            tma_load(to + 8192 + j * 4096, &b, &full[i % 4], 8192 + i % 64 * 64, blockIdx.x / 8 % 16 * 256 + j * 64);
    };
    u64 begin = 0, ns = 0;
    for (int i = 0; i < 4; i++)
        load(i);
    for (int i = 0; i < tiles; i++) {
        if (i == tiles / 4)
            begin = clock64(), ns = nanoseconds();
        mbarrier_wait(&full[i % 4], i / 4 & 1);
        if (i + 4 < tiles)
            load(i + 4);
    }
    out[2 * blockIdx.x] = clock64() - begin;
    out[2 * blockIdx.x + 1] = nanoseconds() - ns;
}

__global__ void run_tma_store(const __grid_constant__ CUtensorMap map, int boxes, int at_once, u64 *out)
{
    extern __shared__ __align__(1024) half shared[];
    u64 begin = 0, read = 0, ns = 0;
    for (int pass = 0; pass < 2; pass++) {
        begin = clock64(), ns = nanoseconds();
        for (int i = 0; i < boxes; i++) {
            const int t = (blockIdx.x * boxes + i) % 16384;
            tma_store(&map, shared + i % 8 * 8192, t / 64 * BOX_ROWS, t % 64 * 64);
            bulk_commit();
            if (at_once == 1)
                bulk_wait_read<0>();
            else
                bulk_wait_read<3>();
        }
        bulk_wait_read<0>();
        read = clock64() - begin;
        bulk_wait<0>();
    }
    out[4 * blockIdx.x] = clock64() - begin;
    out[4 * blockIdx.x + 1] = nanoseconds() - ns;
    out[4 * blockIdx.x + 2] = read;
}

static CUtensorMap make_map(half *matrix, u64 rows, unsigned box_rows)
{
    typedef CUresult (*encode)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *,
                               const cuuint64_t *, const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave,
                               CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
    void *f = nullptr;
    cudaDriverEntryPointQueryResult found;
    CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &f, 12000, cudaEnableDefault, &found));
    CUtensorMap map;
    const cuuint64_t size[] = { COLS, rows }, pitch[] = { COLS * 2 };
    const cuuint32_t box[] = { 64, box_rows }, step[] = { 1, 1 };
    CHECK(encode(f)(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, matrix, size, pitch, box, step,
                    CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                    CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
    return map;
}

static void stream_rows(const std::string &name, int blocks, double bytes, int words)
{
    const std::vector<u64> r = results();
    double cycles = 0, ns = 0;
    for (int i = 0; i < blocks; i++) {
        cycles += double(r[words * i]) / blocks;
        ns += double(r[words * i + 1]) / blocks;
    }
    row(name, "bytes a cycle and SM", bytes / cycles);
    row(name + "_gb_s", "GB/s", bytes / ns * blocks);
}

static void empty_l2(half *matrix)
{
    CHECK(cudaMemset(matrix + size_t(ROWS / 2) * COLS, 1, size_t(ROWS / 2) * COLS * 2));
}

static void measure_tma(half *matrix)
{
    for (int rows : { 8, 64, 128, 256 }) {
        const CUtensorMap map = make_map(matrix, ROWS, unsigned(rows));
        const std::string r = std::to_string(rows);
        empty_l2(matrix);
        allow_shared(run_tma_latency);
        run_tma_latency<<<1, 1, SHARED>>>(map, rows, 0, 20, out);
        const std::vector<u64> all = results();
        row("tma_latency_dram_" + r + "_rows", "cycles", double(all[0]) / 20);
        row("tma_latency_l2_" + r + "_rows", "cycles", double(all[1]) / 20);
        allow_shared(run_tma_issue);
        run_tma_issue<<<1, 1, SHARED>>>(map, rows, 32, out);
        row("tma_issue_" + r + "_rows", "cycles a request of 32 to issue", double(results()[2]) / 32);
        row("tma_requests_" + r + "_rows", "cycles a request of 32 to arrive", double(results()[3]) / 32);
    }
    const CUtensorMap a = make_map(matrix, ROWS, BOX_ROWS), b = make_map(matrix, ROWS, 64);
    allow_shared(run_tma_stream);
    for (int blocks : { 1, sms / 4, sms }) {
        const std::string n = std::to_string(blocks) + "_sms";
        run_tma_stream<<<blocks, 1, SHARED>>>(a, 1024, 0, 7, out);
        stream_rows("tma_l2_alone_" + n, blocks, 768.0 * 16384, 2);
        for (int group = 1; group <= 4; group++) {
            run_tma_stream<<<blocks, 1, SHARED>>>(a, 1024, group, 31, out);
            stream_rows("tma_l2_shared_by_" + std::to_string(1 << group) + "_" + n, blocks, 768.0 * 16384, 2);
        }
        empty_l2(matrix);
        run_tma_stream<<<blocks, 1, SHARED>>>(a, 120, 0, 127, out);
        stream_rows("tma_dram_" + n, blocks, 90.0 * 16384, 2);
        allow_shared(run_tma_gemm);
        run_tma_gemm<<<blocks, 1, SHARED>>>(a, b, 512, out);
        stream_rows("tma_gemm_" + n, blocks, 384.0 * 49152, 2);
        allow_shared(run_tma_store);
        run_tma_store<<<blocks, 1, SHARED>>>(a, 64, 4, out);
        stream_rows("tma_store_" + n, blocks, 64.0 * 16384, 4);
    }
    run_tma_store<<<1, 1, SHARED>>>(a, 1, 1, out);
    row("tma_store_read", "cycles", double(results()[2]));
    row("tma_store_done", "cycles", double(results()[0]));
}

// --- blocks and launches ---

__global__ void run_blocks(int cycles, u64 *out)
{
    const u64 begin = clock64();
    unsigned sm;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    while (clock64() - begin < cycles)
        ;
    __syncthreads();
    if (threadIdx.x == 0) {
        out[3 * blockIdx.x] = sm;
        out[3 * blockIdx.x + 1] = begin;
        out[3 * blockIdx.x + 2] = clock64();
    }
}

// From the end of a block to the begin of the next on the same SM, where one fits at a time.
static void measure_blocks(int threads)
{
    allow_shared(run_blocks);
    run_blocks<<<sms * 4, threads, SHARED>>>(20000, out);
    std::vector<u64> r = results();
    double sum = 0, count = 0;
    for (int i = 0; i < sms * 4; i++) {
        u64 next = ~0ull;
        for (int j = 0; j < sms * 4; j++)
            if (r[3 * j] == r[3 * i] && r[3 * j + 1] >= r[3 * i + 2])
                next = std::min(next, r[3 * j + 1]);
        if (next != ~0ull)
            sum += double(next - r[3 * i + 2]), count++;
    }
    row("block_gap_" + std::to_string(threads) + "_threads", "cycles", sum / count);
}

// What events say of a kernel beyond the time from the begin of its first block to the end of its last.
__global__ void run_long(int cycles, u64 *out)
{
    const u64 begin = clock64(), ns = nanoseconds();
    while (clock64() - begin < cycles)
        ;
    out[2 * blockIdx.x] = ns;
    out[2 * blockIdx.x + 1] = nanoseconds();
}

static double beyond_kernel(int threads, int shared)
{
    cudaEvent_t from, to;
    CHECK(cudaEventCreate(&from));
    CHECK(cudaEventCreate(&to));
    CHECK(cudaFuncSetAttribute(run_long, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED));
    std::vector<double> us(31);
    for (double &x : us) {
        float ms;
        run_long<<<sms, threads, shared>>>(400000, out);
        CHECK(cudaEventRecord(from));
        run_long<<<sms, threads, shared>>>(100000, out);
        CHECK(cudaEventRecord(to));
        CHECK(cudaEventSynchronize(to));
        CHECK(cudaEventElapsedTime(&ms, from, to));
        const std::vector<u64> r = results();
        u64 first = ~0ull, last = 0;
        for (int i = 0; i < sms; i++)
            first = std::min(first, r[2 * i]), last = std::max(last, r[2 * i + 1]);
        x = ms * 1000 - double(last - first) / 1000;
    }
    std::sort(us.begin(), us.end());
    return us[us.size() / 2];
}

// All are queued behind a kernel of 200 us, so that the GPU waits for no one.
static void measure_launch()
{
    row("launch_beyond_256_threads", "us", beyond_kernel(256, 0));
    row("launch_beyond_384_threads_200_kb", "us", beyond_kernel(384, SHARED));
}

// --- code that runs for the first time ---

// LINES * 8 instructions in a row. The first pass finds them neither in the SM nor, after its emptying, in L2.
template <int LINES> __global__ void run_code(u64 *out)
{
    float x[8];
    for (int i = 0; i < 8; i++)
        x[i] = float(threadIdx.x + i);
#pragma unroll 1
    for (int pass = 0; pass < 2; pass++) {
        __syncthreads();
        const u64 begin = clock64();
#pragma unroll
        for (int i = 0; i < LINES * 8; i++)
            asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(x[i % 8]));
        if (threadIdx.x == 0)
            out[2 * blockIdx.x + pass] = clock64() - begin;
    }
    float sum = 0;
    for (float each : x)
        sum += each;
    if (sum == 12345)
        out[0] = 1;
}

template <int LINES> static void measure_code(half *matrix, int threads)
{
    std::vector<double> cold, warm;
    for (int run = 0; run < 9; run++) {
        empty_l2(matrix);
        run_code<LINES><<<sms, threads>>>(out);
        const std::vector<u64> r = results();
        double first = 0, second = 0;
        for (int i = 0; i < sms; i++)
            first += double(r[2 * i]) / sms, second += double(r[2 * i + 1]) / sms;
        cold.push_back(first);
        warm.push_back(second);
    }
    std::sort(cold.begin(), cold.end());
    std::sort(warm.begin(), warm.end());
    const std::string name = std::to_string(LINES) + "_lines_" + std::to_string(threads);
    row("code_cold_" + name, "cycles a line of 8 instructions", cold[4] / LINES);
    row("code_warm_" + name, "cycles a line of 8 instructions", warm[4] / LINES);
}

// --- the clock under load ---

// Products by two warpgroups in `busy` of 100 cycles, 16 of each in a round; a third one copies as much as a multiply
// of 128 x 256 tiles would if copy is not 0.
__global__ void __launch_bounds__(384, 1)
    burn(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, int rounds, int busy, int copy,
         u64 *out)
{
    extern __shared__ __align__(1024) half shared[];
    __shared__ uint64_t full[2];
    if (threadIdx.x == 0) {
        mbarrier_init(&full[0], 1);
        mbarrier_init(&full[1], 1);
        mbarrier_init_fence();
    }
    fill_shared(shared, 48 * 1024);
    const u64 begin = clock64(), ns = nanoseconds();
    if (threadIdx.x >= 256) {
        for (int i = 0; threadIdx.x == 256 && i < 4 * rounds; i++) {
            half *to = shared + 49152 + i % 2 * 24576;
            while (clock64() - begin < u64(i) * 102400 / busy)
                ;
            if (!copy)
                continue;
            if (i >= 2)
                mbarrier_wait(&full[i % 2], i / 2 - 1 & 1);
            mbarrier_expect(&full[i % 2], 49152);
            tma_load(to, &a, &full[i % 2], blockIdx.x % 8 * 128, i % 64 * 64);
            for (int j = 0; j < 4; j++)
                tma_load(to + 8192 + j * 4096, &b, &full[i % 2], 8192 + i % 64 * 64,
                         blockIdx.x / 8 % 16 * 256 + j * 64);
        }
        for (int i = 0; threadIdx.x == 256 && copy && i < 2; i++)
            mbarrier_wait(&full[i], 1);
        __syncthreads();
    } else {
        float d[128] = {};
        const uint64_t from = wgmma_descriptor(shared + threadIdx.x / 128 * 4096, 16, 1024),
                       with = wgmma_descriptor(shared + 8192, 8192, 1024);
#pragma unroll 1
        for (int i = 0; i < rounds; i++) {
            while (clock64() - begin < u64(i) * 4 * 102400 / busy)
                ;
            __syncwarp();
            wgmma_fence();
#pragma unroll
            for (int j = 0; j < 16; j++)
                wgmma(d, from + j % 4 * 2, with + j % 4 * 128, 1);
            wgmma_commit();
            wgmma_wait<0>();
        }
        float sum = 0;
        for (float x : d)
            sum += x;
        if (sum == 12345)
            out[0] = 1;
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        out[2 * blockIdx.x] = clock64() - begin;
        out[2 * blockIdx.x + 1] = nanoseconds() - ns;
    }
}

static void measure_clock(half *matrix, int rounds, int busy, int copy)
{
    const CUtensorMap a = make_map(matrix, ROWS, BOX_ROWS), b = make_map(matrix, ROWS, 64);
    std::vector<double> ghz, share;
    allow_shared(burn);
    for (int run = 0; run < 15; run++) {
        empty_l2(matrix);
        burn<<<sms, 384, SHARED>>>(a, b, rounds, busy, copy, out);
        const std::vector<u64> r = results();
        double cycles = 0, ns = 0;
        for (int i = 0; i < sms; i++)
            cycles += double(r[2 * i]), ns += double(r[2 * i + 1]);
        ghz.push_back(cycles / ns);
        share.push_back(100.0 * 4096 * rounds * sms / cycles);
    }
    std::sort(ghz.begin(), ghz.end());
    std::sort(share.begin(), share.end());
    const std::string name = std::to_string(busy) + (copy ? "_copies_" : "_") + std::to_string(rounds);
    row("wgmma_clock_" + name, "GHz", ghz[7]);
    row("wgmma_busy_" + name, "% of a tensor core's cycles at 128 a product", share[7]);
}

__global__ void fill_matrix(half *m, size_t n)
{
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x)
        m[i] = random_half(unsigned(i));
}

int main(int argc, char **)
{
    cudaDeviceProp p;
    half *matrix;
    CHECK(cudaGetDeviceProperties(&p, 0));
    printf("name,unit,value\ndevice,,%s\ncompute_capability,,%d.%d\n", p.name, p.major, p.minor);
    sms = p.multiProcessorCount;
    CHECK(cudaMalloc(&out, sizeof(u64) * WORDS));
    CHECK(cudaMalloc(&matrix, size_t(ROWS) * COLS * 2));
    fill_matrix<<<sms * 8, 256>>>(matrix, size_t(ROWS) * COLS);
    CHECK(cudaDeviceSynchronize());
    measure_launch();
    measure_code<32>(matrix, 32);
    measure_code<128>(matrix, 32);
    measure_code<512>(matrix, 32);
    measure_code<128>(matrix, 256);
    measure_code<512>(matrix, 256);
    if (argc > 1)  // any argument: only that
        return 0;
    measure_wgmma<256, 1, 0>("n256_wait_0");
    measure_wgmma<256, 4, 0>("n256_4_wait_0");
    measure_wgmma<256, 4, 1>("n256_4_wait_1");
    measure_wgmma<256, 16, 0>("n256_16_wait_0");
    measure_wgmma<64, 1, 0>("n64_wait_0");
    measure_wgmma<64, 4, 0>("n64_4_wait_0");
    measure_wgmma<64, 16, 1>("n64_16_wait_1");
    measure_barrier<TRY_WAIT>("mbarrier_try_wait", 1);
    measure_barrier<ARRIVE>("mbarrier_arrive", 1);
    measure_barrier<ARRIVE>("mbarrier_arrive_4_warps", 128);
    measure_barrier<FENCE>("proxy_fence", 128);
    measure_barrier<NAMED>("named_barrier_128", 128);
    measure_barrier<GROUP_FENCE>("wgmma_fence", 128);
    run_ping_pong<<<1, 64>>>(1000, out);
    row("mbarrier_hand_over", "cycles", double(results()[0]) / 2000);
    measure_tma(matrix);
    for (int threads : { 128, 256, 384 })
        measure_blocks(threads);
    fill_matrix<<<sms * 8, 256>>>(matrix, size_t(ROWS) * COLS);  // stores have changed it
    for (int rounds : { 8, 64, 512 })
        for (int busy : { 25, 50, 75, 90, 100 })
            for (int copy : { 0, 1 })
                measure_clock(matrix, rounds, busy, copy);
    CHECK(cudaDeviceSynchronize());
    return 0;
}
