// The library's kernel for a C of few rows (-DIN: floats, halves or bf16), at most eight: B is read once, and takes the time.
// A block has some columns of B and a part of K, whose rows of A it keeps in shared memory as floats. The last block that
// is done with its part adds up.
#include "library/epilogue.cuh"

constexpr int THREADS = 256, WARPS = THREADS / 32, MOST = 8, PART = 1024;  // PART: of K in a block, at most
constexpr int WIDE = 16 / sizeof(IN);  // elements that are loaded at once
constexpr int COLUMNS_N = 32 * WIDE, COLUMNS_T = 4 * WARPS;  // of a block, B as it is or transposed
__constant__ int geometry[] = { MOST, COLUMNS_N, PART, THREADS };  // read by the library

__shared__ float sums[WARPS * COLUMNS_N];

template <int W> __device__ inline void load(const IN *x, IN (&v)[W])
{
    if constexpr (W == WIDE)
        *reinterpret_cast<uint4 *>(v) = __ldcs(reinterpret_cast<const uint4 *>(x));  // once: it need not stay in a cache
    else
        v[0] = *x;
}

// As[k][r] for this block's part of K.
template <int R> __device__ inline void load_rows(const args &p, int z, int first, int K, float (*As)[R])
{
    const IN *A = static_cast<const IN *>(p.A) + z * p.a_next;
    for (int i = threadIdx.x; i < K * R; i += THREADS) {
        const int r = p.a_row == 1 ? i % R : i / K, k = p.a_row == 1 ? i / R : i % K;  // neighbours load neighbours
        As[k][r] = r < p.m ? widen(A[r * p.a_row + (first + k) * p.a_col]) : 0;
    }
    __syncthreads();
}

// C[r][col] from the sum of this part, if it is the only one; else puts it down for who is the last.
__device__ inline void deliver(const args &p, int z, int part, int r, int col, float sum)
{
    if (p.parts == 1)
        finish(p, z, r, col, sum);
    else
        static_cast<float *>(p.sums)[((int64_t(z) * p.parts + part) * p.m + r) * p.n + col] = sum;
}

// Adds up columns first to first + columns - 1, if all parts are there.
__device__ inline void meet(const args &p, int z, int counter, int first, int columns)
{
    __shared__ int seen;
    if (!last_part(p.counters, counter, p.parts, threadIdx.x, &seen))
        return;
    const int n = min(columns, p.n - first);
    for (int i = threadIdx.x; i < n * p.m; i += THREADS) {
        const int r = i / n, col = first + i % n;
        const float *x = static_cast<const float *>(p.sums) + (int64_t(z) * p.parts * p.m + r) * p.n + col;
        float sum = 0;
        for (int part = 0; part < p.parts; part++)
            sum += __ldcg(&x[int64_t(part) * p.m * p.n]);
        finish(p, z, r, col, sum);
    }
}

// B is k x n: a thread has W neighbouring columns, a warp every WARPS-th row.
template <int R, int W> __device__ inline void down(const args &p, int z, int part, int first, int K, float (*As)[R], int columns)
{
    constexpr int AT_ONCE = 4;  // rows of B that are on their way
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, col = columns + lane * W;
    const IN *B = static_cast<const IN *>(p.B) + z * p.b_next + int64_t(first) * p.b_row + col;
    float acc[R][W] = {};
    alignas(16) IN b[2][AT_ONCE][W];  // some are multiplied while the others are on their way
    const bool inside = col < p.n;
    auto fetch = [&](IN (&b)[AT_ONCE][W], int k) {
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++)
            if (inside && k + i * WARPS < K)
                load<W>(&B[(k + i * WARPS) * p.b_row], b[i]);
    };
    auto use = [&](const IN (&b)[AT_ONCE][W], int k) {
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++)
            if (inside && k + i * WARPS < K)
                for (int e = 0; e < R * W; e++)
                    acc[e / W][e % W] += As[k + i * WARPS][e / W] * widen(b[i][e % W]);
    };
    fetch(b[0], warp);
    load_rows<R>(p, z, first, K, As);
    for (int k = warp; k < K; k += 2 * AT_ONCE * WARPS) {
        fetch(b[1], k + AT_ONCE * WARPS);
        use(b[0], k);
        fetch(b[0], k + 2 * AT_ONCE * WARPS);
        use(b[1], k + AT_ONCE * WARPS);
    }
    for (int r = 0; r < R && r < p.m; r++) {  // a row at a time: the warps add up
        __syncthreads();
        for (int e = 0; e < W; e++)
            sums[(warp * 32 + lane) * W + e] = acc[r][e];
        __syncthreads();
        for (int i = threadIdx.x; i < 32 * W && columns + i < p.n; i += THREADS) {
            float sum = 0;
            for (int w = 0; w < WARPS; w++)
                sum += sums[w * 32 * W + i];
            deliver(p, z, part, r, columns + i, sum);
        }
    }
}

// B is n x k: a warp has four columns, a thread W neighbours along K, and the next 32 * W further on.
template <int R, int W> __device__ inline void along(const args &p, int z, int part, int first, int K, float (*As)[R], int columns)
{
    constexpr int C = 4;
    static_assert(C * R <= 32, "a lane has one of the sums in the end");
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, col = columns + warp * C;
    const IN *B = static_cast<const IN *>(p.B) + z * p.b_next + first;
    float acc[C][R] = {};
    int64_t at[C];
    for (int c = 0; c < C; c++)
        at[c] = min(col + c, p.n - 1) * p.b_col;
    alignas(16) IN b[2][C][W];  // some are multiplied while the others are on their way
    auto fetch = [&](IN (&b)[C][W], int k) {
        for (int c = 0; c < C; c++)
            if (k + W <= K)
                load<W>(&B[at[c] + k], b[c]);
    };
    auto use = [&](const IN (&b)[C][W], int k) {
        if (k + W <= K) {  // if that is asked at each product, 2 x 8192 x 8192 takes 148 us in place of 83
#pragma unroll
            for (int i = 0; i < W * C * R; i++)
                acc[i / R % C][i % R] += As[k + i / R / C][i % R] * widen(b[i / R % C][i / R / C]);
        } else {
#pragma unroll 1
            for (; k < K; k++)
#pragma unroll
                for (int i = 0; i < C * R; i++)
                    acc[i / R][i % R] += As[k][i % R] * widen(B[at[i / R] + k]);
        }
    };
    fetch(b[0], lane * W);
    load_rows<R>(p, z, first, K, As);
    for (int k = lane * W; k < K; k += 2 * 32 * W) {
        fetch(b[1], k + 32 * W);
        use(b[0], k);
        fetch(b[0], k + 2 * 32 * W);
        use(b[1], k + 32 * W);
    }
    float mine = 0;  // a lane has one of the sums in the end
#pragma unroll
    for (int i = 0; i < C * R; i++) {
        float sum = acc[i / R][i % R];
        for (int d = 16; d; d /= 2)
            sum += __shfl_xor_sync(~0u, sum, d);
        mine = lane == i ? sum : mine;
    }
    if (lane < C * R && lane % R < p.m && col + lane / R < p.n)
        deliver(p, z, part, lane % R, col + lane / R, mine);
}

// Block x: columns first, so that neighbours read what is side by side in memory; then a part of K, then the matrix.
template <int R, bool TURN_B> __device__ inline void product(const args &p)
{
    __shared__ float As[PART][R];
    const int columns = TURN_B ? COLUMNS_T : COLUMNS_N / (p.wide_b > 1 ? 1 : WIDE), groups = (p.n - 1) / columns + 1;
    const int group = blockIdx.x % groups, part = blockIdx.x / groups % p.parts, z = blockIdx.x / groups / p.parts;
    const int first = part * p.part, K = min(p.part, p.k - first);
    if (TURN_B)
        p.wide_b > 1 ? along<R, WIDE>(p, z, part, first, K, As, group * columns) : along<R, 1>(p, z, part, first, K, As, group * columns);
    else
        p.wide_b > 1 ? down<R, WIDE>(p, z, part, first, K, As, group * columns) : down<R, 1>(p, z, part, first, K, As, group * columns);
    if (p.parts > 1)
        meet(p, z, z * groups + group, group * columns, columns);
}

#define KERNEL(name, R, TURN_B)                                                                                        \
    extern "C" __global__ void __launch_bounds__(THREADS) name(const __grid_constant__ args p)                         \
    {                                                                                                                  \
        product<R, TURN_B>(p);                                                                                         \
    }
KERNEL(rows1_n, 1, false)
KERNEL(rows2_n, 2, false)
KERNEL(rows4_n, 4, false)
KERNEL(rows8_n, 8, false)
KERNEL(rows1_t, 1, true)
KERNEL(rows2_t, 2, true)
KERNEL(rows4_t, 4, true)
KERNEL(rows8_t, 8, true)
