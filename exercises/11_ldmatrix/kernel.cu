// Exercise 11: ldmatrix, and stmatrix made of shuffles. Which lane gives an address, and which lane holds what.
#include <cuda_fp16.h>

constexpr int BM = 32, BN = 32, BK = 32;  // block tile; each of four warps computes 16 x 16
constexpr int THREADS = 128, LD = 32 + 8;  // rows of the shared tiles are LD halves apart
__constant__ int geometry[] = { BM, BN, BK, THREADS, 0, 0, 0, 16, 16 };  // read by the check
static_assert(BM == 32 && BN == 32 && BK == 32, "the copies of this exercise are written for these sizes");

__shared__ __align__(16) half As[BM][LD], Bs[BK][LD], Cs[BM][LD];

// A 16 x 16 tile is four matrices of 8 x 8: 0 top left, 1 bottom left, 2 top right, 3 bottom right. A lane holds two
// halves of each, those of matrix q in register x[q]: of a row (of a column with .trans) lane 4 * r + c / 2 holds c and
// c + 1 of row r (column r). ldmatrix.x4 takes the address of row r of matrix i from lane 8 * i + r.
__device__ void ldmatrix(unsigned (&x)[4], const half *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                 : "r"(unsigned(__cvta_generic_to_shared(row))));
}

__device__ void ldmatrix_trans(unsigned (&x)[4], const half *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                 : "r"(unsigned(__cvta_generic_to_shared(row))));
}

// c[16][16] += a[16][16] * b[16][16]; c[2 * q] and c[2 * q + 1] are what x[q] would hold.
__device__ void mma(float (&c)[8], const unsigned (&a)[4], const unsigned (&b)[4])
{
    for (int h = 0; h < 2; h++)
        asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
            : "+f"(c[h * 4]), "+f"(c[h * 4 + 1]), "+f"(c[h * 4 + 2]), "+f"(c[h * 4 + 3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[h * 2]), "r"(b[h * 2 + 1]));
}

// Whose address this lane gives, for a tile of 16 x 16 in rows of LD.
template <class T> __device__ T *row_of(T *tile)
{
    const int lane = threadIdx.x % 32;
    // >>> yours, 1 line
    return tile + 0 * lane;
    // <<<
}

// A fragment of A: in a register two neighbours of a row.
__device__ void load_a(unsigned (&x)[4], const half *tile)
{
    // >>> yours, 1 line: the same with ldmatrix, plain or transposed
    const int lane = threadIdx.x % 32;
    for (int q = 0; q < 4; q++)
        x[q] = *reinterpret_cast<const unsigned *>(&tile[(q % 2 * 8 + lane / 4) * LD + q / 2 * 8 + lane % 4 * 2]);
    // <<<
}

// A fragment of B: in a register two neighbours of a column.
__device__ void load_b(unsigned (&x)[4], const half *tile)
{
    // >>> yours, 1 line: the same with ldmatrix, plain or transposed
    const int lane = threadIdx.x % 32;
    for (int q = 0; q < 4; q++)
        for (int e = 0; e < 2; e++)
            reinterpret_cast<half *>(&x[q])[e] = tile[(q % 2 * 8 + lane % 4 * 2 + e) * LD + q / 2 * 8 + lane / 4];
    // <<<
}

// The way back: x[q] to where load_a would take it from.
__device__ void store_c(half *tile, const unsigned (&x)[4])
{
    const int lane = threadIdx.x % 32;
    // >>> yours, about 7 lines: gather a row of a matrix from four lanes with shuffles, and store its 8 halves at once
    for (int q = 0; q < 4; q++)
        *reinterpret_cast<unsigned *>(&tile[(q % 2 * 8 + lane / 4) * LD + q / 2 * 8 + lane % 4 * 2]) = x[q];
    // <<<
}

// M, N and K are multiples of 32: this exercise is about fragments, not about edges.
extern "C" __global__ void __launch_bounds__(THREADS)
gemm(int M, int N, int K, float alpha, const half *A, const half *B, float beta, half *C)
{
    // --- Who am I? ---
    const int tid = threadIdx.x, warp = tid / 32, lane = tid % 32;
    const int brow = blockIdx.y * BM, bcol = blockIdx.x * BN;  // first row and column of the block's tile of C
    const int row = warp / 2 * 16, col = warp % 2 * 16;        // multiply: a warp's 16 x 16 of it
    const int crow = tid / 4, ccol = tid % 4 * 8;              // copy: 8 neighbours of each tile

    // --- Accumulators ---
    float acc[8] = {};

    for (int k0 = 0; k0 < K; k0 += BK) {
        // --- Load ---
        *reinterpret_cast<uint4 *>(&As[crow][ccol]) =
            *reinterpret_cast<const uint4 *>(&A[(brow + crow) * K + k0 + ccol]);
        *reinterpret_cast<uint4 *>(&Bs[crow][ccol]) =
            *reinterpret_cast<const uint4 *>(&B[(k0 + crow) * N + bcol + ccol]);
        __syncthreads();  // both tiles are complete before anyone reads them

        // --- Compute ---
        for (int k = 0; k < BK; k += 16) {
            unsigned a[4], b[4];
            load_a(a, &As[row][k]);
            load_b(b, &Bs[k][col]);
            mma(acc, a, b);
        }
        __syncthreads();  // everyone has read the tiles before they are overwritten
    }

    // --- Store ---
    unsigned x[4];
    for (int e = 0; e < 8; e++) {
        const half *c = &C[(brow + row + e / 2 % 2 * 8 + lane / 4) * N + bcol + col + e / 4 * 8 + lane % 4 * 2 + e % 2];
        reinterpret_cast<half *>(x)[e] = alpha * acc[e] + (beta == 0 ? 0 : beta * float(*c));
    }
    store_c(&Cs[row][col], x);
    __syncthreads();  // the tile is complete before anyone reads it
    *reinterpret_cast<uint4 *>(&C[(brow + crow) * N + bcol + ccol]) = *reinterpret_cast<uint4 *>(&Cs[crow][ccol]);
}

// What the check asks, with tiles whose halves hold their index row * 16 + column.
extern "C" __global__ void addresses(int *out)
{
    out[threadIdx.x] = row_of(&As[0][0]) - &As[0][0];
}

__device__ void number(half (&tile)[BK][LD])
{
    for (int i = threadIdx.x; i < 256; i += 32)
        tile[i / 16][i % 16] = __ushort_as_half(i);
    __syncwarp();  // all is there before anyone reads it
}

extern "C" __global__ void fragment_a(unsigned *out)
{
    unsigned x[4];
    number(As);
    load_a(x, &As[0][0]);
    for (int q = 0; q < 4; q++)
        out[q * 32 + threadIdx.x] = x[q];
}

extern "C" __global__ void fragment_b(unsigned *out)
{
    unsigned x[4];
    number(Bs);
    load_b(x, &Bs[0][0]);
    for (int q = 0; q < 4; q++)
        out[q * 32 + threadIdx.x] = x[q];
}

extern "C" __global__ void rows_c(unsigned short *out)
{
    const int lane = threadIdx.x;
    unsigned x[4];
    for (int q = 0; q < 4; q++)
        for (int e = 0; e < 2; e++)
            reinterpret_cast<unsigned short *>(&x[q])[e] =
                (q % 2 * 8 + lane / 4) * 16 + q / 2 * 8 + lane % 4 * 2 + e;
    store_c(&Cs[0][0], x);
    __syncwarp();  // all is stored before anyone reads it
    for (int i = lane; i < 256; i += 32)
        out[i] = __half_as_ushort(Cs[i / 16][i % 16]);
}
