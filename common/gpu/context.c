// Contexts and streams: a GPU's own, or those of a library's caller. See state.h and gpu.h.
#include <string.h>

#include "gpu.h"
#include "state.h"

bool gpu_ok(struct dev *d, const char *call, cu_result r)
{
    char text[512];
    const char *hint = "";
    if (!r)
        return true;
    cuda_describe(&gpu_of(d)->cuda, call, r, text, sizeof text);
    if (strstr(text, "ILLEGAL") || strstr(text, "LAUNCH_FAILED") || strstr(text, "MISALIGNED") ||
        strstr(text, "HARDWARE_STACK") || strstr(text, "INVALID_ADDRESS_SPACE") || strstr(text, "INVALID_PC") ||
        strstr(text, "CUDA_ERROR_ASSERT"))
        hint = ": a kernel went wrong, and the GPU takes no more work from this process; the simulated GPU "
               "(--device=sim) names the line and the thread, compute-sanitizer the thread";
    return backend_fail(d, "%s%s", text, hint);
}

bool gpu_take_context(struct dev *d, int device)
{
    struct gpu *g = gpu_of(d);
    int count = 0;
    if (!CALL(d, init, cuInit, 0))
        return false;
    if (device == GPU_CURRENT) {
        if (!CALL(d, context_get, cuCtxGetCurrent, &g->context))
            return false;
        if (!g->context)
            return backend_fail(d, "no CUDA context is current in this thread");
        return CALL(d, context_device, cuCtxGetDevice, &g->device) &&
               CALL(d, context_push, cuCtxPushCurrent, g->context);
    }
    if (!CALL(d, device_count, cuDeviceGetCount, &count))
        return false;
    if (!count)
        return backend_fail(d, "the driver sees no device");
    if (device >= count)
        return backend_fail(d, "the driver sees %d devices, and none of number %d", count, device);
    g->retained = CALL(d, device_get, cuDeviceGet, &g->device, device) &&
                  CALL(d, context_retain, cuDevicePrimaryCtxRetain, &g->context, g->device);
    return g->retained && (g->borrowed ? CALL(d, context_push, cuCtxPushCurrent, g->context)
                                       : CALL(d, context_set, cuCtxSetCurrent, g->context));
}

bool gpu_enter(struct dev *d)
{
    return CALL(d, context_push, cuCtxPushCurrent, gpu_of(d)->context);
}

void gpu_leave(struct dev *d)
{
    cu_context left;
    gpu_of(d)->cuda.context_pop(&left);
}

bool gpu_capturing(const struct dev *d)
{
    const struct gpu *g = gpu_of(d);
    int status = 0;
    return g->borrowed && !g->cuda.stream_capturing(g->stream, &status) && status;
}

bool gpu_mark(struct dev *d)
{
    struct gpu *g = gpu_of(d);
    if (gpu_capturing(d))
        return true;
    g->marked = CALL(d, event_record, cuEventRecord, g->stop, g->stream);
    g->marked_stream = g->stream;
    return g->marked;
}

bool gpu_wait_mark(struct dev *d)
{
    struct gpu *g = gpu_of(d);
    return !g->marked || g->marked_stream == g->stream || gpu_capturing(d) ||
           CALL(d, stream_wait, cuStreamWaitEvent, g->stream, g->stop, 0);
}

void gpu_set_stream(struct dev *d, void *stream)
{
    gpu_of(d)->stream = stream;
}

void *gpu_stream(const struct dev *d)
{
    return gpu_of(d)->stream;
}
