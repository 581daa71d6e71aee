// Exercise 8b: a bug hunt. A WMMA kernel as they are published, with three bugs in it.
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

// C = A * B in float, multiplied by tensor cores as halves: M x K times K x N, all in rows. A block is one warp, which
// computes a tile of 16 x 16. M, N and K are multiples of 16.
constexpr int TILE = 16;

extern "C" __global__ void __launch_bounds__(32) hunt(int M, int N, int K, const float *A, const float *B, float *C)
{
    __shared__ __align__(32) half As[TILE * TILE];
    __shared__ __align__(32) half Bs[TILE * TILE];

    // >>> yours: which tile of C is this block's?
    const int row = threadIdx.x / 32 * TILE, col = 0;
    // <<<
    // >>> yours: how do the elements of A and of B lie in memory?
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b;
    // <<<
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;
    wmma::fill_fragment(acc, 0);

    for (int k = 0; k < K; k += TILE) {
        // >>> yours: As and Bs are to hold halves. A and B are floats
        for (int i = threadIdx.x; i < TILE * TILE; i += 32) {
            As[i] = reinterpret_cast<const half *>(A)[(row + i / TILE) * K + k + i % TILE];
            Bs[i] = reinterpret_cast<const half *>(B)[(k + i / TILE) * N + col + i % TILE];
        }
        // <<<
        __syncwarp();  // both tiles are complete before any lane reads them
        wmma::load_matrix_sync(a, As, TILE);
        wmma::load_matrix_sync(b, Bs, TILE);
        wmma::mma_sync(acc, a, b, acc);
        __syncwarp();  // every lane has read the tiles before they are overwritten
    }
    wmma::store_matrix_sync(&C[row * N + col], acc, N, wmma::mem_row_major);
}
