// See node.h.
#include "node.h"

#include <stdlib.h>

#include "handle.h"

struct graph *graph_of(cudaGraph_t handle)
{
    return handle_object(handle, HANDLE_GRAPH);
}

struct node *node_of(cudaGraphNode_t handle)
{
    return handle_object(handle, HANDLE_NODE);
}

bool nodes_add(struct nodes *to, struct node *n)
{
    struct node **more = realloc(to->all, (to->n + 1) * sizeof *more);
    if (!more)
        return false;
    more[to->n++] = n;
    to->all = more;
    return true;
}

bool nodes_have(const struct nodes *in, const struct node *n)
{
    for (size_t i = 0; i < in->n; i++)
        if (in->all[i] == n)
            return true;
    return false;
}

void nodes_remove(struct nodes *from, const struct node *n)
{
    size_t kept = 0;
    for (size_t i = 0; i < from->n; i++)
        if (from->all[i] != n)
            from->all[kept++] = from->all[i];
    from->n = kept;
}

static bool keep(struct work *w)
{
    return !w->type->keep || w->type->keep(w);
}

static void drop(struct work *w)
{
    if (w->type->drop)
        w->type->drop(w);
}

void node_free(struct node *n)
{
    handle_drop(n->handle);
    drop(&n->work);
    free(n->after.all);
    free(n);
}

struct node *graph_add(struct graph *g, const struct work *w, const struct nodes *after)
{
    struct node *n = calloc(1, sizeof *n);
    if (!n)
        return NULL;
    *n = (struct node){ .graph = g, .work = *w };
    if (!keep(&n->work)) {
        free(n);
        return NULL;
    }
    bool ok = (n->handle = handle_new(HANDLE_NODE, n)) != NULL;
    for (size_t i = 0; ok && after && i < after->n; i++)
        ok = nodes_add(&n->after, after->all[i]);
    if (ok && nodes_add(&g->nodes, n))
        return n;
    node_free(n);
    return NULL;
}

struct node *graph_add_after(cudaGraph_t graph, const struct work *w, const cudaGraphNode_t *after, size_t n)
{
    struct nodes before = { 0 };
    struct graph *g = graph_of(graph);
    bool ok = g;
    for (size_t i = 0; ok && i < n; i++)
        ok = node_of(after[i]) && nodes_add(&before, node_of(after[i]));
    struct node *made = ok ? graph_add(g, w, &before) : NULL;
    free(before.all);
    return made;
}

bool node_change(struct node *n, const struct work *w)
{
    struct work kept = *w;
    if (n->work.type != w->type || !keep(&kept))
        return false;
    drop(&n->work);
    n->work = kept;
    return true;
}

struct node *graph_copy_of(const struct graph *g, const struct node *of)
{
    for (size_t i = 0; i < g->nodes.n; i++)
        if (g->nodes.all[i]->of == of)
            return g->nodes.all[i];
    return NULL;
}
