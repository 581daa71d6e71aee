// mbarriers, fences and named barriers: the cycles of one, and of handing over between two warps.
#include "hopper.h"

enum { TRY_WAIT, ARRIVE, FENCE, NAMED, GROUP_FENCE };

template <int WHAT> __global__ void run_barrier(int rounds, u64 *out)
{
    __shared__ uint64_t b;
    if (threadIdx.x == 0) {
        mbarrier_init(&b, WHAT == ARRIVE ? 1000000 : 1);
        mbarrier_init_fence();
        if (WHAT == TRY_WAIT)
            mbarrier_arrive(&b);  // phase 0 has ended
    }
    u64 begin = 0;
    for (int pass = 0; pass < 2; pass++) {
        __syncthreads();
        begin = clock64();
#pragma unroll 8
        for (int i = 0; i < rounds; i++) {
            if (WHAT == TRY_WAIT)
                mbarrier_wait(&b, 0);
            if (WHAT == ARRIVE)
                mbarrier_arrive(&b);
            if (WHAT == FENCE)
                proxy_fence();
            if (WHAT == NAMED)
                named_barrier(1, 128);
            if (WHAT == GROUP_FENCE)
                wgmma_fence();
        }
    }
    if (threadIdx.x == 0)
        out[0] = clock64() - begin;
}

template <int WHAT> static void measure_barrier(const char *name, int threads)
{
    run_barrier<WHAT><<<1, threads>>>(800, out);
    row(name, "cycles", double(results()[0]) / 800);
}

// Two warps hand over to each other.
__global__ void run_ping_pong(int rounds, u64 *out)
{
    __shared__ uint64_t b[2];
    const int warp = threadIdx.x / 32;
    if (threadIdx.x == 0) {
        mbarrier_init(&b[0], 1);
        mbarrier_init(&b[1], 1);
        mbarrier_init_fence();
    }
    __syncthreads();
    const u64 begin = clock64();
    if (threadIdx.x % 32 == 0)
#pragma unroll 1
        for (int i = 0; i < rounds; i++) {
            if (warp)
                mbarrier_wait(&b[0], i & 1);
            mbarrier_arrive(&b[warp]);
            if (!warp)
                mbarrier_wait(&b[1], i & 1);
        }
    if (threadIdx.x == 0)
        out[0] = clock64() - begin;
}

void measure_barriers()
{
    measure_barrier<TRY_WAIT>("mbarrier_try_wait", 1);
    measure_barrier<ARRIVE>("mbarrier_arrive", 1);
    measure_barrier<ARRIVE>("mbarrier_arrive_4_warps", 128);
    measure_barrier<FENCE>("proxy_fence", 128);
    measure_barrier<NAMED>("named_barrier_128", 128);
    measure_barrier<GROUP_FENCE>("wgmma_fence", 128);
    run_ping_pong<<<1, 64>>>(1000, out);
    row("mbarrier_hand_over", "cycles", double(results()[0]) / 2000);
}
