// wmma of every type and shape, for test_kernels.c: C = A B + C of one tile by one warp. in: A, B and C as whole numbers,
// row by row; out: D the same way.
#include <cuda_fp16.h>
#include <mma.h>

#include <type_traits>
using namespace nvcuda;

template <class T> __device__ T of(int x)
{
    return T(float(x));
}

// TA: how A and B are stored; FA: what the fragment is made of; TC: the accumulators' type.
template <int M, int N, int K, class TA, class FA, class TC, class LA, class LB, wmma::layout_t LC>
__device__ void product(int *out, const int *in)
{
    constexpr int LEAST = 16 / sizeof(TA);  // rows begin at multiples of 16 bytes
    __shared__ __align__(32) TA a[32 * 16], b[32 * 16];
    __shared__ __align__(32) TC c[M * N];
    constexpr bool arow = std::is_same<LA, wmma::row_major>::value, brow = std::is_same<LB, wmma::row_major>::value;
    constexpr int LDA = arow ? (K > LEAST ? K : LEAST) : (M > LEAST ? M : LEAST);
    constexpr int LDB = brow ? (N > LEAST ? N : LEAST) : (K > LEAST ? K : LEAST);
    for (int e = threadIdx.x; e < M * K; e += 32)
        a[arow ? e / K * LDA + e % K : e % K * LDA + e / K] = of<TA>(in[e]);
    for (int e = threadIdx.x; e < K * N; e += 32)
        b[brow ? e / N * LDB + e % N : e % N * LDB + e / N] = of<TA>(in[M * K + e]);
    for (int e = threadIdx.x; e < M * N; e += 32)
        c[LC == wmma::mem_row_major ? e : e % N * M + e / N] = of<TC>(in[M * K + K * N + e]);
    __syncwarp();
    wmma::fragment<wmma::matrix_a, M, N, K, FA, LA> fa;
    wmma::fragment<wmma::matrix_b, M, N, K, FA, LB> fb;
    wmma::fragment<wmma::accumulator, M, N, K, TC> fc;
    wmma::load_matrix_sync(fa, a, LDA);
    wmma::load_matrix_sync(fb, b, LDB);
    wmma::load_matrix_sync(fc, c, LC == wmma::mem_row_major ? N : M, LC);
    wmma::mma_sync(fc, fa, fb, fc);
    __syncwarp();
    wmma::store_matrix_sync(c, fc, LC == wmma::mem_row_major ? N : M, LC);
    __syncwarp();
    for (int e = threadIdx.x; e < M * N; e += 32)
        out[e] = int(float(c[LC == wmma::mem_row_major ? e : e % N * M + e / N]));
}

#define LAYOUTS(name, M, N, K, TA, FA, TC)                                                                             \
    extern "C" __global__ void name##_rr(int *out, const int *in)                                                      \
    {                                                                                                                  \
        product<M, N, K, TA, FA, TC, wmma::row_major, wmma::row_major, wmma::mem_row_major>(out, in);                  \
    }                                                                                                                  \
    extern "C" __global__ void name##_rc(int *out, const int *in)                                                      \
    {                                                                                                                  \
        product<M, N, K, TA, FA, TC, wmma::row_major, wmma::col_major, wmma::mem_col_major>(out, in);                  \
    }                                                                                                                  \
    extern "C" __global__ void name##_cr(int *out, const int *in)                                                      \
    {                                                                                                                  \
        product<M, N, K, TA, FA, TC, wmma::col_major, wmma::row_major, wmma::mem_row_major>(out, in);                  \
    }                                                                                                                  \
    extern "C" __global__ void name##_cc(int *out, const int *in)                                                      \
    {                                                                                                                  \
        product<M, N, K, TA, FA, TC, wmma::col_major, wmma::col_major, wmma::mem_col_major>(out, in);                  \
    }
#define SHAPES(name, TA, TC)                                                                                           \
    LAYOUTS(name##_16_16_16, 16, 16, 16, TA, TA, TC)                                                                   \
    LAYOUTS(name##_32_8_16, 32, 8, 16, TA, TA, TC)                                                                     \
    LAYOUTS(name##_8_32_16, 8, 32, 16, TA, TA, TC)

SHAPES(f16_f32, half, float)
SHAPES(f16_f16, half, half)
#ifndef __clang__  // common/clang has wmma for halves alone
SHAPES(bf16_f32, __nv_bfloat16, float)
SHAPES(s8_s32, signed char, int)
SHAPES(u8_s32, unsigned char, int)
LAYOUTS(tf32_f32_16_16_8, 16, 16, 8, float, wmma::precision::tf32, float)
LAYOUTS(f64_f64_8_8_4, 8, 8, 4, double, double, double)
#endif
