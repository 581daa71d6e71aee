// What happens to a sum on its way to C, element by element, for all types; and how the parts of a sum meet.
#pragma once
#include <cuda_fp16.h>

#include "library/args.h"

// --- Types: kernels compute in floats ---

struct bf16 {  // the upper half of a float
    unsigned short bits;
};

__device__ inline float widen(float x)
{
    return x;
}

__device__ inline float widen(half x)
{
    return __half2float(x);
}

__device__ inline float widen(bf16 x)
{
    return __uint_as_float(unsigned(x.bits) << 16);
}

__device__ inline void narrow(float x, float &to)
{
    to = x;
}

__device__ inline void narrow(float x, half &to)
{
    to = __float2half_rn(x);
}

// To the nearest, ties to even; a NaN stays one.
__device__ inline void narrow(float x, bf16 &to)
{
    const unsigned bits = __float_as_uint(x);
    to.bits = x != x ? 0x7fff : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

__device__ inline float get(const void *x, int64_t i, int type)
{
    return type == ARGS_F32   ? static_cast<const float *>(x)[i]
           : type == ARGS_F16 ? widen(static_cast<const half *>(x)[i])
                              : widen(static_cast<const bf16 *>(x)[i]);
}

__device__ inline void put(void *x, int64_t i, int type, float v)
{
    if (type == ARGS_F32)
        static_cast<float *>(x)[i] = v;
    else if (type == ARGS_F16)
        narrow(v, static_cast<half *>(x)[i]);
    else
        narrow(v, static_cast<bf16 *>(x)[i]);
}

// --- The epilogue ---

// GELU by its tanh, as cuBLASLt has it: x / 2 * (1 + tanh(u)) = x / (1 + exp(-2 * u)), u = sqrt(2 / pi) * (x + 0.044715 * x^3).
__device__ inline float activate(float x, int activation)
{
    if (activation == ARGS_RELU)
        return x < 0 ? 0 : x;  // a NaN stays one
    if (activation == ARGS_GELU)
        return x / (1 + __expf(-1.5957691216f * (x + 0.044715f * x * x * x)));
    return x;
}

// C[row][col] of matrix z of the batch, from the sum of its products.
__device__ inline void finish(const args &p, int z, int row, int col, float sum)
{
    const int64_t at = z * p.c_next + row * p.c_row + col * p.c_col;
    float x = p.alpha * sum;
    if (p.beta != 0)
        x += p.beta * get(p.C, at, p.c_type);
    if (p.bias_kind)
        x += get(p.bias, p.bias_kind == ARGS_BIAS_ROW ? col : row, p.c_type);
    put(p.C, at, p.c_type, activate(x, p.activation));
}

// --- Parts ---

// The threads that `sync` is a barrier of have written what they have of a part of a tile to global memory, and meet here. True
// if it was the last of `parts` parts: all of them can be read then, past L1 (__ldcg). The counter is 0 again.
template <class Sync> __device__ inline bool last_part(args_ptr counters, int tile, int parts, int thread, int *seen, Sync sync)
{
    unsigned *counter = static_cast<unsigned *>(counters) + tile;
    sync();  // one thread's release covers what all have written before the barrier, its acquire what they read behind it
    if (thread == 0) {
        unsigned before;
        asm volatile("atom.add.acq_rel.gpu.global.u32 %0, [%1], 1;" : "=r"(before) : "l"(__cvta_generic_to_global(counter)) : "memory");
        *seen = before;
        if (before == parts - 1)
            *counter = 0;
    }
    sync();
    return *seen == parts - 1;
}
