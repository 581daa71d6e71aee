// With linked_too.cu, built with -rdc=true: functions and variables of the device that one file has and both use.
#include <cstdio>

extern __device__ int twice(int);
extern __device__ int table[4];
static __device__ __noinline__ int own(int x)
{
    return x + 1;
}
__device__ int five = 5;
void add_more(int *p);

static __global__ void begin(int *p)
{
    p[threadIdx.x] = twice(own(threadIdx.x)) + table[threadIdx.x % 4] + five;
}

int main()
{
    int *p;
    cudaMallocManaged(&p, 8 * sizeof(int));
    begin<<<1, 8>>>(p);
    add_more(p);
    cudaDeviceSynchronize();
    for (int i = 0; i < 8; i++)
        printf("%d ", p[i]);
    puts("");
    return 0;
}
