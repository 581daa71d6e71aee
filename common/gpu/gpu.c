// A CUDA GPU behind the interface of common/base/device.h: the first device, its primary context, one stream. Or, for a
// library (gpu.h), a device of its caller's choice, or its caller's context, and its caller's stream.
#include "gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/backend.h"
#include "base/ptxas.h"
#include "hopper.h"
#include "state.h"

#define LOG_BYTES 4096

struct allocation {
    struct allocation *next;
    cu_ptr address;
};

struct dev_kernel {
    struct dev_kernel *next;
    char *name;
    cu_function function;
    size_t n_params;
    bool waits;                // for the launch before it
    unsigned checked_threads;  // what check_resources has found right; 0: nothing yet
    size_t checked_shared;
};

struct dev_module {
    struct dev_module *next;
    char *name, *text;
    cu_module module;
    struct dev_kernel *kernels;
};

static int attribute(struct gpu *g, int which)
{
    int v = 0;
    return g->cuda.device_attribute(&v, which, g->device) ? 0 : v;
}

static void describe(struct gpu *g)
{
    struct dev_about *a = &g->dev.about;
    int version = 0;
    g->cuda.device_name(a->name, sizeof a->name, g->device);
    g->cuda.device_memory(&a->memory, g->device);
    g->cuda.driver_version(&version);
    a->cc_major = attribute(g, CU_ATTRIBUTE_CC_MAJOR);
    a->cc_minor = attribute(g, CU_ATTRIBUTE_CC_MINOR);
    a->sm_count = attribute(g, CU_ATTRIBUTE_SM_COUNT);
    a->memory_gbs = attribute(g, CU_ATTRIBUTE_MEMORY_KHZ) * (attribute(g, CU_ATTRIBUTE_MEMORY_BITS) / 8.0) * 2 / 1e6;
    a->l2 = (size_t)attribute(g, CU_ATTRIBUTE_L2);
    a->shared_per_block = (size_t)attribute(g, CU_ATTRIBUTE_SHARED_OPTIN);
    a->max_threads = (unsigned)attribute(g, CU_ATTRIBUTE_MAX_THREADS);
    char driver[64] = "";
    FILE *f = fopen("/sys/module/nvidia/version", "r");
    if (f && fgets(driver, sizeof driver, f))
        driver[strcspn(driver, "\n")] = '\0';
    if (f)
        fclose(f);
    snprintf(a->detail, sizeof a->detail, "sm_%d%d, %d SMs up to %d MHz, driver%s%s for CUDA %d.%d", a->cc_major,
             a->cc_minor, a->sm_count, attribute(g, CU_ATTRIBUTE_CLOCK_KHZ) / 1000, *driver ? " " : "", driver,
             version / 1000, version % 1000 / 10);
}

static void gpu_close(struct dev *d);

static struct dev *open_in(int device, bool borrowed, char error[DEV_ERROR_MAX])
{
    struct gpu *g = calloc(1, sizeof *g);
    if (!g) {
        snprintf(error, DEV_ERROR_MAX, "no GPU: out of memory");
        return NULL;
    }
    if (!cuda_load(&g->cuda, error, DEV_ERROR_MAX)) {
        free(g);
        return NULL;
    }
    struct dev *d = &g->dev;
    g->borrowed = borrowed;
    const bool entered = gpu_take_context(d, device);
    // stop of a library is gpu_mark's. If it kept the time, too, a product would take 2 us more.
    const bool ready = entered &&
                       (borrowed || CALL(d, stream_create, cuStreamCreate, &g->stream, CU_STREAM_NON_BLOCKING)) &&
                       CALL(d, event_create, cuEventCreate, &g->start, 0) &&
                       CALL(d, event_create, cuEventCreate, &g->stop, borrowed ? CU_EVENT_DISABLE_TIMING : 0);
    if (ready)
        describe(g);
    if (entered && borrowed)
        gpu_leave(d);
    if (ready)
        return d;
    snprintf(error, DEV_ERROR_MAX, "no GPU: %.900s", d->error);
    gpu_close(d);
    return NULL;
}

static struct dev *gpu_open(char error[DEV_ERROR_MAX])
{
    return open_in(0, false, error);
}

static void drop_module(struct dev_module *m)  // its memory alone
{
    if (m) {
        free(m->name);
        free(m->text);
    }
    free(m);
}

static void free_module(struct gpu *g, struct dev_module *m)
{
    while (m->kernels) {
        struct dev_kernel *k = m->kernels;
        m->kernels = k->next;
        free(k->name);
        free(k);
    }
    g->cuda.module_unload(m->module);
    drop_module(m);
}

static void gpu_unload(struct dev *d, struct dev_module *m)
{
    struct gpu *g = gpu_of(d);
    for (struct dev_module **p = &g->modules; *p; p = &(*p)->next) {
        if (*p == m) {
            *p = m->next;
            free_module(g, m);
            return;
        }
    }
}

// After a failed kernel every call fails, and there is nothing better to do than to go on closing.
static void gpu_close(struct dev *d)
{
    struct gpu *g = gpu_of(d);
    const bool entered = g->borrowed && g->context && gpu_enter(d);
    cublas_close(g->cublas);
    while (g->modules)
        gpu_unload(d, g->modules);
    while (g->allocations) {
        struct allocation *a = g->allocations;
        g->allocations = a->next;
        g->cuda.free(a->address);
        free(a);
    }
    if (g->start)
        g->cuda.event_destroy(g->start);
    if (g->stop)
        g->cuda.event_destroy(g->stop);
    if (g->stream && !g->borrowed)
        g->cuda.stream_destroy(g->stream);
    if (entered)
        gpu_leave(d);
    if (g->retained)
        g->cuda.context_release(g->device);
    // The library stays: the driver keeps threads and exit handlers of its own in this process.
    free(g->warnings);
    free(g);
}

static bool refuse_capture(struct dev *d, const char *what, const char *name)
{
    return !gpu_capturing(d) ||
           backend_fail(d, "the stream is being captured, in which nothing can be %s: %.300s is not there yet", what,
                        name);
}

static bool gpu_alloc(struct dev *d, const char *name, size_t bytes, dev_ptr *out)
{
    if (!refuse_capture(d, "allocated", name))
        return false;
    struct gpu *g = gpu_of(d);
    struct allocation *a = calloc(1, sizeof *a);
    if (!a)
        return backend_fail(d, "out of memory");
    cu_result r = g->cuda.alloc(&a->address, bytes);
    if (r) {
        size_t left = 0, all = 0;
        free(a);
        if (r != CU_ERROR_OUT_OF_MEMORY || g->cuda.memory_info(&left, &all))
            return gpu_ok(d, "cuMemAlloc", r);
        return backend_fail(d, "%s needs %zu bytes, and %s has %zu of its %zu left", name, bytes, d->about.name, left,
                            all);
    }
    a->next = g->allocations;
    g->allocations = a;
    *out = a->address;
    return true;
}

static bool gpu_free(struct dev *d, dev_ptr p)
{
    for (struct allocation **a = &gpu_of(d)->allocations; *a; a = &(*a)->next) {
        if ((*a)->address == p) {
            struct allocation *gone = *a;
            *a = gone->next;
            free(gone);
            return CALL(d, free, cuMemFree, p);
        }
    }
    return backend_fail(d, "0x%llx is not the start of an allocation, or has been freed already",
                        (unsigned long long)p);
}

static bool gpu_sync(struct dev *d)
{
    return CALL(d, stream_sync, cuStreamSynchronize, gpu_of(d)->stream);
}

// Copies go through the stream: a plain cuMemcpyHtoD may return before its last bytes have arrived, and a stream that
// does not block would start the next kernel meanwhile.
static bool gpu_upload(struct dev *d, dev_ptr to, const void *from, size_t bytes)
{
    return CALL(d, upload, cuMemcpyHtoDAsync, to, from, bytes, gpu_of(d)->stream) && gpu_sync(d);
}

static bool gpu_download(struct dev *d, void *to, dev_ptr from, size_t bytes)
{
    return CALL(d, download, cuMemcpyDtoHAsync, to, from, bytes, gpu_of(d)->stream) && gpu_sync(d);
}

static bool gpu_clear(struct dev *d, dev_ptr p, size_t bytes)
{
    return CALL(d, clear, cuMemsetD8Async, p, 0, bytes, gpu_of(d)->stream);
}

static struct dev_module *gpu_load(struct dev *d, const char *name, const char *text, size_t bytes)
{
    (void)bytes;  // the driver reads up to the NUL
    struct gpu *g = gpu_of(d);
    char log[LOG_BYTES] = "", info[LOG_BYTES] = "";
    if (!hopper_accepts(d, name, text) || !refuse_capture(d, "loaded", name))
        return NULL;
    int options[] = { CU_JIT_LINE_INFO, CU_JIT_ERROR_LOG, CU_JIT_ERROR_LOG_BYTES, CU_JIT_INFO_LOG,
                      CU_JIT_INFO_LOG_BYTES };
    void *values[] = { (void *)(uintptr_t)1, log, (void *)(uintptr_t)sizeof log, info, (void *)(uintptr_t)sizeof info };
    struct dev_module *m = calloc(1, sizeof *m);
    if (m) {
        m->name = strdup(name);
        m->text = strdup(text);
    }
    if (!m || !m->name || !m->text) {
        drop_module(m);
        backend_fail(d, "%.300s: out of memory", name);
        return NULL;
    }
    cu_result r = g->cuda.module_load(&m->module, text, 5, options, values);
    if (r) {
        char why[256];
        log[sizeof log - 1] = '\0';
        char *line = log + strspn(log, " \n");
        line[strcspn(line, "\n")] = '\0';  // the first message; the others follow from it
        cuda_describe(&g->cuda, "cuModuleLoadDataEx", r, why, sizeof why);
        backend_fail(d, "%.300s: the driver refuses this PTX: %s%s%.400s", name, why, *line ? ": " : "", line);
        drop_module(m);
        return NULL;
    }
    info[sizeof info - 1] = '\0';
    free(g->warnings);
    g->warnings = ptxas_pick_warnings(info);
    m->next = g->modules;
    g->modules = m;
    return m;
}

static const char *gpu_warnings(const struct dev *d)
{
    return gpu_of(d)->warnings;
}

// The parameter list of a kernel in PTX, or NULL.
static const char *find_entry(const char *text, const char *name)
{
    const size_t length = strlen(name);
    for (const char *p = text; (p = strstr(p, ".entry"));) {
        p += strlen(".entry");
        p += strspn(p, " \t\r\n");
        if (strncmp(p, name, length))
            continue;
        p += length;
        p += strspn(p, " \t\r\n");
        if (*p == '(')
            return p;
    }
    return NULL;
}

// The parameters that the PTX declares for a kernel: the driver tells their sizes, but their number only by an error.
static size_t count_params(const char *entry)
{
    size_t n = 0;
    const char *end = entry ? strchr(entry, ')') : NULL;
    for (const char *p = entry; end && (p = strstr(p, ".param")) && p < end; p++)
        n++;
    return n;
}

// Does the kernel wait for the launch before it? Then it may begin early.
static bool waits_for_launch(const char *entry)
{
    const char *next = entry ? strstr(entry, ".entry") : NULL,
               *wait = entry ? strstr(entry, "griddepcontrol.wait") : NULL;
    return wait && (!next || wait < next);
}

static struct dev_kernel *gpu_kernel(struct dev *d, struct dev_module *m, const char *name)
{
    for (struct dev_kernel *k = m->kernels; k; k = k->next)
        if (!strcmp(k->name, name))
            return k;
    if (!refuse_capture(d, "loaded", name))
        return NULL;  // the driver loads a kernel when it is first asked for
    struct dev_kernel *k = calloc(1, sizeof *k);
    if (k)
        k->name = strdup(name);
    if (!k || !k->name) {
        free(k);
        backend_fail(d, "out of memory");
        return NULL;
    }
    cu_result r = gpu_of(d)->cuda.module_function(&k->function, m->module, name);
    if (r) {
        if (r == CU_ERROR_NOT_FOUND)
            backend_fail(d, "%.300s has no kernel named '%.200s'", m->name, name);
        else
            gpu_ok(d, "cuModuleGetFunction", r);
        free(k->name);
        free(k);
        return NULL;
    }
    const char *entry = find_entry(m->text, name);
    k->n_params = count_params(entry);
    k->waits = waits_for_launch(entry);
    k->next = m->kernels;
    m->kernels = k;
    return k;
}

// Older drivers cannot say what sizes a kernel's parameters have.
static bool check_args(struct dev *d, const struct dev_kernel *k, const struct dev_launch *l)
{
    const struct cuda *c = &gpu_of(d)->cuda;
    size_t offset, bytes;
    if (k->n_params != l->n_args)
        return backend_fail(d, "kernel %s takes %zu arguments, %zu were given", k->name, k->n_params, l->n_args);
    for (size_t i = 0; c->param_info && i < l->n_args; i++) {
        if (!gpu_ok(d, "cuFuncGetParamInfo", c->param_info(k->function, i, &offset, &bytes)))
            return false;
        if (l->args[i].bytes != bytes)
            return backend_fail(d, "kernel %s: argument %zu has %zu bytes, the parameter has %zu", k->name, i,
                                l->args[i].bytes, bytes);
    }
    return true;
}

static bool check_resources(struct dev *d, struct dev_kernel *k, const struct dev_launch *l)
{
    const struct cuda *c = &gpu_of(d)->cuda;
    int fixed = 0, threads = 0;
    unsigned asked = l->block[0] * l->block[1] * l->block[2];
    if (asked == k->checked_threads && l->shared == k->checked_shared)
        return true;
    if (!gpu_ok(d, "cuFuncGetAttribute", c->function_attribute(&fixed, CU_FUNCTION_SHARED, k->function)) ||
        !gpu_ok(d, "cuFuncGetAttribute", c->function_attribute(&threads, CU_FUNCTION_MAX_THREADS, k->function)))
        return false;
    if (asked > (unsigned)threads)
        return backend_fail(d,
                            "kernel %s: a block of %u threads was asked for, its launch bounds or registers allow %d",
                            k->name, asked, threads);
    if ((size_t)fixed + l->shared > d->about.shared_per_block)
        return backend_fail(d, "kernel %s needs %zu bytes of shared memory a block, %s has %zu", k->name,
                            (size_t)fixed + l->shared, d->about.name, d->about.shared_per_block);
    if ((size_t)fixed + l->shared > 49152 &&
        !gpu_ok(d, "cuFuncSetAttribute", c->function_set(k->function, CU_FUNCTION_MAX_DYNAMIC_SHARED, (int)l->shared)))
        return false;
    k->checked_threads = asked;
    k->checked_shared = l->shared;
    return true;
}

static bool gpu_launch(struct dev *d, struct dev_kernel *k, const struct dev_launch *l)
{
    struct gpu *g = gpu_of(d);
    if (!check_args(d, k, l) || !check_resources(d, k, l))
        return false;
    void **params = calloc(l->n_args + 1, sizeof *params);
    if (!params)
        return backend_fail(d, "out of memory");
    for (size_t i = 0; i < l->n_args; i++)
        params[i] = (void *)(uintptr_t)l->args[i].value;
    const bool early = l->early && k->waits && d->about.cc_major >= 9 && g->cuda.launch_ex;
    bool done = l->cluster[0] || early
                    ? hopper_launch(d, &g->cuda, g->stream, k->function, l, early, params)
                    : CALL(d, launch, cuLaunchKernel, k->function, l->grid[0], l->grid[1], l->grid[2], l->block[0],
                           l->block[1], l->block[2], (unsigned)l->shared, g->stream, params, NULL);
    free(params);
    return done;
}

static bool gpu_tensor_map(struct dev *d, const struct dev_tensor *t, struct dev_tensor_map *map)
{
    return hopper_tensor_map(d, &gpu_of(d)->cuda, t, map);
}

static bool gpu_timer_start(struct dev *d)
{
    struct gpu *g = gpu_of(d);
    g->timing = true;
    return CALL(d, event_record, cuEventRecord, g->start, g->stream);
}

static bool gpu_timer_stop(struct dev *d, double *ms)
{
    struct gpu *g = gpu_of(d);
    float elapsed = 0;
    if (!g->timing)
        return backend_fail(d, "the timer was not started");
    bool done = CALL(d, event_record, cuEventRecord, g->stop, g->stream) &&
                CALL(d, event_sync, cuEventSynchronize, g->stop) &&
                CALL(d, event_elapsed, cuEventElapsedTime, &elapsed, g->start, g->stop);
    *ms = elapsed;
    return done;
}

static struct cublas *baseline(struct gpu *g)
{
    if (!g->cublas_tried)
        g->cublas = cublas_open(g->stream, g->cublas_error);
    g->cublas_tried = true;
    return g->cublas;
}

static bool gpu_gemm(struct dev *d, enum dev_type type, int M, int N, int K, double alpha, dev_ptr A, dev_ptr B,
                     double beta, dev_ptr C)
{
    char error[DEV_ERROR_MAX];
    struct cublas *b = baseline(gpu_of(d));
    if (!b)
        return backend_fail(d, "%s", gpu_of(d)->cublas_error);
    return cublas_gemm(b, type, M, N, K, alpha, A, B, beta, C, error) || backend_fail(d, "%s", error);
}

static const char *gpu_baseline_name(struct dev *d)
{
    struct cublas *b = baseline(gpu_of(d));
    return b ? cublas_name(b) : NULL;
}

const struct backend gpu_backend = {
    .open = gpu_open,
    .close = gpu_close,
    .alloc = gpu_alloc,
    .free = gpu_free,
    .upload = gpu_upload,
    .download = gpu_download,
    .clear = gpu_clear,
    .warnings = gpu_warnings,
    .load = gpu_load,
    .unload = gpu_unload,
    .kernel = gpu_kernel,
    .launch = gpu_launch,
    .tensor_map = gpu_tensor_map,
    .sync = gpu_sync,
    .timer_start = gpu_timer_start,
    .timer_stop = gpu_timer_stop,
    .gemm = gpu_gemm,
    .baseline_name = gpu_baseline_name,
};

// --- For a library ---

struct dev *gpu_borrow(int device, char error[DEV_ERROR_MAX])
{
    struct dev *d = open_in(device, true, error);
    if (d)
        d->ops = &gpu_backend;
    return d;
}
