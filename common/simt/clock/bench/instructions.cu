// Arithmetic, one instruction at a time and two in turn: latency and rate.
#include "measure.h"

#include <algorithm>

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
    const u64 begin = run_twice(rounds, [&] {
#pragma unroll
        for (int j = 0; j < BODY; j++)
            one<WHICH>(x[j % CHAINS], a, b);
    });
    if (threadIdx.x == 0)
        cycles[blockIdx.x] = clock64() - begin;
    unsigned sum = 0;
    for (unsigned each : x)
        sum += each;
    sink[threadIdx.x] = sum;
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
    const u64 begin = run_twice(rounds, [&] {
#pragma unroll
        for (int j = 0; j < BODY / 2; j++) {
            one<FIRST>(x[j % 8], a, b);
            one<SECOND>(y[j % 8], a, b);
        }
    });
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

void measure_instructions()
{
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
}
