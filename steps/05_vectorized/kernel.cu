// Step 05: 128-bit accesses. Four floats travel at once, from global to shared memory and on to the registers.
// --- Tile sizes ---
constexpr int BM = 128, BN = 128, BK = 8;  // block tile
constexpr int TM = 8, TN = 8;              // thread tile: four pieces of 4 x 4, DM rows and DN columns apart
constexpr int DM = BM / 2, DN = BN / 2;
constexpr int THREADS = BM / TM * (BN / TN);
constexpr int PAD = 4;  // shifts the rows of As by four banks: its transposed stores do not conflict
static_assert(BM * BK == 4 * THREADS && BK * BN == 4 * THREADS, "every thread copies 4 elements of each tile");
__constant__ int geometry[] = { BM, BN, BK, THREADS, 0, TM, TN };  // read by the driver

__shared__ __align__(16) float As[BK][BM + PAD];  // transposed: a column of A's tile lies in a row
__shared__ __align__(16) float Bs[BK][BN];

// A tile may reach past the edge of its matrix. Along M, clamp repeats the last row: what comes of it is never stored.
__device__ int clamp(int i, int n)
{
    return min(i, n - 1);
}

// The first n of 4 neighbours in a row, and 0 for the others.
// WIDE: rows start at multiples of 16 bytes, so that all 4 are there or none, and one load takes them.
template <bool WIDE> __device__ float4 load(const float *x, int n)
{
    if constexpr (WIDE)
        return n > 0 ? *reinterpret_cast<const float4 *>(x) : float4();
    return { n > 0 ? x[0] : 0, n > 1 ? x[1] : 0, n > 2 ? x[2] : 0, n > 3 ? x[3] : 0 };
}

// Neighbours in a row of C. beta = 0 must not read C: it may hold NaN, or nothing yet.
template <bool WIDE>
__device__ void store(float *C, int M, int N, int row, int col, float alpha, const float *acc, float beta)
{
    const int n = row < M ? N - col : 0;  // so many are inside
    float *c = &C[size_t(row) * N + col];
    const float4 old = beta == 0 ? float4() : load<WIDE>(c, n);
    const float4 v = { alpha * acc[0] + beta * old.x, alpha * acc[1] + beta * old.y, alpha * acc[2] + beta * old.z,
                       alpha * acc[3] + beta * old.w };
    if (WIDE && n > 0)
        *reinterpret_cast<float4 *>(c) = v;
    for (int j = 0; !WIDE && j < 4; j++)
        if (j < n)
            c[j] = (&v.x)[j];
}

template <bool WIDE>
__device__ void product(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C)
{
    // --- Who am I? ---
    const int tid = threadIdx.x;
    const int brow = blockIdx.y * BM, bcol = blockIdx.x * BN;  // first row and column of the block's tile of C
    const int row = tid / (BN / TN) * 4;
    const int col = tid % (BN / TN) * 4;
    const int arow = tid / (BK / 4), acol = tid % (BK / 4) * 4;  // the 4 elements of A's tile to copy
    const int crow = tid / (BN / 4), ccol = tid % (BN / 4) * 4;  // and those of B's tile

    // --- Accumulators ---
    float acc[TM][TN] = {};

    // --- Load ---
    // A and B move along K, tile by tile; left is how much of K is still to come. Where BK does not divide K, the first
    // tile is the short one: the others need not ask. Nor need wide rows along N: past the edge they clamp as well.
    A += size_t(clamp(brow + arow, M)) * K + acol;                           // BM x K: the block's rows
    B += size_t(crow) * N + (WIDE ? min(bcol + ccol, N - 4) : bcol + ccol);  // K x BN: the block's columns
    const int cols = WIDE ? 4 : N - bcol - ccol;
    const int first = (K - 1) % BK + 1;
    float4 a_next = load<WIDE>(A, first - acol);
    float4 b_next = load<WIDE>(B, crow < first ? cols : 0);
    int left = K - first;
    A += first, B += size_t(first) * N;
    auto fetch = [&] {
        if (cols >= 4)
            b_next = load<WIDE>(B, 4);
        else
            b_next = load<WIDE>(B, cols);
        a_next = load<WIDE>(A, 4);
        left -= BK, A += BK, B += size_t(BK) * N;
    };
    auto put = [&] {
        As[acol + 0][arow] = a_next.x;
        As[acol + 1][arow] = a_next.y;
        As[acol + 2][arow] = a_next.z;
        As[acol + 3][arow] = a_next.w;
        *reinterpret_cast<float4 *>(&Bs[crow][ccol]) = b_next;
    };
    for (int tile = 0; tile <= (K - 1) / BK; tile++) {
        put();
        __syncthreads();  // both tiles are complete before anyone reads them

        // --- Compute ---
#pragma unroll
        for (int k = 0; k < BK; k++) {
            float a[TM], b[TN];
            for (int i = 0; i < TM; i += 4)
                *reinterpret_cast<float4 *>(&a[i]) = *reinterpret_cast<float4 *>(&As[k][row + i / 4 * DM]);
            for (int j = 0; j < TN; j += 4)
                *reinterpret_cast<float4 *>(&b[j]) = *reinterpret_cast<float4 *>(&Bs[k][col + j / 4 * DN]);
            for (int j = 0; j < TN; j++)
                for (int z = 0; z < TM; z++) {
                    const int i = j % 2 ? z : TM - 1 - z;  // there and back: the next product finds its a in place
                    acc[i][j] += a[i] * b[j];
                }
        }
        __syncthreads();  // everyone has read the tiles before they are overwritten
        if (left > 0)
            fetch();  // the next tiles
    }

    // --- Store ---
    for (int i = 0; i < TM; i++)
        for (int j = 0; j < TN; j += 4)
            store<WIDE>(C, M, N, brow + row + i / 4 * DM + i % 4, bcol + col + j / 4 * DN, alpha, &acc[i][j], beta);
}

extern "C" __global__ void __launch_bounds__(THREADS, 2)  // 2 blocks an SM: at most 128 registers a thread
gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C)
{
    // Chosen once, so that no copy has to ask how rows are aligned.
    K % 4 || N % 4 ? product<false>(M, N, K, alpha, A, B, beta, C) : product<true>(M, N, K, alpha, A, B, beta, C);
}
