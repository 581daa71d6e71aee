// How fast blocks start and end, and spilled registers: local memory of more bytes than L1 holds.
#include "timing.h"

// --- blocks ---

__global__ void empty() {}

// Each thread loads a word and stores it, as the smallest useful kernels do.
__global__ void one_word(const unsigned *from, unsigned *to)
{
    const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    to[at] = from[at] + 1;
}

__global__ void wait_for(int spin)
{
    for (const long long begin = clock64(); clock64() - begin < spin;)
        continue;
}

// When the warps of the first blocks of an SM begin: out[block][warp], clock64, and out[block][32], the SM.
__global__ void begins(u64 *out)
{
    const u64 t = clock64();
    unsigned sm;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    if (threadIdx.x % 32 == 0)
        out[blockIdx.x * 33 + threadIdx.x / 32] = t;
    if (threadIdx.x == 0)
        out[blockIdx.x * 33 + 32] = sm;
    for (; clock64() - t < 20000;)
        continue;
}

static void first_blocks(int threads)
{
    const int each = 2048 / threads > 32 ? 32 : 2048 / threads, blocks = each * sms;
    u64 *out = reinterpret_cast<u64 *>(field);
    std::vector<u64> t(blocks * 33);
    for (int i = 0; i < 2; i++)
        begins<<<blocks, threads>>>(out);
    CHECK(cudaMemcpy(t.data(), out, t.size() * sizeof(u64), cudaMemcpyDeviceToHost));
    std::vector<std::vector<u64>> starts(256);
    double inside = 0;
    for (int b = 0; b < blocks; b++) {
        const auto w = t.begin() + b * 33;
        starts[w[32] % 256].push_back(*std::min_element(w, w + threads / 32));
        inside += double(*std::max_element(w, w + threads / 32) - starts[w[32] % 256].back()) / blocks;
    }
    double apart = 0, n = 0;
    for (auto &s : starts) {
        std::sort(s.begin(), s.end());
        for (size_t i = 1; i < s.size(); i++, n++)
            apart += double(s[i] - s[i - 1]);
    }
    row("start_apart_" + std::to_string(threads) + "_threads", "cycles from block to block of an SM at first",
        n ? apart / n : 0);
    row("start_warps_" + std::to_string(threads) + "_threads", "cycles from the first warp of a block to its last",
        inside);
}

static void blocks()
{
    for (int threads : { 32, 64, 128, 256, 512, 1024 }) {
        const std::string t = "_" + std::to_string(threads) + "_threads";
        for (int n : { 132, 1056, 16384, 65536, 262144 })
            row("blocks_empty_" + std::to_string(n) + t, "us", time_us([&] { empty<<<n, threads>>>(); }, READ));
        for (int n : { 16384, 65536 })
            for (int spin : { 300, 1000, 3000 })
                row("blocks_" + std::to_string(spin) + "_cycles_" + std::to_string(n) + t, "us",
                    time_us([&] { wait_for<<<n, threads>>>(spin); }, READ));
        for (int n : { 1024, 16384, 65536 })
            row("blocks_one_word_" + std::to_string(n) + t, "us",
                time_us([&] { one_word<<<n, threads>>>((unsigned *)field, (unsigned *)(field + (64 << 20))); }, READ));
        for (int kb : { 16, 64, 200 })
            if (threads == 128) {
                CHECK(cudaFuncSetAttribute(wait_for, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 << 10));
                row("blocks_shared_" + std::to_string(kb) + "_kb_16384" + t, "us",
                    time_us([&] { wait_for<<<16384, threads, kb << 10>>>(300); }, READ));
            }
        first_blocks(threads);
    }
}

// --- local memory ---

// A thread stores N words of local memory, and loads them again, round by round.
template <int N> __global__ void __launch_bounds__(1024, 2) local(int rounds, unsigned *sink)
{
    volatile unsigned here[N];
    unsigned sum = 0;
#pragma unroll 1
    for (int i = 0; i < rounds; i++) {
#pragma unroll
        for (int j = 0; j < N; j++)
            here[j] = i + j;
#pragma unroll
        for (int j = 0; j < N; j++)
            sum += here[j];
    }
    if (sum == 1)
        *sink = sum;
}

template <int N> static void spilled()
{
    const int few = 20, many = 100;
    for (int blocks : { 1, sms })
        for (int warps : { 8, 32, 64 }) {
            const int each = warps > 32 ? 2 : 1, threads = 32 * warps / each;
            double us[2];
            for (int i = 0; i < 2; i++)
                us[i] = time_us([&] { local<N><<<each * blocks, threads>>>(i ? many : few, sink); }, READ, 3);
            row("local_" + std::to_string(N) + "_words_" + std::to_string(warps) + "_warps_" + std::to_string(blocks) +
                    "_sms",
                "cycles of an SM for a store and a load at 1.98 GHz",
                (us[1] - us[0]) * 1980 / (many - few) / warps / N);
        }
}

void measure_starts()
{
    blocks();
    spilled<8>();
    spilled<16>();
    spilled<24>();
    spilled<32>();
    spilled<64>();
    spilled<128>();
}
