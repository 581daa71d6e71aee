// The driver's API: streams, events and graphs. Their handles are the runtime's.
#include <stdlib.h>
#include <string.h>

#include "context.h"
#include "driver.h"

FACE(cuStreamCreate, (CUstream * s, unsigned flags), cudaStreamCreateWithFlags(s, flags))
FACE(cuStreamCreateWithPriority, (CUstream * s, unsigned flags, int p), cudaStreamCreateWithPriority(s, flags, p))
FACE(cuStreamDestroy, (CUstream s), cudaStreamDestroy(s))
FACE(cuStreamSynchronize, (CUstream s), cudaStreamSynchronize(s))
FACE(cuStreamQuery, (CUstream s), cudaStreamQuery(s))
FACE(cuStreamWaitEvent, (CUstream s, CUevent e, unsigned flags), cudaStreamWaitEvent(s, e, flags))
FACE(cuStreamGetFlags, (CUstream s, unsigned *flags), cudaStreamGetFlags(s, flags))
FACE(cuStreamGetPriority, (CUstream s, int *p), cudaStreamGetPriority(s, p))
FACE(cuStreamGetId, (CUstream s, unsigned long long *id), cudaStreamGetId(s, id))
FACE(cuStreamGetDevice, (CUstream s, CUdevice *d), cudaStreamGetDevice(s, d))
FACE(cuStreamGetCtx, (CUstream s, CUcontext *c), (*c = context_current(), cudaSuccess))
FACE(cuStreamIsCapturing, (CUstream s, CUstreamCaptureStatus *is),
     cudaStreamIsCapturing(s, (enum cudaStreamCaptureStatus *)is))
FACE(cuStreamCopyAttributes, (CUstream to, CUstream from), cudaStreamCopyAttributes(to, from))
FACE(cuStreamGetAttribute, (CUstream s, CUstreamAttrID a, CUstreamAttrValue *v),
     cudaStreamGetAttribute(s, (cudaStreamAttrID)a, (cudaStreamAttrValue *)v))
FACE(cuStreamSetAttribute, (CUstream s, CUstreamAttrID a, const CUstreamAttrValue *v),
     cudaStreamSetAttribute(s, (cudaStreamAttrID)a, (const cudaStreamAttrValue *)v))
FACE(cuLaunchHostFunc, (CUstream s, CUhostFn f, void *user), cudaLaunchHostFunc(s, f, user))

static cudaError_t call_back(CUstream s, CUstreamCallback f, void *user)
{
    f(s, driver_leave(cudart_wait()), user);
    return cudaSuccess;
}

FACE(cuStreamAddCallback, (CUstream s, CUstreamCallback f, void *user, unsigned flags), call_back(s, f, user))

// --- Events ---

FACE(cuEventCreate, (CUevent * e, unsigned flags), cudaEventCreateWithFlags(e, flags))
FACE(cuEventDestroy, (CUevent e), cudaEventDestroy(e))
FACE(cuEventRecord, (CUevent e, CUstream s), cudaEventRecord(e, s))
FACE(cuEventRecordWithFlags, (CUevent e, CUstream s, unsigned flags), cudaEventRecordWithFlags(e, s, flags))
FACE(cuEventSynchronize, (CUevent e), cudaEventSynchronize(e))
FACE(cuEventQuery, (CUevent e), cudaEventQuery(e))
FACE(cuEventElapsedTime, (float *ms, CUevent from, CUevent to), cudaEventElapsedTime(ms, from, to))

// --- Graphs ---

FACE(cuStreamBeginCapture, (CUstream s, CUstreamCaptureMode mode),
     cudaStreamBeginCapture(s, (enum cudaStreamCaptureMode)mode))
FACE(cuStreamEndCapture, (CUstream s, CUgraph *graph), cudaStreamEndCapture(s, graph))
FACE(cuThreadExchangeStreamCaptureMode, (CUstreamCaptureMode * mode),
     cudaThreadExchangeStreamCaptureMode((enum cudaStreamCaptureMode *)mode))
FACE(cuGraphCreate, (CUgraph * graph, unsigned flags), cudaGraphCreate(graph, flags))
FACE(cuGraphDestroy, (CUgraph graph), cudaGraphDestroy(graph))
FACE(cuGraphInstantiate, (CUgraphExec * exec, CUgraph graph, unsigned long long flags),
     cudaGraphInstantiate(exec, graph, flags))
FACE(cuGraphUpload, (CUgraphExec exec, CUstream s), cudaGraphUpload(exec, s))
FACE(cuGraphLaunch, (CUgraphExec exec, CUstream s), cudaGraphLaunch(exec, s))
FACE(cuGraphExecDestroy, (CUgraphExec exec), cudaGraphExecDestroy(exec))
FACE(cuGraphExecUpdate, (CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *r),
     cudaGraphExecUpdate(exec, graph, (cudaGraphExecUpdateResultInfo *)r))
FACE(cuGraphGetNodes, (CUgraph graph, CUgraphNode *nodes, size_t *n), cudaGraphGetNodes(graph, nodes, n))
FACE(cuGraphGetRootNodes, (CUgraph graph, CUgraphNode *nodes, size_t *n), cudaGraphGetRootNodes(graph, nodes, n))
FACE(cuGraphDestroyNode, (CUgraphNode node), cudaGraphDestroyNode(node))
FACE(cuGraphAddEmptyNode, (CUgraphNode * out, CUgraph graph, const CUgraphNode *after, size_t n),
     cudaGraphAddEmptyNode(out, graph, after, n))
FACE(cuGraphAddHostNode,
     (CUgraphNode * out, CUgraph graph, const CUgraphNode *after, size_t n, const CUDA_HOST_NODE_PARAMS *p),
     cudaGraphAddHostNode(out, graph, after, n, &(struct cudaHostNodeParams){ p->fn, p->userData }))
FACE(cuGraphAddChildGraphNode, (CUgraphNode * out, CUgraph graph, const CUgraphNode *after, size_t n, CUgraph child),
     cudaGraphAddChildGraphNode(out, graph, after, n, child))
FACE(cuGraphAddMemsetNode,
     (CUgraphNode * out, CUgraph graph, const CUgraphNode *after, size_t n, const CUDA_MEMSET_NODE_PARAMS *p,
      CUcontext c),
     cudaGraphAddMemsetNode(out, graph, after, n,
                            &(struct cudaMemsetParams){ AT(p->dst), p->pitch, p->value, p->elementSize, p->width,
                                                        p->height }))
FACE(cuGraphAddKernelNode,
     (CUgraphNode * out, CUgraph graph, const CUgraphNode *after, size_t n, const CUDA_KERNEL_NODE_PARAMS *p),
     cudaGraphAddKernelNode(out, graph, after, n,
                            &(struct cudaKernelNodeParams){ .func = p->func ? (void *)p->func : (void *)p->kern,
                                                            .gridDim = { p->gridDimX, p->gridDimY, p->gridDimZ },
                                                            .blockDim = { p->blockDimX, p->blockDimY, p->blockDimZ },
                                                            .sharedMemBytes = p->sharedMemBytes,
                                                            .kernelParams = p->kernelParams,
                                                            .extra = p->extra }))

// A node of any type but a copy is described as the runtime describes it.
static cudaError_t add_node(CUgraphNode *out, CUgraph graph, const CUgraphNode *after, size_t n, CUgraphNodeParams *p)
{
    struct cudaGraphNodeParams q;
    _Static_assert(sizeof q == sizeof *p, "nodes are described by as many bytes in both");
    if (p->type == CU_GRAPH_NODE_TYPE_MEMCPY)
        return cudart_failed(cudaErrorNotSupported, "cuGraphAddNode", "copies are not there yet");
    memcpy(&q, p, sizeof q);
    if (p->type == CU_GRAPH_NODE_TYPE_KERNEL && !p->kernel.func)
        q.kernel.func = p->kernel.kern;
    const cudaError_t e = cudaGraphAddNode(out, graph, after, NULL, n, &q);
    if (p->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
        p->conditional.phGraph_out = q.conditional.phGraph_out;
    return e;
}

FACE(cuGraphAddNode_v2,
     (CUgraphNode * out, CUgraph graph, const CUgraphNode *after, const CUgraphEdgeData *edges, size_t n,
      CUgraphNodeParams *p),
     add_node(out, graph, after, n, p))
FACE(cuGraphConditionalHandleCreate,
     (CUgraphConditionalHandle * out, CUgraph graph, CUcontext c, unsigned value, unsigned flags),
     cudaGraphConditionalHandleCreate((cudaGraphConditionalHandle *)out, graph, value, flags))
FACE(cuGraphClone, (CUgraph * out, CUgraph graph), cudaGraphClone(out, graph))
FACE(cuGraphNodeGetType, (CUgraphNode node, CUgraphNodeType *type),
     cudaGraphNodeGetType(node, (enum cudaGraphNodeType *)type))
