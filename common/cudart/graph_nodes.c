// The nodes of graphs that a program makes by hand: what each does, and what it comes after. A node of a graph that can
// be launched is named by the one that it is a copy of.
#include <stdlib.h>
#include <string.h>

#include "copy.h"
#include "graph.h"

static cudaError_t bad(const char *function)
{
    return cudart_failed(cudaErrorInvalidValue, function, "no such graph or node, or not what it can do");
}

// --- What a node does, as the API has it ---

static struct work of_kernel(const struct cudaKernelNodeParams *p)
{
    return (struct work){
        .type = &work_kernel,
        .function = "cudaGraphLaunch",
        .kernel = { .host = p->func,
                    .grid = p->gridDim,
                    .block = p->blockDim,
                    .shared = p->sharedMemBytes,
                    .arguments = p->kernelParams },
    };
}

static struct work of_copy(const struct cudaMemcpy3DParms *p)
{
    return (struct work){ .type = &work_copy, .function = "cudaGraphLaunch", .copy = *p };
}

static struct work of_copy_1d(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    return copy_work("cudaGraphLaunch", to, from, bytes, kind);
}

static struct work of_set(const struct cudaMemsetParams *p)
{
    return (struct work){ .type = &work_set, .function = "cudaGraphLaunch", .set = *p };
}

static struct work of_call(const struct cudaHostNodeParams *p)
{
    return (struct work){ .type = &work_call, .function = "cudaGraphLaunch", .call = *p };
}

static struct work of_graph(cudaGraph_t g)
{
    return (struct work){ .type = &work_graph, .function = "cudaGraphLaunch", .graph = g };
}

static struct work of_event(cudaEvent_t e)
{
    return (struct work){ .type = &work_record, .function = "cudaGraphLaunch", .event = e };
}

static const struct work nothing = { .type = &work_nothing };

// --- Making nodes ---

static cudaError_t add(const char *function, cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *after,
                       size_t n, struct work w)
{
    if (!out)
        return cudart_null(function);
    cudart_lock();
    const struct node *made = graph_add_after(graph, &w, after, n);
    *out = made ? made->handle : NULL;
    cudart_unlock();
    return made ? cudaSuccess : bad(function);
}

// The program then fills the bodies.
static cudaError_t add_choice(cudaGraphNode_t *out, cudaGraph_t g, const cudaGraphNode_t *after, size_t n,
                              struct cudaConditionalNodeParams *p)
{
    struct work w;
    const cudaError_t e =
        graph_choice_of(p, &w) ? add("cudaGraphAddNode", out, g, after, n, w) : bad("cudaGraphAddNode");
    if (!e)
        p->phGraph_out = node_of(*out)->work.choice.bodies;
    return e;
}

#define ADD(name, type, work)                                                                                          \
    cudaError_t name(cudaGraphNode_t *out, cudaGraph_t g, const cudaGraphNode_t *after, size_t n, type p)              \
    {                                                                                                                  \
        return add(#name, out, g, after, n, work);                                                                     \
    }

ADD(cudaGraphAddKernelNode, const struct cudaKernelNodeParams *, of_kernel(p))
ADD(cudaGraphAddMemcpyNode, const struct cudaMemcpy3DParms *, of_copy(p))
ADD(cudaGraphAddMemsetNode, const struct cudaMemsetParams *, of_set(p))
ADD(cudaGraphAddHostNode, const struct cudaHostNodeParams *, of_call(p))
ADD(cudaGraphAddChildGraphNode, cudaGraph_t, of_graph(p))
ADD(cudaGraphAddEventRecordNode, cudaEvent_t, of_event(p))
ADD(cudaGraphAddEventWaitNode, cudaEvent_t, ((void)p, nothing))

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *out, cudaGraph_t g, const cudaGraphNode_t *after, size_t n)
{
    return add("cudaGraphAddEmptyNode", out, g, after, n, nothing);
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *out, cudaGraph_t g, const cudaGraphNode_t *after, size_t n,
                                     void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    return add("cudaGraphAddMemcpyNode1D", out, g, after, n, of_copy_1d(to, from, bytes, kind));
}

cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *out, cudaGraph_t g, const cudaGraphNode_t *after, size_t n,
                                           const void *host, const void *from, size_t bytes, size_t at,
                                           enum cudaMemcpyKind kind)
{
    void *to;
    const cudaError_t e = cudaGetSymbolAddress(&to, host);
    return e ? e : cudaGraphAddMemcpyNode1D(out, g, after, n, (char *)to + at, from, bytes, kind);
}

cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *out, cudaGraph_t g, const cudaGraphNode_t *after,
                                             size_t n, void *to, const void *host, size_t bytes, size_t at,
                                             enum cudaMemcpyKind kind)
{
    void *from;
    const cudaError_t e = cudaGetSymbolAddress(&from, host);
    return e ? e : cudaGraphAddMemcpyNode1D(out, g, after, n, to, (char *)from + at, bytes, kind);
}

cudaError_t cudaGraphAddNode(cudaGraphNode_t *out, cudaGraph_t g, const cudaGraphNode_t *after,
                             const cudaGraphEdgeData *edges, size_t n, struct cudaGraphNodeParams *p)
{
    struct work w = nothing;
    if (p->type == cudaGraphNodeTypeKernel)
        w = of_kernel((const struct cudaKernelNodeParams *)&p->kernel);  // its first members are the same
    else if (p->type == cudaGraphNodeTypeMemcpy)
        w = of_copy(&p->memcpy.copyParams);
    else if (p->type == cudaGraphNodeTypeMemset)
        w = of_set((const struct cudaMemsetParams *)&p->memset);
    else if (p->type == cudaGraphNodeTypeHost)
        w = of_call((const struct cudaHostNodeParams *)&p->host);
    else if (p->type == cudaGraphNodeTypeGraph)
        w = of_graph(p->graph.graph);
    else if (p->type == cudaGraphNodeTypeEventRecord)
        w = of_event(p->eventRecord.event);
    else if (p->type == cudaGraphNodeTypeConditional)
        return add_choice(out, g, after, n, &p->conditional);
    else if (p->type != cudaGraphNodeTypeEmpty && p->type != cudaGraphNodeTypeWaitEvent)
        return cudart_failed(cudaErrorNotSupported, "cudaGraphAddNode", "nodes of this type are not there yet");
    return add("cudaGraphAddNode", out, g, after, n, w);
}

// --- Changing what they do ---

static cudaError_t change(const char *function, struct node *n, struct work w)
{
    if (n && n->work.type == &work_kernel) {
        memcpy(w.kernel.cluster, n->work.kernel.cluster, sizeof w.kernel.cluster);
        w.kernel.cooperative = n->work.kernel.cooperative;
    }
    return n && node_change(n, &w) ? cudaSuccess : bad(function);
}

#define SET(name, exec_name, type, work)                                                                               \
    cudaError_t name(cudaGraphNode_t node, type p)                                                                     \
    {                                                                                                                  \
        cudart_lock();                                                                                                 \
        const cudaError_t e = change(#name, node_of(node), work);                                                      \
        cudart_unlock();                                                                                               \
        return e;                                                                                                      \
    }                                                                                                                  \
    cudaError_t exec_name(cudaGraphExec_t exec, cudaGraphNode_t node, type p)                                          \
    {                                                                                                                  \
        cudart_lock();                                                                                                 \
        const cudaError_t e = change(#exec_name, graph_exec_node(exec, node), work);                                   \
        cudart_unlock();                                                                                               \
        return e;                                                                                                      \
    }

SET(cudaGraphKernelNodeSetParams, cudaGraphExecKernelNodeSetParams, const struct cudaKernelNodeParams *, of_kernel(p))
SET(cudaGraphMemcpyNodeSetParams, cudaGraphExecMemcpyNodeSetParams, const struct cudaMemcpy3DParms *, of_copy(p))
SET(cudaGraphMemsetNodeSetParams, cudaGraphExecMemsetNodeSetParams, const struct cudaMemsetParams *, of_set(p))
SET(cudaGraphHostNodeSetParams, cudaGraphExecHostNodeSetParams, const struct cudaHostNodeParams *, of_call(p))
SET(cudaGraphEventRecordNodeSetEvent, cudaGraphExecEventRecordNodeSetEvent, cudaEvent_t, of_event(p))

cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraph_t child)
{
    cudart_lock();
    const cudaError_t e = change("cudaGraphExecChildGraphNodeSetParams", graph_exec_node(exec, node), of_graph(child));
    cudart_unlock();
    return e;
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *to, const void *from, size_t bytes,
                                           enum cudaMemcpyKind kind)
{
    const struct work w = of_copy_1d(to, from, bytes, kind);
    return cudaGraphMemcpyNodeSetParams(node, &w.copy);
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void *to, const void *from,
                                               size_t bytes, enum cudaMemcpyKind kind)
{
    const struct work w = of_copy_1d(to, from, bytes, kind);
    return cudaGraphExecMemcpyNodeSetParams(exec, node, &w.copy);
}

cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned on)
{
    cudart_lock();
    struct node *n = graph_exec_node(exec, node);
    if (n)
        n->off = !on;
    cudart_unlock();
    return n ? cudaSuccess : bad("cudaGraphNodeSetEnabled");
}

cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned *on)
{
    cudart_lock();
    const struct node *n = graph_exec_node(exec, node);
    *on = n && !n->off;
    cudart_unlock();
    return n ? cudaSuccess : bad("cudaGraphNodeGetEnabled");
}

// --- Questions ---

#define GET(name, kind, result, statement)                                                                             \
    cudaError_t name(cudaGraphNode_t node, result *p)                                                                  \
    {                                                                                                                  \
        cudart_lock();                                                                                                 \
        const struct node *n = node_of(node);                                                                          \
        const bool right = n && n->work.type == &(kind);                                                               \
        if (right)                                                                                                     \
            statement;                                                                                                 \
        cudart_unlock();                                                                                               \
        return right ? cudaSuccess : bad(#name);                                                                       \
    }

static void get_kernel(struct cudaKernelNodeParams *p, const struct work_kernel *k)
{
    *p = (struct cudaKernelNodeParams){ .func = (void *)k->host,
                                        .gridDim = k->grid,
                                        .blockDim = k->block,
                                        .sharedMemBytes = (unsigned)k->shared,
                                        .kernelParams = k->arguments };
}

GET(cudaGraphKernelNodeGetParams, work_kernel, struct cudaKernelNodeParams, get_kernel(p, &n->work.kernel))
GET(cudaGraphMemcpyNodeGetParams, work_copy, struct cudaMemcpy3DParms, *p = n->work.copy)
GET(cudaGraphMemsetNodeGetParams, work_set, struct cudaMemsetParams, *p = n->work.set)
GET(cudaGraphHostNodeGetParams, work_call, struct cudaHostNodeParams, *p = n->work.call)
GET(cudaGraphChildGraphNodeGetGraph, work_graph, cudaGraph_t, *p = n->work.graph)
GET(cudaGraphEventRecordNodeGetEvent, work_record, cudaEvent_t, *p = n->work.event)

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *type)
{
    cudart_lock();
    const struct node *n = node_of(node);
    if (n)
        *type = n->work.type->node;
    cudart_unlock();
    return n ? cudaSuccess : bad("cudaGraphNodeGetType");
}

// Writes up to *n of them, and how many there are; out may be NULL.
static void give(const struct nodes *from, cudaGraphNode_t *out, size_t *n)
{
    for (size_t i = 0; out && i < *n && i < from->n; i++)
        out[i] = from->all[i]->handle;
    *n = from->n;
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *out, size_t *n)
{
    cudart_lock();
    const struct graph *g = graph_of(graph);
    if (g)
        give(&g->nodes, out, n);
    cudart_unlock();
    return g ? cudaSuccess : bad("cudaGraphGetNodes");
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *out, size_t *n)
{
    struct nodes roots = { 0 };
    cudart_lock();
    const struct graph *g = graph_of(graph);
    bool ok = g;
    for (size_t i = 0; ok && i < g->nodes.n; i++)
        ok = g->nodes.all[i]->after.n || nodes_add(&roots, g->nodes.all[i]);
    give(&roots, out, n);
    cudart_unlock();
    free(roots.all);
    return ok ? cudaSuccess : bad("cudaGraphGetRootNodes");
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, cudaGraphEdgeData *edges,
                              size_t *n)
{
    size_t count = 0;
    cudart_lock();
    const struct graph *g = graph_of(graph);
    for (size_t i = 0; g && i < g->nodes.n; i++)
        for (size_t k = 0; k < g->nodes.all[i]->after.n; k++, count++)
            if (from && to && count < *n) {
                from[count] = g->nodes.all[i]->after.all[k]->handle;
                to[count] = g->nodes.all[i]->handle;
            }
    *n = count;
    cudart_unlock();
    return g ? cudaSuccess : bad("cudaGraphGetEdges");
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *out, cudaGraphEdgeData *edges,
                                         size_t *n)
{
    cudart_lock();
    const struct node *of = node_of(node);
    if (of)
        give(&of->after, out, n);
    cudart_unlock();
    return of ? cudaSuccess : bad("cudaGraphNodeGetDependencies");
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                     const cudaGraphEdgeData *edges, size_t n)
{
    cudart_lock();
    bool ok = graph_of(graph);
    for (size_t i = 0; ok && i < n; i++)
        ok = node_of(from[i]) && node_of(to[i]) && nodes_add(&node_of(to[i])->after, node_of(from[i]));
    cudart_unlock();
    return ok ? cudaSuccess : bad("cudaGraphAddDependencies");
}
