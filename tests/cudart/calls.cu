// Calls of the runtime's API, right ones and wrong ones: prints what each returns, and whether the values are right.
// With an argument: ask, what it is told about the device and a kernel; assert, an assertion that fails.
#include <cassert>
#include <cstdio>
#include <cstring>

#include <cuda.h>

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
    p[1 << 20] = 1;  // line 26, as the test expects it
}

__global__ void claim(int n)
{
    printf("thread %d of %d\n", threadIdx.x, n);
    assert(n == 2);
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

// More than 48 KiB of shared memory are for kernels that have asked for it.
static void shared_memory()
{
    int *p;
    const int most = 60000;
    cudaMalloc(&p, 64 * sizeof(int));
    cudaMemset(p, 0, 64 * sizeof(int));
    count<<<1, 64, most>>>(p, 64);
    says("not asked for", cudaGetLastError());
    says("far too much", cudaFuncSetAttribute(count, cudaFuncAttributeMaxDynamicSharedMemorySize, 300000));
    says("asks", cudaFuncSetAttribute(count, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
    cudaGetLastError();
    count<<<1, 64, most>>>(p, 64);
    says("asked for", cudaGetLastError());
    cudaFree(p);
}

// A tensor map, by the function that the runtime finds.
static void tensor_map()
{
    CUresult (*encode)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *, const cuuint64_t *,
                       const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,
                       CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
    CUtensorMap map;
    void *p;
    const cuuint64_t size[] = { 64, 64 }, stride[] = { 256 };
    const cuuint32_t box[] = { 16, 16 }, no_box[] = { 0, 16 }, step[] = { 1, 1 };
    cudaMalloc(&p, 64 * 256);
    says("no such function", cudaGetDriverEntryPointByVersion("cuNothing", (void **)&encode, 12000, cudaEnableDefault));
    printf("there: %d\n", encode != nullptr);
    says("encode", cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void **)&encode, 12000, cudaEnableDefault));
    for (const cuuint32_t *b : { box, no_box })
        printf("map: %d\n", encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, p, size, stride, b, step,
                                   CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                                   CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
    cudaFree(p);
}

static void mistakes()
{
    char host[64];
    int *p;
    cudaMipmappedArray_t mipmaps;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaMalloc(&p, 64);
    says("too large", cudaMemcpy(host, p, 65, cudaMemcpyDeviceToHost));
    says("too long", cudaMemset(p, 0, 65));
    says("too much", cudaMalloc((void **)&mipmaps, (size_t)1 << 50));
    says("last", cudaGetLastError());
    says("free", cudaFree(p));
    says("free again", cudaFree(p));
    says("mipmaps", cudaMallocMipmappedArray(&mipmaps, &format, make_cudaExtent(8, 8, 0), 2));
    count<<<1, 2048>>>(p, 1);
    says("too many threads", cudaGetLastError());
    says("still well", cudaDeviceSynchronize());
    cudaMalloc(&p, 64);
    past<<<1, 1>>>(p);
    says("past the end", cudaDeviceSynchronize());
    says("and ever after", cudaDeviceSynchronize());
}

// As on a card that has just started, whatever the program had there before.
static void fresh()
{
    int *p, value, sum = 0;
    for (int i = 0; i < 10; i++) {
        cudaMalloc(&p, 100);
        cudaMemcpy(&value, p + 20, sizeof value, cudaMemcpyDeviceToHost);
        sum |= value;
        cudaMemset(p, 255, 100);
        cudaFree(p);
    }
    printf("fresh memory: %d\n", sum);
}

// What a kernel prints comes when the program waits for it, and an allocation is no such thing.
static void prints(bool waits)
{
    int *p;
    claim<<<1, 1>>>(2);
    cudaMalloc(&p, sizeof *p);
    printf("the program\n");
    if (waits)
        cudaDeviceSynchronize();
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "ask")) {
        questions();
    } else if (argc > 1 && strstr(argv[1], "wait")) {
        prints(!strcmp(argv[1], "waits"));
    } else if (argc > 1) {
        claim<<<1, 1>>>(1);
        says("claim", cudaDeviceSynchronize());
    } else {
        memory();
        shared_memory();
        tensor_map();
        fresh();
        mistakes();
    }
    return 0;
}
