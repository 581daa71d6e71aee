// half and half2, as clang knows them. Arithmetic in half rounds to nearest even, as the GPU's own does. Source: CUDA
// Math API 13.0, half precision intrinsics.
#pragma once

struct __align__(2) __half
{
    __half() = default;
    __device__ CLANG_INLINE __half(float x)
    {
        asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    }
    __device__ CLANG_INLINE __half(double x)
    {
        asm("cvt.rn.f16.f64 %0, %1;" : "=h"(bits) : "d"(x));
    }
    __device__ CLANG_INLINE __half(int x)
    {
        asm("cvt.rn.f16.s32 %0, %1;" : "=h"(bits) : "r"(x));
    }
    __device__ CLANG_INLINE __half(unsigned x)
    {
        asm("cvt.rn.f16.u32 %0, %1;" : "=h"(bits) : "r"(x));
    }
    __device__ CLANG_INLINE operator float() const
    {
        float x;
        asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
        return x;
    }
    unsigned short bits;
};
using half = __half;

struct __align__(4) __half2
{
    __half2() = default;
    __device__ CLANG_INLINE __half2(half x, half y) : x(x), y(y) {}
    half x, y;
};
using half2 = __half2;

// --- Conversions ---

#define CLANG_HALF_OF(name, type)                                                                                      \
    CLANG_DEVICE half name(type x)                                                                                     \
    {                                                                                                                  \
        return half(x);                                                                                                \
    }
CLANG_HALF_OF(__float2half, float)
CLANG_HALF_OF(__float2half_rn, float)
CLANG_HALF_OF(__double2half, double)
CLANG_HALF_OF(__int2half_rn, int)
#undef CLANG_HALF_OF
CLANG_CALL(float, __half2float, (half x), float(x))
CLANG_CALL(half2, __floats2half2_rn, (float x, float y), { half(x), half(y) })
CLANG_CALL(half2, __float2half2_rn, (float x), { half(x), half(x) })
CLANG_CALL(float2, __half22float2, (half2 v), { float(v.x), float(v.y) })
CLANG_CALL(half2, __half2half2, (half x), { x, x })
CLANG_CALL(half2, __halves2half2, (half x, half y), { x, y })
CLANG_CALL(half2, make_half2, (half x, half y), { x, y })
CLANG_CALL(half, __low2half, (half2 v), v.x)
CLANG_CALL(half, __high2half, (half2 v), v.y)
CLANG_CALL(float, __low2float, (half2 v), float(v.x))
CLANG_CALL(float, __high2float, (half2 v), float(v.y))
CLANG_CALL(unsigned short, __half_as_ushort, (half x), x.bits)
CLANG_CALL(half, __ushort_as_half, (unsigned short x), __builtin_bit_cast(half, x))

// --- Arithmetic ---
// By the PTX instruction of that name, so that nothing is contracted or widened. h: half, r: half2.

#define CLANG_HALF_2(name, op)                                                                                         \
    CLANG_DEVICE half __h##name(half a, half b)                                                                        \
    {                                                                                                                  \
        unsigned short d;                                                                                              \
        asm(op ".f16 %0, %1, %2;" : "=h"(d) : "h"(__half_as_ushort(a)), "h"(__half_as_ushort(b)));                     \
        return __ushort_as_half(d);                                                                                    \
    }                                                                                                                  \
    CLANG_DEVICE half2 __h##name##2(half2 a, half2 b)                                                                  \
    {                                                                                                                  \
        unsigned d;                                                                                                    \
        asm(op ".f16x2 %0, %1, %2;"                                                                                    \
            : "=r"(d)                                                                                                  \
            : "r"(__builtin_bit_cast(unsigned, a)), "r"(__builtin_bit_cast(unsigned, b)));                             \
        return __builtin_bit_cast(half2, d);                                                                           \
    }
CLANG_HALF_2(add, "add")
CLANG_HALF_2(sub, "sub")
CLANG_HALF_2(mul, "mul")
#undef CLANG_HALF_2

CLANG_DEVICE half __hfma(half a, half b, half c)
{
    unsigned short d;
    asm("fma.rn.f16 %0, %1, %2, %3;"
        : "=h"(d)
        : "h"(__half_as_ushort(a)), "h"(__half_as_ushort(b)), "h"(__half_as_ushort(c)));
    return __ushort_as_half(d);
}
CLANG_DEVICE half2 __hfma2(half2 a, half2 b, half2 c)
{
    unsigned d;
    asm("fma.rn.f16x2 %0, %1, %2, %3;"
        : "=r"(d)
        : "r"(__builtin_bit_cast(unsigned, a)), "r"(__builtin_bit_cast(unsigned, b)),
          "r"(__builtin_bit_cast(unsigned, c)));
    return __builtin_bit_cast(half2, d);
}

#define CLANG_HALF_OPERATOR(op, name)                                                                                  \
    CLANG_DEVICE half operator op(half a, half b)                                                                      \
    {                                                                                                                  \
        return name(a, b);                                                                                             \
    }                                                                                                                  \
    CLANG_DEVICE half &operator op##=(half &a, half b)                                                                 \
    {                                                                                                                  \
        return a = name(a, b);                                                                                         \
    }                                                                                                                  \
    CLANG_DEVICE half2 operator op(half2 a, half2 b)                                                                   \
    {                                                                                                                  \
        return name##2(a, b);                                                                                          \
    }
CLANG_HALF_OPERATOR(+, __hadd)
CLANG_HALF_OPERATOR(-, __hsub)
CLANG_HALF_OPERATOR(*, __hmul)
#undef CLANG_HALF_OPERATOR
CLANG_DEVICE half operator-(half a)
{
    return __ushort_as_half(__half_as_ushort(a) ^ 0x8000);
}

// --- Comparisons ---

#define CLANG_HALF_COMPARE(name, op)                                                                                   \
    CLANG_DEVICE bool name(half a, half b)                                                                             \
    {                                                                                                                  \
        return float(a) op float(b);                                                                                   \
    }                                                                                                                  \
    CLANG_DEVICE bool operator op(half a, half b)                                                                      \
    {                                                                                                                  \
        return float(a) op float(b);                                                                                   \
    }
CLANG_HALF_COMPARE(__heq, ==)
CLANG_HALF_COMPARE(__hne, !=)
CLANG_HALF_COMPARE(__hlt, <)
CLANG_HALF_COMPARE(__hle, <=)
CLANG_HALF_COMPARE(__hgt, >)
CLANG_HALF_COMPARE(__hge, >=)
#undef CLANG_HALF_COMPARE

// --- Shuffles ---

#define CLANG_HALF_SHUFFLE(name)                                                                                       \
    CLANG_DEVICE half name(unsigned mask, half x, int lane, int width = 32)                                            \
    {                                                                                                                  \
        return __ushort_as_half((unsigned short)name(mask, (unsigned)__half_as_ushort(x), lane, width));               \
    }                                                                                                                  \
    CLANG_DEVICE half2 name(unsigned mask, half2 x, int lane, int width = 32)                                          \
    {                                                                                                                  \
        return __builtin_bit_cast(half2, name(mask, __builtin_bit_cast(unsigned, x), lane, width));                    \
    }
CLANG_HALF_SHUFFLE(__shfl_sync)
CLANG_HALF_SHUFFLE(__shfl_up_sync)
CLANG_HALF_SHUFFLE(__shfl_down_sync)
CLANG_HALF_SHUFFLE(__shfl_xor_sync)
#undef CLANG_HALF_SHUFFLE
