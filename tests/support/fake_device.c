// Two fake backends that multiply on the host. See fake_device.h.
//
// A device pointer is the host address. The kernel gets the same eight parameters as a step's; whether they are floats
// or doubles is told by the size of alpha.
#include "fake_device.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/backend.h"
#include "base/profile.h"
#include "device/sim.h"

struct fake fake;
static int open_devices;

struct fake_dev {
    struct dev dev;
    double timer;
    struct profile profile;
    struct profile_line lines[2];
};

static struct fake_dev *of(const struct dev *d)
{
    return (struct fake_dev *)d;
}

static struct dev *open_as(bool simulated)
{
    struct fake_dev *f = calloc(1, sizeof *f);
    struct dev_about *about = &f->dev.about;
    snprintf(about->name, sizeof about->name, simulated ? "simulated GPU" : "Fake H100");
    snprintf(about->detail, sizeof about->detail, "a fake of the tests");
    about->simulated = simulated;
    about->memory = fake.memory ? fake.memory : (size_t)1 << 40;
    about->cc_major = fake.cc / 10;
    about->cc_minor = fake.cc % 10;
    about->shared_per_block = 99 * 1024;
    about->max_threads = 1024;
    if (!open_devices++)
        fake.live = fake.launches = fake.baselines = 0;
    return &f->dev;
}

static struct dev *open_sim(char error[DEV_ERROR_MAX])
{
    (void)error;
    return open_as(true);
}

static struct dev *open_gpu(char error[DEV_ERROR_MAX])
{
    if (fake.has_gpu)
        return open_as(false);
    snprintf(error, DEV_ERROR_MAX, "no GPU answers");
    return NULL;
}

static void close_dev(struct dev *d)
{
    open_devices--;
    free(d);
}

static bool alloc(struct dev *d, const char *name, size_t bytes, dev_ptr *out)
{
    (void)name;
    void *p = malloc(bytes);
    if (!p)
        return backend_fail(d, "out of memory");
    fake.live++;
    *out = (dev_ptr)(uintptr_t)p;
    return true;
}

static bool release(struct dev *d, dev_ptr p)
{
    (void)d;
    fake.live--;
    free((void *)(uintptr_t)p);
    return true;
}

static bool upload(struct dev *d, dev_ptr to, const void *from, size_t bytes)
{
    (void)d;
    memcpy((void *)(uintptr_t)to, from, bytes);
    return true;
}

static bool clear(struct dev *d, dev_ptr p, size_t bytes)
{
    (void)d;
    memset((void *)(uintptr_t)p, 0, bytes);
    return true;
}

static bool download(struct dev *d, void *to, dev_ptr from, size_t bytes)
{
    (void)d;
    memcpy(to, (const void *)(uintptr_t)from, bytes);
    return true;
}

static struct dev_module *load(struct dev *d, const char *name, const char *text, size_t bytes)
{
    (void)text;
    (void)bytes;
    if (fake.fault == FAKE_LOAD_FAILS) {
        backend_fail(d, "%s: not PTX", name);
        return NULL;
    }
    fake.live++;
    return malloc(1);
}

static void unload(struct dev *d, struct dev_module *m)
{
    (void)d;
    fake.live--;
    free(m);
}

static struct dev_kernel *kernel(struct dev *d, struct dev_module *m, const char *name)
{
    if (strcmp(name, "gemm") != 0) {
        backend_fail(d, "no kernel %s", name);
        return NULL;
    }
    return (struct dev_kernel *)m;
}

// Row-major matrices of either type.
static double get(dev_ptr p, bool f64, size_t i)
{
    return f64 ? ((const double *)(uintptr_t)p)[i] : (double)((const float *)(uintptr_t)p)[i];
}

// A NaN is written as CUDA's own, whatever the host made of it: a GPU does not hand on the bits of its operands.
static void put(dev_ptr p, bool f64, size_t i, double x)
{
    if (isnan(x) && !f64)
        ((uint32_t *)(uintptr_t)p)[i] = 0x7fffffff;
    else if (isnan(x))
        ((uint64_t *)(uintptr_t)p)[i] = UINT64_C(0x7fffffffffffffff);
    else if (f64)
        ((double *)(uintptr_t)p)[i] = x;
    else
        ((float *)(uintptr_t)p)[i] = (float)x;
}

struct call {
    int M, N, K;
    bool f64;
    double alpha, beta;
    dev_ptr A, B, C;
};

// Row row of A B, its first K products, in double: f32 kernels round more often, which is theirs to test.
static void row_of_product(const struct call *c, int row, int K, double *sum)
{
    memset(sum, 0, (size_t)c->N * sizeof *sum);
    for (int k = 0; k < K; k++) {
        double a = get(c->A, c->f64, (size_t)row * (size_t)c->K + (size_t)k);
        size_t at = (size_t)k * (size_t)c->N;
        if (c->f64)
            for (int j = 0; j < c->N; j++)
                sum[j] += a * ((const double *)(uintptr_t)c->B)[at + (size_t)j];
        else
            for (int j = 0; j < c->N; j++)
                sum[j] += a * ((const float *)(uintptr_t)c->B)[at + (size_t)j];
    }
}

static void write_row(const struct call *c, int row, const double *sum)
{
    bool reads_c = c->beta != 0 || fake.fault == FAKE_READS_C;
    for (int j = 0; j < c->N; j++) {
        size_t at = (size_t)row * (size_t)c->N + (size_t)j;
        if (fake.fault == FAKE_UNWRITTEN && row == fake.row && j == fake.col)
            continue;
        double rest = reads_c && fake.fault != FAKE_NO_BETA ? c->beta * get(c->C, c->f64, at) : 0;
        put(c->C, c->f64, at, c->alpha * sum[j] + rest);
    }
}

static void transpose(const struct call *c)
{
    for (int i = 0; i < c->M; i++) {
        for (int j = 0; j < i; j++) {
            size_t at = (size_t)i * (size_t)c->N + (size_t)j, mirror = (size_t)j * (size_t)c->N + (size_t)i;
            double x = get(c->C, c->f64, at);
            put(c->C, c->f64, at, get(c->C, c->f64, mirror));
            put(c->C, c->f64, mirror, x);
        }
    }
}

static void multiply(const struct call *c)
{
    double *sum = malloc(2 * (size_t)c->N * sizeof *sum), *other = sum + c->N;
    for (int i = 0; i < c->M; i++) {
        bool swapped = fake.fault == FAKE_SWAPPED_ROWS && (i == fake.row || i == fake.row + 1);
        row_of_product(c, swapped ? 2 * fake.row + 1 - i : i, c->K, sum);
        if (fake.fault == FAKE_LAST_PRODUCT && i == fake.row) {
            row_of_product(c, i, c->K - 1, other);
            sum[fake.col] = other[fake.col];
        }
        write_row(c, i, sum);
    }
    free(sum);
    if (fake.fault == FAKE_TRANSPOSED)
        transpose(c);
}

static bool launch(struct dev *d, struct dev_kernel *k, const struct dev_launch *l)
{
    (void)k;
    struct call c = { .f64 = l->args[3].bytes == sizeof(double) };
    fake.launches++;
    if (fake.fault == FAKE_LAUNCH_FAILS)
        return backend_fail(d, "gemm: out-of-bounds read");
    memcpy(&c.M, l->args[0].value, sizeof c.M);
    memcpy(&c.N, l->args[1].value, sizeof c.N);
    memcpy(&c.K, l->args[2].value, sizeof c.K);
    c.alpha = c.f64 ? *(const double *)l->args[3].value : (double)*(const float *)l->args[3].value;
    c.beta = c.f64 ? *(const double *)l->args[6].value : (double)*(const float *)l->args[6].value;
    memcpy(&c.A, l->args[4].value, sizeof c.A);
    memcpy(&c.B, l->args[5].value, sizeof c.B);
    memcpy(&c.C, l->args[7].value, sizeof c.C);
    multiply(&c);
    of(d)->timer += fake.launch_ms;
    return true;
}

static bool sync_dev(struct dev *d)
{
    (void)d;
    return true;
}

static bool timer_start(struct dev *d)
{
    of(d)->timer = 0;
    return true;
}

static bool timer_stop(struct dev *d, double *ms)
{
    *ms = of(d)->timer;
    return true;
}

static bool gemm(struct dev *d, enum dev_type type, int M, int N, int K, double alpha, dev_ptr A, dev_ptr B,
                 double beta, dev_ptr C)
{
    (void)type, (void)M, (void)N, (void)K, (void)alpha, (void)A, (void)B, (void)beta, (void)C;
    fake.baselines++;
    of(d)->timer += fake.launch_ms / 2;
    return true;
}

static const char *baseline_name(struct dev *d)
{
    return d->about.simulated ? NULL : "cuBLAS 0.0.0";
}

static const struct profile *profile(const struct dev *d)
{
    struct fake_dev *f = of(d);
    if (!d->about.simulated)
        return NULL;
    f->lines[0] = (struct profile_line){ .file = __FILE__, .line = 2 };
    f->lines[1] = (struct profile_line){ .file = __FILE__, .line = 1 };
    for (int m = 0; m < METRIC_COUNT; m++) {
        f->lines[0].metric[m] = (uint64_t)m + 1;
        f->lines[1].metric[m] = 1000000 + (uint64_t)m;
        f->profile.total[m] = f->lines[0].metric[m] + f->lines[1].metric[m];
    }
    f->profile.kernel = "gemm";
    f->profile.lines = f->lines;
    f->profile.n_lines = 2;
    return &f->profile;
}

static void set_budget(struct dev *d, uint64_t warp_instructions)
{
    (void)d;
    fake.budget = warp_instructions;
}

static const char *warnings(const struct dev *d)
{
    (void)d;
    return fake.warnings;
}

#define SHARED                                                                                                         \
    .close = close_dev, .alloc = alloc, .free = release, .upload = upload, .download = download, .clear = clear,       \
    .load = load, .unload = unload, .kernel = kernel, .launch = launch, .sync = sync_dev, .timer_start = timer_start,  \
    .timer_stop = timer_stop, .set_budget = set_budget, .baseline_name = baseline_name, .profile = profile,            \
    .warnings = warnings

struct simt *device_simt(const struct dev *d)  // there is none behind these
{
    (void)d;
    return NULL;
}

const struct backend simt_backend = { .open = open_sim, SHARED };
const struct backend gpu_backend = { .open = open_gpu, .gemm = gemm, SHARED };
