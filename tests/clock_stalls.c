// Prints what the clock says at 4096 beside what Nsight Compute counted on the H200: shares of pipes, the cycles of a
// warp for each instruction by what it waits for, and whether the largest wait is the same.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../steps/steps.h"
#include "../steps/tables.h"
#include "tester/predict.h"

static double measured(const struct counter *all, size_t n, const char *step, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(all[i].step, step) && !strcmp(all[i].name, name))
            return all[i].value;
    return -1;
}

static double stall_of(const struct counter *all, size_t n, const char *step, const char *state)
{
    char name[160];
    snprintf(name, sizeof name, "smsp__average_warps_issue_stalled_%s_per_issue_active.ratio", state);
    return measured(all, n, step, name);
}

static void compare(const struct step *step, const struct counter *all, size_t n, const struct clock_prediction *p)
{
    static const struct {
        const char *name, *counter;
        enum sm_count share;
    } pipes[] = {
        { "fma", "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active", COUNT_FMA },
        { "tensor", "sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_active", COUNT_TENSOR },
        { "memory", "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed", COUNT_WAVES },
    };
    const char *most = "", *truly = "";
    double predicted = -1, known = -1;
    for (size_t i = 0; i < sizeof pipes / sizeof *pipes; i++)
        printf("%s,share,%s,%.1f,%.1f\n", step->name, pipes[i].name, 100 * p->share[pipes[i].share],
               measured(all, n, step->name, pipes[i].counter));
    printf("%s,share,issue,%.1f,%.1f\n", step->name, 100 * p->issue,
           measured(all, n, step->name, "sm__inst_issued.avg.pct_of_peak_sustained_active"));
    for (unsigned i = 0; i < STATES; i++) {
        const char *name = sm_state_name((enum sm_state)i);
        const double here = p->sm.state[i] / (double)p->sm.issued, there = stall_of(all, n, step->name, name);
        printf("%s,state,%s,%.2f,%.2f\n", step->name, name, here, there);
        if (i <= STATE_NOT_SELECTED)
            continue;
        if (here > predicted) {
            predicted = here;
            most = name;
        }
        if (there > known) {
            known = there;
            truly = name;
        }
    }
    printf("%s,largest,%s,%s,%s\n", step->name, strcmp(most, truly) ? "DIFFERENT" : "same", most, truly);
}

int main(int argc, char **argv)
{
    struct counter *all;
    size_t n;
    char error[DEV_ERROR_MAX] = "usage: clock_stalls TABLE [STEP], the table of stall reasons";
    if (argc < 2 || !stalls_read(argv[1], &all, &n, error)) {
        fprintf(stderr, "clock_stalls: %s\n", error);
        return 2;
    }
    printf("step,what,name,predicted,measured\n");
    for (size_t i = 0; i < n_steps; i++) {
        struct tester_options o = tester_defaults;
        struct clock_prediction p;
        if (argc > 2 && strncmp(argv[2], steps[i]->name, strlen(argv[2])))
            continue;
        o.m = o.n = o.k = 4096;
        if (!predict_step(steps[i], &o, card_named("H200"), &p, error)) {
            fprintf(stderr, "clock_stalls: %s: %s\n", steps[i]->name, error);
            return 1;
        }
        compare(steps[i], all, n, &p);
        fflush(stdout);
        clock_free(&p);
    }
    free(all);
    return 0;
}
