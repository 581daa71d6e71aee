// Exercise 02: shared tiles, and the two barriers that keep them whole.
constexpr int BM = 16, BN = 32, BK = 16;  // block tile
constexpr int THREADS = BM * BN;          // 512: 16 warps
__constant__ int geometry[] = { BM, BN, BK, THREADS };  // read by the check

__shared__ float As[BM][BK];
__shared__ float Bs[BK][BN];

extern "C" __global__ void __launch_bounds__(THREADS)
gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C)
{
    // --- Who am I? ---
    const int tid = threadIdx.x;
    const int brow = blockIdx.y * BM, bcol = blockIdx.x * BN;  // first row and column of the block's tile of C
    const int row = tid / BN, col = tid % BN;

    // --- Accumulators ---
    float acc = 0;

    A += brow * K;
    B += bcol;
    for (int left = K; left > 0; left -= BK, A += BK, B += BK * N) {
        // >>> yours, 2 lines more: every warp runs at its own pace, so where do they have to wait for each other?
        // --- Load ---
        for (int i = tid; i < BM * BK; i += THREADS) {
            const int r = i / BK, c = i % BK;
            As[r][c] = brow + r < M && c < left ? A[r * K + c] : 0;
        }
        for (int i = tid; i < BK * BN; i += THREADS) {
            const int r = i / BN, c = i % BN;
            Bs[r][c] = r < left && bcol + c < N ? B[r * N + c] : 0;
        }
        __syncthreads();  // both tiles are complete before anyone reads them

        // --- Compute ---
        for (int k = 0; k < BK; k++)
            acc += As[row][k] * Bs[k][col];
        __syncthreads();  // everyone has read the tiles before they are overwritten
        // --- stub
        //| // --- Load ---
        //| for (int i = tid; i < BM * BK; i += THREADS) {
        //|     const int r = i / BK, c = i % BK;
        //|     As[r][c] = brow + r < M && c < left ? A[r * K + c] : 0;
        //| }
        //| for (int i = tid; i < BK * BN; i += THREADS) {
        //|     const int r = i / BN, c = i % BN;
        //|     Bs[r][c] = r < left && bcol + c < N ? B[r * N + c] : 0;
        //| }
        //|
        //| // --- Compute ---
        //| for (int k = 0; k < BK; k++)
        //|     acc += As[row][k] * Bs[k][col];
        // --- bug no barrier before the product: "race" "As[row][k] * Bs[k][col]" "is there a __syncthreads()"
        //| // --- Load ---
        //| for (int i = tid; i < BM * BK; i += THREADS) {
        //|     const int r = i / BK, c = i % BK;
        //|     As[r][c] = brow + r < M && c < left ? A[r * K + c] : 0;
        //| }
        //| for (int i = tid; i < BK * BN; i += THREADS) {
        //|     const int r = i / BN, c = i % BN;
        //|     Bs[r][c] = r < left && bcol + c < N ? B[r * N + c] : 0;
        //| }
        //|
        //| // --- Compute ---
        //| for (int k = 0; k < BK; k++)
        //|     acc += As[row][k] * Bs[k][col];
        //| __syncthreads();
        // --- bug no barrier after the product: "race" "round the loop too"
        //| // --- Load ---
        //| for (int i = tid; i < BM * BK; i += THREADS) {
        //|     const int r = i / BK, c = i % BK;
        //|     As[r][c] = brow + r < M && c < left ? A[r * K + c] : 0;
        //| }
        //| for (int i = tid; i < BK * BN; i += THREADS) {
        //|     const int r = i / BN, c = i % BN;
        //|     Bs[r][c] = r < left && bcol + c < N ? B[r * N + c] : 0;
        //| }
        //| __syncthreads();
        //|
        //| // --- Compute ---
        //| for (int k = 0; k < BK; k++)
        //|     acc += As[row][k] * Bs[k][col];
        // --- bug only the threads inside C arrive: "barrier (synccheck)" "must come to the same barrier"
        //| // --- Load ---
        //| for (int i = tid; i < BM * BK; i += THREADS) {
        //|     const int r = i / BK, c = i % BK;
        //|     As[r][c] = brow + r < M && c < left ? A[r * K + c] : 0;
        //| }
        //| for (int i = tid; i < BK * BN; i += THREADS) {
        //|     const int r = i / BN, c = i % BN;
        //|     Bs[r][c] = r < left && bcol + c < N ? B[r * N + c] : 0;
        //| }
        //| __syncthreads();
        //|
        //| // --- Compute ---
        //| if (brow + row < M && bcol + col < N) {
        //|     for (int k = 0; k < BK; k++)
        //|         acc += As[row][k] * Bs[k][col];
        //|     __syncthreads();
        //| }
        // --- bug a barrier for the warp alone: "race" "is there a __syncthreads()"
        //| // --- Load ---
        //| for (int i = tid; i < BM * BK; i += THREADS) {
        //|     const int r = i / BK, c = i % BK;
        //|     As[r][c] = brow + r < M && c < left ? A[r * K + c] : 0;
        //| }
        //| for (int i = tid; i < BK * BN; i += THREADS) {
        //|     const int r = i / BN, c = i % BN;
        //|     Bs[r][c] = r < left && bcol + c < N ? B[r * N + c] : 0;
        //| }
        //| __syncwarp();
        //|
        //| // --- Compute ---
        //| for (int k = 0; k < BK; k++)
        //|     acc += As[row][k] * Bs[k][col];
        //| __syncthreads();
        // --- bug one barrier too many: "right result, but" "3 barriers" "one barrier too many"
        //| // --- Load ---
        //| for (int i = tid; i < BM * BK; i += THREADS) {
        //|     const int r = i / BK, c = i % BK;
        //|     As[r][c] = brow + r < M && c < left ? A[r * K + c] : 0;
        //| }
        //| __syncthreads();
        //| for (int i = tid; i < BK * BN; i += THREADS) {
        //|     const int r = i / BN, c = i % BN;
        //|     Bs[r][c] = r < left && bcol + c < N ? B[r * N + c] : 0;
        //| }
        //| __syncthreads();
        //|
        //| // --- Compute ---
        //| for (int k = 0; k < BK; k++)
        //|     acc += As[row][k] * Bs[k][col];
        //| __syncthreads();
        // --- bug a barrier for each k: "right result, but" "barriers for a tile" "look at the loop over k"
        //| // --- Load ---
        //| for (int i = tid; i < BM * BK; i += THREADS) {
        //|     const int r = i / BK, c = i % BK;
        //|     As[r][c] = brow + r < M && c < left ? A[r * K + c] : 0;
        //| }
        //| for (int i = tid; i < BK * BN; i += THREADS) {
        //|     const int r = i / BN, c = i % BN;
        //|     Bs[r][c] = r < left && bcol + c < N ? B[r * N + c] : 0;
        //| }
        //| __syncthreads();
        //|
        //| // --- Compute ---
        //| for (int k = 0; k < BK; k++) {
        //|     acc += As[row][k] * Bs[k][col];
        //|     __syncthreads();
        //| }
        // --- bug no tiles at all: "right result, but" "512 requests" "look at where the product reads"
        //| // --- Compute ---
        //| for (int k = 0; k < BK && k < left; k++)
        //|     if (brow + row < M && bcol + col < N)
        //|         acc += A[row * K + k] * B[k * N + col];
        // <<<
    }

    // --- Store ---
    if (brow + row < M && bcol + col < N) {
        float *c = &C[(brow + row) * N + bcol + col];
        *c = beta == 0 ? alpha * acc : alpha * acc + beta * *c;
    }
}
