// One warp, one 16 x 16 x 16 product in halves: the published story of bank conflicts in five kernels, for test_story.c.
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

// Bits S to S + B - 1 of an index of 16-byte chunks, counted from bit M of an index of halves, go into bits 0 to B - 1.
template <int B, int M, int S> __device__ int swizzle(int i)
{
    return i ^ (i >> S & ((1 << B) - 1) << M);
}

template <int PITCH, int B, bool TILE_C> __device__ void copy_in(half *As, half *Bs, const half *A, const half *Bg)
{
    const int row = threadIdx.x / 2, col = threadIdx.x % 2 * 8;
    *reinterpret_cast<uint4 *>(&As[swizzle<B, 3, 3>(row * PITCH + col)]) = *reinterpret_cast<const uint4 *>(&A[row * 16 + col]);
    *reinterpret_cast<uint4 *>(&Bs[swizzle<B, 3, 3>(row * PITCH + col)]) = *reinterpret_cast<const uint4 *>(&Bg[row * 16 + col]);
    __syncwarp();
}

template <int PITCH> __device__ void with_wmma(half *C, const half *A, const half *B)
{
    __shared__ __align__(32) half As[16 * PITCH], Bs[16 * PITCH], Cs[16 * 16];
    copy_in<PITCH, 0, true>(As, Bs, A, B);
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, half> c;
    wmma::fill_fragment(c, __float2half(0));
    wmma::load_matrix_sync(a, As, PITCH);
    wmma::load_matrix_sync(b, Bs, PITCH);
    wmma::mma_sync(c, a, b, c);
    wmma::store_matrix_sync(Cs, c, 16, wmma::mem_row_major);
    __syncwarp();
    reinterpret_cast<uint4 *>(C)[threadIdx.x] = reinterpret_cast<uint4 *>(Cs)[threadIdx.x];
}

template <int PITCH, int B> __device__ void with_mma(half *C, const half *A, const half *Bg)
{
    __shared__ __align__(128) half As[16 * PITCH], Bs[16 * PITCH];
    copy_in<PITCH, B, false>(As, Bs, A, Bg);
    const int lane = threadIdx.x, at = swizzle<B, 3, 3>(lane % 16 * PITCH + lane / 16 * 8);
    unsigned a[4], b[4];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3]) : "r"(unsigned(__cvta_generic_to_shared(&As[at]))));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(b[0]), "=r"(b[1]), "=r"(b[2]), "=r"(b[3]) : "r"(unsigned(__cvta_generic_to_shared(&Bs[at]))));
    for (int h = 0; h < 2; h++) {
        unsigned d[2] = {};
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
                     : "+r"(d[0]), "+r"(d[1]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[2 * h]), "r"(b[2 * h + 1]));
        for (int r = 0; r < 2; r++)
            *reinterpret_cast<unsigned *>(&C[(lane / 4 + 8 * r) * 16 + 8 * h + lane % 4 * 2]) = d[r];
    }
}

#define KERNEL(name) extern "C" __global__ void name(half *C, const half *A, const half *B)
KERNEL(wmma_plain) { with_wmma<16>(C, A, B); }
KERNEL(wmma_padded) { with_wmma<24>(C, A, B); }
KERNEL(mma_plain) { with_mma<16, 0>(C, A, B); }
KERNEL(mma_padded) { with_mma<24, 0>(C, A, B); }
KERNEL(mma_swizzled) { with_mma<16, 1>(C, A, B); }
