// The frequency that the card keeps up while its tensor cores work, with copies beside them and without.
#include "hopper.h"

#include <algorithm>

// Products by two warpgroups in `busy` of 100 cycles, 16 of each in a round; a third one copies as much as a multiply
// of 128 x 256 tiles would if copy is not 0.
__global__ void __launch_bounds__(384, 1)
    burn(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, int rounds, int busy, int copy,
         u64 *out)
{
    extern __shared__ __align__(1024) half shared[];
    __shared__ uint64_t full[2];
    if (threadIdx.x == 0) {
        mbarrier_init(&full[0], 1);
        mbarrier_init(&full[1], 1);
        mbarrier_init_fence();
    }
    fill_shared(shared, 48 * 1024);
    const u64 begin = clock64(), ns = nanoseconds();
    if (threadIdx.x >= 256) {
        for (int i = 0; threadIdx.x == 256 && i < 4 * rounds; i++) {
            half *to = shared + 49152 + i % 2 * 24576;
            while (clock64() - begin < u64(i) * 102400 / busy)
                ;
            if (!copy)
                continue;
            if (i >= 2)
                mbarrier_wait(&full[i % 2], i / 2 - 1 & 1);
            mbarrier_expect(&full[i % 2], 49152);
            tma_load(to, &a, &full[i % 2], blockIdx.x % 8 * 128, i % 64 * 64);
            for (int j = 0; j < 4; j++)
                tma_load(to + 8192 + j * 4096, &b, &full[i % 2], 8192 + i % 64 * 64,
                         blockIdx.x / 8 % 16 * 256 + j * 64);
        }
        for (int i = 0; threadIdx.x == 256 && copy && i < 2; i++)
            mbarrier_wait(&full[i], 1);
        __syncthreads();
    } else {
        float d[128] = {};
        const uint64_t from = wgmma_descriptor(shared + threadIdx.x / 128 * 4096, 16, 1024),
                       with = wgmma_descriptor(shared + 8192, 8192, 1024);
#pragma unroll 1
        for (int i = 0; i < rounds; i++) {
            while (clock64() - begin < u64(i) * 4 * 102400 / busy)
                ;
            __syncwarp();
            wgmma_fence();
#pragma unroll
            for (int j = 0; j < 16; j++)
                wgmma(d, from + j % 4 * 2, with + j % 4 * 128, 1);
            wgmma_commit();
            wgmma_wait<0>();
        }
        float sum = 0;
        for (float x : d)
            sum += x;
        if (sum == 12345)
            out[0] = 1;
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        out[2 * blockIdx.x] = clock64() - begin;
        out[2 * blockIdx.x + 1] = nanoseconds() - ns;
    }
}

static void measure_load(half *matrix, int rounds, int busy, int copy)
{
    const CUtensorMap a = make_map(matrix, ROWS, BOX_ROWS), b = make_map(matrix, ROWS, 64);
    std::vector<double> ghz, share;
    allow_shared(burn);
    for (int run = 0; run < 15; run++) {
        empty_l2(matrix);
        burn<<<sms, 384, SHARED>>>(a, b, rounds, busy, copy, out);
        const std::vector<u64> r = results();
        double cycles = 0, ns = 0;
        for (int i = 0; i < sms; i++)
            cycles += double(r[2 * i]), ns += double(r[2 * i + 1]);
        ghz.push_back(cycles / ns);
        share.push_back(100.0 * 4096 * rounds * sms / cycles);
    }
    std::sort(ghz.begin(), ghz.end());
    std::sort(share.begin(), share.end());
    const std::string name = std::to_string(busy) + (copy ? "_copies_" : "_") + std::to_string(rounds);
    row("wgmma_clock_" + name, "GHz", ghz[7]);
    row("wgmma_busy_" + name, "% of a tensor core's cycles at 128 a product", share[7]);
}

void measure_clock_rate(half *matrix)
{
    for (int rounds : { 8, 64, 512 })
        for (int busy : { 25, 50, 75, 90, 100 })
            for (int copy : { 0, 1 })
                measure_load(matrix, rounds, busy, copy);
}
