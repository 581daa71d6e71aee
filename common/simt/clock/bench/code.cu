// Code: a loop whose body is longer than the instruction caches.
#include "measure.h"

#include <algorithm>

// The most multiply-adds in a body. Code of this length takes nvcc long: a test that runs some of the kernels leaves out the
// longest.
#ifndef LONGEST
#define LONGEST 16384
#endif

template <int N> __global__ void __launch_bounds__(1024) code(int rounds, u64 *cycles, unsigned *sink)
{
    chains all;
    u64 begin = 0;
    for (int pass = 0; pass < 2; pass++) {  // not run_twice: another barrier would move the code that is measured
        __syncthreads();
        begin = clock64();
#pragma unroll 1
        for (int i = 0; i < rounds; i++) {
#pragma unroll
            for (int j = 0; j < N; j++)
                all.add(j);
        }
        __syncthreads();
    }
    if (threadIdx.x == 0)
        cycles[blockIdx.x] = clock64() - begin;
    all.keep(sink);
}

template <int N> static void measure_length()
{
    if constexpr (N <= LONGEST) {
        const int rounds = std::max(4, 65536 / N);
        for (int warps : { 1, 4, 8, 16, 32 }) {
            code<N><<<1, warps * 32>>>(rounds, cycles, sink);
            row("code_" + std::to_string(N) + "_fma_" + std::to_string(warps) + "_warps", "cycles a round and warp",
                taken() / (double(rounds) * std::max(1, warps / 4)));
        }
    }
}

void measure_code()
{
    measure_length<32>();
    measure_length<64>();
    measure_length<128>();
    measure_length<256>();
    measure_length<512>();
    measure_length<1024>();
    measure_length<1536>();
    measure_length<1792>();
    measure_length<2048>();
    measure_length<2304>();
    measure_length<2560>();
    measure_length<3072>();
    measure_length<4096>();
    measure_length<6144>();
    measure_length<8192>();
    measure_length<16384>();
}

void spin()
{
    code<128><<<sms, 128>>>(390, cycles, sink);
}
