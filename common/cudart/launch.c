// Launches. The simulated GPU runs each to its end before the host goes on.
#include <stdlib.h>
#include <string.h>

#include "submit.h"

// --- Which launches are looked at ---

enum { CHECKED = 1, COUNTED = 2, TIMED = 4 };

// What the environment asks to do with the launch: nothing with those that are skipped.
static unsigned looks_at(const char *kernel)
{
    static uint64_t n;
    const char *part = getenv("CUDART_KERNEL");
    const unsigned how = (cudart_setting("CUDART_CHECK") ? CHECKED : 0) |
                         (cudart_setting("CUDART_PROFILE") ? COUNTED : 0) | (cudart_times() ? TIMED : 0);
    if (!how || (part && !strstr(kernel, part)))
        return 0;
    const uint64_t i = n++, skip = cudart_setting("CUDART_SKIP"), only = cudart_setting("CUDART_ONLY");
    return i >= skip && (!only || i - skip < only) ? how : 0;
}

// --- A launch ---

// As CUDA calls what ended the last launch.
static cudaError_t error_of(const struct simt_finding *f)
{
    switch (f ? f->kind : SIMT_NOTHING) {
    case SIMT_ASSERTION:
        return cudaErrorAssert;
    case SIMT_OUT_OF_BOUNDS:
        return cudaErrorIllegalAddress;
    case SIMT_MISALIGNED:
        return cudaErrorMisalignedAddress;
    case SIMT_ENDLESS_LOOP:
    case SIMT_ENDLESS_WAIT:
        return cudaErrorLaunchTimeout;
    default:
        return f ? cudaErrorLaunchFailure : cudaErrorInvalidConfiguration;
    }
}

// With the arguments as the kernel's PTX declares them; NULL if memory runs out.
static struct dev_arg *arguments(const struct simt_kernel *k, uint32_t n, void **args)
{
    struct dev_arg *a = calloc(n + 1, sizeof *a);
    struct simt_parameter p;
    for (uint32_t i = 0; a && simt_parameter(k, i, &p); i++)
        a[i] = (struct dev_arg){ args[i], p.bytes };
    return a;
}

// Ends the program behind as many launches as the environment says, as if it had called exit itself.
static void stop_after(void)
{
    static uint64_t n;
    if (++n != cudart_setting("CUDART_STOP"))
        return;
    fprintf(stderr, "cudart: the program ends here, behind launch %llu, as it was asked to\n", (unsigned long long)n);
    exit(EXIT_SUCCESS);
}

static cudaError_t run(struct simt_kernel *k, struct cudart_launch *l)
{
    char error[DEV_ERROR_MAX];
    const char *bound = NULL;
    const unsigned looks = looks_at(l->name);
    const cudaError_t e = cudart_place_managed();
    if (e)
        return e;
    fflush(stdout);  // what is said of the launch comes after what the program has printed
    cudart_keep_prints();
    if (looks) {
        cudart_frames(&l->frames);
        if (cudart_tally())
            cudart_tally()->looked++;
    }
    struct cudart_prediction *p = looks & TIMED ? cudart_prediction_begin(l) : NULL;
    simt_set_checks(cudart_gpu(), looks & CHECKED);
    cudart_tell(l->name);
    const bool ran = simt_launch(cudart_gpu(), k, l->how, error);
    cudart_tell(NULL);
    simt_sync(cudart_gpu());
    const struct simt_finding *f = simt_failure(cudart_gpu());
    simt_set_checks(cudart_gpu(), cudart_setting("CUDART_CHECK"));  // for allocations
    if (!ran)
        return f ? cudart_kernel_failed(error_of(f), l->name, error) : cudart_failed(error_of(f), l->name, error);
    if (looks & CHECKED)
        cudart_checked(l, simt_findings(cudart_gpu()));
    const double ms = looks & TIMED ? cudart_predicted(p, l, &bound) : 0;
    if (looks & (COUNTED | TIMED))
        cudart_report(l, simt_profile(cudart_gpu()), ms, bound);
    stop_after();
    return cudaSuccess;
}

// Why the launch cannot be made, which its kernel could; NULL: it can.
static const char *refusal(const struct work_kernel *k, const struct simt_kernel_about *about, cudaError_t *e)
{
    *e = cudaErrorInvalidConfiguration;
    if (!k->grid.x || !k->grid.y || !k->grid.z || !k->block.x || !k->block.y || !k->block.z)
        return "a grid of no blocks, or blocks of no threads";
    *e = cudaErrorInvalidValue;
    if (k->grid.y > 65535 || k->grid.z > 65535)
        return "at most 65535 blocks fit along y and z of a grid";
    if (k->shared > cudart_most_dynamic(k->host, about))
        return "it may not have so much dynamic shared memory: cudaFuncSetAttribute asks for it";
    return NULL;
}

static cudaError_t launch_now(const struct work_kernel *w)
{
    const char *name;
    cudaError_t e = cudart_wait();
    struct simt_kernel *k = e ? NULL : cudart_kernel(w->host, &name);
    if (!k)
        return e ? e : cudaErrorInvalidDeviceFunction;
    const struct simt_kernel_about about = simt_kernel_about(k);
    if (about.error)
        return cudart_failed(cudaErrorInvalidDeviceFunction, name, about.error);
    if (about.parameters && !w->arguments)
        return cudart_failed(cudaErrorInvalidValue, name, "it has parameters, and there are no arguments");
    const char *why = refusal(w, &about, &e);
    if (why)
        return cudart_failed(e, name, why);
    struct dev_arg *a = arguments(k, about.parameters, w->arguments);
    if (!a)
        return cudart_failed(cudaErrorMemoryAllocation, name, "out of memory");
    struct dev_launch l = { .grid = { w->grid.x, w->grid.y, w->grid.z },
                            .block = { w->block.x, w->block.y, w->block.z },
                            .shared = w->shared,
                            .args = a,
                            .n_args = about.parameters,
                            .apart = !w->cooperative };
    memcpy(l.cluster, w->cluster, sizeof l.cluster);
    if (cudart_setting("CUDART_VERBOSE"))
        fprintf(stderr, "cudart: launch of %s, grid %u,%u,%u, block %u,%u,%u, %zu bytes of dynamic shared memory\n",
                name, l.grid[0], l.grid[1], l.grid[2], l.block[0], l.block[1], l.block[2], (size_t)l.shared);
    char named[SIMT_NAME_MAX + 256];
    if (w->part) {
        snprintf(named, sizeof named, "%s of %s", name, w->part);
        name = named;
    }
    struct cudart_launch launch = { .host = w->host, .name = name, .how = &l };
    e = run(k, &launch);
    free(a);
    return e;
}

// --- As work ---

static cudaError_t run_kernel(const struct work *w)
{
    cudart_lock();
    const cudaError_t e = launch_now(&w->kernel);
    cudart_unlock();
    return e;
}

static bool keep_arguments(struct work *w)
{
    const char *name;
    struct simt_parameter p;
    const struct simt_kernel *kernel = cudart_kernel(w->kernel.host, &name);
    size_t n = 0, bytes = 0, at = 0;
    if (!kernel)
        return false;
    for (; simt_parameter(kernel, (uint32_t)n, &p); n++)
        bytes += p.bytes;
    if (n && !w->kernel.arguments)
        return false;
    void **kept = calloc(1, (n + 1) * sizeof *kept + bytes);
    for (size_t i = 0; kept && i < n && simt_parameter(kernel, (uint32_t)i, &p); at += p.bytes, i++)
        kept[i] = memcpy((char *)(kept + n + 1) + at, w->kernel.arguments[i], p.bytes);
    w->kernel.arguments = kept;
    w->kernel.part = kept && w->kernel.part ? strdup(w->kernel.part) : NULL;
    return kept;
}

static void drop_arguments(struct work *w)
{
    free(w->kernel.arguments);
    free((void *)w->kernel.part);
}

const struct work_type work_kernel = { cudaGraphNodeTypeKernel, run_kernel, keep_arguments, drop_arguments, NULL };

// Every block of a cooperative launch has to be on the card at a time.
static cudaError_t cooperate(const struct work_kernel *k)
{
    int blocks = 0;
    const cudaError_t e = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &blocks, k->host, (int)(k->block.x * k->block.y * k->block.z), k->shared);
    if (e)
        return e;
    if ((uint64_t)k->grid.x * k->grid.y * k->grid.z > (uint64_t)blocks * cudart_card()->sms)
        return cudart_failed(cudaErrorCooperativeLaunchTooLarge, "cudaLaunchCooperativeKernel",
                             "more blocks than the card has room for at a time");
    return cudaSuccess;
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *c, const void *host, void **args)
{
    const char *name;
    cudart_print();
    cudart_lock();
    const bool known = cudart_kernel(host, &name);
    cudart_unlock();
    if (!known)
        return cudaErrorInvalidDeviceFunction;
    struct work w = {
        .type = &work_kernel,
        .function = name,
        .kernel = { .host = host,
                    .grid = c->gridDim,
                    .block = c->blockDim,
                    .shared = c->dynamicSmemBytes,
                    .arguments = args,
                    .part = cudart_note() },
    };
    for (unsigned i = 0; i < c->numAttrs; i++)
        if (c->attrs[i].id == cudaLaunchAttributeClusterDimension) {
            w.kernel.cluster[0] = c->attrs[i].val.clusterDim.x;
            w.kernel.cluster[1] = c->attrs[i].val.clusterDim.y;
            w.kernel.cluster[2] = c->attrs[i].val.clusterDim.z;
        } else if (c->attrs[i].id == cudaLaunchAttributeCooperative) {
            w.kernel.cooperative = c->attrs[i].val.cooperative;
        }
    const cudaError_t e = w.kernel.cooperative ? cooperate(&w.kernel) : cudaSuccess;
    return e ? e : work_submit(c->stream, &w);
}

cudaError_t cudaLaunchKernel(const void *host, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t st)
{
    const cudaLaunchConfig_t c = { .gridDim = grid, .blockDim = block, .dynamicSmemBytes = shared, .stream = st };
    return cudaLaunchKernelExC(&c, host, args);
}

cudaError_t cudaLaunchCooperativeKernel(const void *host, dim3 grid, dim3 block, void **args, size_t shared,
                                        cudaStream_t st)
{
    cudaLaunchAttribute cooperative = { .id = cudaLaunchAttributeCooperative, .val.cooperative = 1 };
    const cudaLaunchConfig_t c = { grid, block, shared, st, &cooperative, 1 };
    return cudaLaunchKernelExC(&c, host, args);
}

// --- kernel<<<...>>>(...), as nvcc writes it ---

static _Thread_local cudaLaunchConfig_t stack[64];  // a launch whose arguments launch again comes before it
static _Thread_local unsigned depth;

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, void *stream)
{
    stack[depth++ % 64] =
        (cudaLaunchConfig_t){ .gridDim = grid, .blockDim = block, .dynamicSmemBytes = shared, .stream = stream };
    return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream)
{
    const cudaLaunchConfig_t *c = &stack[--depth % 64];
    *grid = c->gridDim;
    *block = c->blockDim;
    *shared = c->dynamicSmemBytes;
    *(cudaStream_t *)stream = c->stream;
    return cudaSuccess;
}

cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *host)
{
    *kernel = (cudaKernel_t)host;
    return cudaSuccess;
}

cudaError_t cudaGetKernel(cudaKernel_t *kernel, const void *host)
{
    return __cudaGetKernel(kernel, host);
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t st)
{
    return cudaLaunchKernel(kernel, grid, block, args, shared, st);
}
