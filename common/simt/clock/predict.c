// The public face of the clock: simt/simt.h.
#include <stdlib.h>
#include <string.h>

#include "clock.h"

struct clock_launch clock_launch_of(const struct simt_timing *t)
{
    const struct dev_launch *how = t->launch;
    struct clock_launch l = { .ptx = t->ptx,
                              .kernel = t->kernel,
                              .shared = (unsigned)how->shared,
                              .args = how->args,
                              .n_args = how->n_args,
                              .arrays = t->arrays,
                              .n_arrays = t->n_arrays };
    for (int i = 0; i < 3; i++) {
        l.grid[i] = how->grid[i] ? how->grid[i] : 1;
        l.block[i] = how->block[i] ? how->block[i] : 1;
    }
    return l;
}

bool simt_can_predict(char error[DEV_ERROR_MAX])
{
    return clock_available(error);
}

struct simt_prediction *simt_predict(const struct simt_timing *t, const struct card *card, char error[DEV_ERROR_MAX])
{
    const struct clock_launch l = clock_launch_of(t);
    struct simt_prediction *p = malloc(sizeof *p);
    if (!p)
        error_set(error, "out of memory");
    if (p && !clock_predict(&l, card, p, error)) {
        free(p);
        return NULL;
    }
    return p;
}

void simt_prediction_free(struct simt_prediction *p)
{
    if (p)
        clock_free(p);
    free(p);
}

void simt_prediction_after(struct simt_prediction *p, const struct simt_prediction *first)
{
    const struct sm_constants k = clock_constants(p->card);
    const double ms = first->ms + (k.launch_next_us - k.launch_us) * 1e-3;
    p->before_ms += ms;
    p->ms += ms;
}

double simt_predicted_cycles(const struct simt_prediction *p)
{
    return p->cycles;
}

double simt_predicted_ms(const struct simt_prediction *p)
{
    return p->ms;
}

const char *simt_predicted_bound(const struct simt_prediction *p)
{
    return p->bound;
}

bool simt_count(const struct simt_timing *t, const struct card *card, struct simt_counts *out,
                char error[DEV_ERROR_MAX])
{
    const struct clock_launch l = clock_launch_of(t);
    return clock_count(&l, card, out, error);
}
