// Prints what the clock predicts for every step on the card of a table of times, beside what was measured:
// steps/results/h200_predicted.csv and h100_predicted.csv. With a size, 4095 for one, and the beginning of a step's
// name: only those.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/card.h"
#include "tools/steps.h"
#include "clock_measured.h"
#include "tester/predict.h"

enum { SIZES = 4 };

int main(int argc, char **argv)
{
    int sizes[SIZES] = { 1024, 2048, 4096, 8192 }, n_sizes = SIZES;
    struct result *all;
    size_t n;
    double sum = 0, worst = 0, count = 0;
    char error[DEV_ERROR_MAX] = "usage: clock_errors TABLE [SIZE [STEP]], the table as ladder --csv writes it";
    if (argc < 2 || argc > 4 || !results_read(argv[1], &all, &n, error)) {
        fprintf(stderr, "clock_errors: %s\n", error);
        return 2;
    }
    const struct card *card = n ? card_of_device(all[0].device, all[0].sms) : NULL;
    if (!card) {
        fprintf(stderr, "clock_errors: %s: the table has no times of a card that card.def has\n", argv[1]);
        free(all);
        return 2;
    }
    if (argc > 2) {
        sizes[0] = atoi(argv[2]);
        n_sizes = 1;
    }
    printf("step,size,predicted_cycles,predicted_ms,measured_ms,error_percent\n");
    for (int s = 0; s < n_sizes; s++)
        for (size_t i = 0; i < n_steps; i++) {
            struct tester_options o = tester_defaults;
            struct simt_prediction *p;
            const double ms = measured_ms(all, n, steps[i]->name, sizes[s]);
            o.m = o.n = o.k = sizes[s];
            if (ms <= 0 || (argc > 3 && strncmp(argv[3], steps[i]->name, strlen(argv[3]))))
                continue;
            if (!(p = predict_step(steps[i], &o, card, error))) {
                fprintf(stderr, "clock_errors: %s: %s\n", steps[i]->name, error);
                return 1;
            }
            const double wrong = 100 * (p->ms / ms - 1);
            printf("%s,%d,%.5g,%.5g,%.5g,%.1f\n", steps[i]->name, sizes[s], p->cycles, p->ms, ms, wrong);
            fflush(stdout);
            sum += fabs(wrong);
            worst = fabs(wrong) > worst ? fabs(wrong) : worst;
            count++;
            simt_prediction_free(p);
        }
    fprintf(stderr, "mean %.1f %%, worst %.1f %%\n", count ? sum / count : 0, worst);
    free(all);
    return 0;
}
