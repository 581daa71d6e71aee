// Pools of memory: what is allocated from one is device memory as any other, and a pool keeps what it is told. In the
// order of a stream, memory is there at once. That of a graph is there from the moment that its node is made until the
// program ends, at the same address in each launch, and freeing it there is only counted.
#include <stdlib.h>
#include <string.h>

#include "handle.h"
#include "submit.h"

enum { ATTRIBUTES = 16 };

struct pool {
    cudaMemPool_t handle;
    uint64_t attributes[ATTRIBUTES];  // by enum cudaMemPoolAttr
};

static cudaError_t no_pool(const char *function)
{
    return cudart_failed(cudaErrorInvalidValue, function, "no such pool, or attribute of one");
}

static struct pool *new_pool(void)
{
    struct pool *p = calloc(1, sizeof *p);
    if (p && !(p->handle = handle_new(HANDLE_POOL, p))) {
        free(p);
        p = NULL;
    }
    return p;
}

static cudaError_t give_default(const char *function, cudaMemPool_t *out)
{
    static struct pool *always;
    cudart_lock();
    if (!always)
        always = new_pool();
    *out = always ? always->handle : NULL;
    cudart_unlock();
    return *out ? cudaSuccess : cudart_failed(cudaErrorMemoryAllocation, function, "out of memory");
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *out, int d)
{
    return give_default("cudaDeviceGetDefaultMemPool", out);
}

static cudaMemPool_t current;  // of cudaMallocAsync

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *out, int d)
{
    *out = current;
    return current ? cudaSuccess : give_default("cudaDeviceGetMemPool", out);
}

cudaError_t cudaDeviceSetMemPool(int d, cudaMemPool_t pool)
{
    if (!handle_object(pool, HANDLE_POOL))
        return no_pool("cudaDeviceSetMemPool");
    current = pool;
    return cudaSuccess;
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t *out, const struct cudaMemPoolProps *props)
{
    cudart_lock();
    const struct pool *p = new_pool();
    cudart_unlock();
    *out = p ? p->handle : NULL;
    return p ? cudaSuccess : cudart_failed(cudaErrorMemoryAllocation, "cudaMemPoolCreate", "out of memory");
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t handle)
{
    cudart_lock();
    struct pool *p = handle_object(handle, HANDLE_POOL);
    handle_drop(handle);
    free(p);
    if (current == handle)
        current = NULL;
    cudart_unlock();
    return p ? cudaSuccess : no_pool("cudaMemPoolDestroy");
}

// Reuse is said in an int, sizes in 64 bits.
static size_t bytes_of(enum cudaMemPoolAttr a)
{
    return a < cudaMemPoolAttrReleaseThreshold ? sizeof(int) : sizeof(uint64_t);
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t handle, enum cudaMemPoolAttr a, void *value)
{
    struct pool *p = handle_object(handle, HANDLE_POOL);
    if (!p || (unsigned)a >= ATTRIBUTES)
        return no_pool("cudaMemPoolSetAttribute");
    memcpy(&p->attributes[a], value, bytes_of(a));
    return cudaSuccess;
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t handle, enum cudaMemPoolAttr a, void *value)
{
    const struct pool *p = handle_object(handle, HANDLE_POOL);
    if (!p || (unsigned)a >= ATTRIBUTES)
        return no_pool("cudaMemPoolGetAttribute");
    memcpy(value, &p->attributes[a], bytes_of(a));
    return cudaSuccess;
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t handle, size_t bytes)
{
    return handle_object(handle, HANDLE_POOL) ? cudaSuccess : no_pool("cudaMemPoolTrimTo");
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t handle, const struct cudaMemAccessDesc *who, size_t n)
{
    return handle_object(handle, HANDLE_POOL) ? cudaSuccess : no_pool("cudaMemPoolSetAccess");
}

cudaError_t cudaMemPoolGetAccess(enum cudaMemAccessFlags *flags, cudaMemPool_t handle, struct cudaMemLocation *where)
{
    *flags = cudaMemAccessFlagsProtReadWrite;
    return handle_object(handle, HANDLE_POOL) ? cudaSuccess : no_pool("cudaMemPoolGetAccess");
}

// --- In the order of a stream ---

static cudaError_t run_alloc(const struct work *w)
{
    cudart_memory_of_graph(w->memory.p);
    cudart_graph_memory(w->memory.bytes, 0);
    return cudaSuccess;
}

static cudaError_t run_free(const struct work *w)
{
    cudart_graph_memory(0, w->memory.bytes);
    return cudaSuccess;
}

const struct work_type work_alloc = { .node = cudaGraphNodeTypeMemAlloc, .run = run_alloc };
const struct work_type work_free = { .node = cudaGraphNodeTypeMemFree, .run = run_free };

static bool is_captured(cudaStream_t handle)
{
    cudart_lock();
    const struct stream *s = stream_of(handle);
    cudart_unlock();
    return s && s->graph;
}

static struct work allocating(void *p, size_t bytes)
{
    cudart_memory_of_graph(p);
    cudart_of_graphs[cudaGraphMemAttrReservedMemCurrent] += bytes;
    cudart_of_graphs[cudaGraphMemAttrReservedMemHigh] += bytes;
    return (struct work){ .type = &work_alloc, .function = "cudaMallocAsync", .memory = { p, bytes } };
}

static struct work freeing(void *p)
{
    const struct cudart_memory *m = cudart_memory_at(p);
    return (struct work){ .type = &work_free, .function = "cudaFreeAsync", .memory = { p, m ? m->bytes : 0 } };
}

cudaError_t cudaMallocAsync(void **p, size_t bytes, cudaStream_t s)
{
    cudart_print();
    const cudaError_t e = cudart_allocate(p, "cudaMallocAsync", bytes, cudaMemoryTypeDevice);
    if (e || !is_captured(s))
        return e;
    const struct work w = allocating(*p, bytes);
    return work_submit(s, &w);
}

cudaError_t cudaFreeAsync(void *p, cudaStream_t s)
{
    if (!is_captured(s))
        return cudart_release("cudaFreeAsync", p, false);
    const struct work w = freeing(p);
    return work_submit(s, &w);
}

cudaError_t cudaMallocFromPoolAsync(void **p, size_t bytes, cudaMemPool_t pool, cudaStream_t s)
{
    *p = NULL;
    return handle_object(pool, HANDLE_POOL) ? cudaMallocAsync(p, bytes, s) : no_pool("cudaMallocFromPoolAsync");
}

// --- Nodes of graphs ---

static cudaError_t add(const char *function, cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *after,
                       size_t n, const struct work *w)
{
    cudart_lock();
    struct node *made = graph_add_after(graph, w, after, n);
    *out = made ? made->handle : NULL;
    cudart_unlock();
    return made ? cudaSuccess : cudart_failed(cudaErrorInvalidValue, function, "no such graph or node");
}

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *after, size_t n,
                                     struct cudaMemAllocNodeParams *p)
{
    const cudaError_t e = cudart_allocate(&p->dptr, "cudaGraphAddMemAllocNode", p->bytesize, cudaMemoryTypeDevice);
    const struct work w = allocating(p->dptr, p->bytesize);
    return e ? e : add("cudaGraphAddMemAllocNode", out, graph, after, n, &w);
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *after, size_t n,
                                    void *p)
{
    const struct work w = freeing(p);
    return add("cudaGraphAddMemFreeNode", out, graph, after, n, &w);
}

cudaError_t cudaDeviceGraphMemTrim(int d)
{
    return cudaSuccess;
}

cudaError_t cudaDeviceGetGraphMemAttribute(int d, enum cudaGraphMemAttributeType a, void *value)
{
    if ((size_t)a >= sizeof cudart_of_graphs / sizeof *cudart_of_graphs)
        return no_pool("cudaDeviceGetGraphMemAttribute");
    memcpy(value, &cudart_of_graphs[a], sizeof cudart_of_graphs[a]);
    return cudaSuccess;
}

cudaError_t cudaDeviceSetGraphMemAttribute(int d, enum cudaGraphMemAttributeType a, void *value)
{
    if (a != cudaGraphMemAttrUsedMemHigh && a != cudaGraphMemAttrReservedMemHigh)
        return no_pool("cudaDeviceSetGraphMemAttribute");
    memcpy(&cudart_of_graphs[a], value, sizeof cudart_of_graphs[a]);
    return cudaSuccess;
}
