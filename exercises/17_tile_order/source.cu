// Exercise 17: in which order the blocks take the tiles of C.
constexpr int BM = 8, BN = 16;  // block tile: wider than tall
constexpr int THREADS = BM * BN;
__constant__ int geometry[] = { BM, BN, 0, THREADS };  // read by the check

// The first row and the first column of C's tile that block p computes. GPUs begin them in the order of p, so those that
// run at the same time have neighbouring p, and share what the L2 cache holds of A and B.
__device__ void tile_of(int p, int M, int N, int *row, int *col)
{
    // >>> yours, 8 lines: every tile once, whatever M and N are, and 16 or 132 neighbours p on a compact patch of tiles
    constexpr int GROUP = 8;                                       // rows of tiles that are taken together
    const int rows = (M + BM - 1) / BM, cols = (N + BN - 1) / BN;  // tiles of C, those that stick out included
    const int first = p / (GROUP * cols) * GROUP;                  // the group's first row of tiles
    const int height = min(GROUP, rows - first);                   // the last group may be lower
    const int q = p % (GROUP * cols);                              // p within its group, which goes down its columns
    *row = (first + q % height) * BM;
    *col = q / height * BN;
    // --- stub
    //| *row = p * BM / N * BN;  // from a published kernel, whose tiles were square
    //| *col = p * BN % N;
    // --- bug row and column spans mixed: "as block 0 does" "which of BM and BN"
    //| *row = p * BM / N * BN;
    //| *col = p * BN % N;
    // --- bug a ragged row of tiles: "no tile begins" "how many tiles a row of C has"
    //| *row = p * BN / N * BM;
    //| *col = p * BN % N;
    // --- bug rounded down: "begins at row 40" "how many tiles a row of C has"
    //| const int cols = N / BN > 0 ? N / BN : 1;
    //| *row = p / cols * BM;
    //| *col = p % cols * BN;
    // --- bug row by row: "but 16 consecutive blocks" "too wide" "which of row and col"
    //| const int cols = (N + BN - 1) / BN;
    //| *row = p / cols * BM;
    //| *col = p % cols * BN;
    // --- bug column by column: "but 16 consecutive blocks" "too tall" "which of row and col"
    //| const int rows = (M + BM - 1) / BM;
    //| *row = p % rows * BM;
    //| *col = p / rows * BN;
    // --- bug groups walked along their rows: "every tile once, but 16 consecutive blocks"
    //| constexpr int GROUP = 8;
    //| const int cols = (N + BN - 1) / BN;
    //| const int first = p / (GROUP * cols) * GROUP;
    //| const int q = p % (GROUP * cols);
    //| *row = (first + q / cols) * BM;
    //| *col = q % cols * BN;
    // --- bug groups of 2: "every tile once, but 132 consecutive blocks"
    //| constexpr int GROUP = 2;
    //| const int rows = (M + BM - 1) / BM, cols = (N + BN - 1) / BN;
    //| const int first = p / (GROUP * cols) * GROUP;
    //| const int height = rows - first < GROUP ? rows - first : GROUP;
    //| const int q = p % (GROUP * cols);
    //| *row = (first + q % height) * BM;
    //| *col = q / height * BN;
    // --- bug the last group as high as the others: "begins at row 16" "at the last group"
    //| constexpr int GROUP = 8;
    //| const int cols = (N + BN - 1) / BN;
    //| const int first = p / (GROUP * cols) * GROUP;
    //| const int q = p % (GROUP * cols);
    //| *row = (first + q % GROUP) * BM;
    //| *col = q / GROUP * BN;
    // <<<
}

// Writes down the order: row and column of block 0, of block 1, and so on.
extern "C" __global__ void order(int M, int N, int *begins)
{
    int row, col;
    tile_of(blockIdx.x, M, N, &row, &col);
    begins[2 * blockIdx.x] = row;
    begins[2 * blockIdx.x + 1] = col;
}

extern "C" __global__ void __launch_bounds__(THREADS)
gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C)
{
    // --- Who am I? ---
    const int tid = threadIdx.x;
    int brow, bcol;  // first row and column of the block's tile of C
    tile_of(blockIdx.y * gridDim.x + blockIdx.x, M, N, &brow, &bcol);
    const int row = brow + tid / BN, col = bcol + tid % BN;
    if (row >= M || col >= N)
        return;

    // --- Compute ---
    float acc = 0;
    for (int k = 0; k < K; k++)
        acc += A[row * K + k] * B[k * N + col];

    // --- Store ---
    float *c = &C[row * N + col];
    *c = beta == 0 ? alpha * acc : alpha * acc + beta * *c;
}
