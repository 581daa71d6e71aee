// Words that kernels.c replaces when it loads the PTX. The driver's compiler then knows as much as if they were template parameters,
// and leaves out what they make superfluous, because code has to come from memory before a small product can use it.
#pragma once
#include <cuda_fp16.h>

// A function of one instruction that gives a number.
#define NUMBER(name, move)                                                                                             \
    __device__ inline int name()                                                                                       \
    {                                                                                                                  \
        int n;                                                                                                         \
        asm(move : "=r"(n));                                                                                           \
        return n;                                                                                                      \
    }
// Whether A lies as k x m, and B as n x k: here they do not.
NUMBER(turn_a, "mov.b32 %0, 0x00;")
NUMBER(turn_b, "mov.b32 %0, 0x000;")
// mma.cu: neighbours of A and of B that are copied at once, 8, 4, 2 or 1.
NUMBER(wide_a, "mov.b32 %0, 0x08;")
NUMBER(wide_b, "mov.b32 %0, 0x008;")

// Two floats as two halves, or bf16, as the operands of mma and wgmma.
__device__ inline half2 both(float a, float b)
{
    unsigned v;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(v) : "f"(b), "f"(a));
    return *reinterpret_cast<half2 *>(&v);
}
