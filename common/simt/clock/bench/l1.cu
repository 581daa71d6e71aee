// Loads of global memory that hit L1, beside others that miss it; and how many lines an access may touch.
#include "timing.h"

namespace
{
constexpr int DEEP = 32;   // rows of B, and columns of A, of a round
constexpr int WIDE = 256;  // words of a row of B
constexpr int PASSES = 2;  // the first one fills L2
constexpr int LANES = 32, WARPS = 32;

// As in a matrix multiply without tiles: in each step all lanes of a warp load the same word of the warp's row of A,
// and the words of a row of B, which all warps share. From round to round both go on by a step, or stay where L1 has
// them.
template <bool A, bool B>
__global__ void __launch_bounds__(LANES *WARPS) rows_and_columns(const float *a, int row, int step_a, const float *b,
                                                                 int step_b, int rounds, u64 *cycles, unsigned *sink)
{
    float sum = 0;
    u64 begin = 0;
    for (int pass = 0; pass < PASSES; pass++) {
        const float *x = a + size_t(threadIdx.x / LANES) * row, *y = b + threadIdx.x % LANES;
        __syncthreads();
        begin = clock64();
#pragma unroll 1
        for (int i = 0; i < rounds; i++, x += step_a, y += step_b)
#pragma unroll
            for (int k = 0; k < DEEP; k++)
                sum += (A ? x[k] : 1) * (B ? y[k * WIDE] : 1);
    }
    __syncthreads();
    if (threadIdx.x == 0)
        cycles[blockIdx.x] = clock64() - begin;
    if (sum == 1)
        *sink = 1;
}

template <bool A, bool B> void measure_rows(const std::string &name, int row_a, int step_a, int step_b, int blocks)
{
    const int rounds = 128;
    const float *data = reinterpret_cast<const float *>(field);
    fill_l2(READ);
    rows_and_columns<A, B>
        <<<blocks, LANES * WARPS>>>(data, row_a, step_a, data + (64 << 20), step_b, rounds, cycles, sink);
    const int of_sm = blocks > sms ? blocks / sms : 1;
    row("rows_" + name + "_" + std::to_string(of_sm * WARPS) + "_warps_" + (blocks > 1 ? "132" : "1") + "_sms",
        "cycles of an SM for a step of a warp", taken() / (double(rounds) * DEEP * WARPS * of_sm));
}

template <class TYPE> __device__ __forceinline__ float load(const char *at);
template <> __device__ __forceinline__ float load<float>(const char *at)
{
    float x;
    asm volatile("ld.global.ca.f32 %0, [%1];" : "=f"(x) : "l"(at));
    return x;
}
template <> __device__ __forceinline__ float load<float4>(const char *at)
{
    float x, y, z, w;
    asm volatile("ld.global.ca.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(x), "=f"(y), "=f"(z), "=f"(w) : "l"(at));
    return x + y + z + w;
}

// `warps` warps load the same lines again and again, or new ones from L2: lane_step bytes from lane to lane.
template <class TYPE>
__global__ void __launch_bounds__(LANES *WARPS)
    lines(const char *data, int lane_step, int round_step, int rounds, u64 *cycles, unsigned *sink)
{
    float sum = 0;
    u64 begin = 0;
    for (int pass = 0; pass < PASSES; pass++) {
        const char *x = data + size_t(threadIdx.x / LANES) * rounds * round_step + threadIdx.x % LANES * lane_step;
        __syncthreads();
        begin = clock64();
#pragma unroll 1
        for (int i = 0; i < rounds; i += 8) {
            float each[8];
#pragma unroll
            for (int j = 0; j < 8; j++, x += round_step)
                each[j] = load<TYPE>(x);
#pragma unroll
            for (int j = 0; j < 8; j++)
                sum += each[j];
        }
    }
    __syncthreads();
    if (threadIdx.x == 0)
        *cycles = clock64() - begin;
    if (sum == 1)
        *sink = 1;
}

template <class TYPE> void measure_lines(int lane_step, int round_step, int warps)
{
    const int rounds = 64;
    fill_l2(READ);
    lines<TYPE>
        <<<1, LANES * warps>>>(reinterpret_cast<const char *>(field), lane_step, round_step, rounds, cycles, sink);
    row("lines_" + std::to_string(sizeof(TYPE)) + "_bytes_stride_" + std::to_string(lane_step) +
            (round_step ? "_from_l2_" : "_in_l1_") + std::to_string(warps) + "_warps",
        "cycles of an SM for an access", taken() / (double(rounds) * warps));
}

// A warp's load that hits behind one that misses the same line, another sector of it, or another line: cycles until it
// has come. The one that misses goes to DRAM.
__global__ void behind(const uint4 *data, const u64 *place, int where, u64 *cycles)
{
    u64 p = u64(place), q = p, begin = 0;
    const u64 far = u64(data) + size_t(blockIdx.x) * 4096;
    asm volatile("ld.global.ca.u64 %0, [%0];" : "+l"(q)::"memory");  // its line is in L1
    for (int pass = 0; pass < 2; pass++) {
        unsigned miss;
        const u64 at = where == 0 ? p : far + (where == 1 ? 0 : 32) + pass * 65536;
        __syncthreads();
        begin = clock64();
        asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(miss) : "l"(far + pass * 65536) : "memory");
        asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(reinterpret_cast<unsigned &>(q)) : "l"(at) : "memory");
        if (q == 1)
            begin = 0;
        cycles[0] = clock64() - begin;
        if (miss == 1)
            begin = 0;
        cycles[1] = clock64() - begin;
    }
}
}  // namespace

void measure_l1()
{
    const int step_b = DEEP * WIDE;
    for (int blocks : { 1, sms, 2 * sms }) {
        measure_rows<true, false>("a_stays", 4096, 0, 0, blocks);
        measure_rows<true, false>("a_goes_on", 4096, DEEP, 0, blocks);
        measure_rows<true, false>("a_goes_on_8192", 8192, DEEP, 0, blocks);
        measure_rows<true, false>("a_goes_on_4128", 4128, DEEP, 0, blocks);
        measure_rows<false, true>("b_stays", 4096, 0, 0, blocks);
        measure_rows<false, true>("b_goes_on", 4096, 0, step_b, blocks);
        measure_rows<true, true>("both_stay", 4096, 0, 0, blocks);
        measure_rows<true, true>("both_a_goes_on", 4096, DEEP, 0, blocks);
        measure_rows<true, true>("both_b_goes_on", 4096, 0, step_b, blocks);
        measure_rows<true, true>("both_go_on", 4096, DEEP, step_b, blocks);
        measure_rows<true, true>("both_go_on_8192", 8192, DEEP, step_b, blocks);
        measure_rows<true, true>("both_go_on_4128", 4128, DEEP, step_b, blocks);
    }
    for (int warps : { 4, 32 }) {
        for (int step : { 0, 4, 8, 16, 32, 64, 128, 4096 }) {
            measure_lines<float>(step, 0, warps);
            measure_lines<float4>(step < 16 && step ? 16 : step, 0, warps);
        }
        for (int step : { 4, 32, 128 }) {
            measure_lines<float>(step, 32 * step, warps);
            measure_lines<float4>(step < 16 ? 16 : step, 32 * (step < 16 ? 16 : step), warps);
        }
    }
    static const char *const wheres[] = { "another_line", "the_same_sector", "the_same_line" };
    for (int where = 0; where < 3; where++) {
        u64 c[2];
        fill_l2(READ);
        behind<<<1, 1>>>(field + (90 << 20), reinterpret_cast<u64 *>(field + (126 << 20)), where, cycles);
        CHECK(cudaMemcpy(c, cycles, sizeof c, cudaMemcpyDeviceToHost));
        row(std::string("load_behind_a_miss_of_") + wheres[where], "cycles", double(c[0]));
        row(std::string("the_miss_before_") + wheres[where], "cycles", double(c[1]));
    }
}
