// Graphs that can be launched.
#ifndef CUDART_GRAPH_H
#define CUDART_GRAPH_H

#include "node.h"

// The node of it that is a copy of node; NULL: there is none.
struct node *graph_exec_node(cudaGraphExec_t exec, cudaGraphNode_t node);

#endif
