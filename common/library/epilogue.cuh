// What happens to a sum on its way to C, element by element, for all types; and how the parts of a sum meet.
#pragma once
#include <cuda_fp16.h>

#include "library/args.h"

// --- Types: kernels compute in floats ---

struct bf16 {  // the upper half of a float
    unsigned short bits;
    bf16() = default;
    // To the nearest, ties to even; a NaN stays one.
    __device__ explicit bf16(float x)
    {
        const unsigned all = __float_as_uint(x);
        bits = x != x ? 0x7fff : (all + 0x7fff + (all >> 16 & 1)) >> 16;
    }
    __device__ operator float() const { return __uint_as_float(unsigned(bits) << 16); }
};

template <class T> __device__ inline float widen(T x)
{
    return x;
}

// f of a number of that type.
template <class F> __device__ inline auto by_type(int type, F f)
{
    return type == ARGS_F32 ? f(float()) : type == ARGS_F16 ? f(half()) : f(bf16());
}

__device__ inline float get(const void *x, int64_t i, int type)
{
    return by_type(type, [&](auto t) { return widen(static_cast<const decltype(t) *>(x)[i]); });
}

__device__ inline void put(void *x, int64_t i, int type, float v)
{
    if (type == ARGS_F32)
        static_cast<float *>(x)[i] = v;
    else if (type == ARGS_F16)
        static_cast<half *>(x)[i] = half(v);
    else
        static_cast<bf16 *>(x)[i] = bf16(v);
}

// --- The epilogue ---

// GELU by its tanh, as cuBLASLt has it: x / 2 * (1 + tanh(u)) = x / (1 + exp(-2 * u)), u = sqrt(2 / pi) * (x + 0.044715 * x^3).
__device__ inline float activate(float x, int activation)
{
    if (activation == ARGS_RELU)
        return x < 0 ? 0 : x;  // a NaN stays one
    if (activation == ARGS_GELU)
        return __fdividef(x, 1 + __expf(-1.5957691216f * (x + 0.044715f * x * x * x)));
    return x;
}

// What C[row][col] of matrix z of the batch becomes, from the sum of its products.
__device__ inline float finished(const args &p, int z, int row, int col, float sum)
{
    float x = p.alpha * sum;
    if (p.beta != 0)
        x += p.beta * get(p.C, z * p.c_next + row * p.c_row + col * p.c_col, p.c_type);
    if (p.bias_kind)
        x += get(p.bias, p.bias_kind == ARGS_BIAS_ROW ? col : row, p.c_type);
    return activate(x, p.activation);
}

__device__ inline void finish(const args &p, int z, int row, int col, float sum)
{
    put(p.C, z * p.c_next + row * p.c_row + col * p.c_col, p.c_type, finished(p, z, row, col, sum));
}

// The first n of four neighbours; whole: all at once, if there are four.
template <class T> __device__ inline void store4(T *to, const float (&x)[4], int n, bool whole)
{
    alignas(4 * sizeof(T)) T v[4];
    for (int e = 0; e < 4; e++)
        v[e] = T(x[e]);
    if (whole && n >= 4) {
        struct alignas(4 * sizeof(T)) Four { T v[4]; };
        *reinterpret_cast<Four *>(to) = *reinterpret_cast<Four *>(v);
        return;
    }
    for (int e = 0; e < 4; e++)
        if (e < n)
            to[e] = v[e];
}

// Four neighbours from the i-th on, 0 from the n-th on; whole: all at once, if there are four.
__device__ inline void load4(const void *x, int64_t i, int type, int n, bool whole, float (&to)[4])
{
    by_type(type, [&](auto t) {
        using T = decltype(t);
        struct alignas(4 * sizeof(T)) Four { T v[4]; } four = {};
        const T *from = static_cast<const T *>(x) + i;
        if (whole && n >= 4)
            four = *reinterpret_cast<const Four *>(from);
        else
            for (int e = 0; e < 4; e++)
                if (e < n)
                    four.v[e] = from[e];
        for (int e = 0; e < 4; e++)
            to[e] = widen(four.v[e]);
    });
}

// What four neighbours in a row of C become, as far as they are inside; col is a multiple of four. Most products only have an alpha: that
// is asked once, for each branch takes as long as some ten instructions.
__device__ inline void finish4(const args &p, int z, int row, int col, const float *sum)
{
    const int n = row < p.m ? p.n - col : 0;
    const int64_t at = z * p.c_next + row * p.c_row + col;
    float x[4];
    for (int e = 0; e < 4; e++)
        x[e] = p.alpha * sum[e];
    if (p.beta != 0 || p.bias_kind || p.activation) {
        float old[4] = {}, bias[4] = {};
        if (p.beta != 0)
            load4(p.C, at, p.c_type, n, p.wide_c, old);
        if (p.bias_kind == ARGS_BIAS_ROW)
            load4(p.bias, col, p.c_type, n, reinterpret_cast<uintptr_t>(p.bias) % 16 == 0, bias);
        else if (p.bias_kind && n > 0)
            bias[0] = bias[1] = bias[2] = bias[3] = get(p.bias, row, p.c_type);
        for (int e = 0; e < 4; e++)
            x[e] = activate(x[e] + p.beta * old[e] + bias[e], p.activation);
    }
    if (p.c_type == ARGS_F32)
        store4(static_cast<float *>(p.C) + at, x, n, p.wide_c);
    else if (p.c_type == ARGS_F16)
        store4(static_cast<half *>(p.C) + at, x, n, p.wide_c);
    else
        store4(static_cast<bf16 *>(p.C) + at, x, n, p.wide_c);
}

// --- Parts ---

// The threads of the block have written what they have of a part of a tile to global memory, and meet here. True
// if it was the last of `parts` parts: all of them can be read then, past L1 (__ldcg). The counter is 0 again.
__device__ inline bool last_part(args_ptr counters, int tile, int parts, int thread, int *seen)
{
    unsigned *counter = static_cast<unsigned *>(counters) + tile;
    __syncthreads();  // one thread's release covers what all have written before the barrier, its acquire what they read behind it
    if (thread == 0) {
        unsigned before;
        asm volatile("atom.add.acq_rel.gpu.global.u32 %0, [%1], 1;" : "=r"(before) : "l"(__cvta_generic_to_global(counter)) : "memory");
        *seen = before;
        if (before == parts - 1)
            *counter = 0;
    }
    __syncthreads();
    return *seen == parts - 1;
}

// Which tile of C is this block's, of which matrix, and which part of K?
template <int BM, int BN> struct Place {
    int tile, part, z, row, col;

    __device__ Place(const args &p, bool alone = false) : part(0), z(0)
    {
        const unsigned across = (p.n - 1) / BN + 1, of_one = across * ((p.m - 1) / BM + 1);
        unsigned n = blockIdx.x;
        if (!alone && p.parts > 1)  // a division takes longer than all else here
            part = n % p.parts, n /= p.parts;
        tile = n;
        if (p.batch > 1)
            z = n / of_one, n %= of_one;
        row = n / across * BM, col = n % across * BN;
    }
};

// The sums of all parts of the tile, if this block is the last that has one; a thread has n of them. Eight parts are added up by
// the last of them, and eight such sums by the last of these.
template <int THREADS, int n, class P> __device__ inline bool meet(float (&acc)[n], const args &p, const P &at)
{
    __shared__ int seen;
    const int tid = threadIdx.x;
    auto each = [&](int part, auto f) {
        float4 *sums = static_cast<float4 *>(p.sums) + (size_t(at.tile) * p.parts + part) * (n / 4 * THREADS) + tid;
#pragma unroll
        for (int j = 0; j < n; j += 4)
            f(&acc[j], &sums[j / 4 * THREADS]);
    };
    for (int apart = 1, counter = at.tile * ARGS_MEETINGS; apart < p.parts; apart *= 8, counter += 8) {
        const int first = at.part / (8 * apart) * 8 * apart, end = min(first + 8 * apart, p.parts);
        each(at.part / apart * apart, [](float *a, float4 *x) { *x = { a[0], a[1], a[2], a[3] }; });
        if (!last_part(p.counters, counter + first / (8 * apart), (end - first - 1) / apart + 1, tid, &seen))
            return false;
        for (int part = first; part < end; part += apart)
            each(part, [&](float *a, float4 *x) {
                const float4 v = __ldcg(x);
                for (int e = 0; e < 4; e++)
                    a[e] = (part > first ? a[e] : 0) + (&v.x)[e];
            });
    }
    return true;
}
