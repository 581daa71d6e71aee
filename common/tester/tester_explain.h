// What a wrong element tells: who owns it, and where to look next.
#ifndef COMMON_TESTER_EXPLAIN_H
#define COMMON_TESTER_EXPLAIN_H

#include <stddef.h>

#include "step.h"

// C = alpha * A * B + beta * C0, as a kernel computed it. C0 may be NULL if beta = 0.
struct tester_product {
    double alpha, beta;
    const struct matrix *A, *B, *C0, *C;
};

// Writes one line about the verdict's wrong element to what: the element, its value and the one wanted, the block that
// owns it by the kernel's geometry, the warp and lane if the step knows its owner, and the cause. NULL: none is known,
// and a hint from the value stands there.
void tester_explain(char *what, size_t room, const struct step *step, const struct geometry *g,
                    const struct matrix_verdict *v, const struct tester_product *p, const char *cause);

#endif
