// Calls of the runtime's API, right ones and wrong ones: prints what each returns, and whether the values are right.
// With an argument, what it is told about the device and a kernel.
#include <cstdio>

__managed__ int total;
__device__ int base[4];
__constant__ int step;

__global__ void count(int *mapped, int n)
{
    extern __shared__ int s[];
    s[threadIdx.x] = threadIdx.x * step;
    __syncthreads();
    if (threadIdx.x < n)
        mapped[threadIdx.x] += s[n - 1 - threadIdx.x] + base[threadIdx.x % 4];
    if (threadIdx.x == 0)
        total += n;
}

__global__ void past(int *p)
{
    p[1 << 20] = 1;  // line 22, as the test expects it
}

static void says(const char *what, cudaError_t e)
{
    printf("%s: %s\n", what, cudaGetErrorName(e));
}

static int count_is_right(int *mapped, int n)
{
    const int begin[4] = { 1, 2, 3, 4 }, by = 3;
    for (int i = 0; i < n; i++)
        mapped[i] = 1000;
    cudaMemcpyToSymbol(base, begin, sizeof base);
    cudaMemcpyToSymbol(step, &by, sizeof step);
    count<<<1, 64, 64 * sizeof(int)>>>(mapped, n);
    says("count", cudaDeviceSynchronize());
    int right = 0;
    for (int i = 0; i < n; i++)
        right += mapped[i] == 1000 + (n - 1 - i) * by + begin[i % 4];
    return right == n;
}

static void memory()
{
    const int n = 50;
    int *pinned, *managed;
    total = 7;
    cudaMallocHost(&pinned, n * sizeof(int));
    cudaMallocManaged(&managed, n * sizeof(int));
    printf("pinned: %s\n", count_is_right(pinned, n) ? "right" : "wrong");
    printf("managed: %s\n", count_is_right(managed, n) ? "right" : "wrong");
    printf("__managed__: %d\n", total);
    says("cudaFreeHost", cudaFreeHost(pinned));
    says("cudaFree", cudaFree(managed));
}

static void questions()
{
    cudaDeviceProp p;
    int sms = 0, blocks = 0;
    cudaFuncAttributes a = {};
    cudaGetDeviceProperties(&p, 0);
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, count, 256, 20000);
    cudaFuncGetAttributes(&a, count);
    printf("%s, %d.%d, %d SMs, %d blocks, PTX %d\n", p.name, p.major, p.minor, sms, blocks, a.ptxVersion);
}

static void mistakes()
{
    char host[64];
    int *p;
    cudaArray_t array;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaMalloc(&p, 64);
    says("too large", cudaMemcpy(host, p, 65, cudaMemcpyDeviceToHost));
    says("too long", cudaMemset(p, 0, 65));
    says("too much", cudaMalloc((void **)&array, (size_t)1 << 50));
    says("last", cudaGetLastError());
    says("free", cudaFree(p));
    says("free again", cudaFree(p));
    says("array", cudaMallocArray(&array, &format, 8, 8));
    count<<<1, 2048>>>(p, 1);
    says("too many threads", cudaGetLastError());
    says("still well", cudaDeviceSynchronize());
    cudaMalloc(&p, 64);
    past<<<1, 1>>>(p);
    says("past the end", cudaDeviceSynchronize());
    says("and ever after", cudaDeviceSynchronize());
}

int main(int argc, char **)
{
    if (argc > 1) {
        questions();
        return 0;
    }
    memory();
    mistakes();
    return 0;
}
