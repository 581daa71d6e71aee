// Fill, launch, check, time: how a step is run. The data of one element type serve many steps and the baseline.
#include "tester.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "simt/simt.h"
#include "base/occupancy.h"
#include "base/sort.h"
#include "again.h"
#include "choose.h"
#include "device/open.h"
#include "gemm.h"
#include "tester_explain.h"
#include "watch/terminal.h"
#include "device/sim.h"

enum { SIM_SIZE = 256, GPU_SIZE = 4096, GPU_WARMUP = 2, GPU_ITERATIONS = 15 };

struct tester {
    struct dev *dev;
    enum dev_type type;
    struct tester_options o;    // settled
    struct matrix A, B, C, C0;  // C0 only where beta != 0; C receives results
    dev_ptr dA, dB, dC;
    struct dev_module *module;  // of the last step
    dev_ptr flush;              // twice the L2 cache, which clearing it empties; 0: nothing does
};

// The device's own message as this module's.
static bool fail_dev(const struct dev *d, char error[DEV_ERROR_MAX])
{
    return error_set(error, "%s", dev_error(d));
}

struct tester_options tester_settle(const struct tester_options *options, const struct dev_about *about)
{
    struct tester_options o = *options;
    int size = about->simulated ? SIM_SIZE : GPU_SIZE;
    o.m = o.m > 0 ? o.m : size;
    o.n = o.n > 0 ? o.n : size;
    o.k = o.k > 0 ? o.k : size;
    if (o.warmup < 0)
        o.warmup = about->simulated ? 0 : GPU_WARMUP;
    if (o.iterations <= 0)
        o.iterations = about->simulated ? 0 : GPU_ITERATIONS;
    return o;
}

// --- Memory ---

static uint64_t number_in_file(const char *path, const char *format)
{
    FILE *in = fopen(path, "r");
    char line[256];
    unsigned long long value = 0;
    while (in && fgets(line, sizeof line, in))
        if (sscanf(line, format, &value) == 1)
            break;
    if (in)
        fclose(in);
    return value;
}

// Bytes of host memory that can be had without swapping, the limit of a container included.
static uint64_t host_memory(void)
{
    uint64_t bytes = number_in_file("/proc/meminfo", "MemAvailable: %llu kB") * 1024;
    if (bytes == 0)
        bytes = (uint64_t)sysconf(_SC_AVPHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t limit = number_in_file("/sys/fs/cgroup/memory.max", "%llu");
    return limit > 0 && limit < bytes ? limit : bytes;
}

static bool add_bytes(size_t *total, int rows, int cols, size_t element)
{
    size_t bytes;
    return !__builtin_mul_overflow((size_t)rows, (size_t)cols, &bytes) &&
           !__builtin_mul_overflow(bytes, element, &bytes) && !__builtin_add_overflow(*total, bytes, total);
}

// The simulated device is host memory too.
bool tester_fits(const struct dev *d, enum dev_type type, const struct tester_options *o, char error[DEV_ERROR_MAX])
{
    const struct dev_about *about = dev_about(d);
    const double gib = 1 << 30;
    size_t element = type_size(type), device = 0, host = 0;
    bool ok = add_bytes(&device, o->m, o->k, element) && add_bytes(&device, o->k, o->n, element) &&
              add_bytes(&device, o->m, o->n, element);
    host = device;
    if (o->beta != 0)
        ok = ok && add_bytes(&host, o->m, o->n, element);
    if (about->simulated)
        ok = ok && !__builtin_add_overflow(host, device, &host);
    if (!ok)
        return error_set(error, "--m %d --n %d --k %d: the matrices have more bytes than a size can hold", o->m, o->n,
                         o->k);
    uint64_t available = host_memory();
    if (host > available)
        return error_set(error, "--m %d --n %d --k %d in %s: needs %.2f GiB of host memory, %.2f GiB are available",
                         o->m, o->n, o->k, type_name(type), (double)host / gib, (double)available / gib);
    if (device > about->memory)
        return error_set(error, "--m %d --n %d --k %d in %s: needs %.2f GiB on the device, %s has %.2f GiB", o->m, o->n,
                         o->k, type_name(type), (double)device / gib, about->name, (double)about->memory / gib);
    return true;
}

// --- Data ---

static bool fill(struct tester *t, char error[DEV_ERROR_MAX])
{
    const struct tester_options *o = &t->o;
    t->A = matrix_new(t->type, o->m, o->k);
    t->B = matrix_new(t->type, o->k, o->n);
    t->C = matrix_new(t->type, o->m, o->n);
    if (o->beta != 0)
        t->C0 = matrix_new(t->type, o->m, o->n);
    if (!t->A.data || !t->B.data || !t->C.data || (o->beta != 0 && !t->C0.data))
        return error_set(error, "--m %d --n %d --k %d: not enough host memory", o->m, o->n, o->k);
    matrix_fill_random(&t->A, matrix_hash(o->seed, 1));
    matrix_fill_random(&t->B, matrix_hash(o->seed, 2));
    if (o->beta != 0)
        matrix_fill_random(&t->C0, matrix_hash(o->seed, 3));
    struct dev *d = t->dev;
    if (!dev_alloc(d, "A", matrix_bytes(&t->A), &t->dA) || !dev_alloc(d, "B", matrix_bytes(&t->B), &t->dB) ||
        !dev_alloc(d, "C", matrix_bytes(&t->C), &t->dC) || !dev_upload(d, t->dA, t->A.data, matrix_bytes(&t->A)) ||
        !dev_upload(d, t->dB, t->B.data, matrix_bytes(&t->B)))
        return fail_dev(d, error);
    return true;
}

// C as a product finds it: C0, or the poison, which must neither survive nor spread.
static bool upload_c(struct tester *t, dev_ptr to, char error[DEV_ERROR_MAX])
{
    const struct matrix *from = &t->C0;
    if (t->o.beta == 0) {
        matrix_fill_nan(&t->C);
        from = &t->C;
        if (t->o.sanitize && dev_about(t->dev)->simulated)  // a read is a finding only if it was never written
            return true;
    }
    return dev_upload(t->dev, to, from->data, matrix_bytes(from)) || fail_dev(t->dev, error);
}

struct tester *tester_open(struct dev *d, enum dev_type type, const struct tester_options *options,
                           char error[DEV_ERROR_MAX])
{
    struct tester *t = calloc(1, sizeof *t);
    if (!t) {
        error_set(error, "out of memory");
        return NULL;
    }
    t->dev = d;
    t->type = type;
    t->o = tester_settle(options, dev_about(d));
    double alpha = matrix_scalar(type, t->o.alpha), beta = matrix_scalar(type, t->o.beta);
    bool ok;
    if (!isfinite(alpha) || !isfinite(beta))
        ok = error_set(error, "--%s %g: too large for the kernel's float", isfinite(alpha) ? "beta" : "alpha",
                       isfinite(alpha) ? t->o.beta : t->o.alpha);
    else {
        t->o.alpha = alpha;
        t->o.beta = beta;  // a beta that rounds to 0 is 0
        ok = tester_fits(d, type, &t->o, error) && fill(t, error);
    }
    if (!ok) {
        tester_close(t);
        return NULL;
    }
    return t;
}

void tester_close(struct tester *t)
{
    if (!t)
        return;
    if (t->module)
        dev_unload(t->dev, t->module);
    dev_ptr buffers[] = { t->dA, t->dB, t->dC, t->flush };
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        if (buffers[i])
            dev_free(t->dev, buffers[i]);
    matrix_free(&t->A);
    matrix_free(&t->B);
    matrix_free(&t->C);
    matrix_free(&t->C0);
    free(t);
}

// --- Time ---

// One run of whatever is measured: a step's launch, or the baseline.
struct job {
    struct tester *t;
    const struct gemm *gemm;  // NULL: the baseline
    dev_ptr C;                // of the baseline, a buffer of its own: a step's result stays what it was
};

static bool queue(const struct job *j)
{
    const struct tester *t = j->t;
    if (j->gemm)
        return gemm_queue(j->gemm, t->dev);
    return dev_baseline_gemm(t->dev, t->type, t->o.m, t->o.n, t->o.k, t->o.alpha, t->dA, t->dB, t->o.beta, j->C);
}

static bool time_once(const struct job *j, double *ms, char error[DEV_ERROR_MAX])
{
    struct dev *d = j->t->dev;
    return (dev_timer_start(d) && queue(j) && dev_timer_stop(d, ms)) || fail_dev(d, error);
}

// Memory that leaves nothing else in the L2 cache when it is cleared.
static bool prepare_flush(struct tester *t, char error[DEV_ERROR_MAX])
{
    const size_t bytes = 2 * dev_about(t->dev)->l2;
    if (t->flush || t->o.warm || !bytes)
        return true;
    return dev_alloc(t->dev, "what empties the L2 cache", bytes, &t->flush) || fail_dev(t->dev, error);
}

static bool flush(struct tester *t, char error[DEV_ERROR_MAX])
{
    return !t->flush || dev_clear(t->dev, t->flush, 2 * dev_about(t->dev)->l2) || fail_dev(t->dev, error);
}

static void rest(double ms)
{
    struct timespec left = { .tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(fmod(ms, 1000) * 1e6) };
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        continue;
}

static bool time_alone(const struct job *j, double *ms, char error[DEV_ERROR_MAX])
{
    if (j->t->o.pause_ms > 0)
        rest(j->t->o.pause_ms);
    return flush(j->t, error) && time_once(j, ms, error);
}

// Warm-up and timed runs. The step and the baseline (NULL: none) take turns: whatever clock and heat do to one, they do
// to the other.
static bool time_many(const struct job *step, const struct job *baseline, struct tester_result *r,
                      char error[DEV_ERROR_MAX])
{
    struct tester *t = step->t;
    const int n = t->o.iterations;
    double *ms = malloc(2 * (size_t)n * sizeof *ms), *theirs = ms ? ms + n : NULL;
    bool ok = ms != NULL || error_set(error, "--iterations %d: out of memory", n);
    ok = ok && prepare_flush(t, error);
    for (int i = 0; ok && i < t->o.warmup; i++)
        ok = (queue(step) && (!baseline || queue(baseline))) || fail_dev(t->dev, error);
    ok = ok && (dev_sync(t->dev) || fail_dev(t->dev, error));
    for (int i = 0; ok && i < n; i++)
        ok = (!baseline || time_alone(baseline, &theirs[i], error)) && time_alone(step, &ms[i], error);
    if (ok) {
        r->ms = median(ms, (size_t)n);
        r->ms_min = ms[0];
        r->ms_max = ms[n - 1];
        r->baseline_ms = baseline ? median(theirs, (size_t)n) : 0;
    }
    free(ms);
    return ok;
}

// The baseline's buffer, and a run of it, so that one that fails is left out. False: there is none.
static bool prepare_baseline(struct job *j, char error[DEV_ERROR_MAX])
{
    struct tester *t = j->t;
    if (!dev_baseline_name(t->dev))
        return false;
    if (!dev_alloc(t->dev, "C of the baseline", matrix_bytes(&t->C), &j->C))
        return fail_dev(t->dev, error);
    return upload_c(t, j->C, error) && ((queue(j) && dev_sync(t->dev)) || fail_dev(t->dev, error));
}

// Times the step beside the baseline. Leaves the result's times alone where none are asked for.
static bool time_beside(const struct job *step, struct tester_result *r, char error[DEV_ERROR_MAX])
{
    struct job baseline = { .t = step->t };
    if (step->t->o.iterations == 0)
        return true;
    const bool there = prepare_baseline(&baseline, r->baseline_error);
    const bool ok = time_many(step, there ? &baseline : NULL, r, error);
    if (baseline.C)
        dev_free(step->t->dev, baseline.C);
    return ok;
}

// --- A step ---

struct tester_product tester_product(const struct tester *t)
{
    const struct tester_options *o = &t->o;
    return (struct tester_product){ o->alpha, o->beta, &t->A, &t->B, o->beta != 0 ? &t->C0 : NULL, &t->C };
}

// Names the first wrong element and the most likely mistake.
static void explain(const struct tester *t, const struct step *step, const struct geometry *g,
                    const struct matrix_verdict *v, struct tester_result *r)
{
    const struct tester_options *o = &t->o;
    const struct tester_product p = tester_product(t);
    const struct tester_seen seen = { v, &p, dev_findings(t->dev), dev_about(t->dev)->simulated };
    *r->what = 0;
    tester_explain_wrong(r, step, g, o, &seen);
}

static struct matrix_verdict check(struct tester *t, struct tester_result *r)
{
    const struct tester_options *o = &t->o;
    const struct matrix *C0 = o->beta != 0 ? &t->C0 : NULL;
    double products = (double)o->m * o->n * o->k;
    bool large = products > MATRIX_CHECK_LIMIT;
    struct matrix_verdict v = large ? matrix_check_large(&t->C, o->alpha, &t->A, &t->B, o->beta, C0, o->seed)
                                    : matrix_check(&t->C, o->alpha, &t->A, &t->B, o->beta, C0);
    r->verdict = v.right ? TESTER_RIGHT : TESTER_WRONG;
    r->worst = v.worst;
    snprintf(r->what, sizeof r->what, "%s; worst error %.2g of its bound",
             large ? "rows by Freivalds' check, edges and a sample one by one" : "every element compared", v.worst);
    return v;
}

static bool load(struct tester *t, const struct step *step, char error[DEV_ERROR_MAX])
{
    if (t->module)
        dev_unload(t->dev, t->module);
    t->module = dev_load(t->dev, step->ptx);
    return t->module || fail_dev(t->dev, error);
}

// The geometry of the kernel that suits the shape: on the simulated GPU, what would suit it on the card.
static bool read_geometry(const struct tester *t, const struct step *step, struct geometry *g,
                          char error[DEV_ERROR_MAX])
{
    const struct tester_options *o = &t->o;
    const struct dev_about *about = dev_about(t->dev);
    const int sms = about->simulated ? (int)(o->card ? o->card : card_named("H200"))->sms : about->sm_count;
    struct geometries all;
    if (geometries_read(step->ptx, &all, error)) {
        *g = choose_geometry(&all, o->m, o->n, o->k, sms);
        return true;
    }
    const size_t n = strlen(error);
    if (step->owner && access(step->ptx, R_OK))  // the owner of a kernel from elsewhere is not known
        snprintf(error + n, DEV_ERROR_MAX - n, " (meson compile makes it from %s/kernel.cu)", step->name);
    return false;
}

// Launches, checks, times.
static bool run(struct tester *t, const struct gemm *call, struct matrix_verdict *verdict, struct tester_result *result,
                char error[DEV_ERROR_MAX])
{
    const struct job j = { .t = t, .gemm = call };
    double ms;
    if (!upload_c(t, t->dC, error) || !time_once(&j, &ms, error))
        return false;
    result->ms = result->ms_min = result->ms_max = ms;
    if (t->o.check) {
        if (!dev_download(t->dev, t->C.data, t->dC, matrix_bytes(&t->C)))
            return fail_dev(t->dev, error);
        *verdict = check(t, result);
    }
    return time_beside(&j, result, error);
}

static struct gemm call_of(const struct tester *t)
{
    const struct tester_options *o = &t->o;
    return (struct gemm){
        .m = o->m,
        .n = o->n,
        .k = o->k,
        .alpha = o->alpha,
        .beta = o->beta,
        .A = t->dA,
        .B = t->dB,
        .C = t->dC,
    };
}

bool tester_open_call(struct tester *t, const struct step *step, struct gemm *call, char error[DEV_ERROR_MAX])
{
    struct geometry g;
    *call = call_of(t);
    return read_geometry(t, step, &g, error) && upload_c(t, t->dC, error) &&
           gemm_open(call, t->dev, t->module, g.kernel, t->type, &g, error);
}

bool tester_watch(struct tester *t, const struct step *step, int finding, char error[DEV_ERROR_MAX])
{
    const struct watch_begin begin = { .finding = (uint32_t)finding, .warp = SIMT_ALL_WARPS };
    struct simt *simt = device_simt(t->dev);
    struct gemm call = call_of(t);
    bool go_on, ok = load(t, step, error) && tester_open_call(t, step, &call, error);
    if (ok && !(gemm_queue_copies(&call, t->dev, &go_on) && dev_sync(t->dev)))
        ok = fail_dev(t->dev, error);
    dev_set_budget(t->dev, call.budget);
    ok = ok && watch_terminal(simt, (struct simt_kernel *)call.kernel, &call.launch, &begin, error);
    gemm_close(&call, t->dev);
    return ok;
}

bool tester_step(struct tester *t, const struct step *step, struct tester_result *result, char error[DEV_ERROR_MAX])
{
    const struct tester_options *o = &t->o;
    struct dev *d = t->dev;
    *result = (struct tester_result){ .verdict = TESTER_UNCHECKED, .what = "not checked" };
    if (step->type != t->type)
        return error_set(error, "%s: is for %s, the data are %s", step->name, type_name(step->type),
                         type_name(t->type));
    struct geometry g;
    if (!read_geometry(t, step, &g, error))
        return false;
    struct gemm call = call_of(t);
    struct matrix_verdict verdict = { .right = true };
    const bool ok = load(t, step, error) && gemm_open(&call, d, t->module, g.kernel, t->type, &g, error) &&
                    run(t, &call, &verdict, result, error);
    gemm_close(&call, d);
    if (!ok && dev_failure(d))
        tester_explain_failure(result, step, &g, o, dev_failure(d));
    const struct simt_findings *found = dev_findings(d);
    if (!ok || (verdict.right && found && found->n + found->n_advice))
        tester_explain_changed(result, step, o, dev_failure(d) || (found && found->n));
    if (!ok)
        return false;
    if (!verdict.right)
        explain(t, step, &g, &verdict, result);
    if (!dev_about(d)->simulated)
        result->gflops = 2.0 * o->m * o->n * o->k / result->ms * 1e-6;
    return true;
}

// Of t's own device, if that is a simulated GPU, which has the module already.
bool tester_again(struct tester *t, const struct step *step, struct tester_result *result, struct dev **on,
                  char error[DEV_ERROR_MAX])
{
    const bool simulated = dev_about(t->dev)->simulated;
    struct dev *d = simulated ? t->dev : dev_open(DEV_SIM, error);
    *on = d;
    if (!d)
        return false;
    dev_set_jobs(d, (unsigned)t->o.jobs);
    struct dev_module *module = simulated ? t->module : dev_load(d, step->ptx);
    const bool ok = module ? again_run(result, d, module, step, &t->o, error) : fail_dev(d, error);
    if (module && !simulated)
        dev_unload(d, module);
    return ok;
}

bool tester_run(struct dev *d, const struct step *step, const struct tester_options *options,
                struct tester_result *result, char error[DEV_ERROR_MAX])
{
    struct tester *t = tester_open(d, step->type, options, error);
    if (!t)
        return false;
    bool ok = tester_step(t, step, result, error);
    tester_close(t);
    return ok;
}
