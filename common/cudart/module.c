// Code that a program loads by itself: a library of the runtime, a module of the driver. An image is PTX, or a fat
// binary with PTX in it. What the program gets for a kernel of it serves wherever the address of a kernel's function
// does.
#include "module.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "handle.h"

// --- What the program wants to know of the compiler, which is not there: its messages ---

static void fill_log(const struct module_options *o, int buffer, int size, const char *text)
{
    char *to = NULL;
    size_t room = 0;
    for (unsigned i = 0; i < o->n; i++) {
        if (o->options[i] == buffer)
            to = o->values[i];
        if (o->options[i] == size)
            room = (size_t)(uintptr_t)o->values[i];
    }
    if (to && room)
        snprintf(to, room, "%s", text);
    for (unsigned i = 0; i < o->n; i++)
        if (o->options[i] == size)
            o->values[i] = (void *)(uintptr_t)(strlen(text) < room ? strlen(text) : room);
}

static void answer(const struct module_options *o, const char *error)
{
    fill_log(o, cudaJitInfoLogBuffer, cudaJitInfoLogBufferSizeBytes, "");
    fill_log(o, cudaJitErrorLogBuffer, cudaJitErrorLogBufferSizeBytes, error);
    for (unsigned i = 0; i < o->n; i++)
        if (o->options[i] == cudaJitWallTime)
            memset(&o->values[i], 0, sizeof o->values[i]);  // milliseconds, a float
}

// --- Loading ---

static struct fat *fat_of(cudaLibrary_t handle)
{
    return handle_object(handle, HANDLE_MODULE);
}

cudaError_t module_load(const char *function, const char *name, const void *image, const struct module_options *o,
                        cudaLibrary_t *out)
{
    char error[DEV_ERROR_MAX] = "";
    struct cudart_ptx ptx = { 0 };
    cudaError_t e = image ? cudart_read_image(image, &ptx, error) : cudaErrorInvalidValue;
    *out = NULL;
    cudart_lock();
    struct fat *f = e ? NULL : cudart_fat_load(&ptx, name, error);
    if (f && !(*out = handle_new(HANDLE_MODULE, f)))
        error_set(error, "out of memory");
    cudart_unlock();
    answer(o, error);
    if (!e && !*out)
        e = f ? cudaErrorMemoryAllocation : cudaErrorInvalidPtx;
    return e ? cudart_failed(e, function, *error ? error : "a null pointer") : cudaSuccess;
}

cudaError_t module_load_file(const char *function, const char *path, const struct module_options *o, cudaLibrary_t *out)
{
    char error[DEV_ERROR_MAX];
    char *image = path ? file_read(path) : NULL;
    *out = NULL;
    if (!image) {
        error_set(error, "%s: %s", path ? path : "no file", strerror(path ? errno : EINVAL));
        return cudart_failed(cudaErrorFileNotFound, function, error);
    }
    const char *slash = strrchr(path, '/');
    const cudaError_t e = module_load(function, slash ? slash + 1 : path, image, o, out);
    free(image);
    return e;
}

cudaError_t module_unload(const char *function, cudaLibrary_t handle)
{
    cudart_lock();
    struct fat *f = fat_of(handle);
    if (f) {
        handle_drop(handle);
        cudart_fat_unload(f);
    }
    cudart_unlock();
    return f ? cudaSuccess : cudart_failed(cudaErrorInvalidResourceHandle, function, "it was not loaded, or unloaded");
}

// --- What is in it ---

static cudaError_t not_found(const char *function, const struct fat *f, const char *what, const char *name)
{
    char error[DEV_ERROR_MAX];
    error_set(error, "it has no %s called %s", what, name);
    return f ? cudart_failed(cudaErrorSymbolNotFound, function, error)
             : cudart_failed(cudaErrorInvalidResourceHandle, function, "it was not loaded, or unloaded");
}

cudaError_t module_kernel(const char *function, cudaLibrary_t handle, const char *name, const void **out)
{
    cudart_lock();
    struct fat *f = fat_of(handle);
    *out = f ? cudart_fat_kernel(f, name) : NULL;
    cudart_unlock();
    return *out ? cudaSuccess : not_found(function, f, "kernel", name);
}

cudaError_t module_variable(const char *function, cudaLibrary_t handle, const char *name, void **address, size_t *bytes)
{
    uint64_t at = 0, size = 0;
    cudart_lock();
    struct fat *f = fat_of(handle);
    const void *host = f ? cudart_fat_variable(f, name) : NULL;
    const bool found = host && cudart_variable(host, &at, &size) && cudart_memory_note(at, size);
    cudart_unlock();
    if (!found)
        return not_found(function, f, "variable", name);
    if (address)
        *address = (void *)at;
    if (bytes)
        *bytes = size;
    return cudaSuccess;
}

cudaError_t module_kernels(const char *function, cudaLibrary_t handle, const void **out, unsigned room, unsigned *n)
{
    const char *name;
    unsigned i = 0;
    cudart_lock();
    struct fat *f = fat_of(handle);
    for (; f && (name = cudart_fat_name(f, i)); i++)
        if (i < room)
            out[i] = cudart_fat_kernel(f, name);
    cudart_unlock();
    if (n)
        *n = i;
    return f ? cudaSuccess : not_found(function, f, "", "");
}

// --- The runtime's libraries ---

cudaError_t cudaLibraryLoadData(cudaLibrary_t *out, const void *image, enum cudaJitOption *options, void **values,
                                unsigned n, enum cudaLibraryOption *o, void **v, unsigned n_o)
{
    return module_load("cudaLibraryLoadData", "library.ptx", image,
                       &(struct module_options){ n, (const int *)options, values }, out);
}

cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t *out, const char *path, enum cudaJitOption *options, void **values,
                                    unsigned n, enum cudaLibraryOption *o, void **v, unsigned n_o)
{
    return module_load_file("cudaLibraryLoadFromFile", path,
                            &(struct module_options){ n, (const int *)options, values }, out);
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library)
{
    return module_unload("cudaLibraryUnload", library);
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t *kernel, cudaLibrary_t library, const char *name)
{
    return module_kernel("cudaLibraryGetKernel", library, name, (const void **)kernel);
}

cudaError_t cudaLibraryGetGlobal(void **address, size_t *bytes, cudaLibrary_t library, const char *name)
{
    return module_variable("cudaLibraryGetGlobal", library, name, address, bytes);
}

cudaError_t cudaLibraryGetKernelCount(unsigned *n, cudaLibrary_t library)
{
    return module_kernels("cudaLibraryGetKernelCount", library, NULL, 0, n);
}

cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t *kernels, unsigned room, cudaLibrary_t library)
{
    return module_kernels("cudaLibraryEnumerateKernels", library, (const void **)kernels, room, NULL);
}

cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, enum cudaFuncAttribute a, int v, int d)
{
    return cudaFuncSetAttribute(kernel, a, v);
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t *f, const void *host)
{
    const char *name;
    cudart_lock();
    const bool known = cudart_kernel(host, &name);
    cudart_unlock();
    *f = known ? (cudaFunction_t)host : NULL;
    return known ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}

cudaError_t cudaFuncGetParamInfo(const void *host, size_t i, size_t *at, size_t *bytes)
{
    const char *name;
    struct simt_parameter p;
    cudart_lock();
    const struct simt_kernel *k = cudart_kernel(host, &name);
    const bool there = k && simt_parameter(k, (uint32_t)i, &p);
    cudart_unlock();
    if (!there)
        return cudaErrorInvalidValue;  // how programs count them
    *at = p.at;
    if (bytes)
        *bytes = p.bytes;
    return cudaSuccess;
}
