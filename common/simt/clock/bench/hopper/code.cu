// Code that runs for the first time: instructions that neither the SM nor L2 has yet.
#include "hopper.h"

#include <algorithm>

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

enum before { L2_EMPTIED, OTHER_CODE };  // what has happened since the code ran

template <int LINES> static void measure_lines(half *matrix, int blocks, int threads, before what)
{
    std::vector<double> cold, warm;
    for (int run = 0; run < 9; run++) {
        if (what == L2_EMPTIED)
            empty_l2(matrix);
        else
            run_code<2048><<<sms, 32>>>(out);
        run_code<LINES><<<blocks, threads>>>(out);
        const std::vector<u64> r = results();
        double first = 0, second = 0;
        for (int i = 0; i < blocks; i++)
            first += double(r[2 * i]) / blocks, second += double(r[2 * i + 1]) / blocks;
        cold.push_back(first);
        warm.push_back(second);
    }
    std::sort(cold.begin(), cold.end());
    std::sort(warm.begin(), warm.end());
    const std::string name =
        std::to_string(LINES) + "_lines_" + std::to_string(threads) + "_threads_" + std::to_string(blocks) + "_blocks";
    row((what == L2_EMPTIED ? "code_cold_" : "code_in_l2_") + name, "cycles a line of 8 instructions", cold[4] / LINES);
    row("code_warm_" + name, "cycles a line of 8 instructions", warm[4] / LINES);
}

void measure_code(half *matrix)
{
    for (before what : { L2_EMPTIED, OTHER_CODE })
        for (int blocks : { 1, sms }) {
            measure_lines<8>(matrix, blocks, 32, what);
            measure_lines<32>(matrix, blocks, 32, what);
            measure_lines<128>(matrix, blocks, 32, what);
            measure_lines<256>(matrix, blocks, 32, what);
            measure_lines<512>(matrix, blocks, 32, what);
            measure_lines<128>(matrix, blocks, 256, what);
            measure_lines<512>(matrix, blocks, 256, what);
        }
}
