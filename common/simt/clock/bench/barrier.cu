// Barriers between stretches of work, with one block an SM and with two; and in which order a scheduler takes warps.
#include "measure.h"

#include <algorithm>
#include <vector>

constexpr int THREADS = 256, ROOM = 100 << 10;  // bytes of shared memory: no more than two blocks fit

// FMAS multiply-adds of a warp, eight chains, then a barrier.
template <int FMAS> __global__ void __launch_bounds__(THREADS) rounds_of(int rounds, u64 *cycles, unsigned *sink)
{
    chains all;
    const u64 begin = run_twice(rounds, [&] {
#pragma unroll
        for (int j = 0; j < FMAS; j++)
            all.add(j);
        __syncthreads();
    });
    if (threadIdx.x == 0)
        cycles[blockIdx.x] = clock64() - begin;
    all.keep(sink);
}

template <int FMAS> static void measure_rounds()
{
    const int rounds = 200;
    CHECK(cudaFuncSetAttribute(rounds_of<FMAS>, cudaFuncAttributeMaxDynamicSharedMemorySize, ROOM));
    for (int blocks : { 1, 2 }) {
        std::vector<u64> c(sms * blocks);
        rounds_of<FMAS><<<sms * blocks, THREADS, ROOM>>>(rounds, cycles, sink);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(c.data(), cycles, c.size() * sizeof c[0], cudaMemcpyDeviceToHost));
        double sum = 0;
        for (u64 each : c)
            sum += double(each) / double(c.size());
        row("barrier_after_" + std::to_string(FMAS) + "_fma_" + std::to_string(blocks) + "_blocks", "cycles a round",
            sum / rounds);
    }
}

constexpr int STRETCHES = 16, FMAS_OF_STRETCH = 64;

// When each warp of a sub-core has issued that many more instructions.
__global__ void __launch_bounds__(1024) take_turns(u64 *stamps, unsigned *sink)
{
    chains all;
    u64 at[STRETCHES + 1];
    for (int pass = 0; pass < 2; pass++) {
        __syncthreads();
        at[0] = clock64();
#pragma unroll
        for (int s = 0; s < STRETCHES; s++) {
#pragma unroll
            for (int j = 0; j < FMAS_OF_STRETCH; j++)
                all.add(j);
            at[s + 1] = clock64();
        }
    }
    all.keep(sink);
    if (threadIdx.x % 32 == 0)
        for (int s = 0; s <= STRETCHES; s++)
            stamps[threadIdx.x / 32 * (STRETCHES + 1) + s] = at[s];
}

static void measure_turns(int warps)
{
    take_turns<<<1, warps * 32>>>(cycles, sink);
    std::vector<u64> c(warps * (STRETCHES + 1));
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(c.data(), cycles, c.size() * sizeof c[0], cudaMemcpyDeviceToHost));
    u64 first = ~0ull;
    for (int w = 0; w < warps; w += 4)
        first = std::min(first, c[w * (STRETCHES + 1)]);
    for (int w = 0; w < warps; w += 4)
        for (int s = 0; s <= STRETCHES; s += 2)
            row("turns_" + std::to_string(warps) + "_warps_" + std::to_string(w) + "_after_" +
                    std::to_string(s * FMAS_OF_STRETCH),
                "cycles", double(c[w * (STRETCHES + 1) + s] - first));
}

void measure_barriers()
{
    measure_rounds<8>();
    measure_rounds<32>();
    measure_rounds<64>();
    measure_rounds<128>();
    measure_rounds<512>();
    measure_turns(8);
    measure_turns(16);
}
