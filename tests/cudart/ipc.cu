// Memory and an event of one process in another one: the parent hands them over on the child's standard input.
#include <cstdio>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>
#include <cuda.h>

enum { N = 1000 };

struct handles {
    cudaIpcMemHandle_t memory, other;
    cudaIpcEventHandle_t event;
};

__global__ void add(int *x, int n, int by)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += by;
}

static void says(const char *what, cudaError_t e)
{
    printf("%s: %s\n", what, cudaGetErrorName(e));
}

static int wrong(const int *device, int n, int from)
{
    int x[N], count = 0;
    cudaMemcpy(x, device, n * sizeof *x, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++)
        count += x[i] != from + i;
    return count;
}

static int child()
{
    handles h;
    int *x = nullptr, *again = nullptr, *other = nullptr;
    cudaEvent_t event;
    float ms;
    if (read(0, &h, sizeof h) != sizeof h)
        return 1;
    says("open", cudaIpcOpenMemHandle((void **)&x, h.memory, cudaIpcMemLazyEnablePeerAccess));
    says("open again", cudaIpcOpenMemHandle((void **)&again, h.memory, cudaIpcMemLazyEnablePeerAccess));
    says("freed by its owner", cudaIpcOpenMemHandle((void **)&other, h.other, cudaIpcMemLazyEnablePeerAccess));
    printf("at the same address: %d\n", x && x == again);
    says("event", cudaIpcOpenEventHandle(&event, h.event));
    says("wait", cudaStreamWaitEvent(0, event, 0));
    says("its time", cudaEventElapsedTime(&ms, event, event));
    printf("of the parent: %d wrong\n", wrong(x, N, 5));
    add<<<4, 256>>>(x, N, 2);
    says("launch", cudaDeviceSynchronize());
    says("free", cudaFree(x));
    says("close", cudaIpcCloseMemHandle(x));
    printf("still open: %d wrong\n", wrong(x, N, 7));
    says("close again", cudaIpcCloseMemHandle(x));
    says("and again", cudaIpcCloseMemHandle(x));
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return child();
    handles h;
    int host[N], *x = nullptr, *other = nullptr, *opened = nullptr, to[2];
    cudaEvent_t event, plain;
    for (int i = 0; i < N; i++)
        host[i] = i;
    cudaMalloc((void **)&x, sizeof host);
    cudaMalloc((void **)&other, sizeof host);
    cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
    cudaEventCreate(&plain);
    cudaEventCreateWithFlags(&event, cudaEventDisableTiming | cudaEventInterprocess);
    says("memory", cudaIpcGetMemHandle(&h.memory, x));
    says("a second", cudaIpcGetMemHandle(&h.other, other));
    says("no memory", cudaIpcGetMemHandle(&h.other, host));
    says("event", cudaIpcGetEventHandle(&h.event, event));
    says("no such event", cudaIpcGetEventHandle(&h.event, plain));
    cuIpcGetMemHandle((CUipcMemHandle *)&h.other, (CUdeviceptr)other);
    says("its own", cudaIpcOpenMemHandle((void **)&opened, h.memory, cudaIpcMemLazyEnablePeerAccess));
    cudaFree(other);
    add<<<4, 256>>>(x, N, 5);
    cudaEventRecord(event);
    fflush(stdout);
    if (pipe(to))
        return 1;
    if (!fork()) {
        dup2(to[0], 0);
        execl("/proc/self/exe", argv[0], "child", (char *)nullptr);
        _exit(1);
    }
    const bool told = write(to[1], &h, sizeof h) == sizeof h;
    wait(nullptr);
    printf("of the child: %d wrong\n", wrong(x, N, 7));
    says("free", cudaFree(x));
    return !told;
}
