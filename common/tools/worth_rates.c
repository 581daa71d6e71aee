// What the tables of times and counts say of the kernels: see worth.h.
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/sort.h"
#include "base/table.h"
#include "worth.h"

static int column(const struct table *t, const char *name)
{
    for (size_t i = 0; i < t->columns; i++)
        if (!strcmp(t->name[i], name))
            return (int)i;
    return -1;
}

static const struct worth_kernel *find(const struct worth *w, const char *name)
{
    for (size_t i = 0; i < w->n; i++)
        if (!strcmp(w->kernels[i].step.name, name))
            return &w->kernels[i];
    return NULL;
}

static bool read_times(const struct worth *w, const char *path, int size, struct worth_rates *rates,
                       char error[DEV_ERROR_MAX])
{
    struct table t;
    bool more, ok = table_open(&t, path, error);
    const int name = ok ? column(&t, "name") : -1, at = ok ? column(&t, "size") : -1;
    const int first = ok ? column(&t, "tflops1") : -1, cublas = ok ? column(&t, "cublas1") : -1;
    const int device = ok ? column(&t, "device") : -1;
    ok = ok && ((name >= 0 && at >= 0 && first >= 0 && cublas >= 0 && device >= 0) ||
                table_refuse(&t, "no columns device, name, size, tflops1 and cublas1"));
    while (ok && (ok = table_next(&t, &more)) && more) {
        const struct worth_kernel *k = find(w, t.field[name]);
        if (!k || atoi(t.field[at]) != size)
            continue;
        struct worth_rates *r = &rates[k - w->kernels];
        snprintf(r->device, sizeof r->device, "%s", t.field[device]);
        for (int i = 0; i < WORTH_ROUNDS; i++) {
            r->tflops[i] = atof(t.field[first + i]);
            r->cublas[i] = atof(t.field[cublas + i]);
        }
    }
    table_close(&t);
    return ok;
}

static bool read_counts(const struct worth *w, const char *path, struct worth_rates *rates, char error[DEV_ERROR_MAX])
{
    struct table t;
    bool more, ok = table_open(&t, path, error);
    const int name = ok ? column(&t, "name") : -1, spilled = ok ? column(&t, "spilled") : -1;
    ok = ok && ((name >= 0 && spilled >= 0) || table_refuse(&t, "no columns name and spilled"));
    while (ok && (ok = table_next(&t, &more)) && more) {
        const struct worth_kernel *k = find(w, t.field[name]);
        if (k)
            rates[k - w->kernels].spilled = (unsigned)atoi(t.field[spilled]);
    }
    table_close(&t);
    return ok;
}

double worth_gain(const struct worth_rates *a, const struct worth_rates *b)
{
    double g[WORTH_ROUNDS];
    for (int i = 0; i < WORTH_ROUNDS; i++)
        g[i] = b->tflops[i] > 0 ? a->tflops[i] / b->tflops[i] : 0;
    return median(g, WORTH_ROUNDS);
}

double worth_rate(const struct worth_rates *r)
{
    double t[WORTH_ROUNDS];
    memcpy(t, r->tflops, sizeof t);
    return median(t, WORTH_ROUNDS);
}

int worth_step(const struct worth *w, int of)
{
    for (size_t i = 0; i < w->n; i++)
        if (!w->kernels[i].variant && w->kernels[i].of == of)
            return (int)i;
    return -1;
}

struct worth_rates *worth_rates_read(const struct worth *w, int size, const char *times, const char *counts,
                                     char error[DEV_ERROR_MAX])
{
    struct worth_rates *r = calloc(w->n + 1, sizeof *r);
    size_t timed = 0;
    bool ok = r && read_times(w, times, size, r, error) && read_counts(w, counts, r, error);
    for (size_t i = 0; ok && i < w->n; i++)
        timed += r[i].tflops[0] > 0;
    ok = ok && (timed || error_set(error, "%s has no times at %d", times, size));
    if (ok)
        return r;
    free(r);
    return NULL;
}
