// Copies from global to shared memory that a thread begins, and waits for later: cp.async (PTX ISA 9.7.9.25.3). On cards that
// have none, from before sm_80, they are a load and a store.
#pragma once

// BYTES, 16, 8 or 4, from global to shared memory, or zeros.
template <int BYTES> __device__ inline void copy_async(void *to, const void *from, bool inside)
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(unsigned(__cvta_generic_to_shared(to))), "l"(from),
                 "n"(BYTES), "r"(inside ? BYTES : 0)
                 : "memory");
#else
    for (int i = 0; i < BYTES / 4; i++)
        static_cast<unsigned *>(to)[i] = inside ? static_cast<const unsigned *>(from)[i] : 0;
#endif
}

// The copies that this thread began since the last call become a group. It may be empty.
__device__ inline void end_group()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Waits until all of this thread's groups are complete, but for the latest n.
template <int n> __device__ inline void wait_groups()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory");
#endif
}
