// Memory. A device address is one of the simulated GPU. Pinned and managed memory has the same address in the program,
// which is mapped there. Its bytes are given to the device before a launch, and what the kernel has changed is given to
// the program after it: other threads of the program may write there meanwhile.
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "cudart.h"

static struct cudart_memory *all;
static size_t n_all, room, n_mapped;

static bool note(uint64_t address, uint64_t bytes, bool mapped)
{
    if (n_all == room) {
        struct cudart_memory *more = realloc(all, (room + 64) * 2 * sizeof *more);
        if (!more)
            return false;
        all = more;
        room = (room + 64) * 2;
    }
    unsigned char *sent = mapped ? malloc(bytes) : NULL;
    if (mapped && !sent)
        return false;
    all[n_all++] = (struct cudart_memory){ address, bytes, mapped, sent };
    n_mapped += mapped;
    return true;
}

bool cudart_memory_note(uint64_t address, uint64_t bytes)
{
    return cudart_memory_at((void *)address) || note(address, bytes, false);
}

static struct cudart_memory *find(const void *address)
{
    const uint64_t a = (uint64_t)address;
    for (size_t i = n_all; i-- > 0;)
        if (a >= all[i].address && a - all[i].address < all[i].bytes)
            return &all[i];
    return NULL;
}

const struct cudart_memory *cudart_memory_at(const void *address)
{
    return find(address);
}

// --- Mapped memory ---

cudaError_t cudart_memory_map(uint64_t address, size_t bytes)
{
    char error[DEV_ERROR_MAX];
    void *want = (void *)address;
    void *got = mmap(want, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (got != want)
        return cudart_failed(cudaErrorMemoryAllocation, "mapped memory", "its address is not free in the program");
    if (simt_read(cudart_gpu(), want, address, bytes, error) && note(address, bytes, true))
        return cudaSuccess;
    munmap(want, bytes);
    return cudart_failed(cudaErrorMemoryAllocation, "mapped memory", "out of memory");
}

void cudart_to_device(void)
{
    char error[DEV_ERROR_MAX];
    for (size_t i = 0; n_mapped && i < n_all; i++)
        if (all[i].mapped) {
            memcpy(all[i].sent, (void *)all[i].address, all[i].bytes);
            simt_write(cudart_gpu(), all[i].address, all[i].sent, all[i].bytes, error);
        }
}

static void take_changes(const struct cudart_memory *m, const unsigned char *now)
{
    unsigned char *program = (unsigned char *)m->address;
    for (uint64_t i = 0; i < m->bytes; i++)
        if (m->sent[i] != now[i])
            program[i] = m->sent[i] = now[i];
}

void cudart_to_host(void)
{
    char error[DEV_ERROR_MAX];
    for (size_t i = 0; n_mapped && i < n_all; i++)
        if (all[i].mapped) {
            unsigned char *now = malloc(all[i].bytes);
            if (now && simt_read(cudart_gpu(), now, all[i].address, all[i].bytes, error))
                take_changes(&all[i], now);
            free(now);
        }
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

static cudaError_t allocate_now(void **p, const char *function, size_t bytes, bool mapped)
{
    static unsigned number;
    char name[64], error[DEV_ERROR_MAX];
    uint64_t address = 0;
    *p = NULL;
    if (!bytes)
        return cudaSuccess;
    snprintf(name, sizeof name, "%s#%u", function, number++);
    if (!simt_alloc(cudart_gpu(), name, bytes, &address, error))
        return cudart_failed(cudaErrorMemoryAllocation, function, error);
    cudaError_t e = cudaSuccess;
    if (mapped) {
        simt_clear(cudart_gpu(), address, bytes, error);
        e = cudart_memory_map(address, bytes);
    } else if (!note(address, bytes, false)) {
        e = cudart_failed(cudaErrorMemoryAllocation, function, "out of memory");
    }
    if (e)
        simt_free(cudart_gpu(), address, error);
    else
        *p = (void *)address;
    return e;
}

static cudaError_t allocate(void **p, const char *function, size_t bytes, bool mapped)
{
    cudart_lock();
    const cudaError_t e = allocate_now(p, function, bytes, mapped);
    cudart_unlock();
    return e;
}

cudaError_t cudaMalloc(void **p, size_t bytes)
{
    return allocate(p, "cudaMalloc", bytes, false);
}

cudaError_t cudaMallocAsync(void **p, size_t bytes, cudaStream_t st)
{
    return allocate(p, "cudaMallocAsync", bytes, false);
}

cudaError_t cudaMallocPitch(void **p, size_t *pitch, size_t width, size_t height)
{
    *pitch = (width + 511) / 512 * 512;
    return allocate(p, "cudaMallocPitch", *pitch * height, false);
}

cudaError_t cudaMallocManaged(void **p, size_t bytes, unsigned flags)
{
    return allocate(p, "cudaMallocManaged", bytes, true);
}

cudaError_t cudaMallocHost(void **p, size_t bytes)
{
    return allocate(p, "cudaMallocHost", bytes, true);
}

cudaError_t cudaHostAlloc(void **p, size_t bytes, unsigned flags)
{
    return allocate(p, "cudaHostAlloc", bytes, true);
}

cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned flags)
{
    *device = host;
    return cudaSuccess;
}

static cudaError_t free_now(void *p)
{
    struct cudart_memory *m = find(p);
    char error[DEV_ERROR_MAX] = "no allocation begins at that address, or it was freed before";
    if (!m || m->address != (uint64_t)p || !simt_free(cudart_gpu(), m->address, error))
        return cudart_failed(cudaErrorInvalidValue, "cudaFree", error);
    if (m->mapped) {
        munmap(p, m->bytes);
        free(m->sent);
        n_mapped--;
    }
    *m = all[--n_all];
    return cudaSuccess;
}

cudaError_t cudaFree(void *p)
{
    cudart_lock();
    const cudaError_t e = p ? free_now(p) : cudaSuccess;
    cudart_unlock();
    return e;
}

cudaError_t cudaFreeHost(void *p)
{
    return cudaFree(p);
}

cudaError_t cudaFreeAsync(void *p, cudaStream_t st)
{
    return cudaFree(p);
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *a, const void *p)
{
    cudart_lock();
    const struct cudart_memory *m = find(p);
    *a = (struct cudaPointerAttributes){ .type = !m          ? cudaMemoryTypeUnregistered
                                                 : m->mapped ? cudaMemoryTypeManaged
                                                             : cudaMemoryTypeDevice,
                                         .devicePointer = m ? (void *)p : NULL,
                                         .hostPointer = m && !m->mapped ? NULL : (void *)p };
    cudart_unlock();
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *left, size_t *total)
{
    cudart_lock();
    *left = *total = simt_limits(cudart_gpu()).memory;
    for (size_t i = 0; i < n_all; i++)
        *left -= all[i].bytes < *left ? all[i].bytes : *left;
    cudart_unlock();
    return cudaSuccess;
}
