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

// What a captured node comes after was captured before it.
static void reach(const struct graph *g, const struct nodes *last)
{
    for (size_t i = 0; i < g->nodes.n; i++)
        g->nodes.all[i]->reached = nodes_have(last, g->nodes.all[i]);
    for (size_t i = g->nodes.n; i-- > 0;)
        for (size_t k = 0; g->nodes.all[i]->reached && k < g->nodes.all[i]->after.n; k++)
            g->nodes.all[i]->after.all[k]->reached = true;
}

bool stream_joined(const struct stream *first)
{
    reach(first->graph, &first->last);
    for (const struct stream *s = streams; s; s = s->next)
        for (size_t i = 0; s->graph == first->graph && i < s->last.n; i++)
            if (!s->last.all[i]->reached)
                return false;
    return true;
}

// --- What must not be done now ---

// Of this thread, whose address tells it from others.
static _Thread_local enum cudaStreamCaptureMode thread_mode = cudaStreamCaptureModeGlobal;
static _Thread_local bool in_host_call;

void stream_mode(struct stream *s, enum cudaStreamCaptureMode mode)
{
    s->mode = mode;
    s->thread = &thread_mode;
}

cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
    if (!mode)
        return cudart_null(__func__);
    const enum cudaStreamCaptureMode before = thread_mode;
    thread_mode = *mode;
    *mode = before;
    return cudaSuccess;
}

void work_call_host(cudaHostFn_t f, void *user)
{
    const bool before = in_host_call;
    in_host_call = true;
    f(user);
    in_host_call = before;
}

static cudaError_t in_call(const char *function)
{
    return cudart_failed(cudaErrorNotPermitted, function, "a stream's host function must not call CUDA");
}

// Does a capture forbid this thread what is unsafe in one? See cudaThreadExchangeStreamCaptureMode.
static bool forbids(const struct stream *s)
{
    const bool own = s->thread == &thread_mode;
    return s->graph && s->begins && s->mode != cudaStreamCaptureModeRelaxed &&
           thread_mode != cudaStreamCaptureModeRelaxed &&
           (own || (s->mode == cudaStreamCaptureModeGlobal && thread_mode == cudaStreamCaptureModeGlobal));
}

cudaError_t cudart_unsafe(const char *function)
{
    cudart_lock();
    const struct stream *s = streams;
    while (s && !forbids(s))
        s = s->next;
    if (s)
        stream_break_captures();
    cudart_unlock();
    return s              ? cudart_failed(cudaErrorStreamCaptureUnsupported, function,
                                          "a stream is being captured, and this is no part of a graph")
           : in_host_call ? in_call(function)
                          : cudaSuccess;
}

// Work of the legacy stream waits for that of all streams but the non-blocking ones.
static bool waits_for_capture(cudaStream_t handle)
{
    const struct stream *s = !handle || handle == cudaStreamLegacy ? streams : NULL;
    while (s && (!s->graph || s->flags & cudaStreamNonBlocking))
        s = s->next;
    return s && stream_break_captures();
}

// --- Work ---

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
    else if (waits_for_capture(handle))
        e = cudart_failed(cudaErrorStreamCaptureImplicit, w->function,
                          "the default stream would have to wait for a stream that is being captured");
    else if (captured)
        e = capture(s, w);
    else
        e = in_host_call ? in_call(w->function) : cudaSuccess;
    cudart_unlock();
    return e || captured ? e : w->type->run(w);
}
