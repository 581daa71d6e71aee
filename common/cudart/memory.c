// Memory. A device address is one of the simulated GPU. Pinned and managed memory lies in the program, mapped at the
// same address, and the simulated GPU uses it there (simt_lend): the two see what the other writes. Memory of the
// program's that it registers lies where it was, and has another address on the device.
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "cudart.h"

static struct cudart_memory *all;
static size_t n_all, room;

static bool note(struct cudart_memory m)
{
    if (n_all == room) {
        struct cudart_memory *more = realloc(all, (room + 64) * 2 * sizeof *more);
        if (!more)
            return false;
        all = more;
        room = (room + 64) * 2;
    }
    all[n_all++] = m;
    return true;
}

bool cudart_memory_note(uint64_t address, uint64_t bytes)
{
    const struct cudart_memory m = { .address = address, .bytes = bytes, .type = cudaMemoryTypeDevice };
    return cudart_memory_at((void *)address) || note(m);
}

void cudart_memory_forget(uint64_t address)
{
    for (size_t i = n_all; i-- > 0;)
        if (all[i].address == address)
            all[i] = all[--n_all];
}

void cudart_memory_when_freed(uint64_t address, void (*freed)(uint64_t address))
{
    for (size_t i = 0; i < n_all; i++)
        if (all[i].address == address)
            all[i].freed = freed;
}

static bool within(const void *p, uint64_t from, uint64_t bytes)
{
    return (uint64_t)p >= from && (uint64_t)p - from < bytes;
}

static struct cudart_memory *find(const void *p)
{
    for (size_t i = n_all; i-- > 0;)
        if (within(p, all[i].address, all[i].bytes) || (all[i].host && within(p, (uint64_t)all[i].host, all[i].bytes)))
            return &all[i];
    return NULL;
}

const struct cudart_memory *cudart_memory_at(const void *p)
{
    return find(p);
}

bool cudart_on_host(const struct cudart_memory *m, const void *p)
{
    return m->host && within(p, (uint64_t)m->host, m->bytes);
}

// --- Memory of both ---

cudaError_t cudart_memory_map(uint64_t address, size_t bytes, enum cudaMemoryType type)
{
    char error[DEV_ERROR_MAX];
    void *want = (void *)address;
    void *got = mmap(want, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (got != want)
        return cudart_failed(cudaErrorMemoryAllocation, "mapped memory", "its address is not free in the program");
    if (simt_read(cudart_gpu(), want, address, bytes, error) &&
        note((struct cudart_memory){ .address = address, .bytes = bytes, .host = want, .type = type })) {
        simt_lend(cudart_gpu(), address, want);
        return cudaSuccess;
    }
    munmap(want, bytes);
    return cudart_failed(cudaErrorMemoryAllocation, "mapped memory", "out of memory");
}

static cudaError_t register_now(void *p, size_t bytes)
{
    char error[DEV_ERROR_MAX];
    uint64_t address = 0;
    if (!p || !bytes || find(p))
        return cudart_failed(find(p) ? cudaErrorHostMemoryAlreadyRegistered : cudaErrorInvalidValue, "cudaHostRegister",
                             "no memory, or it is registered");
    const bool ok =
        simt_alloc(cudart_gpu(), "cudaHostRegister", bytes, &address, error) &&
        note((struct cudart_memory){
            .address = address, .bytes = bytes, .host = p, .registered = true, .type = cudaMemoryTypeHost });
    if (ok)
        simt_lend(cudart_gpu(), address, p);
    return ok ? cudaSuccess : cudart_failed(cudaErrorMemoryAllocation, "cudaHostRegister", "out of memory");
}

cudaError_t cudaHostRegister(void *p, size_t bytes, unsigned flags)
{
    cudart_lock();
    const cudaError_t e = register_now(p, bytes);
    cudart_unlock();
    return e;
}

cudaError_t cudaHostUnregister(void *p)
{
    char error[DEV_ERROR_MAX];
    cudart_lock();
    struct cudart_memory *m = find(p);
    const bool ok = m && m->registered && m->host == p && simt_free(cudart_gpu(), m->address, error);
    if (ok)
        *m = all[--n_all];
    cudart_unlock();
    return ok ? cudaSuccess
              : cudart_failed(cudaErrorHostMemoryNotRegistered, "cudaHostUnregister", "it is not registered");
}

cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned flags)
{
    if (!device)
        return cudart_null(__func__);
    cudart_lock();
    const struct cudart_memory *m = find(host);
    const bool ok = m && cudart_on_host(m, host);
    *device = ok ? (char *)m->address + ((char *)host - (char *)m->host) : NULL;
    cudart_unlock();
    return ok ? cudaSuccess
              : cudart_failed(cudaErrorInvalidValue, "cudaHostGetDevicePointer", "it is neither pinned nor registered");
}

cudaError_t cudaHostGetFlags(unsigned *flags, void *host)
{
    *flags = cudaHostAllocMapped;
    return cudaSuccess;
}

// --- For predictions ---

enum { COPY_MOST = 1 << 30 };  // bytes

void cudart_memory_free(struct simt_array *a, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free((void *)a[i].data);
    free(a);
}

size_t cudart_memory_copy(struct simt_array **out)
{
    char error[DEV_ERROR_MAX];
    uint64_t sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < n_all; i++)
        sum += all[i].bytes;
    struct simt_array *copies = sum <= COPY_MOST ? calloc(n_all + 1, sizeof *copies) : NULL;
    for (size_t i = 0; copies && i < n_all; i++) {
        unsigned char *data = malloc(all[i].bytes);
        if (data && simt_read(cudart_gpu(), data, all[i].address, all[i].bytes, error))
            copies[n++] = (struct simt_array){ all[i].address, all[i].bytes, data };
        else
            free(data);
    }
    *out = copies;
    return n;
}

// --- Allocations ---

static cudaError_t allocate_now(void **p, const char *function, size_t bytes, enum cudaMemoryType type)
{
    static unsigned number;
    char name[64], error[DEV_ERROR_MAX];
    uint64_t address = 0;
    *p = NULL;
    if (!bytes)
        return cudaSuccess;
    snprintf(name, sizeof name, "%s#%u", function, number++);
    const bool done =
        (type == cudaMemoryTypeDevice ? simt_alloc : simt_alloc_low)(cudart_gpu(), name, bytes, &address, error);
    if (!done)
        return cudart_failed(cudaErrorMemoryAllocation, function, error);
    cudaError_t e = cudaSuccess;
    if (type != cudaMemoryTypeDevice) {
        simt_clear(cudart_gpu(), address, bytes, error);
        e = cudart_memory_map(address, bytes, type);
    } else if (!note((struct cudart_memory){ .address = address, .bytes = bytes, .type = type })) {
        e = cudart_failed(cudaErrorMemoryAllocation, function, "out of memory");
    }
    if (e) {
        simt_free(cudart_gpu(), address, error);
        return e;
    }
    *p = (void *)address;
    find(*p)->given = true;
    return cudaSuccess;
}

cudaError_t cudart_allocate(void **p, const char *function, size_t bytes, enum cudaMemoryType type)
{
    const cudaError_t before = p ? cudart_wait() : cudart_null(function);
    if (before)
        return before;
    cudart_lock();
    const cudaError_t e = allocate_now(p, function, bytes, type);
    cudart_unlock();
    return e;
}

uint64_t cudart_of_graphs[4];

void cudart_graph_memory(uint64_t more, uint64_t less)
{
    uint64_t *used = &cudart_of_graphs[cudaGraphMemAttrUsedMemCurrent];
    uint64_t *high = &cudart_of_graphs[cudaGraphMemAttrUsedMemHigh];
    *used += more;
    *used -= less < *used ? less : *used;
    *high = *used > *high ? *used : *high;
}

void cudart_memory_of_graph(void *p)
{
    cudart_lock();
    struct cudart_memory *m = find(p);
    if (m) {
        m->of_graph = true;
        m->given_back = false;
    }
    cudart_unlock();
}

// For a program's call.
static cudaError_t allocate(void **p, const char *function, size_t bytes, enum cudaMemoryType type)
{
    const cudaError_t e = cudart_unsafe(function);
    return e ? e : cudart_allocate(p, function, bytes, type);
}

cudaError_t cudaMalloc(void **p, size_t bytes)
{
    return allocate(p, "cudaMalloc", bytes, cudaMemoryTypeDevice);
}

enum { PITCH = 512 };  // bytes: rows begin at multiples of it

cudaError_t cudaMallocPitch(void **p, size_t *pitch, size_t width, size_t height)
{
    if (!pitch)
        return cudart_null(__func__);
    *pitch = (width + PITCH - 1) / PITCH * PITCH;
    return allocate(p, "cudaMallocPitch", *pitch * height, cudaMemoryTypeDevice);
}

cudaError_t cudaMalloc3D(struct cudaPitchedPtr *p, struct cudaExtent extent)
{
    if (!p)
        return cudart_null(__func__);
    *p = (struct cudaPitchedPtr){ .xsize = extent.width, .ysize = extent.height };
    p->pitch = (extent.width + PITCH - 1) / PITCH * PITCH;
    return allocate(&p->ptr, "cudaMalloc3D", p->pitch * extent.height * extent.depth, cudaMemoryTypeDevice);
}

cudaError_t cudaMallocManaged(void **p, size_t bytes, unsigned flags)
{
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost)
        return cudart_flags(__func__, flags);
    return allocate(p, "cudaMallocManaged", bytes, cudaMemoryTypeManaged);
}

cudaError_t cudaMallocHost(void **p, size_t bytes)
{
    return allocate(p, "cudaMallocHost", bytes, cudaMemoryTypeHost);
}

cudaError_t cudaHostAlloc(void **p, size_t bytes, unsigned flags)
{
    if (flags & ~(unsigned)(cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined))
        return cudart_flags(__func__, flags);
    return allocate(p, "cudaHostAlloc", bytes, cudaMemoryTypeHost);
}

static cudaError_t free_now(const char *function, void *p, bool hosts)
{
    struct cudart_memory *m = find(p);
    char error[DEV_ERROR_MAX] = "no allocation begins at that address, or it was freed before";
    if (m && (m->type == cudaMemoryTypeHost) != hosts)
        error_set(error, hosts ? "it is memory of the device: cudaFree frees it"
                               : "it is memory of the host: cudaFreeHost frees it");
    else if (m && m->address == (uint64_t)p && m->of_graph && !m->given_back) {
        m->given_back = true;
        cudart_graph_memory(0, m->bytes);
        return cudaSuccess;
    } else if (m && m->address == (uint64_t)p && m->given && !m->of_graph &&
               simt_free(cudart_gpu(), m->address, error)) {
        if (m->host)
            munmap(p, m->bytes);
        if (m->freed)
            m->freed(m->address);
        *m = all[--n_all];
        return cudaSuccess;
    }
    return cudart_failed(cudaErrorInvalidValue, function, error);
}

cudaError_t cudart_release(const char *function, void *p, bool hosts)
{
    cudart_print();
    const cudaError_t before = cudart_wait();
    if (before || !p)
        return before;
    cudart_lock();
    const cudaError_t e = free_now(function, p, hosts);
    cudart_unlock();
    return e;
}

cudaError_t cudaFree(void *p)
{
    const cudaError_t e = cudart_unsafe(__func__);
    return e ? e : cudart_release("cudaFree", p, false);
}

cudaError_t cudaFreeHost(void *p)
{
    const cudaError_t e = cudart_unsafe(__func__);
    return e ? e : cudart_release("cudaFreeHost", p, true);
}

// All that the program has allocated is freed. A kernel's error stays.
cudaError_t cudaDeviceReset(void)
{
    cudart_print();
    cudart_lock();
    for (size_t i = n_all; i-- > 0;)
        if (all[i].given && !all[i].of_graph)
            free_now(__func__, (void *)all[i].address, all[i].type == cudaMemoryTypeHost);
    cudart_unlock();
    return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *a, const void *p)
{
    if (!a)
        return cudart_null(__func__);
    cudart_lock();
    const struct cudart_memory *m = find(p);
    *a = (struct cudaPointerAttributes){ .type = cudaMemoryTypeUnregistered, .device = -2, .hostPointer = (void *)p };
    if (m) {
        const size_t at = (size_t)((uint64_t)p - (cudart_on_host(m, p) ? (uint64_t)m->host : m->address));
        *a = (struct cudaPointerAttributes){ .type = m->type,
                                             .devicePointer = (char *)m->address + at,
                                             .hostPointer = m->host ? (char *)m->host + at : NULL };
    }
    cudart_unlock();
    return cudaSuccess;
}

cudaError_t cudaMemRangeGetAttribute(void *data, size_t bytes, enum cudaMemRangeAttribute a, const void *p, size_t n)
{
    memset(data, 0, bytes);
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *left, size_t *total)
{
    if (!left || !total)
        return cudart_null(__func__);
    cudart_lock();
    *left = *total = simt_limits(cudart_gpu()).memory;
    for (size_t i = 0; i < n_all; i++)
        *left -= all[i].bytes < *left ? all[i].bytes : *left;
    cudart_unlock();
    return cudaSuccess;
}
