// Tensor cores: latency and rate of mma.sync, and the frequency that the card keeps up under it.
#include "measure.h"

#include <algorithm>
#include <unistd.h>
#include <vector>

template <int KIND>
__device__ __forceinline__ void mma(unsigned (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2])
{
    if constexpr (KIND == 0)
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9},"
                     "{%0,%1,%2,%3};"
                     : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    if constexpr (KIND == 1)
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
                     : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
                     : "r"(a[0]), "r"(a[1]), "r"(b[0]));
    if constexpr (KIND == 2)
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};"
                     : "+r"(c[0]), "+r"(c[1])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    if constexpr (KIND == 3)
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9},"
                     "{%0,%1,%2,%3};"
                     : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    if constexpr (KIND == 4)
        asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9},"
                     "{%0,%1,%2,%3};"
                     : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    if constexpr (KIND == 5)
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9},"
                     "{%0,%1,%2,%3};"
                     : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

static const char *const mma_names[] = { "f16_k16_f32", "f16_k8_f32", "f16_k16_f16", "tf32_k8", "s8_k32", "bf16_k16" };

// Random halves of both signs near 1, which cost power; the sums stay finite.
__device__ __forceinline__ unsigned random_halves(unsigned i)
{
    unsigned h = (threadIdx.x + blockIdx.x * 977u + i * 7919u) * 0x9e3779b1u;
    h ^= h >> 15;
    h *= 0x85ebca6bu;
    return (h & 0x83ff83ffu) | 0x3800u << 16 | 0x3800u;
}

template <int KIND, int CHAINS> __global__ void run_mma(int rounds, u64 *cycles, unsigned *sink)
{
    unsigned a[4], b[2], c[CHAINS][4] = {};
    for (int i = 0; i < 4; i++)
        a[i] = random_halves(i);
    for (int i = 0; i < 2; i++)
        b[i] = random_halves(i + 4);
    const u64 begin = run_twice(rounds, [&] {
#pragma unroll
        for (int j = 0; j < 32; j++)
            mma<KIND>(c[j % CHAINS], a, b);
    });
    if (threadIdx.x == 0)
        cycles[blockIdx.x] = clock64() - begin;
    unsigned sum = 0;
    for (auto &four : c)
        sum += four[0] ^ four[1] ^ four[2] ^ four[3];
    sink[threadIdx.x] = sum;
}

template <int KIND> static void measure_mma()
{
    const int rounds = 64;
    const std::string name = mma_names[KIND];
    run_mma<KIND, 1><<<1, 32>>>(rounds, cycles, sink);
    row("latency_mma_" + name, "cycles", taken() / (32 * rounds));
    run_mma<KIND, 2><<<1, 32>>>(rounds, cycles, sink);
    row("rate_mma_" + name + "_1_warps_2_chains", "cycles", taken() / (32 * rounds));
    for (int warps : { 1, 4, 8, 16 }) {
        run_mma<KIND, 8><<<1, warps * 32>>>(rounds, cycles, sink);
        row("rate_mma_" + name + "_" + std::to_string(warps) + "_warps", "cycles",
            taken() / (32 * rounds * std::max(1, warps / 4)));
    }
}

void measure_tensor_cores()
{
    measure_mma<0>();
    measure_mma<1>();
    measure_mma<2>();
    measure_mma<3>();
    measure_mma<4>();
    measure_mma<5>();
}

// --- the clock under load ---

__global__ void burn(int rounds, int fill, u64 *out, unsigned *sink)
{
    unsigned a[4], b[2], c[8][4] = {};
    for (int i = 0; i < 4; i++)
        a[i] = random_halves(i);
    for (int i = 0; i < 2; i++)
        b[i] = random_halves(i + 4);
    float x = threadIdx.x;
    u64 ns, ns2;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    const u64 begin = clock64();
#pragma unroll 1
    for (int i = 0; i < rounds; i++) {
#pragma unroll
        for (int j = 0; j < 8; j++)
            mma<0>(c[j], a, b);
#pragma unroll 1
        for (int j = 0; j < fill; j++)
            asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(x));
    }
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns2));
    if (threadIdx.x == 0) {
        out[2 * blockIdx.x] = clock64() - begin;
        out[2 * blockIdx.x + 1] = ns2 - ns;
    }
    unsigned sum = unsigned(x);
    for (auto &four : c)
        sum += four[0] ^ four[1] ^ four[2] ^ four[3];
    sink[threadIdx.x] = sum;
}

void measure_clock_rate()
{
    std::vector<u64> c(2 * sms);
    for (int fill : { 0, 4, 16, 64 }) {
        for (int rounds : { 400, 2000, 10000, 50000, 400000 }) {
            if (fill > 4 && rounds != 50000)
                continue;
            usleep(100000);
            burn<<<sms, 512>>>(rounds, fill, cycles, sink);
            CHECK(cudaMemcpy(c.data(), cycles, c.size() * 8, cudaMemcpyDeviceToHost));
            double sum = 0, ns = 0;
            for (int i = 0; i < sms; i++) {
                sum += double(c[2 * i]);
                ns += double(c[2 * i + 1]);
            }
            const std::string name = std::to_string(rounds) + "_fill_" + std::to_string(fill);
            row("burn_us_" + name, "us", ns / sms / 1000);
            row("burn_mma_" + name, "cycles of an SM", sum / sms / (16.0 * 8 * rounds));
            row("burn_clock_" + name, "GHz", sum / ns);
        }
    }
}
