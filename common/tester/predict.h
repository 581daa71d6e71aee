// What the simulated GPU's clock says of a step: see simt/clock/clock.h.
#ifndef COMMON_PREDICT_H
#define COMMON_PREDICT_H

#include "simt/clock/clock.h"
#include "step.h"

// Predicts C = alpha * A * B + beta * C with the step's kernel on the card. Nothing is computed: the data do not
// matter. False, with one line in error, as clock_predict.
bool predict_step(const struct step *step, const struct tester_options *o, const struct card *card,
                  struct clock_prediction *out, char error[DEV_ERROR_MAX]);
// Counts what all blocks of the same launch execute: see clock_count.
bool predict_counts(const struct step *step, const struct tester_options *o, const struct card *card,
                    struct clock_counts *out, char error[DEV_ERROR_MAX]);

#endif
