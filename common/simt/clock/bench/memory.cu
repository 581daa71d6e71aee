// Shared memory and L1: a queue of accesses, latency, rate.
#include "measure.h"

enum mem { LDS32, LDS64, LDS128, STS32, STS64, STS128, LDSM1, LDSM2, LDSM4, LDG32, LDG64, LDG128, LDGC32, STG32, MEMS };
static const char *const mem_names[] = { "lds_32", "lds_64", "lds_128", "sts_32", "sts_64",  "sts_128",  "ldsm_1",
                                         "ldsm_2", "ldsm_4", "ldg_32",  "ldg_64", "ldg_128", "ldg_same", "stg_32" };

// One access at byte `at` of shared or global memory; x receives one word of what is loaded.
template <int WHICH> __device__ __forceinline__ void access(unsigned &x, unsigned at, u64 far)
{
    unsigned y, z, w;
    if constexpr (WHICH == LDS32)
        asm volatile("ld.shared.u32 %0, [%1];" : "=r"(x) : "r"(at));
    if constexpr (WHICH == LDS64)
        asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(x), "=r"(y) : "r"(at));
    if constexpr (WHICH == LDS128)
        asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(x), "=r"(y), "=r"(z), "=r"(w) : "r"(at));
    if constexpr (WHICH == STS32)
        asm volatile("st.shared.u32 [%1], %0;" ::"r"(x), "r"(at));
    if constexpr (WHICH == STS64)
        asm volatile("st.shared.v2.u32 [%1], {%0, %0};" ::"r"(x), "r"(at));
    if constexpr (WHICH == STS128)
        asm volatile("st.shared.v4.u32 [%1], {%0, %0, %0, %0};" ::"r"(x), "r"(at));
    if constexpr (WHICH == LDSM1)
        asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(x) : "r"(at));
    if constexpr (WHICH == LDSM2)
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(x), "=r"(y) : "r"(at));
    if constexpr (WHICH == LDSM4)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(x), "=r"(y), "=r"(z), "=r"(w)
                     : "r"(at));
    if constexpr (WHICH == LDG32 || WHICH == LDGC32)
        asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(x) : "l"(far));
    if constexpr (WHICH == LDG64)
        asm volatile("ld.global.ca.v2.u32 {%0, %1}, [%2];" : "=r"(x), "=r"(y) : "l"(far));
    if constexpr (WHICH == LDG128)
        asm volatile("ld.global.ca.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(x), "=r"(y), "=r"(z), "=r"(w) : "l"(far));
    if constexpr (WHICH == STG32)
        asm volatile("st.global.u32 [%1], %0;" ::"r"(x), "l"(far));
}

__device__ __forceinline__ int bytes_of(int which)
{
    return which == LDGC32                                                                               ? 0
           : which == LDS64 || which == STS64 || which == LDG64                                          ? 8
           : which == LDS128 || which == STS128 || which == LDG128 || (which >= LDSM1 && which <= LDSM4) ? 16
                                                                                                         : 4;
}

// N accesses at once, from an idle pipe: cycles until the warp has issued them, and until it has what the last loaded.
template <int WHICH, int N> __global__ void burst(int step, unsigned *memory, u64 *cycles, unsigned *sink)
{
    __shared__ __align__(16) unsigned words[8192];
    for (int i = threadIdx.x; i < 8192; i += blockDim.x)
        words[i] = 0;
    unsigned at = unsigned(__cvta_generic_to_shared(words)) + threadIdx.x * bytes_of(WHICH);
    u64 far = u64(memory) + threadIdx.x * bytes_of(WHICH);
    unsigned x[N] = {}, sum = 0;
    u64 issued = 0, done = 0, begin = 0;
    for (int pass = 0; pass < 3; pass++) {
        __syncthreads();
        begin = clock64();
#pragma unroll
        for (int i = 0; i < N; i++)
            access<WHICH>(x[i], at + i * 512, far + i * 512);
        issued = clock64() - begin;
        for (unsigned each : x)
            sum += each;
        asm volatile("" ::"r"(sum) : "memory");
        if (sum == 77)  // never; but the sum must be known here
            issued = 0;
        done = clock64() - begin;
        at += step;
    }
    if (threadIdx.x % 32 == 0) {
        cycles[threadIdx.x / 32 * 2] = issued;
        cycles[threadIdx.x / 32 * 2 + 1] = done;
    }
    sink[threadIdx.x] = sum;
}

template <int WHICH, int N> static void measure_burst(unsigned *memory)
{
    burst<WHICH, N><<<1, 32>>>(128, memory, cycles, sink);
    u64 c[2];
    CHECK(cudaMemcpy(c, cycles, sizeof c, cudaMemcpyDeviceToHost));
    const std::string name = std::string(mem_names[WHICH]) + "_" + std::to_string(N);
    row("burst_issue_" + name, "cycles", double(c[0]));
    row("burst_done_" + name, "cycles", double(c[1]));
}

template <int WHICH>
__global__ void __launch_bounds__(1024) stream(int rounds, int step, unsigned *memory, u64 *cycles, unsigned *sink)
{
    __shared__ __align__(16) unsigned words[12000];
    for (int i = threadIdx.x; i < 12000; i += blockDim.x)
        words[i] = 0;
    unsigned sum = 0;
    u64 begin = 0;
    for (int pass = 0; pass < 2; pass++) {
        unsigned at = unsigned(__cvta_generic_to_shared(words)) + threadIdx.x % 32 * bytes_of(WHICH);
        u64 far = u64(memory) + threadIdx.x % 32 * bytes_of(WHICH);
        __syncthreads();
        begin = clock64();
#pragma unroll 1
        for (int i = 0; i < rounds; i++) {
            unsigned x[16] = {};
#pragma unroll
            for (int j = 0; j < 16; j++)
                access<WHICH>(x[j], at + j * 512, far + j * 512);
            for (unsigned each : x)
                sum ^= each;
            at += step;  // another address each time: what was loaded once is not loaded again
            far += step;
        }
        __syncthreads();
    }
    if (threadIdx.x == 0)
        *cycles = clock64() - begin;
    sink[threadIdx.x] = sum;
}

template <int WHICH> static void measure_access(unsigned *memory)
{
    measure_burst<WHICH, 1>(memory);
    measure_burst<WHICH, 2>(memory);
    measure_burst<WHICH, 4>(memory);
    measure_burst<WHICH, 6>(memory);
    measure_burst<WHICH, 8>(memory);
    measure_burst<WHICH, 12>(memory);
    measure_burst<WHICH, 16>(memory);
    measure_burst<WHICH, 24>(memory);
    measure_burst<WHICH, 32>(memory);
    const int rounds = 64;
    for (int warps : { 1, 2, 4, 8, 32 }) {
        stream<WHICH><<<1, warps * 32>>>(rounds, 128, memory, cycles, sink);
        row("sm_" + std::string(mem_names[WHICH]) + "_" + std::to_string(warps) + "_warps", "cycles of an SM",
            taken() / (16.0 * rounds * warps));
    }
}

void measure_memory()
{
    unsigned *memory = nullptr;
    CHECK(cudaMalloc(&memory, 1 << 20));
    CHECK(cudaMemset(memory, 0, 1 << 20));
    measure_access<LDS32>(memory);
    measure_access<LDS64>(memory);
    measure_access<LDS128>(memory);
    measure_access<STS32>(memory);
    measure_access<STS64>(memory);
    measure_access<STS128>(memory);
    measure_access<LDSM1>(memory);
    measure_access<LDSM2>(memory);
    measure_access<LDSM4>(memory);
    measure_access<LDG32>(memory);
    measure_access<LDG64>(memory);
    measure_access<LDG128>(memory);
    measure_access<LDGC32>(memory);
    measure_access<STG32>(memory);
    CHECK(cudaFree(memory));
}
