// What of cuBLAS the library has not: products of doubles, and what goes once over a vector or a matrix. Plain and
// right.
#include "plain.h"

// Blocks are blockDim.x threads, 1 or a whole warp, for each of blockDim.y elements.
static __device__ long long my_element()
{
    return (long long)blockIdx.x * blockDim.y + threadIdx.y;
}

// C = alpha * A * B + beta * C, where the threads of an element share its sum.
extern "C" __global__ void gemm_f64(const __grid_constant__ struct plain_gemm p)
{
    const long long element = my_element(), i = element % p.m, j = element / p.m;
    if (j >= p.n)
        return;
    for (long long batch = blockIdx.y; batch < p.batch; batch += gridDim.y) {
        const double *a = p.A + batch * p.a.stride + i * p.a.row, *b = p.B + batch * p.b.stride + j * p.b.column;
        double *c = p.C + batch * p.c.stride + i * p.c.row + j * p.c.column, sum = 0;
        for (long long k = threadIdx.x; p.alpha != 0 && k < p.k; k += blockDim.x)
            sum += a[k * p.a.column] * b[k * p.b.row];
        for (int lanes = blockDim.x / 2; lanes; lanes /= 2)
            sum += __shfl_down_sync(~0u, sum, lanes);
        if (threadIdx.x == 0)
            *c = p.alpha * sum + (p.beta != 0 ? p.beta * *c : 0);
    }
}

// C = alpha * A + beta * B.
template <typename T> static __device__ void add(const struct plain_add &p)
{
    const long long element = my_element(), i = element % p.m, j = element / p.m;
    if (j >= p.n)
        return;
    const T a = p.alpha != 0 ? ((const T *)p.A)[i * p.a.row + j * p.a.column] : (T)0;
    const T b = p.beta != 0 ? ((const T *)p.B)[i * p.b.row + j * p.b.column] : (T)0;
    ((T *)p.C)[i * p.c.row + j * p.c.column] = (T)p.alpha * a + (T)p.beta * b;
}

template <typename T> static __device__ void swap(long long n, T *x, long long x_step, T *y, long long y_step)
{
    const long long i = my_element();
    if (i >= n)
        return;
    const T before = x[i * x_step];
    x[i * x_step] = y[i * y_step];
    y[i * y_step] = before;
}

// Whether that element comes before another: the larger, or the smaller, and of two that are the same the first.
template <typename T> static __device__ bool is_first(enum plain_search what, T x, int i, T y, int k)
{
    return k < 0 || (i >= 0 && (x == y ? i < k : (x > y) == (what == PLAIN_LARGEST)));
}

// One block: the sum of all magnitudes, or where the largest or smallest is, counted from 1.
template <typename T>
static __device__ void search(int n, const T *x, long long step, enum plain_search what, void *out)
{
    __shared__ T values[PLAIN_THREADS];
    __shared__ int places[PLAIN_THREADS];
    const int t = threadIdx.y;
    T value = 0;
    int place = -1;
    for (int i = t; i < n; i += PLAIN_THREADS) {
        const T next = x[i * step] < 0 ? -x[i * step] : x[i * step];
        if (what == PLAIN_SUM)
            value += next;
        else if (is_first(what, next, i, value, place))
            value = next, place = i;
    }
    values[t] = value, places[t] = place;
    for (int half = PLAIN_THREADS / 2; half; half /= 2) {
        __syncthreads();
        if (t >= half)
            continue;
        if (what == PLAIN_SUM)
            values[t] += values[t + half];
        else if (!is_first(what, values[t], places[t], values[t + half], places[t + half]))
            values[t] = values[t + half], places[t] = places[t + half];
    }
    if (t == 0 && what == PLAIN_SUM)
        *(T *)out = values[0];
    else if (t == 0)
        *(int *)out = places[0] + 1;
}

#define OF(name, T)                                                                                                    \
    extern "C" __global__ void add_##name(const __grid_constant__ struct plain_add p)                                  \
    {                                                                                                                  \
        add<T>(p);                                                                                                     \
    }                                                                                                                  \
    extern "C" __global__ void swap_##name(long long n, T *x, long long x_step, T *y, long long y_step)                \
    {                                                                                                                  \
        swap(n, x, x_step, y, y_step);                                                                                 \
    }                                                                                                                  \
    extern "C" __global__ void search_##name(int n, const T *x, long long step, enum plain_search what, void *out)     \
    {                                                                                                                  \
        search(n, x, step, what, out);                                                                                 \
    }

OF(f32, float)
OF(f64, double)
