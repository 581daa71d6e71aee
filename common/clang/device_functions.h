// The functions that every kernel can call without including anything: barriers, fences, shuffles, votes, bits, loads
// with a hint to the caches, arithmetic, atomics. Each is one PTX instruction, or two, by a builtin of clang's, or else
// as inline PTX. Sources: CUDA C++ Programming Guide 13.0, sections 10.5 to 10.22; PTX ISA 9.0, section 9.7.
#pragma once

// --- Barriers and fences ---
// __syncthreads() is a builtin.

CLANG_CALL(int, __syncthreads_count, (int p), __nvvm_bar0_popc(p))
CLANG_CALL(int, __syncthreads_and, (int p), __nvvm_bar0_and(p))
CLANG_CALL(int, __syncthreads_or, (int p), __nvvm_bar0_or(p))
CLANG_CALL(void, __syncwarp, (unsigned mask = 0xffffffff), __nvvm_bar_warp_sync(mask))
CLANG_CALL(void, __threadfence_block, (), __nvvm_membar_cta())
CLANG_CALL(void, __threadfence, (), __nvvm_membar_gl())
CLANG_CALL(void, __threadfence_system, (), __nvvm_membar_sys())

// --- Shuffles ---
// The last operand of shfl: how far a lane's partner may lie, and the lanes of a part of the warp.

#define CLANG_SHUFFLE(name, kind, clamp)                                                                               \
    CLANG_DEVICE int name(unsigned mask, int x, int lane, int width = 32)                                              \
    {                                                                                                                  \
        return __nvvm_shfl_sync_##kind##_i32(mask, x, lane, (32 - width) << 8 | clamp);                                \
    }                                                                                                                  \
    CLANG_DEVICE float name(unsigned mask, float x, int lane, int width = 32)                                          \
    {                                                                                                                  \
        return __nvvm_shfl_sync_##kind##_f32(mask, x, lane, (32 - width) << 8 | clamp);                                \
    }                                                                                                                  \
    CLANG_DEVICE unsigned name(unsigned mask, unsigned x, int lane, int width = 32)                                    \
    {                                                                                                                  \
        return (unsigned)name(mask, (int)x, lane, width);                                                              \
    }                                                                                                                  \
    CLANG_DEVICE long long name(unsigned mask, long long x, int lane, int width = 32)                                  \
    {                                                                                                                  \
        const unsigned low = name(mask, (unsigned)x, lane, width),                                                     \
                       high = name(mask, (unsigned)(x >> 32), lane, width);                                            \
        return (long long)((unsigned long long)high << 32 | low);                                                      \
    }                                                                                                                  \
    CLANG_DEVICE unsigned long long name(unsigned mask, unsigned long long x, int lane, int width = 32)                \
    {                                                                                                                  \
        return (unsigned long long)name(mask, (long long)x, lane, width);                                              \
    }                                                                                                                  \
    CLANG_DEVICE double name(unsigned mask, double x, int lane, int width = 32)                                        \
    {                                                                                                                  \
        return __builtin_bit_cast(double, name(mask, __builtin_bit_cast(long long, x), lane, width));                  \
    }
CLANG_SHUFFLE(__shfl_sync, idx, 31)
CLANG_SHUFFLE(__shfl_up_sync, up, 0)
CLANG_SHUFFLE(__shfl_down_sync, down, 31)
CLANG_SHUFFLE(__shfl_xor_sync, bfly, 31)
#undef CLANG_SHUFFLE

// --- Votes ---

CLANG_CALL(int, __any_sync, (unsigned mask, int p), __nvvm_vote_any_sync(mask, p))
CLANG_CALL(int, __all_sync, (unsigned mask, int p), __nvvm_vote_all_sync(mask, p))
CLANG_CALL(unsigned, __ballot_sync, (unsigned mask, int p), __nvvm_vote_ballot_sync(mask, p))
CLANG_DEVICE unsigned __activemask()
{
    unsigned mask;
    asm volatile("activemask.b32 %0;" : "=r"(mask));
    return mask;
}

#define CLANG_REDUCE(name, op, type)                                                                                   \
    CLANG_DEVICE type name(unsigned mask, type x)                                                                      \
    {                                                                                                                  \
        type r;                                                                                                        \
        asm volatile("redux.sync." op " %0, %1, %2;" : "=r"(r) : "r"(x), "r"(mask));                                   \
        return r;                                                                                                      \
    }
CLANG_REDUCE(__reduce_add_sync, "add.u32", unsigned)
CLANG_REDUCE(__reduce_min_sync, "min.u32", unsigned)
CLANG_REDUCE(__reduce_max_sync, "max.u32", unsigned)
CLANG_REDUCE(__reduce_add_sync, "add.s32", int)
CLANG_REDUCE(__reduce_min_sync, "min.s32", int)
CLANG_REDUCE(__reduce_max_sync, "max.s32", int)
#undef CLANG_REDUCE

CLANG_DEVICE unsigned __match_any_sync(unsigned mask, unsigned x)
{
    unsigned r;
    asm volatile("match.any.sync.b32 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(mask));
    return r;
}
CLANG_DEVICE unsigned __match_all_sync(unsigned mask, unsigned x, int *all)
{
    unsigned r;
    asm volatile("{\n\t.reg .pred same;\n\tmatch.all.sync.b32 %0|same, %2, %3;\n\tselp.s32 %1, 1, 0, same;\n\t}"
                 : "=r"(r), "=r"(*all)
                 : "r"(x), "r"(mask));
    return r;
}
CLANG_DEVICE void __nanosleep(unsigned ns)
{
    asm volatile("nanosleep.u32 %0;" ::"r"(ns));
}

// --- Bits ---

CLANG_CALL(int, __popc, (unsigned x), __builtin_popcount(x))
CLANG_CALL(int, __popcll, (unsigned long long x), __builtin_popcountll(x))
CLANG_CALL(int, __clz, (int x), x ? __builtin_clz((unsigned)x) : 32)
CLANG_CALL(int, __ffs, (int x), __builtin_ffs(x))
CLANG_CALL(unsigned, __brev, (unsigned x), __builtin_bitreverse32(x))
CLANG_DEVICE unsigned __byte_perm(unsigned x, unsigned y, unsigned which)
{
    unsigned r;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(which));
    return r;
}
CLANG_DEVICE unsigned __funnelshift_l(unsigned low, unsigned high, unsigned by)
{
    unsigned r;
    asm("shf.l.wrap.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(low), "r"(high), "r"(by));
    return r;
}
CLANG_DEVICE int __dp4a(int a, int b, int c)
{
    int r;
    asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    return r;
}
CLANG_CALL(int, __float_as_int, (float x), __builtin_bit_cast(int, x))
CLANG_CALL(unsigned, __float_as_uint, (float x), __builtin_bit_cast(unsigned, x))
CLANG_CALL(float, __int_as_float, (int x), __builtin_bit_cast(float, x))
CLANG_CALL(float, __uint_as_float, (unsigned x), __builtin_bit_cast(float, x))

// --- Parameters that stay where they are: a compiler may copy them instead ---

#define __grid_constant__

// --- Addresses ---

CLANG_CALL(size_t, __cvta_generic_to_shared, (const void *p), (size_t)(const __attribute__((address_space(3))) void *)p)
CLANG_CALL(size_t, __cvta_generic_to_global, (const void *p), (size_t)(const __attribute__((address_space(1))) void *)p)

// --- Loads and stores with a hint to the caches ---
// Of 2, 4, 8 or 16 bytes. cg: in L2 only; ca: in L1, too; cs: once, soon of no use; nc: nothing writes it during the
// kernel.

#define CLANG_LOAD(name, op)                                                                                           \
    template <class T> CLANG_DEVICE T name(const T *p)                                                                 \
    {                                                                                                                  \
        const size_t at = __cvta_generic_to_global(p);                                                                 \
        if constexpr (sizeof(T) == 16) {                                                                               \
            uint4 v;                                                                                                   \
            asm(op ".v4.u32 {%0, %1, %2, %3}, [%4];"                                                                   \
                : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)                                                           \
                : "l"(at)                                                                                              \
                : "memory");                                                                                           \
            return reinterpret_cast<const T &>(v);                                                                     \
        } else if constexpr (sizeof(T) == 8) {                                                                         \
            uint2 v;                                                                                                   \
            asm(op ".v2.u32 {%0, %1}, [%2];" : "=r"(v.x), "=r"(v.y) : "l"(at) : "memory");                             \
            return reinterpret_cast<const T &>(v);                                                                     \
        } else if constexpr (sizeof(T) == 4) {                                                                         \
            unsigned v;                                                                                                \
            asm(op ".u32 %0, [%1];" : "=r"(v) : "l"(at) : "memory");                                                   \
            return reinterpret_cast<const T &>(v);                                                                     \
        } else {                                                                                                       \
            unsigned short v;                                                                                          \
            asm(op ".u16 %0, [%1];" : "=h"(v) : "l"(at) : "memory");                                                   \
            return reinterpret_cast<const T &>(v);                                                                     \
        }                                                                                                              \
    }
CLANG_LOAD(__ldcg, "ld.global.cg")
CLANG_LOAD(__ldca, "ld.global.ca")
CLANG_LOAD(__ldcs, "ld.global.cs")
CLANG_LOAD(__ldg, "ld.global.nc")
#undef CLANG_LOAD

#define CLANG_STORE(name, op)                                                                                          \
    template <class T> CLANG_DEVICE void name(T *p, T x)                                                               \
    {                                                                                                                  \
        const size_t at = __cvta_generic_to_global(p);                                                                 \
        if constexpr (sizeof(T) == 16) {                                                                               \
            const uint4 &v = reinterpret_cast<const uint4 &>(x);                                                       \
            asm volatile(op ".v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(at), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w)        \
                         : "memory");                                                                                  \
        } else if constexpr (sizeof(T) == 8) {                                                                         \
            const uint2 &v = reinterpret_cast<const uint2 &>(x);                                                       \
            asm volatile(op ".v2.u32 [%0], {%1, %2};" ::"l"(at), "r"(v.x), "r"(v.y) : "memory");                       \
        } else if constexpr (sizeof(T) == 4) {                                                                         \
            asm volatile(op ".u32 [%0], %1;" ::"l"(at), "r"(reinterpret_cast<const unsigned &>(x)) : "memory");        \
        } else {                                                                                                       \
            asm volatile(op ".u16 [%0], %1;" ::"l"(at), "h"(reinterpret_cast<const unsigned short &>(x)) : "memory");  \
        }                                                                                                              \
    }
CLANG_STORE(__stcg, "st.global.cg")
CLANG_STORE(__stcs, "st.global.cs")
#undef CLANG_STORE

// --- Arithmetic ---

#define CLANG_MIN_MAX(type)                                                                                            \
    __host__ __device__ CLANG_INLINE constexpr type min(type a, type b)                                                \
    {                                                                                                                  \
        return a < b ? a : b;                                                                                          \
    }                                                                                                                  \
    __host__ __device__ CLANG_INLINE constexpr type max(type a, type b)                                                \
    {                                                                                                                  \
        return a > b ? a : b;                                                                                          \
    }
CLANG_MIN_MAX(int)
CLANG_MIN_MAX(unsigned)
CLANG_MIN_MAX(long)
CLANG_MIN_MAX(unsigned long)
CLANG_MIN_MAX(long long)
CLANG_MIN_MAX(unsigned long long)
#undef CLANG_MIN_MAX
// Of a signed number and an unsigned one, the latter's type, as C++ has it for a comparison.
#define CLANG_MIN_MAX(name, a_type, b_type, type)                                                                      \
    __host__ __device__ CLANG_INLINE constexpr type name(a_type a, b_type b)                                           \
    {                                                                                                                  \
        return name((type)a, (type)b);                                                                                 \
    }
#define CLANG_MIN_MAX_MIXED(name, type)                                                                                \
    CLANG_MIN_MAX(name, type, unsigned type, unsigned type)                                                            \
    CLANG_MIN_MAX(name, unsigned type, type, unsigned type)
CLANG_MIN_MAX_MIXED(min, int)
CLANG_MIN_MAX_MIXED(max, int)
CLANG_MIN_MAX_MIXED(min, long)
CLANG_MIN_MAX_MIXED(max, long)
CLANG_MIN_MAX_MIXED(min, long long)
CLANG_MIN_MAX_MIXED(max, long long)
#undef CLANG_MIN_MAX_MIXED
#undef CLANG_MIN_MAX
// Of a number and a NaN, the number.
CLANG_CALL(float, fminf, (float a, float b), __nvvm_fmin_f(a, b))
CLANG_CALL(float, fmaxf, (float a, float b), __nvvm_fmax_f(a, b))
CLANG_CALL(float, min, (float a, float b), fminf(a, b))
CLANG_CALL(float, max, (float a, float b), fmaxf(a, b))
CLANG_CALL(double, min, (double a, double b), __nvvm_fmin_d(a, b))
CLANG_CALL(double, max, (double a, double b), __nvvm_fmax_d(a, b))

CLANG_CALL(int, abs, (int x), x < 0 ? -x : x)
CLANG_CALL(float, fabsf, (float x), __builtin_fabsf(x))
CLANG_CALL(double, fabs, (double x), __builtin_fabs(x))
CLANG_CALL(float, fmaf, (float a, float b, float c), __nvvm_fma_rn_f(a, b, c))
CLANG_CALL(double, fma, (double a, double b, double c), __nvvm_fma_rn_d(a, b, c))
CLANG_CALL(float, sqrtf, (float x), __nvvm_sqrt_rn_f(x))
CLANG_CALL(float, __fsqrt_rn, (float x), sqrtf(x))
CLANG_CALL(float, rsqrtf, (float x), __nvvm_rsqrt_approx_f(x))
CLANG_CALL(bool, isnan, (float x), x != x)
CLANG_CALL(bool, isfinite, (float x), __builtin_fabsf(x) < __builtin_inff())
CLANG_CALL(bool, isinf, (float x), __builtin_fabsf(x) == __builtin_inff())

// --- Powers, logarithms and angles ---

#include "math_functions.h"

// By the name that C++ has for both types.
#define CLANG_OF_BOTH(name, of_float, of_double)                                                                       \
    CLANG_DEVICE float name(float x)                                                                                   \
    {                                                                                                                  \
        return of_float(x);                                                                                            \
    }                                                                                                                  \
    CLANG_DEVICE double name(double x)                                                                                 \
    {                                                                                                                  \
        return of_double(x);                                                                                           \
    }
CLANG_OF_BOTH(exp, expf, clang_exp)
CLANG_OF_BOTH(log, logf, clang_log)
CLANG_OF_BOTH(sin, sinf, clang_sin)
CLANG_OF_BOTH(cos, cosf, clang_cos)
CLANG_OF_BOTH(sqrt, __nvvm_sqrt_rn_f, __nvvm_sqrt_rn_d)
CLANG_OF_BOTH(floor, __builtin_floorf, __builtin_floor)
CLANG_OF_BOTH(ceil, __builtin_ceilf, __builtin_ceil)
CLANG_OF_BOTH(trunc, __builtin_truncf, __builtin_trunc)
CLANG_OF_BOTH(rint, __builtin_rintf, __builtin_rint)
#undef CLANG_OF_BOTH
CLANG_CALL(float, fabs, (float x), __builtin_fabsf(x))
CLANG_CALL(float, floorf, (float x), floor(x))
CLANG_CALL(float, ceilf, (float x), ceil(x))
CLANG_CALL(float, truncf, (float x), trunc(x))
CLANG_CALL(float, rintf, (float x), rint(x))

CLANG_CALL(int, __mul24, (int a, int b), __nvvm_mul24_i(a, b))
CLANG_CALL(int, __mulhi, (int a, int b), __nvvm_mulhi_i(a, b))
CLANG_CALL(unsigned, __umulhi, (unsigned a, unsigned b), __nvvm_mulhi_ui(a, b))

// --- Atomics ---
// Each returns what was there before.

CLANG_CALL(int, atomicAdd, (int *p, int x), __nvvm_atom_add_gen_i(p, x))
CLANG_CALL(unsigned, atomicAdd, (unsigned *p, unsigned x), (unsigned)__nvvm_atom_add_gen_i((int *)p, (int)x))
CLANG_CALL(unsigned long long, atomicAdd, (unsigned long long *p, unsigned long long x),
           (unsigned long long)__nvvm_atom_add_gen_ll((long long *)p, (long long)x))
CLANG_CALL(float, atomicAdd, (float *p, float x), __nvvm_atom_add_gen_f(p, x))
CLANG_CALL(double, atomicAdd, (double *p, double x), __nvvm_atom_add_gen_d(p, x))
CLANG_CALL(int, atomicSub, (int *p, int x), atomicAdd(p, -x))
CLANG_CALL(unsigned, atomicSub, (unsigned *p, unsigned x), atomicAdd(p, 0 - x))
CLANG_CALL(int, atomicMin, (int *p, int x), __nvvm_atom_min_gen_i(p, x))
CLANG_CALL(int, atomicMax, (int *p, int x), __nvvm_atom_max_gen_i(p, x))
CLANG_CALL(unsigned, atomicMin, (unsigned *p, unsigned x), __nvvm_atom_min_gen_ui(p, x))
CLANG_CALL(unsigned, atomicMax, (unsigned *p, unsigned x), __nvvm_atom_max_gen_ui(p, x))
CLANG_CALL(unsigned, atomicInc, (unsigned *p, unsigned most), __nvvm_atom_inc_gen_ui(p, most))
CLANG_CALL(unsigned, atomicDec, (unsigned *p, unsigned most), __nvvm_atom_dec_gen_ui(p, most))

#define CLANG_ATOMIC(name, builtin)                                                                                    \
    CLANG_DEVICE int name(int *p, int x)                                                                               \
    {                                                                                                                  \
        return __nvvm_atom_##builtin##_gen_i(p, x);                                                                    \
    }                                                                                                                  \
    CLANG_DEVICE unsigned name(unsigned *p, unsigned x)                                                                \
    {                                                                                                                  \
        return (unsigned)name((int *)p, (int)x);                                                                       \
    }                                                                                                                  \
    CLANG_DEVICE unsigned long long name(unsigned long long *p, unsigned long long x)                                  \
    {                                                                                                                  \
        return (unsigned long long)__nvvm_atom_##builtin##_gen_ll((long long *)p, (long long)x);                       \
    }
CLANG_ATOMIC(atomicAnd, and)
CLANG_ATOMIC(atomicOr, or)
CLANG_ATOMIC(atomicXor, xor)
CLANG_ATOMIC(atomicExch, xchg)
#undef CLANG_ATOMIC
CLANG_CALL(float, atomicExch, (float *p, float x), __int_as_float(atomicExch((int *)p, __float_as_int(x))))

CLANG_CALL(int, atomicCAS, (int *p, int expected, int x), __nvvm_atom_cas_gen_i(p, expected, x))
CLANG_CALL(unsigned, atomicCAS, (unsigned *p, unsigned expected, unsigned x),
           (unsigned)atomicCAS((int *)p, (int)expected, (int)x))
CLANG_CALL(unsigned long long, atomicCAS, (unsigned long long *p, unsigned long long expected, unsigned long long x),
           (unsigned long long)__nvvm_atom_cas_gen_ll((long long *)p, (long long)expected, (long long)x))

// --- printf and assert ---
// clang turns printf into a call of vprintf. <cassert> calls __assert_fail.

extern "C" __device__ int printf(const char *format, ...);
extern "C" __device__ void __assertfail(const char *what, const char *file, unsigned line, const char *function,
                                        size_t char_bytes) __attribute__((noreturn));
extern "C" __device__ CLANG_INLINE inline void __assert_fail(const char *what, const char *file, unsigned line,
                                                             const char *function)
{
    __assertfail(what, file, line, function, 1);
}
