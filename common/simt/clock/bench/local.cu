// Local memory: latency, rate, and what happens once the arrays of a block's threads are larger than L1.
#include "measure.h"

#include <algorithm>
#include <vector>

constexpr int MOST = 256;  // words of a thread

enum mode { LOAD, STORE, BOTH };
static const char *const mode_names[] = { "load", "store", "both" };

__device__ __forceinline__ void touch(uint4 &x, const uint4 *a)
{
    x.x ^= a->x, x.y ^= a->y, x.z ^= a->z, x.w ^= a->w;
}
__device__ __forceinline__ void touch(unsigned &x, const unsigned *a)
{
    x ^= *a;
}
__device__ __forceinline__ void change(uint4 &x)
{
    x.x++, x.w++;
}
__device__ __forceinline__ void change(unsigned &x)
{
    x++;
}
__device__ __forceinline__ unsigned all_of(uint4 x)
{
    return x.x ^ x.y ^ x.z ^ x.w;
}
__device__ __forceinline__ unsigned all_of(unsigned x)
{
    return x;
}

// Every thread goes through the first n elements of an array of its own, again and again: loads, stores, or stores and
// then loads all of them, as code with spilled registers does.
template <class T, int MODE>
__global__ void __launch_bounds__(1024) stream_local(int rounds, int n, int zero, u64 *cycles, unsigned *sink)
{
    T a[MOST * 4 / sizeof(T)], x = {};
    for (int i = 0; i < n; i++) {
        change(x);
        a[i * (zero + 1)] = x;
    }
    const u64 begin = run_twice(rounds, [&] {
        if (MODE != LOAD)
#pragma unroll 1
            for (int i = 0; i < n; i += 8)
#pragma unroll
                for (int j = 0; j < 8; j++) {
                    change(x);
                    a[i + j + zero] = x;
                }
        if (MODE != STORE)
#pragma unroll 1
            for (int i = 0; i < n; i += 8)
#pragma unroll
                for (int j = 0; j < 8; j++)
                    touch(x, &a[i + j + zero]);
    });
    if (threadIdx.x == 0)
        cycles[blockIdx.x] = clock64() - begin;
    for (int i = 0; i < n; i++)
        touch(x, &a[i]);
    sink[threadIdx.x] = all_of(x);
}

// Each load's place is what the one before has loaded.
__global__ void chain_local(int rounds, int n, u64 *cycles, unsigned *sink)
{
    int a[MOST], at = 0;
    for (int i = 0; i < n; i++)
        a[i] = (i + 1) % n;
    const u64 begin = run_twice(rounds, [&] {
#pragma unroll
        for (int j = 0; j < 64; j++)
            at = a[at];
    });
    if (threadIdx.x == 0)
        *cycles = clock64() - begin;
    sink[threadIdx.x] = at;
}

static double mean_of_blocks(int blocks)
{
    std::vector<u64> c(blocks);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(c.data(), cycles, blocks * sizeof c[0], cudaMemcpyDeviceToHost));
    double sum = 0;
    for (u64 each : c)
        sum += double(each) / blocks;
    return sum;
}

template <class T, int MODE> static void measure_stream(int warps, int words, int blocks)
{
    const int rounds = std::max(4, 1024 / words), n = words * 4 / int(sizeof(T));
    stream_local<T, MODE><<<blocks, warps * 32>>>(rounds, n, 0, cycles, sink);
    const double accesses = double(rounds) * n * warps * (MODE == BOTH ? 2 : 1);
    row(std::string("local_") + mode_names[MODE] + "_" + std::to_string(sizeof(T) * 8) + "_" +
            std::to_string(warps * words * 128 / 1024) + "_kb_" + std::to_string(warps) + "_warps_" +
            std::to_string(blocks) + "_sms",
        "cycles of an SM", mean_of_blocks(blocks) / accesses);
}

void measure_local()
{
    chain_local<<<1, 32>>>(16, 64, cycles, sink);
    row("latency_local", "cycles", taken() / (16 * 64));
    for (int blocks : { 1, sms }) {
        for (int words : { 8, 32, 48, 56, 64, 72, 96, 128, 256 }) {
            measure_stream<unsigned, LOAD>(24, words, blocks);
            measure_stream<unsigned, STORE>(24, words, blocks);
            measure_stream<unsigned, BOTH>(24, words, blocks);
        }
        for (int warps : { 4, 16 })
            for (int words : { 32, 128 })
                measure_stream<unsigned, BOTH>(warps, words, blocks);
        for (int words : { 32, 128 }) {
            measure_stream<uint4, LOAD>(24, words, blocks);
            measure_stream<uint4, STORE>(24, words, blocks);
            measure_stream<uint4, BOTH>(24, words, blocks);
        }
    }
}
