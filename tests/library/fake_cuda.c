// See fake_cuda.h. Signatures as in gpu/cuda.h.
#include "fake_cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OUT_OF_MEMORY = 2, INVALID = 1, SMS = 132, SHARED = 227 * 1024 };

struct fake_cuda fake_cuda;
static char primaries[FAKE_DEVICES];
static cu_stream recorded[2];  // by event

struct cu_function_s {
    char name[32];
    struct cu_function_s *next;
};
struct cu_module_s {
    struct cu_function_s *functions;
};

cu_context fake_primary(int device)
{
    return (cu_context)&primaries[device];
}

static cu_context current(void)
{
    return fake_cuda.depth ? fake_cuda.stack[fake_cuda.depth - 1] : NULL;
}

static void need_context(void)
{
    fake_cuda.outside += !current();
}

cu_result cuInit(unsigned flags)
{
    return (cu_result)flags;
}

cu_result cuDriverGetVersion(int *version)
{
    *version = 13000;
    return 0;
}

cu_result cuDeviceGetCount(int *count)
{
    *count = FAKE_DEVICES;
    return 0;
}

cu_result cuDeviceGet(cu_device *device, int number)
{
    *device = number;
    return number < FAKE_DEVICES ? 0 : INVALID;
}

cu_result cuDeviceGetName(char *name, int size, cu_device device)
{
    snprintf(name, (size_t)size, "fake GPU %d", device);
    return 0;
}

cu_result cuDeviceTotalMem_v2(size_t *bytes, cu_device device)
{
    (void)device;
    *bytes = (size_t)1 << 40;
    return 0;
}

cu_result cuDeviceGetAttribute(int *value, int which, cu_device device)
{
    (void)device;
    *value = which == CU_ATTRIBUTE_CC_MAJOR       ? fake_cuda.sm / 10
             : which == CU_ATTRIBUTE_CC_MINOR     ? fake_cuda.sm % 10
             : which == CU_ATTRIBUTE_SM_COUNT     ? SMS
             : which == CU_ATTRIBUTE_SHARED_OPTIN ? SHARED
             : which == CU_ATTRIBUTE_MAX_THREADS  ? 1024
             : which == CU_ATTRIBUTE_MEMORY_KHZ   ? 2619000
             : which == CU_ATTRIBUTE_MEMORY_BITS  ? 5120
                                                  : 0;
    return 0;
}

cu_result cuDevicePrimaryCtxRetain(cu_context *context, cu_device device)
{
    fake_cuda.retained[device]++;
    *context = fake_primary(device);
    return 0;
}

cu_result cuDevicePrimaryCtxRelease_v2(cu_device device)
{
    fake_cuda.retained[device]--;
    return 0;
}

cu_result cuCtxSetCurrent(cu_context context)
{
    fake_cuda.depth = fake_cuda.depth ? fake_cuda.depth : 1;
    fake_cuda.stack[fake_cuda.depth - 1] = context;
    return 0;
}

cu_result cuCtxGetCurrent(cu_context *context)
{
    *context = current();
    return 0;
}

cu_result cuCtxGetDevice(cu_device *device)
{
    need_context();
    *device = current() == fake_primary(1);
    return 0;
}

cu_result cuCtxPushCurrent_v2(cu_context context)
{
    if (fake_cuda.depth == FAKE_DEPTH)
        return INVALID;
    fake_cuda.stack[fake_cuda.depth++] = context;
    return 0;
}

cu_result cuCtxPopCurrent_v2(cu_context *context)
{
    need_context();
    *context = current();
    fake_cuda.depth -= fake_cuda.depth > 0;
    return 0;
}

cu_result cuMemGetInfo_v2(size_t *left, size_t *all)
{
    *left = fake_cuda.most;
    *all = (size_t)1 << 40;
    return 0;
}

cu_result cuMemAlloc_v2(cu_ptr *p, size_t bytes)
{
    fake_cuda.syncs_captured += fake_cuda.capturing != NULL;
    need_context();
    void *memory = bytes <= fake_cuda.most ? aligned_alloc(256, (bytes + 255) / 256 * 256) : NULL;
    *p = (cu_ptr)(uintptr_t)memory;
    fake_cuda.allocations += memory != NULL;
    return memory ? 0 : OUT_OF_MEMORY;
}

cu_result cuMemFree_v2(cu_ptr p)
{
    need_context();
    free((void *)(uintptr_t)p);
    fake_cuda.allocations--;
    return 0;
}

cu_result cuMemcpyHtoDAsync_v2(cu_ptr to, const void *from, size_t bytes, cu_stream stream)
{
    (void)stream;
    need_context();
    memcpy((void *)(uintptr_t)to, from, bytes);
    return 0;
}

cu_result cuMemcpyDtoHAsync_v2(void *to, cu_ptr from, size_t bytes, cu_stream stream)
{
    (void)stream;
    need_context();
    memcpy(to, (const void *)(uintptr_t)from, bytes);
    return 0;
}

cu_result cuMemsetD8Async(cu_ptr p, unsigned char byte, size_t bytes, cu_stream stream)
{
    (void)stream;
    memset((void *)(uintptr_t)p, byte, bytes);
    return 0;
}

cu_result cuModuleLoadDataEx(cu_module *module, const void *text, unsigned n, int *options, void **values)
{
    (void)text, (void)n, (void)options, (void)values;
    need_context();
    *module = calloc(1, sizeof **module);
    fake_cuda.modules++;
    return *module ? 0 : OUT_OF_MEMORY;
}

cu_result cuModuleUnload(cu_module module)
{
    need_context();
    while (module->functions) {
        struct cu_function_s *f = module->functions;
        module->functions = f->next;
        free(f);
    }
    free(module);
    fake_cuda.modules--;
    return 0;
}

cu_result cuModuleGetFunction(cu_function *function, cu_module module, const char *name)
{
    *function = calloc(1, sizeof **function);
    if (!*function)
        return OUT_OF_MEMORY;
    snprintf((*function)->name, sizeof(*function)->name, "%s", name);
    (*function)->next = module->functions;
    module->functions = *function;
    return 0;
}

cu_result cuFuncGetAttribute(int *value, int which, cu_function function)
{
    (void)function;
    *value = which == CU_FUNCTION_MAX_THREADS ? 1024 : 0;
    return 0;
}

cu_result cuFuncSetAttribute(cu_function function, int which, int value)
{
    (void)function, (void)which, (void)value;
    return 0;
}

static cu_result add_launch(cu_function function, cu_stream stream, bool early)
{
    need_context();
    if (fake_cuda.launch_fails || fake_cuda.n_launches == FAKE_LAUNCHES)
        return fake_cuda.launch_fails ? fake_cuda.launch_fails : INVALID;
    struct fake_launch *l = &fake_cuda.launches[fake_cuda.n_launches++];
    memcpy(l->kernel, function->name, sizeof l->kernel);
    l->stream = stream;
    l->context = current();
    l->early = early;
    return 0;
}

cu_result cuLaunchKernel(cu_function function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                         unsigned bz, unsigned shared, cu_stream stream, void **params, void **extra)
{
    (void)gx, (void)gy, (void)gz, (void)bx, (void)by, (void)bz, (void)shared, (void)params, (void)extra;
    return add_launch(function, stream, false);
}

cu_result cuLaunchKernelEx(const struct cu_launch *launch, cu_function function, void **params, void **extra)
{
    (void)params, (void)extra;
    bool early = false;
    for (unsigned i = 0; i < launch->n_attributes; i++)
        early |= launch->attributes[i].id == CU_LAUNCH_EARLY && launch->attributes[i].value.early;
    return add_launch(function, launch->stream, early);
}

cu_result cuTensorMapEncodeTiled(void *map, int type, uint32_t rank, void *address, const uint64_t *size,
                                 const uint64_t *stride, const uint32_t *box, const uint32_t *step, int interleave,
                                 int swizzle, int promotion, int fill)
{
    (void)map, (void)type, (void)rank, (void)address, (void)size, (void)stride, (void)box, (void)step;
    (void)interleave, (void)swizzle, (void)promotion, (void)fill;
    return 0;
}

cu_result cuStreamCreate(cu_stream *stream, unsigned flags)
{
    (void)flags;
    *stream = (cu_stream)&fake_cuda;
    return 0;
}

cu_result cuStreamDestroy_v2(cu_stream stream)
{
    (void)stream;
    return 0;
}

cu_result cuStreamIsCapturing(cu_stream stream, int *status)
{
    *status = fake_cuda.capturing && stream == fake_cuda.capturing;
    return 0;
}

cu_result cuStreamSynchronize(cu_stream stream)
{
    fake_cuda.syncs_captured += fake_cuda.capturing && stream == fake_cuda.capturing;
    need_context();
    return 0;
}

cu_result cuStreamWaitEvent(cu_stream stream, cu_event event, unsigned flags)
{
    (void)flags;
    fake_cuda.waiting = stream;
    fake_cuda.waits_for = *(cu_stream *)event;
    fake_cuda.waits++;
    return 0;
}

cu_result cuEventCreate(cu_event *event, unsigned flags)
{
    (void)flags;
    need_context();
    *event = (cu_event)&recorded[fake_cuda.events++ % 2];
    return 0;
}

cu_result cuEventDestroy_v2(cu_event event)
{
    (void)event;
    need_context();
    fake_cuda.events--;
    return 0;
}

cu_result cuEventRecord(cu_event event, cu_stream stream)
{
    *(cu_stream *)event = stream;
    fake_cuda.marked = stream;
    fake_cuda.marks++;
    return 0;
}

cu_result cuEventSynchronize(cu_event event)
{
    (void)event;
    return 0;
}

cu_result cuEventElapsedTime(float *ms, cu_event from, cu_event to)
{
    (void)from, (void)to;
    *ms = 1;
    return 0;
}

cu_result cuGetErrorName(cu_result r, const char **name)
{
    *name = r == OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_FAKE";
    return 0;
}

cu_result cuGetErrorString(cu_result r, const char **text)
{
    (void)r;
    *text = "as the test wants it";
    return 0;
}
