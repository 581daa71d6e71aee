// Exercise 7b: split K. C is small and K is long: with one block a tile, most of the card has nothing to do.
constexpr int BM = 16, BN = 16, BK = 16;  // block tile
constexpr int THREADS = BM * BN;

__shared__ float As[BM][BK];
__shared__ float Bs[BK][BN];

// The share of K that belongs to a part, 0 to parts - 1: from *begin up to, and without, *end.
__device__ void share(int K, int part, int parts, int *begin, int *end)
{
    // >>> yours, 3 lines: whole tiles of BK, as even as they can be. Only the last tile may be short
    const int tiles = (K + BK - 1) / BK;
    *begin = tiles * part / parts * BK;
    *end = min(K, tiles * (part + 1) / parts * BK);
    // --- stub
    //| *begin = 0;
    //| *end = K;
    // --- bug everyone does everything: "part 1 begins at 0" "each product once"
    //| *begin = 0;
    //| *end = K;
    // --- bug the rest is forgotten: "the last part ends at"
    //| const int tiles = K / BK;
    //| *begin = tiles * part / parts * BK;
    //| *end = tiles * (part + 1) / parts * BK;
    // --- bug all that is left to the last: "tiles, where" "as even as they can be"
    //| const int tiles = (K + BK - 1) / BK / parts;
    //| *begin = tiles * part * BK;
    //| *end = part == parts - 1 ? K : tiles * (part + 1) * BK;
    // --- bug shares that are no whole tiles: "multiple of 16"
    //| *begin = K * part / parts;
    //| *end = K * (part + 1) / parts;
    // <<<
}

// Sums of one share of K: sums[part][M][N]. blockIdx.z is the part.
extern "C" __global__ void __launch_bounds__(THREADS)
split(int M, int N, int K, const float *A, const float *B, float *sums)
{
    // --- Who am I? ---
    const int tid = threadIdx.x;
    const int brow = blockIdx.y * BM, bcol = blockIdx.x * BN;  // first row and column of the block's tile of C
    const int row = tid / BN, col = tid % BN;
    int begin, end;
    share(K, blockIdx.z, gridDim.z, &begin, &end);

    // --- Accumulators ---
    float acc = 0;

    for (int k0 = begin; k0 < end; k0 += BK) {
        // --- Load ---
        As[row][col] = brow + row < M && k0 + col < end ? A[(brow + row) * K + k0 + col] : 0;
        Bs[row][col] = k0 + row < end && bcol + col < N ? B[(k0 + row) * N + bcol + col] : 0;
        __syncthreads();  // both tiles are complete before anyone reads them

        // --- Compute ---
        for (int k = 0; k < BK; k++)
            acc += As[row][k] * Bs[k][col];
        __syncthreads();  // everyone has read the tiles before they are overwritten
    }

    // --- Store ---
    if (brow + row < M && bcol + col < N) {
        // >>> yours, 1 line: each part has a matrix of its own
        sums[(blockIdx.z * M + brow + row) * N + bcol + col] = acc;
        // --- stub
        //| sums[(brow + row) * N + bcol + col] = acc;
        // --- bug all parts in one place: "race" "sums"
        //| sums[(brow + row) * N + bcol + col] = acc;
        // --- bug added up by atomics: "not initialised" "atomicAdd(&sums"
        //| atomicAdd(&sums[(blockIdx.z * M + brow + row) * N + bcol + col], acc);
        // <<<
    }
}

// C = alpha * (sums[0] + sums[1] + ...) + beta * C. A thread has one element of C.
extern "C" __global__ void add(int M, int N, int parts, float alpha, const float *sums, float beta, float *C)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= M * N)
        return;
    // >>> yours, 4 lines
    float acc = 0;
    for (int part = 0; part < parts; part++)
        acc += sums[part * M * N + i];
    C[i] = beta == 0 ? alpha * acc : alpha * acc + beta * C[i];
    // --- stub
    //| C[i] = alpha * sums[i];
    // --- bug beta for every part: "beta 2"
    //| float acc = 0;
    //| for (int part = 0; part < parts; part++)
    //|     acc += alpha * sums[part * M * N + i] + (beta == 0 ? 0 : beta * C[i]);
    //| C[i] = acc;
    // --- bug beta * C though beta is 0: "beta 0" "beta is 0"
    //| float acc = 0;
    //| for (int part = 0; part < parts; part++)
    //|     acc += sums[part * M * N + i];
    //| C[i] = alpha * acc + beta * C[i];
    // --- bug the parts of an element side by side: "sectors" "is wrong"
    //| float acc = 0;
    //| for (int part = 0; part < parts; part++)
    //|     acc += sums[i * parts + part];
    //| C[i] = beta == 0 ? alpha * acc : alpha * acc + beta * C[i];
    // <<<
}

// The shares, for the check.
extern "C" __global__ void shares(int K, int *out)
{
    share(K, threadIdx.x, blockDim.x, &out[2 * threadIdx.x], &out[2 * threadIdx.x + 1]);
}
