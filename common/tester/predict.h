// What the simulated GPU's clock says of a step: simt_predict.
#pragma once

#include "simt/simt.h"
#include "step.h"

// Predicts C = alpha * A * B + beta * C with the step's kernel on the card. Nothing is computed: the data do not
// matter. NULL, with one line in error, as simt_predict.
struct simt_prediction *predict_step(const struct step *step, const struct tester_options *o, const struct card *card,
                                     char error[DEV_ERROR_MAX]);
// Counts what all blocks of the same launch execute: see simt_count.
bool predict_counts(const struct step *step, const struct tester_options *o, const struct card *card,
                    struct simt_counts *out, char error[DEV_ERROR_MAX]);

// The same by another way to predict a launch, for what compares them.
typedef struct simt_prediction *predict_launch(const struct simt_timing *t, const struct card *card, const void *how,
                                               char error[DEV_ERROR_MAX]);
struct simt_prediction *predict_step_by(const struct step *step, const struct tester_options *o,
                                        const struct card *card, predict_launch *predict, const void *how,
                                        char error[DEV_ERROR_MAX]);
