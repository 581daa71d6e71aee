// Exercise 05: four floats at a time, and shared tiles that are read and written without bank conflicts.
constexpr int BM = 64, BN = 64, BK = 8;       // block tile
constexpr int TM = 8, TN = 8;                 // thread tile: four pieces of 4 x 4, DM rows and DN columns apart
constexpr int THREADS = BM / TM * (BN / TN);  // 64: two warps
__constant__ int geometry[] = { BM, BN, BK, THREADS, 0, TM, TN };  // read by the check
static_assert(BM == 64 && BN == 64 && BK == 8, "the copies of this exercise are written for these sizes");
// >>> yours, 2 lines: how far a thread's pieces are apart, and how many floats pad a row of As
constexpr int DM = BM / 2, DN = BN / 2;
constexpr int PAD = 4;
// --- stub
//| constexpr int DM = 4, DN = 4;  // side by side: a patch of 8 x 8
//| constexpr int PAD = 0;
// --- bug no padding: "the stores to As and Bs have 256 bank conflicts" "PAD"
//| constexpr int DM = BM / 2, DN = BN / 2;
//| constexpr int PAD = 0;
// --- bug side by side: "right result, but" "look at how Bs is read"
//| constexpr int DM = 4, DN = 4;
//| constexpr int PAD = 4;
// <<<

__shared__ __align__(16) float As[BK][BM + PAD];  // transposed: a column of A's tile lies in a row
__shared__ __align__(16) float Bs[BK][BN];

// M and N are multiples of 64 and K of 8 here: this exercise is about width, not about edges.
extern "C" __global__ void __launch_bounds__(THREADS)
gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C)
{
    // --- Who am I? ---
    const int tid = threadIdx.x;
    const int brow = blockIdx.y * BM, bcol = blockIdx.x * BN;  // first row and column of the block's tile of C
    const int arow = tid / 2, acol = tid % 2 * 4;              // 4 elements of A's tile to copy, and 4 more 32 rows below
    const int crow = tid / 16, ccol = tid % 16 * 4;            // and of B's tile, and 4 more 4 rows below
    // >>> yours, 1 line: where the first piece of this thread's patch begins
    const int row = tid / 8 * 4, col = tid % 8 * 4;
    // --- stub
    //| const int row = tid / 8 * 8, col = tid % 8 * 8;
    // --- bug side by side: "right result, but"
    //| const int row = tid / 8 * 8, col = tid % 8 * 8;
    // --- bug rows 8 apart, pieces 32 apart: "out of bounds"
    //| const int row = tid / 8 * 8, col = tid % 8 * 4;
    // <<<

    // --- Accumulators ---
    float acc[TM][TN] = {};

    A += (brow + arow) * K + acol;
    B += crow * N + bcol + ccol;
    for (int left = K; left > 0; left -= BK, A += BK, B += BK * N) {
        // --- Load ---
        for (int i = 0; i < 2; i++) {
            // >>> yours, 6 lines: copy 4 neighbours of A and 4 of B, each with one load of 128 bits; those of A transposed
            const float4 a_next = *reinterpret_cast<const float4 *>(&A[i * 32 * K]);
            As[acol + 0][arow + i * 32] = a_next.x;
            As[acol + 1][arow + i * 32] = a_next.y;
            As[acol + 2][arow + i * 32] = a_next.z;
            As[acol + 3][arow + i * 32] = a_next.w;
            *reinterpret_cast<float4 *>(&Bs[crow + i * 4][ccol]) = *reinterpret_cast<const float4 *>(&B[i * 4 * N]);
            // --- stub
            //| for (int e = 0; e < 4; e++) {
            //|     As[acol + e][arow + i * 32] = A[i * 32 * K + e];
            //|     Bs[crow + i * 4][ccol + e] = B[i * 4 * N + e];
            //| }
            // --- bug A one by one: "right result, but" "10 requests" "look at the loads of A"
            //| for (int e = 0; e < 4; e++)
            //|     As[acol + e][arow + i * 32] = A[i * 32 * K + e];
            //| *reinterpret_cast<float4 *>(&Bs[crow + i * 4][ccol]) = *reinterpret_cast<const float4 *>(&B[i * 4 * N]);
            // --- bug B one by one: "right result, but" "10 requests" "look at the loads of B"
            //| const float4 a_next = *reinterpret_cast<const float4 *>(&A[i * 32 * K]);
            //| As[acol + 0][arow + i * 32] = a_next.x;
            //| As[acol + 1][arow + i * 32] = a_next.y;
            //| As[acol + 2][arow + i * 32] = a_next.z;
            //| As[acol + 3][arow + i * 32] = a_next.w;
            //| for (int e = 0; e < 4; e++)
            //|     Bs[crow + i * 4][ccol + e] = B[i * 4 * N + e];
            // --- bug the lower half of A's tile is forgotten: "not initialised" "of As"
            //| const float4 a_next = *reinterpret_cast<const float4 *>(&A[i * 32 * K]);
            //| As[acol + 0][arow] = a_next.x;
            //| As[acol + 1][arow] = a_next.y;
            //| As[acol + 2][arow] = a_next.z;
            //| As[acol + 3][arow] = a_next.w;
            //| *reinterpret_cast<float4 *>(&Bs[crow + i * 4][ccol]) = *reinterpret_cast<const float4 *>(&B[i * 4 * N]);
            // --- bug not transposed: "out of bounds" "As[arow + i * 32][acol]"
            //| *reinterpret_cast<float4 *>(&As[arow + i * 32][acol]) = *reinterpret_cast<const float4 *>(&A[i * 32 * K]);
            //| *reinterpret_cast<float4 *>(&Bs[crow + i * 4][ccol]) = *reinterpret_cast<const float4 *>(&B[i * 4 * N]);
            // <<<
        }
        __syncthreads();  // both tiles are complete before anyone reads them

        // --- Compute ---
#pragma unroll
        for (int k = 0; k < BK; k++) {
            float a[TM], b[TN];
            for (int j = 0; j < TN; j += 4)
                *reinterpret_cast<float4 *>(&b[j]) = *reinterpret_cast<float4 *>(&Bs[k][col + j / 4 * DN]);
            for (int i = 0; i < TM; i += 4)
                *reinterpret_cast<float4 *>(&a[i]) = *reinterpret_cast<float4 *>(&As[k][row + i / 4 * DM]);
            for (int i = 0; i < TM; i++)
                for (int j = 0; j < TN; j++)
                    acc[i][j] += a[i] * b[j];
        }
        __syncthreads();  // everyone has read the tiles before they are overwritten
    }

    // --- Store ---
    for (int i = 0; i < TM; i++)
        for (int j = 0; j < TN; j++) {
            float *c = &C[(brow + row + i / 4 * DM + i % 4) * N + bcol + col + j / 4 * DN + j % 4];
            *c = alpha * acc[i][j] + (beta == 0 ? 0 : beta * *c);
        }
}
