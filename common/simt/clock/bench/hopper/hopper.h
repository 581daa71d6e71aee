// The program that reads off a GPU what only Hopper has, and what its parts share. Each part measures one subject and
// prints its rows; hopper.cu calls them in the order of the table.
//
// Cycles are those of an SM's own clock (clock64), unless a row says otherwise. Most kernels run their loop twice: the
// first pass fills the instruction cache, and the second is measured.
#pragma once

#include <vector>

#include "hopper.cuh"
#include "simt/clock/bench/parts.h"

enum {
    WORDS = 4096,         // that a kernel may leave in out
    SHARED = 200 * 1024,  // bytes of dynamic shared memory of a block
    ROWS = 65536,         // of the matrix of halves that the parts are given, row-major
    COLS = 4096,
    BOX_ROWS = 128  // of a box of 64 columns, if no other number is given
};

extern int sms;   // streaming multiprocessors of the GPU
extern u64 *out;  // device memory: WORDS results of a kernel

// The parts. Each needs the two above.
void measure_launches();                // launches.cu: what a launch takes beyond its blocks
void measure_code(half *matrix);        // code.cu: instructions that are fetched for the first time
void measure_products();                // products.cu: wgmma
void measure_barriers();                // barriers.cu: mbarriers, fences, named barriers
void measure_copies(half *matrix);      // copies.cu: loads and stores of TMA; the stores change the matrix
void measure_beside(half *matrix);      // beside.cu: ldmatrix beside copies
void measure_blocks();                  // launches.cu: from a block to the next on its SM
void measure_clock_rate(half *matrix);  // clock_rate.cu: the frequency while tensor cores work

// What the last launch left in out: WORDS words. It waits for the launch.
std::vector<u64> results();

// A map of the first `rows` rows of the matrix, in boxes of box_rows x 64 elements, 128 bytes swizzled.
CUtensorMap make_map(half *matrix, u64 rows, unsigned box_rows);

// Overwrites the second half of the matrix, 256 MB, so that L2 has nothing else.
void empty_l2(half *matrix);

template <typename KERNEL> static void allow_shared(KERNEL k)
{
    CHECK(cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED));
}

__device__ inline u64 nanoseconds()
{
    u64 ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

__device__ inline unsigned mixed(unsigned x)
{
    x ^= x >> 16, x *= 0x85ebca6b, x ^= x >> 13, x *= 0xc2b2ae35;
    return x ^ x >> 16;
}

// Nearly normal: what a matrix of a test holds. Power depends on the data.
__device__ inline half random_half(unsigned i)
{
    const unsigned h = mixed(i * 2654435761u + 1);
    float v = -2;
    for (int k = 0; k < 4; k++)
        v += float(h >> 8 * k & 255) / 127.5f;
    return __float2half(v * 0.86f);
}

// n halves of shared memory, by all threads of the block; known to wgmma afterwards.
__device__ inline void fill_shared(half *to, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        to[i] = random_half(i + blockIdx.x * 65536);
    proxy_fence();
    __syncthreads();
}
