// What a stream is asked to do: a launch, a copy, a set, a call of the host. It is done at once, or becomes a node of a
// graph if the stream is being captured (submit.h).
#pragma once

#include "cudart.h"

struct work;

struct work_type {
    enum cudaGraphNodeType node;
    cudaError_t (*run)(const struct work *w);
    // A node keeps what it does: the values of a kernel's arguments, and a graph of its own. False if memory runs out,
    // or if there is no such kernel or graph. NULL: there is nothing to keep, or to drop.
    bool (*keep)(struct work *w);
    void (*drop)(struct work *w);
    void (*begin)(
        const struct work *w);  // a launch of the graph that it is a node of begins. NULL: nothing is to be done
};

struct work_kernel {
    const void *host;
    dim3 grid, block;
    unsigned cluster[3];  // 0: none
    bool cooperative;
    size_t shared;
    void **arguments;
    const char *part;  // of what it is a part (cudart_note); NULL: of nothing
};

struct work {
    const struct work_type *type;
    const char *function;  // of the API, for messages
    union {
        struct work_kernel kernel;
        struct cudaMemcpy3DParms copy;  // of bytes
        struct cudaMemsetParams set;
        struct cudaHostNodeParams call;
        cudaGraph_t graph;
        struct {
            cudaGraphConditionalHandle handle;
            enum cudaGraphConditionalNodeType type;
            unsigned n;
            cudaGraph_t *bodies;  // n of them
        } choice;
        cudaEvent_t event;
        struct {
            void *p;
            size_t bytes;
        } memory;
    };
};

// launch.c, copy.c, stream.c, graph.c, graph_choice.c and pool.c have them.
extern const struct work_type work_kernel, work_copy, work_set, work_call, work_record, work_graph, work_choice,
    work_nothing, work_alloc, work_free;
