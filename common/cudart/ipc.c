// Memory and events that processes have in common: cudaIpc of the runtime, cuIpc of the driver.
//
// An allocation that a process gives to others moves into a file without a name, which they open through /proc as long
// as that process has it. Each maps the file, and its simulated GPU uses it there (simt_lend). All work has ended when
// a call returns, so events have nothing in common: another process that waits for one has nothing to wait for.
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "driver.h"
#include "submit.h"

enum { MEMORY = 0x534d454d, EVENT = 0x53455645 };

struct ticket {  // what a handle holds, without padding
    uint64_t what, bytes, inode;
    int32_t process, file;  // its number there
};

_Static_assert(sizeof(struct ticket) <= sizeof(cudaIpcMemHandle_t), "a handle has 64 bytes");

static struct shared {
    struct shared *next;
    struct ticket ticket;
    uint64_t address;
    void *view;       // where the file is mapped
    unsigned opened;  // how many times it was opened; 0: it is this process's own
} * all;

static struct shared *find(uint64_t address)
{
    struct shared *s = all;
    while (s && s->address != address)
        s = s->next;
    return s;
}

// Maps the file, which is the caller's, if it is the one of the ticket.
static bool map(struct shared *s, int file)
{
    struct stat about;
    if (file < 0 || fstat(file, &about) || (s->ticket.inode && s->ticket.inode != about.st_ino))
        return false;
    s->ticket.inode = about.st_ino;
    s->view = mmap(NULL, s->ticket.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    return s->view != MAP_FAILED;
}

static struct shared *add(struct ticket t, uint64_t address)
{
    struct shared *s = calloc(1, sizeof *s);
    if (s) {
        *s = (struct shared){ .next = all, .ticket = t, .address = address, .view = MAP_FAILED };
        all = s;
    }
    return s;
}

static void drop(struct shared *s)
{
    struct shared **at = &all;
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    if (s->view != MAP_FAILED)
        munmap(s->view, s->ticket.bytes);
    if (!s->opened && s->ticket.file >= 0)
        close(s->ticket.file);
    free(s);
}

static void forget(uint64_t address)
{
    struct shared *s = find(address);
    if (s)
        drop(s);
}

// --- Memory ---

static struct shared *give(const struct cudart_memory *m)
{
    char error[DEV_ERROR_MAX];
    const struct ticket t = { MEMORY, m->bytes, 0, getpid(), memfd_create("cuda", MFD_CLOEXEC) };
    struct shared *s = add(t, m->address);
    if (!s || t.file < 0 || ftruncate(t.file, (off_t)m->bytes) || !map(s, t.file) ||
        !simt_read(cudart_gpu(), s->view, m->address, m->bytes, error)) {
        if (s)
            drop(s);
        return NULL;
    }
    simt_lend(cudart_gpu(), m->address, s->view);
    cudart_memory_when_freed(m->address, forget);
    return s;
}

static cudaError_t get_memory(cudaIpcMemHandle_t *handle, const void *p)
{
    const struct cudart_memory *m = cudart_memory_at(p);
    if (!m || !m->given || m->of_graph || m->type != cudaMemoryTypeDevice)
        return cudart_failed(cudaErrorInvalidValue, "cudaIpcGetMemHandle", "it is no memory that cudaMalloc gave");
    const struct shared *s = find(m->address);
    if (!s && !(s = give(m)))
        return cudart_failed(cudaErrorMemoryAllocation, "cudaIpcGetMemHandle", "out of memory");
    memcpy(handle, &s->ticket, sizeof s->ticket);
    return cudaSuccess;
}

static cudaError_t take(struct shared *s)
{
    static unsigned number;
    char path[64], name[64], error[DEV_ERROR_MAX];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)s->ticket.process, (int)s->ticket.file);
    snprintf(name, sizeof name, "cudaIpcOpenMemHandle#%u", number++);
    const int file = open(path, O_RDWR | O_CLOEXEC);
    const bool there = map(s, file);
    if (file >= 0)
        close(file);
    if (!there)
        return cudart_failed(cudaErrorInvalidResourceHandle, "cudaIpcOpenMemHandle",
                             "the process that has the memory has freed it, or has ended");
    if (!simt_alloc(cudart_gpu(), name, s->ticket.bytes, &s->address, error))
        return cudart_failed(cudaErrorMemoryAllocation, "cudaIpcOpenMemHandle", error);
    simt_lend(cudart_gpu(), s->address, s->view);
    if (cudart_memory_note(s->address, s->ticket.bytes))
        return cudaSuccess;
    simt_free(cudart_gpu(), s->address, error);
    return cudart_failed(cudaErrorMemoryAllocation, "cudaIpcOpenMemHandle", "out of memory");
}

// Memory that is open is opened once more at the same address.
static cudaError_t open_memory(void **p, const struct ticket *t)
{
    if (t->what != MEMORY)
        return cudart_failed(cudaErrorInvalidResourceHandle, "cudaIpcOpenMemHandle", "it is no handle of memory");
    if (t->process == getpid())
        return cudart_failed(cudaErrorDeviceUninitialized, "cudaIpcOpenMemHandle",
                             "the memory is of this process, and is opened by others");
    struct shared *s = all;
    while (s && memcmp(&s->ticket, t, sizeof *t))
        s = s->next;
    if (!s && !(s = add(*t, 0)))
        return cudart_failed(cudaErrorMemoryAllocation, "cudaIpcOpenMemHandle", "out of memory");
    const cudaError_t e = s->opened++ ? cudaSuccess : take(s);
    *p = AT(s->address);
    if (e)
        drop(s);
    return e;
}

static cudaError_t close_memory(const void *p)
{
    char error[DEV_ERROR_MAX];
    struct shared *s = find((uint64_t)p);
    if (!s || !s->opened)
        return cudart_failed(cudaErrorInvalidValue, "cudaIpcCloseMemHandle", "cudaIpcOpenMemHandle did not give it");
    if (s->opened > 1) {
        s->opened--;
        return cudaSuccess;
    }
    simt_free(cudart_gpu(), s->address, error);
    cudart_memory_forget(s->address);
    drop(s);
    return cudaSuccess;
}

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *p)
{
    const cudaError_t before = handle ? cudart_wait() : cudart_null(__func__);
    cudart_lock();
    const cudaError_t e = before ? before : get_memory(handle, p);
    cudart_unlock();
    return e;
}

cudaError_t cudaIpcOpenMemHandle(void **p, cudaIpcMemHandle_t handle, unsigned flags)
{
    struct ticket t;
    const cudaError_t before = p ? cudart_wait() : cudart_null(__func__);
    if (before || flags & ~(unsigned)cudaIpcMemLazyEnablePeerAccess)
        return before ? before : cudart_flags(__func__, flags);
    memcpy(&t, &handle, sizeof t);
    cudart_lock();
    const cudaError_t e = open_memory(p, &t);
    cudart_unlock();
    return e;
}

cudaError_t cudaIpcCloseMemHandle(void *p)
{
    const cudaError_t before = cudart_wait();
    cudart_lock();
    const cudaError_t e = before ? before : close_memory(p);
    cudart_unlock();
    return e;
}

// --- Events ---

cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t *handle, cudaEvent_t event)
{
    if (!handle)
        return cudart_null(__func__);
    cudart_lock();
    const struct event *e = event_of(event);
    const bool shared = e && e->shared;
    cudart_unlock();
    if (!shared)
        return cudart_failed(cudaErrorInvalidResourceHandle, __func__, "no event with cudaEventInterprocess");
    const struct ticket t = { EVENT, 0, 0, getpid(), -1 };
    memcpy(handle, &t, sizeof t);
    return cudaSuccess;
}

cudaError_t cudaIpcOpenEventHandle(cudaEvent_t *event, cudaIpcEventHandle_t handle)
{
    struct ticket t;
    memcpy(&t, &handle, sizeof t);
    if (t.what != EVENT)
        return cudart_failed(cudaErrorInvalidResourceHandle, __func__, "it is no handle of an event");
    return cudaEventCreateWithFlags(event, cudaEventInterprocess | cudaEventDisableTiming);
}

// --- The driver's ---

static cudaError_t open_as_driver(CUdeviceptr *out, const CUipcMemHandle *handle, unsigned flags)
{
    void *p = NULL;
    cudaIpcMemHandle_t h;
    memcpy(&h, handle, sizeof h);
    const cudaError_t e = cudaIpcOpenMemHandle(&p, h, flags);
    *out = (CUdeviceptr)(uintptr_t)p;
    return e;
}

static cudaError_t open_event_as_driver(CUevent *out, const CUipcEventHandle *handle)
{
    cudaIpcEventHandle_t h;
    memcpy(&h, handle, sizeof h);
    return cudaIpcOpenEventHandle(out, h);
}

FACE(cuIpcGetMemHandle, (CUipcMemHandle * handle, CUdeviceptr p),
     cudaIpcGetMemHandle((cudaIpcMemHandle_t *)handle, AT(p)))
FACE(cuIpcOpenMemHandle, (CUdeviceptr * p, CUipcMemHandle handle, unsigned flags), open_as_driver(p, &handle, flags))
FACE(cuIpcCloseMemHandle, (CUdeviceptr p), cudaIpcCloseMemHandle(AT(p)))
FACE(cuIpcGetEventHandle, (CUipcEventHandle * handle, CUevent e),
     cudaIpcGetEventHandle((cudaIpcEventHandle_t *)handle, e))
FACE(cuIpcOpenEventHandle, (CUevent * e, CUipcEventHandle handle), open_event_as_driver(e, &handle))
