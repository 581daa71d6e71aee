// The functions of the driver's API for which a program asks by name.
#include <dlfcn.h>
#include <string.h>

#include "driver.h"

// The newest of that name: cuMemAlloc is cuMemAlloc_v2, as cuda.h has it.
static void *find(const char *name)
{
    static const char *const versions[] = { "_v4", "_v3", "_v2", "" };
    char full[256];
    Dl_info self;
    void *library = dladdr((void *)cuGetProcAddress, &self) ? dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD) : NULL,
         *found = NULL;
    for (size_t i = 0; library && !found && i < sizeof versions / sizeof *versions; i++) {
        snprintf(full, sizeof full, "%s%s", name, versions[i]);
        found = strncmp(name, "cu", 2) || !strncmp(name, "cuda", 4) ? NULL : dlsym(library, full);
    }
    if (library)
        dlclose(library);
    return found;
}

static void *find_or_say(const char *name)
{
    void *found = find(name);
    if (!found && *name)
        fprintf(stderr, "cudart: %s is not there yet\n", name);
    return found;
}

CUresult cuGetProcAddress(const char *name, void **function, int version, cuuint64_t flags,
                          CUdriverProcAddressQueryResult *result)
{
    *function = find_or_say(name);
    if (result)
        *result = *function ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned version,
                                             unsigned long long flags, enum cudaDriverEntryPointQueryResult *result)
{
    *function = find_or_say(name);
    if (result)
        *result = *function ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
    return cudaSuccess;  // as CUDA does: the function is NULL
}

cudaError_t cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long flags,
                                    enum cudaDriverEntryPointQueryResult *result)
{
    return cudaGetDriverEntryPointByVersion(name, function, CUDART_VERSION, flags, result);
}

// NVIDIA's own runtime asks for it before anything else, in a program or in a library; its compilers do, too, and run
// without it.
CUresult cuGetExportTable(const void **table, const CUuuid *id)
{
    static bool said;
    Dl_info asks;
    const char *path = dladdr(__builtin_return_address(0), &asks) ? asks.dli_fname : "", *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    *table = NULL;
    if (said || !strncmp(name, "libnvrtc", 8) || !strncmp(name, "libnvJitLink", 12))
        return CUDA_ERROR_NOT_SUPPORTED;
    said = true;
    if (strstr(name, ".so"))
        fprintf(
            stderr,
            "cudart: NVIDIA's runtime is inside of %s: build it with nvcc -cudart shared; if it is NVIDIA's own, it "
            "needs a card (cuBLAS, cuRAND, CUB and thrust are there without one)\n",
            name);
    else
        fputs("cudart: NVIDIA's runtime is inside of this program: build it with simt nvcc, or with nvcc -cudart "
              "shared\n",
              stderr);
    return CUDA_ERROR_NOT_SUPPORTED;
}
