// L2 by bursts: all threads of a block load at once, wait for each other, and then compute for a while, as the tiles of
// a matrix multiply do. Does a burst get the SM's share of L2's bandwidth, or what the other SMs leave?
#include "timing.h"

#include <vector>

constexpr int THREADS = 256, CHAIN = 64;

// PIECES: loads of 16 bytes of a thread, of n such pieces. pause: how often it goes through a chain of multiply-adds.
// APART: blocks begin with chains of different length, so that they are not in step.
template <int PIECES, bool APART>
__global__ void __launch_bounds__(THREADS)
    burst(unsigned n, int rounds, int pause, const uint4 *data, u64 *cycles, unsigned *sink)
{
    unsigned at = blockIdx.x * THREADS + threadIdx.x, sum = 0;
    float x = threadIdx.x;
    const u64 begin = clock64();
#pragma unroll 1
    for (int i = APART ? -1 : 0; i < rounds; i++) {
        const int chains = i < 0 ? blockIdx.x * 7 % 16 : pause;
#pragma unroll
        for (int j = 0; j < PIECES && i >= 0; j++, at += gridDim.x * THREADS) {
            const uint4 v = __ldcg(&data[at & (n - 1)]);
            sum ^= v.x ^ v.y ^ v.z ^ v.w;
        }
        if (sum)  // the data are zeros
            break;
        __syncthreads();
#pragma unroll 1
        for (int k = 0; k < chains; k++) {
#pragma unroll
            for (int j = 0; j < CHAIN; j++)
                x = x * 0.5f + 1;
        }
    }
    if (threadIdx.x == 0)
        cycles[blockIdx.x] = clock64() - begin;
    sink[threadIdx.x] = sum + unsigned(x);
}

// Cycles of a round, the mean of all blocks.
template <int PIECES, bool APART> static double cycles_of_round(int blocks, int pause)
{
    const int few = 50, many = 250;
    const unsigned n = 1 << 20;  // 16 MB
    double mean[2] = { 0, 0 };
    for (int i = 0; i < 2; i++) {
        std::vector<u64> all(blocks);
        for (int pass = 0; pass < 2; pass++)  // the first one fills L2
            burst<PIECES, APART><<<blocks, THREADS>>>(n, i ? many : few, pause, field, cycles, sink);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(all.data(), cycles, blocks * sizeof(u64), cudaMemcpyDeviceToHost));
        for (u64 c : all)
            mean[i] += double(c) / blocks;
    }
    return (mean[1] - mean[0]) / (many - few);
}

template <int PIECES, bool APART> static void bursts(int blocks)
{
    for (int pause : { 0, 1, 2, 4, 8, 16 })
        row("burst_" + std::to_string(PIECES * THREADS * 16 / 1024) + "_kb_pause_" + std::to_string(pause) + "_" +
                std::to_string(blocks) + (APART ? "_blocks_apart" : "_blocks"),
            "cycles", cycles_of_round<PIECES, APART>(blocks, pause));
}

template <int PIECES> static void bursts()
{
    bursts<PIECES, false>(1);
    for (int blocks : { sms, 2 * sms }) {
        bursts<PIECES, false>(blocks);
        bursts<PIECES, true>(blocks);
    }
}

void measure_bursts()
{
    bursts<1>();
    bursts<2>();
    bursts<4>();
}
