// Nodes of graphs that decide, while the graph runs, what comes next: if, while and switch. A condition is four bytes
// of device memory, and what a program holds for it is their address: there cudaGraphSetConditional of a kernel writes
// (fatbin.c has its PTX).
#include <stdlib.h>

#include "graph.h"

struct condition {
    uint64_t address;
    unsigned value;  // at the begin of each launch of the graph, if it
    bool resets;
    struct condition *next;
};

static struct condition *conditions;

cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle *out, cudaGraph_t graph, unsigned value,
                                             unsigned flags)
{
    const char *const name = "cudaGraphConditionalHandleCreate";
    void *p = NULL;
    struct condition *c = graph_of(graph) ? calloc(1, sizeof *c) : NULL;
    *out = 0;
    cudaError_t e = c ? cudart_allocate(&p, name, sizeof value, cudaMemoryTypeDevice)
                      : cudart_failed(cudaErrorInvalidValue, name, "it is no graph, or was destroyed");
    if (!e)
        e = cudaMemcpyAsync(p, &value, sizeof value, cudaMemcpyHostToDevice, cudaStreamPerThread);
    if (e) {
        free(c);
        return e;
    }
    *c = (struct condition){ (uint64_t)p, value, flags & cudaGraphCondAssignDefault, conditions };
    conditions = c;
    *out = (cudaGraphConditionalHandle)(uintptr_t)p;
    return cudaSuccess;
}

static void reset(cudaGraphConditionalHandle handle)
{
    char error[DEV_ERROR_MAX];
    const struct condition *c = conditions;
    while (c && c->address != handle)
        c = c->next;
    if (c && c->resets)
        simt_write(cudart_gpu(), c->address, &c->value, sizeof c->value, error);
}

static void begin_choice(const struct work *w)
{
    reset(w->choice.handle);
    for (unsigned i = 0; i < w->choice.n; i++)
        graph_begin(w->choice.bodies[i]);
}

// --- What such a node does ---

static cudaError_t read_condition(const struct work *w, unsigned *value)
{
    char error[DEV_ERROR_MAX];
    return simt_read(cudart_gpu(), value, w->choice.handle, sizeof *value, error)
               ? cudaSuccess
               : cudart_failed(cudaErrorInvalidValue, w->function, "its condition was not created");
}

static cudaError_t run_choice(const struct work *w)
{
    const enum cudaGraphConditionalNodeType type = w->choice.type;
    cudaError_t e;
    unsigned value;
    while (!(e = read_condition(w, &value)) && !(e = cudart_wait())) {
        const unsigned chosen = type == cudaGraphCondTypeSwitch ? value : !value;
        if (chosen < w->choice.n)
            e = graph_run(w->choice.bodies[chosen], w->function);
        if (e || type != cudaGraphCondTypeWhile || !value)
            break;
    }
    return e;
}

// Copies of the bodies, or at first new ones.
static bool keep_choice(struct work *w)
{
    const cudaGraph_t *from = w->choice.bodies;
    cudaGraph_t *to = calloc(w->choice.n, sizeof *to);
    bool ok = to;
    for (unsigned i = 0; ok && i < w->choice.n; i++) {
        if (from)
            to[i] = graph_copy(from[i]);
        else
            cudaGraphCreate(&to[i], 0);
        ok = to[i];
    }
    w->choice.bodies = to;
    return ok;
}

static void drop_choice(struct work *w)
{
    for (unsigned i = 0; i < w->choice.n; i++)
        cudaGraphDestroy(w->choice.bodies[i]);
    free(w->choice.bodies);
}

const struct work_type work_choice = { cudaGraphNodeTypeConditional, run_choice, keep_choice, drop_choice,
                                       begin_choice };

bool graph_choice_of(struct cudaConditionalNodeParams *p, struct work *w)
{
    const unsigned most = p->type == cudaGraphCondTypeIf ? 2 : p->type == cudaGraphCondTypeWhile ? 1 : ~0u;
    *w = (struct work){ .type = &work_choice, .function = "cudaGraphLaunch" };
    w->choice.handle = p->handle;
    w->choice.type = p->type;
    w->choice.n = p->size;
    return p->size && p->size <= most;
}
