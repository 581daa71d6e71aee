// The driver's API: memory, copies and sets.
#include <string.h>

#include "context.h"
#include "driver.h"
#include "submit.h"

// --- Memory ---

static cudaError_t allocate(CUdeviceptr *out, size_t bytes, enum cudaMemoryType type)
{
    void *p = NULL;
    const cudaError_t e = bytes ? cudart_allocate(&p, cudart_driver_call(), bytes, type)
                                : cudart_failed(cudaErrorInvalidValue, cudart_driver_call(), "no bytes");
    *out = (CUdeviceptr)(uintptr_t)p;
    return e;
}

static cudaError_t allocate_rows(CUdeviceptr *out, size_t *pitch, size_t width, size_t height)
{
    void *p = NULL;
    const cudaError_t e = cudaMallocPitch(&p, pitch, width, height);
    *out = (CUdeviceptr)(uintptr_t)p;
    return e;
}

static cudaError_t range(CUdeviceptr *base, size_t *bytes, CUdeviceptr p)
{
    const struct cudart_memory *m = cudart_memory_at(AT(p));
    if (!m)
        return cudart_failed(cudaErrorInvalidValue, cudart_driver_call(), "no allocation has that address");
    if (base)
        *base = m->address;
    if (bytes)
        *bytes = m->bytes;
    return cudaSuccess;
}

FACE(cuMemGetInfo, (size_t * left, size_t *total), cudaMemGetInfo(left, total))
FACE(cuMemAlloc, (CUdeviceptr * p, size_t n), allocate(p, n, cudaMemoryTypeDevice))
FACE(cuMemAllocManaged, (CUdeviceptr * p, size_t n, unsigned flags), allocate(p, n, cudaMemoryTypeManaged))
FACE(cuMemAllocPitch, (CUdeviceptr * p, size_t *pitch, size_t width, size_t height, unsigned element),
     allocate_rows(p, pitch, width, height))
FACE(cuMemAllocHost, (void **p, size_t n), cudart_allocate(p, "cuMemAllocHost", n, cudaMemoryTypeHost))
FACE(cuMemHostAlloc, (void **p, size_t n, unsigned flags), cudart_allocate(p, "cuMemHostAlloc", n, cudaMemoryTypeHost))
FACE(cuMemFree, (CUdeviceptr p), cudaFree(AT(p)))
FACE(cuMemFreeHost, (void *p), cudaFreeHost(p))
FACE(cuMemGetAddressRange, (CUdeviceptr * base, size_t *bytes, CUdeviceptr p), range(base, bytes, p))
FACE(cuMemHostRegister, (void *p, size_t n, unsigned flags), cudaHostRegister(p, n, flags))
FACE(cuMemHostUnregister, (void *p), cudaHostUnregister(p))
FACE(cuMemHostGetDevicePointer, (CUdeviceptr * device, void *p, unsigned flags),
     cudaHostGetDevicePointer((void **)device, p, flags))
FACE(cuMemHostGetFlags, (unsigned *flags, void *p), cudaHostGetFlags(flags, p))
FACE(cuMemAllocAsync, (CUdeviceptr * p, size_t n, CUstream s), cudaMallocAsync((void **)p, n, s))
FACE(cuMemAllocFromPoolAsync, (CUdeviceptr * p, size_t n, CUmemoryPool pool, CUstream s),
     cudaMallocFromPoolAsync((void **)p, n, pool, s))
FACE(cuMemFreeAsync, (CUdeviceptr p, CUstream s), cudaFreeAsync(AT(p), s))
FACE(cuMemPoolCreate, (CUmemoryPool * pool, const CUmemPoolProps *p), cudaMemPoolCreate(pool, NULL))
FACE(cuMemPoolDestroy, (CUmemoryPool pool), cudaMemPoolDestroy(pool))
FACE(cuMemPoolTrimTo, (CUmemoryPool pool, size_t n), cudaMemPoolTrimTo(pool, n))
FACE(cuMemPoolSetAttribute, (CUmemoryPool pool, CUmemPool_attribute a, void *v),
     cudaMemPoolSetAttribute(pool, (enum cudaMemPoolAttr)a, v))
FACE(cuMemPoolGetAttribute, (CUmemoryPool pool, CUmemPool_attribute a, void *v),
     cudaMemPoolGetAttribute(pool, (enum cudaMemPoolAttr)a, v))
FACE(cuMemPoolSetAccess, (CUmemoryPool pool, const CUmemAccessDesc *who, size_t n), cudaMemPoolSetAccess(pool, NULL, n))
FACE(cuMemAdvise, (CUdeviceptr p, size_t n, CUmem_advise a, CUmemLocation l), cudaSuccess)
FACE(cuMemPrefetchAsync, (CUdeviceptr p, size_t n, CUmemLocation l, unsigned flags, CUstream s), cudaSuccess)
FACE(cuStreamAttachMemAsync, (CUstream s, CUdeviceptr p, size_t n, unsigned flags), cudaSuccess)

// --- What an address is ---

// X(attribute, type of its value, its value by the memory m and the address p)
#define POINTERS(X)                                                                                                    \
    X(CONTEXT, CUcontext, context_current())                                                                           \
    X(MEMORY_TYPE, unsigned, m->type == cudaMemoryTypeHost ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE)                \
    X(DEVICE_POINTER, CUdeviceptr, cudart_on_host(m, AT(p)) ? m->address + (p - (uintptr_t)m->host) : p)               \
    X(HOST_POINTER, void *, cudart_on_host(m, AT(p)) ? AT(p) : (char *)m->host + (p - m->address))                     \
    X(IS_MANAGED, unsigned, m->type == cudaMemoryTypeManaged)                                                          \
    X(DEVICE_ORDINAL, int, 0)                                                                                          \
    X(MAPPED, unsigned, 1)                                                                                             \
    X(RANGE_START_ADDR, CUdeviceptr, m->address)                                                                       \
    X(RANGE_SIZE, size_t, m->bytes)

static cudaError_t ask(void *out, CUpointer_attribute a, CUdeviceptr p)
{
    const struct cudart_memory *m = cudart_memory_at(AT(p));
    if (!m || (a == CU_POINTER_ATTRIBUTE_HOST_POINTER && !m->host))
        return cudaErrorInvalidValue;  // that it is the host's alone: a usual answer
#define POINTER(attribute, type, value)                                                                                \
    case CU_POINTER_ATTRIBUTE_##attribute:                                                                             \
        *(type *)out = value;                                                                                          \
        return cudaSuccess;
    switch ((int)a) {
        POINTERS(POINTER)
    default:
        return cudart_failed(cudaErrorNotSupported, cudart_driver_call(), "this attribute is not there yet");
    }
}

static cudaError_t ask_all(unsigned n, const CUpointer_attribute *a, void **out, CUdeviceptr p)
{
    for (unsigned i = 0; i < n; i++)
        if (ask(out[i], a[i], p) == cudaErrorInvalidValue)
            memset(out[i], 0, sizeof(int));
    return cudaSuccess;
}

FACE(cuPointerGetAttribute, (void *out, CUpointer_attribute a, CUdeviceptr p), ask(out, a, p))
FACE(cuPointerGetAttributes, (unsigned n, CUpointer_attribute *a, void **out, CUdeviceptr p), ask_all(n, a, out, p))

// --- Copies ---

#define COPY(name, to_type, from_type, kind)                                                                           \
    FACE(name, (to_type to, from_type from, size_t n), cudaMemcpy(AT(to), AT(from), n, kind))
#define COPY_ASYNC(name, to_type, from_type, kind)                                                                     \
    FACE(name, (to_type to, from_type from, size_t n, CUstream s), cudaMemcpyAsync(AT(to), AT(from), n, kind, s))

COPY(cuMemcpy, CUdeviceptr, CUdeviceptr, cudaMemcpyDefault)
COPY(cuMemcpyHtoD, CUdeviceptr, const void *, cudaMemcpyHostToDevice)
COPY(cuMemcpyDtoH, void *, CUdeviceptr, cudaMemcpyDeviceToHost)
COPY(cuMemcpyDtoD, CUdeviceptr, CUdeviceptr, cudaMemcpyDeviceToDevice)
COPY_ASYNC(cuMemcpyAsync, CUdeviceptr, CUdeviceptr, cudaMemcpyDefault)
COPY_ASYNC(cuMemcpyHtoDAsync, CUdeviceptr, const void *, cudaMemcpyHostToDevice)
COPY_ASYNC(cuMemcpyDtoHAsync, void *, CUdeviceptr, cudaMemcpyDeviceToHost)
COPY_ASYNC(cuMemcpyDtoDAsync, CUdeviceptr, CUdeviceptr, cudaMemcpyDeviceToDevice)
FACE(cuMemcpyPeer, (CUdeviceptr to, CUcontext a, CUdeviceptr from, CUcontext b, size_t n),
     cudaMemcpyPeer(AT(to), 0, AT(from), 0, n))
FACE(cuMemcpyPeerAsync, (CUdeviceptr to, CUcontext a, CUdeviceptr from, CUcontext b, size_t n, CUstream s),
     cudaMemcpyPeerAsync(AT(to), 0, AT(from), 0, n, s))

static void *end_of(CUmemorytype type, const void *host, CUdeviceptr device)
{
    return type == CU_MEMORYTYPE_HOST ? (void *)(uintptr_t)host : AT(device);
}

static bool is_array(CUmemorytype to, CUmemorytype from)
{
    return to == CU_MEMORYTYPE_ARRAY || from == CU_MEMORYTYPE_ARRAY;
}

static enum cudaMemcpyKind kind_of(CUmemorytype to, CUmemorytype from)
{
    if (to == CU_MEMORYTYPE_UNIFIED || from == CU_MEMORYTYPE_UNIFIED)
        return cudaMemcpyDefault;
    return (enum cudaMemcpyKind)((to == CU_MEMORYTYPE_DEVICE) | (from == CU_MEMORYTYPE_DEVICE) << 1);
}

static cudaError_t copy_box(const CUDA_MEMCPY3D *c, CUstream s)
{
    const struct cudaMemcpy3DParms p = {
        .srcPtr = { end_of(c->srcMemoryType, c->srcHost, c->srcDevice), c->srcPitch, c->WidthInBytes, c->srcHeight },
        .dstPtr = { end_of(c->dstMemoryType, c->dstHost, c->dstDevice), c->dstPitch, c->WidthInBytes, c->dstHeight },
        .srcPos = { c->srcXInBytes, c->srcY, c->srcZ },
        .dstPos = { c->dstXInBytes, c->dstY, c->dstZ },
        .extent = { c->WidthInBytes, c->Height, c->Depth },
        .kind = kind_of(c->dstMemoryType, c->srcMemoryType),
    };
    return is_array(c->dstMemoryType, c->srcMemoryType)
               ? cudart_failed(cudaErrorNotSupported, cudart_driver_call(), "arrays are not there yet")
               : cudaMemcpy3DAsync(&p, s);
}

// A pitch of 0 stands for rows without gaps.
static cudaError_t copy_rows(const CUDA_MEMCPY2D *c, CUstream s)
{
    return copy_box(&(CUDA_MEMCPY3D){ .srcXInBytes = c->srcXInBytes,
                                      .srcY = c->srcY,
                                      .srcMemoryType = c->srcMemoryType,
                                      .srcHost = c->srcHost,
                                      .srcDevice = c->srcDevice,
                                      .srcPitch = c->srcPitch ? c->srcPitch : c->WidthInBytes,
                                      .dstXInBytes = c->dstXInBytes,
                                      .dstY = c->dstY,
                                      .dstMemoryType = c->dstMemoryType,
                                      .dstHost = c->dstHost,
                                      .dstDevice = c->dstDevice,
                                      .dstPitch = c->dstPitch ? c->dstPitch : c->WidthInBytes,
                                      .WidthInBytes = c->WidthInBytes,
                                      .Height = c->Height,
                                      .Depth = 1 },
                    s);
}

FACE(cuMemcpy2D, (const CUDA_MEMCPY2D *c), copy_rows(c, NULL))
FACE(cuMemcpy2DUnaligned, (const CUDA_MEMCPY2D *c), copy_rows(c, NULL))
FACE(cuMemcpy2DAsync, (const CUDA_MEMCPY2D *c, CUstream s), copy_rows(c, s))
FACE(cuMemcpy3D, (const CUDA_MEMCPY3D *c), copy_box(c, NULL))
FACE(cuMemcpy3DAsync, (const CUDA_MEMCPY3D *c, CUstream s), copy_box(c, s))

// --- Sets of elements of 1, 2 or 4 bytes ---

static cudaError_t set(CUdeviceptr to, size_t pitch, unsigned value, unsigned size, size_t width, size_t height,
                       CUstream s)
{
    const struct work w = { .type = &work_set,
                            .function = cudart_driver_call(),
                            .set = { AT(to), pitch, value, size, width, height } };
    return to % size ? cudart_failed(cudaErrorInvalidValue, w.function, "the address is no multiple of an element")
                     : work_submit(s, &w);
}

#define SET(bits, type)                                                                                                \
    FACE(cuMemsetD##bits, (CUdeviceptr to, type v, size_t n), set(to, n * sizeof v, v, sizeof v, n, 1, NULL))          \
    FACE(cuMemsetD##bits##Async, (CUdeviceptr to, type v, size_t n, CUstream s),                                       \
         set(to, n * sizeof v, v, sizeof v, n, 1, s))                                                                  \
    FACE(cuMemsetD2D##bits, (CUdeviceptr to, size_t pitch, type v, size_t width, size_t height),                       \
         set(to, pitch, v, sizeof v, width, height, NULL))                                                             \
    FACE(cuMemsetD2D##bits##Async, (CUdeviceptr to, size_t pitch, type v, size_t width, size_t height, CUstream s),    \
         set(to, pitch, v, sizeof v, width, height, s))

SET(8, unsigned char)
SET(16, unsigned short)
SET(32, unsigned)
