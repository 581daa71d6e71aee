// The kernel whose machine code rewrite.c changes: a loop of multiply-adds in a row, with nothing else but its counter
// and branch. After the rewriting its accumulators hold garbage.
//
//   nvcc -cubin -std=c++17 -arch=sm_90 -o template.cubin template.cu
typedef unsigned long long u64;

constexpr int ACCUMULATORS = 64;
constexpr int IN_A_ROW = 256;
constexpr int DRAIN = 20000;  // cycles, more than what is on its way to registers needs

// Leaves in times[] when each warp began and ended, by the SM's clock.
extern "C" __global__ void __launch_bounds__(512) stream(int rounds, u64 *times, float *sink)
{
    __shared__ float4 words[512];  // patterns load and store there
    const unsigned at = unsigned(__cvta_generic_to_shared(&words[threadIdx.x]));
    asm volatile("st.shared.f32 [%0], %1;" ::"r"(at), "f"(0.0f) : "memory");
    const float a = threadIdx.x;
    float x[ACCUMULATORS];
#pragma unroll
    for (int i = 0; i < ACCUMULATORS; i++)
        x[i] = a + i;
    __syncthreads();
    const u64 begin = clock64();
#pragma unroll 1
    for (int i = 0; i < rounds; i++)
#pragma unroll
        for (int j = 0; j < IN_A_ROW; j++)
            asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(x[j % ACCUMULATORS]) : "f"(a));
    const u64 end = clock64();
    // A load may still write to an accumulator: until all have come, these registers have to stay what they are.
    while (clock64() - end < DRAIN) {
    }
    float sum = 0;
#pragma unroll
    for (int i = 0; i < ACCUMULATORS; i++)
        asm volatile("add.f32 %0, %0, %1;" : "+f"(sum) : "f"(x[i]));
    sink[threadIdx.x] = sum;
    if (threadIdx.x % 32)
        return;
    times[threadIdx.x / 32 * 2] = begin;
    times[threadIdx.x / 32 * 2 + 1] = end;
}
