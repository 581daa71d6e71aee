// Kernels in the manner of public samples, for test_kernels.c: two blocks of 128 threads, thread i of the launch reads
// in[i] and writes out[i] unless it says otherwise.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

#include <cassert>
#include <cstdio>

#define KERNEL(name) extern "C" __global__ void name(unsigned *out, const unsigned *in)
#define HERE                                                                                                           \
    const unsigned tid = threadIdx.x, lane = tid % 32, i = blockIdx.x * blockDim.x + tid;                              \
    (void)lane

constexpr unsigned ALL = 0xffffffff;

KERNEL(reduce)  // the block's sum
{
    HERE;
    __shared__ unsigned part[4];
    unsigned sum = in[i];
    for (int by = 16; by > 0; by /= 2)
        sum += __shfl_down_sync(ALL, sum, by);
    if (lane == 0)
        part[tid / 32] = sum;
    __syncthreads();
    out[i] = part[0] + part[1] + part[2] + part[3];
}

KERNEL(scan)  // the sum up to here within the warp
{
    HERE;
    unsigned sum = in[i];
    for (unsigned by = 1; by < 32; by *= 2) {
        const unsigned before = __shfl_up_sync(ALL, sum, by);
        if (lane >= by)
            sum += before;
    }
    out[i] = sum;
}

KERNEL(butterfly)  // the largest of eight neighbours
{
    HERE;
    unsigned most = in[i];
    for (int by = 1; by < 8; by *= 2)
        most = max(most, __shfl_xor_sync(ALL, most, by, 8));
    out[i] = most;
}

KERNEL(votes)
{
    HERE;
    const unsigned x = in[i], odd = __ballot_sync(ALL, x & 1);
    unsigned r = __popc(odd) + 100 * __any_sync(ALL, x == 77) + 200 * __all_sync(ALL, x < 1000);
    if (x & 1)
        r += 1000 * __popc(__activemask());
    r += 100000 * __popc(__match_any_sync(ALL, x % 4));
    int same;
    __match_all_sync(ALL, x, &same);
    out[i] = r + 10000000 * same;
}

KERNEL(apart)  // two halves of a warp, each on its own side of a branch
{
    HERE;
    unsigned r;
    if (lane < 16)
        r = __shfl_sync(0x0000ffff, in[i], 15 - lane) + __reduce_add_sync(0x0000ffff, in[i]);
    else
        r = __shfl_sync(0xffff0000, in[i], 47 - lane) + __reduce_max_sync(0xffff0000, in[i]);
    out[i] = r;
}

KERNEL(syncwarp)  // what a lane wrote before the warp's barrier, its neighbour reads after it
{
    HERE;
    __shared__ unsigned s[128];
    if (lane & 1) {
        s[tid] = in[i];
        __syncwarp();
    } else {
        s[tid] = 2 * in[i];
        __syncwarp();
    }
    out[i] = s[tid ^ 1];
}

KERNEL(histogram)  // how often each value modulo 16 occurs in the block
{
    HERE;
    __shared__ unsigned bin[16];
    if (tid < 16)
        bin[tid] = 0;
    __syncthreads();
    atomicAdd(&bin[in[i] % 16], 1);
    __syncthreads();
    out[i] = bin[tid % 16];
}

KERNEL(atomics)  // out begins as zeros; each block has words of its own
{
    HERE;
    unsigned *o = out + blockIdx.x * blockDim.x;
    atomicAdd(&o[0], in[i]);
    atomicMax(&o[1], in[i]);
    atomicMin((int *)&o[2], -(int)in[i]);
    atomicOr(&o[3], 1u << in[i] % 32);
    atomicXor(&o[4], in[i]);
    atomicInc(&o[5], 50);
    atomicAdd((float *)&o[6], 0.5f);
    atomicExch(&o[7], 5);
    unsigned old = o[8], seen;
    do
        seen = old, old = atomicCAS(&o[8], seen, seen + in[i]);
    while (old != seen);
    atomicAdd((unsigned long long *)&o[10], 0x100000000ull + in[i]);
    atomicSub(&o[12], in[i]);
}

KERNEL(pipeline)  // asynchronous copies, two stages
{
    HERE;
    __shared__ __align__(16) unsigned s[2][128];
    unsigned sum = 0;
    for (int stage = 0; stage < 2; stage++) {
        if (tid < 32)
            __pipeline_memcpy_async(&s[stage][4 * tid], &in[stage * 128 + 4 * tid], 16);
        __pipeline_commit();
    }
    for (int stage = 0; stage < 2; stage++) {
        if (stage == 0)
            __pipeline_wait_prior(1);
        else
            __pipeline_wait_prior(0);
        __syncthreads();
        sum = 3 * sum + s[stage][tid ^ 5];
    }
    out[i] = sum;
}

KERNEL(halves)
{
    HERE;
    const half2 a = __floats2half2_rn((int)(in[i] % 61) - 30, in[i] % 7 * 0.25f), b = __half2half2(__float2half(1.5f));
    const half2 r = __hfma2(a, b, __hmul2(a, a));
    half x = __hadd(__low2half(r), __high2half(r));
    if (__hgt(x, __float2half(100.f)))
        x = __hsub(x, __float2half(0.125f));
    out[i] = __half_as_ushort(x) | (unsigned)__half_as_ushort(__high2half(r)) << 16;
}

KERNEL(bfloats)
{
    HERE;
    const __nv_bfloat16 a = __float2bfloat16((float)in[i]), b = __float2bfloat16(0.75f);
    out[i] = __bfloat16_as_ushort(__hfma(a, b, b));
}

struct pair {
    unsigned x, y[3];
};

__device__ __noinline__ unsigned pick(pair p, unsigned i)
{
    return p.y[i % 3] + p.x;
}

__device__ __noinline__ unsigned twice(const unsigned *at, unsigned i)
{
    pair p = { at[i], { 1, 20, 300 } };
    return pick(p, i) + pick(p, i + 1);
}

KERNEL(calls)
{
    HERE;
    out[i] = twice(in, i);
}

KERNEL(branches)
{
    HERE;
    unsigned v = in[i];
    switch (i % 9) {
    case 0: v *= 3; break;
    case 1: v += 7; break;
    case 2: v *= v; break;
    case 3: v -= 5; break;
    case 4: v ^= 5; break;
    case 5: v /= 3; break;
    case 6: v <<= 3; break;
    case 7: v = ~v; break;
    }
    out[i] = v;
}

KERNEL(integers)
{
    HERE;
    const unsigned x = in[i] * 2654435761u, y = x ^ i;
    const unsigned __int128 p = (unsigned __int128)((unsigned long long)x << 32 | y) * ((unsigned long long)y << 20 | x);
    unsigned r = __byte_perm(x, y, 0x3715) + __dp4a((int)x, (int)y, 7) + __funnelshift_l(x, y, 9) + __brev(x);
    r += (unsigned)(p >> 64) + (unsigned)(p >> 96) + ((x & y) | (~x & i)) + __clz(x | 1) + __popc(y);
    out[i] = r;
}

KERNEL(asserts)
{
    HERE;
    assert(in[i] != 77);
    out[i] = 1;
}

KERNEL(prints)
{
    HERE;
    if (i < 2)
        printf("%s %u: %5.2f %lld %c|\n", "thread", i, 1.25, -(1ll << 40), 'x');
    out[i] = i;
}
