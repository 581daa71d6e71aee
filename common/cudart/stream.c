// Streams and events. All is done in the order in which the program asks for it, and has ended when the call returns: a
// stream is a name, and an event a moment of cudart_time. A stream that is captured notes its work in a graph.
#include <stdlib.h>

#include "handle.h"
#include "submit.h"

// Calls that have nothing to do here.
#define NOTHING_TO_DO(name, ...)                                                                                       \
    cudaError_t name(__VA_ARGS__)                                                                                      \
    {                                                                                                                  \
        return cudaSuccess;                                                                                            \
    }

NOTHING_TO_DO(cudaThreadExit, void)
NOTHING_TO_DO(cudaProfilerStart, void)
NOTHING_TO_DO(cudaProfilerStop, void)
NOTHING_TO_DO(cudaCtxResetPersistingL2Cache, void)
NOTHING_TO_DO(cudaSetDeviceFlags, unsigned f)
NOTHING_TO_DO(cudaInitDevice, int d, unsigned f, unsigned g)
NOTHING_TO_DO(cudaDeviceSetCacheConfig, enum cudaFuncCache c)
NOTHING_TO_DO(cudaDeviceSetSharedMemConfig, enum cudaSharedMemConfig c)
NOTHING_TO_DO(cudaFuncSetCacheConfig, const void *f, enum cudaFuncCache c)
NOTHING_TO_DO(cudaFuncSetSharedMemConfig, const void *f, enum cudaSharedMemConfig c)
NOTHING_TO_DO(cudaMemAdvise, const void *p, size_t n, enum cudaMemoryAdvise a, struct cudaMemLocation l)
NOTHING_TO_DO(cudaMemPrefetchAsync, const void *p, size_t n, struct cudaMemLocation l, unsigned f, cudaStream_t s)
NOTHING_TO_DO(cudaStreamAttachMemAsync, cudaStream_t s, void *p, size_t n, unsigned f)
NOTHING_TO_DO(cudaStreamCopyAttributes, cudaStream_t to, cudaStream_t from)
NOTHING_TO_DO(cudaStreamSetAttribute, cudaStream_t s, cudaStreamAttrID a, const cudaStreamAttrValue *v)

// --- Streams ---

enum {
    GREATEST_PRIORITY = -5
};  // as on cards from Volta on; the least is 0. All work is done in order, so none counts

static cudaError_t no_stream(const char *function)
{
    return cudart_failed(cudaErrorInvalidResourceHandle, function, "it is no stream, or was destroyed");
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *out, unsigned flags, int priority)
{
    if (!out)
        return cudart_null(__func__);
    if (flags & ~(unsigned)cudaStreamNonBlocking)
        return cudart_flags("cudaStreamCreate", flags);
    cudart_lock();
    struct stream *s = stream_new(out);
    if (s) {
        s->flags = flags;
        s->priority = priority > 0 ? 0 : priority < GREATEST_PRIORITY ? GREATEST_PRIORITY : priority;
    }
    cudart_unlock();
    return s ? cudaSuccess : cudart_failed(cudaErrorMemoryAllocation, "cudaStreamCreate", "out of memory");
}

cudaError_t cudaStreamCreate(cudaStream_t *s)
{
    return cudaStreamCreateWithPriority(s, cudaStreamDefault, 0);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned flags)
{
    return cudaStreamCreateWithPriority(s, flags, 0);
}

cudaError_t cudaStreamDestroy(cudaStream_t handle)
{
    cudart_print();
    cudart_lock();
    struct stream *s = handle_object(handle, HANDLE_STREAM);
    if (s)
        stream_free(s, handle);
    cudart_unlock();
    return s ? cudaSuccess : no_stream("cudaStreamDestroy");
}

// A question about a stream: *out = value, where s is the stream.
#define ASK(name, type, value)                                                                                         \
    cudaError_t name(cudaStream_t handle, type *out)                                                                   \
    {                                                                                                                  \
        cudart_lock();                                                                                                 \
        const struct stream *s = stream_of(handle);                                                                    \
        if (s)                                                                                                         \
            *out = value;                                                                                              \
        cudart_unlock();                                                                                               \
        return s ? cudaSuccess : no_stream(#name);                                                                     \
    }

ASK(cudaStreamGetFlags, unsigned, s->flags)
ASK(cudaStreamGetPriority, int, s->priority)
ASK(cudaStreamGetId, unsigned long long, s->id)
ASK(cudaStreamGetDevice, int, 0)
ASK(cudaStreamIsCapturing, enum cudaStreamCaptureStatus,
    s->graph ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone)

cudaError_t cudaStreamGetAttribute(cudaStream_t s, cudaStreamAttrID a, cudaStreamAttrValue *v)
{
    *v = (cudaStreamAttrValue){ 0 };
    return cudaSuccess;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    *least = 0;
    *greatest = GREATEST_PRIORITY;
    return cudaSuccess;
}

static cudaError_t call(const struct work *w)
{
    work_call_host(w->call.fn, w->call.userData);
    return cudaSuccess;
}

const struct work_type work_call = { .node = cudaGraphNodeTypeHost, .run = call };

cudaError_t cudaLaunchHostFunc(cudaStream_t s, cudaHostFn_t f, void *user)
{
    if (!f)
        return cudart_null(__func__);
    cudart_print();
    return work_submit(s, &(struct work){ .type = &work_call, .function = "cudaLaunchHostFunc", .call = { f, user } });
}

cudaError_t cudaStreamAddCallback(cudaStream_t s, cudaStreamCallback_t f, void *user, unsigned flags)
{
    cudart_print();
    f(s, cudart_wait(), user);
    return cudaSuccess;
}

// --- Events ---

static cudaError_t no_event(const char *function)
{
    return cudart_failed(cudaErrorInvalidResourceHandle, function, "it is no event, or was destroyed");
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *out, unsigned flags)
{
    const unsigned known = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
    if (!out)
        return cudart_null(__func__);
    if (flags & ~known)
        return cudart_flags("cudaEventCreate", flags);
    cudart_lock();
    struct event *e = calloc(1, sizeof *e);
    *out = handle_new(HANDLE_EVENT, e);
    cudart_unlock();
    if (!*out)
        return cudart_failed(cudaErrorMemoryAllocation, "cudaEventCreate", "out of memory");
    e->untimed = flags & cudaEventDisableTiming;
    e->shared = flags & cudaEventInterprocess;
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *e)
{
    return cudaEventCreateWithFlags(e, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t handle)
{
    cudart_print();
    cudart_lock();
    struct event *e = event_of(handle);
    handle_drop(handle);
    if (e)
        free(e->last.all);
    free(e);
    cudart_unlock();
    return e ? cudaSuccess : no_event("cudaEventDestroy");
}

static cudaError_t record_now(cudaEvent_t handle)
{
    struct event *e = event_of(handle);
    if (!e)
        return no_event("cudaEventRecord");
    e->ms = cudart_time();
    e->recorded = true;
    e->graph = NULL;
    return cudaSuccess;
}

static cudaError_t record(const struct work *w)
{
    return record_now(w->event);
}

const struct work_type work_record = { .node = cudaGraphNodeTypeEventRecord, .run = record };

// In a capture the event means the work of the stream so far.
static cudaError_t record_captured(struct event *e, const struct stream *s)
{
    e->graph = s->graph;
    e->last.n = 0;
    bool ok = true;
    for (size_t i = 0; ok && i < s->last.n; i++)
        ok = nodes_add(&e->last, s->last.all[i]);
    return ok ? cudaSuccess : cudart_failed(cudaErrorMemoryAllocation, "cudaEventRecord", "out of memory");
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t handle, cudaStream_t stream, unsigned flags)
{
    cudart_print();
    cudart_lock();
    struct event *e = event_of(handle);
    const struct stream *s = stream_of(stream);
    const cudaError_t result = !e         ? no_event("cudaEventRecord")
                               : !s       ? no_stream("cudaEventRecord")
                               : s->graph ? record_captured(e, s)
                                          : record_now(handle);
    cudart_unlock();
    return result;
}

cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s)
{
    return cudaEventRecordWithFlags(e, s, cudaEventRecordDefault);
}

// A stream that waits for a captured event is captured, too.
static cudaError_t join(struct stream *s, const struct event *e)
{
    const char *const name = "cudaStreamWaitEvent";
    if (s->graph && s->graph != e->graph && (e->graph || e->recorded)) {
        stream_break_captures();
        return e->graph ? cudart_failed(cudaErrorStreamCaptureMerge, name, "the event is of another capture")
                        : cudart_failed(cudaErrorStreamCaptureIsolation, name,
                                        "the stream is being captured, and the event is of no capture");
    }
    if (!e->graph)
        return cudaSuccess;
    if (s == stream_of(NULL) && stream_break_captures())
        return cudart_failed(cudaErrorStreamCaptureImplicit, name, "the default stream cannot be captured");
    s->graph = e->graph;
    bool ok = true;
    for (size_t i = 0; ok && i < e->last.n; i++)
        ok = nodes_have(&s->last, e->last.all[i]) || nodes_add(&s->last, e->last.all[i]);
    return ok ? cudaSuccess : cudart_failed(cudaErrorMemoryAllocation, name, "out of memory");
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t handle, unsigned flags)
{
    cudart_lock();
    const struct event *e = event_of(handle);
    struct stream *s = stream_of(stream);
    const cudaError_t result = !e ? no_event(__func__) : !s ? no_stream(__func__) : join(s, e);
    cudart_unlock();
    return result;
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to)
{
    if (!ms)
        return cudart_null(__func__);
    cudart_lock();
    const struct event *a = event_of(from), *b = event_of(to);
    const bool timed = a && b && a->recorded && b->recorded && !a->untimed && !b->untimed;
    if (timed)
        *ms = (float)(b->ms - a->ms);
    cudart_unlock();
    return timed ? cudaSuccess
                 : cudart_failed(cudaErrorInvalidResourceHandle, "cudaEventElapsedTime",
                                 "an event that was not recorded, has no time, or was destroyed");
}

// --- Waiting ---

static cudaError_t broken(const char *function)
{
    return cudart_failed(cudaErrorStreamCaptureUnsupported, function,
                         "a stream is being captured, and what the program waits for is no part of a graph");
}

cudaError_t cudaDeviceSynchronize(void)
{
    cudart_print();
    cudart_lock();
    const bool captured = stream_break_captures();
    cudart_unlock();
    return captured ? broken(__func__) : cudart_wait();
}

static cudaError_t wait_for(const char *function, cudaStream_t handle)
{
    cudart_print();
    cudart_lock();
    const struct stream *s = stream_of(handle);
    const bool captured = s && s->graph && stream_break_captures();
    cudart_unlock();
    if (captured)
        return broken(function);
    return s ? cudart_wait() : no_stream(function);
}

cudaError_t cudaStreamSynchronize(cudaStream_t s)
{
    return wait_for("cudaStreamSynchronize", s);
}

cudaError_t cudaStreamQuery(cudaStream_t s)
{
    return wait_for("cudaStreamQuery", s);
}

static cudaError_t wait_for_event(const char *function, cudaEvent_t handle)
{
    cudart_print();
    cudart_lock();
    const struct event *e = event_of(handle);
    const bool captured = e && e->graph && stream_break_captures();
    cudart_unlock();
    if (captured)
        return cudart_failed(cudaErrorCapturedEvent, function, "the event is of a stream that is being captured");
    return e ? cudart_wait() : no_event(function);
}

cudaError_t cudaEventSynchronize(cudaEvent_t e)
{
    return wait_for_event("cudaEventSynchronize", e);
}

cudaError_t cudaEventQuery(cudaEvent_t e)
{
    return wait_for_event("cudaEventQuery", e);
}

struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, enum cudaChannelFormatKind f)
{
    return (struct cudaChannelFormatDesc){ x, y, z, w, f };
}
