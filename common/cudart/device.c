// The one device as a program asks about it. What a card has comes from its row of base/card.def; what all cards have
// in common, from the CUDA C++ Programming Guide's technical specifications by compute capability.
#include <string.h>

#include "cudart.h"

// Of every card.
enum {
    WARP = 32,
    BLOCK_THREADS = 1024,
    BLOCK_SHARED = 48 << 10,  // without opt-in
    CONSTANT = 64 << 10,
    GRID_X = 2147483647,
    GRID_YZ = 65535,
    BLOCK_Z = 64,
};

// Registers of a thread, of which PTX says nothing: what ptxas would give a kernel is not asked for here.
enum { REGISTERS = 32 };

cudaError_t cudaGetDevice(int *d)
{
    if (!d)
        return cudart_null(__func__);
    *d = 0;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *n)
{
    if (!n)
        return cudart_null(__func__);
    *n = 1;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int d)
{
    cudart_use_context();
    return d ? cudart_failed(cudaErrorInvalidDevice, "cudaSetDevice", "there is one device, number 0") : cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int d)
{
    if (!p)
        return cudart_null(__func__);
    const struct card *c = cudart_card();
    cudart_lock();
    const size_t memory = simt_limits(cudart_gpu()).memory;
    cudart_unlock();
    *p = (struct cudaDeviceProp){ .major = c->cc / 10,
                                  .minor = c->cc % 10,
                                  .multiProcessorCount = (int)c->sms,
                                  .warpSize = WARP,
                                  .maxThreadsPerBlock = BLOCK_THREADS,
                                  .maxThreadsPerMultiProcessor = (int)c->threads,
                                  .maxBlocksPerMultiProcessor = (int)c->blocks,
                                  .sharedMemPerBlock = BLOCK_SHARED,
                                  .sharedMemPerBlockOptin = c->block_kib << 10,
                                  .sharedMemPerMultiprocessor = c->shared_kib << 10,
                                  .reservedSharedMemPerBlock = c->shared_reserved,
                                  .regsPerBlock = (int)c->registers,
                                  .regsPerMultiprocessor = (int)c->registers,
                                  .totalGlobalMem = memory,
                                  .totalConstMem = CONSTANT,
                                  .memPitch = GRID_X,
                                  .textureAlignment = 512,
                                  .maxGridSize = { GRID_X, GRID_YZ, GRID_YZ },
                                  .maxThreadsDim = { BLOCK_THREADS, BLOCK_THREADS, BLOCK_Z },
                                  .l2CacheSize = (int)(c->l2_mb * (1 << 20)),
                                  .cooperativeLaunch = 1,
                                  .maxTexture1D = 131072,
                                  .maxTexture1DLayered = { 32768, 2048 },
                                  .maxTexture2D = { 131072, 65536 },
                                  .maxTexture2DLinear = { 131072, 65000, 2097120 },
                                  .maxTexture2DLayered = { 32768, 32768, 2048 },
                                  .maxTexture3D = { 16384, 16384, 16384 },
                                  .maxSurface2D = { 131072, 65536 },
                                  .managedMemory = 1,
                                  .concurrentManagedAccess = 1,
                                  .unifiedAddressing = 1,
                                  .canMapHostMemory = 1,
                                  .concurrentKernels = 1,
                                  .streamPrioritiesSupported = 1,
                                  .globalL1CacheSupported = 1,
                                  .localL1CacheSupported = 1,
                                  .hostRegisterSupported = 1,
                                  .computePreemptionSupported = 1,
                                  .memoryPoolsSupported = 1,
                                  .asyncEngineCount = 1 };
    snprintf(p->name, sizeof p->name, "%s (as %s)", SIMT_DEVICE, c->device);
    return cudaSuccess;
}

// X(attribute of enum cudaDeviceAttr, its value by the properties p and the card c)
#define ATTRIBUTES(X)                                                                                                  \
    X(MultiProcessorCount, p.multiProcessorCount)                                                                      \
    X(WarpSize, p.warpSize)                                                                                            \
    X(MaxThreadsPerBlock, p.maxThreadsPerBlock)                                                                        \
    X(MaxThreadsPerMultiProcessor, p.maxThreadsPerMultiProcessor)                                                      \
    X(MaxBlocksPerMultiprocessor, p.maxBlocksPerMultiProcessor)                                                        \
    X(MaxSharedMemoryPerBlock, (int)p.sharedMemPerBlock)                                                               \
    X(MaxSharedMemoryPerBlockOptin, (int)p.sharedMemPerBlockOptin)                                                     \
    X(MaxSharedMemoryPerMultiprocessor, (int)p.sharedMemPerMultiprocessor)                                             \
    X(ReservedSharedMemoryPerBlock, (int)p.reservedSharedMemPerBlock)                                                  \
    X(MaxRegistersPerBlock, p.regsPerBlock)                                                                            \
    X(MaxRegistersPerMultiprocessor, p.regsPerMultiprocessor)                                                          \
    X(TotalConstantMemory, (int)p.totalConstMem)                                                                       \
    X(MaxPitch, (int)p.memPitch)                                                                                       \
    X(TextureAlignment, (int)p.textureAlignment)                                                                       \
    X(ComputeCapabilityMajor, p.major)                                                                                 \
    X(ComputeCapabilityMinor, p.minor)                                                                                 \
    X(MaxGridDimX, p.maxGridSize[0])                                                                                   \
    X(MaxGridDimY, p.maxGridSize[1])                                                                                   \
    X(MaxGridDimZ, p.maxGridSize[2])                                                                                   \
    X(MaxBlockDimX, p.maxThreadsDim[0])                                                                                \
    X(MaxBlockDimY, p.maxThreadsDim[1])                                                                                \
    X(MaxBlockDimZ, p.maxThreadsDim[2])                                                                                \
    X(L2CacheSize, p.l2CacheSize)                                                                                      \
    X(ClockRate, (int)(c->ghz * 1e6))                                                                                  \
    X(CooperativeLaunch, p.cooperativeLaunch)                                                                          \
    X(ManagedMemory, p.managedMemory)                                                                                  \
    X(ConcurrentManagedAccess, p.concurrentManagedAccess)                                                              \
    X(UnifiedAddressing, p.unifiedAddressing)                                                                          \
    X(CanMapHostMemory, p.canMapHostMemory)                                                                            \
    X(ConcurrentKernels, p.concurrentKernels)                                                                          \
    X(AsyncEngineCount, p.asyncEngineCount)                                                                            \
    X(GlobalL1CacheSupported, p.globalL1CacheSupported)                                                                \
    X(LocalL1CacheSupported, p.localL1CacheSupported)                                                                  \
    X(GpuOverlap, p.asyncEngineCount > 0)                                                                              \
    X(SingleToDoublePrecisionPerfRatio, (int)(c->f32 / c->f64))                                                        \
    X(HostNativeAtomicSupported, 0)                                                                                    \
    X(HostRegisterSupported, p.hostRegisterSupported)                                                                  \
    X(PageableMemoryAccessUsesHostPageTables, 0)                                                                       \
    X(DirectManagedMemAccessFromHost, 0)                                                                               \
    X(ComputePreemptionSupported, p.computePreemptionSupported)                                                        \
    X(CanUseHostPointerForRegisteredMem, 0)                                                                            \
    X(MaxPersistingL2CacheSize, 0)                                                                                     \
    X(MaxAccessPolicyWindowSize, 0)                                                                                    \
    X(IsMultiGpuBoard, 0)                                                                                              \
    X(MultiGpuBoardGroupID, 0)                                                                                         \
    X(PciBusId, 0)                                                                                                     \
    X(PciDeviceId, 0)                                                                                                  \
    X(PciDomainId, 0)                                                                                                  \
    X(TccDriver, 0)                                                                                                    \
    X(StreamPrioritiesSupported, p.streamPrioritiesSupported)                                                          \
    X(PageableMemoryAccess, 0)                                                                                         \
    X(MemoryPoolsSupported, p.memoryPoolsSupported)                                                                    \
    X(ComputeMode, 0)                                                                                                  \
    X(Integrated, 0)                                                                                                   \
    X(EccEnabled, 0)                                                                                                   \
    X(KernelExecTimeout, 0)

cudaError_t cudaDeviceGetAttribute(int *v, enum cudaDeviceAttr a, int d)
{
    if (!v)
        return cudart_null(__func__);
    const struct card *c = cudart_card();
    struct cudaDeviceProp p;
    char error[DEV_ERROR_MAX];
    cudaGetDeviceProperties(&p, d);
    switch (a) {
#define ATTRIBUTE(name, value)                                                                                         \
    case cudaDevAttr##name:                                                                                            \
        *v = value;                                                                                                    \
        return cudaSuccess;
        ATTRIBUTES(ATTRIBUTE)
    default:  // features that are not there, and sizes of them
        *v = 0;
        error_set(error, "there is no attribute %d", (int)a);
        return a > 0 && a < cudaDevAttrMax ? cudaSuccess
                                           : cudart_failed(cudaErrorInvalidValue, "cudaDeviceGetAttribute", error);
    }
}

// What a program asks for is kept; here nothing runs out by it.
static size_t limits[] = { [cudaLimitStackSize] = 1 << 10,
                           [cudaLimitPrintfFifoSize] = 1 << 20,
                           [cudaLimitMallocHeapSize] = 8 << 20,
                           [cudaLimitDevRuntimeSyncDepth] = 2,
                           [cudaLimitDevRuntimePendingLaunchCount] = 2048,
                           [cudaLimitMaxL2FetchGranularity] = 64,
                           [cudaLimitPersistingL2CacheSize] = 0 };

static cudaError_t no_limit(const char *function)
{
    return cudart_failed(cudaErrorUnsupportedLimit, function, "there is no such limit");
}

cudaError_t cudaDeviceGetLimit(size_t *n, enum cudaLimit l)
{
    if ((size_t)l >= sizeof limits / sizeof *limits)
        return no_limit("cudaDeviceGetLimit");
    *n = limits[l];
    return cudaSuccess;
}

cudaError_t cudaDeviceSetLimit(enum cudaLimit l, size_t n)
{
    if ((size_t)l >= sizeof limits / sizeof *limits)
        return no_limit("cudaDeviceSetLimit");
    limits[l] = n;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *c)
{
    *c = cudaFuncCachePreferNone;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *c)
{
    *c = cudaSharedMemBankSizeFourByte;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceFlags(unsigned *flags)
{
    *flags = cudaDeviceMapHost;
    return cudaSuccess;
}

cudaError_t cudaChooseDevice(int *d, const struct cudaDeviceProp *wanted)
{
    return cudaGetDevice(d);
}

cudaError_t cudaSetValidDevices(int *d, int n)
{
    return cudaSuccess;
}

cudaError_t cudaDeviceGetByPCIBusId(int *d, const char *id)
{
    return cudaGetDevice(d);
}

cudaError_t cudaDeviceEnablePeerAccess(int d, unsigned flags)
{
    return cudart_failed(cudaErrorInvalidDevice, "cudaDeviceEnablePeerAccess", "there is one device, number 0");
}

cudaError_t cudaDeviceDisablePeerAccess(int d)
{
    return cudart_failed(cudaErrorInvalidDevice, "cudaDeviceDisablePeerAccess", "there is one device, number 0");
}

cudaError_t cudaDeviceGetPCIBusId(char *id, int n, int d)
{
    snprintf(id, (size_t)n, "0000:00:00.0");
    return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int a, int b)
{
    *can = 0;
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *v)
{
    *v = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *v)
{
    return cudaDriverGetVersion(v);
}

// --- Kernels ---

static bool about_kernel(const void *host, struct simt_kernel_about *about)
{
    const char *name;
    cudart_lock();
    const struct simt_kernel *k = cudart_kernel(host, &name);
    if (k)
        *about = simt_kernel_about(k);
    cudart_unlock();
    return k;
}

uint64_t cudart_most_dynamic(const void *host, const struct simt_kernel_about *about)
{
    const uint64_t asked = cudart_kernel_dynamic(host), own = about->shared;
    const uint64_t anyway = own < BLOCK_SHARED ? BLOCK_SHARED - own : 0;
    return asked > anyway ? asked : anyway;
}

// Of the attributes, dynamic shared memory beyond what every kernel may have; the others are advice to the card.
cudaError_t cudaFuncSetAttribute(const void *host, enum cudaFuncAttribute a, int v)
{
    struct simt_kernel_about about;
    if (!about_kernel(host, &about))
        return cudaErrorInvalidDeviceFunction;
    if (a != cudaFuncAttributeMaxDynamicSharedMemorySize)
        return cudaSuccess;
    if (v < 0 || about.shared + (uint64_t)v > (uint64_t)cudart_card()->block_kib << 10)
        return cudart_failed(cudaErrorInvalidValue, "cudaFuncSetAttribute",
                             "a block of the card has less shared memory");
    cudart_lock();
    cudart_kernel_set_dynamic(host, (uint64_t)v);
    cudart_unlock();
    return cudaSuccess;
}

// The version of the PTX that was loaded is no ornament: CUB chooses its kernels' tiles by it.
cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *a, const void *host)
{
    if (!a)
        return cudart_null(__func__);
    struct simt_kernel_about about;
    if (!about_kernel(host, &about))
        return cudaErrorInvalidDeviceFunction;
    *a = (struct cudaFuncAttributes){ .sharedSizeBytes = about.shared,
                                      .localSizeBytes = about.local,
                                      .maxThreadsPerBlock = about.max_threads ? (int)about.max_threads : BLOCK_THREADS,
                                      .numRegs = REGISTERS,
                                      .ptxVersion = (int)cudart_kernel_arch(host),
                                      .binaryVersion = cudart_card()->cc,
                                      .maxDynamicSharedSizeBytes = (int)cudart_most_dynamic(host, &about) };
    return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *n, const void *host, int block, size_t shared)
{
    if (!n)
        return cudart_null(__func__);
    struct simt_kernel_about about;
    if (!about_kernel(host, &about))
        return cudaErrorInvalidDeviceFunction;
    if (block <= 0)
        return cudart_failed(cudaErrorInvalidValue, "cudaOccupancyMaxActiveBlocksPerMultiprocessor", "no threads");
    const bool fits = block <= BLOCK_THREADS;
    *n = fits ? (int)occupancy_of(cudart_card(), (unsigned)block, REGISTERS, about.shared + shared).blocks : 0;
    return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *n, const void *host, int block, size_t shared,
                                                                   unsigned flags)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(n, host, block, shared);
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *host, int blocks, int threads)
{
    struct simt_kernel_about about;
    if (!about_kernel(host, &about))
        return cudaErrorInvalidDeviceFunction;
    const struct card *c = cudart_card();
    const size_t all = (size_t)c->shared_kib << 10, most = (size_t)c->block_kib << 10;
    const size_t share = blocks > 0 ? all / (size_t)blocks : 0, own = about.shared + c->shared_reserved;
    *bytes = share > own ? share - own : 0;
    *bytes = *bytes < most - about.shared ? *bytes : most - about.shared;
    return cudaSuccess;
}

static unsigned cluster_blocks(const cudaLaunchConfig_t *c)
{
    for (unsigned i = 0; i < c->numAttrs; i++)
        if (c->attrs[i].id == cudaLaunchAttributeClusterDimension)
            return c->attrs[i].val.clusterDim.x * c->attrs[i].val.clusterDim.y * c->attrs[i].val.clusterDim.z;
    return 1;
}

// Of clusters nothing else than their blocks is known: those of a cluster have to be on SMs of one part of the card.
cudaError_t cudaOccupancyMaxActiveClusters(int *n, const void *host, const cudaLaunchConfig_t *c)
{
    const cudaError_t e = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        n, host, (int)(c->blockDim.x * c->blockDim.y * c->blockDim.z), c->dynamicSmemBytes);
    const unsigned blocks = cluster_blocks(c);
    *n = e || !blocks ? 0 : *n * (int)cudart_card()->sms / (int)blocks;
    return e;
}

cudaError_t cudaOccupancyMaxPotentialClusterSize(int *n, const void *host, const cudaLaunchConfig_t *c)
{
    *n = 8;  // what every card of compute capability 9.0 can do
    return cudaSuccess;
}

cudaError_t cudaFuncGetName(const char **name, const void *host)
{
    cudart_lock();
    const bool known = cudart_kernel(host, name);
    if (known)
        *name = cudart_kernel_device_name(host);
    cudart_unlock();
    return known ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}
