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

static bool time_round(const struct worth *w, struct dev *d, int size, bool check, int round, struct times *times,
                       char error[DEV_ERROR_MAX])
{
    struct tester *data[TYPES] = { 0 };
    bool ok = true;
    for (size_t i = 0; i < w->n && ok; i++)
        if (worth_has_size(&w->kernels[i], size)) {
            ok = time_one(data, d, &w->kernels[i], size, check, round, &times[i], error);
            fprintf(stderr, "\r%d, round %d: %zu of %zu  ", size, round + 1, i + 1, w->n);
        }
    for (int i = 0; i < TYPES; i++)
        tester_close(data[i]);
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
    for (int round = 0; round < WORTH_ROUNDS && ok; round++)
        ok = time_round(w, d, size, check && round == 0, round, times, error);
    fprintf(stderr, "\n");
    for (size_t i = 0; i < w->n && ok; i++)
        if (worth_has_size(&w->kernels[i], size))
            print_row(out, &w->kernels[i], dev_about(d)->name, size, &times[i]);
    fflush(out);
    free(times);
    dev_close(d);
    return ok;
}
