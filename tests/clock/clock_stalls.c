// Prints what the clock says at 4096 beside what Nsight Compute counted on the H200: shares of pipes, the cycles of a
// warp for each instruction by what it waits for, and whether the largest wait is the same.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/steps.h"
#include "clock_measured.h"
#include "tester/predict.h"

static void compare(const struct step *step, const struct counter *all, size_t n, const struct simt_prediction *p)
{
    struct measured_share shares[MEASURED_SHARES];
    enum sm_state predicted, measured;
    measured_shares(all, n, step->name, p, shares);
    for (unsigned i = 0; i < MEASURED_SHARES; i++)
        printf("%s,share,%s,%.1f,%.1f\n", step->name, shares[i].name, shares[i].predicted, shares[i].measured);
    for (enum sm_state i = 0; i < STATES; i++)
        printf("%s,state,%s,%.2f,%.2f\n", step->name, sm_state_name(i), p->sm.state[i] / (double)p->sm.issued,
               measured_state(all, n, step->name, i));
    measured_largest(all, n, step->name, p, &predicted, &measured);
    printf("%s,largest,%s,%s,%s\n", step->name, predicted == measured ? "same" : "other", sm_state_name(predicted),
           sm_state_name(measured));
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
        struct simt_prediction *p;
        if (argc > 2 && strncmp(argv[2], steps[i]->name, strlen(argv[2])))
            continue;
        o.m = o.n = o.k = 4096;
        if (!(p = predict_step(steps[i], &o, card_named("H200"), error))) {
            fprintf(stderr, "clock_stalls: %s: %s\n", steps[i]->name, error);
            return 1;
        }
        compare(steps[i], all, n, p);
        fflush(stdout);
        simt_prediction_free(p);
    }
    free(all);
    return 0;
}
