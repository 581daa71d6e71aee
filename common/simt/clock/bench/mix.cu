// Multiply-adds with loads of shared memory between them: what comes back is written to the same registers' banks.
#include "measure.h"

constexpr int FMAS = 128;

// FMAS multiply-adds in 16 chains, and a load of WORDS words before each EVERY of them; 0: no loads. What is loaded is
// an operand of those that come two loads later.
template <int WORDS, int EVERY>
__global__ void __launch_bounds__(512) mix_loads(int rounds, u64 *cycles, unsigned *sink)
{
    constexpr int APART = EVERY ? EVERY : FMAS, SETS = 4;
    __shared__ __align__(16) float4 words[2048];
    for (int i = threadIdx.x; i < 2048; i += blockDim.x)
        words[i] = make_float4(1, 2, 3, 4);
    unsigned at = unsigned(__cvta_generic_to_shared(words)) + threadIdx.x % 32 * WORDS * 4;
    float x[16], y[SETS][WORDS], a = threadIdx.x;
    for (int i = 0; i < 16; i++)
        x[i] = i;
    for (auto &z : y)
        for (float &each : z)
            each = a;
    const u64 begin = run_twice(rounds, [&] {
#pragma unroll
        for (int j = 0; j < FMAS; j++) {
            float(&z)[WORDS] = y[j / APART % SETS];
            const float(&before)[WORDS] = y[(j / APART + SETS - 2) % SETS];
            if (EVERY && j % APART == 0) {
                if constexpr (WORDS == 1)
                    asm volatile("ld.shared.f32 %0, [%1];" : "=f"(z[0]) : "r"(at + j / APART * 512));
                else
                    asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                                 : "=f"(z[0]), "=f"(z[1]), "=f"(z[2]), "=f"(z[3])
                                 : "r"(at + j / APART * 512));
            }
            asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(x[j % 16]) : "f"(a), "f"(before[j % WORDS]));
        }
        at ^= 16384;
    });
    if (threadIdx.x == 0)
        cycles[blockIdx.x] = clock64() - begin;
    float sum = 0;
    for (float each : x)
        sum += each;
    for (auto &z : y)
        for (float each : z)
            sum += each;
    sink[threadIdx.x] = unsigned(sum);
}

template <int WORDS, int EVERY> static void measure_mix_of()
{
    const int rounds = 200;
    for (int warps : { 4, 8, 16 }) {
        mix_loads<WORDS, EVERY><<<1, warps * 32>>>(rounds, cycles, sink);
        row("mix_lds_" + std::to_string(WORDS * 32) + "_every_" + std::to_string(EVERY) + "_" + std::to_string(warps) +
                "_warps",
            "cycles for 128 multiply-adds of a warp", taken() / (double(rounds) * (warps / 4)));
    }
}

void measure_mix()
{
    measure_mix_of<1, 0>();
    measure_mix_of<1, 8>();
    measure_mix_of<1, 16>();
    measure_mix_of<4, 16>();
    measure_mix_of<4, 32>();
    measure_mix_of<4, 64>();
}
