// Kernels as nvcc compiles them (kernels/*.cu), in the manner of public samples, on every device: warp collectives,
// atomics, asynchronous copies, half precision, calls, wmma of every type. What they must give is written in C here.
#include <criterion/criterion.h>
#include <criterion/redirect.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler.h"
#include "found.h"
#include "sample.h"
#include "ptx_case.h"

enum { BLOCKS = 2, THREADS = 128, N = BLOCKS * THREADS, WARP = 32 };

static uint32_t in[N];

static void fill(void)
{
    for (uint32_t i = 0; i < N; i++)
        in[i] = (i * 2654435761u >> 20) % 500;
    for (uint32_t i = 64; i < 96; i++)
        in[i] = 78;  // a warp of equals
}

// Every device must give want(i) in out[i].
static void expect(const char *name, uint32_t (*want)(uint32_t i))
{
    fill();
    ptx_file_expect(WARPS_PTX, name, (struct ptx_shape){ BLOCKS, THREADS, 0 }, in, N, want);
}

// --- lanes ---

static uint32_t block_sum(uint32_t i)
{
    uint32_t sum = 0;
    for (uint32_t k = i / THREADS * THREADS; k < (i / THREADS + 1) * THREADS; k++)
        sum += in[k];
    return sum;
}

static uint32_t prefix(uint32_t i)
{
    uint32_t sum = 0;
    for (uint32_t k = i / WARP * WARP; k <= i; k++)
        sum += in[k];
    return sum;
}

static uint32_t most_of_eight(uint32_t i)
{
    uint32_t most = 0;
    for (uint32_t k = i / 8 * 8; k < i / 8 * 8 + 8; k++)
        most = in[k] > most ? in[k] : most;
    return most;
}

static uint32_t votes(uint32_t i)
{
    uint32_t odd = 0, any = 0, alike = 0, same = 1;
    for (uint32_t k = i / WARP * WARP; k < i / WARP * WARP + WARP; k++) {
        odd += in[k] & 1;
        any |= in[k] == 77;
        alike += in[k] % 4 == in[i] % 4;
        same &= in[k] == in[i];
    }
    return odd + 100 * any + 200 + (in[i] & 1 ? 1000 * odd : 0) + 100000 * alike + 10000000 * same;
}

static uint32_t apart(uint32_t i)
{
    uint32_t first = i / 16 * 16, sum = 0, most = 0, lane = i % WARP;
    for (uint32_t k = first; k < first + 16; k++) {
        sum += in[k];
        most = in[k] > most ? in[k] : most;
    }
    return in[first + 15 - lane % 16] + (lane < 16 ? sum : most);
}

static uint32_t neighbours(uint32_t i)
{
    return in[i ^ 1] * (i & 1 ? 2 : 1);
}

Test(kernels, shuffles_move_values_between_lanes)
{
    expect("reduce", block_sum);
    expect("scan", prefix);
    expect("butterfly", most_of_eight);
}

Test(kernels, votes_and_matches_see_the_lanes_that_take_part)
{
    expect("votes", votes);
}

Test(kernels, lanes_on_two_sides_of_a_branch_shuffle_among_themselves)
{
    expect("apart", apart);
}

Test(kernels, a_warp_barrier_joins_lanes_from_two_places)
{
    expect("syncwarp", neighbours);
}

// --- atomics and asynchronous copies ---

static uint32_t bin_of(uint32_t i)
{
    uint32_t n = 0;
    for (uint32_t k = i / THREADS * THREADS; k < (i / THREADS + 1) * THREADS; k++)
        n += in[k] % 16 == i % 16;
    return n;
}

static uint32_t accumulated(uint32_t i)
{
    uint32_t first = i / THREADS * THREADS, sum = 0, most = 0, bits = 0, parity = 0;
    float halves = 0.5f * THREADS;
    for (uint32_t k = first; k < first + THREADS; k++) {
        sum += in[k];
        most = in[k] > most ? in[k] : most;
        bits |= 1u << in[k] % 32;
        parity ^= in[k];
    }
    switch (i % THREADS) {
    case 0:
    case 8:
    case 10:
        return sum;
    case 1:
        return most;
    case 2:
        return 0 - most;
    case 3:
        return bits;
    case 4:
        return parity;
    case 5:
        return THREADS % 51;
    case 6:
        return (uint32_t)ptx_of_float(halves);
    case 7:
        return 5;
    case 11:
        return THREADS;
    case 12:
        return 0 - sum;
    default:
        return 0;
    }
}

static uint32_t two_stages(uint32_t i)
{
    uint32_t t = (i % THREADS) ^ 5;
    return 3 * in[t] + in[THREADS + t];
}

Test(kernels, atomics_lose_nothing)
{
    expect("histogram", bin_of);
    expect("atomics", accumulated);
}

Test(kernels, asynchronous_copies_arrive_when_they_are_waited_for)
{
    expect("pipeline", two_stages);
}

// --- arithmetic ---

static double to_half(double x, int digits)  // to nearest even, normal numbers: f16 has 11 digits, bf16 8
{
    int e;
    double f = frexp(x, &e);
    return ldexp(nearbyint(ldexp(f, digits)), e - digits);
}

static uint32_t half_bits(double x)
{
    int e;
    double f = fabs(frexp(x, &e));
    if (x == 0)
        return signbit(x) ? 0x8000 : 0;
    return (signbit(x) ? 0x8000u : 0) | (uint32_t)(e + 14) << 10 | ((uint32_t)ldexp(f, 11) & 0x3ff);
}

static uint32_t halves(uint32_t i)
{
    double a[2] = { (double)(in[i] % 61) - 30, in[i] % 7 * 0.25 }, r[2];
    for (int k = 0; k < 2; k++)
        r[k] = to_half(a[k] * 1.5 + to_half(a[k] * a[k], 11), 11);
    double x = to_half(r[0] + r[1], 11);
    x = x > 100 ? to_half(x - 0.125, 11) : x;
    return half_bits(x) | half_bits(r[1]) << 16;
}

static uint32_t bfloats(uint32_t i)
{
    double x = to_half(to_half(in[i], 8) * 0.75 + 0.75, 8);
    return (uint32_t)(ptx_of_float((float)x) >> 16);
}

static uint32_t integers(uint32_t i)
{
    uint32_t x = in[i] * 2654435761u, y = x ^ i, brev = 0, permuted = 0, dot = 7;
    unsigned __int128 p = (unsigned __int128)((uint64_t)x << 32 | y) * ((uint64_t)y << 20 | x);
    uint64_t both = (uint64_t)y << 32 | x;
    for (int k = 0; k < 32; k++)
        brev |= (x >> k & 1) << (31 - k);
    for (int k = 0; k < 4; k++) {
        permuted |= (uint32_t)(both >> 8 * (0x3715 >> 4 * k & 7) & 255) << 8 * k;
        dot += (uint32_t)((int8_t)(x >> 8 * k) * (int8_t)(y >> 8 * k));
    }
    uint32_t r = permuted + dot + (uint32_t)(((uint64_t)y << 32 | x) << 9 >> 32) + brev;
    return r + (uint32_t)(p >> 64) + (uint32_t)(p >> 96) + ((x & y) | (~x & i)) + (uint32_t)__builtin_clz(x | 1) +
           (uint32_t)__builtin_popcount(y);
}

Test(kernels, half_precision_rounds_to_nearest_even)
{
    expect("halves", halves);
    expect("bfloats", bfloats);
}

Test(kernels, integer_intrinsics)
{
    expect("integers", integers);
}

// --- calls ---

static uint32_t called(uint32_t i)
{
    static const uint32_t y[] = { 1, 20, 300 };
    return 2 * in[i] + y[i % 3] + y[(i + 1) % 3];
}

static uint32_t branched(uint32_t i)
{
    uint32_t v = in[i];
    const uint32_t way[] = { v * 3, v + 7, v * v, v - 5, v ^ 5, v / 3, v << 3, ~v, v };
    return way[i % 9];
}

Test(kernels, functions_call_functions_and_switches_jump)
{
    expect("calls", called);
    expect("branches", branched);
}

static uint32_t one(uint32_t i)
{
    (void)i;
    return 1;
}

Test(kernels, a_failed_assertion_says_which_and_where)
{
    struct dev *d = ptx_simulator();
    uint32_t out[N] = { 0 };
    expect("asserts", one);
    in[200] = 77;
    cr_assert_not(ptx_file_run(d, WARPS_PTX, "asserts", (struct ptx_shape){ BLOCKS, THREADS, 0 }, out, N, in, N));
    found_failed(d, SUCH(SIMT_ASSERTION, .block = THE(1), .here.thread = THE(72), .detail = "in[i] != 77"));
    cr_expect(strstr(dev_error(d), "warps.cu:"), "%s", dev_error(d));
    dev_close(d);
}

Test(kernels, printf_prints, .init = cr_redirect_stdout)
{
    struct dev *d = ptx_simulator();
    uint32_t out[N] = { 0 };
    fill();
    cr_assert(ptx_file_run(d, WARPS_PTX, "prints", (struct ptx_shape){ BLOCKS, THREADS, 0 }, out, N, in, N), "%s",
              dev_error(d));
    fflush(stdout);
    cr_assert_stdout_eq_str("thread 0:  1.25 -1099511627776 x|\nthread 1:  1.25 -1099511627776 x|\n");
    dev_close(d);
}

// --- wmma ---

static const char *const layouts[] = { "rr", "rc", "cr", "cc" };

// Whole numbers small enough that every sum is exact.
static void wmma_case(struct dev *d, const char *types, int m, int n, int k)
{
    for (size_t l = 0; l < PTX_COUNTOF(layouts); l++) {
        char name[64];
        uint32_t out[256] = { 0 }, input[1024];
        int32_t *x = (int32_t *)input;
        bool positive = types[0] == 'u';
        snprintf(name, sizeof name, "%s_%d_%d_%d_%s", types, m, n, k, layouts[l]);
        for (int e = 0; e < m * k + k * n + m * n; e++) {
            x[e] = (int32_t)((uint32_t)e * 2654435761u >> 24) % 9;
            x[e] -= positive && e < m * k + k * n ? 0 : 4;
        }
        cr_expect(ptx_file_run(d, WMMA_PTX, name, (struct ptx_shape){ 1, WARP, 0 }, out, 256, input,
                               (size_t)(m * k + k * n + m * n)),
                  "%s, %s: %s", dev_about(d)->name, name, dev_error(d));
        for (int row = 0; row < m; row++) {
            for (int col = 0; col < n; col++) {
                int32_t sum = x[m * k + k * n + row * n + col];
                for (int i = 0; i < k; i++)
                    sum += x[row * k + i] * x[m * k + i * n + col];
                cr_assert_eq((int32_t)out[row * n + col], sum, "%s, %s: D[%d][%d] is %d, not %d", dev_about(d)->name,
                             name, row, col, (int32_t)out[row * n + col], sum);
            }
        }
    }
}

Test(kernels, wmma_multiplies_in_every_type_shape_and_layout, .timeout = 120)
{
    static const char *const types[] = { "f16_f32", "f16_f16", "bf16_f32", "s8_s32", "u8_s32" };
    struct dev *d[PTX_DEVICES];
    size_t devices = ptx_devices_from(d, 80, false);
    for (size_t k = 0; k < devices; k++) {
        for (size_t t = 0; t < (BY_NVCC ? PTX_COUNTOF(types) : 2); t++) {  // common/clang has halves alone
            if (!sample_brief(t, 3))
                continue;
            wmma_case(d[k], types[t], 16, 16, 16);
            wmma_case(d[k], types[t], 32, 8, 16);
            wmma_case(d[k], types[t], 8, 32, 16);
        }
        if (BY_NVCC) {
            wmma_case(d[k], "tf32_f32", 16, 16, 8);
            wmma_case(d[k], "f64_f64", 8, 8, 4);
        }
        dev_close(d[k]);
    }
}
