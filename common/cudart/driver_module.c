// The driver's API: modules and libraries, kernels and their launches, and the linker.
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "driver.h"
#include "module.h"

// --- Modules and libraries, which are the same here; so are kernels and functions ---

static cudaError_t load(void *out, const void *image, unsigned n, const CUjit_option *options, void **values)
{
    return module_load(cudart_driver_call(), "module.ptx", image,
                       &(struct module_options){ n, (const int *)options, values }, out);
}

static cudaError_t load_file(void *out, const char *path, unsigned n, const CUjit_option *options, void **values)
{
    return module_load_file(cudart_driver_call(), path, &(struct module_options){ n, (const int *)options, values },
                            out);
}

static cudaError_t unload(void *module)
{
    return module_unload(cudart_driver_call(), module);
}

static cudaError_t kernel(void *out, void *module, const char *name)
{
    return module_kernel(cudart_driver_call(), module, name, out);
}

static cudaError_t variable(CUdeviceptr *address, size_t *bytes, void *module, const char *name)
{
    return module_variable(cudart_driver_call(), module, name, (void **)address, bytes);
}

static cudaError_t kernels(void *out, unsigned room, unsigned *n, void *module)
{
    return module_kernels(cudart_driver_call(), module, out, room, n);
}

FACE(cuModuleLoad, (CUmodule * m, const char *path), load_file(m, path, 0, NULL, NULL))
FACE(cuModuleLoadData, (CUmodule * m, const void *image), load(m, image, 0, NULL, NULL))
FACE(cuModuleLoadDataEx, (CUmodule * m, const void *image, unsigned n, CUjit_option *options, void **values),
     load(m, image, n, options, values))
FACE(cuModuleLoadFatBinary, (CUmodule * m, const void *image), load(m, image, 0, NULL, NULL))
FACE(cuModuleUnload, (CUmodule m), unload(m))
FACE(cuModuleGetFunction, (CUfunction * f, CUmodule m, const char *name), kernel(f, m, name))
FACE(cuModuleGetGlobal, (CUdeviceptr * p, size_t *n, CUmodule m, const char *name), variable(p, n, m, name))
FACE(cuModuleGetFunctionCount, (unsigned *n, CUmodule m), kernels(NULL, 0, n, m))
FACE(cuModuleEnumerateFunctions, (CUfunction * f, unsigned room, CUmodule m), kernels(f, room, NULL, m))
FACE(cuModuleGetLoadingMode, (CUmoduleLoadingMode * mode), (*mode = CU_MODULE_EAGER_LOADING, cudaSuccess))
FACE(cuLibraryLoadData,
     (CUlibrary * l, const void *image, CUjit_option *options, void **values, unsigned n, CUlibraryOption *o, void **v,
      unsigned n_o),
     load(l, image, n, options, values))
FACE(cuLibraryLoadFromFile,
     (CUlibrary * l, const char *path, CUjit_option *options, void **values, unsigned n, CUlibraryOption *o, void **v,
      unsigned n_o),
     load_file(l, path, n, options, values))
FACE(cuLibraryUnload, (CUlibrary l), unload(l))
FACE(cuLibraryGetKernel, (CUkernel * k, CUlibrary l, const char *name), kernel(k, l, name))
FACE(cuLibraryGetGlobal, (CUdeviceptr * p, size_t *n, CUlibrary l, const char *name), variable(p, n, l, name))
FACE(cuLibraryGetKernelCount, (unsigned *n, CUlibrary l), kernels(NULL, 0, n, l))
FACE(cuLibraryEnumerateKernels, (CUkernel * k, unsigned room, CUlibrary l), kernels(k, room, NULL, l))
FACE(cuLibraryGetModule, (CUmodule * m, CUlibrary l), (*m = (CUmodule)l, cudaSuccess))
FACE(cuKernelGetFunction, (CUfunction * f, CUkernel k), (*f = (CUfunction)k, cudaSuccess))

// --- Kernels ---

static cudaError_t attribute(int *out, CUfunction_attribute a, const void *kernel)
{
    struct cudaFuncAttributes f;
    const cudaError_t e = cudaFuncGetAttributes(&f, kernel);
    const int all[CU_FUNC_ATTRIBUTE_MAX] = {
        [CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK] = f.maxThreadsPerBlock,
        [CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES] = (int)f.sharedSizeBytes,
        [CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES] = (int)f.constSizeBytes,
        [CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES] = (int)f.localSizeBytes,
        [CU_FUNC_ATTRIBUTE_NUM_REGS] = f.numRegs,
        [CU_FUNC_ATTRIBUTE_PTX_VERSION] = f.ptxVersion,
        [CU_FUNC_ATTRIBUTE_BINARY_VERSION] = f.binaryVersion,
        [CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES] = f.maxDynamicSharedSizeBytes,
    };
    if (!e && (unsigned)a >= CU_FUNC_ATTRIBUTE_MAX)
        return cudart_failed(cudaErrorInvalidValue, cudart_driver_call(), "there is no such attribute");
    *out = e ? 0 : all[a];
    return e;
}

FACE(cuFuncGetAttribute, (int *v, CUfunction_attribute a, CUfunction f), attribute(v, a, f))
FACE(cuFuncSetAttribute, (CUfunction f, CUfunction_attribute a, int v),
     cudaFuncSetAttribute(f, (enum cudaFuncAttribute)a, v))
FACE(cuFuncSetCacheConfig, (CUfunction f, CUfunc_cache c), cudaSuccess)
FACE(cuFuncGetName, (const char **name, CUfunction f), cudaFuncGetName(name, f))
FACE(cuFuncGetParamInfo, (CUfunction f, size_t i, size_t *at, size_t *n), cudaFuncGetParamInfo(f, i, at, n))
FACE(cuFuncIsLoaded, (CUfunctionLoadingState * state, CUfunction f),
     (*state = CU_FUNCTION_LOADING_STATE_LOADED, cudaSuccess))
FACE(cuFuncLoad, (CUfunction f), cudaSuccess)
FACE(cuKernelGetAttribute, (int *v, CUfunction_attribute a, CUkernel k, CUdevice d), attribute(v, a, k))
FACE(cuKernelSetAttribute, (CUfunction_attribute a, int v, CUkernel k, CUdevice d),
     cudaFuncSetAttribute(k, (enum cudaFuncAttribute)a, v))
FACE(cuKernelSetCacheConfig, (CUkernel k, CUfunc_cache c, CUdevice d), cudaSuccess)
FACE(cuKernelGetName, (const char **name, CUkernel k), cudaFuncGetName(name, k))
FACE(cuKernelGetParamInfo, (CUkernel k, size_t i, size_t *at, size_t *n), cudaFuncGetParamInfo(k, i, at, n))

// --- Launches ---

enum { ARGUMENTS = 1024 };  // a kernel has at most 4 KiB of parameters, or 32 KiB

// The arguments one by one, as the program gives them, or as they lie in the buffer that it gives.
static void **arguments(const void *kernel, void **given, void **extra, void *own[ARGUMENTS])
{
    char *buffer = NULL;
    size_t at, bytes, n = 0;
    for (; extra && *extra != CU_LAUNCH_PARAM_END; extra += 2)
        if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
            buffer = extra[1];
    for (; buffer && n < ARGUMENTS && !cudaFuncGetParamInfo(kernel, n, &at, &bytes); n++)
        own[n] = buffer + at;
    return buffer ? own : given;
}

static cudaError_t launch(const cudaLaunchConfig_t *c, const void *kernel, void **given, void **extra)
{
    void *own[ARGUMENTS];
    return cudaLaunchKernelExC(c, kernel, arguments(kernel, given, extra, own));
}

static cudaLaunchConfig_t config_of(const CUlaunchConfig *c)
{
    _Static_assert(sizeof(CUlaunchAttribute) == sizeof(cudaLaunchAttribute), "attributes are the same in both");
    return (cudaLaunchConfig_t){ .gridDim = { c->gridDimX, c->gridDimY, c->gridDimZ },
                                 .blockDim = { c->blockDimX, c->blockDimY, c->blockDimZ },
                                 .dynamicSmemBytes = c->sharedMemBytes,
                                 .stream = c->hStream,
                                 .attrs = (cudaLaunchAttribute *)c->attrs,
                                 .numAttrs = c->numAttrs };
}

FACE(cuLaunchKernel,
     (CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
      CUstream s, void **given, void **extra),
     launch(&(cudaLaunchConfig_t){ { gx, gy, gz }, { bx, by, bz }, shared, s, NULL, 0 }, f, given, extra))
FACE(cuLaunchKernelEx, (const CUlaunchConfig *c, CUfunction f, void **given, void **extra),
     launch((cudaLaunchConfig_t[]){ config_of(c) }, f, given, extra))
FACE(cuLaunchCooperativeKernel,
     (CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
      CUstream s, void **given),
     cudaLaunchCooperativeKernel(f, (dim3){ gx, gy, gz }, (dim3){ bx, by, bz }, given, shared, s))

// --- Occupancy ---

// The block, of whole warps, of which most threads are on an SM at a time; the largest of them.
static cudaError_t best_block(int *grid, int *block, const void *kernel, CUoccupancyB2DSize shared_of, size_t shared,
                              int limit)
{
    struct cudaFuncAttributes f;
    cudaError_t e = cudaFuncGetAttributes(&f, kernel);
    const int warp = 32, most = e || (limit > 0 && limit < f.maxThreadsPerBlock) ? limit : f.maxThreadsPerBlock;
    *grid = *block = 0;
    for (int threads = (most + warp - 1) / warp * warp, best = 0, blocks; !e && threads > 0; threads -= warp) {
        const int asked = threads < most ? threads : most;
        e = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, asked,
                                                          shared_of ? shared_of(asked) : shared);
        if (!e && blocks * asked > best) {
            best = blocks * asked;
            *block = asked;
            *grid = blocks * (int)cudart_card()->sms;
        }
    }
    return e;
}

FACE(cuOccupancyMaxActiveBlocksPerMultiprocessor, (int *n, CUfunction f, int threads, size_t shared),
     cudaOccupancyMaxActiveBlocksPerMultiprocessor(n, f, threads, shared))
FACE(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
     (int *n, CUfunction f, int threads, size_t shared, unsigned flags),
     cudaOccupancyMaxActiveBlocksPerMultiprocessor(n, f, threads, shared))
FACE(cuOccupancyMaxPotentialBlockSize,
     (int *grid, int *block, CUfunction f, CUoccupancyB2DSize shared_of, size_t shared, int limit),
     best_block(grid, block, f, shared_of, shared, limit))
FACE(cuOccupancyMaxPotentialBlockSizeWithFlags,
     (int *grid, int *block, CUfunction f, CUoccupancyB2DSize shared_of, size_t shared, int limit, unsigned flags),
     best_block(grid, block, f, shared_of, shared, limit))
FACE(cuOccupancyMaxActiveClusters, (int *n, CUfunction f, const CUlaunchConfig *c),
     cudaOccupancyMaxActiveClusters(n, f, (cudaLaunchConfig_t[]){ config_of(c) }))
FACE(cuOccupancyMaxPotentialClusterSize, (int *n, CUfunction f, const CUlaunchConfig *c),
     cudaOccupancyMaxPotentialClusterSize(n, f, (cudaLaunchConfig_t[]){ config_of(c) }))
FACE(cuOccupancyAvailableDynamicSMemPerBlock, (size_t * n, CUfunction f, int blocks, int threads),
     cudaOccupancyAvailableDynamicSMemPerBlock(n, f, blocks, threads))

// --- The linker: PTX that is linked is one text of several units ---

struct CUlinkState_st {
    char *text;
    size_t bytes;
};

static cudaError_t no_memory(void)
{
    return cudart_failed(cudaErrorMemoryAllocation, cudart_driver_call(), "out of memory");
}

static cudaError_t link_create(CUlinkState *out)
{
    *out = calloc(1, sizeof **out);
    return *out ? cudaSuccess : no_memory();
}

// bytes: of PTX, which need not end with a NUL.
static cudaError_t link_add(CUlinkState l, const void *data, size_t bytes)
{
    char *image = malloc(bytes + 1);
    if (!image)
        return no_memory();
    memcpy(image, data, bytes);
    image[bytes] = '\0';

    char error[DEV_ERROR_MAX] = "";
    struct cudart_ptx ptx = { 0 };
    const cudaError_t e = cudart_read_image(image, &ptx, error);
    free(image);
    if (e)
        return cudart_failed(e, cudart_driver_call(), error);
    char *more = realloc(l->text, l->bytes + ptx.bytes + 1);
    if (more) {
        memcpy(more + l->bytes, ptx.text, ptx.bytes + 1);
        l->text = more;
        l->bytes += ptx.bytes;
    }
    free(ptx.text);
    return more ? cudaSuccess : no_memory();
}

static cudaError_t link_add_file(CUlinkState l, const char *path)
{
    size_t bytes;
    char *image = file_read_bytes(path, &bytes);
    const cudaError_t e = image ? link_add(l, image, bytes)
                                : cudart_failed(cudaErrorFileNotFound, cudart_driver_call(), "it cannot be read");
    free(image);
    return e;
}

static cudaError_t link_complete(CUlinkState l, void **out, size_t *bytes)
{
    *out = l->text;
    if (bytes)
        *bytes = l->bytes;
    return l->text ? cudaSuccess : cudart_failed(cudaErrorInvalidValue, cudart_driver_call(), "nothing was added");
}

static cudaError_t link_destroy(CUlinkState l)
{
    free(l->text);
    free(l);
    return cudaSuccess;
}

FACE(cuLinkCreate, (unsigned n, CUjit_option *options, void **values, CUlinkState *out), link_create(out))
FACE(cuLinkAddData,
     (CUlinkState l, CUjitInputType type, void *data, size_t bytes, const char *name, unsigned n, CUjit_option *options,
      void **values),
     link_add(l, data, bytes))
FACE(cuLinkAddFile,
     (CUlinkState l, CUjitInputType type, const char *path, unsigned n, CUjit_option *options, void **values),
     link_add_file(l, path))
FACE(cuLinkComplete, (CUlinkState l, void **out, size_t *bytes), link_complete(l, out, bytes))
FACE(cuLinkDestroy, (CUlinkState l), link_destroy(l))
