// CUDA's language for clang without a CUDA toolkit: what nvcc knows before it reads the first line of a kernel. clang
// is told to include this file first (-include; see meson.build). It covers what kernels of this course use, and a
// little more. NVIDIA's toolkit has all of it: where nvcc is found, nothing here is read.
//
// Sources: CUDA C++ Programming Guide 13.0, chapter 10 (language extensions); PTX ISA 9.0.
#pragma once

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __noinline__ __attribute__((noinline))
#define __forceinline__ inline __attribute__((always_inline))
#define __restrict__ __restrict

// Functions of these headers are always inlined, and have no lines of their own: what the simulated GPU counts and
// finds in them goes to the line of the call.
#define CLANG_INLINE __attribute__((always_inline, nodebug))
#define CLANG_DEVICE __device__ static inline CLANG_INLINE
#define CLANG_MEMBER __device__ CLANG_INLINE
// A function that is an expression: most are a builtin of clang's.
#define CLANG_CALL(type, name, parameters, ...)                                                                        \
    CLANG_DEVICE type name parameters                                                                                  \
    {                                                                                                                  \
        return __VA_ARGS__;                                                                                            \
    }

#ifndef NULL
#define NULL __null
#endif
using size_t = decltype(sizeof 0);
using ptrdiff_t = decltype((char *)nullptr - (char *)nullptr);

#include "vector_types.h"

// --- Who am I? ---
// threadIdx.x and the like read a special register each: PTX ISA, section 10.

#define CLANG_REGISTER_3(type, name)                                                                                   \
    struct type {                                                                                                      \
        __declspec(property(get = get_x)) unsigned x;                                                                  \
        __declspec(property(get = get_y)) unsigned y;                                                                  \
        __declspec(property(get = get_z)) unsigned z;                                                                  \
        CLANG_DEVICE unsigned get_x()                                                                                  \
        {                                                                                                              \
            return __nvvm_read_ptx_sreg_##name##_x();                                                                  \
        }                                                                                                              \
        CLANG_DEVICE unsigned get_y()                                                                                  \
        {                                                                                                              \
            return __nvvm_read_ptx_sreg_##name##_y();                                                                  \
        }                                                                                                              \
        CLANG_DEVICE unsigned get_z()                                                                                  \
        {                                                                                                              \
            return __nvvm_read_ptx_sreg_##name##_z();                                                                  \
        }                                                                                                              \
        __device__ CLANG_INLINE operator dim3() const                                                                  \
        {                                                                                                              \
            return dim3(get_x(), get_y(), get_z());                                                                    \
        }                                                                                                              \
        __device__ CLANG_INLINE operator uint3() const                                                                 \
        {                                                                                                              \
            return { get_x(), get_y(), get_z() };                                                                      \
        }                                                                                                              \
    }
CLANG_REGISTER_3(clang_thread, tid);
CLANG_REGISTER_3(clang_block, ctaid);
CLANG_REGISTER_3(clang_block_size, ntid);
CLANG_REGISTER_3(clang_grid_size, nctaid);
#undef CLANG_REGISTER_3

// Declared, never defined: nothing of them is read but the registers.
extern const __device__ clang_thread threadIdx;
extern const __device__ clang_block blockIdx;
extern const __device__ clang_block_size blockDim;
extern const __device__ clang_grid_size gridDim;
constexpr int warpSize = 32;

#include "device_functions.h"
