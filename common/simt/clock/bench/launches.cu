// Blocks and launches: the gap from a block to the next, and from a launch to the next.
#include "measure.h"

#include <algorithm>
#include <unistd.h>
#include <vector>

__global__ void stamps(u64 *out, int spin)
{
    u64 t = clock64(), ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    unsigned sm;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    for (const u64 until = t + spin; u64(clock64()) < until;)
        continue;
    if (threadIdx.x == 0) {
        out[blockIdx.x * 4] = t;
        out[blockIdx.x * 4 + 1] = clock64();
        out[blockIdx.x * 4 + 2] = sm;
        out[blockIdx.x * 4 + 3] = ns;
    }
}

// From the end of a block to the start of the next one on the same SM, with one block an SM; and how far apart the
// blocks of one SM start, with eight.
static void blocks()
{
    u64 *out = nullptr;
    const int n = sms * 8;
    CHECK(cudaMalloc(&out, n * 32));
    std::vector<u64> c(n * 4);
    for (int threads : { 128, 256, 1024 }) {
        CHECK(cudaFuncSetAttribute(stamps, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 << 10));
        for (int pass = 0; pass < 2; pass++)
            stamps<<<n, threads, 200 << 10>>>(out, 20000);
        CHECK(cudaMemcpy(c.data(), out, n * 32, cudaMemcpyDeviceToHost));
        std::vector<std::vector<std::pair<u64, u64>>> by_sm(sms + 1024);
        for (int i = 0; i < n; i++)
            by_sm[c[i * 4 + 2]].push_back({ c[i * 4], c[i * 4 + 1] });
        double gap = 0;
        int gaps = 0;
        for (auto &list : by_sm) {
            std::sort(list.begin(), list.end());
            for (size_t i = 1; i < list.size(); i++, gaps++)
                gap += double(list[i].first) - double(list[i - 1].second);
        }
        row("block_gap_" + std::to_string(threads) + "_threads", "cycles", gap / gaps);
    }
    for (int pass = 0; pass < 2; pass++)
        stamps<<<n, 256>>>(out, 50000);
    CHECK(cudaMemcpy(c.data(), out, n * 32, cudaMemcpyDeviceToHost));
    std::vector<u64> first(2048, ~0ull), last(2048, 0);
    for (int i = 0; i < n; i++) {
        u64 &f = first[c[i * 4 + 2]], &l = last[c[i * 4 + 2]];
        f = std::min(f, c[i * 4]);
        l = std::max(l, c[i * 4]);
    }
    double apart = 0;
    for (int i = 0; i < 2048; i++)
        apart += last[i] ? double(last[i] - first[i]) / sms : 0;
    row("block_start_8_blocks_of_256", "cycles from the first to the last of an SM", apart);
    CHECK(cudaFree(out));
}

// Milliseconds between two events around one launch, the median of 21, as the ladder times.
template <class LAUNCH> static double timed(const LAUNCH &launch)
{
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    std::vector<float> all;
    for (int i = 0; i < 21; i++) {
        usleep(2000);
        CHECK(cudaEventRecord(begin));
        launch();
        CHECK(cudaEventRecord(end));
        CHECK(cudaEventSynchronize(end));
        float ms = 0;
        CHECK(cudaEventElapsedTime(&ms, begin, end));
        all.push_back(ms);
    }
    std::sort(all.begin(), all.end());
    return all[10];
}

__global__ void nothing() {}

static void launches()
{
    row("launch_nothing_1_block", "us", 1e3 * timed([] { nothing<<<1, 32>>>(); }));
    row("launch_nothing_132_blocks", "us", 1e3 * timed([] { nothing<<<132, 256>>>(); }));
    row("launch_nothing_16384_blocks", "us", 1e3 * timed([] { nothing<<<16384, 1024>>>(); }));
    row("launch_nothing_1024_blocks", "us", 1e3 * timed([] { nothing<<<1024, 256>>>(); }));
    row("launch_spin_100000", "us", 1e3 * timed(spin));
    row("cycles_spin_100000", "cycles", 2 * taken());
}

void measure_launches()
{
    blocks();
    launches();
}
