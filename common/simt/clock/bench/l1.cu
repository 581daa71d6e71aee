// Global memory through L1: hits beside misses, wide and scattered loads, and stores between loads.
#include "timing.h"

constexpr int LANES = 32, WARPS = 32;

// The first warp loads a word that L1 has, `rounds` times one after the other; the others load new lines from DRAM.
__global__ void __launch_bounds__(LANES *WARPS) hits_beside(int rounds, u64 *cycles, unsigned *sink, const uint4 *far)
{
    unsigned sum = 0, at = 0;
    __syncthreads();
    const u64 begin = clock64();
    if (threadIdx.x < LANES) {
#pragma unroll 1
        for (int i = 0; i < rounds; i++)
            asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(at) : "l"(sink + (at & 31)) : "memory");
        if (threadIdx.x == 0)
            *cycles = clock64() - begin;
    } else {
#pragma unroll 1
        for (int i = 0; i < rounds / 16; i++) {
            uint4 v;
            asm volatile("ld.global.ca.v4.u32 {%0, %1, %2, %3}, [%4];"
                         : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                         : "l"(far + size_t(i) * LANES * WARPS + threadIdx.x)
                         : "memory");
            sum += v.x ^ v.y ^ v.z ^ v.w;
        }
    }
    if (sum + at == 1)
        *sink = 1;
}

template <class TYPE> __device__ __forceinline__ float load(const char *at);
template <> __device__ __forceinline__ float load<float>(const char *at)
{
    float x;
    asm volatile("ld.global.ca.f32 %0, [%1];" : "=f"(x) : "l"(at));
    return x;
}
// All four words are used: ptxas makes a load of one word of one whose other words are not.
template <> __device__ __forceinline__ float load<float4>(const char *at)
{
    float x, y, z, w;
    asm volatile("ld.global.ca.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(x), "=f"(y), "=f"(z), "=f"(w) : "l"(at));
    return x + y + z + w;
}

// All warps load the same lines again and again, lane_step bytes from lane to lane. next is 0, which ptxas does not
// know.
template <class TYPE>
__global__ void __launch_bounds__(LANES *WARPS)
    lines(int lane_step, int next, int rounds, u64 *cycles, unsigned *sink, const char *data)
{
    float sum = 0;
    u64 begin = 0;
    for (int pass = 0; pass < 2; pass++) {
        const char *x = data + threadIdx.x % LANES * lane_step;
        __syncthreads();
        begin = clock64();
#pragma unroll 1
        for (int i = 0; i < rounds; i++) {
            float each[8];
#pragma unroll
            for (int j = 0; j < 8; j++, x += next)
                each[j] = load<TYPE>(x);
#pragma unroll
            for (int j = 0; j < 8; j++)
                sum += each[j];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0)
        *cycles = clock64() - begin;
    if (sum == 1)
        *sink = 1;
}

// In turns: a store, lane_step bytes from lane to lane, and LOADS loads that hit L1, of GLOBAL memory or of shared
// memory.
template <int LOADS, bool GLOBAL>
__global__ void __launch_bounds__(LANES *WARPS)
    stores_and_loads(int lane_step, int rounds, u64 *cycles, unsigned *sink, const float *data, char *room)
{
    __shared__ float words[4096];
    for (int i = threadIdx.x; i < 4096; i += blockDim.x)
        words[i] = 0;
    float sum = 0;
    u64 begin = 0;
    const char *to = room + threadIdx.x / LANES * 8192 + threadIdx.x % LANES * lane_step;
    const unsigned near = unsigned(__cvta_generic_to_shared(words)) + threadIdx.x % LANES * 4;
    for (int pass = 0; pass < 2; pass++) {
        __syncthreads();
        begin = clock64();
#pragma unroll 1
        for (int i = 0; i < rounds; i++) {
            float x[LOADS + 1];
#pragma unroll
            for (int j = 0; j < LOADS; j++)
                if (GLOBAL)
                    asm volatile("ld.global.ca.f32 %0, [%1];"
                                 : "=f"(x[j])
                                 : "l"(data + threadIdx.x % LANES + j * LANES));
                else
                    asm volatile("ld.shared.f32 %0, [%1];" : "=f"(x[j]) : "r"(near + j * LANES * 4));
            asm volatile("st.global.f32 [%0], %1;" ::"l"(to), "f"(sum) : "memory");
#pragma unroll
            for (int j = 0; j < LOADS; j++)
                sum += x[j];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0)
        *cycles = clock64() - begin;
    if (sum == 1)
        *sink = 1;
}

// Neighbours in a row of a matrix are loaded by blocks far apart.
__global__ void __launch_bounds__(256) columns(int rows, int words_of_row, unsigned *sink, const float *data)
{
    const int at = int(blockIdx.x * blockDim.x + threadIdx.x);
    if (data[size_t(at % rows) * words_of_row + at / rows] == 1)
        *sink = 1;
}

template <class TYPE> static void measure_lines(int lane_step)
{
    const int rounds = 64;
    lines<TYPE><<<1, LANES * WARPS>>>(lane_step, 0, rounds, cycles, sink, reinterpret_cast<const char *>(field));
    row("lines_" + std::to_string(sizeof(TYPE)) + "_bytes_stride_" + std::to_string(lane_step) + "_in_l1_32_warps",
        "cycles of an SM for an access", taken() / (8.0 * rounds * WARPS));
}

template <int LOADS, bool GLOBAL> static void measure_mix(int lane_step)
{
    const int rounds = 200;
    stores_and_loads<LOADS, GLOBAL><<<1, LANES * WARPS>>>(lane_step, rounds, cycles, sink,
                                                          reinterpret_cast<const float *>(field),
                                                          reinterpret_cast<char *>(field + 65536));
    row("mix_1_stores_stride_" + std::to_string(lane_step) + "_" + std::to_string(GLOBAL ? LOADS : 0) + "_loads_" +
            std::to_string(GLOBAL ? 0 : LOADS) + "_lds_32_warps",
        "cycles of an SM", taken() / (double(rounds) * WARPS));
}

template <bool GLOBAL> static void measure_mixes()
{
    for (int step : { 4, 32, 128 }) {
        measure_mix<0, GLOBAL>(step);
        measure_mix<8, GLOBAL>(step);
        measure_mix<32, GLOBAL>(step);
        measure_mix<64, GLOBAL>(step);
    }
}

void measure_l1()
{
    for (int warps : { 1, 2, 17, 32 }) {
        const int rounds = 2048;
        fill_l2(READ);
        hits_beside<<<1, LANES * warps>>>(rounds, cycles, sink, field);
        row("hits_beside_" + std::to_string(warps - 1) + "_warps", "cycles", taken() / rounds);
    }
    for (int step : { 0, 4, 8, 16, 32, 64, 4096 })
        measure_lines<float>(step);
    for (int step : { 0, 16, 32, 64, 4096 })
        measure_lines<float4>(step);
    const double us =
        time_us([&] { columns<<<65536, 256>>>(4096, 4096, sink, reinterpret_cast<const float *>(field)); }, READ);
    row("columns_of_4096_rows", "us", us);
    measure_mixes<true>();
    measure_mixes<false>();
}
