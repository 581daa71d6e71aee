// What a program may do wrong with the runtime, one mistake an argument. It looks at no error, as bad programs do, and
// prints the last one.
#include <csignal>
#include <cstdio>
#include <cstring>

__global__ void fill(int *p, int n)
{
    if (threadIdx.x < n)
        p[threadIdx.x] = threadIdx.x;
}

static void mistake(const char *what)
{
    int *p, *q, host[16] = {};
    cudaMalloc(&p, sizeof host);
    if (!strcmp(what, "free twice")) {
        cudaFree(p);
        cudaFree(p);
    } else if (!strcmp(what, "free the middle")) {
        cudaFree(p + 1);
    } else if (!strcmp(what, "free a host's")) {
        cudaFree(host);
    } else if (!strcmp(what, "use after free")) {
        cudaFree(p);
        fill<<<1, 16>>>(p, 16);
    } else if (!strcmp(what, "copy from freed")) {
        cudaFree(p);
        cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
    } else if (!strcmp(what, "copy too much")) {
        cudaMemcpy(p, host, 2 * sizeof host, cudaMemcpyHostToDevice);
    } else if (!strcmp(what, "copy from null")) {
        cudaMemcpy(p, nullptr, sizeof host, cudaMemcpyHostToDevice);
    } else if (!strcmp(what, "out of memory")) {
        cudaMalloc(&q, (size_t)1 << 44);
    } else if (!strcmp(what, "no such kernel")) {
        cudaLaunchKernel(host, dim3(1), dim3(1), nullptr, 0, 0);
    } else if (!strcmp(what, "no such symbol")) {
        cudaMemcpyToSymbol(host, host, sizeof host);
    } else if (!strcmp(what, "a host's pointer")) {
        fill<<<1, 16>>>(host, 16);
    } else if (!strcmp(what, "no device")) {
        cudaSetDevice(3);
    } else if (!strcmp(what, "no threads")) {
        fill<<<1, 0>>>(p, 16);
    } else if (!strcmp(what, "past the end")) {
        fill<<<1, 32>>>(p, 32);
    } else if (!strcmp(what, "three times")) {
        for (int i = 0; i < 3; i++)
            fill<<<1, 32>>>(p, 32);
    } else if (!strcmp(what, "take much")) {
        cudaMalloc(&q, (size_t)1 << 31);
    } else if (!strcmp(what, "take long")) {
        for (int blocks : { 1, 2147483647 })
            fill<<<blocks, 16>>>(p, 16);
    } else if (!strcmp(what, "crash")) {
        fflush(stdout);
        raise(SIGSEGV);
    } else if (!strcmp(what, "null pointers")) {
        cudaMalloc((void **)nullptr, 4);
        cudaMallocPitch((void **)&p, nullptr, 4, 4);
        cudaStreamCreate(nullptr);
        cudaEventCreate(nullptr);
        cudaGetDeviceCount(nullptr);
        cudaGetDeviceProperties((cudaDeviceProp *)nullptr, 0);
        cudaPointerGetAttributes(nullptr, p);
        cudaLaunchKernel((void *)fill, dim3(1), dim3(1), nullptr, 0, 0);
    }
}

__device__ int table[16];

// With what is not plain memory.
static void another(const char *what)
{
    int *p, *pinned, host[16] = {};
    float ms;
    cudaStream_t stream;
    cudaEvent_t event;
    cudaGraph_t graph;
    cudaMalloc(&p, sizeof host);
    cudaMallocHost(&pinned, sizeof host);
    cudaStreamCreate(&stream);
    cudaEventCreate(&event);
    if (!strcmp(what, "free pinned twice")) {
        cudaFreeHost(pinned);
        cudaFreeHost(pinned);
    } else if (!strcmp(what, "free pinned as the device's")) {
        cudaFree(pinned);
    } else if (!strcmp(what, "free as pinned")) {
        cudaFreeHost(p);
    } else if (!strcmp(what, "a dead stream")) {
        cudaStreamDestroy(stream);
        fill<<<1, 16, 0, stream>>>(p, 16);
    } else if (!strcmp(what, "an event without a time")) {
        cudaEventElapsedTime(&ms, event, event);
    } else if (!strcmp(what, "a short pitch")) {
        cudaMemcpy2D(p, 8, host, 32, 16, 2, cudaMemcpyHostToDevice);
    } else if (!strcmp(what, "beyond a symbol")) {
        cudaMemcpyToSymbol(table, host, sizeof host, 32);
    } else if (!strcmp(what, "much shared memory")) {
        fill<<<1, 16, 300000>>>(p, 16);
    } else if (!strcmp(what, "misaligned")) {
        fill<<<1, 8>>>((int *)((char *)p + 1), 8);
    } else if (!strcmp(what, "no direction")) {
        cudaMemcpy(p, host, sizeof host, (cudaMemcpyKind)9);
    } else if (!strcmp(what, "use what a stream freed")) {
        cudaMallocAsync(&p, sizeof host, stream);
        cudaFreeAsync(p, stream);
        fill<<<1, 16>>>(p, 16);
    } else if (!strcmp(what, "wait in a capture")) {
        cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
        printf("%s, ", cudaGetErrorName(cudaDeviceSynchronize()));
        printf("%s\n", cudaGetErrorName(cudaStreamEndCapture(stream, &graph)));
    } else if (!strcmp(what, "read by the host")) {
        printf("%d\n", p[0]);
    }
}

int main(int argc, char **argv)
{
    mistake(argv[1]);
    another(argv[1]);
    const cudaError_t now = cudaGetLastError(), later = cudaDeviceSynchronize();
    printf("%s, %s\n", cudaGetErrorName(now), cudaGetErrorName(later));
    return 0;
}
