// The edges of A, B and C. A tile may reach past the edge of its matrix: this header is all that kernels know about it.
//
// Past the last row or column of C, a kernel reads the last one again, or 0: what it computes there is never stored.
// Past the end of K, it reads 0: those products are added to the others.
// If beta is 0, C is not read: it may be uninitialised, or hold NaN.
//
// C is M x N. WIDE says that every row begins at a multiple of 16 bytes. Then all neighbours of a group of 16 bytes are
// inside or none is, and one access takes them. Otherwise each element is an access of its own.
#pragma once
#include <cuda_fp16.h>

// The index i, or the last of n if i is past it.
__device__ inline int clamp(int i, int n)
{
    return min(i, n - 1);
}

// --- One element: float, double or half ---

// The element, or 0.
template <class T> __device__ inline T load(const T *x, bool inside)
{
    return inside ? *x : T(0);
}

// C[row][col] = alpha * acc + beta * C[row][col], if C has that element.
template <class T> __device__ inline void store(T *C, int M, int N, int row, int col, T alpha, T acc, T beta)
{
    if (row < M && col < N) {
        T *c = &C[size_t(row) * N + col];
        *c = beta == 0 ? alpha * acc : alpha * acc + beta * *c;
    }
}

// --- 16 bytes: 4 floats ---

// The first n of 4 neighbours in a row, and 0 for the others.
template <bool WIDE> __device__ inline float4 load4(const float *x, int n)
{
    if constexpr (WIDE)
        return n > 0 ? *reinterpret_cast<const float4 *>(x) : float4();
    if (n >= 4)
        return { x[0], x[1], x[2], x[3] };
    return { load(&x[0], n > 0), load(&x[1], n > 1), load(&x[2], n > 2), load(&x[3], n > 3) };
}

// The same as store, for 4 neighbours in a row of C.
template <bool WIDE>
__device__ inline void store4(float *C, int M, int N, int row, int col, float alpha, const float *acc, float beta)
{
    const int n = row < M ? N - col : 0;  // how many are inside
    float *c = &C[size_t(row) * N + col];
    const float4 old = beta == 0 ? float4() : load4<WIDE>(c, n);
    const float4 v = { alpha * acc[0] + beta * old.x, alpha * acc[1] + beta * old.y, alpha * acc[2] + beta * old.z,
                       alpha * acc[3] + beta * old.w };
    if (WIDE && n > 0)
        *reinterpret_cast<float4 *>(c) = v;
    for (int j = 0; !WIDE && j < 4; j++)
        if (j < n)
            c[j] = (&v.x)[j];
}

// --- 16 bytes: 8 halves ---

using half8 = uint4;

// The first n of 8 neighbours in a row, and 0 for the others. A wide load bypasses L1 (__ldcg: cached in L2 only): a
// block that copies its tiles to shared memory needs no element twice.
template <bool WIDE> __device__ inline half8 load8(const half *x, int n)
{
    if constexpr (WIDE) {
        return n > 0 ? __ldcg(reinterpret_cast<const half8 *>(x)) : half8();
    } else {
        alignas(16) half v[8];
        for (int e = 0; e < 8; e++)
            v[e] = load(&x[e], e < n);
        return *reinterpret_cast<half8 *>(v);
    }
}

// v = alpha * acc + beta * C for n neighbours in a row of C, each rounded to half once.
template <int n>
__device__ inline void scale(half *v, const half *C, int M, int N, int row, int col, float alpha, const float *acc,
                             float beta)
{
    float x[n];  // all reads first: the compiler makes wide ones of them
    for (int e = 0; e < n; e++)
        x[e] = acc[e];
    for (int e = 0; e < n; e++)
        v[e] = alpha * x[e];
    for (int e = 0; e < n && beta != 0; e++)
        if (row < M && col + e < N)
            v[e] = alpha * x[e] + beta * float(C[size_t(row) * N + col + e]);
}

// The first n of 2 neighbours in a row, and 0 for the others. EVEN: rows have an even number of elements.
template <bool EVEN> __device__ inline half2 load2(const half *x, int n)
{
    if constexpr (EVEN)
        return n > 0 ? *reinterpret_cast<const half2 *>(x) : half2();
    return { load(&x[0], n > 0), load(&x[1], n > 1) };
}

// acc += beta * C, see below. Of C, 32 elements are on their way at once.
template <bool EVEN, int n>
__device__ inline void add_old(float (&acc)[n], const half *C, int M, int N, int row, int col, float beta)
{
#pragma unroll
    for (int j = 0; j < n; j += 32) {
        half2 old[16];
        for (int e = 0; e < 32; e += 2) {
            const int r = row + e / 2 % 2 * 8, c = col + (j + e) / 4 * 8;
            old[e / 2] = load2<EVEN>(&C[size_t(r) * N + c], r < M ? N - c : 0);
        }
        for (int e = 0; e < 32; e++)
            acc[j + e] += beta * float((&old[e / 2].x)[e % 2]);
    }
}

// acc = alpha * acc + beta * C, for the elements that a lane has of a product of wgmma. The first is C[row][col];
// acc[j] is in row j / 2 % 2 * 8 and column j / 4 * 8 + j % 2 from there.
template <int n>
__device__ inline void scale_all(float (&acc)[n], const half *C, int M, int N, int row, int col, float alpha,
                                 float beta)
{
    if (alpha != 1)
        for (int j = 0; j < n; j++)
            acc[j] *= alpha;
    if (beta != 0)
        N % 2 == 0 ? add_old<true>(acc, C, M, N, row, col, beta) : add_old<false>(acc, C, M, N, row, col, beta);
}

// C[row][col] and its 7 neighbours = v, as far as C has them.
template <bool WIDE> __device__ inline void store8(half *C, int M, int N, int row, int col, half8 v)
{
    half *c = &C[size_t(row) * N + col];
    for (int e = 0; e < (WIDE ? 1 : 8); e++)
        if (row < M && col + e < N) {
            if constexpr (WIDE)
                *reinterpret_cast<half8 *>(c) = v;
            else
                c[e] = reinterpret_cast<half *>(&v)[e];
        }
}

// The same where the kernel has one body for all rows.
__device__ inline void store8(half *C, int M, int N, int row, int col, half8 v)
{
    if (N % 8 == 0)
        store8<true>(C, M, N, row, col, v);
    else
        store8<false>(C, M, N, row, col, v);
}

// The same as store, for 8 neighbours in a row of C.
template <bool WIDE>
__device__ inline void store8(half *C, int M, int N, int row, int col, float alpha, const float *acc, float beta)
{
    half8 v;
    scale<8>(reinterpret_cast<half *>(&v), C, M, N, row, col, alpha, acc, beta);
    store8<WIDE>(C, M, N, row, col, v);
}

// --- A fragment of wmma: 16 x 16 halves, straight from global memory ---

// Loads the fragment at x[row][col]; x has rows that are ld elements apart, of which rows x cols elements are inside.
// WIDE: all of the fragment is inside, and rows begin at multiples of 16 bytes, so that it can be loaded from where it
// is. Otherwise the warp copies it to its own Ps[16][16] in shared memory first, with 0 for what is outside.
template <bool WIDE, class F>
__device__ inline void load_fragment(F &fragment, const half *x, int row, int col, int ld, int rows, int cols, half *Ps)
{
    if constexpr (WIDE) {
        load_matrix_sync(fragment, &x[size_t(row) * ld + col], ld);
    } else {
        const int lane = threadIdx.x % 32, r = lane / 2, c = lane % 2 * 8;  // two lanes a row
        __syncwarp();  // every lane has read the patch before it is overwritten
        *reinterpret_cast<half8 *>(&Ps[r * 16 + c]) =
            load8<false>(&x[size_t(row + r) * ld + col + c], row + r < rows ? cols - col - c : 0);
        __syncwarp();  // the patch is complete before any lane reads it
        load_matrix_sync(fragment, Ps, 16);
    }
}
