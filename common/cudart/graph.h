// Graphs that can be launched.
#pragma once

#include "node.h"

// The node of it that is a copy of node; NULL: there is none.
struct node *graph_exec_node(cudaGraphExec_t exec, cudaGraphNode_t node);

cudaGraph_t graph_copy(cudaGraph_t graph);  // NULL: it is none, memory runs out, or its nodes wait in a circle
cudaError_t graph_run(cudaGraph_t graph, const char *function);

// What the node that p describes does. False if it cannot be.
bool graph_choice_of(struct cudaConditionalNodeParams *p, struct work *w);
void graph_begin(cudaGraph_t graph);  // a launch of it begins
