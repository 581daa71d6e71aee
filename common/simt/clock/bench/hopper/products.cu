// Products of a warpgroup: how long a round of them takes.
#include "hopper.h"

// d[64][64] += a[64][16] * b[16][64]
__device__ void wgmma64(float (&d)[32], uint64_t a, uint64_t b)
{
#define D(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {"
                 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
                 "%32, %33, 1, 1, 1, 0, 1;"
                 : D(0), D(4), D(8), D(12), D(16), D(20), D(24), D(28)
                 : "l"(a), "l"(b));
#undef D
}

// PER products, then a commit; at most LEFT groups are left under way. N columns.
template <int N, int PER, int LEFT> __global__ void __launch_bounds__(384, 1) run_wgmma(int rounds, u64 *out)
{
    extern __shared__ __align__(1024) half shared[];
    fill_shared(shared, 40 * 1024);
    const int group = threadIdx.x / 128;
    const uint64_t a = wgmma_descriptor(shared + group * 4096, 16, 1024),
                   b = wgmma_descriptor(shared + 12288, 8192, 1024);
    float d[N / 2] = {};
    u64 begin = 0;
    for (int pass = 0; pass < 2; pass++) {
        __syncthreads();
        begin = clock64();
#pragma unroll 1
        for (int i = 0; i < rounds; i++) {
            wgmma_fence();
#pragma unroll
            for (int j = 0; j < PER; j++)
                if constexpr (N == 256)
                    wgmma(d, a + j % 4 * 2, b + j % 4 * 128, 1);
                else
                    wgmma64(d, a + j % 4 * 2, b + j % 4 * 128);
            wgmma_commit();
            wgmma_wait<LEFT>();
        }
        wgmma_wait<0>();
    }
    __syncthreads();
    if (threadIdx.x == 0)
        out[0] = clock64() - begin;
    float sum = 0;
    for (float x : d)
        sum += x;
    if (sum == 12345)
        out[1] = 1;
}

template <int N, int PER, int LEFT> static void measure_rounds(const char *name)
{
    const int rounds = 200;
    allow_shared(run_wgmma<N, PER, LEFT>);
    for (int groups = 1; groups <= 3; groups++) {
        run_wgmma<N, PER, LEFT><<<1, groups * 128, SHARED>>>(rounds, out);
        row(std::string("wgmma_") + name + "_" + std::to_string(groups) + "_warpgroups", "cycles a round",
            double(results()[0]) / rounds);
    }
}

void measure_products()
{
    measure_rounds<256, 1, 0>("n256_wait_0");
    measure_rounds<256, 4, 0>("n256_4_wait_0");
    measure_rounds<256, 4, 1>("n256_4_wait_1");
    measure_rounds<256, 16, 0>("n256_16_wait_0");
    measure_rounds<64, 1, 0>("n64_wait_0");
    measure_rounds<64, 4, 0>("n64_4_wait_0");
    measure_rounds<64, 16, 1>("n64_16_wait_1");
}
