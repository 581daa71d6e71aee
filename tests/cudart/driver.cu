// Calls of the driver's API, each with what CUDA's documentation says it returns, and both APIs in one program.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>

static const char *name(CUresult e)
{
    const char *text;
    return cuGetErrorName(e, &text) ? "no such error" : text;
}

static void tell(const char *what, CUresult e)
{
    printf("%s: %s\n", what, name(e));
}

static void verdict(const char *what, bool right)
{
    printf("%s: %s\n", what, right ? "right" : "wrong");
}

// x[i] = x[i] * factor + offset, for i < n, and the same by a function of another text.
static const char scale[] = ".version 7.0\n.target sm_80\n.address_size 64\n"
                            ".global .align 4 .f32 offset = 0f3F800000;\n"
                            ".visible .entry scale(.param .u64 x, .param .f32 factor, .param .u32 n)\n{\n"
                            " .reg .pred %p; .reg .f32 %f<4>; .reg .b32 %r<4>; .reg .b64 %d<4>;\n"
                            " .shared .align 4 .b8 room[64];\n"
                            " ld.param.u64 %d1, [x]; ld.param.f32 %f1, [factor]; ld.param.u32 %r1, [n];\n"
                            " mov.u32 %r2, %tid.x;\n setp.ge.u32 %p, %r2, %r1;\n @%p bra DONE;\n"
                            " mul.wide.u32 %d2, %r2, 4;\n add.s64 %d1, %d1, %d2;\n"
                            " ld.global.f32 %f2, [%d1];\n ld.global.f32 %f3, [offset];\n"
                            " fma.rn.f32 %f2, %f2, %f1, %f3;\n st.global.f32 [%d1], %f2;\nDONE:\n ret;\n}\n";

static const char caller[] = ".version 7.0\n.target sm_80\n.address_size 64\n"
                             ".extern .func (.param .b32 out) twice(.param .b32 in);\n"
                             ".visible .entry call(.param .u64 x)\n{\n"
                             " .reg .b32 %r<3>; .reg .b64 %d;\n ld.param.u64 %d, [x];\n ld.global.u32 %r1, [%d];\n"
                             " { .param .b32 in; .param .b32 out;\n  st.param.b32 [in], %r1;\n"
                             "  call (out), twice, (in);\n  ld.param.b32 %r2, [out]; }\n"
                             " st.global.u32 [%d], %r2;\n ret;\n}\n";

static const char callee[] = ".version 7.0\n.target sm_80\n.address_size 64\n"
                             ".visible .func (.param .b32 out) twice(.param .b32 in)\n{\n"
                             " .reg .b32 %r<3>;\n ld.param.b32 %r1, [in];\n add.u32 %r2, %r1, %r1;\n"
                             " st.param.b32 [out], %r2;\n ret;\n}\n";

static const int N = 100;
static float values[N];

static CUdeviceptr fresh()
{
    CUdeviceptr x = 0;
    for (int i = 0; i < N; i++)
        values[i] = (float)i;
    cuMemAlloc(&x, sizeof values);
    cuMemcpyHtoD(x, values, sizeof values);
    return x;
}

static bool scaled(CUdeviceptr x, float factor, float offset)
{
    cuMemcpyDtoH(values, x, sizeof values);
    for (int i = 0; i < N; i++)
        if (values[i] != (float)i * factor + offset)
            return false;
    return true;
}

static void contexts()
{
    CUcontext a, b, now;
    CUdeviceptr x;
    int devices;
    tell("before cuInit", cuDeviceGetCount(&devices));
    tell("init", cuInit(0));
    tell("device 1", cuDeviceGet(&devices, 1));
    tell("no context", cuMemAlloc(&x, 4));
    tell("create", cuCtxCreate(&a, nullptr, 0, 0));
    tell("another", cuCtxCreate(&b, nullptr, 0, 0));
    cuCtxGetCurrent(&now);
    verdict("the last one is current", now == b);
    tell("pop", cuCtxPopCurrent(&now));
    verdict("it was popped", now == b);
    cuCtxGetCurrent(&now);
    verdict("the first one is current", now == a);
    tell("destroy", cuCtxDestroy(b));
    tell("destroy again", cuCtxDestroy(b));
    tell("set the destroyed one", cuCtxSetCurrent(b));
}

static void launches()
{
    CUmodule m;
    CUfunction f;
    CUdeviceptr x = fresh(), offset;
    float factor = 2, three = 3;
    int n = N, value;
    size_t bytes;
    tell("load", cuModuleLoadData(&m, scale));
    tell("function", cuModuleGetFunction(&f, m, "scale"));
    tell("no such function", cuModuleGetFunction(&f, m, "scales"));
    cuModuleGetFunction(&f, m, "scale");
    void *arguments[] = { &x, &factor, &n };
    tell("launch", cuLaunchKernel(f, 1, 1, 1, 128, 1, 1, 0, nullptr, arguments, nullptr));
    verdict("scaled", scaled(x, 2, 1));
    tell("global", cuModuleGetGlobal(&offset, &bytes, m, "offset"));
    cuMemcpyHtoD(offset, &three, bytes);
    cuMemFree(x);
    x = fresh();
    struct {
        CUdeviceptr x;
        float factor;
        int n;
    } packed = { x, 4, N };
    size_t size = sizeof packed;
    void *extra[] = { CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                      CU_LAUNCH_PARAM_END };
    tell("launch with a buffer", cuLaunchKernel(f, 1, 1, 1, 128, 1, 1, 0, nullptr, nullptr, extra));
    verdict("scaled", scaled(x, 4, 3));
    cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, f);
    printf("shared: %d, %zu bytes of offset\n", value, bytes);
    int grid, block;
    tell("occupancy", cuOccupancyMaxPotentialBlockSize(&grid, &block, f, nullptr, 0, 0));
    verdict("a block", block > 0 && block % 32 == 0 && grid > 0);
    tell("too many threads", cuLaunchKernel(f, 1, 1, 1, 2048, 1, 1, 0, nullptr, arguments, nullptr));
    tell("unload", cuModuleUnload(m));
    tell("unload again", cuModuleUnload(m));
    tell("launch what is gone", cuLaunchKernel(f, 1, 1, 1, 128, 1, 1, 0, nullptr, arguments, nullptr));
    tell("free", cuMemFree(x));
    tell("free again", cuMemFree(x));
}

static void images()
{
    CUmodule m;
    char log[256] = "";
    CUjit_option options[] = { CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES };
    void *values[] = { log, (void *)sizeof log };
    tell("no PTX", cuModuleLoadDataEx(&m, "int main() {}", 2, options, values));
    verdict("there is a log", *log && strlen(log) == (size_t)values[1]);
    tell("a cubin", cuModuleLoadData(&m, "\177ELF\2\1\1"));
    tell("no file", cuModuleLoad(&m, "/nowhere.ptx"));
    CUlinkState l;
    CUfunction f;
    CUdeviceptr x;
    void *linked;
    int value = 21;
    cuLinkCreate(0, nullptr, nullptr, &l);
    cuLinkAddData(l, CU_JIT_INPUT_PTX, (void *)caller, sizeof caller, "caller", 0, nullptr, nullptr);
    cuLinkAddData(l, CU_JIT_INPUT_PTX, (void *)callee, sizeof callee, "callee", 0, nullptr, nullptr);
    tell("link", cuLinkComplete(l, &linked, nullptr));
    tell("load it", cuModuleLoadData(&m, linked));
    cuLinkDestroy(l);
    cuModuleGetFunction(&f, m, "call");
    cuMemAlloc(&x, 4);
    cuMemcpyHtoD(x, &value, 4);
    void *arguments[] = { &x };
    cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr);
    cuMemcpyDtoH(&value, x, 4);
    printf("twice 21: %d\n", value);
}

static void memory()
{
    unsigned rows[4][8] = {}, type;
    size_t pitch, bytes;
    CUdeviceptr x, base;
    tell("pitched", cuMemAllocPitch(&x, &pitch, sizeof rows[0], 4, 4));
    tell("set", cuMemsetD2D32(x, pitch, 0x01020304, 8, 4));
    CUDA_MEMCPY2D copy = {};
    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = x;
    copy.srcPitch = pitch;
    copy.dstMemoryType = CU_MEMORYTYPE_HOST;
    copy.dstHost = rows;
    copy.WidthInBytes = sizeof rows[0];
    copy.Height = 4;
    tell("copy", cuMemcpy2D(&copy));
    verdict("rows", rows[0][0] == 0x01020304 && rows[3][7] == 0x01020304);
    tell("set halves", cuMemsetD16Async(x, 7, 4, nullptr));
    cuMemcpyDtoH(rows, x, 8);
    verdict("halves", rows[0][0] == 0x00070007 && rows[0][2] == 0x01020304);
    tell("between elements", cuMemsetD32(x + 2, 1, 1));
    tell("range", cuMemGetAddressRange(&base, &bytes, x + 5));
    verdict("its base", base == x && bytes == 4 * pitch);
    tell("type", cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, x));
    verdict("of the device", type == CU_MEMORYTYPE_DEVICE);
    tell("an address of the host's", cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)rows));
    tell("nothing", cuMemAlloc(&x, 0));
    tell("too much", cuMemAlloc(&x, (size_t)1 << 50));
    CUDA_ARRAY_DESCRIPTOR d = { 4, 4, CU_AD_FORMAT_FLOAT, 1 };
    CUarray a;
    tell("array", cuArrayCreate(&a, &d));
    tell("array again", cuArrayCreate(&a, &d));
}

static void streams()
{
    CUmodule m;
    CUfunction f;
    CUstream s;
    CUevent from, to;
    CUgraph graph;
    CUgraphExec exec;
    CUdeviceptr x = fresh();
    float factor = 2, ms = -1;
    int n = N;
    void *arguments[] = { &x, &factor, &n };
    cuModuleLoadData(&m, scale);
    cuModuleGetFunction(&f, m, "scale");
    cuStreamCreate(&s, CU_STREAM_NON_BLOCKING);
    cuEventCreate(&from, CU_EVENT_DEFAULT);
    cuEventCreate(&to, CU_EVENT_DEFAULT);
    cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL);
    cuLaunchKernel(f, 1, 1, 1, 128, 1, 1, 0, s, arguments, nullptr);
    tell("captured", cuStreamEndCapture(s, &graph));
    tell("instantiate", cuGraphInstantiate(&exec, graph, 0));
    cuEventRecord(from, s);
    tell("launch the graph", cuGraphLaunch(exec, s));
    tell("and again", cuGraphLaunch(exec, s));
    cuEventRecord(to, s);
    tell("wait", cuStreamSynchronize(s));
    verdict("twice", scaled(x, 4, 3));
    tell("elapsed", cuEventElapsedTime(&ms, from, to));
    verdict("a time", ms >= 0);
    tell("destroy", cuStreamDestroy(s));
    tell("destroy again", cuStreamDestroy(s));
}

__global__ void negate(float *x, int n)
{
    if (threadIdx.x < n)
        x[threadIdx.x] = -x[threadIdx.x];
}

static void both()
{
    CUcontext now;
    CUfunction f;
    CUdeviceptr x = fresh();
    void *function;
    cudaDriverEntryPointQueryResult found;
    negate<<<1, 128>>>((float *)x, N);
    verdict("a launch of the runtime", !cudaGetLastError() && scaled(x, -1, 0));
    cudaGetFuncBySymbol(&f, (const void *)negate);
    int n = N;
    void *arguments[] = { &x, &n };
    tell("the same by the driver", cuLaunchKernel(f, 1, 1, 1, 128, 1, 1, 0, nullptr, arguments, nullptr));
    verdict("and back", scaled(x, 1, 0));
    tell("an error of the driver", cuMemFree(x + 4));
    printf("is none of the runtime: %s\n", cudaGetErrorName(cudaGetLastError()));
    cudaGetDriverEntryPointByVersion("cuMemAlloc", &function, 13000, cudaEnableDefault, &found);
    verdict("a function by its name", function == (void *)cuMemAlloc && found == cudaDriverEntryPointSuccess);
    cuCtxSetCurrent(nullptr);
    tell("no context", cuMemFree(x));
    printf("the runtime makes one current: %s\n", cudaGetErrorName(cudaFree(nullptr)));
    CUcontext primary;
    cuCtxGetCurrent(&now);
    cuDevicePrimaryCtxRetain(&primary, 0);
    verdict("the primary one", now == primary);
    tell("free", cuMemFree(x));
    tell("a feature", cuDeviceGetAttribute(&n, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 0));
    printf("is it there: %d\n", n);
    tell("no attribute", cuDeviceGetAttribute(&n, (CUdevice_attribute)9999, 0));
    x = 16, n = N;
    tell("past the end", cuLaunchKernel(f, 1, 1, 1, 128, 1, 1, 0, nullptr, arguments, nullptr));
    tell("and ever after", cuCtxSynchronize());
}

// Memory that moves from one range of addresses to a longer one.
static void ranges()
{
    size_t bytes;
    CUdeviceptr x, y;
    CUmemGenericAllocationHandle a, b;
    CUmemAllocationProp p = {};
    p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    const CUmemAccessDesc who = { p.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE };
    cuMemGetAllocationGranularity(&bytes, &p, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    tell("reserve", cuMemAddressReserve(&x, bytes, 0, 0, 0));
    tell("half of it", cuMemCreate(&a, bytes / 2, &p, 0));
    tell("create", cuMemCreate(&a, bytes, &p, 0));
    tell("write to it", cuMemsetD8(x, 1, 1));
    tell("map", cuMemMap(x, bytes, 0, a, 0));
    tell("allow", cuMemSetAccess(x, bytes, &who, 1));
    tell("fill", cuMemsetD32(x, 1111, bytes / 4));
    tell("past the end", cuMemsetD32(x, 1111, bytes / 4 + 1));
    tell("free the range", cuMemAddressFree(x, bytes));
    tell("a longer one", cuMemAddressReserve(&y, 2 * bytes, 0, x + bytes, 0));
    tell("map again", cuMemMap(y, bytes, 0, a, 0));
    tell("unmap", cuMemUnmap(x, bytes));
    tell("free the range", cuMemAddressFree(x, bytes));
    cuMemCreate(&b, bytes, &p, 0);
    cuMemMap(y, bytes, 0, b, 0);
    tell("behind it", cuMemMap(y + bytes, bytes, 0, a, 0));
    tell("allow", cuMemSetAccess(y, 2 * bytes, &who, 1));
    tell("release", cuMemRelease(a));
    tell("release again", cuMemRelease(a));
    int value = 0;
    cuMemcpyDtoH(&value, y + bytes + 4, sizeof value);
    verdict("as it was", value == 1111);
    cuMemUnmap(y, 2 * bytes);
    tell("read what is unmapped", cuMemcpyDtoH(&value, y, sizeof value));
    tell("free the longer one", cuMemAddressFree(y, 2 * bytes));
    cuMemRelease(b);
}

// Counts x up, and goes on while it is below 5.
static const char counter[] = ".version 7.0\n.target sm_80\n.address_size 64\n"
                              ".extern .func cudaGraphSetConditional(.param .b64 condition, .param .b32 value);\n"
                              ".visible .entry count(.param .u64 x, .param .u64 condition)\n{\n"
                              " .reg .pred %p; .reg .b32 %r<3>; .reg .b64 %d<3>;\n"
                              " ld.param.u64 %d1, [x]; ld.param.u64 %d2, [condition];\n"
                              " ld.global.u32 %r1, [%d1]; add.u32 %r1, %r1, 1; st.global.u32 [%d1], %r1;\n"
                              " setp.lt.u32 %p, %r1, 5; selp.u32 %r2, 1, 0, %p;\n"
                              " { .param .b64 c; .param .b32 v;\n  st.param.b64 [c], %d2; st.param.b32 [v], %r2;\n"
                              "  call cudaGraphSetConditional, (c, v); }\n ret;\n}\n";

static void decisions()
{
    CUmodule module;
    CUfunction count;
    CUdeviceptr x;
    CUgraph graph, body;
    CUgraphExec exec;
    CUgraphNode node, inner;
    CUgraphNodeType type;
    CUgraphConditionalHandle condition;
    int value = 0;
    cuModuleLoadData(&module, counter);
    cuModuleGetFunction(&count, module, "count");
    cuMemAlloc(&x, sizeof value);
    cuMemsetD32(x, 0, 1);
    cuGraphCreate(&graph, 0);
    tell("a condition", cuGraphConditionalHandleCreate(&condition, graph, nullptr, 1, CU_GRAPH_COND_ASSIGN_DEFAULT));
    CUgraphNodeParams p = {}, k = {};
    p.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    p.conditional.handle = condition;
    p.conditional.type = CU_GRAPH_COND_TYPE_WHILE;
    p.conditional.size = 1;
    tell("a loop", cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &p));
    body = p.conditional.phGraph_out[0];
    void *arguments[] = { &x, &condition };
    k.type = CU_GRAPH_NODE_TYPE_KERNEL;
    k.kernel.func = count;
    k.kernel.gridDimX = k.kernel.gridDimY = k.kernel.gridDimZ = 1;
    k.kernel.blockDimX = k.kernel.blockDimY = k.kernel.blockDimZ = 1;
    k.kernel.kernelParams = arguments;
    tell("its body", cuGraphAddNode(&inner, body, nullptr, nullptr, 0, &k));
    cuGraphNodeGetType(node, &type);
    verdict("its type", type == CU_GRAPH_NODE_TYPE_CONDITIONAL);
    cuGraphInstantiate(&exec, graph, 0);
    cuGraphLaunch(exec, nullptr);
    cuMemcpyDtoH(&value, x, sizeof value);
    verdict("five times", value == 5);
}

int main()
{
    contexts();
    launches();
    images();
    memory();
    ranges();
    streams();
    decisions();
    both();
    return 0;
}
