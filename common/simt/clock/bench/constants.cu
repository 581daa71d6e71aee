// Constants by index: the latency, and how many of them an SM loads in a cycle.
#include "measure.h"

constexpr int WORDS = 8192, ROUNDS = 512;
__constant__ unsigned table[WORDS];

// Each lane begins `apart` words behind the lane before it. CHAIN: where the next constant is, the last one says.
template <bool CHAIN>
__global__ void __launch_bounds__(1024) load_constants(int apart, int step, int rounds, u64 *cycles, unsigned *sink)
{
    unsigned at = threadIdx.x % 32 * apart, sum = 0;
    u64 begin = 0;
    for (int pass = 0; pass < 2; pass++) {
        __syncthreads();
        begin = clock64();
#pragma unroll 8
        for (int i = 0; i < rounds; i++) {
            if (CHAIN) {
                at += table[at % WORDS];
            } else {
                sum += table[at % WORDS];
                at += step;
            }
        }
    }
    __syncthreads();
    if (threadIdx.x == 0)
        cycles[blockIdx.x] = clock64() - begin;
    sink[threadIdx.x] = sum + at;
}

void measure_constants()
{
    for (int apart : { 0, 1 })
        for (int warps : { 1, 4, 12, 32 }) {
            const std::string name = "apart_" + std::to_string(apart) + "_" + std::to_string(warps) + "_warps";
            load_constants<true><<<1, 32 * warps>>>(apart, 0, ROUNDS, cycles, sink);
            row("ldc_chain_" + name, "cycles", taken() / ROUNDS);
            load_constants<false><<<1, 32 * warps>>>(apart, 1, ROUNDS, cycles, sink);
            row("ldc_rate_" + name, "cycles of an SM for one", taken() / ROUNDS / warps);
        }
}
