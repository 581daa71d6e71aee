// wgmma from shared memory, for ptxas: the accumulators stay in registers from the first product to the last. With
// SERIALIZED they are read while a group is under way, which ptxas answers by waiting after every product.
#include <stdint.h>

__device__ inline uint64_t descriptor(uint32_t address)
{
    return (address & 0x3ffff) >> 4 | uint64_t(1) << 16 | uint64_t(64) << 32 | uint64_t(1) << 62;
}

__device__ inline void multiply(float (&d)[4], uint64_t a, uint64_t b)
{
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "l"(a), "l"(b));
}

extern "C" __global__ void __launch_bounds__(128) products(float *out)
{
    __shared__ __align__(1024) unsigned char tiles[16384];
    float d[4] = {};
    const uint32_t at = (uint32_t)__cvta_generic_to_shared(tiles);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int i = 0; i < 4; i++) {
        multiply(d, descriptor(at + i * 32), descriptor(at + 8192 + i * 32));
#ifdef SERIALIZED
        out[i] = d[0];
#endif
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])::"memory");
    for (int i = 0; i < 4; i++)
        out[threadIdx.x * 4 + i] = d[i];
}
