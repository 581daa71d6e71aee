// Times on a GPU: see worth.h. Few runs each, since a card under load slows down: what is compared stands close
// together, and each kernel has cuBLAS beside it.
#include "worth.h"

#include <stdlib.h>

#include "base/error.h"
#include "device/open.h"
#include "tester/tester.h"

enum { TYPES = DEV_F16 + 1 };

struct times {
    double tflops[WORTH_ROUNDS], cublas[WORTH_ROUNDS];
    bool failed;
};

void worth_time_head(FILE *out)
{
    fprintf(out, "device,name,type,size");
    for (int i = 1; i <= WORTH_ROUNDS; i++)
        fprintf(out, ",tflops%d", i);
    for (int i = 1; i <= WORTH_ROUNDS; i++)
        fprintf(out, ",cublas%d", i);
    fprintf(out, "\n");
}

// A run takes some microseconds to a sixth of a second: of long ones fewer are enough.
static struct tester_options options_for(int size, enum dev_type type, bool check)
{
    struct tester_options o = tester_defaults;
    o.m = o.n = o.k = size;
    o.warmup = 1;
    o.iterations = size < 4096 ? 11 : size == 4096 ? 7 : type == DEV_F16 ? 5 : 3;
    o.pause_ms = size >= 8192 && type == DEV_F16 ? 20 : 0;
    o.check = check;
    return o;
}

static bool time_one(struct tester *data[TYPES], struct dev *d, const struct worth_kernel *k, int size, bool check,
                     int round, struct times *t, char error[DEV_ERROR_MAX])
{
    const enum dev_type type = k->step.type;
    const struct tester_options o = options_for(size, type, check);
    struct tester_result r;
    char why[DEV_ERROR_MAX];
    if (!data[type] && !(data[type] = tester_open(d, type, &o, error)))
        return false;
    if (!tester_step(data[type], &k->step, &r, why))
        return error_set(error, "%s: %.300s", k->step.name, why);
    if (r.verdict == TESTER_WRONG)
        return error_set(error, "%s is wrong: %.300s", k->step.name, r.what);
    t->tflops[round] = r.gflops / 1000;
    t->cublas[round] = r.baseline_ms > 0 ? 2e-9 * size * size * size / r.baseline_ms : 0;
    return true;
}

// What is open for a size: the GPU, and data for each element type. A failed launch can leave a GPU unusable until it
// is opened again.
struct bench {
    struct dev *dev;
    struct tester *data[TYPES];
};

static void bench_close(struct bench *b)
{
    for (int i = 0; i < TYPES; i++)
        tester_close(b->data[i]);
    dev_close(b->dev);
    *b = (struct bench){ 0 };
}

// Kernels that fail are told, and left out from then on. False, with one line in error, if there is no GPU.
static bool time_round(const struct worth *w, int size, bool check, int round, struct times *times,
                       char error[DEV_ERROR_MAX])
{
    struct bench b = { .dev = dev_open(DEV_GPU, error) };
    char why[DEV_ERROR_MAX];
    for (size_t i = 0; i < w->n && b.dev; i++) {
        if (!worth_has_size(&w->kernels[i], size) || times[i].failed)
            continue;
        times[i].failed = !time_one(b.data, b.dev, &w->kernels[i], size, check, round, &times[i], why);
        if (!times[i].failed)
            continue;
        fprintf(stderr, "worth: %s\n", why);
        bench_close(&b);
        b.dev = dev_open(DEV_GPU, error);
    }
    const bool ok = b.dev != NULL;
    bench_close(&b);
    return ok;
}

static void print_row(FILE *out, const struct worth_kernel *k, const char *device, int size, const struct times *t)
{
    fprintf(out, "%s,%s,%s,%d", device, k->step.name, type_name(k->step.type), size);
    for (int i = 0; i < WORTH_ROUNDS; i++)
        fprintf(out, ",%.5g", t->tflops[i]);
    for (int i = 0; i < WORTH_ROUNDS; i++)
        fprintf(out, ",%.5g", t->cublas[i]);
    fprintf(out, "\n");
}

bool worth_time(const struct worth *w, int size, bool check, FILE *out, char error[DEV_ERROR_MAX])
{
    struct dev *d = dev_open(DEV_GPU, error);
    struct times *times = calloc(w->n, sizeof *times);
    bool ok = d && (times || error_set(error, "out of memory"));
    char device[128] = "";
    if (ok)
        snprintf(device, sizeof device, "%s", dev_about(d)->name);
    dev_close(d);
    size_t failed = 0;
    for (int round = 0; round < WORTH_ROUNDS && ok; round++)
        ok = time_round(w, size, check && round == 0, round, times, error);
    for (size_t i = 0; i < w->n && ok; i++) {
        failed += times[i].failed;
        if (worth_has_size(&w->kernels[i], size) && !times[i].failed)
            print_row(out, &w->kernels[i], device, size, &times[i]);
    }
    fflush(out);
    free(times);
    return ok && (!failed || error_set(error, "%zu kernels at %d are wrong or cannot run", failed, size));
}
