// Copies from global to shared memory that need no registers (cp.async), for sm_80 on. Source: CUDA C++ Programming
// Guide 13.0, section 10.28 (pipeline primitives).
#pragma once

// 4, 8 or 16 bytes, as the constant says.
CLANG_DEVICE void __pipeline_memcpy_async(void *to, const void *from, size_t bytes)
{
    const unsigned shared = (unsigned)__cvta_generic_to_shared(to);
    const size_t global = __cvta_generic_to_global(from);
    if (bytes == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared), "l"(global) : "memory");
    else if (bytes == 8)
        asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(shared), "l"(global) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared), "l"(global) : "memory");
}
CLANG_DEVICE void __pipeline_commit()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}
#define __pipeline_wait_prior(n) asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory")
