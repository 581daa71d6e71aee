// bfloat16: the upper half of a float. Source: CUDA Math API 13.0, bfloat16 precision intrinsics. For sm_80 on.
#pragma once

struct __align__(2) __nv_bfloat16
{
    __nv_bfloat16() = default;
    __device__ CLANG_INLINE __nv_bfloat16(float x)
    {
        asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    }
    __device__ CLANG_INLINE operator float() const
    {
        return __uint_as_float((unsigned)bits << 16);
    }
    unsigned short bits;
};

CLANG_CALL(__nv_bfloat16, __float2bfloat16, (float x), __nv_bfloat16(x))
CLANG_CALL(float, __bfloat162float, (__nv_bfloat16 x), float(x))
CLANG_CALL(unsigned short, __bfloat16_as_ushort, (__nv_bfloat16 x), x.bits)
CLANG_DEVICE __nv_bfloat16 __hfma(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c)
{
    __nv_bfloat16 d;
    asm("fma.rn.bf16 %0, %1, %2, %3;" : "=h"(d.bits) : "h"(a.bits), "h"(b.bits), "h"(c.bits));
    return d;
}
