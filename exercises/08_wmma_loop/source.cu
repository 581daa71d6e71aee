// Exercise 08: the WMMA loop. A warp multiplies on the tensor cores, with fragments straight from global memory.
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

constexpr int BM = 64, BN = 64;  // block tile
constexpr int WM = 32, WN = 32;  // warp tile: 2 x 2 fragments of sums
constexpr int THREADS = 64;      // two warps side by side; each computes two warp tiles, one below the other
__constant__ int geometry[] = { BM, BN, 16, THREADS, 0, 0, 0, WM, WN };  // read by the check
static_assert(BM % WM == 0 && BN == THREADS / 32 * WN, "the warps share out the block's tile");

__shared__ __align__(32) float Ps[THREADS / 32][16 * 16];  // a patch for each warp, on the way out

// M and N are multiples of 32 and K of 16 here: this exercise is about the loop, not about edges.
extern "C" __global__ void __launch_bounds__(THREADS)
gemm(int M, int N, int K, float alpha, const half *A, const half *B, float beta, half *C)
{
    // --- Who am I? ---
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

    // --- Accumulators ---
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc[WM / 16][WN / 16];

    for (int down = 0; down < BM; down += WM) {
        // >>> yours, 2 lines: first row and column of C of the warp tile that is `down` rows below the block's first
        const int row = blockIdx.y * BM + down;
        const int col = blockIdx.x * BN + warp * WN;
        // --- stub
        //| const int row = 0;
        //| const int col = 0;
        // --- bug the block's index is ignored: "race" "each element of the result should be one block's"
        //| const int row = down;
        //| const int col = warp * WN;
        // --- bug x walks the rows: "the result is right" "3072 of 15360 elements of C are never written" "look at the grid"
        //| const int row = blockIdx.x * BM + down;
        //| const int col = blockIdx.y * BN + warp * WN;
        // <<<
        if (row >= M || col >= N)
            continue;  // the whole warp tile is outside

        // >>> yours, about 12 lines: the sums begin at 0; then, for each 16 of K, load the fragments and multiply them
        for (int i = 0; i < WM / 16; i++)
            for (int j = 0; j < WN / 16; j++)
                wmma::fill_fragment(acc[i][j], 0.0f);
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a[WM / 16];
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b[WN / 16];
        for (int k = 0; k < K; k += 16) {
            for (int i = 0; i < WM / 16; i++)
                wmma::load_matrix_sync(a[i], &A[(row + i * 16) * K + k], K);
            for (int j = 0; j < WN / 16; j++)
                wmma::load_matrix_sync(b[j], &B[k * N + col + j * 16], N);
            for (int i = 0; i < WM / 16; i++)
                for (int j = 0; j < WN / 16; j++)
                    wmma::mma_sync(acc[i][j], a[i], b[j], acc[i][j]);
        }
        // --- stub
        // --- bug fill_fragment forgotten: "uninitialised (initcheck)" "mma_sync(acc[i][j], a[i], b[j]" "fill_fragment"
        //| wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a[WM / 16];
        //| wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b[WN / 16];
        //| for (int k = 0; k < K; k += 16) {
        //|     for (int i = 0; i < WM / 16; i++)
        //|         wmma::load_matrix_sync(a[i], &A[(row + i * 16) * K + k], K);
        //|     for (int j = 0; j < WN / 16; j++)
        //|         wmma::load_matrix_sync(b[j], &B[k * N + col + j * 16], N);
        //|     for (int i = 0; i < WM / 16; i++)
        //|         for (int j = 0; j < WN / 16; j++)
        //|             wmma::mma_sync(acc[i][j], a[i], b[j], acc[i][j]);
        //| }
        // --- bug B column by column: "C[0][1] is B[1][0]" "col_major"
        //| for (int i = 0; i < WM / 16; i++)
        //|     for (int j = 0; j < WN / 16; j++)
        //|         wmma::fill_fragment(acc[i][j], 0.0f);
        //| wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a[WM / 16];
        //| wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b[WN / 16];
        //| for (int k = 0; k < K; k += 16) {
        //|     for (int i = 0; i < WM / 16; i++)
        //|         wmma::load_matrix_sync(a[i], &A[(row + i * 16) * K + k], K);
        //|     for (int j = 0; j < WN / 16; j++)
        //|         wmma::load_matrix_sync(b[j], &B[k * N + col + j * 16], N);
        //|     for (int i = 0; i < WM / 16; i++)
        //|         for (int j = 0; j < WN / 16; j++)
        //|             wmma::mma_sync(acc[i][j], a[i], b[j], acc[i][j]);
        //| }
        // --- bug A column by column: "C[0][1] is A[1][0]" "col_major"
        //| for (int i = 0; i < WM / 16; i++)
        //|     for (int j = 0; j < WN / 16; j++)
        //|         wmma::fill_fragment(acc[i][j], 0.0f);
        //| wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::col_major> a[WM / 16];
        //| wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b[WN / 16];
        //| for (int k = 0; k < K; k += 16) {
        //|     for (int i = 0; i < WM / 16; i++)
        //|         wmma::load_matrix_sync(a[i], &A[(row + i * 16) * K + k], K);
        //|     for (int j = 0; j < WN / 16; j++)
        //|         wmma::load_matrix_sync(b[j], &B[k * N + col + j * 16], N);
        //|     for (int i = 0; i < WM / 16; i++)
        //|         for (int j = 0; j < WN / 16; j++)
        //|             wmma::mma_sync(acc[i][j], a[i], b[j], acc[i][j]);
        //| }
        // --- bug B with A's leading dimension: "C[1][0] is B[0][32]" "the leading dimension"
        //| for (int i = 0; i < WM / 16; i++)
        //|     for (int j = 0; j < WN / 16; j++)
        //|         wmma::fill_fragment(acc[i][j], 0.0f);
        //| wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a[WM / 16];
        //| wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b[WN / 16];
        //| for (int k = 0; k < K; k += 16) {
        //|     for (int i = 0; i < WM / 16; i++)
        //|         wmma::load_matrix_sync(a[i], &A[(row + i * 16) * K + k], K);
        //|     for (int j = 0; j < WN / 16; j++)
        //|         wmma::load_matrix_sync(b[j], &B[k * N + col + j * 16], K);
        //|     for (int i = 0; i < WM / 16; i++)
        //|         for (int j = 0; j < WN / 16; j++)
        //|             wmma::mma_sync(acc[i][j], a[i], b[j], acc[i][j]);
        //| }
        // --- bug A with B's leading dimension: "out of bounds" "of A" "load_matrix_sync(a[i]"
        //| for (int i = 0; i < WM / 16; i++)
        //|     for (int j = 0; j < WN / 16; j++)
        //|         wmma::fill_fragment(acc[i][j], 0.0f);
        //| wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a[WM / 16];
        //| wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b[WN / 16];
        //| for (int k = 0; k < K; k += 16) {
        //|     for (int i = 0; i < WM / 16; i++)
        //|         wmma::load_matrix_sync(a[i], &A[(row + i * 16) * K + k], N);
        //|     for (int j = 0; j < WN / 16; j++)
        //|         wmma::load_matrix_sync(b[j], &B[k * N + col + j * 16], N);
        //|     for (int i = 0; i < WM / 16; i++)
        //|         for (int j = 0; j < WN / 16; j++)
        //|             wmma::mma_sync(acc[i][j], a[i], b[j], acc[i][j]);
        //| }
        // --- bug B does not move along K: "C[16][0] is B[0][0]" "where each fragment begins"
        //| for (int i = 0; i < WM / 16; i++)
        //|     for (int j = 0; j < WN / 16; j++)
        //|         wmma::fill_fragment(acc[i][j], 0.0f);
        //| wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a[WM / 16];
        //| wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b[WN / 16];
        //| for (int k = 0; k < K; k += 16) {
        //|     for (int i = 0; i < WM / 16; i++)
        //|         wmma::load_matrix_sync(a[i], &A[(row + i * 16) * K + k], K);
        //|     for (int j = 0; j < WN / 16; j++)
        //|         wmma::load_matrix_sync(b[j], &B[col + j * 16], N);
        //|     for (int i = 0; i < WM / 16; i++)
        //|         for (int j = 0; j < WN / 16; j++)
        //|             wmma::mma_sync(acc[i][j], a[i], b[j], acc[i][j]);
        //| }
        // --- bug the same fragment of A for both rows: "C[16][0] is B[0][0]" "C[16][0] is A[0][0]"
        //| for (int i = 0; i < WM / 16; i++)
        //|     for (int j = 0; j < WN / 16; j++)
        //|         wmma::fill_fragment(acc[i][j], 0.0f);
        //| wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a[WM / 16];
        //| wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b[WN / 16];
        //| for (int k = 0; k < K; k += 16) {
        //|     for (int i = 0; i < WM / 16; i++)
        //|         wmma::load_matrix_sync(a[i], &A[row * K + k], K);
        //|     for (int j = 0; j < WN / 16; j++)
        //|         wmma::load_matrix_sync(b[j], &B[k * N + col + j * 16], N);
        //|     for (int i = 0; i < WM / 16; i++)
        //|         for (int j = 0; j < WN / 16; j++)
        //|             wmma::mma_sync(acc[i][j], a[i], b[j], acc[i][j]);
        //| }
        // --- bug fragments loaded for each product: "right result, but" "8 fragments" "4 suffice"
        //| for (int i = 0; i < WM / 16; i++)
        //|     for (int j = 0; j < WN / 16; j++) {
        //|         wmma::fill_fragment(acc[i][j], 0.0f);
        //|         wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
        //|         wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
        //|         for (int k = 0; k < K; k += 16) {
        //|             wmma::load_matrix_sync(a, &A[(row + i * 16) * K + k], K);
        //|             wmma::load_matrix_sync(b, &B[k * N + col + j * 16], N);
        //|             wmma::mma_sync(acc[i][j], a, b, acc[i][j]);
        //|         }
        //|     }
        // <<<

        // --- Store ---
        for (int i = 0; i < WM / 16; i++)
            for (int j = 0; j < WN / 16; j++) {
                wmma::store_matrix_sync(Ps[warp], acc[i][j], 16, wmma::mem_row_major);
                __syncwarp();  // the patch is complete before any lane reads it
                for (int e = lane; e < 16 * 16; e += 32) {
                    half *c = &C[(row + i * 16 + e / 16) * N + col + j * 16 + e % 16];
                    // >>> yours, 1 line: alpha times the sum, plus beta times what C holds; beta = 0 must not read C
                    *c = alpha * Ps[warp][e] + (beta == 0 ? 0 : beta * float(*c));
                    // --- stub
                    //| *c = Ps[warp][e];
                    // --- bug C is always read: "beta is 0, and C was read" "not initialised" "must not be read"
                    //| *c = alpha * Ps[warp][e] + beta * float(*c);
                    // --- bug alpha and beta forgotten: "not yet: alpha and beta are in it" "alpha -0.5, beta 2"
                    //| *c = Ps[warp][e];
                    // <<<
                }
                __syncwarp();  // every lane has read the patch before it is overwritten
            }
    }
}
