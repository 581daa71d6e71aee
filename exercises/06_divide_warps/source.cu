// Exercise 06: divide the warps. The block's tile among the warps, a warp's tile among its lanes.
constexpr int BM = 128, BN = 128, BK = 8;  // block tile
constexpr int WM = 32, WN = 64;            // warp tile: 4 x 2 of them make the block's
constexpr int TM = 8, TN = 8;              // thread tile: four pieces of 4 x 4, DM rows and DN columns apart
constexpr int THREADS = BM / TM * (BN / TN);
constexpr int PAD = 4;
__constant__ int geometry[] = { BM, BN, BK, THREADS, 0, TM, TN, WM, WN };  // read by the check
static_assert(BM == 128 && BN == 128 && BK == 8, "the copies of this exercise are written for these sizes");
static_assert(WM * WN == 32 * TM * TN && BM % WM == 0 && BN % WN == 0, "a warp tile is 32 thread tiles");
// >>> yours, 1 line: how far a thread's pieces are apart
constexpr int DM = WM / 2, DN = WN / 2;
// --- stub
//| constexpr int DM = BM / 2, DN = BN / 2;
// --- bug strips of 16 x 128: "the result is right" "16 rows and 128 columns" "4.5 KB" "12 wavefronts"
//| constexpr int DM = BM / 2, DN = BN / 2;
// --- bug patches of 8 x 8 in one piece: "right result, but" "bank conflicts" "Bs"
//| constexpr int DM = 4, DN = 4;
// --- bug DM for both: "warp 0, lane 8 and warp 0, lane 0 both" "DM and DN"
//| constexpr int DM = WM / 2, DN = WM / 2;
// <<<

__shared__ __align__(16) float As[BK][BM + PAD];  // transposed: a column of A's tile lies in a row
__shared__ __align__(16) float Bs[BK][BN];

struct place {
    int row, col;  // in the block's tile
};

// Where the first piece of a thread's patch begins.
__device__ place first(int tid)
{
    // >>> yours, 3 lines: from the thread to its warp and lane, to the warp's tile, to the lane's piece in it
    const int warp = tid / 32, lane = tid % 32;
    return { warp / (BN / WN) * WM + (lane % 2 + lane / 16 * 2) * 4, warp % (BN / WN) * WN + lane / 2 % 8 * 4 };
    // --- stub
    //| return { tid / 16 * 4, tid % 16 * 4 };  // along the rows: 16 pieces side by side, 16 below each other
    // --- bug strips of 16 x 128: "the result is right"
    //| return { tid / 16 * 4, tid % 16 * 4 };
    // --- bug warp's row and column exchanged: "outside of the block's tile" "warp 4, lane 0"
    //| const int warp = tid / 32, lane = tid % 32;
    //| return { warp % (BN / WN) * WM + (lane % 2 + lane / 16 * 2) * 4, warp / (BN / WN) * WN + lane / 2 % 8 * 4 };
    // --- bug divided by the wrong side: "warp 2, lane 0 and warp 0, lane 0 both" "counted first"
    //| const int warp = tid / 32, lane = tid % 32;
    //| return { warp / (BM / WM) * WM + (lane % 2 + lane / 16 * 2) * 4, warp % (BN / WN) * WN + lane / 2 % 8 * 4 };
    // --- bug the thread's number for the lane's: "outside of the block's tile" "from 0 to 31"
    //| const int warp = tid / 32;
    //| return { warp / (BN / WN) * WM + (tid % 2 + tid / 16 * 2) * 4, warp % (BN / WN) * WN + tid / 2 % 8 * 4 };
    // --- bug patches of 8 x 8 in one piece: "right result, but"
    //| const int warp = tid / 32, lane = tid % 32;
    //| return { warp / (BN / WN) * WM + (lane % 2 + lane / 16 * 2) * 8, warp % (BN / WN) * WN + lane / 2 % 8 * 8 };
    // --- bug lanes in plain order: "right result, but" "12 wavefronts where 8 are possible" "look at Bs"
    //| const int warp = tid / 32, lane = tid % 32;
    //| return { warp / (BN / WN) * WM + lane / 8 * 4, warp % (BN / WN) * WN + lane % 8 * 4 };
    // --- bug lanes down the columns: "right result, but" "12 wavefronts where 8 are possible" "look at As"
    //| const int warp = tid / 32, lane = tid % 32;
    //| return { warp / (BN / WN) * WM + lane % 4 * 4, warp % (BN / WN) * WN + lane / 4 * 4 };
    // <<<
}

// Where an element of a thread's patch lies, counted from its first one.
__device__ int down(int i)
{
    return i / 4 * DM + i % 4;
}
__device__ int right(int j)
{
    return j / 4 * DN + j % 4;
}

// For the check: the row and the column of each element of each thread, as gemm below takes them.
extern "C" __global__ void places(place *all)
{
    const place p = first(threadIdx.x);
    for (int i = 0; i < TM; i++)
        for (int j = 0; j < TN; j++)
            all[(threadIdx.x * TM + i) * TN + j] = { p.row + down(i), p.col + right(j) };
}

// M and N are multiples of 128 and K of 8 here: this exercise is about who computes what, not about edges.
extern "C" __global__ void __launch_bounds__(THREADS, 2)
gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C)
{
    // --- Who am I? ---
    const int tid = threadIdx.x;
    const int brow = blockIdx.y * BM, bcol = blockIdx.x * BN;  // first row and column of the block's tile of C
    const int arow = tid / 2, acol = tid % 2 * 4;              // the 4 elements of A's tile to copy
    const int crow = tid / 32, ccol = tid % 32 * 4;            // and those of B's tile
    const int row = first(tid).row, col = first(tid).col;

    // --- Accumulators ---
    float acc[TM][TN] = {};

    A += (brow + arow) * K + acol;
    B += crow * N + bcol + ccol;
    for (int left = K; left > 0; left -= BK, A += BK, B += BK * N) {
        // --- Load ---
        const float4 a_next = *reinterpret_cast<const float4 *>(A);
        As[acol + 0][arow] = a_next.x;
        As[acol + 1][arow] = a_next.y;
        As[acol + 2][arow] = a_next.z;
        As[acol + 3][arow] = a_next.w;
        *reinterpret_cast<float4 *>(&Bs[crow][ccol]) = *reinterpret_cast<const float4 *>(B);
        __syncthreads();  // both tiles are complete before anyone reads them

        // --- Compute ---
#pragma unroll
        for (int k = 0; k < BK; k++) {
            float a[TM], b[TN];
            for (int j = 0; j < TN; j += 4)
                *reinterpret_cast<float4 *>(&b[j]) = *reinterpret_cast<float4 *>(&Bs[k][col + right(j)]);
            for (int i = 0; i < TM; i += 4)
                *reinterpret_cast<float4 *>(&a[i]) = *reinterpret_cast<float4 *>(&As[k][row + down(i)]);
            for (int i = 0; i < TM; i++)
                for (int j = 0; j < TN; j++)
                    acc[i][j] += a[i] * b[j];
        }
        __syncthreads();  // everyone has read the tiles before they are overwritten
    }

    // --- Store ---
    for (int i = 0; i < TM; i++)
        for (int j = 0; j < TN; j++) {
            float *c = &C[(brow + row + down(i)) * N + bcol + col + right(j)];
            *c = alpha * acc[i][j] + (beta == 0 ? 0 : beta * *c);
        }
}
