// What the parts of this program share: how a row is written, and how cycles are taken.
#pragma once

#include <cuda_runtime.h>
#include <string>

typedef unsigned long long u64;

extern int sms;
extern u64 *cycles;     // device memory: two words for each block
extern unsigned *sink;  // device memory: where kernels store what must not be optimised away

void check(cudaError_t status, const char *what);  // ends the program, if that is an error
#define CHECK(call) check(call, #call)

void row(const std::string &name, const char *unit, double value);
double taken();  // cycles of block 0, once the kernel has ended

// The parts; each prints its rows.
void measure_instructions();
void measure_tensor_cores();
void measure_shared_memory();
void measure_code();
void measure_l2();
void measure_blocks();
void measure_clock_rates();

// Runs body so many rounds, twice, as the first pass fills the instruction cache. Leaves the cycles of the second.
template <class BODY> __device__ __forceinline__ void time_rounds(int rounds, u64 *cycles, const BODY &body)
{
    u64 begin = 0;
    for (int pass = 0; pass < 2; pass++) {
        __syncthreads();
        begin = clock64();
#pragma unroll 1
        for (int i = 0; i < rounds; i++)
            body();
    }
    __syncthreads();
    if (threadIdx.x == 0)
        cycles[blockIdx.x] = clock64() - begin;
}
