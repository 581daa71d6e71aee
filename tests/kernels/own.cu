// What learners bring: variables that the host sets, structs by value, templates, pieces of shared memory, launches one
// after the other. tests/programs/test_own_kernels.c runs them with the program simt.
#include <cooperative_groups.h>

#if __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ < 1107
#define __grid_constant__  // before CUDA 11.7
#endif

struct body {
    float3 at;
    char kind;
    double mass;
    const int *list;
    float4 color;
};

struct weights {
    float w[3];
};

__constant__ float coefficients[4];
__device__ int counter = 5;
__device__ float *where;

namespace shapes {
__constant__ int side;
}

extern "C" __global__ void polynomial(const float *x, float *y)
{
    int i = threadIdx.x;
    float v = 0;
    for (int k = 3; k >= 0; k--)
        v = v * x[i] + coefficients[k];
    y[i] = v * shapes::side;
    atomicAdd(&counter, 1);
}

extern "C" __global__ void through_pointer(float v)
{
    where[threadIdx.x] = v;
}

extern "C" __global__ void by_value(struct body b, struct weights w, double *out)
{
    out[0] = b.at.x;
    out[1] = b.at.z;
    out[2] = b.kind;
    out[3] = b.mass;
    out[4] = b.list[1];
    out[5] = b.color.w;
    out[6] = w.w[threadIdx.x + 1];
}

namespace shapes {
template <typename T, int N> __global__ void scale(T *x)
{
    x[threadIdx.x] *= N;
}
template __global__ void scale<float, 2>(float *);
template __global__ void scale<int, 3>(int *);
}

extern "C" __global__ void wide(unsigned long long *u, unsigned *v, long long *s)
{
    u[0] = ~0ull;
    v[0] = ~0u;
    s[0] = -9223372036854775807ll;
}

extern "C" __global__ void dynamic(float *out)
{
    extern __shared__ float staged[];
    staged[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = staged[31 - threadIdx.x];
}

struct table {
    int n;
    float w[8];
};

// An index that only the run knows: the compiler takes the parameter's address, or copies it to local memory.
extern "C" __global__ void by_index(const __grid_constant__ struct table t, float *out)
{
    const float *w = &t.w[0];
    out[threadIdx.x] = w[threadIdx.x % t.n];
}

extern "C" __global__ void whole_grid(int *x)
{
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    int i = (int)grid.thread_rank();
    x[i] = i;
    grid.sync();
    int sum = 0;
    for (int k = 0; k < (int)grid.size(); k++)
        sum += x[k];
    grid.sync();
    x[i] = sum;
}

extern "C" __global__ void registers(unsigned long long *out)
{
    unsigned long long before, after;
    unsigned rank, clusters, environment, high;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(before));
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm volatile("mov.u32 %0, %%nclusterid.x;" : "=r"(clusters));
    asm volatile("mov.u32 %0, %%envreg7;" : "=r"(environment));
    asm volatile("mov.u32 %0, %%clock_hi;" : "=r"(high));
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(after));
    out[0] = after > before;
    out[1] = rank;
    out[2] = clusters;
    out[3] = environment;
    out[4] = high;
}

// --- calls that the compiler cannot resolve ---

typedef float (*function)(float);

__device__ __noinline__ float twice(float x)
{
    return 2 * x;
}

__device__ __noinline__ float square(float x)
{
    return x * x;
}

__device__ function table[2] = { twice, square };
__device__ int numbers[4] = { 1, 2, 3, 4 };
__device__ int *third = numbers + 2;

extern "C" __global__ void by_table(float *x)
{
    x[threadIdx.x] = table[threadIdx.x % 2](x[threadIdx.x]) + *third;
}

struct shape {
    float size;
    __device__ virtual float area() const { return size; }
};

struct square_shape : shape {
    __device__ float area() const override { return size * size; }
};

extern "C" __global__ void by_virtual(float *x)
{
    shape line;
    square_shape area;
    line.size = area.size = x[threadIdx.x];
    const shape *p = threadIdx.x % 2 ? &area : &line;
    x[threadIdx.x] = p->area();
}

__device__ int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

extern "C" __global__ void recursive(int *x)
{
    x[threadIdx.x] = fibonacci(threadIdx.x);
}

__device__ int odd(int n, int *count);

// Each round has a variable of its own, whose address goes on to the next.
__device__ __noinline__ int even(int n, int *count)
{
    int rounds = 1;
    int result = n == 0 ? 1 : odd(n - 1, &rounds);
    *count += rounds;
    return result;
}

__device__ __noinline__ int odd(int n, int *count)
{
    int rounds = 1;
    int result = n == 0 ? 0 : even(n - 1, &rounds);
    *count += rounds;
    return result;
}

extern "C" __global__ void mutual(int *x)
{
    int count = 0;
    int is_even = even(threadIdx.x, &count);
    x[threadIdx.x] = 100 * is_even + count;
}

__device__ int deep(int n)
{
    return n == 0 ? 0 : 1 + deep(n - 1) * 3;
}

extern "C" __global__ void too_deep(int *x)
{
    x[0] = deep(x[0]);
}

extern "C" __global__ void heap(int *x, int times)
{
    for (int i = 0; i < times; i++) {
        int *p = (int *)malloc(16), *q = new int[100];
        p[3] = threadIdx.x;
        q[99] = i;
        x[threadIdx.x] = p[3] + q[99];
        free(p);
        delete[] q;
    }
}

extern "C" __global__ void heap_is_full(int *x)
{
    x[0] = malloc(1 << 24) == nullptr;
    x[1] = malloc(1 << 20) != nullptr;
}

extern "C" __global__ void heap_is_unset(int *x)
{
    int *p = (int *)malloc(16);
    p[0] = threadIdx.x;
    x[blockIdx.x * blockDim.x + threadIdx.x] = p[0] + p[1];
    free(p);
}

extern "C" __global__ void printed(int *x)
{
    x[0] = printf("%d and %s\n", x[0], "more");
}
