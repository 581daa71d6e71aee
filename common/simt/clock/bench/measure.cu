// The constants of the simulated GPU's clock, read off the GPU at hand, as CSV. It needs a GPU and less than a minute.
// Close what else uses the GPU.
//
//   nvcc -O3 -std=c++17 -arch=native -o measure measure.cu && ./measure > mine.csv
//
// Cycles are those of an SM's own clock (clock64). "latency": a chain in which each instruction needs the result of the
// one before. "rate": cycles that a sub-core (a quarter of an SM) takes for one warp instruction, by the number of
// warps on the SM. What steps/00_machine/measure.cu reads is not read again here.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <string>
#include <unistd.h>
#include <vector>

typedef unsigned long long u64;

static void check(cudaError_t status, const char *what)
{
    if (status == cudaSuccess)
        return;
    fprintf(stderr, "measure: %s: %s\n", what, cudaGetErrorString(status));
    exit(1);
}
#define CHECK(call) check(call, #call)

static void row(const std::string &name, const char *unit, double value)
{
    printf("%s,%s,%.5g\n", name.c_str(), unit, value);
    fflush(stdout);
}

static int sms;
static u64 *cycles;     // device memory: two words for each block
static unsigned *sink;  // device memory: where kernels store what must not be optimised away

// --- one instruction: latency and rate ---

// OP(name, one instruction on the 32-bit value x with the operands a and b)
#define OPS                                                                                                            \
    OP(fadd, "add.rn.f32 %0, %0, %1;")                                                                                 \
    OP(fmul, "mul.rn.f32 %0, %0, %1;")                                                                                 \
    OP(ffma, "fma.rn.f32 %0, %0, %1, %2;")                                                                             \
    OP(iadd, "add.u32 %0, %0, %1;")                                                                                    \
    OP(imad, "mad.lo.u32 %0, %0, %1, %2;")                                                                             \
    OP(lop3, "lop3.b32 %0, %0, %1, %2, 0x6a;")                                                                         \
    OP(shf, "shf.l.wrap.b32 %0, %0, %1, %2;")                                                                          \
    OP(prmt, "prmt.b32 %0, %0, %1, %2;")                                                                               \
    OP(imnmx, "max.s32 %0, %0, %1;")                                                                                   \
    OP(fmnmx, "max.f32 %0, %0, %1;")                                                                                   \
    OP(hadd2, "add.rn.f16x2 %0, %0, %1;")                                                                              \
    OP(hfma2, "fma.rn.f16x2 %0, %0, %1, %2;")                                                                          \
    OP(mufu_ex2, "ex2.approx.ftz.f32 %0, %0;")                                                                         \
    OP(mufu_rcp, "rcp.approx.ftz.f32 %0, %0;")                                                                         \
    OP(i2f, "cvt.rn.f32.s32 %0, %0;")                                                                                  \
    OP(f2i, "cvt.rzi.s32.f32 %0, %0;")                                                                                 \
    OP(f2fp, "cvt.rn.f16x2.f32 %0, %0, %1;")                                                                           \
    OP(popc, "popc.b32 %0, %0;")                                                                                       \
    OP(flo, "bfind.u32 %0, %0;")                                                                                       \
    OP(shfl, "shfl.sync.bfly.b32 %0, %0, 1, 31, -1;")                                                                  \
    OP(redux, "redux.sync.add.u32 %0, %0, -1;")                                                                        \
    OP(setp_selp, "{.reg .pred p; setp.lt.u32 p, %0, %1; selp.u32 %0, %1, %2, p;}")                                    \
    OP(vote, "{.reg .pred p; setp.lt.u32 p, %0, %1; vote.sync.ballot.b32 %0, p, -1;}")

enum op {
#define OP(name, text) OP_##name,
    OPS
#undef OP
};

template <int WHICH> __device__ __forceinline__ void one(unsigned &x, unsigned a, unsigned b)
{
#define OP(name, text)                                                                                                 \
    if constexpr (WHICH == OP_##name)                                                                                  \
        asm volatile(text : "+r"(x) : "r"(a), "r"(b));
    OPS
#undef OP
}

constexpr int BODY = 128;

template <int WHICH, int CHAINS>
__global__ void __launch_bounds__(1024) run_op(int rounds, unsigned a, unsigned b, u64 *cycles, unsigned *sink)
{
    unsigned x[CHAINS];
    for (int i = 0; i < CHAINS; i++)
        x[i] = threadIdx.x + i;
    u64 begin = 0;
    for (int pass = 0; pass < 2; pass++) {  // the first one fills the instruction cache
        __syncthreads();
        begin = clock64();
#pragma unroll 1
        for (int i = 0; i < rounds; i++) {
#pragma unroll
            for (int j = 0; j < BODY; j++)
                one<WHICH>(x[j % CHAINS], a, b);
        }
    }
    __syncthreads();
    if (threadIdx.x == 0)
        cycles[blockIdx.x] = clock64() - begin;
    unsigned sum = 0;
    for (unsigned each : x)
        sum += each;
    sink[threadIdx.x] = sum;
}

static double taken()
{
    u64 c = 0;
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&c, cycles, sizeof c, cudaMemcpyDeviceToHost));
    return double(c);
}

template <int WHICH> static void measure_op(const char *name)
{
    const int rounds = 32;
    run_op<WHICH, 1><<<1, 32>>>(rounds, 3, 5, cycles, sink);
    row(std::string("latency_") + name, "cycles", taken() / (rounds * BODY));
    for (int warps : { 1, 4, 8, 32 }) {
        run_op<WHICH, 8><<<1, warps * 32>>>(rounds, 3, 5, cycles, sink);
        row("rate_" + std::string(name) + "_" + std::to_string(warps) + "_warps", "cycles",
            taken() / (rounds * BODY * std::max(1, warps / 4)));
    }
}

// Two instructions in turn: whether they share a pipe.
template <int FIRST, int SECOND>
__global__ void __launch_bounds__(1024) run_pair(int rounds, unsigned a, unsigned b, u64 *cycles, unsigned *sink)
{
    unsigned x[8], y[8];
    for (int i = 0; i < 8; i++)
        x[i] = y[i] = threadIdx.x + i;
    u64 begin = 0;
    for (int pass = 0; pass < 2; pass++) {
        __syncthreads();
        begin = clock64();
#pragma unroll 1
        for (int i = 0; i < rounds; i++) {
#pragma unroll
            for (int j = 0; j < BODY / 2; j++) {
                one<FIRST>(x[j % 8], a, b);
                one<SECOND>(y[j % 8], a, b);
            }
        }
    }
    __syncthreads();
    if (threadIdx.x == 0)
        *cycles = clock64() - begin;
    unsigned sum = 0;
    for (int i = 0; i < 8; i++)
        sum += x[i] + y[i];
    sink[threadIdx.x] = sum;
}

template <int FIRST, int SECOND> static void measure_pair(const char *name)
{
    const int rounds = 32;
    run_pair<FIRST, SECOND><<<1, 1024>>>(rounds, 3, 5, cycles, sink);
    row(std::string("pair_") + name, "cycles for both", taken() / (rounds * BODY / 2 * 8));
}

// --- tensor cores ---

template <int KIND> __device__ __forceinline__ void mma(unsigned (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2])
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
    u64 begin = 0;
    for (int pass = 0; pass < 2; pass++) {
        __syncthreads();
        begin = clock64();
#pragma unroll 1
        for (int i = 0; i < rounds; i++) {
#pragma unroll
            for (int j = 0; j < 32; j++)
                mma<KIND>(c[j % CHAINS], a, b);
        }
    }
    __syncthreads();
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

// --- shared memory: queue, latency, rate ---

enum mem { LDS32, LDS64, LDS128, STS32, STS64, STS128, LDSM1, LDSM2, LDSM4, LDG32, LDG64, LDG128, LDGC32, STG32, MEMS };
static const char *const mem_names[] = { "lds_32",  "lds_64",  "lds_128", "sts_32",  "sts_64",  "sts_128", "ldsm_1",
                                         "ldsm_2",  "ldsm_4",  "ldg_32",  "ldg_64",  "ldg_128", "ldg_same", "stg_32" };

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
    return which == LDGC32 ? 0
         : which == LDS64 || which == STS64 || which == LDG64 ? 8
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

template <int WHICH> static void measure_memory(unsigned *memory)
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

// --- L2: latency beside other traffic, bandwidth of one SM and of all ---

// Block 0's first warp walks along pointers; all other warps stream lines with `idle` cycles of pause after each group
// of four loads. Tells the latency that the walk sees and the bytes that the others moved.
__global__ void __launch_bounds__(1024) walk_in_traffic(const u64 *start, const uint4 *data, unsigned mask, int links, int idle, u64 *cycles,
                                volatile unsigned *stop, unsigned *sink)
{
    if (blockIdx.x == 0) {
        if (threadIdx.x)
            return;
        u64 p = u64(start);
        for (int i = 0; i < 200; i++)
            asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(p));
        const u64 begin = clock64();
        for (int i = 0; i < links; i++)
            asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(p));
        cycles[0] = clock64() - begin;
        *stop = 1;
        *sink = unsigned(p);
        return;
    }
    unsigned sum = 0, at = (blockIdx.x * blockDim.x + threadIdx.x), n = 0;
    const u64 begin = clock64();
    while (!*stop) {
        uint4 v[4];
        for (uint4 &each : v) {
            each = __ldcg(&data[at & mask]);
            at += gridDim.x * blockDim.x;
        }
        for (const uint4 &each : v)
            sum ^= each.x ^ each.y;
        n += 64;
        if (idle)
            for (const u64 until = clock64() + idle; clock64() < until;)
                continue;
    }
    const u64 took = clock64() - begin;
    if (threadIdx.x == 0)
        cycles[blockIdx.x] = u64(double(n) * blockDim.x / took * 1000);  // thousandths of a byte a cycle
    sink[threadIdx.x] = sum;
}

static u64 *ring(size_t bytes)  // of pointers through lines of 128 bytes in random order
{
    const size_t words = 16, lines = bytes / 128;
    std::vector<u64> host(lines * words);
    std::vector<unsigned> order(lines);
    std::iota(order.begin(), order.end(), 0u);
    std::shuffle(order.begin(), order.end(), std::mt19937(1));
    u64 *device = nullptr;
    CHECK(cudaMalloc(&device, bytes));
    for (size_t i = 0; i < lines; i++)
        host[order[i] * words] = u64(device + order[(i + 1) % lines] * words);
    CHECK(cudaMemcpy(device, host.data(), bytes, cudaMemcpyHostToDevice));
    return device;
}

static void traffic(const char *name, size_t walked, size_t streamed)
{
    u64 *start = ring(walked);
    uint4 *data = nullptr;
    unsigned *stop = nullptr;
    CHECK(cudaMalloc(&data, streamed));
    CHECK(cudaMemset(data, 0, streamed));
    CHECK(cudaMalloc(&stop, 4));
    for (int idle : { 20000, 4000, 2000, 1000, 500, 250, 0 }) {
        CHECK(cudaMemset(stop, 0, 4));
        walk_in_traffic<<<sms, 1024>>>(start, data, unsigned(streamed / 16 - 1), 4000, idle, cycles, stop, sink);
        std::vector<u64> c(sms);
        CHECK(cudaMemcpy(c.data(), cycles, sms * sizeof(u64), cudaMemcpyDeviceToHost));
        double sum = 0;
        for (int i = 1; i < sms; i++)
            sum += double(c[i]) / 1000;
        const std::string which = std::string(name) + "_pause_" + std::to_string(idle);
        row("load_" + which, "bytes a cycle and SM", sum / (sms - 1));
        row("latency_" + which, "cycles", double(c[0]) / 4000);
    }
    CHECK(cudaFree(start));
    CHECK(cudaFree(data));
    CHECK(cudaFree(stop));
}

__global__ void __launch_bounds__(512, 2) read_l2(const uint4 *data, unsigned mask, int rounds, u64 *cycles, unsigned *sink)
{
    unsigned sum = 0, at = blockIdx.x * blockDim.x + threadIdx.x;
    const u64 begin = clock64();
    for (int i = 0; i < rounds; i++) {
        uint4 v[8];
        for (uint4 &each : v) {
            each = __ldcg(&data[at & mask]);
            at += gridDim.x * blockDim.x;
        }
        for (const uint4 &each : v)
            sum ^= each.x ^ each.y ^ each.z ^ each.w;
    }
    __syncthreads();
    if (threadIdx.x == 0)
        cycles[blockIdx.x] = clock64() - begin;
    sink[threadIdx.x] = sum;
}

static void l2_bandwidth()
{
    uint4 *data = nullptr;
    const unsigned bytes = 8 << 20;
    CHECK(cudaMalloc(&data, bytes));
    CHECK(cudaMemset(data, 0, bytes));
    for (int blocks : { 1, 2 * 16, 2 * sms }) {
        for (int pass = 0; pass < 2; pass++)
            read_l2<<<blocks, 512>>>(data, bytes / 16 - 1, 400, cycles, sink);
        row("l2_read_" + std::to_string(blocks) + "_blocks", "bytes a cycle and block", 400.0 * 8 * 16 * 512 / taken());
    }
    CHECK(cudaFree(data));
}

// --- code: branches, and straight lines longer than the instruction caches ---

template <int N>
__global__ void __launch_bounds__(1024) code(int rounds, u64 *cycles, unsigned *sink)
{
    float x[8], a = threadIdx.x;
    for (int i = 0; i < 8; i++)
        x[i] = i;
    u64 begin = 0;
    for (int pass = 0; pass < 2; pass++) {
        __syncthreads();
        begin = clock64();
#pragma unroll 1
        for (int i = 0; i < rounds; i++) {
#pragma unroll
            for (int j = 0; j < N; j++)
                asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(x[j % 8]) : "f"(a));
        }
        __syncthreads();
    }
    if (threadIdx.x == 0)
        cycles[blockIdx.x] = clock64() - begin;
    float sum = 0;
    for (float each : x)
        sum += each;
    sink[threadIdx.x] = unsigned(sum);
}

template <int N> static void measure_code()
{
    const int rounds = std::max(4, 65536 / N);
    for (int warps : { 4, 8, 32 }) {
        code<N><<<1, warps * 32>>>(rounds, cycles, sink);
        row("code_" + std::to_string(N) + "_fma_" + std::to_string(warps) + "_warps", "cycles a round and warp",
            taken() / (double(rounds) * (warps / 4)));
    }
}

// --- blocks and launches ---

__global__ void stamps(u64 *out, int spin)
{
    u64 t = clock64(), ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    unsigned sm;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    for (const u64 until = t + spin; u64(clock64()) < until;)
        continue;
    if (threadIdx.x == 0) {
        out[blockIdx.x * 4] = t;
        out[blockIdx.x * 4 + 1] = clock64();
        out[blockIdx.x * 4 + 2] = sm;
        out[blockIdx.x * 4 + 3] = ns;
    }
}

// From the end of a block to the start of the next one on the same SM, with one block an SM; and how far apart the
// blocks of one SM start, with eight.
static void blocks()
{
    u64 *out = nullptr;
    const int n = sms * 8;
    CHECK(cudaMalloc(&out, n * 32));
    std::vector<u64> c(n * 4);
    for (int threads : { 128, 256, 1024 }) {
        CHECK(cudaFuncSetAttribute(stamps, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 << 10));
        for (int pass = 0; pass < 2; pass++)
            stamps<<<n, threads, 200 << 10>>>(out, 20000);
        CHECK(cudaMemcpy(c.data(), out, n * 32, cudaMemcpyDeviceToHost));
        std::vector<std::vector<std::pair<u64, u64>>> by_sm(sms + 1024);
        for (int i = 0; i < n; i++)
            by_sm[c[i * 4 + 2]].push_back({ c[i * 4], c[i * 4 + 1] });
        double gap = 0;
        int gaps = 0;
        for (auto &list : by_sm) {
            std::sort(list.begin(), list.end());
            for (size_t i = 1; i < list.size(); i++, gaps++)
                gap += double(list[i].first) - double(list[i - 1].second);
        }
        row("block_gap_" + std::to_string(threads) + "_threads", "cycles", gap / gaps);
    }
    for (int pass = 0; pass < 2; pass++)
        stamps<<<n, 256>>>(out, 50000);
    CHECK(cudaMemcpy(c.data(), out, n * 32, cudaMemcpyDeviceToHost));
    std::vector<u64> first(2048, ~0ull), last(2048, 0);
    for (int i = 0; i < n; i++) {
        u64 &f = first[c[i * 4 + 2]], &l = last[c[i * 4 + 2]];
        f = std::min(f, c[i * 4]);
        l = std::max(l, c[i * 4]);
    }
    double apart = 0;
    for (int i = 0; i < 2048; i++)
        apart += last[i] ? double(last[i] - first[i]) / sms : 0;
    row("block_start_8_blocks_of_256", "cycles from the first to the last of an SM", apart);
    CHECK(cudaFree(out));
}

// Milliseconds between two events around one launch, the median of 21, as the ladder times.
template <class LAUNCH> static double timed(const LAUNCH &launch)
{
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    std::vector<float> all;
    for (int i = 0; i < 21; i++) {
        usleep(2000);
        CHECK(cudaEventRecord(begin));
        launch();
        CHECK(cudaEventRecord(end));
        CHECK(cudaEventSynchronize(end));
        float ms = 0;
        CHECK(cudaEventElapsedTime(&ms, begin, end));
        all.push_back(ms);
    }
    std::sort(all.begin(), all.end());
    return all[10];
}

__global__ void nothing() {}

static void launches()
{
    row("launch_nothing_1_block", "us", 1e3 * timed([] { nothing<<<1, 32>>>(); }));
    row("launch_nothing_132_blocks", "us", 1e3 * timed([] { nothing<<<132, 256>>>(); }));
    row("launch_nothing_16384_blocks", "us", 1e3 * timed([] { nothing<<<16384, 1024>>>(); }));
    row("launch_nothing_1024_blocks", "us", 1e3 * timed([] { nothing<<<1024, 256>>>(); }));
    row("launch_spin_100000", "us", 1e3 * timed([] { code<128><<<sms, 128>>>(390, cycles, sink); }));
    row("cycles_spin_100000", "cycles", 2 * taken());
}

// --- the clock that the card keeps up while its tensor cores work ---

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

static void measure_clock_rates()
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

int main()
{
    cudaDeviceProp p;
    CHECK(cudaGetDeviceProperties(&p, 0));
    printf("name,unit,value\ndevice,,%s\ncompute_capability,,%d.%d\n", p.name, p.major, p.minor);
    sms = p.multiProcessorCount;
    CHECK(cudaMalloc(&cycles, 1 << 20));
    CHECK(cudaMalloc(&sink, 1 << 20));
#define OP(name, text) measure_op<OP_##name>(#name);
    OPS
#undef OP
    measure_pair<OP_ffma, OP_ffma>("ffma_ffma");
    measure_pair<OP_ffma, OP_imad>("ffma_imad");
    measure_pair<OP_ffma, OP_iadd>("ffma_iadd");
    measure_pair<OP_ffma, OP_lop3>("ffma_lop3");
    measure_pair<OP_ffma, OP_hfma2>("ffma_hfma2");
    measure_pair<OP_imad, OP_iadd>("imad_iadd");
    measure_pair<OP_iadd, OP_lop3>("iadd_lop3");
    measure_pair<OP_hfma2, OP_iadd>("hfma2_iadd");
    measure_pair<OP_imad, OP_hfma2>("imad_hfma2");
    measure_pair<OP_ffma, OP_mufu_ex2>("ffma_mufu");
    measure_mma<0>();
    measure_mma<1>();
    measure_mma<2>();
    measure_mma<3>();
    measure_mma<4>();
    measure_mma<5>();
    unsigned *memory = nullptr;
    CHECK(cudaMalloc(&memory, 1 << 20));
    CHECK(cudaMemset(memory, 0, 1 << 20));
    measure_memory<LDS32>(memory);
    measure_memory<LDS64>(memory);
    measure_memory<LDS128>(memory);
    measure_memory<STS32>(memory);
    measure_memory<STS64>(memory);
    measure_memory<STS128>(memory);
    measure_memory<LDSM1>(memory);
    measure_memory<LDSM2>(memory);
    measure_memory<LDSM4>(memory);
    measure_memory<LDG32>(memory);
    measure_memory<LDG64>(memory);
    measure_memory<LDG128>(memory);
    measure_memory<LDGC32>(memory);
    measure_memory<STG32>(memory);
    measure_code<32>();
    measure_code<64>();
    measure_code<128>();
    measure_code<256>();
    measure_code<512>();
    measure_code<1024>();
    measure_code<2048>();
    measure_code<4096>();
    measure_code<8192>();
    measure_code<16384>();
    l2_bandwidth();
    traffic("l2", 4 << 20, 8 << 20);
    traffic("dram", size_t(512) << 20, size_t(1) << 30);
    blocks();
    launches();
    measure_clock_rates();
    CHECK(cudaDeviceSynchronize());
    return 0;
}
