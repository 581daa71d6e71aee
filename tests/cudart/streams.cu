// Work in streams and graphs, and the memory that goes with it: prints what calls return, and whether values are right.
#include <cstdint>
#include <cstdio>
#include <vector>

__global__ void add(int *p, int n, int by)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] += by;
}

static const int N = 300;
static int *p;

static void says(const char *what, cudaError_t e)
{
    printf("%s: %s\n", what, cudaGetErrorName(e));
}

// Whether all elements are that number.
static void shows(const char *what, int number)
{
    std::vector<int> host(N, -1);
    cudaMemcpy(host.data(), p, N * sizeof(int), cudaMemcpyDeviceToHost);
    int right = 0;
    for (int x : host)
        right += x == number;
    printf("%s: %s\n", what, right == N ? "right" : "wrong");
}

static void capture()
{
    cudaStream_t a, b;
    cudaEvent_t fork, join;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamCaptureStatus status;
    size_t nodes = 0, edges = 0, roots = 0;
    cudaStreamCreate(&a);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    cudaEventCreate(&fork);
    cudaEventCreateWithFlags(&join, cudaEventDisableTiming);
    cudaMemset(p, 0, N * sizeof(int));
    says("begin", cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
    add<<<3, 128, 0, a>>>(p, N, 1);
    cudaEventRecord(fork, a);
    cudaStreamWaitEvent(b, fork, 0);
    add<<<3, 128, 0, b>>>(p, N, 10);
    add<<<3, 128, 0, a>>>(p, N, 100);
    cudaEventRecord(join, b);
    cudaStreamWaitEvent(a, join, 0);
    add<<<3, 128, 0, a>>>(p, N, 1000);
    cudaStreamIsCapturing(b, &status);
    printf("b is captured: %d\n", status == cudaStreamCaptureStatusActive);
    says("end", cudaStreamEndCapture(a, &graph));
    shows("nothing has run", 0);
    cudaGraphGetNodes(graph, nullptr, &nodes);
    cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges);
    cudaGraphGetRootNodes(graph, nullptr, &roots);
    printf("%zu nodes, %zu edges, %zu roots\n", nodes, edges, roots);
    says("instantiate", cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 3; i++)
        cudaGraphLaunch(exec, a);
    shows("three times", 3 * 1111);
    says("destroy", cudaGraphExecDestroy(exec));
    says("launch it", cudaGraphLaunch(exec, a));
    cudaGraphDestroy(graph);
    cudaStreamDestroy(a);
    says("destroyed stream", cudaStreamSynchronize(a));
    cudaEventDestroy(fork);
    says("destroyed event", cudaEventRecord(fork, 0));
    says("end of no capture", cudaStreamEndCapture(b, &graph));
}

static void count_calls(void *user)
{
    ++*(int *)user;
}

// 5 -> set, then add by one kernel, which is changed; the host counts; a child graph adds.
static void by_hand()
{
    cudaGraph_t graph, child, clone;
    cudaGraphExec_t exec;
    cudaGraphNode_t set, kernel, call, inner, nested, copy;
    int n = N, by = 7, other = 70, calls = 0;
    std::vector<int> host(N);
    void *arguments[] = { &p, &n, &by }, *others[] = { &p, &n, &other };
    cudaMemsetParams zero = {};
    zero.dst = p;
    zero.elementSize = 4;
    zero.value = 5;
    zero.width = N;
    zero.height = 1;
    cudaKernelNodeParams k = {};
    k.func = (void *)add;
    k.gridDim = dim3(3);
    k.blockDim = dim3(128);
    k.kernelParams = arguments;
    const cudaHostNodeParams counting = { count_calls, &calls };
    cudaGraphCreate(&graph, 0);
    cudaGraphCreate(&child, 0);
    cudaGraphAddKernelNode(&inner, child, nullptr, 0, &k);
    cudaGraphAddKernelNode(&kernel, graph, nullptr, 0, &k);
    cudaGraphAddMemsetNode(&set, graph, nullptr, 0, &zero);
    cudaGraphAddDependencies(graph, &set, &kernel, nullptr, 1);
    cudaGraphAddHostNode(&call, graph, &kernel, 1, &counting);
    cudaGraphAddChildGraphNode(&nested, graph, &call, 1, child);
    cudaGraphAddMemcpyNode1D(&copy, graph, &nested, 1, host.data(), p, N * sizeof(int), cudaMemcpyDeviceToHost);
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, 0);
    shows("set, two kernels", 5 + 7 + 7);
    printf("copied: %s, calls: %d\n", host[N - 1] == 19 ? "right" : "wrong", calls);
    k.kernelParams = others;
    says("change", cudaGraphExecKernelNodeSetParams(exec, kernel, &k));
    cudaGraphLaunch(exec, 0);
    shows("changed", 5 + 70 + 7);
    cudaGraphNodeSetEnabled(exec, kernel, 0);
    cudaGraphLaunch(exec, 0);
    shows("without it", 5 + 7);
    says("clone", cudaGraphClone(&clone, graph));
    says("update", cudaGraphExecUpdate(exec, clone, nullptr));
    cudaGraphLaunch(exec, 0);
    shows("updated", 5 + 7 + 7);
    says("wrong node", cudaGraphKernelNodeSetParams(set, &k));
    cudaGraphAddDependencies(graph, &copy, &set, nullptr, 1);
    says("a circle", cudaGraphInstantiate(&exec, graph, 0));
}

static void pools()
{
    cudaMemPool_t pool;
    uint64_t keep = UINT64_MAX, kept = 0;
    int *q;
    says("default pool", cudaDeviceGetDefaultMemPool(&pool, 0));
    cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep);
    cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept);
    printf("kept: %d\n", kept == keep);
    says("from it", cudaMallocFromPoolAsync((void **)&q, 400, pool, 0));
    says("and back", cudaFreeAsync(q, 0));
}

// Memory that a captured stream allocates and frees, and a node that allocates: it is there in each launch.
static void graph_memory()
{
    cudaStream_t s;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t alloc, set, copy;
    int *q;
    cudaStreamCreate(&s);
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    cudaMallocAsync(&q, N * sizeof(int), s);
    cudaMemsetAsync(q, 0, N * sizeof(int), s);
    add<<<3, 128, 0, s>>>(q, N, 3);
    cudaMemcpyAsync(p, q, N * sizeof(int), cudaMemcpyDeviceToDevice, s);
    cudaFreeAsync(q, s);
    cudaStreamEndCapture(s, &graph);
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, s);
    says("launched again", cudaGraphLaunch(exec, s));
    shows("its memory", 3);
    cudaMemAllocNodeParams memory = {};
    memory.bytesize = N * sizeof(int);
    cudaGraphCreate(&graph, 0);
    says("a node that allocates", cudaGraphAddMemAllocNode(&alloc, graph, nullptr, 0, &memory));
    cudaMemsetParams ones = {};
    ones.dst = memory.dptr;
    ones.elementSize = 4;
    ones.value = 4;
    ones.width = N;
    ones.height = 1;
    cudaGraphAddMemsetNode(&set, graph, &alloc, 1, &ones);
    cudaGraphAddMemcpyNode1D(&copy, graph, &set, 1, p, memory.dptr, N * sizeof(int), cudaMemcpyDeviceToDevice);
    says("and one that frees", cudaGraphAddMemFreeNode(&alloc, graph, &copy, 1, memory.dptr));
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, s);
    shows("its memory", 4);
    cudaGraphCreate(&graph, 0);
    cudaGraphAddMemAllocNode(&alloc, graph, nullptr, 0, &memory);
    ones.dst = memory.dptr;
    ones.value = 5;
    cudaGraphAddMemsetNode(&set, graph, &alloc, 1, &ones);
    cudaGraphAddMemcpyNode1D(&copy, graph, &set, 1, p, memory.dptr, N * sizeof(int), cudaMemcpyDeviceToDevice);
    cudaGraphInstantiate(&exec, graph, 0);
    for (int i = 0; i < 2; i++) {
        cudaGraphLaunch(exec, s);
        says("the program frees it", i ? cudaFree(memory.dptr) : cudaFreeAsync(memory.dptr, s));
    }
    says("and again", cudaFree(memory.dptr));
    shows("its memory", 5);
}

// A box within a box, to the device and back.
static void boxes()
{
    const cudaExtent all = make_cudaExtent(40, 5, 3);
    std::vector<char> host(40 * 5 * 3), back(40 * 5 * 3, 'x');
    for (size_t i = 0; i < host.size(); i++)
        host[i] = (char)i;
    cudaPitchedPtr device;
    says("cudaMalloc3D", cudaMalloc3D(&device, all));
    cudaMemset3D(device, 0, all);
    cudaMemcpy3DParms to = {};
    to.srcPtr = make_cudaPitchedPtr(host.data(), 40, 40, 5);
    to.dstPtr = device;
    to.srcPos = make_cudaPos(8, 1, 1);
    to.dstPos = make_cudaPos(8, 1, 1);
    to.extent = make_cudaExtent(16, 3, 2);
    to.kind = cudaMemcpyHostToDevice;
    says("part of it", cudaMemcpy3D(&to));
    cudaMemcpy3DParms from = {};
    from.srcPtr = device;
    from.dstPtr = make_cudaPitchedPtr(back.data(), 40, 40, 5);
    from.extent = all;
    from.kind = cudaMemcpyDeviceToHost;
    says("all of it", cudaMemcpy3D(&from));
    int right = 0;
    for (int z = 0; z < 3; z++)
        for (int y = 0; y < 5; y++)
            for (int x = 0; x < 40; x++) {
                const size_t i = (z * 5 + y) * 40 + x;
                const bool inside = x >= 8 && x < 24 && y >= 1 && y < 4 && z >= 1;
                right += back[i] == (inside ? host[i] : 0);
            }
    printf("%d of 600 bytes right\n", right);
    cudaFree(device.ptr);
}

static void registered()
{
    std::vector<int> host(N, 1);
    int *device;
    says("register", cudaHostRegister(host.data(), N * sizeof(int), cudaHostRegisterMapped));
    says("again", cudaHostRegister(host.data(), N * sizeof(int), cudaHostRegisterMapped));
    cudaHostGetDevicePointer(&device, host.data(), 0);
    host[3] = 41;
    add<<<3, 128>>>(device, N, 1);
    cudaDeviceSynchronize();
    printf("%d %d\n", host[0], host[3]);
    says("unregister", cudaHostUnregister(host.data()));
    says("no more", cudaHostGetDevicePointer(&device, host.data(), 0));
}

static void freed_by_the_wrong_call()
{
    int *pinned, *device;
    cudaMallocHost(&pinned, 64);
    cudaMalloc(&device, 64);
    says("cudaFree of pinned", cudaFree(pinned));
    says("cudaFreeHost of device", cudaFreeHost(device));
    says("cudaFreeHost", cudaFreeHost(pinned));
    says("cudaFree", cudaFree(device));
}

static void priorities()
{
    int least, greatest, given;
    cudaStream_t s;
    cudaDeviceProp p;
    cudaGetDeviceProperties(&p, 0);
    cudaDeviceGetStreamPriorityRange(&least, &greatest);
    says("a stream that comes first", cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, greatest - 1));
    cudaStreamGetPriority(s, &given);
    printf("%d: %d to %d, has %d\n", p.streamPrioritiesSupported, least, greatest, given);
}

// More than there are addresses that the program and the device have in common.
static void many()
{
    int *p, *last;
    cudaError_t e = cudaSuccess;
    for (int i = 0; i < 3000 && !e; i++)
        e = cudaMalloc(&p, 4);
    says("3000 of the device", e);
    cudaMallocManaged(&last, 4);
    for (int i = 0; i < 3000 && !e; i++) {
        e = cudaMallocManaged(&p, 4);
        *p = i;
        cudaFree(p);
    }
    says("3000 managed ones, one at a time", e);
    *last = 1;
    add<<<1, 32>>>(last, 1, 1);
    cudaDeviceSynchronize();
    printf("%d\n", *last);
}

__global__ void count(int *x, int to, cudaGraphConditionalHandle go_on)
{
    *x += 1;
    cudaGraphSetConditional(go_on, *x < to);
}

__global__ void twice(int *x)
{
    *x *= 2;
}

static cudaGraph_t *decide(cudaGraphNode_t *node, cudaGraph_t g, cudaGraphConditionalHandle h,
                           cudaGraphConditionalNodeType type, unsigned bodies)
{
    cudaGraphNodeParams p = {};
    p.type = cudaGraphNodeTypeConditional;
    p.conditional.handle = h;
    p.conditional.type = type;
    p.conditional.size = bodies;
    says("a node that decides", cudaGraphAddNode(node, g, nullptr, nullptr, 0, &p));
    return p.conditional.phGraph_out;
}

static void launches(cudaGraph_t g, void *kernel, void **arguments)
{
    cudaGraphNode_t n;
    cudaKernelNodeParams k = {};
    k.func = kernel;
    k.gridDim = k.blockDim = dim3(1);
    k.kernelParams = arguments;
    cudaGraphAddKernelNode(&n, g, nullptr, 0, &k);
}

// While it is less than 10 count on; then, by a condition that nobody sets, double it, and choose the second of two.
static void decisions()
{
    int *x, ten = 10, hundred = 100;
    cudaGraph_t g;
    cudaGraphExec_t exec;
    cudaGraphNode_t n[3];
    cudaGraphConditionalHandle go_on, yes, second;
    cudaMallocManaged(&x, sizeof(int));
    *x = 0;
    cudaGraphCreate(&g, 0);
    says("a condition", cudaGraphConditionalHandleCreate(&go_on, g, 1, cudaGraphCondAssignDefault));
    cudaGraphConditionalHandleCreate(&yes, g, 1, cudaGraphCondAssignDefault);
    cudaGraphConditionalHandleCreate(&second, g, 1, cudaGraphCondAssignDefault);
    void *arguments[] = { &x, &ten, &go_on }, *never[] = { &x, &hundred, &go_on };
    launches(*decide(&n[0], g, go_on, cudaGraphCondTypeWhile, 1), (void *)count, arguments);
    cudaGraph_t *either = decide(&n[1], g, yes, cudaGraphCondTypeIf, 2);
    launches(either[0], (void *)twice, arguments);
    launches(either[1], (void *)count, never);
    launches(decide(&n[2], g, second, cudaGraphCondTypeSwitch, 2)[1], (void *)count, never);
    cudaGraphAddDependencies(g, n, n + 1, nullptr, 2);
    cudaGraphNodeParams two = {};
    two.type = cudaGraphNodeTypeConditional;
    two.conditional.type = cudaGraphCondTypeWhile;
    two.conditional.size = 2;
    says("a while with two bodies", cudaGraphAddNode(n, g, nullptr, nullptr, 0, &two));
    says("instantiate", cudaGraphInstantiate(&exec, g, 0));
    for (int i = 0; i < 2; i++) {
        says("launch it", cudaGraphLaunch(exec, 0));
        cudaDeviceSynchronize();
        printf("%d\n", *x);
    }
}

int main()
{
    cudaMalloc(&p, N * sizeof(int));
    capture();
    by_hand();
    pools();
    graph_memory();
    boxes();
    registered();
    freed_by_the_wrong_call();
    decisions();
    many();
    priorities();
    int n = N, by = 1;
    void *arguments[] = { &p, &n, &by };
    says("too many blocks", cudaLaunchCooperativeKernel((void *)add, dim3(100000), dim3(128), arguments, 0, 0));
    return 0;
}
