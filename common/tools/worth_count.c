// What can be said of a kernel without a GPU: see worth.h.
#include "worth.h"

#include "base/error.h"
#include "base/occupancy.h"
#include "base/profile.h"
#include "device/open.h"
#include "tester/choose.h"
#include "tester/predict.h"
#include "tester/tester.h"

enum { COUNTED_SIZE = 256 };

// The counters that say why; of a launch at 256 x 256 x 256.
static const struct {
    const char *name;
    enum profile_metric metric;
} columns[] = {
    { "instructions", METRIC_INST },      { "wavefronts", METRIC_WAVE }, { "ideal", METRIC_WAVE_IDEAL },
    { "sectors", METRIC_GLD_SEC },        { "stored", METRIC_GST_SEC },  { "barriers", METRIC_BAR },
    { "tma_bytes", METRIC_TMA_LD_BYTES },
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static void print_head(FILE *out)
{
    fprintf(out, "name,registers,spilled");
    for (int i = 0; i < COLUMNS; i++)
        fprintf(out, ",%s", columns[i].name);
    for (int i = 0; i < WORTH_SIZES; i++)
        fprintf(out, ",us_%d", worth_sizes[i]);
    fprintf(out, "\n");
}

// Runs the kernel at 256, whose counters are read, and once more at ragged shapes (tester_again), under the checks.
static bool count(const struct worth_kernel *k, uint64_t total[METRIC_COUNT], char error[DEV_ERROR_MAX])
{
    struct tester_options o = tester_defaults;
    struct tester_result r, again = { .verdict = TESTER_RIGHT };
    o.m = o.n = o.k = COUNTED_SIZE;
    o.sanitize = true;
    struct dev *d = dev_open(DEV_SIM, error), *on = d;
    struct tester *t = d ? tester_open(d, k->step.type, &o, error) : NULL;
    bool ok = t && tester_step(t, &k->step, &r, error);
    for (int i = 0; ok && i < METRIC_COUNT; i++)
        total[i] = dev_profile(d)->total[i];
    if (ok && r.verdict == TESTER_RIGHT)
        ok = tester_again(t, &k->step, &again, &on, error);
    if (ok && (r.verdict == TESTER_WRONG || again.verdict == TESTER_WRONG))
        ok = error_set(error, "%.300s", r.verdict == TESTER_WRONG ? r.what : again.what);
    tester_close(t);
    dev_close(d);
    return ok;
}

// By the kernel that a large shape takes; spills by whichever kernel of the file has them.
static bool ask_ptxas(const struct worth_kernel *k, struct kernel_use *use, char error[DEV_ERROR_MAX])
{
    struct geometries all;
    if (!geometries_read(k->step.ptx, &all, error))
        return false;
    return occupancy_ask(k->step.ptx, all.all[0].kernel, card_named("H200"), use) ||
           error_set(error, "ptxas: %s", use->refusal);
}

static bool predict(const struct worth_kernel *k, int size, double *us, char error[DEV_ERROR_MAX])
{
    struct tester_options o = tester_defaults;
    o.m = o.n = o.k = size;
    struct simt_prediction *p = predict_step(&k->step, &o, card_named("H200"), error);
    if (!p)
        return false;
    *us = 1000 * simt_predicted_ms(p);
    simt_prediction_free(p);
    return true;
}

bool worth_count(const struct worth_kernel *k, FILE *out, char error[DEV_ERROR_MAX])
{
    uint64_t total[METRIC_COUNT];
    struct kernel_use use;
    char why[DEV_ERROR_MAX] = "";
    double us[WORTH_SIZES] = { 0 };
    if (!k) {
        print_head(out);
        return true;
    }
    bool ok = count(k, total, why) && ask_ptxas(k, &use, why);
    for (int i = 0; i < WORTH_SIZES && ok; i++)
        if (worth_has_size(k, worth_sizes[i]))
            ok = predict(k, worth_sizes[i], &us[i], why);
    if (!ok)
        return error_set(error, "%s: %.300s", k->step.name, why);
    fprintf(out, "%s,%u,%u", k->step.name, use.registers, use.spilled);
    for (int i = 0; i < COLUMNS; i++)
        fprintf(out, ",%ju", (uintmax_t)total[columns[i].metric]);
    for (int i = 0; i < WORTH_SIZES; i++)
        us[i] > 0 ? fprintf(out, ",%.5g", us[i]) : fprintf(out, ",");
    fprintf(out, "\n");
    return true;
}
