// A program that compiles a kernel while it runs, by NVRTC: PTX is loaded, machine code is refused.
#include <cstdio>
#include <cuda.h>
#include <nvrtc.h>
#include <vector>

static const char source[] = "extern \"C\" __global__ void twice(int *x) { x[threadIdx.x] *= 2; }\n";

static std::vector<char> compiled(const char *architecture, bool ptx)
{
    size_t bytes = 0;
    nvrtcProgram p;
    nvrtcCreateProgram(&p, source, "twice.cu", 0, nullptr, nullptr);
    printf("%s: %s\n", architecture, nvrtcGetErrorString(nvrtcCompileProgram(p, 1, &architecture)));
    ptx ? nvrtcGetPTXSize(p, &bytes) : nvrtcGetCUBINSize(p, &bytes);
    std::vector<char> image(bytes + 1);
    ptx ? nvrtcGetPTX(p, image.data()) : nvrtcGetCUBIN(p, image.data());
    nvrtcDestroyProgram(&p);
    return image;
}

int main()
{
    CUcontext c;
    CUmodule m;
    CUfunction twice;
    CUdeviceptr x;
    int values[32];
    cuInit(0);
    cuCtxCreate(&c, nullptr, 0, 0);
    printf("load: %d\n", cuModuleLoadData(&m, compiled("--gpu-architecture=compute_80", true).data()));
    cuModuleGetFunction(&twice, m, "twice");
    cuMemAlloc(&x, sizeof values);
    for (int i = 0; i < 32; i++)
        values[i] = i;
    cuMemcpyHtoD(x, values, sizeof values);
    void *arguments[] = { &x };
    cuLaunchKernel(twice, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr);
    cuMemcpyDtoH(values, x, sizeof values);
    printf("twice 31: %d\n", values[31]);
    printf("load: %d\n", cuModuleLoadData(&m, compiled("--gpu-architecture=sm_80", false).data()));
    return 0;
}
