// Blocks that wait for one another, for test_turns.c. Thread i of the launch writes out[i]; beyond those, out has words
// that begin as 0: flags and counters.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

#define KERNEL(name) extern "C" __global__ void name(unsigned *out, const unsigned *in)
#define HERE                                                                                                           \
    const unsigned tid = threadIdx.x, block = blockIdx.x, n = gridDim.x * blockDim.x, i = block * blockDim.x + tid;    \
    unsigned *const words = out + n;                                                                                   \
    (void)words

KERNEL(downwards)  // each block waits for the one after it, and adds to what that one wrote
{
    HERE;
    volatile unsigned *flags = words, *values = words + gridDim.x;
    if (tid == 0) {
        unsigned value = in[block];
        if (block + 1 < gridDim.x) {
            while (flags[block + 1] == 0)
                ;
            __threadfence();
            value += values[block + 1];
        }
        values[block] = value;
        __threadfence();
        flags[block] = 1;
    }
    __syncthreads();
    out[i] = values[block];
}

KERNEL(plain)  // the same by plain loads and stores
{
    HERE;
    if (tid == 0) {
        if (block + 1 < gridDim.x)
            while (words[block + 1] == 0)
                __threadfence();
        words[block] = 1;
    }
    __syncthreads();
    out[i] = i;
}

KERNEL(lock)  // one thread of each block at a time
{
    HERE;
    if (tid == 0) {
        while (atomicCAS(&words[0], 0, 1) != 0)
            __nanosleep(20);
        __threadfence();
        volatile unsigned *sum = &words[1];
        *sum = *sum + in[block];
        __threadfence();
        atomicExch(&words[0], 0);
    }
    out[i] = 0;
}

KERNEL(locks_of_lanes)  // every lane of every warp takes the lock
{
    HERE;
    for (bool done = false; !done;) {
        if (atomicCAS(&words[0], 0, 1) == 0) {
            __threadfence();
            volatile unsigned *sum = &words[1];
            *sum = *sum + in[i];
            __threadfence();
            atomicExch(&words[0], 0);
            done = true;
        }
    }
    out[i] = 0;
}

KERNEL(last_one)  // the last block that is done adds up what the others found
{
    HERE;
    __shared__ bool last;
    const unsigned sum = __reduce_add_sync(0xffffffff, in[i]);
    if (tid % 32 == 0)
        atomicAdd(&words[1 + block], sum);
    __syncthreads();
    if (tid == 0) {
        __threadfence();
        last = atomicAdd(&words[0], 1) == gridDim.x - 1;
    }
    __syncthreads();
    out[i] = 0;
    if (last && tid == 0) {
        __threadfence();
        volatile unsigned *sums = words + 1;
        unsigned all = 0;
        for (unsigned k = 0; k < gridDim.x; k++)
            all += sums[k];
        out[i] = all != 0;  // whichever block is the last
        words[1 + gridDim.x] = all;
    }
}

KERNEL(grid_sync)
{
    HERE;
    const cg::grid_group grid = cg::this_grid();
    out[i] = in[i];
    for (unsigned turn = 0; turn < 3; turn++) {
        grid.sync();
        const unsigned next = out[(i + blockDim.x) % n];
        grid.sync();
        out[i] = next + 1;
    }
}

KERNEL(acquired)  // by warps of one block, too: lane 0 of each waits for the warp before it
{
    HERE;
    const unsigned warp = i / 32;
    if (tid % 32 == 0) {
        unsigned seen = warp == 0;
        while (!seen)
            asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(seen) : "l"(&words[warp - 1]) : "memory");
        asm volatile("st.release.gpu.u32 [%0], %1;" ::"l"(&words[warp]), "r"(seen + 1) : "memory");
    }
    __syncwarp();
    out[i] = ((volatile unsigned *)words)[warp];
}

KERNEL(gives_up)  // each thread waits for what nobody writes, until some time has passed
{
    const long long start = clock64();
    while (!*(volatile unsigned *)&out[0] && clock64() - start < 10000000) {
    }
    out[1 + blockIdx.x * blockDim.x + threadIdx.x] = in[0];
}

KERNEL(never)  // block 3 waits for what nobody writes; the others end
{
    HERE;
    volatile unsigned *flag = words;
    if (block == 3)
        while (*flag == 0)
            ;
    out[i] = i;
}

KERNEL(all_wait_for_the_last)
{
    HERE;
    volatile unsigned *flag = words;
    if (tid == 0) {
        if (block == gridDim.x - 1)
            *flag = 1;
        while (*flag == 0)
            ;
    }
    __syncthreads();
    out[i] = i;
}
