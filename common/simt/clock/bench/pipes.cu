// Rates and latencies of instructions that instructions.cu does not have: 64-bit integers, conversions, rarer
// functions, f64, divisions as the compiler writes them.
#include "measure.h"

#include <algorithm>

// OP(name, instructions on %0, of 64 bits, or %1, of 32; %2, of 64 bits, %3 and %4 do not change)
#define OPS                                                                                                            \
    OP(mad_wide, "mad.wide.u32 %0, %3, %4, %0;")                                                                       \
    OP(add_64, "add.u64 %0, %0, %2;")                                                                                  \
    OP(mul_64, "mul.lo.u64 %0, %0, %2;")                                                                               \
    OP(shl_64, "shf.l.wrap.b32 %1, %1, %3, %4; shl.b64 %0, %0, 1;")                                                    \
    OP(mul_hi, "mul.hi.u32 %1, %1, %3;")                                                                               \
    OP(mad_lo, "mad.lo.u32 %1, %1, %3, %4;")                                                                           \
    OP(dadd, "add.rn.f64 %0, %0, %2;")                                                                                 \
    OP(dmul, "mul.rn.f64 %0, %0, %2;")                                                                                 \
    OP(dfma, "fma.rn.f64 %0, %0, %2, %2;")                                                                             \
    OP(dsetp, "{.reg .pred p; setp.lt.f64 p, %0, %2; selp.b64 %0, %0, %2, p;}")                                        \
    OP(f2f_64, "{.reg .f64 d; .reg .f32 f; mov.b32 f, %1; cvt.f64.f32 d, f; cvt.rn.f32.f64 f, d; mov.b32 %1, f;}")     \
    OP(i2d, "{.reg .f64 d; cvt.rn.f64.s32 d, %1; mov.b64 %0, d;}")                                                     \
    OP(f2i_64, "{.reg .f32 f; mov.b32 f, %1; cvt.rzi.s64.f32 %0, f; cvt.u32.u64 %1, %0;}")                             \
    OP(i2f_64, "{.reg .f32 f; cvt.rn.f32.s64 f, %0; mov.b32 %1, f; cvt.u64.u32 %0, %1;}")                              \
    OP(frnd, "{.reg .f32 f; mov.b32 f, %1; cvt.rni.f32.f32 f, f; mov.b32 %1, f;}")                                     \
    OP(f16_to_f32, "{.reg .b16 s; .reg .f32 f; cvt.u16.u32 s, %1; cvt.f32.f16 f, s; mov.b32 %1, f;}")                  \
    OP(f32_to_f16, "{.reg .b16 s; .reg .f32 f; mov.b32 f, %1; cvt.rn.f16.f32 s, f; cvt.u32.u16 %1, s;}")               \
    OP(rsqrt, "{.reg .f32 f; mov.b32 f, %1; rsqrt.approx.ftz.f32 f, f; mov.b32 %1, f;}")                               \
    OP(sqrt_approx, "{.reg .f32 f; mov.b32 f, %1; sqrt.approx.ftz.f32 f, f; mov.b32 %1, f;}")                          \
    OP(lg2, "{.reg .f32 f; mov.b32 f, %1; lg2.approx.ftz.f32 f, f; mov.b32 %1, f;}")                                   \
    OP(sin, "{.reg .f32 f; mov.b32 f, %1; sin.approx.ftz.f32 f, f; mov.b32 %1, f;}")                                   \
    OP(tanh, "{.reg .f32 f; mov.b32 f, %1; tanh.approx.f32 f, f; mov.b32 %1, f;}")                                     \
    OP(rcp_64, "rcp.approx.ftz.f64 %0, %0;")                                                                           \
    OP(ex2_f16x2, "ex2.approx.f16x2 %1, %1;")                                                                          \
    OP(tanh_f16x2, "tanh.approx.f16x2 %1, %1;")                                                                        \
    OP(div_rn, "{.reg .f32 f, g; mov.b32 f, %1; mov.b32 g, %3; div.rn.f32 f, f, g; mov.b32 %1, f;}")                   \
    OP(sqrt_rn, "{.reg .f32 f; mov.b32 f, %1; sqrt.rn.f32 f, f; mov.b32 %1, f;}")                                      \
    OP(rcp_rn, "{.reg .f32 f; mov.b32 f, %1; rcp.rn.f32 f, f; mov.b32 %1, f;}")                                        \
    OP(div_u32, "div.u32 %1, %3, %1;")                                                                                 \
    OP(rem_s32, "rem.s32 %1, %3, %1;")                                                                                 \
    OP(brev, "brev.b32 %1, %1;")                                                                                       \
    OP(clz, "clz.b32 %1, %1;")                                                                                         \
    OP(bfe, "bfe.u32 %1, %1, %3, %4;")                                                                                 \
    OP(dp4a, "dp4a.u32.u32 %1, %1, %3, %4;")                                                                           \
    OP(sad, "sad.u32 %1, %1, %3, %4;")                                                                                 \
    OP(abs, "abs.s32 %1, %1; add.u32 %1, %1, %3;")                                                                     \
    OP(hmax2, "max.f16x2 %1, %1, %3;")                                                                                 \
    OP(hfma2_bf16, "fma.rn.bf16x2 %1, %1, %3, %4;")                                                                    \
    OP(match, "match.any.sync.b32 %1, %1, -1;")                                                                        \
    OP(shfl_idx, "shfl.sync.idx.b32 %1, %1, %3, 31, -1;")                                                              \
    OP(activemask, "{.reg .b32 m; activemask.b32 m; add.u32 %1, %1, m;}")

enum op {
#define OP(name, text) OP_##name,
    OPS
#undef OP
};

template <int WHICH> __device__ __forceinline__ void one(u64 &x, unsigned &y, u64 c, unsigned a, unsigned b)
{
#define OP(name, text)                                                                                                 \
    if constexpr (WHICH == OP_##name)                                                                                  \
        asm volatile(text : "+l"(x), "+r"(y) : "l"(c), "r"(a), "r"(b));
    OPS
#undef OP
}

constexpr int BODY = 64, ROUNDS = 16;

template <int WHICH, int CHAINS>
__global__ void __launch_bounds__(1024) run_pipe(u64 c, unsigned a, unsigned b, u64 *cycles, unsigned *sink)
{
    u64 x[CHAINS];
    unsigned y[CHAINS];
    for (int i = 0; i < CHAINS; i++) {
        x[i] = c + threadIdx.x + i;
        y[i] = a + threadIdx.x + i;
    }
    const u64 begin = run_twice(ROUNDS, [&] {
#pragma unroll
        for (int j = 0; j < BODY; j++)
            one<WHICH>(x[j % CHAINS], y[j % CHAINS], c, a, b);
    });
    if (threadIdx.x == 0)
        cycles[blockIdx.x] = clock64() - begin;
    unsigned sum = 0;
    for (int i = 0; i < CHAINS; i++)
        sum += unsigned(x[i]) + y[i];
    sink[threadIdx.x] = sum;
}

// The bits are those of numbers near 1, in f64 and in f32.
template <int WHICH> static void measure_pipe(const char *name)
{
    const u64 c = 0x3ff00000'00000003ull;
    const unsigned a = 0x3f800003, b = 5;
    run_pipe<WHICH, 1><<<1, 32>>>(c, a, b, cycles, sink);
    row(std::string("latency_") + name, "cycles", taken() / (ROUNDS * BODY));
    run_pipe<WHICH, 4><<<1, 1024>>>(c, a, b, cycles, sink);
    row("rate_" + std::string(name) + "_32_warps", "cycles", taken() / (ROUNDS * BODY * 8));
}

void measure_pipes()
{
#define OP(name, text) measure_pipe<OP_##name>(#name);
    OPS
#undef OP
}
