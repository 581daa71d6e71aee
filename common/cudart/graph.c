// Graphs, and the capture of streams. A graph that can be launched is a copy, whose nodes stand in an order in which
// each comes after what it depends on, and are done one after the other. See graph.h.
#include "graph.h"

#include <stdlib.h>
#include <string.h>

#include "handle.h"
#include "submit.h"

struct exec {
    struct graph *graph;
};

static cudaError_t failed(cudaError_t e, const char *function)
{
    return cudart_failed(e, function,
                         e == cudaErrorMemoryAllocation ? "out of memory" : "it is no graph or node, or was destroyed");
}

// --- Graphs ---

static struct graph *new_graph(void)
{
    struct graph *g = calloc(1, sizeof *g);
    if (g && !(g->handle = handle_new(HANDLE_GRAPH, g))) {
        free(g);
        g = NULL;
    }
    return g;
}

static void free_graph(struct graph *g)
{
    stream_end_capture(g);
    for (size_t i = 0; i < g->nodes.n; i++)
        node_free(g->nodes.all[i]);
    handle_drop(g->handle);
    free(g->nodes.all);
    free(g);
}

// Copies a node whose predecessors have been copied. 1: done; 0: they have not; -1: out of memory.
static int copy_node(struct graph *to, const struct node *n)
{
    struct nodes after = { 0 };
    bool ready = true, ok = true;
    for (size_t i = 0; ready && ok && i < n->after.n; i++) {
        struct node *copy = graph_copy_of(to, n->after.all[i]);
        ready = copy;
        ok = !copy || nodes_add(&after, copy);
    }
    struct node *copy = ready && ok ? graph_add(to, &n->work, &after) : NULL;
    free(after.all);
    if (copy)
        copy->of = (struct node *)n;
    return copy ? 1 : ready ? -1 : 0;
}

// In an order in which they can be done. NULL if memory runs out, or nodes depend on each other in a circle.
static struct graph *ordered_copy(const struct graph *g)
{
    struct graph *to = new_graph();
    bool more = to;
    while (more) {
        more = false;
        for (size_t i = 0; to && i < g->nodes.n; i++) {
            const int done = graph_copy_of(to, g->nodes.all[i]) ? 0 : copy_node(to, g->nodes.all[i]);
            more |= done > 0;
            if (done < 0) {
                free_graph(to);
                to = NULL;
            }
        }
    }
    if (to && to->nodes.n == g->nodes.n)
        return to;
    if (to)
        free_graph(to);
    return NULL;
}

cudaGraph_t graph_copy(cudaGraph_t handle)
{
    const struct graph *g = graph_of(handle);
    const struct graph *copy = g ? ordered_copy(g) : NULL;
    return copy ? copy->handle : NULL;
}

cudaError_t cudaGraphCreate(cudaGraph_t *out, unsigned flags)
{
    if (!out)
        return cudart_null(__func__);
    cudart_lock();
    const struct graph *g = new_graph();
    cudart_unlock();
    *out = g ? g->handle : NULL;
    return g ? cudaSuccess : failed(cudaErrorMemoryAllocation, "cudaGraphCreate");
}

cudaError_t cudaGraphDestroy(cudaGraph_t handle)
{
    cudart_lock();
    struct graph *g = graph_of(handle);
    if (g)
        free_graph(g);
    cudart_unlock();
    return g ? cudaSuccess : failed(cudaErrorInvalidValue, "cudaGraphDestroy");
}

cudaError_t cudaGraphClone(cudaGraph_t *out, cudaGraph_t handle)
{
    cudart_lock();
    *out = graph_copy(handle);
    cudart_unlock();
    return *out ? cudaSuccess : failed(cudaErrorInvalidValue, "cudaGraphClone");
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t *out, cudaGraphNode_t node, cudaGraph_t clone)
{
    cudart_lock();
    const struct graph *g = graph_of(clone);
    const struct node *n = node_of(node), *copy = g && n ? graph_copy_of(g, n) : NULL;
    *out = copy ? copy->handle : NULL;
    cudart_unlock();
    return copy ? cudaSuccess : failed(cudaErrorInvalidValue, "cudaGraphNodeFindInClone");
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t handle)
{
    cudart_lock();
    struct node *n = node_of(handle);
    if (n) {
        struct graph *g = n->graph;
        nodes_remove(&g->nodes, n);
        for (size_t i = 0; i < g->nodes.n; i++)
            nodes_remove(&g->nodes.all[i]->after, n);
        node_free(n);
    }
    cudart_unlock();
    return n ? cudaSuccess : failed(cudaErrorInvalidValue, "cudaGraphDestroyNode");
}

// --- Graphs that can be launched ---

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *out, cudaGraph_t handle, unsigned long long flags)
{
    if (!out)
        return cudart_null(__func__);
    cudart_lock();
    const struct graph *g = graph_of(handle);
    struct exec *x = g ? calloc(1, sizeof *x) : NULL;
    *out = NULL;
    if (x && (x->graph = ordered_copy(g)))
        *out = handle_new(HANDLE_EXEC, x);
    else
        free(x);
    cudart_unlock();
    return *out ? cudaSuccess
                : cudart_failed(cudaErrorInvalidValue, "cudaGraphInstantiate",
                                g ? "its nodes wait for each other in a circle" : "it is no graph, or was destroyed");
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *out, cudaGraph_t g, unsigned long long flags)
{
    return cudaGraphInstantiate(out, g, flags);
}

cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t *out, cudaGraph_t g, cudaGraphInstantiateParams *p)
{
    return cudaGraphInstantiate(out, g, p->flags);
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t handle)
{
    cudart_lock();
    struct exec *x = handle_object(handle, HANDLE_EXEC);
    handle_drop(handle);
    if (x)
        free_graph(x->graph);
    free(x);
    cudart_unlock();
    return x ? cudaSuccess : failed(cudaErrorInvalidValue, "cudaGraphExecDestroy");
}

cudaError_t graph_run(cudaGraph_t handle, const char *function)
{
    const struct graph *g = graph_of(handle);
    cudaError_t e = g ? cudaSuccess : failed(cudaErrorInvalidValue, function);
    for (size_t i = 0; !e && i < g->nodes.n; i++) {
        const struct node *n = g->nodes.all[i];
        e = n->off ? cudaSuccess : n->work.type->run(&n->work);
    }
    return e;
}

static cudaError_t run_graph(const struct work *w)
{
    return graph_run(w->graph, w->function);
}

static bool keep_graph(struct work *w)
{
    return (w->graph = graph_copy(w->graph)) != NULL;
}

static void drop_graph(struct work *w)
{
    cudaGraphDestroy(w->graph);
}

void graph_begin(cudaGraph_t handle)
{
    const struct graph *g = graph_of(handle);
    for (size_t i = 0; g && i < g->nodes.n; i++)
        if (g->nodes.all[i]->work.type->begin)
            g->nodes.all[i]->work.type->begin(&g->nodes.all[i]->work);
}

static void begin_graph(const struct work *w)
{
    graph_begin(w->graph);
}

static cudaError_t run_nothing(const struct work *w)
{
    return cudaSuccess;
}

const struct work_type work_graph = { cudaGraphNodeTypeGraph, run_graph, keep_graph, drop_graph, begin_graph };
const struct work_type work_nothing = { .node = cudaGraphNodeTypeEmpty, .run = run_nothing };

cudaError_t cudaGraphLaunch(cudaGraphExec_t handle, cudaStream_t s)
{
    const struct exec *x = handle_object(handle, HANDLE_EXEC);
    if (!x)
        return failed(cudaErrorInvalidValue, "cudaGraphLaunch");
    graph_begin(x->graph->handle);
    const struct work w = { .type = &work_graph, .function = "cudaGraphLaunch", .graph = x->graph->handle };
    return work_submit(s, &w);
}

cudaError_t cudaGraphUpload(cudaGraphExec_t handle, cudaStream_t s)
{
    return handle_object(handle, HANDLE_EXEC) ? cudaSuccess : failed(cudaErrorInvalidValue, "cudaGraphUpload");
}

struct node *graph_exec_node(cudaGraphExec_t handle, cudaGraphNode_t node)
{
    const struct exec *x = handle_object(handle, HANDLE_EXEC);
    const struct node *n = node_of(node);
    return x && n ? graph_copy_of(x->graph, n) : NULL;
}

// Whether the other graph has the same work in the same places; then it takes the place of the old one.
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t handle, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *info)
{
    cudart_lock();
    struct exec *x = handle_object(handle, HANDLE_EXEC);
    const struct graph *g = graph_of(graph);
    struct graph *copy = x && g ? ordered_copy(g) : NULL;
    bool same = copy && copy->nodes.n == x->graph->nodes.n;
    for (size_t i = 0; same && i < copy->nodes.n; i++)
        same = copy->nodes.all[i]->work.type == x->graph->nodes.all[i]->work.type;
    if (info)
        *info = (cudaGraphExecUpdateResultInfo){ .result = same ? cudaGraphExecUpdateSuccess
                                                                : cudaGraphExecUpdateErrorTopologyChanged };
    if (same) {
        free_graph(x->graph);
        x->graph = copy;
    } else if (copy) {
        free_graph(copy);
    }
    cudart_unlock();
    return same ? cudaSuccess : cudart_failed(cudaErrorGraphExecUpdateFailure, "cudaGraphExecUpdate", "other nodes");
}

// --- Capture ---

static cudaError_t begin_capture(cudaStream_t stream, struct graph *g, const cudaGraphNode_t *after, size_t n,
                                 enum cudaStreamCaptureMode mode)
{
    struct stream *s = stream_of(stream);
    if (!stream || !s || s->graph)
        return cudart_failed(s ? cudaErrorStreamCaptureUnsupported : cudaErrorInvalidResourceHandle,
                             "cudaStreamBeginCapture", "it is the default stream, none, or one that is being captured");
    s->graph = g;
    s->begins = true;
    s->last.n = 0;
    stream_mode(s, mode);
    bool ok = g;
    for (size_t i = 0; ok && i < n; i++)
        ok = node_of(after[i]) && nodes_add(&s->last, node_of(after[i]));
    return ok ? cudaSuccess : failed(cudaErrorInvalidValue, "cudaStreamBeginCapture");
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    cudart_lock();
    struct graph *g = new_graph();
    const cudaError_t e = begin_capture(stream, g, NULL, 0, mode);
    if (e && g)
        free_graph(g);
    cudart_unlock();
    return e;
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *after,
                                          const cudaGraphEdgeData *edges, size_t n, enum cudaStreamCaptureMode mode)
{
    cudart_lock();
    const cudaError_t e = begin_capture(stream, graph_of(graph), after, n, mode);
    cudart_unlock();
    return e;
}

// What is wrong with the capture that ends; cudaSuccess: nothing.
static cudaError_t judge_capture(const struct stream *s, const char *function)
{
    if (!s || !s->graph)
        return cudart_failed(cudaErrorIllegalState, function, "no capture began in this stream");
    if (!s->begins)
        return cudart_failed(cudaErrorStreamCaptureUnmatched, function, "the capture began in another stream");
    if (s->broken)
        return cudart_failed(cudaErrorStreamCaptureInvalidated, function,
                             "an error before, or a wait, has ended the capture");
    if (!stream_joined(s))
        return cudart_failed(cudaErrorStreamCaptureUnjoined, function,
                             "a stream that the capture came to has work that this one does not wait for");
    return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *out)
{
    cudart_lock();
    const struct stream *s = stream_of(stream);
    const struct graph *g = s ? s->graph : NULL;
    const cudaError_t e = judge_capture(s, __func__);
    if (out)  // else the program has the graph already
        *out = e ? NULL : g->handle;
    if (g)
        stream_end_capture(g);
    cudart_unlock();
    return e;
}

// What is captured next depends on these, and on what it did before if they are only added.
cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *after,
                                                const cudaGraphEdgeData *edges, size_t n, unsigned flags)
{
    cudart_lock();
    struct stream *s = stream_of(stream);
    bool ok = s && s->graph;
    if (ok && flags == cudaStreamSetCaptureDependencies)
        s->last.n = 0;
    for (size_t i = 0; ok && i < n; i++)
        ok = node_of(after[i]) && nodes_add(&s->last, node_of(after[i]));
    cudart_unlock();
    return ok ? cudaSuccess
              : cudart_failed(cudaErrorIllegalState, "cudaStreamUpdateCaptureDependencies",
                              "the stream is not being captured, or one of these is no node");
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id,
                                     cudaGraph_t *graph, const cudaGraphNode_t **after, const cudaGraphEdgeData **edges,
                                     size_t *n)
{
    static _Thread_local cudaGraphNode_t last[64];
    cudart_lock();
    const struct stream *s = stream_of(stream);
    const size_t m = s && s->graph ? s->last.n < 64 ? s->last.n : 64 : 0;
    *status = s && s->graph ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
    for (size_t i = 0; i < m; i++)
        last[i] = s->last.all[i]->handle;
    if (id)
        *id = s ? s->id : 0;
    if (graph)
        *graph = s && s->graph ? s->graph->handle : NULL;
    if (after)
        *after = last;
    if (edges)
        *edges = NULL;
    if (n)
        *n = m;
    cudart_unlock();
    return s ? cudaSuccess : failed(cudaErrorInvalidResourceHandle, "cudaStreamGetCaptureInfo");
}
