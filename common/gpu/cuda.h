// The part of the CUDA Driver API that the course uses, found in libcuda.so.1 at run time. Names and signatures as in
// NVIDIA's "CUDA Driver API" reference; the library exports the current version of a function under the name given.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int cu_result;  // 0 is success
typedef int cu_device;
typedef uint64_t cu_ptr;
typedef struct cu_context_s *cu_context;
typedef struct cu_module_s *cu_module;
typedef struct cu_function_s *cu_function;
typedef struct cu_stream_s *cu_stream;
typedef struct cu_event_s *cu_event;

// X(field, exported name, parameters)
#define CUDA_FUNCTIONS(X)                                                                                              \
    X(init, cuInit, (unsigned))                                                                                        \
    X(driver_version, cuDriverGetVersion, (int *))                                                                     \
    X(device_count, cuDeviceGetCount, (int *))                                                                         \
    X(device_get, cuDeviceGet, (cu_device *, int))                                                                     \
    X(device_name, cuDeviceGetName, (char *, int, cu_device))                                                          \
    X(device_memory, cuDeviceTotalMem_v2, (size_t *, cu_device))                                                       \
    X(device_attribute, cuDeviceGetAttribute, (int *, int, cu_device))                                                 \
    X(context_retain, cuDevicePrimaryCtxRetain, (cu_context *, cu_device))                                             \
    X(context_release, cuDevicePrimaryCtxRelease_v2, (cu_device))                                                      \
    X(context_set, cuCtxSetCurrent, (cu_context))                                                                      \
    X(context_get, cuCtxGetCurrent, (cu_context *))                                                                    \
    X(context_device, cuCtxGetDevice, (cu_device *))                                                                   \
    X(context_push, cuCtxPushCurrent_v2, (cu_context))                                                                 \
    X(context_pop, cuCtxPopCurrent_v2, (cu_context *))                                                                 \
    X(memory_info, cuMemGetInfo_v2, (size_t *, size_t *))                                                              \
    X(alloc, cuMemAlloc_v2, (cu_ptr *, size_t))                                                                        \
    X(free, cuMemFree_v2, (cu_ptr))                                                                                    \
    X(upload, cuMemcpyHtoDAsync_v2, (cu_ptr, const void *, size_t, cu_stream))                                         \
    X(download, cuMemcpyDtoHAsync_v2, (void *, cu_ptr, size_t, cu_stream))                                             \
    X(clear, cuMemsetD8Async, (cu_ptr, unsigned char, size_t, cu_stream))                                              \
    X(module_load, cuModuleLoadDataEx, (cu_module *, const void *, unsigned, int *, void **))                          \
    X(module_unload, cuModuleUnload, (cu_module))                                                                      \
    X(module_function, cuModuleGetFunction, (cu_function *, cu_module, const char *))                                  \
    X(function_attribute, cuFuncGetAttribute, (int *, int, cu_function))                                               \
    X(function_set, cuFuncSetAttribute, (cu_function, int, int))                                                       \
    X(launch, cuLaunchKernel,                                                                                          \
      (cu_function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, cu_stream, void **,          \
       void **))                                                                                                       \
    X(stream_create, cuStreamCreate, (cu_stream *, unsigned))                                                          \
    X(stream_destroy, cuStreamDestroy_v2, (cu_stream))                                                                 \
    X(stream_sync, cuStreamSynchronize, (cu_stream))                                                                   \
    X(stream_wait, cuStreamWaitEvent, (cu_stream, cu_event, unsigned))                                                 \
    X(stream_capturing, cuStreamIsCapturing, (cu_stream, int *))                                                       \
    X(event_create, cuEventCreate, (cu_event *, unsigned))                                                             \
    X(event_destroy, cuEventDestroy_v2, (cu_event))                                                                    \
    X(event_record, cuEventRecord, (cu_event, cu_stream))                                                              \
    X(event_sync, cuEventSynchronize, (cu_event))                                                                      \
    X(event_elapsed, cuEventElapsedTime, (float *, cu_event, cu_event))                                                \
    X(error_name, cuGetErrorName, (cu_result, const char **))                                                          \
    X(error_text, cuGetErrorString, (cu_result, const char **))

// Tensor maps and launch attributes, as the Driver API lays them out.
struct cu_launch_attribute {
    int id, pad;
    union {
        char pad[64];
        unsigned cluster[3];
        int early;
    } value;
};

struct cu_launch {
    unsigned grid[3], block[3], shared;
    cu_stream stream;
    struct cu_launch_attribute *attributes;
    unsigned n_attributes;
};

// Newer drivers only (param_info: 12.4; the others: 12.0): NULL elsewhere.
#define CUDA_OPTIONAL(X)                                                                                               \
    X(param_info, cuFuncGetParamInfo, (cu_function, size_t, size_t *, size_t *))                                       \
    X(launch_ex, cuLaunchKernelEx, (const struct cu_launch *, cu_function, void **, void **))                          \
    X(tensor_map, cuTensorMapEncodeTiled,                                                                              \
      (void *, int, uint32_t, void *, const uint64_t *, const uint64_t *, const uint32_t *, const uint32_t *, int,     \
       int, int, int))

struct cuda {
    void *library;
#define X(field, name, parameters) cu_result(*field) parameters;
    CUDA_FUNCTIONS(X)
    CUDA_OPTIONAL(X)
#undef X
};

// Values from the Driver API's enumerations.
enum {
    CU_ATTRIBUTE_MAX_THREADS = 1,
    CU_ATTRIBUTE_CLOCK_KHZ = 13,
    CU_ATTRIBUTE_SM_COUNT = 16,
    CU_ATTRIBUTE_MEMORY_KHZ = 36,
    CU_ATTRIBUTE_MEMORY_BITS = 37,
    CU_ATTRIBUTE_L2 = 38,
    CU_ATTRIBUTE_CC_MAJOR = 75,
    CU_ATTRIBUTE_CC_MINOR = 76,
    CU_ATTRIBUTE_SHARED_OPTIN = 97,
    CU_FUNCTION_MAX_THREADS = 0,
    CU_FUNCTION_SHARED = 1,
    CU_FUNCTION_MAX_DYNAMIC_SHARED = 8,
    CU_JIT_INFO_LOG = 3,
    CU_JIT_INFO_LOG_BYTES = 4,
    CU_JIT_ERROR_LOG = 5,
    CU_JIT_ERROR_LOG_BYTES = 6,
    CU_JIT_LINE_INFO = 13,
    CU_STREAM_NON_BLOCKING = 1,
    CU_EVENT_DISABLE_TIMING = 2,
    CU_LAUNCH_CLUSTER = 4,
    CU_LAUNCH_EARLY = 6,
    CU_FUNCTION_NON_PORTABLE_CLUSTER = 14,
    CU_MAP_INTERLEAVE_NONE = 0,
    CU_MAP_PROMOTE_128 = 2,
    CU_ERROR_OUT_OF_MEMORY = 2,
    CU_ERROR_NOT_FOUND = 500,
};

// Opens libcuda.so.1 and fills every required function. False, with one line in error, if there is none.
bool cuda_load(struct cuda *c, char *error, size_t size);

// "cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY (out of memory)"
void cuda_describe(const struct cuda *c, const char *call, cu_result r, char *out, size_t size);
