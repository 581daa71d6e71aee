// See clock_measured.h.
#include "clock_measured.h"

#include <stdio.h>
#include <string.h>

double measured_ms(const struct result *all, size_t n, const char *step, int size)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(all[i].step, step) && all[i].m == size && all[i].n == size && all[i].k == size)
            return all[i].ms;
    return 0;
}

double measured_counter(const struct counter *all, size_t n, const char *step, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(all[i].step, step) && !strcmp(all[i].name, name))
            return all[i].value;
    return -1;
}

double measured_state(const struct counter *all, size_t n, const char *step, enum sm_state state)
{
    char name[160];
    snprintf(name, sizeof name, "smsp__average_warps_issue_stalled_%s_per_issue_active.ratio", sm_state_name(state));
    return measured_counter(all, n, step, name);
}

void measured_shares(const struct counter *all, size_t n, const char *step, const struct simt_prediction *p,
                     struct measured_share out[MEASURED_SHARES])
{
    static const char *const names[MEASURED_SHARES] = { "fma", "tensor", "memory", "issue" };
    static const char *const counters[MEASURED_SHARES] = {
        "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active",
        "sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_active",
        "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed",
        "sm__inst_issued.avg.pct_of_peak_sustained_active",
    };
    const double predicted[MEASURED_SHARES] = { p->share[COUNT_FMA], p->share[COUNT_TENSOR], p->share[COUNT_WAVES],
                                                p->issue };
    for (unsigned i = 0; i < MEASURED_SHARES; i++)
        out[i] = (struct measured_share){ names[i], 100 * predicted[i], measured_counter(all, n, step, counters[i]) };
}

void measured_largest(const struct counter *all, size_t n, const char *step, const struct simt_prediction *p,
                      enum sm_state *predicted, enum sm_state *measured)
{
    *predicted = *measured = STATE_WAIT;
    for (enum sm_state i = STATE_WAIT; i < STATES; i++) {
        if (p->sm.state[i] > p->sm.state[*predicted])
            *predicted = i;
        if (measured_state(all, n, step, i) > measured_state(all, n, step, *measured))
            *measured = i;
    }
}
