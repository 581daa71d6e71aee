// From block to block, and what a launch takes beyond its blocks.
#include "hopper.h"

#include <algorithm>

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
static void measure_gap(int threads)
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

// From the end of a kernel's last block to the begin of the first one of the next kernel in the stream.
static double next_kernel(int threads)
{
    std::vector<double> us(31);
    for (double &x : us) {
        run_long<<<sms, threads>>>(400000, out);
        run_long<<<sms, threads>>>(100000, out);
        run_long<<<sms, threads>>>(100000, out + 2 * sms);
        const std::vector<u64> r = results();
        u64 first = ~0ull, last = 0;
        for (int i = 0; i < sms; i++)
            first = std::min(first, r[2 * (sms + i)]), last = std::max(last, r[2 * i + 1]);
        x = (double(first) - double(last)) / 1000;
    }
    std::sort(us.begin(), us.end());
    return us[us.size() / 2];
}

// All are queued behind a kernel of 200 us, so that the GPU waits for no one.
void measure_launches()
{
    row("launch_beyond_256_threads", "us", beyond_kernel(256, 0));
    row("launch_beyond_384_threads_200_kb", "us", beyond_kernel(384, SHARED));
    row("launch_next_256_threads", "us", next_kernel(256));
}

void measure_blocks()
{
    for (int threads : { 128, 256, 384 })
        measure_gap(threads);
}
