// L2 and DRAM: latency beside other traffic, and the bandwidth of one SM and of all.
#include "measure.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

// Block 0's first warp walks along pointers; all other warps stream lines with `idle` cycles of pause after each group
// of four loads. Tells the latency that the walk sees and the bytes that the others moved.
__global__ void __launch_bounds__(1024) walk_in_traffic(const u64 *start, const uint4 *data, unsigned mask, int links,
                                                        int idle, u64 *cycles, volatile unsigned *stop, unsigned *sink)
{
    if (blockIdx.x == 0) {
        if (threadIdx.x)
            return;
        u64 p = u64(start);
        for (int i = 0; i < 200; i++)
            asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(p));
        const u64 begin = clock64();
        for (int i = 0; i < links; i++)
            asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(p));
        cycles[0] = clock64() - begin;
        *stop = 1;
        *sink = unsigned(p);
        return;
    }
    unsigned sum = 0, at = (blockIdx.x * blockDim.x + threadIdx.x), n = 0;
    const u64 begin = clock64();
    while (!*stop) {
        uint4 v[4];
        for (uint4 &each : v) {
            each = __ldcg(&data[at & mask]);
            at += gridDim.x * blockDim.x;
        }
        for (const uint4 &each : v)
            sum ^= each.x ^ each.y;
        n += 64;
        if (idle)
            for (const u64 until = clock64() + idle; clock64() < until;)
                continue;
    }
    const u64 took = clock64() - begin;
    if (threadIdx.x == 0)
        cycles[blockIdx.x] = u64(double(n) * blockDim.x / took * 1000);  // thousandths of a byte a cycle
    sink[threadIdx.x] = sum;
}

static u64 *ring(size_t bytes)  // of pointers through lines of 128 bytes in random order
{
    const size_t words = 16, lines = bytes / 128;
    std::vector<u64> host(lines * words);
    std::vector<unsigned> order(lines);
    std::iota(order.begin(), order.end(), 0u);
    std::shuffle(order.begin(), order.end(), std::mt19937(1));
    u64 *device = nullptr;
    CHECK(cudaMalloc(&device, bytes));
    for (size_t i = 0; i < lines; i++)
        host[order[i] * words] = u64(device + order[(i + 1) % lines] * words);
    CHECK(cudaMemcpy(device, host.data(), bytes, cudaMemcpyHostToDevice));
    return device;
}

static void traffic(const char *name, size_t walked, size_t streamed)
{
    u64 *start = ring(walked);
    uint4 *data = nullptr;
    unsigned *stop = nullptr;
    CHECK(cudaMalloc(&data, streamed));
    CHECK(cudaMemset(data, 0, streamed));
    CHECK(cudaMalloc(&stop, 4));
    for (int idle : { 20000, 4000, 2000, 1000, 500, 250, 0 }) {
        CHECK(cudaMemset(stop, 0, 4));
        walk_in_traffic<<<sms, 1024>>>(start, data, unsigned(streamed / 16 - 1), 4000, idle, cycles, stop, sink);
        std::vector<u64> c(sms);
        CHECK(cudaMemcpy(c.data(), cycles, sms * sizeof(u64), cudaMemcpyDeviceToHost));
        double sum = 0;
        for (int i = 1; i < sms; i++)
            sum += double(c[i]) / 1000;
        const std::string which = std::string(name) + "_pause_" + std::to_string(idle);
        row("load_" + which, "bytes a cycle and SM", sum / (sms - 1));
        row("latency_" + which, "cycles", double(c[0]) / 4000);
    }
    CHECK(cudaFree(start));
    CHECK(cudaFree(data));
    CHECK(cudaFree(stop));
}

__global__ void __launch_bounds__(512, 2)
    read_l2(const uint4 *data, unsigned mask, int rounds, u64 *cycles, unsigned *sink)
{
    unsigned sum = 0, at = blockIdx.x * blockDim.x + threadIdx.x;
    const u64 begin = clock64();
    for (int i = 0; i < rounds; i++) {
        uint4 v[8];
        for (uint4 &each : v) {
            each = __ldcg(&data[at & mask]);
            at += gridDim.x * blockDim.x;
        }
        for (const uint4 &each : v)
            sum ^= each.x ^ each.y ^ each.z ^ each.w;
    }
    __syncthreads();
    if (threadIdx.x == 0)
        cycles[blockIdx.x] = clock64() - begin;
    sink[threadIdx.x] = sum;
}

static void l2_bandwidth()
{
    uint4 *data = nullptr;
    const unsigned bytes = 8 << 20;
    CHECK(cudaMalloc(&data, bytes));
    CHECK(cudaMemset(data, 0, bytes));
    for (int blocks : { 1, 2 * 16, 2 * sms }) {
        for (int pass = 0; pass < 2; pass++)
            read_l2<<<blocks, 512>>>(data, bytes / 16 - 1, 400, cycles, sink);
        row("l2_read_" + std::to_string(blocks) + "_blocks", "bytes a cycle and block", 400.0 * 8 * 16 * 512 / taken());
    }
    CHECK(cudaFree(data));
}

void measure_l2()
{
    l2_bandwidth();
    traffic("l2", 4 << 20, 8 << 20);
    traffic("dram", size_t(512) << 20, size_t(1) << 30);
}
