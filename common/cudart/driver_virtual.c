// The driver's API: virtual memory. A reserved range is an allocation of the simulated GPU without bytes, which grows
// as memory is mapped to its end and may be accessed; what a piece of memory held outlives its mapping. Pieces are
// mapped from the beginning of a range on, one behind the other, and each in one place at a time.
#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "handle.h"

enum { GRANULE = 2 << 20 };  // bytes: what is mapped is a multiple of it

struct physical {
    struct range *in;       // NULL: it is mapped nowhere
    uint64_t at, bytes;     // where in the range
    unsigned char *before;  // what it held when it was unmapped; NULL: nothing yet
    CUmemAllocationProp properties;
    CUmemGenericAllocationHandle handle;
    bool released;
    struct physical *next;
};

struct range {
    uint64_t address, bytes, mapped, accessible;  // the latter two from its beginning on
    struct range *next;
};

static struct physical *pieces;
static struct range *ranges;

static cudaError_t no(cudaError_t e, const char *why)
{
    return cudart_failed(e, cudart_driver_call(), why);
}

static struct range *range_of(CUdeviceptr p)
{
    struct range *r = ranges;
    while (r && (p < r->address || p - r->address >= r->bytes))
        r = r->next;
    return r;
}

// Makes this many bytes of the range usable by kernels and copies, from its beginning.
static bool resize(struct range *r, uint64_t bytes, char error[DEV_ERROR_MAX])
{
    if (!simt_resize(cudart_gpu(), r->address, bytes, error))
        return false;
    cudart_memory_forget(r->address);
    r->accessible = bytes;
    return !bytes || cudart_memory_note(r->address, bytes);
}

// --- Ranges of addresses ---

static cudaError_t reserve(CUdeviceptr *out, size_t bytes)
{
    static unsigned number;
    char name[64], error[DEV_ERROR_MAX];
    struct range *r = bytes && bytes % GRANULE == 0 ? calloc(1, sizeof *r) : NULL;
    *out = 0;
    if (!r)
        return no(cudaErrorInvalidValue, "its size is no multiple of what cuMemGetAllocationGranularity says");
    snprintf(name, sizeof name, "cuMemAddressReserve#%u", number++);
    if (!simt_alloc(cudart_gpu(), name, 1, &r->address, error) || !resize(r, 0, error)) {
        free(r);
        return no(cudaErrorMemoryAllocation, error);
    }
    r->bytes = bytes;
    r->next = ranges;
    ranges = r;
    *out = r->address;
    return cudaSuccess;
}

static cudaError_t give_back(CUdeviceptr p, size_t bytes)
{
    char error[DEV_ERROR_MAX];
    struct range **at = &ranges;
    while (*at && (*at)->address != p)
        at = &(*at)->next;
    struct range *r = *at;
    if (!r || r->bytes != bytes || r->mapped)
        return no(cudaErrorInvalidValue, "it was not reserved so, or memory is mapped there");
    simt_free(cudart_gpu(), r->address, error);
    *at = r->next;
    free(r);
    return cudaSuccess;
}

// --- Memory ---

static struct physical *piece_of(CUmemGenericAllocationHandle handle)
{
    return handle_object((void *)(uintptr_t)handle, HANDLE_PHYSICAL);
}

static cudaError_t create(CUmemGenericAllocationHandle *out, size_t bytes, const CUmemAllocationProp *properties)
{
    struct physical *p = bytes && bytes % GRANULE == 0 ? calloc(1, sizeof *p) : NULL;
    *out = 0;
    if (!p)
        return no(cudaErrorInvalidValue, "its size is no multiple of what cuMemGetAllocationGranularity says");
    if (bytes > simt_limits(cudart_gpu()).memory) {
        free(p);
        return no(cudaErrorMemoryAllocation, "the simulated GPU has not so much memory");
    }
    *out = (CUmemGenericAllocationHandle)(uintptr_t)handle_new(HANDLE_PHYSICAL, p);
    *p = (struct physical){ .bytes = bytes, .properties = *properties, .handle = *out, .next = pieces };
    pieces = p;
    return cudaSuccess;
}

static void drop(struct physical *p)
{
    struct physical **at = &pieces;
    while (*at != p)
        at = &(*at)->next;
    *at = p->next;
    free(p->before);
    free(p);
}

static cudaError_t release(CUmemGenericAllocationHandle handle)
{
    struct physical *p = piece_of(handle);
    if (!p)
        return no(cudaErrorInvalidValue, "no such memory, or it was released before");
    handle_drop((void *)(uintptr_t)handle);
    p->released = true;
    if (!p->in)  // else it lives as long as it is mapped
        drop(p);
    return cudaSuccess;
}

// --- Memory in ranges ---

static cudaError_t map(CUdeviceptr to, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle)
{
    struct physical *p = piece_of(handle);
    struct range *r = range_of(to);
    if (!p || !r || offset || bytes != p->bytes || to - r->address > r->bytes - bytes)
        return no(cudaErrorInvalidValue, "no such memory, or not all of it, or it leaves the reserved range");
    if (to - r->address < r->mapped)
        return no(cudaErrorInvalidValue, "memory is mapped there");
    if (p->in || to - r->address > r->mapped)
        return no(cudaErrorNotSupported,
                  "memory is mapped in one place at a time, and from the beginning of a reserved "
                  "range on without gaps");
    p->in = r;
    p->at = to - r->address;
    r->mapped += bytes;
    return cudaSuccess;
}

// What was mapped up to there may be accessed, and holds what it held before.
static cudaError_t allow(CUdeviceptr p, size_t bytes)
{
    char error[DEV_ERROR_MAX];
    struct range *r = range_of(p);
    const uint64_t from = r ? p - r->address : 0, old = r ? r->accessible : 0;
    if (!r || from > r->mapped || bytes > r->mapped - from)
        return no(cudaErrorInvalidValue, "no memory is mapped there");
    if (from > old)
        return no(cudaErrorNotSupported, "access is given from the beginning of a reserved range on");
    if (from + bytes <= old)
        return cudaSuccess;
    if (!resize(r, from + bytes, error))
        return no(cudaErrorMemoryAllocation, error);
    for (struct physical *one = pieces; one; one = one->next)
        if (one->in == r && one->before && one->at >= old && one->at + one->bytes <= r->accessible) {
            simt_write(cudart_gpu(), r->address + one->at, one->before, one->bytes, error);
            free(one->before);
            one->before = NULL;
        }
    return cudaSuccess;
}

static void take_out(struct physical *p)
{
    char error[DEV_ERROR_MAX];
    const struct range *r = p->in;
    if (p->at + p->bytes <= r->accessible && !p->before && (p->before = malloc(p->bytes)))
        simt_read(cudart_gpu(), p->before, r->address + p->at, p->bytes, error);
    p->in = NULL;
    if (p->released)
        drop(p);
}

static cudaError_t unmap(CUdeviceptr p, size_t bytes)
{
    char error[DEV_ERROR_MAX];
    struct range *r = range_of(p);
    const uint64_t from = r ? p - r->address : 0;
    if (!r || from >= r->mapped || bytes > r->mapped - from)
        return no(cudaErrorInvalidValue, "no memory is mapped there");
    if (from + bytes != r->mapped)
        return no(cudaErrorNotSupported, "memory is unmapped from the end of a reserved range on");
    for (struct physical *one = pieces, *next; one; one = next) {
        next = one->next;
        if (one->in == r && one->at >= from)
            take_out(one);
    }
    r->mapped = from;
    return from >= r->accessible || resize(r, from, error) ? cudaSuccess : no(cudaErrorMemoryAllocation, error);
}

// --- Questions ---

static cudaError_t access_of(unsigned long long *flags, CUdeviceptr p)
{
    const struct range *r = range_of(p);
    *flags = r && p - r->address < r->accessible ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_NONE;
    return r ? cudaSuccess : no(cudaErrorInvalidValue, "it was not reserved");
}

static cudaError_t handle_at(CUmemGenericAllocationHandle *out, CUdeviceptr address)
{
    const struct range *r = range_of(address);
    const struct physical *p = pieces;
    while (p && (!r || p->in != r || address - r->address < p->at || address - r->address - p->at >= p->bytes))
        p = p->next;
    *out = p ? p->handle : 0;
    return p ? cudaSuccess : no(cudaErrorInvalidValue, "no memory is mapped there");
}

static cudaError_t properties_of(CUmemAllocationProp *out, CUmemGenericAllocationHandle handle)
{
    const struct physical *p = piece_of(handle);
    if (p)
        *out = p->properties;
    return p ? cudaSuccess : no(cudaErrorInvalidValue, "no such memory, or it was released");
}

FACE(cuMemGetAllocationGranularity,
     (size_t * bytes, const CUmemAllocationProp *p, CUmemAllocationGranularity_flags flags),
     (*bytes = GRANULE, cudaSuccess))
FACE(cuMemAddressReserve, (CUdeviceptr * p, size_t bytes, size_t alignment, CUdeviceptr wish, unsigned long long flags),
     reserve(p, bytes))
FACE(cuMemAddressFree, (CUdeviceptr p, size_t bytes), give_back(p, bytes))
FACE(cuMemCreate,
     (CUmemGenericAllocationHandle * h, size_t bytes, const CUmemAllocationProp *p, unsigned long long flags),
     create(h, bytes, p))
FACE(cuMemRelease, (CUmemGenericAllocationHandle h), release(h))
FACE(cuMemMap, (CUdeviceptr p, size_t bytes, size_t offset, CUmemGenericAllocationHandle h, unsigned long long flags),
     map(p, bytes, offset, h))
FACE(cuMemUnmap, (CUdeviceptr p, size_t bytes), unmap(p, bytes))
FACE(cuMemSetAccess, (CUdeviceptr p, size_t bytes, const CUmemAccessDesc *who, size_t n), allow(p, bytes))
FACE(cuMemGetAccess, (unsigned long long *flags, const CUmemLocation *who, CUdeviceptr p), access_of(flags, p))
FACE(cuMemRetainAllocationHandle, (CUmemGenericAllocationHandle * h, void *p), handle_at(h, (CUdeviceptr)(uintptr_t)p))
FACE(cuMemGetAllocationPropertiesFromHandle, (CUmemAllocationProp * p, CUmemGenericAllocationHandle h),
     properties_of(p, h))
