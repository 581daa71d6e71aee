// What a wrong element tells: who owns it, and where to look next.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "result.h"

// C = alpha * A * B + beta * C0, as a kernel computed it. C0 may be NULL if beta = 0.
struct tester_product {
    double alpha, beta;
    const struct matrix *A, *B, *C0, *C;
};

// Writes one line about a wrong result to what: the cause, and for example the verdict's element, its value and the one
// wanted, the block that owns it by the kernel's geometry, the warp and lane if the step knows its owner. NULL: no
// cause is known, and a hint from the value stands behind the element.
void tester_explain(char *what, size_t room, const struct step *step, const struct geometry *g,
                    const struct matrix_verdict *v, const struct tester_product *p, const char *cause);

// What is known of a wrong result: found, NULL without checks, are the findings of that run, and it was on a simulated
// GPU or not.
struct tester_seen {
    const struct matrix_verdict *verdict;
    const struct tester_product *product;
    const struct simt_findings *found;
    bool simulated;
};

// Appends what the checks found, the most telling of it, and what led to it; source and look are filled in.
void tester_explain_found(struct tester_result *r, const struct step *step, const struct geometry *g,
                          const struct tester_options *o, const struct simt_findings *found);
// The same of a result that is right in small matrices, and wrong where the last tile begins with this row and column.
void tester_explain_far(struct tester_result *r, const struct step *step, const struct geometry *g,
                        const struct tester_options *o, int row, int col);
// The same of what ended the launch on a simulated GPU without checks: what led to it, empty if no more is known.
void tester_explain_failure(struct tester_result *r, const struct step *step, const struct geometry *g,
                            const struct tester_options *o, const struct simt_finding *f);

// Says alone where the kernel differs from the course's, if it is not said yet. wrong: as changed_find has it.
void tester_explain_changed(struct tester_result *r, const struct step *step, const struct tester_options *o,
                            bool wrong);

// Appends that line to r->what, with the cause that cause_find tells, and fills in source and look. o: of that run,
// settled. What the checks found says more than any cause.
void tester_explain_wrong(struct tester_result *r, const struct step *step, const struct geometry *g,
                          const struct tester_options *o, const struct tester_seen *seen);
