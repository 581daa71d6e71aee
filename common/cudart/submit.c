// See submit.h.
#include "submit.h"

#include <stdlib.h>

#include "handle.h"

static struct stream *streams;

struct stream *stream_new(cudaStream_t *handle)
{
    static unsigned long long number = 1;
    struct stream *s = calloc(1, sizeof *s);
    *handle = handle_new(HANDLE_STREAM, s);
    if (!*handle) {
        free(s);
        return NULL;
    }
    *s = (struct stream){ .id = number++, .next = streams };
    return streams = s;
}

void stream_free(struct stream *s, cudaStream_t handle)
{
    struct stream **p = &streams;
    while (*p != s)
        p = &(*p)->next;
    *p = s->next;
    handle_drop(handle);
    free(s->last.all);
    free(s);
}

struct stream *stream_of(cudaStream_t handle)
{
    static struct stream always;  // the default stream, also that of each thread
    const bool is_default = !handle || handle == cudaStreamLegacy || handle == cudaStreamPerThread;
    return is_default ? &always : handle_object(handle, HANDLE_STREAM);
}

struct event *event_of(cudaEvent_t handle)
{
    return handle_object(handle, HANDLE_EVENT);
}

void stream_end_capture(const struct graph *g)
{
    for (struct stream *s = streams; s; s = s->next)
        if (s->graph == g) {
            s->graph = NULL;
            s->last.n = 0;
            s->begins = s->broken = false;
        }
}

bool stream_break_captures(void)
{
    bool any = false;
    for (struct stream *s = streams; s; s = s->next)
        if (s->graph)
            any = s->broken = true;
    return any;
}

static cudaError_t capture(struct stream *s, const struct work *w)
{
    struct node *n = graph_add(s->graph, w, &s->last);
    s->last.n = 0;
    return n && nodes_add(&s->last, n) ? cudaSuccess
                                       : cudart_failed(cudaErrorInvalidValue, w->function, "it cannot be captured");
}

cudaError_t work_submit(cudaStream_t handle, const struct work *w)
{
    cudart_lock();
    struct stream *s = stream_of(handle);
    const bool captured = s && s->graph;
    cudaError_t e = cudaSuccess;
    if (!s)
        e = cudart_failed(cudaErrorInvalidResourceHandle, w->function, "it is no stream, or was destroyed");
    else if (captured)
        e = capture(s, w);
    cudart_unlock();
    return e || captured ? e : w->type->run(w);
}
