// The program that reads the clock's constants off a GPU, and what its parts share. Each part measures one subject and
// prints its rows; measure.cu calls them in the order of the table.
//
// Cycles are those of an SM's own clock (clock64). "latency": a chain in which each instruction needs the result of the
// one before. "rate": cycles that a sub-core (a quarter of an SM) takes for one warp instruction, by the number of
// warps on the SM. What steps/00_machine/measure.cu reads is not read again here.
#pragma once

#include "parts.h"

extern int sms;         // streaming multiprocessors of the GPU
extern u64 *cycles;     // device memory, 1 MiB: kernels leave what they measured here, a word or two for each block
extern unsigned *sink;  // device memory, 1 MiB: kernels store here what must not be optimised away

// The parts. Each needs the three above.
void measure_instructions();  // instructions.cu: one instruction, and pairs of them
void measure_tensor_cores();  // tensor.cu: mma.sync
void measure_memory();        // memory.cu: loads and stores of shared memory and of L1
void measure_l1();            // l1.cu: hits beside misses, and lines of an access
void measure_code();          // code.cu: straight lines longer than the instruction caches
void measure_local();         // local.cu: local memory, and more of it than L1 holds
void measure_queue();         // queue.cu: how many accesses to shared memory a sub-core takes before it waits
void measure_mix();           // mix.cu: multiply-adds and loads of shared memory
void measure_barriers();      // barrier.cu: barriers between stretches of work, and which warp's turn it is
void measure_l2();            // l2.cu: the bandwidth of L2; the latency of L2 and of DRAM beside other traffic
void measure_bursts();        // bursts.cu: L2 by bursts, with pauses between them
void measure_constants();     // constants.cu: constants by index
void measure_launches();      // launches.cu: from block to block, and from launch to launch
void measure_pipes();         // pipes.cu: rarer instructions, and those that become several
void measure_streams();       // streams.cu: L2 and DRAM by reads and writes, by what is under way, by size
void measure_stores();        // stores.cu: whole and partial sectors, atomic additions
void measure_starts();        // starts.cu: blocks that start and end, local memory
void measure_clock_rate();    // tensor.cu: the frequency that the card keeps up while its tensor cores work

// What the last launch left in cycles[0]. It waits for the launch.
double taken();

// Launches a block of 128 threads on each SM that takes about 100,000 cycles, and leaves half of them in cycles[0].
void spin();

// Eight chains of multiply-adds of a thread.
struct chains {
    float x[8], a;

    __device__ __forceinline__ chains() : a(threadIdx.x)
    {
        for (int i = 0; i < 8; i++)
            x[i] = i;
    }

    // One more for chain j % 8; j is known to the compiler.
    __device__ __forceinline__ void add(int j)
    {
        asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(x[j % 8]) : "f"(a));
    }

    // Stores their sum: otherwise the compiler would leave them out.
    __device__ __forceinline__ void keep(unsigned *sink) const
    {
        float sum = 0;
        for (float each : x)
            sum += each;
        sink[threadIdx.x] = unsigned(sum);
    }
};

// Calls round() so often, twice over, and returns the clock at the start of the second pass. The first pass fills the
// instruction cache.
template <class ROUND> __device__ __forceinline__ u64 run_twice(int rounds, const ROUND &round)
{
    u64 begin = 0;
    for (int pass = 0; pass < 2; pass++) {
        __syncthreads();
        begin = clock64();
#pragma unroll 1
        for (int i = 0; i < rounds; i++)
            round();
    }
    __syncthreads();
    return begin;
}
