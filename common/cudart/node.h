// Graphs as data: work, and what of it comes before what.
#pragma once

#include "work.h"

struct nodes {
    struct node **all;
    size_t n;
};

struct node {
    cudaGraphNode_t handle;
    struct graph *graph;
    struct work work;
    bool off;            // in a graph that can be launched: cudaGraphNodeSetEnabled
    struct node *of;     // the one that this is a copy of
    struct nodes after;  // these come first
    bool reached;        // for stream_joined
};

struct graph {
    cudaGraph_t handle;
    struct nodes nodes;  // in the order in which they were made
};

struct graph *graph_of(cudaGraph_t handle);  // NULL: it is none
struct node *node_of(cudaGraphNode_t handle);

bool nodes_add(struct nodes *to, struct node *n);
bool nodes_have(const struct nodes *in, const struct node *n);
void nodes_remove(struct nodes *from, const struct node *n);

// A new node at the end, which keeps the work. NULL if that fails.
struct node *graph_add(struct graph *g, const struct work *w, const struct nodes *after);
// The same with what a program holds; NULL also if there is no such graph or node.
struct node *graph_add_after(cudaGraph_t graph, const struct work *w, const cudaGraphNode_t *after, size_t n);
// Gives the node other work of the same type. False if it is of another, or cannot be kept.
bool node_change(struct node *n, const struct work *w);
void node_free(struct node *n);
struct node *graph_copy_of(const struct graph *g, const struct node *of);  // the node that is its copy; NULL: none
