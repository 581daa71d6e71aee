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

#include <cooperative_groups.h>
#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>

__global__ void waits_for_all(int *p)
{
    cooperative_groups::this_grid().sync();
    p[threadIdx.x] = 1;
}

__global__ void stops()
{
    __trap();
}

__global__ void never_ends(int *p, int n)
{
    for (int i = threadIdx.x; i < n;)  // the step is forgotten
        atomicAdd(&p[i & 15], i);
}

static void allocates(void *)
{
    int *p;
    cudaMalloc(&p, 4);
}

static void say(cudaError_t e)
{
    printf("%s, ", cudaGetErrorName(e));
}

// With streams that are captured.
static void in_a_capture(const char *what)
{
    int *p, *q, host[16] = {};
    cudaStream_t stream, side;
    cudaEvent_t event;
    cudaGraph_t graph;
    cudaMalloc(&p, sizeof host);
    cudaStreamCreate(&stream);
    cudaStreamCreate(&side);
    cudaEventCreate(&event);
    cudaEventRecord(event, side);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    if (!strcmp(what, "a launch")) {
        fill<<<1, 16>>>(p, 16);
    } else if (!strcmp(what, "a copy")) {
        cudaMemcpy(p, host, sizeof host, cudaMemcpyDefault);
    } else if (!strcmp(what, "memory")) {
        cudaMalloc(&q, 4);
    } else if (!strcmp(what, "relaxed memory")) {
        cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
        cudaThreadExchangeStreamCaptureMode(&mode);
        cudaMalloc(&q, 4);
    } else if (!strcmp(what, "another's event")) {
        cudaStreamWaitEvent(stream, event, 0);
    } else if (!strcmp(what, "its event")) {
        cudaEventRecord(event, stream);
        cudaEventSynchronize(event);
    } else if (strstr(what, "side")) {
        cudaEventRecord(event, stream);
        cudaStreamWaitEvent(side, event, 0);
        fill<<<1, 16, 0, side>>>(p, 16);
        cudaEventRecord(event, side);
        if (!strcmp(what, "end at the side"))
            say(cudaStreamEndCapture(side, &graph));
        if (!strcmp(what, "a side that comes back"))
            cudaStreamWaitEvent(stream, event, 0);
    }
    say(cudaStreamEndCapture(stream, &graph));
}

static void elsewhere(const char *what)
{
    int *p, *q, n = 1, host[16] = {};
    void *arguments[] = { &p };
    cudaStream_t stream;
    cudaEvent_t event;
    cudaMalloc(&p, sizeof host);
    if (!strcmp(what, "a grid that waits")) {
        waits_for_all<<<1, 16>>>(p);
    } else if (!strcmp(what, "a grid that may wait")) {
        cudaLaunchCooperativeKernel((void *)waits_for_all, dim3(4), dim3(16), arguments, 0, 0);
    } else if (!strcmp(what, "unknown flags")) {
        say(cudaStreamCreateWithFlags(&stream, 77));
        say(cudaEventCreateWithFlags(&event, 0x777));
        say(cudaMallocManaged(&q, 4, 99));
        say(cudaHostAlloc((void **)&q, 4, 0x777));
    } else if (!strcmp(what, "another device's")) {
        cudaMemcpyPeer(p, 5, p, 0, 4);
    } else if (!strcmp(what, "to a constant")) {
        cudaMemcpy((void *)"what cannot be written", p, 16, cudaMemcpyDeviceToHost);
    } else if (!strcmp(what, "after a reset")) {
        cudaDeviceReset();
        cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
    } else if (!strcmp(what, "a host's function")) {
        cudaLaunchHostFunc(0, allocates, nullptr);
    } else if (!strcmp(what, "a trap")) {
        stops<<<1, 32>>>();
        cudaDeviceReset();
    } else if (!strcmp(what, "no end")) {
        never_ends<<<1, 32>>>(p, 1000);
    } else if (!strcmp(what, "a child")) {
        if (!fork()) {
            say(cudaMalloc(&q, 4));
            fill<<<1, 16>>>(p, 16);
            say(cudaDeviceSynchronize());
            exit(0);
        }
        wait(nullptr);
        fill<<<1, 16>>>(p, 16);
    } else if (!strcmp(what, "exit")) {
        fill<<<1, 16>>>(p, n);
        exit(3);
    }
}

int main(int argc, char **argv)
{
    setvbuf(stdout, nullptr, _IONBF, 0);
    mistake(argv[1]);
    another(argv[1]);
    elsewhere(argv[1]);
    if (!strncmp(argv[1], "capture: ", 9))
        in_a_capture(argv[1] + 9);
    const cudaError_t now = cudaGetLastError(), later = cudaDeviceSynchronize();
    printf("%s, %s\n", cudaGetErrorName(now), cudaGetErrorName(later));
    return 0;
}
