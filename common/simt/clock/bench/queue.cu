// Accesses to shared memory side by side: how many a sub-core takes before its warps have to wait.
#include "measure.h"

#include <vector>

template <int WORDS> __device__ __forceinline__ void load(unsigned (&x)[4], unsigned at)
{
    if constexpr (WORDS == 1)
        asm volatile("ld.shared.u32 %0, [%1];" : "=r"(x[0]) : "r"(at));
    if constexpr (WORDS == 4)
        asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                     : "r"(at));
}

// N loads in a row by every warp; lanes are `apart` bytes from each other.
template <int WORDS, int N> __global__ void __launch_bounds__(1024) fill_queue(int apart, u64 *cycles, unsigned *sink)
{
    __shared__ __align__(16) unsigned words[12000];
    for (int i = threadIdx.x; i < 12000; i += blockDim.x)
        words[i] = 0;
    const unsigned at = unsigned(__cvta_generic_to_shared(words)) + threadIdx.x % 32 * apart;
    unsigned x[N][4] = {}, sum = 0;
    u64 begin = 0, issued = 0, done = 0;
    for (int pass = 0; pass < 2; pass++) {
        __syncthreads();
        begin = clock64();
#pragma unroll
        for (int i = 0; i < N; i++)
            load<WORDS>(x[i], at + i * 16);
        issued = clock64() - begin;
#pragma unroll
        for (int i = 0; i < N; i++)
            for (unsigned each : x[i])
                sum += each;
        asm volatile("" ::"r"(sum) : "memory");
        done = clock64() - begin;
    }
    if (threadIdx.x % 32 == 0) {
        cycles[threadIdx.x / 32 * 2] = issued;
        cycles[threadIdx.x / 32 * 2 + 1] = done;
    }
    sink[threadIdx.x] = sum;
}

template <int WORDS, int N> static void measure_fill(int apart, const char *how)
{
    for (int warps : { 1, 4, 8, 16 }) {
        fill_queue<WORDS, N><<<1, warps * 32>>>(apart, cycles, sink);
        std::vector<u64> c(warps * 2);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(c.data(), cycles, c.size() * sizeof c[0], cudaMemcpyDeviceToHost));
        double issued = 0, done = 0;
        for (int i = 0; i < warps; i++)
            issued += double(c[2 * i]) / warps, done += double(c[2 * i + 1]) / warps;
        const std::string name = std::string(how) + "_" + std::to_string(N) + "_" + std::to_string(warps) + "_warps";
        row("queue_issued_" + name, "cycles", issued);
        row("queue_done_" + name, "cycles", done);
    }
}

template <int N> static void measure_number()
{
    measure_fill<1, N>(4, "lds_32");
    measure_fill<4, N>(16, "lds_128");
    measure_fill<1, N>(128, "lds_32_all_one_bank");
}

void measure_queue()
{
    measure_number<1>();
    measure_number<2>();
    measure_number<3>();
    measure_number<4>();
    measure_number<6>();
    measure_number<8>();
    measure_number<10>();
    measure_number<12>();
    measure_number<16>();
    measure_number<20>();
}
