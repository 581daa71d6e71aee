// Exercise 21: wgmma. A warpgroup multiplies a tile of A, 128 rows, by a tile of B, straight from shared memory.
#include "hopper.cuh"

constexpr int BM = 128, BN = 128, BK = 64;  // block tile
constexpr int THREADS = 128;                // one warpgroup
constexpr int BOX = 64;                     // halves in a row of a box: 128 bytes, swizzled by 128 bytes
__constant__ int geometry[] = { BM, BN, BK, THREADS, 0, 0, 0, 16, BN, BOX };  // read by the check
static_assert(BM == 128 && BN == 128 && BK == 64, "the accumulators of this exercise are for these sizes");

// Tiles as TMA brings them: As[BM][BOX], and Bs[BN / BOX][BK][BOX]. Chunk c of row r is at place c ^ r % 8.
__shared__ __align__(1024) half As[BM * BOX], Bs[BK * BN];

// d[64][128] = a[64][16] * b[16][128], + d if add is not 0. d[4 * j + 2 * h + e] of lane l of warp w is the element in
// row 16 * w + 8 * h + l / 4, column 8 * j + l % 4 * 2 + e.
__device__ void wgmma(float (&d)[64], uint64_t a, uint64_t b, int add)
{
    asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %66, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {"
                 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
                 "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
                 "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
                 "}, %64, %65, add, 1, 1, 0, 1;\n}"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
                   "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
                   "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]),
                   "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]),
                   "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]),
                   "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]),
                   "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]), "+f"(d[50]),
                   "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), "+f"(d[57]),
                   "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
                 : "l"(a), "l"(b), "r"(add));
}

// M and N are multiples of 128 here: this exercise is about the product, not about edges.
extern "C" __global__ void __launch_bounds__(THREADS)
gemm(int M, int N, int K, float alpha, const __grid_constant__ CUtensorMap A, const __grid_constant__ CUtensorMap B,
     float beta, half *C)
{
    __shared__ uint64_t full;  // barrier: the tiles have come

    // --- Who am I? ---
    const int tid = threadIdx.x;
    const int warp = tid / 32, lane = tid % 32;
    const int brow = blockIdx.y * BM, bcol = blockIdx.x * BN;  // first row and column of the block's tile of C

    // --- Accumulators ---
    // Two products of 64 rows: acc[0] has rows 0 to 63 of the tile, acc[1] rows 64 to 127.
    // >>> yours: does wgmma need the zeros?
    float acc[2][BN / 2];
    // --- stub
    //| float acc[2][BN / 2] = {};
    // --- bug no fence: "registers of wgmma" "no wgmma.fence comes between them"
    //| float acc[2][BN / 2] = {};
    // <<<
    auto row_of = [&](int i, int h) { return i * 64 + warp * 16 + h * 8 + lane / 4; };
    auto col_of = [&](int j) { return j * 8 + lane % 4 * 2; };

    // --- Load ---
    if (tid == 0) {
        mbarrier_init(&full, 1);
        mbarrier_init_fence();
    }
    __syncthreads();  // the barrier exists before anyone uses it
    for (int tile = 0; tile < (K - 1) / BK + 1; tile++) {
        if (tid == 0) {
            mbarrier_expect(&full, sizeof As + sizeof Bs);
            tma_load(As, &A, &full, brow, tile * BK);
            for (int j = 0; j < BN; j += BOX)
                tma_load(&Bs[j * BK], &B, &full, tile * BK, bcol + j);
        }
        mbarrier_wait(&full, tile % 2);

        // --- Compute ---
        // >>> yours, 9 lines: the same by wgmma. For each 16 of K two products, one for each half of the rows
        wgmma_fence();
#pragma unroll
        for (int k = 0; k < BK; k += 16)
#pragma unroll
            for (int i = 0; i < 2; i++)
                wgmma(acc[i], wgmma_descriptor(&As[i * 64 * BOX + k], 16, 1024),
                      wgmma_descriptor(&Bs[k * BOX], BK * 128, 1024), tile + k);
        wgmma_commit();
        wgmma_wait<0>();
        // --- stub
        //| for (int k = 0; k < BK; k++) {
        //| #pragma unroll
        //|     for (int n = 0; n < BN; n++) {
        //|         const int i = n / 64, h = n / 2 % 2, e = n % 2, j = n % 64 / 4;  // 2 x 16 x 2 x 2 elements
        //|         const int r = row_of(i, h), c = col_of(j) + e;
        //|         const half a = As[r * BOX + (k ^ r % 8 * 8)];
        //|         const half b = Bs[c / BOX * BK * BOX + k * BOX + (c % BOX ^ k % 8 * 8)];
        //|         acc[i][n % 64] += __half2float(a) * __half2float(b);
        //|     }
        //| }
        // --- bug no fence: "wgmma.fence between the line"
        //| #pragma unroll
        //| for (int k = 0; k < BK; k += 16)
        //| #pragma unroll
        //|     for (int i = 0; i < 2; i++)
        //|         wgmma(acc[i], wgmma_descriptor(&As[i * 64 * BOX + k], 16, 1024),
        //|               wgmma_descriptor(&Bs[k * BOX], BK * 128, 1024), tile + k);
        //| wgmma_commit();
        //| wgmma_wait<0>();
        // --- bug no wait: "which has not been waited for" "wgmma.wait_group"
        //| wgmma_fence();
        //| #pragma unroll
        //| for (int k = 0; k < BK; k += 16)
        //| #pragma unroll
        //|     for (int i = 0; i < 2; i++)
        //|         wgmma(acc[i], wgmma_descriptor(&As[i * 64 * BOX + k], 16, 1024),
        //|               wgmma_descriptor(&Bs[k * BOX], BK * 128, 1024), tile + k);
        //| wgmma_commit();
        // --- bug no commit: "NO  the result is right" "look at"
        //| wgmma_fence();
        //| #pragma unroll
        //| for (int k = 0; k < BK; k += 16)
        //| #pragma unroll
        //|     for (int i = 0; i < 2; i++)
        //|         wgmma(acc[i], wgmma_descriptor(&As[i * 64 * BOX + k], 16, 1024),
        //|               wgmma_descriptor(&Bs[k * BOX], BK * 128, 1024), tile + k);
        //| wgmma_wait<0>();
        // --- bug a group is left open: "which has not been waited for" "wgmma.wait_group"
        //| wgmma_fence();
        //| #pragma unroll
        //| for (int k = 0; k < BK; k += 16)
        //| #pragma unroll
        //|     for (int i = 0; i < 2; i++)
        //|         wgmma(acc[i], wgmma_descriptor(&As[i * 64 * BOX + k], 16, 1024),
        //|               wgmma_descriptor(&Bs[k * BOX], BK * 128, 1024), tile + k);
        //| wgmma_commit();
        //| wgmma_wait<1>();
        // --- bug wrong stride of A: "C[8][0]" "for A[8][0] it takes A[1][0]"
        //| wgmma_fence();
        //| #pragma unroll
        //| for (int k = 0; k < BK; k += 16)
        //| #pragma unroll
        //|     for (int i = 0; i < 2; i++)
        //|         wgmma(acc[i], wgmma_descriptor(&As[i * 64 * BOX + k], 16, 128),
        //|               wgmma_descriptor(&Bs[k * BOX], BK * 128, 1024), tile + k);
        //| wgmma_commit();
        //| wgmma_wait<0>();
        // --- bug wrong stride of B: "out of bounds" "of Bs"
        //| wgmma_fence();
        //| #pragma unroll
        //| for (int k = 0; k < BK; k += 16)
        //| #pragma unroll
        //|     for (int i = 0; i < 2; i++)
        //|         wgmma(acc[i], wgmma_descriptor(&As[i * 64 * BOX + k], 16, 1024),
        //|               wgmma_descriptor(&Bs[k * BOX], BK * 128, 8192), tile + k);
        //| wgmma_commit();
        //| wgmma_wait<0>();
        // --- bug wrong leading offset of B: "C[0][64]" "for B[0][64] it takes B[1][0]"
        //| wgmma_fence();
        //| #pragma unroll
        //| for (int k = 0; k < BK; k += 16)
        //| #pragma unroll
        //|     for (int i = 0; i < 2; i++)
        //|         wgmma(acc[i], wgmma_descriptor(&As[i * 64 * BOX + k], 16, 1024),
        //|               wgmma_descriptor(&Bs[k * BOX], 128, 1024), tile + k);
        //| wgmma_commit();
        //| wgmma_wait<0>();
        // --- bug wrong step of K in A: "out of bounds" "of As"
        //| wgmma_fence();
        //| #pragma unroll
        //| for (int k = 0; k < BK; k += 16)
        //| #pragma unroll
        //|     for (int i = 0; i < 2; i++)
        //|         wgmma(acc[i], wgmma_descriptor(&As[i * 64 * BOX + k * BOX], 16, 1024),
        //|               wgmma_descriptor(&Bs[k * BOX], BK * 128, 1024), tile + k);
        //| wgmma_commit();
        //| wgmma_wait<0>();
        // --- bug wrong step of K in B: "chunks of B" "for B[16][0] it takes B[0][16]"
        //| wgmma_fence();
        //| #pragma unroll
        //| for (int k = 0; k < BK; k += 16)
        //| #pragma unroll
        //|     for (int i = 0; i < 2; i++)
        //|         wgmma(acc[i], wgmma_descriptor(&As[i * 64 * BOX + k], 16, 1024),
        //|               wgmma_descriptor(&Bs[k], BK * 128, 1024), tile + k);
        //| wgmma_commit();
        //| wgmma_wait<0>();
        // --- bug the same rows twice: "C[64][0]" "the row of A is off by -64"
        //| wgmma_fence();
        //| #pragma unroll
        //| for (int k = 0; k < BK; k += 16)
        //| #pragma unroll
        //|     for (int i = 0; i < 2; i++)
        //|         wgmma(acc[i], wgmma_descriptor(&As[k], 16, 1024),
        //|               wgmma_descriptor(&Bs[k * BOX], BK * 128, 1024), tile + k);
        //| wgmma_commit();
        //| wgmma_wait<0>();
        // --- bug always adds: "NO  the result is right"
        //| wgmma_fence();
        //| #pragma unroll
        //| for (int k = 0; k < BK; k += 16)
        //| #pragma unroll
        //|     for (int i = 0; i < 2; i++)
        //|         wgmma(acc[i], wgmma_descriptor(&As[i * 64 * BOX + k], 16, 1024),
        //|               wgmma_descriptor(&Bs[k * BOX], BK * 128, 1024), 1);
        //| wgmma_commit();
        //| wgmma_wait<0>();
        // --- bug each tile begins anew: "K 192" "only the last tile's 64 are there"
        //| wgmma_fence();
        //| #pragma unroll
        //| for (int k = 0; k < BK; k += 16)
        //| #pragma unroll
        //|     for (int i = 0; i < 2; i++)
        //|         wgmma(acc[i], wgmma_descriptor(&As[i * 64 * BOX + k], 16, 1024),
        //|               wgmma_descriptor(&Bs[k * BOX], BK * 128, 1024), k);
        //| wgmma_commit();
        //| wgmma_wait<0>();
        // --- bug a wait for each 16 of K: "right result, but" "12 times" "3 waits suffice"
        //| #pragma unroll
        //| for (int k = 0; k < BK; k += 16) {
        //|     wgmma_fence();
        //| #pragma unroll
        //|     for (int i = 0; i < 2; i++)
        //|         wgmma(acc[i], wgmma_descriptor(&As[i * 64 * BOX + k], 16, 1024),
        //|               wgmma_descriptor(&Bs[k * BOX], BK * 128, 1024), tile + k);
        //|     wgmma_commit();
        //|     wgmma_wait<0>();
        //| }
        // <<<
        __syncthreads();  // everyone has multiplied the tiles before they are overwritten
    }

    // --- Store ---
#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
        for (int n = 0; n < BN / 2; n += 2) {
            half2 *c = reinterpret_cast<half2 *>(&C[size_t(brow + row_of(i, n / 2 % 2)) * N + bcol + col_of(n / 4)]);
            const float2 old = beta == 0 ? float2{ 0, 0 } : __half22float2(*c);
            *c = __floats2half2_rn(alpha * acc[i][n] + beta * old.x, alpha * acc[i][n + 1] + beta * old.y);
        }
}
